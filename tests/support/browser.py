"""Headless Chromium, driven by Selenium. A test that uses it needs both: `needs_browser`."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None or find_spec("selenium") is None,
    reason="there is no Chromium with its driver, or no Selenium",
)
WIDTHS = (1280, 390)
# What a screen reader must find a name for.
NAMED_ROLES = {"application", "button", "checkbox", "columnheader", "combobox", "heading", "image", "img", "link"}
NAMED_ROLES |= {"region", "slider", "textbox", "toolbar"}


class Browser:
    """Headless Chromium. `show` opens a page at a width, `log` has what the page complains of."""

    def __init__(self) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options: Any = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver: Any = webdriver.Chrome(options=options, service=Service(DRIVER))

    def show(self, page: Path | str, width: int = 1280) -> None:
        """Open a file, or an address."""
        metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get(page if isinstance(page, str) else page.as_uri())

    def log(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str) -> Any:
        return self.driver.execute_script(f"return ({script});")

    def find(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def click(self, selector: str) -> None:
        """Click as a mouse would, which needs the element to be in sight and uncovered."""
        (element, *_) = self.find(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is. It may still be on a button that has just been disabled."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    @property
    def status(self) -> str:
        return str(self.run("document.getElementById('status').textContent"))

    @property
    def board(self) -> str:
        return str(self.run("document.getElementById('board').getAttribute('aria-label')"))

    def roles(self) -> list[tuple[str, str]]:
        """What a screen reader finds: the role and the name of each element. Checks that none lacks its name."""
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        seen = [node for node in nodes if not node.get("ignored")]
        found = [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in seen]
        assert not [role for role, name in found if role in NAMED_ROLES and not name]
        return found
