"""The pages in a real browser: no errors, every control works, at two widths, by keyboard alone, in print.

Skipped where there is no Chromium with its driver, or no Selenium.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.game_analysis.test_pgn import report_of
from tests.support.browser import WIDTHS, Browser, needs_browser
from uci_engine.game_analysis.judgement import ERRORS
from uci_engine.game_analysis.pages import game_page, index_page, index_row
from uci_engine.game_analysis.pgn import read_game

pytestmark = needs_browser

GAME = """[Event "A"]
[White "White, W."]
[Black "Black, B."]
[Result "1-0"]

1. e4 {[%clk 0:04:58]} e5 {[%clk 0:04:59]} 2. Qh5 {[%clk 0:04:50]} Nc6 {[%clk 0:04:30]} 3. Qxe5+ {[%clk 0:04:49]}
Nxe5 {[%clk 0:04:28]} 4. d4 {[%clk 0:04:40]} Ng6 {[%clk 0:04:10]} 5. Bh6 Nxh6 6. Nf3 Qg5 7. Nxg5 f6 8. Bc4 fxg5 1-0
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    report = report_of(read_game(GAME.encode()))
    assert len(report.errors) >= 2
    (folder / "game.html").write_text(game_page(report, "index.html"), "utf-8")
    (folder / "index.html").write_text(index_page([{"number": 1, **index_row(report, "game.html")}]), "utf-8")
    return folder / "game.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_control_works_by_mouse(browser: Browser, page: Path, width: int) -> None:
    browser.show(page, width)
    assert browser.status.startswith("Start of the game")
    for control, status, is_end in (
        ("#next", "1.e4", False),
        ("#last", "8...fxg5", True),
        ("#previous", "8.Bc4", False),
        ("#first", "Start of the game", True),
    ):
        browser.click(control)
        assert browser.status.startswith(status)
        assert all(button.is_enabled() for button in browser.find("#next, #previous")) != is_end
    browser.click("#flip")
    assert browser.run("document.querySelector('#board text').textContent") == "h"

    browser.click("#error-after")
    first_error = browser.status
    assert any(mark.word in first_error for mark in ERRORS)
    browser.click("#error-after")
    assert browser.status != first_error
    browser.click("#error-before")
    assert browser.status == first_error
    assert len(browser.find(".error.current")) == 1
    # Arrows for the move played and the better one, and what they mean.
    assert [arrow.get_attribute("class") for arrow in browser.find("#board .arrow")] == ["arrow played", "arrow better"]
    legend = browser.find("#legend")[0].text
    assert "Played: " in legend
    assert "Better: " in legend

    browser.click(".error.current .show")
    assert browser.find("#leave")[0].is_displayed()
    assert browser.status.startswith("Better: ")
    assert not browser.find("#legend")[0].is_displayed()
    browser.click("#leave")
    assert not browser.find("#leave")[0].is_displayed()
    assert browser.status == first_error

    # Every move of a line is shown on the board.
    for line in browser.find(".error.current .line-moves"):
        for number, move in enumerate(line.find_elements("css selector", ".line-move"), start=1):
            browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", move)
            move.click()
            assert browser.status.endswith(move.text.rpartition(".")[2])
            assert browser.run("viewer.at") == number
            assert [current.text for current in browser.find(".line-move[aria-current]")] == [move.text]
    browser.click(".move[data-to='5']")
    assert browser.status.startswith("3.Qxe5+")
    assert browser.run("document.querySelector('.move[aria-current]').dataset.to") == "5"
    browser.click("#graph")
    assert browser.status.startswith(("4...Ng6", "4.d4"))
    assert browser.run("document.getElementById('cursor').getAttribute('d')").startswith("M")
    browser.click("#times")
    assert browser.log() == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_current_move_stays_in_view_beside_the_board(browser: Browser, page: Path, width: int) -> None:
    """Below the board where there is no room."""
    browser.show(page, width)
    assert browser.run("byId('moves').scrollHeight > byId('moves').clientHeight")
    browser.click("#last")
    box, move = (
        browser.run(f"(({{top, bottom}}) => [top, bottom])({element}.getBoundingClientRect())")
        for element in ("byId('moves')", "document.querySelector('.move[aria-current]')")
    )
    assert box[0] <= move[0] < move[1] <= box[1]
    places = [browser.run(f"byId('{name}').getBoundingClientRect().left") for name in ("board", "moves")]
    assert (places[1] > places[0] + 200) == (width > 1000)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.log() == []


def test_every_control_works_by_keyboard_alone(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.show(page)
    for keys, status in (
        ([Keys.ARROW_RIGHT, Keys.ARROW_RIGHT], "1...e5"),
        ([Keys.ARROW_LEFT], "1.e4"),
        ([Keys.END], "8...fxg5"),
    ):
        browser.press(*keys)
        assert browser.status.startswith(status)
    browser.press(Keys.HOME, "n")
    error = browser.status
    browser.press("n", "p")
    assert browser.status == error
    browser.press("f")
    assert browser.run("document.querySelector('#board text').textContent") == "h"

    # Every control is reached by Tab, but of the moves only one, from which the arrows go on.
    browser.show(page)
    reached: list[str] = []
    for _ in range(100):
        browser.press(Keys.TAB)
        name = browser.run(
            "document.activeElement === document.body ? '' : document.activeElement.id || "
            "document.activeElement.className + document.activeElement.textContent"
        )
        if not name or (reached and name == reached[0]):
            break
        reached.append(name)
    for control in ("next", "last", "flip", "slider", "error-after"):
        assert control in reached, reached
    assert sum(name.startswith("show") for name in reached) == len(browser.find(".show"))
    assert sum(name.startswith("move") for name in reached) == 1
    assert not any(name.startswith("line-move") for name in reached)

    # A line is entered, played through and left.
    browser.driver.execute_script("document.querySelector('.show').focus()")
    browser.press(Keys.ENTER)
    assert browser.status.startswith("Better: ")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.find(".line-moves[data-line='0'] .line-move")[1].get_attribute("aria-current") == "true"
    browser.press(Keys.ESCAPE)
    assert not browser.status.startswith("Better: ")
    browser.driver.execute_script("document.querySelector(\".move[tabindex='0']\").focus()")
    at = browser.run("document.activeElement.dataset.to")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.run("document.activeElement.dataset.to") != at
    browser.driver.execute_script("document.getElementById('slider').focus()")
    browser.press(Keys.HOME)
    browser.press(Keys.ARROW_RIGHT)
    assert browser.status.startswith("1.e4")
    assert browser.log() == []


@pytest.mark.parametrize("name", ["game.html", "index.html"])
def test_a_screen_reader_finds_a_name_for_everything(browser: Browser, page: Path, name: str) -> None:
    browser.show(page.with_name(name))
    assert "heading" in dict(browser.roles())
    assert browser.run("document.documentElement.lang") == "en"


def test_in_print_there_are_moves_and_diagrams_and_no_controls(browser: Browser, page: Path) -> None:
    browser.show(page)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for selector in ("#next", "#slider", "#board", "#error-after"):
            assert not browser.find(selector)[0].is_displayed(), selector
        for selector in (".diagram", ".move", "#graph", "table", ".error p"):
            assert browser.find(selector)[0].is_displayed(), selector
        assert browser.find(".diagram [data-square]")
        assert browser.run("byId('moves').scrollHeight === byId('moves').clientHeight")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
