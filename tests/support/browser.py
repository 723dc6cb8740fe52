"""A page in headless Chromium, driven by Selenium. Without one of them the tests that use it are skipped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import wait_until

webdriver: Any = pytest.importorskip("selenium.webdriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("there is no Chromium with its driver", allow_module_level=True)
Keys: Any = webdriver.Keys
# What a screen reader must find a name for.
NAMED_ROLES = {"application", "button", "checkbox", "columnheader", "combobox", "heading", "image", "img", "link"}
NAMED_ROLES |= {"region", "slider", "textbox", "toolbar"}


class Page:
    """What a person does with a page, and sees there. `driver` is Selenium's."""

    def __init__(self) -> None:
        options: Any = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver: Any = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))

    def show(self, page: Path | str, width: int = 1280, media: str = "") -> None:
        """Open a file, or an address, as on a screen or on what `media` names."""
        metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
        self.driver.get(page if isinstance(page, str) else page.as_uri())

    def log(self) -> list[str]:
        """What the page complains of."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def check_quiet(self) -> None:
        """Nothing in the console, and nothing wider than the window."""
        assert self.log() == []
        assert self.run("document.documentElement.scrollWidth <= innerWidth")

    def do(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def run(self, expression: str) -> Any:
        return self.do(f"return ({expression});")

    def wait(self, condition: str) -> None:
        wait_until(lambda: self.run(condition), f"{condition}: {self.status}")

    def find(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def is_shown(self, selector: str) -> bool:
        return bool(self.find(selector)[0].is_displayed())

    def text(self, name: str) -> str:
        return str(self.run(f"byId('{name}').textContent"))

    @property
    def status(self) -> str:
        return self.text("status")

    def click(self, selector: str) -> None:
        """Click as a mouse would, which needs the element to be in sight and uncovered."""
        (element, *_) = self.find(selector)
        self.do("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def focus(self, selector: str) -> None:
        self.do("document.querySelector(arguments[0]).focus()", selector)

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is. It may still be on a button that has just been disabled."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def touch(self, *squares: str) -> None:
        """Click squares of the board."""
        for square in squares:
            self.drag(square, square)

    def drag(self, start: str, end: str) -> None:
        self.do("board.element.scrollIntoView({block: 'center', behavior: 'instant'})")
        for kind, square in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            x, y = self.centre_of(square)
            event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": int(kind != "mouseReleased")}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event | {"clickCount": 1})

    def centre_of(self, square: str) -> Any:
        """Where the middle of a square is in the window, in pixels from the left and the top."""
        return self.run(
            f"(({{left, top, width}}, {{x, y}}) => [left + (x + 22) * width / 360, top + (y + 22) * width / 360])"
            f"(board.element.getBoundingClientRect(), board.place('{square}'))"
        )

    def roles(self) -> list[tuple[str, str]]:
        """What a screen reader finds: the role and the name of each element. Checks that none lacks its name."""
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        seen = [node for node in nodes if not node.get("ignored")]
        found = [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in seen]
        assert not [role for role, name in found if role in NAMED_ROLES and not name]
        return found
