"""The board in a real browser: a game by mouse and by keyboard, explain, prove, load, retry; at two widths.

Skipped where there is no Chromium with its driver, or no Selenium.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chess
import pytest

from tests.support import wait_until
from tests.support.browser import WIDTHS, Browser, needs_browser
from tests.web_board.served import GAMES_FILE, Served

for library in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(library)
pytestmark = [pytest.mark.slow, needs_browser]

# Black loses a queen.
GAME = '[White "<i>W</i>"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Qg5 3. Nxg5 d6 4. Nf3 1-0\n'
PROMOTION = "7k/P7/8/8/8/8/8/K7 w - - 0 1"
STALEMATE = "8/k1P5/2K5/8/8/8/8/8 w - - 0 1"
CHESS_960 = "1k6/p7/8/8/8/8/P7/1K4R1 w G - 0 1"


class Page:
    """The page of a server, and what a player does with it."""

    def __init__(self, browser: Browser, server: Served) -> None:
        self.browser = browser
        self.server = server

    def show(self, width: int = 1280) -> None:
        """Open the page with nothing kept."""
        self.browser.show(self.server.address, width)
        self.browser.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        self.reload()

    def reload(self) -> None:
        self.browser.driver.refresh()
        self.wait("here() !== undefined")

    def play_from(self, fen: str) -> None:
        """Begin a game as White from this position."""
        self.show()
        self.browser.driver.execute_script(f"begin(newGame({{start: '{fen}', color: 'white', elo: 1000}}))")
        self.wait(f"game.start === '{fen}'")

    def wait(self, condition: str) -> None:
        wait_until(lambda: self.browser.run(condition), f"{condition}: {self.browser.status}")

    def wait_for_move(self, plies: int) -> None:
        self.wait(f"game.moves.length === {plies} && !isThinking()")

    def mouse(self, kind: str, square: str) -> None:
        if kind == "mousePressed":
            self.browser.driver.execute_script("board.element.scrollIntoView({block: 'center', behavior: 'instant'})")
        x, y = self.browser.run(
            f"(({{left, top, width}}, {{x, y}}) => [left + (x + 22) * width / 360, top + (y + 22) * width / 360])"
            f"(board.element.getBoundingClientRect(), board.place('{square}'))"
        )
        event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": int(kind != "mouseReleased")}
        self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event | {"clickCount": 1})

    def drag(self, move: str) -> None:
        self.mouse("mousePressed", move[:2])
        self.mouse("mouseMoved", move[2:4])
        self.mouse("mouseReleased", move[2:4])

    def click(self, *squares: str) -> None:
        for square in squares:
            self.mouse("mousePressed", square)
            self.mouse("mouseReleased", square)

    @property
    def text(self) -> str:
        return str(self.browser.run("document.body.innerText"))

    def check_quiet(self) -> None:
        """Nothing in the console, no notice, nothing wider than the window."""
        assert self.browser.log() == []
        assert self.browser.run("byId('notice').hidden"), self.text
        assert self.browser.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    browser = Browser()
    with Served(tmp_path_factory.mktemp("board")) as server:
        yield Page(browser, server)
    browser.driver.quit()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_game_by_mouse(page: Page, width: int) -> None:
    page.show(width)
    assert "Your move" in page.browser.status
    page.click("g1")
    assert {"f3", "h3"} == {move[2:] for move in page.browser.run("targets(selected)")}
    page.click("f3")
    page.wait_for_move(2)
    page.drag("e2e4" if page.browser.run("'e2e4' in here().legal") else "d2d4")
    page.wait_for_move(4)
    # What is not legal, or another's piece, moves nothing.
    page.drag("a1a8")
    page.drag("h8h1")
    page.wait_for_move(4)
    page.browser.click("#takeback")
    page.wait_for_move(2)
    page.browser.click("#hint")
    page.wait("byId('status').textContent.includes('Hint: ')")
    assert len(page.browser.find("#board .arrow")) == 1
    page.browser.click("#previous")
    page.drag("d2d3")
    page.wait_for_move(2)
    page.browser.click("#last")
    page.browser.click("#resign")
    page.wait("game.result === '0-1'")
    assert "White resigns" in page.browser.status
    page.wait("byId('saved').textContent !== ''")
    wait_until(lambda: '[Result "0-1"]' in (page.server.folder / GAMES_FILE).read_text("utf-8"))
    page.check_quiet()


def test_a_game_by_keyboard_alone(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.show()
    page.browser.driver.execute_script("byId('move').focus()")
    page.browser.press("Nf3", Keys.ENTER)
    page.wait_for_move(2)
    page.browser.press("e2e5", Keys.ENTER)
    assert page.browser.status == "e2e5 is no legal move here."
    # The browser offers the legal moves.
    offered = page.browser.run("[...byId('legal').options].map(({value}) => value)")
    assert sorted(offered) == sorted(page.browser.run("Object.values(here().legal)"))
    page.browser.press("d2d3", Keys.ENTER)
    page.wait_for_move(4)
    assert page.browser.run("game.moves[2]") == "d2d3"
    page.browser.driver.execute_script("byId('takeback').focus()")
    page.browser.press(Keys.ENTER)
    page.wait_for_move(2)
    page.browser.press("f")
    assert page.browser.run("board.flipped")
    page.check_quiet()


def test_a_game_is_kept_when_the_page_goes_away(page: Page) -> None:
    page.show()
    page.drag("e2e4")
    page.wait_for_move(2)
    moves = page.browser.run("game.moves")
    page.reload()
    assert page.browser.run("game.moves") == moves
    assert "Your move" in page.browser.status
    # In another tab it is offered.
    page.browser.driver.execute_script("sessionStorage.clear()")
    page.reload()
    assert page.browser.run("game.moves") == []
    page.browser.click("#resume")
    page.wait_for_move(2)
    assert page.browser.run("game.moves") == moves
    page.check_quiet()


def test_black_with_a_clock_from_the_position_on_the_board(page: Page) -> None:
    page.show()
    page.drag("e2e4")
    page.wait_for_move(2)
    page.browser.click("#first")
    page.browser.click("#new summary")
    page.browser.driver.execute_script(
        "byId('color').value = 'black'; byId('level').value = '0'; byId('time').value = '1 0'"
    )
    page.browser.click("#new-game button")
    page.wait_for_move(1)
    assert page.browser.run("board.flipped")
    assert page.browser.find("#clock-below")[0].is_displayed()
    page.wait("byId('clock-below').textContent === 'Black 0:59'")
    page.browser.driver.execute_script("game.clock.black = 300")
    page.wait("game.result === '1-0'")
    assert "Black has lost on time" in page.browser.status
    page.check_quiet()


@pytest.mark.parametrize("letter", ["q", "n"])
def test_a_pawn_is_promoted_by_choice(page: Page, letter: str) -> None:
    page.play_from(PROMOTION)
    page.drag("a7a8")
    page.browser.click(f"#promotion button[value='{letter}']")
    page.wait("game.moves.length >= 1")
    assert page.browser.run("game.moves[0]") == f"a7a8{letter}"
    page.check_quiet()


def test_a_promotion_may_be_left_and_a_drawn_game_is_over(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.play_from(STALEMATE)
    page.click("c7", "c8")
    page.wait("byId('promotion').open")
    page.browser.press(Keys.ESCAPE)
    page.wait("!byId('promotion').open")
    assert page.browser.run("game.moves") == []
    page.click("c7", "c8")
    # The first choice is the queen.
    page.wait("byId('promotion').open")
    page.browser.click("#promotion button")
    page.wait("game.result === '1/2-1/2'")
    assert page.browser.status == "1.c8=Q. Stalemate: the game is drawn."
    assert page.browser.run("asking === null && byId('hint').disabled")
    page.check_quiet()


def test_hands_may_be_quicker_than_the_engine(page: Page) -> None:
    page.show()
    page.browser.driver.execute_script("game.elo = 0; play('e2e4'); play('d2d4')")
    page.wait("game.moves.length === 1 && isThinking()")
    page.browser.click("#explain")
    page.wait_for_move(2)
    page.wait("here().depth > 1")
    page.drag("g1f3")
    page.wait("isThinking()")
    page.browser.click("#takeback")
    page.wait_for_move(2)
    page.browser.click("#resign")
    page.wait("game.result === '0-1'")
    page.browser.click("#takeback")
    page.wait("here().depth > 1")
    assert page.browser.run("[game.moves, game.result, byId('status').textContent]") == [
        [],
        "*",
        "Start position. Your move.",
    ]
    page.check_quiet()


def test_another_tab_takes_the_engine_and_a_click_takes_it_back(page: Page) -> None:
    page.show()
    page.browser.click("#explain")
    page.wait("here().depth > 1")
    page.server.ask("reply")
    page.wait("!byId('notice').hidden")
    assert page.browser.run("byId('notice').textContent").startswith("Another tab")
    page.browser.click("#notice")
    page.wait("asking?.name === 'explain'")
    page.check_quiet()


def test_a_game_outlives_its_server_and_chess960_is_recognised(page: Page, tmp_path: Path) -> None:
    with Served(tmp_path, "--fen", CHESS_960) as server:
        Page(page.browser, server).show()
        # The king takes its own rook.
        page.drag("b1g1")
        page.wait_for_move(2)
        server.process.kill()
        page.browser.click("#hint")
        page.wait("!byId('notice').hidden")
        assert "Start secateur board again" in page.text
        moves = page.browser.run("game.moves")
        page.browser.log()
    with Served(tmp_path, "--port", str(server.port)) as server:
        page.browser.show(server.address)
        page.wait("here() !== undefined")
        page.browser.click("#resume")
        page.wait_for_move(2)
        assert page.browser.run("game.moves") == moves
        page.check_quiet()


def test_what_the_browser_cannot_keep_or_give_back_leaves_a_page_that_works(page: Page) -> None:
    refused = '{...newGame({}), positions: [], moves: ["e2e5"], color: "white"}'
    for kept in ("'{'", "5", "'[]'", "'{\"moves\": 5}'", f"JSON.stringify({refused})"):
        page.show()
        page.browser.driver.execute_script(f"sessionStorage[location.pathname] = {kept}")
        page.reload()
        page.wait("!byId('notice').hidden")
        page.drag("e2e4")
        page.wait_for_move(2)
    page.browser.driver.execute_script("sessionStorage.clear(); localStorage['secateur-game'] = '{'")
    page.reload()
    page.wait("!byId('notice').hidden")
    page.browser.click("#flip")
    assert page.browser.run("board.flipped")
    page.check_quiet()

    forbidden = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('forbidden'); }})"
    script = page.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": forbidden})
    page.reload()
    page.drag("e2e4")
    page.wait_for_move(2)
    page.check_quiet()
    page.browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_file_of_games_that_cannot_be_loaded_leaves_a_page_that_works(page: Page, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text("no game\n")
    with Served(tmp_path, "games.pgn") as server:
        other = Page(page.browser, server)
        other.show()
        other.wait("!byId('notice').hidden")
        other.browser.click("#flip")
        assert other.browser.run("board.flipped")
        other.check_quiet()


def test_the_bar_follows_the_numbers(page: Page) -> None:
    height = "Number(byId('bar-white').getAttribute('height'))"
    page.play_from("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    page.browser.click("#explain")
    page.wait("here().lines !== undefined")
    assert page.browser.run(f"{height} > 90")
    page.browser.click("#explain")
    page.drag("a1a8")
    page.wait("here().result === '1-0'")
    assert page.browser.run(height) == 100
    page.play_from(STALEMATE)
    page.browser.driver.execute_script("play('c7c8q')")
    page.wait("here().result === '1/2-1/2'")
    assert page.browser.run(height) == 50
    page.check_quiet()


@pytest.mark.parametrize("width", WIDTHS)
def test_explain_and_prove(page: Page, width: int) -> None:
    page.show(width)
    page.browser.click("#explain")
    page.wait("here().depth > 3")
    assert len(page.browser.find("#lines tr")) == 3
    assert len(page.browser.find("#costs button")) == 20
    assert page.browser.find("#families tr")
    assert len(page.browser.find("#board .arrow")) == 3
    page.browser.click("#worth")
    page.wait("here().sum !== undefined")
    assert len(page.browser.find("#board .worth-text")) == 30
    page.click("e2")
    assert len(page.browser.find("#board rect[class^='cost']")) == 2
    page.click("e2")

    # A line is played through, by its moves and the buttons, and left.
    # At little depth a line may have one move only.
    second_move = "document.querySelector('#lines .line-move:nth-of-type(2)')"
    page.wait(f"{second_move} !== null")
    page.browser.driver.execute_script(f"{second_move}.click()")
    page.wait("viewer.isLine")
    assert page.browser.run("viewer.at") == 2
    page.wait("document.activeElement.id === 'leave'")
    page.browser.click("#previous")
    assert page.browser.find("#leave")[0].is_displayed()
    page.browser.click("#leave")
    assert page.browser.status.startswith("Start position")

    page.browser.click("#prove")
    page.drag("g2g4")
    page.wait("here().proof && asking?.name !== 'prove'")
    assert "g4" in page.browser.run("byId('proof-title').textContent")
    assert "Better is" in page.browser.run("byId('proof-text').textContent")
    assert page.browser.run("game.moves") == []
    page.wait("here().depth > 3")
    page.browser.driver.execute_script("byId('costs').firstChild.click()")
    page.wait("here().proof.move !== 'g2g4'")
    page.browser.click("#proof-play")
    page.wait_for_move(2)
    page.check_quiet()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_game_is_loaded_and_its_mistake_retried(page: Page, width: int) -> None:
    page.show(width)
    page.browser.click("#load summary")
    page.browser.driver.execute_script("byId('pgn').value = arguments[0]", GAME)
    page.browser.click("#load-form button")
    page.wait("game.moves.length === 7")
    assert "<i>W</i>" in page.browser.run("byId('facts').textContent")
    page.browser.click("#next")
    assert page.browser.status.startswith("1.e4")
    # A move of one's own is a line, which leads back.
    page.click("c7", "c5")
    page.wait("viewer.isLine")
    assert page.browser.run("here().say") == "1...c5."
    page.browser.click("#leave")
    page.browser.click("#review")
    # The game may be stepped through in the meantime.
    page.wait("!byId('progress').hidden")
    page.browser.click("#next")
    page.wait("mistakes.length > 0")
    number = page.browser.run("mistakes.findIndex(({index}) => index === 3)")
    page.browser.click(f"#errors li:nth-child({number + 1}) > button")
    page.wait("retry !== null")
    assert "Black played 2...Qg5" in page.browser.run("byId('retry-text').textContent")
    assert page.browser.run("board.flipped")
    page.drag("d8h4")
    page.wait("byId('retry-text').textContent.includes('is no better')")
    assert page.browser.run("byId('proof').hidden")
    page.drag("b8c6")
    page.wait("byId('retry-text').textContent.includes('is right')")
    page.browser.click("#retry-answer")
    page.wait("here().proof.move === 'd8g5'")
    assert page.browser.find("#proof")[0].is_displayed()
    assert "What refutes it: 2...Qg5 3. Nxg5" in page.browser.run("byId('proof-text').textContent")
    assert page.browser.run("retry") is None
    # Below a long list of mistakes, the answer comes into sight.
    page.browser.driver.execute_script("byId('errors').style.marginTop = '2000px'")
    page.browser.click(f"#errors li:nth-child({number + 1}) > button:last-of-type")
    page.wait("(({top}) => top > -1 && top < innerHeight)(byId('proof').getBoundingClientRect())")
    page.check_quiet()


def test_a_screen_reader_finds_a_name_for_everything(page: Page) -> None:
    page.show()
    page.browser.click("#explain")
    page.wait("here().lines !== undefined")
    board = next(name for _, name in page.browser.roles() if name.startswith("Board. "))
    assert board.count("pawn") == 16
    assert page.browser.run("here().fen") == chess.STARTING_BOARD_FEN
