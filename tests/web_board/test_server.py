"""The command and the server of the board, by requests to the real process: right ones, hostile ones, and its end."""

from __future__ import annotations

import html
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import chess
import pytest

from tests.support import run_python, wait_until
from tests.support.syzygy_samples import copy_tables
from tests.web_board.served import MATE_IN_ONE, Served, answers
from uci_engine.game_analysis import pages
from uci_engine.web_board.address import secret
from uci_engine.web_board.desk import AT_THE_END, OTHER_TAB
from uci_engine.web_board.server import SCRIPTS, TEMPLATES

CHESS_960 = '[Variant "Chess960"]\n[SetUp "1"]\n[FEN "1k6/8/8/8/8/8/8/1K4R1 w G - 0 1"]\n\n1. O-O *\n'
TREE = "{ A } 1. e4 $1 { B } ( { C } 1. d4 d5 ( 1... Nf6 $14 ) 2. c4 ) 1... e5 *"
# Black loses a queen.
MISTAKE = ["e2e4", "e7e5", "g1f3", "d8g5"]
GAME = '[WhiteElo "1437"]\n[White "A \\"B\\""]\n[Black "B"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("board")) as served:
        yield served


def test_the_page_is_one_file_that_may_ask_its_own_server_alone(server: Served) -> None:
    response = server.open("GET", "")
    text = html.unescape(response.read().decode())
    assert response.status == 200
    assert text.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in text
    assert "connect-src 'self'" in text
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert response.headers["Cache-Control"] == "no-store"
    assert server.host == "127.0.0.1"


def test_the_scripts_do_what_needs_no_page() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node")
    paths = [*(pages.TEMPLATES / name for name in pages.SHARED), *(TEMPLATES / name for name in SCRIPTS[:-1])]
    subprocess.run([node, Path(__file__).with_name("scripts.test.js"), *paths], check=True, timeout=60)


def test_positions_have_what_python_chess_says_of_them(server: Served) -> None:
    moves = ["f2f3", "e7e5", "g2g4", "d8h4"]
    (found,) = server.ask("positions", moves=moves)
    board = chess.Board()
    for number, position in enumerate(found["positions"]):
        assert position["fen"] == board.board_fen()
        assert position["legal"] == {move.uci(): board.san(move) for move in board.legal_moves}
        assert position["turn"] == chess.COLOR_NAMES[board.turn]
        if number < len(moves):
            board.push_uci(moves[number])
    assert found["positions"][-1]["result"] == "0-1"
    assert "Checkmate: Black wins" in found["positions"][-1]["say"]
    (later,) = server.ask("positions", moves=moves, first=3)
    assert later["positions"] == found["positions"][3:]


def test_premoves_are_what_pieces_may_do_alone(server: Served) -> None:
    (found,) = server.ask("premoves", start=CHESS_960.split('"')[5])
    assert found["premoves"] == {f"b8{to}": f"K{to}" for to in ("a7", "b7", "c7", "a8", "c8")}
    wishes = server.ask("premoves", moves=["e2e4"])[0]["premoves"]
    names = {"e4d5": "exd5", "e4e5": "e5", "a2a4": "a4", "d1h5": "Qh5", "a1a8": "Ra8", "e1g1": "O-O", "e1c1": "O-O-O"}
    assert wishes == wishes | names
    assert not {"e4e6", "a2a5", "b1b3", "e7e5"} & set(wishes)


@pytest.mark.parametrize(
    ("fen", "moves", "result", "word"),
    [
        ("7k/5Q2/5K2/8/8/8/8/8 b - - 0 1", [], "1/2-1/2", "Stalemate"),
        ("8/8/8/8/8/8/8/K6k w - - 0 1", [], "1/2-1/2", "mate"),
        ("7k/8/8/8/8/8/R7/K7 w - - 99 80", ["a2a3"], "1/2-1/2", "Fifty"),
        (chess.STARTING_FEN, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2, "1/2-1/2", "three times"),
        (chess.STARTING_FEN, ["g1f3", "g8f6", "f3g1", "f6g8"], None, ""),
    ],
)
def test_the_game_ends_by_the_rules(server: Served, fen: str, moves: list[str], result: str | None, word: str) -> None:
    (found,) = server.ask("positions", start=fen, moves=moves, first=len(moves))
    assert found["positions"][0].get("result") == result
    assert word in found["positions"][0]["say"]


@pytest.mark.parametrize(
    "fields", [{"elo": 0}, {"elo": 1000}, {"elo": 2400, "white": 3000, "black": 3000, "increment": 0}]
)
def test_the_engine_replies_with_a_legal_move(server: Served, fields: dict[str, int]) -> None:
    (found,) = server.ask("reply", moves=["e2e4"], **fields)
    board = chess.Board()
    board.push_uci("e2e4")
    assert board.parse_uci(found["move"])


def test_analyse_tells_the_sum_and_a_value_then_all_moves_then_lines(server: Served) -> None:
    told = answers(server.open("POST", "analyse", json.dumps({"moves": MISTAKE})))
    board = chess.Board()
    for move in MISTAKE:
        board.push_uci(move)
    evaluation, first = next(told), next(told)
    assert first["lines"][0]["value"]
    costs, report = next(each for each in told if "costs" in each), next(told)
    told_sum = evaluation["sum"]
    assert sum(family["difference_cp"] for family in told_sum["families"]) == told_sum["white_score_cp"]
    assert next(piece["value_cp"] for piece in told_sum["pieces"] if piece["square"] == "g5") > 500
    assert {each["move"] for each in costs["costs"]} == {move.uci() for move in board.legal_moves}
    assert costs["costs"] == sorted(costs["costs"], key=lambda each: -each["share"])
    assert costs["costs"][0]["move"] == "f3g5"
    for line in report["lines"]:
        walk = board.copy()
        for step in line["steps"]:
            assert step["say"].endswith(walk.san(chess.Move.from_uci(step["last"])))
            walk.push_uci(step["last"])


def test_analyse_tells_what_the_tablebases_say(tmp_path: Path) -> None:
    with Served(tmp_path, "--option", f"SyzygyPath={copy_tables(tmp_path / 'tables', 'KRvK')}") as served:
        told = next(answers(served.open("POST", "analyse", '{"start": "8/8/8/4k3/8/8/8/R3K3 b - - 0 1"}')))
    assert told["tablebase"] == "White wins, DTZ 28"


def test_explain_tells_the_refutation_and_refines_it(server: Served) -> None:
    told = server.ask("explain", moves=MISTAKE[:3], move="d8g5", ratings={"black": 1437})
    assert [each["is_error"] for each in told] == [True, True]
    assert told[0]["lines"][0]["steps"][1]["last"] == "f3g5"
    assert all(" at 1400" in " ".join(each["texts"]) for each in told)


def test_review_finds_the_mistake_and_its_reason(server: Served) -> None:
    *progress, found = server.ask("review", moves=[*MISTAKE, "f3g5"])
    assert [each["done"] for each in progress] == sorted(each["done"] for each in progress)
    assert progress[-1]["done"] == 1
    error = next(each for each in found["errors"] if each["index"] == 3)
    assert error == error | {"player": "Black", "mark": "blunder", "move": "2...Qg5"}
    assert ". " in found["positions"][4]["say"]
    assert len(found["positions"]) == len(MISTAKE) + 2


@pytest.mark.parametrize(
    ("pgn", "games", "remark"),
    [
        (GAME * 2, [["f2f3", "e7e5", "g2g4", "d8h4"]] * 2, "The first of 2 games"),
        (TREE, [["e2e4", "e7e5"]], ""),
        ('[A-B "x"]\n\n1. e4 e5 2. Ke3 Nf6 *', [["e2e4", "e7e5"]], "2.Ke3 "),
        ('[Variant "Atomic"]\n\n1. e4 *\n\n' + CHESS_960, [None, ["b1g1"]], ""),
        ("1. e4 " * 20_000, [["e2e4"]], "not all of the game can be read"),
        ("8/8/8/8/8/5k2/8/4R2K b KQ - 3 9\n", [[]], "castling"),
    ],
)
def test_games_are_loaded(server: Served, pgn: str, games: list[list[str] | None], remark: str) -> None:
    *_, found = answers(server.open("POST", "load", pgn))
    opened = [server.ask("open", file=found["file"], number=number)[0] for number in range(len(games))]
    assert [game.get("moves") for game in opened] == games
    last = opened[-1]
    assert remark in found["remark"] + last["remark"]
    listed = [row for row in server.ask("games")[0]["games"] if row[0] == found["file"]]
    assert len(listed) == (len(games) if len(games) > 1 else 0)
    assert ('A "B"' in last["title"]) == (pgn == GAME * 2) == (last["ratings"] == {"white": 1400, "black": None})
    (shown,) = server.ask("positions", **last)
    assert len(shown["positions"]) == len(last["nodes"]) > len(last["moves"])
    # Variations, and what is said of moves, go out as they came in.
    (out,) = server.ask("pgn", **last)
    assert pgn != TREE or TREE in out["pgn"]
    assert only_game(server, out["pgn"])["nodes"] == last["nodes"]
    # Of a game that is played, nothing that was taken back.
    (out,) = server.ask("pgn", **last | {"moves": last["moves"][:1], "color": "white"})
    assert only_game(server, out["pgn"])["moves"] == last["moves"][:1]


def only_game(server: Served, text: str) -> dict[str, Any]:
    """The first game of a text, or what is wrong with it."""
    *_, found = answers(server.open("POST", "load", text))
    return server.ask("open", file=found["file"])[0]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{}", "no game"),
        ("<b>/1/2/3/4/5/6/7", "cannot be read"),
        ('[Variant "Atomic"]\n\n1. e4 *', "a game of atomic"),
        ('[FEN "x"]\n[SetUp "1"]\n\n1. e4 *', "cannot be read"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n[SetUp "1"]\n\n*', "cannot be read"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "cannot be read"),
        ("x" * (2 << 20), "no game"),
    ],
)
def test_what_is_no_game_is_told(server: Served, text: str, word: str) -> None:
    assert word in only_game(server, text)["problem"]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("positions", ""),
        ("positions", "[]"),
        ("positions", "[" * 100_000),
        ("positions", b"\xff\xfe\x00"),
        ("positions", '{"start": "no position"}'),
        ("positions", '{"start": 1}'),
        ("positions", '{"moves": ["e2e5"]}'),
        ("positions", '{"moves": [1]}'),
        ("positions", '{"first": true}'),
        ("positions", json.dumps({"moves": ["g1f3"] * 5000})),
        ("positions", json.dumps({"start": "8" * 5000})),
        ("positions", '{"nodes": [1]}'),
        ("positions", '{"nodes": [{"ply": 2, "move": "e2e4"}]}'),
        ("pgn", '{"nodes": [{"ply": 0, "nags": [999]}]}'),
        ("pgn", '{"headers": {"a b": "x"}}'),
        ("pgn", '{"nodes": [{"ply": 0, "clock": 1e400}]}'),
        ("save", json.dumps({"id": "aa", "began": 10**30})),
        ("open", '{"file": "../secateur-games.pgn"}'),
        ("open", '{"number": 1000000}'),
        ("report", '{"solved": 1}'),
        ("save", '{"id": "aa", "control": "\\"]"}'),
        ("open", '{"file": "loaded 1"}'),
        ("load", b" " * (2 << 20)),
        ("save", '{"id": "../../etc"}'),
        ("save", '{"id": "00000000000000aa", "result": "<b>"}'),
        ("explain", '{"move": "e2e5"}'),
        ("explain", '{"move": "0000"}'),
        ("explain", '{"move": "e2e4", "start": "8/8/8/8/8/8/8/8 w - - 0 1"}'),
        ("reply", '{"elo": 5}'),
        ("reply", '{"white": -1}'),
        ("reply", json.dumps({"white": 10**400})),
        ("reply", '{"white": 1e400}'),
        ("reply", '{"start": "7k/5Q2/5K2/8/8/8/8/8 b - - 0 1"}'),
        ("threat", '{"start": "7k/8/5K1Q/8/8/8/8/8 b - - 0 1"}'),
    ],
)
def test_a_hostile_request_gets_one_sentence(server: Served, name: str, body: bytes | str) -> None:
    response = server.open("POST", name, body)
    assert response.status == 200
    (answer,) = answers(response)
    assert set(answer) == {"problem"}
    assert len(answer["problem"]) < 300
    assert "\n" not in answer["problem"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "positions", {"origin": "http://evil.example"}, 403),
        ("POST", "positions", {"origin": "null"}, 403),
        ("POST", "positions", {"origin": ""}, 403),
        ("POST", "positions", {"origin": "http://localhost:1"}, 403),
        ("POST", "positions", {"host": "evil.example", "origin": "http://evil.example"}, 400),
        ("GET", "", {"host": "evil.example"}, 400),
        # A tunnel may have another name and port.
        ("POST", "load", {"host": "localhost:9999", "origin": "http://localhost:9999"}, 200),
        ("GET", "/wrong-token/", {}, 404),
        ("POST", "nothing", {}, 404),
        ("GET", "positions", {}, 405),
        ("DELETE", "", {}, 405),
        ("OPTIONS", "positions", {"origin": "http://evil.example"}, 405),
    ],
)
def test_only_its_page_is_answered(
    server: Served, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    response = server.open(method, path, "{}" if method == "POST" else "", **headers)
    text = response.read().decode()
    assert response.status == status
    assert len(text) < 200
    assert "Traceback" not in text
    assert "Access-Control-Allow-Origin" not in response.headers


def test_a_request_is_not_larger_than_a_bound(server: Served) -> None:
    response = server.open("POST", "pgn", " " * (2 << 20))
    assert response.status == 413
    assert response.read() == b"At once at most 1 MiB can be loaded."


def half_request(server: Served) -> bytes:
    """A request whose body is announced, and does not come."""
    headers = f"Host: {server.host}:{server.port}\r\nOrigin: {server.origin}\r\nContent-Length: 9"
    return f"POST {server.path}load HTTP/1.1\r\n{headers}\r\n\r\n".encode()


def test_who_asked_last_is_answered_and_the_other_is_told(server: Served) -> None:
    first = answers(server.open("POST", "analyse", "{}"))
    assert "sum" in next(first)
    assert server.ask("reply", start=MATE_IN_ONE) == [{"move": "a1a8"}]
    *_, last = first
    assert last == {"problem": OTHER_TAB}


def test_a_search_stops_when_its_page_goes_away(server: Served) -> None:
    response = server.open("POST", "analyse", "{}")
    assert "sum" in next(answers(response))
    response.close()
    wait_until(lambda: is_idle(server.process.pid), "the search goes on")


def is_idle(process: int) -> bool:
    """Whether a process does nothing in a fifth of a second."""
    path = Path(f"/proc/{process}/stat")
    if not path.exists():
        pytest.skip("the system does not tell the processor time of a process")
    before = path.read_text().split()[13:15]
    time.sleep(0.2)
    return path.read_text().split()[13:15] == before


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is for all processes of a console there")
@pytest.mark.parametrize("is_searching", [False, True])
def test_ctrl_c_ends_it_cleanly(tmp_path: Path, is_searching: bool) -> None:
    with Served(tmp_path) as served, ExitStack() as open_ones:
        served.open("GET", "").read()
        if is_searching:
            # What nobody waits for any more, or what does not come, is no fault either.
            left = served.open("POST", "analyse", "{}")
            assert "sum" in next(answers(left))
            left.close()
            half = open_ones.enter_context(socket.create_connection((served.host, served.port)))
            half.sendall(half_request(served))
            told = answers(served.open("POST", "analyse", "{}"))
            assert "sum" in next(told)
        served.process.send_signal(signal.SIGINT)
        output, errors = served.process.communicate(timeout=20)
        assert (served.process.returncode, output, errors) == (0, "", "")
        if is_searching:
            assert list(told)[-1] == {"problem": AT_THE_END}


@pytest.mark.parametrize(
    ("arguments", "missing", "code", "word"),
    [
        ("--fen nonsense", "", 1, "position"),
        ("--port 70000", "", 2, "65535"),
        ("--port TAKEN", "", 1, " is in use"),
        ("--pgn .", "", 1, " --pgn"),
        ("--option Nothing=1", "", 2, "Nothing"),
        ("", "starlette", 1, " install "),
        ("", "uvicorn", 1, " install "),
        ("", "jinja2", 1, " install "),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    tmp_path: Path, arguments: str, missing: str, code: int, word: str
) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None\nfrom uci_engine.__main__ import program\nprogram()"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = arguments.replace("TAKEN", str(taken.getsockname()[1])).split()
        result = run_python("-c", program, "board", "--no-browser", *words, folder=tmp_path)
    assert result.returncode == code
    assert result.stdout == ""
    assert word in result.stderr
    assert "Errno" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="its home and the rights of its files are others")
def test_other_users_do_not_see_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "browser.py"
    browser.write_text("import pathlib, sys; pathlib.Path('opened').write_text(sys.argv[1])")
    opened = tmp_path / "opened"
    with Served(tmp_path, browser=f"{sys.executable} {browser} %s") as served:
        wait_until(lambda: opened.exists() and opened.read_text() != "", "the browser opens nothing")
        assert served.path not in opened.read_text()
        file = Path(url2pathname(urlparse(opened.read_text()).path))
        assert file.stat().st_mode & 0o777 == 0o600
        assert served.address in file.read_text()
        # Nobody needs it any more.
        served.open("GET", "").read()
        wait_until(lambda: not file.exists(), "the file stays")
    with Served(tmp_path, browser=f"{sys.executable} {browser} %s") as again:
        assert again.path == served.path
    assert not list(tmp_path.glob("*.html"))
    kept = tmp_path / ".secateur-board"
    assert kept.stat().st_mode & 0o777 == 0o600
    # What others could read is a secret no more.
    kept.chmod(0o644)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert secret() not in again.path
    new = secret()
    assert (secret(), kept.stat().st_mode & 0o777) == (new, 0o600)


def test_a_position_reaches_the_page(tmp_path: Path) -> None:
    with Served(tmp_path, "--fen", "8/8/8/8/8/5k2/8/4R2K b KQ - 3 9") as served:
        assert "8/8/8/8/8/5k2/8/4R2K b - - 3 9" in served.open("GET", "").read().decode()
        assert served.process.stderr is not None
        assert "castling" in served.process.stderr.readline()
