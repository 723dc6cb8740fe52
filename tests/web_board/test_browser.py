"""The board in a real browser: a game by mouse and by keyboard, analysis, explain, load, retry; at two widths."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest

from tests.support import wait_until
from tests.support.browser import Keys, Page
from tests.web_board.served import GAMES_FILE, MATE_IN_ONE, Served

WIDTHS = [1280, pytest.param(390, marks=pytest.mark.slow)]
# Black loses a queen.
GAME = '[White "<i>W</i>"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4! {Best.} (1. d4) e5 2. Nf3 Qg5 3. Nxg5 d6 4. Nf3 1-0\n'
PROMOTION = "7k/P7/8/8/8/8/8/K7 w - - 0 1"
STALEMATE = "8/k1P5/2K5/8/8/8/8/8 w - - 0 1"
CHESS_960 = "1k6/p7/8/8/8/8/P7/1K4R1 w G - 0 1"


class BoardPage(Page):
    """The page of a server."""

    def open(self, server: Served, width: int = 1280) -> None:
        """Open the page with nothing kept."""
        self.show(server.address, width)
        # Until then the page may write down what it has found.
        self.wait("here() !== undefined")
        self.do("localStorage.clear(); sessionStorage.clear()")
        self.reload()

    def reload(self) -> None:
        self.driver.refresh()
        self.wait("here() !== undefined")

    def play_from(self, fen: str) -> None:
        """Begin a game as White from this position."""
        self.do(f"begin(newGame({{start: '{fen}', color: 'white', elo: 1000}}))")
        self.wait(f"game.start === '{fen}'")

    def wait_for_move(self, plies: int) -> None:
        self.wait(f"game.moves.length === {plies} && !isThinking()")

    def check_quiet(self) -> None:
        super().check_quiet()
        assert self.run("byId('notice').hidden"), self.text("notice")

    def check_that_it_works(self, notice: bool = True) -> None:
        if notice:
            self.wait("!byId('notice').hidden")
        self.drag("e2", "e4")
        self.wait_for_move(2)
        self.check_quiet()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("board")) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[BoardPage]:
    page = BoardPage()
    yield page
    page.driver.quit()


@pytest.fixture
def page(browser: BoardPage, server: Served) -> Iterator[BoardPage]:
    """A new page. At the end it is quiet."""
    browser.open(server)
    yield browser
    browser.check_quiet()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_game_by_mouse(page: BoardPage, server: Served, width: int) -> None:
    page.open(server, width)
    page.touch("g1")
    assert {"f3", "h3"} == {move[2:] for move in page.run("targets(selected)")}
    page.touch("f3")
    page.wait_for_move(2)
    page.drag(*("e2", "e4") if page.run("'e2e4' in here().legal") else ("d2", "d4"))
    page.wait_for_move(4)
    # What is not legal, or another's piece, moves nothing.
    page.drag("a1", "a8")
    page.drag("h8", "h1")
    page.wait_for_move(4)
    page.click("#takeback")
    page.wait_for_move(2)
    page.click("#hint")
    page.wait("here().hint in here().legal")
    page.press("t")
    page.wait("here().threat !== undefined")
    assert len(page.find("#board .arrow")) == 2
    page.click("#previous")
    page.drag("d2", "d3")
    page.wait_for_move(2)
    page.click("#last")
    page.click("#resign")
    page.press(Keys.ENTER)
    assert page.run("[game.result, byId('resigning').open]") == ["*", False]
    page.click("#resign")
    page.click("#resigning [value]")
    page.wait("game.result === '0-1'")
    assert f"saved in {server.folder / GAMES_FILE}" in page.text("games-part")
    wait_until(lambda: '[Result "0-1"]' in (server.folder / GAMES_FILE).read_text("utf-8"))


def test_a_game_by_keyboard_alone(page: BoardPage) -> None:
    page.focus("#move")
    page.press("Nf3", Keys.ENTER)
    page.wait_for_move(2)
    page.press("e2e5", Keys.ENTER)
    assert page.status.startswith("e2e5 ")
    # The browser offers the legal moves.
    offered = page.run("[...byId('legal').options].map(({value}) => value)")
    assert sorted(offered) == sorted(page.run("Object.values(here().legal)"))
    page.press("d2d3", Keys.ENTER)
    page.wait_for_move(4)
    assert page.run("game.moves[2]") == "d2d3"
    page.focus("#takeback")
    page.press(Keys.ENTER)
    page.wait_for_move(2)
    page.press("f")
    assert page.run("board.flipped")


def test_black_with_a_clock_from_the_position_on_the_board(page: BoardPage) -> None:
    page.drag("e2", "e4")
    page.wait_for_move(2)
    page.click("#first")
    page.click("label:has(#show-games)")
    page.do("byId('color').value = 'black'; byId('level').value = '0'; byId('time').value = '1 0'")
    page.click("#new-game button")
    page.wait_for_move(1)
    assert page.run("board.flipped")
    page.wait("/^You\\s0:5\\d$/.test(byId('side-below').innerText)")
    page.do("game.clock.black = 300")
    page.wait("game.result === '1-0'")


def test_the_last_move_of_a_game_is_seen_and_a_pawn_promoted_by_choice(page: BoardPage) -> None:
    height = "Number(byId('bar-white').getAttribute('height'))"
    page.play_from(MATE_IN_ONE)
    page.click("#analysis")
    page.wait("here().lines !== undefined")
    assert page.run(f"[{height} > 90, byId('value').textContent]") == [True, "#1"]
    page.click("#analysis")
    page.drag("a1", "a8")
    page.wait("here().result === '1-0'")
    assert page.run(f"[{height}, byId('value').textContent]") == [100, "1-0"]
    page.play_from(PROMOTION)
    page.drag("a7", "a8")
    page.wait("byId('promotion').open")
    page.press(Keys.ESCAPE)
    page.wait("!byId('promotion').open")
    assert page.run("game.moves") == []
    page.touch("a7", "a8")
    # The queen stands where the pawn arrives.
    assert page.run(f"document.elementFromPoint(...{page.centre_of('a8')}).closest('button').title") == "Queen"
    page.press("n")
    page.wait("game.moves[0] === 'a7a8n'")
    page.play_from(STALEMATE)
    page.touch("c7", "c8")
    # The first choice is the queen.
    page.click("#promotion button")
    page.wait("game.result === '1/2-1/2'")
    assert page.run(height) == 50
    assert page.run("asking === null && byId('hint').disabled")
    page.do(f"begin(newGame({{start: '{MATE_IN_ONE}'}}))")
    page.wait("game.color === null")
    page.drag("a1", "a8")
    page.wait("game.result === '1-0'")


def test_pieces_slide_and_sound_and_a_move_may_come_before_the_engine_s(page: BoardPage, server: Served) -> None:
    page.do("window.heard = []; sound.play = (kind) => heard.push(kind)")
    page.do("beginGame({color: 'white', clock: {white: 60000, black: 60000, increment: 0}, control: '60+0'})")
    page.wait("game.clock !== null")
    # The engine's move comes when it is let in.
    page.do("told = new Promise((done) => { letIn = done; }); asked = ask")
    page.do("ask = async (name, ...rest) => { if (name === 'reply') await told; return asked(name, ...rest); }")
    page.drag("e2", "e4")
    page.wait("isWaiting() && here().premoves")
    page.drag("h2", "h4")
    assert "Premove: h4." in page.status
    page.press(Keys.ESCAPE)
    assert page.run("waitingMove()") is None
    page.focus("#move")
    page.press("Nf3", Keys.ENTER)
    page.do("letIn()")
    page.wait("game.moves[2] === 'g1f3'")
    # The engine may have answered already.
    assert page.run("heard.slice(0, 3)") == ["move"] * 3
    page.wait_for_move(4)
    wait_until(lambda: (server.folder / GAMES_FILE).read_text("utf-8").count("{ [%clk 0:0") >= 4)
    saved = (server.folder / GAMES_FILE).read_text("utf-8")
    assert '[TimeControl "60+0"]' in saved
    assert '[Date "20' in saved
    slides = "board.element.getAnimations({subtree: true}).length"
    for feature, count in (("no-preference", 1), ("reduce", 0)):
        features = [{"name": "prefers-reduced-motion", "value": feature}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        page.do("viewer.go(game, 0)")
        time.sleep(0.3)
        assert page.do(f"viewer.go(game, 1); return {slides}") == count
    castling = "Board.moved(Board.read('4K2R'), Board.read('5RK1'))"
    assert page.run(f"[...{castling}]") == [["f8", "h8"], ["g8", "e8"]]
    page.do("document.activeElement.blur()")
    page.press("s")
    page.reload()
    assert page.run("[sound.isOn, byId('sound').ariaPressed]") == [False, "false"]
    # Any position may be played.
    page.click("#first")
    page.click("#play-from")
    page.wait("game.moves.length === 0 && canPlay()")


def test_hands_may_be_quicker_than_the_engine_and_another_tab_takes_it(page: BoardPage, server: Served) -> None:
    page.do("game.elo = 0; play('e2e4'); play('d2d4')")
    page.wait("game.moves.length === 1 && isThinking()")
    page.click("#analysis")
    page.wait_for_move(2)
    page.wait("here().depth > 1")
    page.drag("g1", "f3")
    page.wait("isThinking()")
    page.do("premove = {move: 'a2a3', position: latest()}; byId('takeback').click()")
    page.wait_for_move(2)
    assert page.run("premove") is None
    page.do("lose('white', 'resigns')")
    page.click("#takeback")
    page.wait("here().depth > 1")
    assert page.run("[game.moves, game.result, canPlay()]") == [[], "*", True]
    server.ask("reply")
    page.wait("!byId('notice').hidden")
    page.click("#notice")
    page.wait("asking?.name === 'analyse'")


def test_the_game_that_was_asked_for_last_is_shown(page: BoardPage) -> None:
    page.do("asked = ask; late = new Promise((done) => { letIn = done; })")
    page.do("ask = async (name, fields) => { if (fields.moves.length === 1) await late; return asked(name, fields); }")
    page.do("begin(newGame({moves: ['e2e4']})).then((won) => { window.won = won; })")
    page.do("begin(newGame({moves: ['e2e4', 'e7e5']})).then(letIn)")
    page.wait("window.won === false && game.moves.length === 2")


def test_a_game_outlives_its_page_and_its_server_and_chess960_is_recognised(page: BoardPage, tmp_path: Path) -> None:
    with Served(tmp_path, "--fen", CHESS_960) as server:
        page.open(server)
        # The king takes its own rook.
        page.drag("b1", "g1")
        page.wait_for_move(2)
        moves = page.run("game.moves")
        page.reload()
        assert page.run("game.moves") == moves
        server.process.kill()
        page.click("#hint")
        page.wait("!byId('notice').hidden")
        # The browser complains of the connection.
        assert page.log()
    with Served(tmp_path, "--port", str(server.port)) as server:
        # The address has stayed the same.
        page.show(server.address)
        page.wait("here() !== undefined")
        assert page.run("game.moves") == moves


@pytest.mark.slow
def test_what_cannot_be_kept_given_back_or_loaded_leaves_a_page_that_works(page: BoardPage, server: Served) -> None:
    refused = "JSON.stringify({...newGame({}), positions: [], moves: ['e2e5'], color: 'white'})"
    for kept, notice in (("'{\"moves\": 5}'", True), (refused, True), ("localStorage['secateur-game'] = '{'", False)):
        # What was saved last may be answered now, and would be kept.
        page.do("game = newGame({}); localStorage.clear(); sessionStorage.clear()")
        page.do(f"sessionStorage[location.pathname] = {kept}")
        page.reload()
        page.check_that_it_works(notice)
    for lacking in ("get() { throw new DOMException('forbidden'); }", "value: null"):
        source = f"Object.defineProperty(window, 'localStorage', {{{lacking}}}); delete window.AudioContext"
        script = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        page.do("game = newGame({}); sessionStorage.clear()")
        page.reload()
        page.check_that_it_works(notice=False)
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    page.open(server)
    page.do("load('no game')")
    page.check_that_it_works()
    page.do("load('x'.repeat((64 << 20) + 1))")
    page.wait("byId('notice').textContent.includes('64 MiB')")
    page.click("#notice")
    # The browser complains, too.
    assert page.log()


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_analysis_and_explain(page: BoardPage, server: Served, width: int) -> None:
    page.open(server, width)
    page.click("label:has(#show-engine)")
    page.click("#analysis")
    page.wait("here().depth > 3")
    assert len(page.find("#lines tr")) == 3
    page.wait("document.querySelectorAll('#costs button').length === 20")
    assert page.find("#families tr")
    assert len(page.find("#board .arrow")) == 3
    page.click("#worth")
    assert len(page.find("#board .worth-text")) == 30
    page.touch("e2")
    assert len(page.find("#board rect[class^='cost']")) == 2
    page.touch("e2")
    # A screen reader finds a name for everything.
    board = next(name for _, name in page.roles() if name.startswith("Board. "))
    assert board.count("pawn") == 16
    assert page.run("here().fen") == chess.STARTING_BOARD_FEN

    # A line is played through, by its moves and the buttons, and left. At little depth it may have one move only.
    second_move = "document.querySelector('#lines .line-move:nth-of-type(2)')"
    page.wait(f"{second_move} !== null")
    page.do(f"{second_move}.focus()")
    assert page.run("board.element.ariaLabel !== Board.describe(Board.read(here().fen))")
    page.do(f"{second_move}.click()")
    page.wait("viewer.isLine")
    assert page.run("viewer.at") == 2
    page.wait("document.activeElement.id === 'leave'")
    page.click("#previous")
    assert page.is_shown("#leave")
    page.click("#leave")
    assert page.run("here() === game.positions[0]")

    page.click("#explain")
    page.drag("g2", "g4")
    page.wait("here().explanation && asking?.name !== 'explain'")
    assert page.text("explanation-text").startswith("1.g4")
    # There is one answer at a time: what is better, in words, as an arrow and as a number.
    assert not page.is_shown("#analysed")
    assert page.run("here().explanation.best.value === byId('value').textContent")
    assert len(page.find("#board .arrow.asked")) == len(page.find("#board .arrow.better")) == 1
    assert page.run("game.moves") == []
    # It stays beside its lines.
    page.do("byId('explanation-lines').children[1].click()")
    page.wait("viewer.isLine && viewer.at === 1 && !isAnalysing()")
    page.do("byId('explanation-lines').children[0].click()")
    page.wait("viewer.isLine && here().last === 'g2g4'")
    page.click("#explanation-close")
    page.click("#leave")
    # The number, the chip and a hint agree with the table.
    page.do("byId('hint').click()")
    page.wait("isAnalysing() && hintOf(here()) === here().lines[0].steps[0].last")
    chip = "costsOf(here()).find(({move}) => move === here().lines[0].steps[0].last)"
    assert page.run(f"[{chip}, here().lines[0]].every(({{value}}) => value === byId('value').textContent)")
    page.do("byId('costs').firstChild.click()")
    page.wait("here().explanation && here().explanation.move !== 'g2g4'")
    page.click("#explanation-play")
    page.wait_for_move(2)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_game_is_loaded_and_its_mistake_retried(page: BoardPage, server: Served, width: int) -> None:
    page.open(server, width)
    page.click("label:has(#show-games)")
    page.do("byId('pgn').value = arguments[0]", GAME)
    page.click("#load-form button")
    page.wait("game.moves.length === 7")
    assert "<i>W</i>" in page.text("facts")
    page.click("#next")
    assert page.status.startswith("1.e4")
    # A move of one's own is a line, which leads back.
    page.touch("c7", "c5")
    page.wait("viewer.isLine")
    assert page.run("here().last") == "c7c5"
    page.click("#leave")
    # It stays, with what the file has, and goes out with that.
    assert "1.e4! Best.( 1.d4 ) 1...e5 ( 1...c5 ) 2.Nf3" in page.text("moves")
    page.do("reveal(byId('copy-pgn')); window.copied = ''; copy = (text) => (copied = text)")
    page.click("#copy-pgn")
    page.wait("copied.includes('1. e4 $1 { Best. } ( 1. d4 ) 1... e5 ( 1... c5 ) 2. Nf3')")
    page.do("reveal(byId('review'))")
    page.click("#review")
    # The game may be stepped through in the meantime.
    page.wait("!byId('progress').hidden")
    page.click("#next")
    page.wait("mistakes.length > 0")
    # The graph has the mistake, and leads to a move; the opening has its name.
    assert page.run("byId('dots-blunder').getAttribute('d')").startswith("M4 ")
    page.click("#graph")
    assert page.run("[viewer.at, Number(byId('graph').ariaValueNow)]") == [4, 4]
    # Whatever people read has one minus sign.
    assert "\u2212" in page.text("moves")
    assert not re.search(r"-\d\.|#-", page.text("moves") + page.status)
    assert page.text("opening") == "C40 King's Knight Opening"
    page.do("game.positions[3].hint = 'b8c6'")
    page.click("#previous")
    page.click("#retry-start")
    page.wait("retry !== null && here().hint === undefined")
    assert "2...Qg5" in page.text("retry-text")
    assert page.run("board.flipped")
    page.drag("d8", "h4")
    page.wait("here().explanation?.move === 'd8h4'")
    wrong = page.text("retry-text")
    assert page.run("byId('explanation').hidden")
    page.drag("b8", "c6")
    page.wait("here().explanation.move === 'b8c6'")
    assert page.text("retry-text") != wrong
    page.click("#retry-answer")
    page.wait("here().explanation.move === 'd8g5'")
    assert page.is_shown("#explanation")
    assert page.find("#board .arrow.better")
    assert page.run("here().explanation.is_error && isAnswered && !byId('retry').hidden")
    # In another tab, the answer comes into sight, each time that it is refined.
    page.wait("asking?.name !== 'explain'")
    page.do("reveal(byId('review'))")
    page.click("#error-4 button:last-of-type")
    box = "byId('explanation').getBoundingClientRect()"
    page.wait(f"(({{top, height}}) => height && top > -1 && top < innerHeight)({box})")


def test_games_of_a_file_are_read_with_their_progress_and_listed(page: BoardPage, tmp_path: Path) -> None:
    path = tmp_path / "many.pgn"
    path.write_text("".join(GAME.replace('"B"', f'"Player {number}"') for number in range(999)), "utf-8")
    page.click("label:has(#show-games)")
    page.find("#file")[0].send_keys(str(path))
    page.do("bar = byId('loading'); told = []")
    page.do("see = new MutationObserver((all) => told.push(...all.map((each) => +each.oldValue)))")
    page.do("see.observe(bar, {attributeFilter: ['value'], attributeOldValue: true})")
    page.click("#load-form button")
    page.wait("game.names.black === 'Player 0' && byId('library').children.length === MAX_LISTED && bar.hidden")
    assert page.run("told.some((share) => share > 0.4 && share < 0.6)")
    assert page.text("notice").startswith("The first of 999 games.")
    # Another load of one leaves them there.
    page.do(f"load('{STALEMATE}')")
    page.wait(f"game.start === '{STALEMATE}'")
    page.click("label:has(#show-games)")
    page.focus("#search")
    page.press("player 998")
    page.wait("byId('library').children.length === 1")
    page.press(Keys.TAB, Keys.ENTER)
    page.wait("game.names.black === 'Player 998'")


def test_games_of_the_folder_are_found_and_own_mistakes_solved(page: BoardPage, server: Served) -> None:
    odd = GAME.replace("<i>W</i>", "Cee").replace("[Black", '% x\n [_Foo "y"]\n[Black')
    (server.folder / "club.pgn").write_text("\ufeff" + GAME + odd, "utf-8")
    page.click("label:has(#show-games)")
    page.wait("library.length > 1")
    page.focus("#me")
    page.press("b", Keys.TAB)
    page.focus("#search")
    page.press("cee 1-0 CLUB")
    page.wait("byId('library').children.length === 1")
    page.press(Keys.TAB, Keys.ENTER)
    page.wait("game.names.white === 'Cee'")
    page.click("#review")
    # Another test may have found the same.
    page.wait("mistakes.length > 0 && report[game.key] && exercises[0].name === '2...Qg5??'")
    page.click("label:has(#show-games)")
    # Other tests have saved games.
    page.do("library = library.filter(({file}) => file === 'club.pgn'); showReport()")
    page.click("#analyse-rest")
    page.wait("byId('analyse-rest').hidden && byId('report-text').textContent.includes(' of b: 1, of which 0 ')")
    assert "King's Knight Opening: 2 mistakes in " in page.text("report")
    assert page.run("exercises.length") == 1
    page.click("#solve")
    page.wait("retry?.key && board.flipped")
    page.drag("b8", "c6")
    page.wait("exercises[0].isSolved")
    page.reload()
    page.click("label:has(#show-games)")
    page.wait("byId('report-text').textContent.includes('1, of which 1 are solved. 2 of ')")
    page.do("document.querySelector('#report details').open = true")
    page.click("#report details button")
    page.wait("here().explanation?.move === 'd8g5'")
