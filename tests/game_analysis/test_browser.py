"""The pages in a real browser: no errors, every control works, at two widths, by keyboard alone, in print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.game_analysis.test_pgn import report_of
from tests.support.browser import Keys, Page
from uci_engine.board.pgn import read_game
from uci_engine.game_analysis.judgement import ERRORS
from uci_engine.game_analysis.pages import game_page, index_row, render

GAME = """[Event "A"]
[White "White, W."]
[Black "Black, B."]
[Result "1-0"]

1. e4 {[%clk 0:04:58]} e5 {[%clk 0:04:59]} 2. Qh5 {[%clk 0:04:50]} Nc6 {[%clk 0:04:30]} 3. Qxe5+ {[%clk 0:04:49]}
Nxe5 {[%clk 0:04:28]} 4. d4 {[%clk 0:04:40]} Ng6 {[%clk 0:04:10]} 5. Bh6 Nxh6 6. Nf3 Qg5 7. Nxg5 f6 8. Bc4 fxg5 1-0
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    report = report_of(read_game(GAME.encode()))
    assert len(report.errors) >= 2
    (folder / "game.html").write_text(game_page(report, "index.html"), "utf-8")
    rows = [{"number": 1, **index_row(report, "game.html")}]
    (folder / "index.html").write_text(render("index.html.j2", {}, rows=rows), "utf-8")
    return folder / "game.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    page = Page()
    yield page
    page.driver.quit()


@pytest.fixture
def page(browser: Page, file: Path) -> Iterator[Page]:
    """The page of the game. At the end it is quiet."""
    browser.show(file)
    yield browser
    browser.check_quiet()


@pytest.mark.parametrize(("width", "is_by_key"), [(1280, False), (390, False), (1280, True)])
def test_every_control_works_by_mouse_and_by_key(page: Page, file: Path, width: int, is_by_key: bool) -> None:
    def act(selector: str, key: str) -> None:
        if is_by_key:
            page.press(key)
        else:
            page.click(selector)

    page.show(file, width)
    assert page.status.startswith("Start of the game")
    for selector, key, status, is_end in (
        ("#next", Keys.ARROW_RIGHT, "1.e4", False),
        ("#last", Keys.END, "8...fxg5", True),
        ("#previous", Keys.ARROW_LEFT, "8.Bc4", False),
        ("#first", Keys.HOME, "Start of the game", True),
    ):
        act(selector, key)
        assert page.status.startswith(status)
        assert all(button.is_enabled() for button in page.find("#next, #previous")) != is_end
    act("#flip", "f")
    assert page.run("document.querySelector('#board text').textContent") == "h"

    act("#error-after", "n")
    first_error = page.status
    assert any(mark.word in first_error for mark in ERRORS)
    act("#error-after", "n")
    assert page.status != first_error
    act("#error-before", "p")
    assert page.status == first_error
    assert len(page.find(".error.current")) == 1
    # Arrows for the move played and the better one, and what they mean.
    assert [arrow.get_attribute("class") for arrow in page.find("#board .arrow")] == ["arrow played", "arrow better"]
    legend = page.find("#legend")[0].text
    assert "Played: " in legend
    assert "Better: " in legend

    page.focus(".error.current .show")
    act(".error.current .show", Keys.ENTER)
    assert page.is_shown("#leave")
    assert page.status.startswith("Better: ")
    assert not page.is_shown("#legend")
    act("#next", Keys.ARROW_RIGHT)
    (current,) = page.find(".line-move[aria-current]")
    assert page.run("viewer.at") == 2
    assert page.status.endswith(current.text.rpartition(".")[2])
    act("#leave", Keys.ESCAPE)
    assert not page.is_shown("#leave")
    assert page.status == first_error


def test_a_better_move_is_found_on_the_board_or_typed(page: Page) -> None:
    page.press("n", "r")
    played, better = page.run("errors.get(retry).map(({positions}) => positions[1].last)")
    assert page.text("retry-text").endswith(" was played here. Find a better move.")
    assert not page.find(".error-body")[0].is_displayed()
    page.drag(played[:2], played[2:4])
    assert page.text("retry-text").endswith(" Try again.")
    page.focus("#move")
    page.press(page.run(f"choices()['{better}']"), Keys.ENTER)
    assert page.text("retry-text").endswith(" is right.")
    assert page.status.startswith("Better: ")
    page.click("#retry-next")
    page.click("#retry-answer")
    assert page.run("viewer.track === errors.get(retry)[1]")


def test_moves_of_lines_and_of_the_game_and_graphs_can_be_clicked(page: Page) -> None:
    page.click("#error-after")
    # Every move of a line is shown on the board.
    for line in page.find(".error.current .line-moves"):
        for number, move in enumerate(line.find_elements("css selector", ".line-move"), start=1):
            page.do("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", move)
            move.click()
            assert page.status.endswith(move.text.rpartition(".")[2])
            assert page.run("viewer.at") == number
            assert [current.text for current in page.find(".line-move[aria-current]")] == [move.text]
    page.click(".move[data-to='5']")
    assert page.status.startswith("3.Qxe5+")
    assert page.run("document.querySelector('.move[aria-current]').dataset.to") == "5"
    page.click("#graph")
    assert page.status.startswith(("4...Ng6", "4.d4"))
    assert page.run("byId('cursor').getAttribute('d')") == f"M{page.run('viewer.at')} 0V100"
    page.click("#first")
    page.click("#times")
    assert page.run("viewer.at") > 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_current_move_stays_in_view_beside_the_board(page: Page, file: Path, width: int) -> None:
    """Below the board where there is no room."""
    page.show(file, width)
    assert page.run("byId('moves').scrollHeight > byId('moves').clientHeight")
    page.click("#last")
    box, move = (
        page.run(f"(({{top, bottom}}) => [top, bottom])({element}.getBoundingClientRect())")
        for element in ("byId('moves')", "document.querySelector('.move[aria-current]')")
    )
    assert box[0] <= move[0] < move[1] <= box[1]
    places = [page.run(f"byId('{name}').getBoundingClientRect().left") for name in ("board", "moves")]
    assert (places[1] > places[0] + 200) == (width > 1000)


def test_tab_reaches_every_control_and_of_the_moves_one(page: Page) -> None:
    def tab() -> str:
        page.press(Keys.TAB)
        return str(
            page.run(
                "document.activeElement === document.body ? '' : document.activeElement.id || "
                "document.activeElement.className + document.activeElement.textContent"
            )
        )

    reached = [tab()]
    while (name := tab()) not in ("", reached[0]):
        reached.append(name)
    assert {"next", "last", "flip", "graph", "error-after"} <= set(reached)
    assert sum(name.startswith("show") for name in reached) == len(page.find(".show"))
    assert sum(name.startswith("move") for name in reached) == 1
    assert not any(name.startswith("line-move") for name in reached)
    # From that one the arrows go on.
    page.focus(".move[tabindex='0']")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.run("document.activeElement.dataset.to") == "2"
    page.focus("#graph")
    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    assert page.status.startswith("1.e4")


def test_a_screen_reader_and_a_printer_find_what_they_need(page: Page, file: Path) -> None:
    for name in ("index.html", "game.html"):
        page.show(file.with_name(name))
        assert "heading" in dict(page.roles())
        assert page.run("document.documentElement.lang") == "en"
    page.show(file, media="print")
    for selector in ("#next", "#cursor", "#board", "#error-after"):
        assert not page.is_shown(selector), selector
    for selector in (".diagram", ".move", "#graph", "table", ".error p"):
        assert page.is_shown(selector), selector
    assert page.find(".diagram [data-square]")
    assert page.run("byId('moves').scrollHeight === byId('moves').clientHeight")
