"""The server of the board, by scripted requests to the real process: right ones, hostile ones, and its end."""

from __future__ import annotations

import html
import io
import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from tests.web_board.served import GAMES_FILE, Served, answers

for library in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(library)

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
ONE_MOVE = "7k/8/8/8/8/8/8/K6q w - - 0 1"
# Black loses a queen.
MISTAKE = ["e2e4", "e7e5", "g1f3", "d8g5"]
GAME = '[White "<script>alert(1)</script>"]\n[Black "B"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'


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


@pytest.mark.parametrize("elo", [None, 1000, 2600])
@pytest.mark.parametrize("clocks", [{}, {"white": 3000, "black": 3000, "increment": 0}])
def test_the_engine_replies_with_a_legal_move(server: Served, elo: int | None, clocks: dict[str, int]) -> None:
    (found,) = server.ask("reply", moves=["e2e4"], elo=elo, **clocks)
    board = chess.Board()
    board.push_uci("e2e4")
    assert board.parse_uci(found["move"])


def test_explain_tells_the_sum_then_all_moves_then_lines(server: Served) -> None:
    told = answers(server.open("POST", "explain", json.dumps({"tab": "one", "moves": MISTAKE})))
    board = chess.Board()
    for move in MISTAKE:
        board.push_uci(move)
    evaluation, costs, report = next(told), next(told), next(told)
    assert abs(sum(cp for _, cp in evaluation["families"]) - evaluation["sum"]) <= len(evaluation["families"])
    assert evaluation["worth"]["g5"] > 500
    assert {each["move"] for each in costs["costs"]} == {move.uci() for move in board.legal_moves}
    assert [each["cost"] for each in costs["costs"]] == sorted(each["cost"] for each in costs["costs"])
    assert costs["costs"][0]["san"] == "Nxg5"
    assert report["alternatives"] == board.legal_moves.count()
    for line in report["lines"]:
        walk = board.copy()
        for move, step in zip(line["moves"], line["steps"], strict=True):
            walk.push_uci(move)
            assert step["fen"] == walk.board_fen()


def test_prove_tells_the_refutation_and_refines_it(server: Served) -> None:
    began = time.perf_counter()
    response = answers(server.open("POST", "prove", json.dumps({"tab": "one", "moves": MISTAKE[:3], "move": "d8g5"})))
    first = next(response)
    assert time.perf_counter() - began < 3
    assert first["is_error"]
    assert first["lines"][0]["moves"][:2] == ["d8g5", "f3g5"]
    assert any("What refutes it" in text for text in first["texts"])
    last = [first, *response][-1]
    assert last["is_last"]
    assert last["is_error"]


def test_hint_is_the_mate(server: Served) -> None:
    (found,) = server.ask("hint", start=MATE_IN_ONE)
    assert found == {"move": "a1a8", "san": "Ra8#", "value": "#1"}


def test_review_finds_the_mistake_and_its_reason(server: Served) -> None:
    *progress, found = server.ask("review", moves=[*MISTAKE, "f3g5"])
    assert [each["done"] for each in progress] == sorted(each["done"] for each in progress)
    assert progress[-1]["done"] == 1
    error = next(each for each in found["errors"] if each["index"] == 3)
    assert error["player"] == "Black"
    assert error["played"]["moves"][:2] == ["d8g5", "f3g5"]
    assert error["reason"]
    assert len(found["says"]) == len(MISTAKE) + 2


def test_games_are_loaded_and_names_stay_text(server: Served) -> None:
    (found,) = server.ask("load", pgn=GAME * 2)
    assert len(found["games"]) == 2
    game = found["games"][0]
    assert game["moves"] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert "<script>" in game["names"]


def test_a_game_is_saved_at_its_place_and_others_stay(server: Served) -> None:
    path = server.folder / GAMES_FILE
    path.write_text(GAME, "utf-8")
    for number in ("00000000000000aa", "00000000000000bb"):
        server.ask("save", id=number, moves=["e2e4"], elo=1600, color="black")
    (found,) = server.ask("save", id="00000000000000aa", moves=["e2e4", "e7e5"], elo=1600, result="1-0", color="black")
    assert Path(found["saved"]).name == GAMES_FILE
    text = path.read_text("utf-8")
    assert text.startswith(GAME)
    file = io.StringIO(text)
    games = list(iter(lambda: chess.pgn.read_game(file), None))
    assert [len(list(game.mainline())) for game in games] == [4, 2, 1]
    assert games[1].headers["Result"] == "1-0"
    assert games[1].headers["Black"] == "Player"
    assert "1600" in games[1].headers["White"]


# Hostile requests ----------------------------------------------------------------------------------------------------

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("positions", "", 400),
        ("positions", "[]", 400),
        ("positions", DEEP, 400),
        ("positions", b"\xff\xfe\x00", 400),
        ("positions", '{"start": "no position"}', 400),
        ("positions", '{"start": 1}', 400),
        ("positions", '{"moves": "e2e4"}', 400),
        ("positions", '{"moves": ["e2e5"]}', 400),
        ("positions", '{"moves": ["0000"]}', 400),
        ("positions", '{"moves": [1]}', 400),
        ("positions", '{"first": 1e9}', 400),
        ("positions", '{"first": true}', 400),
        ("positions", json.dumps({"moves": ["g1f3"] * 5000}), 400),
        ("positions", json.dumps({"start": "8" * 5000}), 400),
        ("positions", " " * (1 << 20), 400),
        ("load", "{}", 400),
        ("load", '{"pgn": "\\u0000"}', 400),
        ("load", json.dumps({"pgn": '[Variant "Atomic"]\n\n1. e4 *'}), 400),
        ("load", json.dumps({"pgn": '[FEN "x"]\n[SetUp "1"]\n\n1. e4 *'}), 400),
        ("save", '{"id": "../../etc"}', 400),
        ("save", '{"id": "00000000000000aa", "result": "<b>"}', 400),
        ("prove", '{"move": "e2e5"}', 200),
        ("prove", '{"move": "e2e4", "start": "8/8/8/8/8/8/8/8 w - - 0 1"}', 200),
        ("reply", '{"elo": 5}', 200),
        ("reply", '{"start": "7k/5Q2/5K2/8/8/8/8/8 b - - 0 1"}', 200),
        ("explain", '{"moves": ["a1a1"]}', 200),
    ],
)
def test_a_hostile_request_gets_one_sentence(server: Served, name: str, body: bytes | str, status: int) -> None:
    response = server.open("POST", name, body)
    assert response.status == status
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
        ("GET", "/", {}, 404),
        ("GET", "/wrong-token/", {}, 404),
        ("GET", "/%C3%A4/", {}, 404),
        ("POST", "/wrong-token/positions", {}, 404),
        ("POST", "nothing", {}, 404),
        ("GET", "positions", {}, 405),
        ("DELETE", "", {}, 405),
        ("OPTIONS", "positions", {"origin": "http://evil.example"}, 405),
    ],
)
def test_only_its_own_page_is_answered(
    server: Served, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    response = server.open(method, path, "{}" if method == "POST" else "", **headers)
    text = response.read().decode()
    assert response.status == status
    assert len(text) < 200
    assert "Traceback" not in text
    assert "Access-Control-Allow-Origin" not in response.headers


def test_a_tunnel_may_have_another_name_and_port(server: Served) -> None:
    response = server.open("POST", "positions", "{}", host="localhost:9999", origin="http://localhost:9999")
    assert response.status == 200


def test_a_thousand_sockets_are_told_so_and_do_no_harm(server: Served) -> None:
    sockets = []
    try:
        for _ in range(1000):
            try:
                sockets.append(socket.create_connection((server.host, server.port), timeout=5))
            except OSError:
                break
        last = sockets[-1]
        last.sendall(f"GET {server.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert last.recv(100).startswith(b"HTTP/1.1 503")
    finally:
        for each in sockets:
            each.close()
    deadline = time.monotonic() + 20
    while server.open("GET", "").status != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


# The one engine ------------------------------------------------------------------------------------------------------


def test_the_tab_that_asked_last_is_answered_and_the_other_is_told(server: Served) -> None:
    first = answers(server.open("POST", "explain", json.dumps({"tab": "first"})))
    assert "families" in next(first)
    began = time.perf_counter()
    (found,) = server.ask("hint", tab="second", start=MATE_IN_ONE)
    assert found["move"] == "a1a8"
    *_, last = first
    assert last["stopped"].startswith("Another tab")
    assert time.perf_counter() - began < 10


def test_a_tab_that_asks_again_is_not_told_of_itself(server: Served) -> None:
    first = answers(server.open("POST", "explain", json.dumps({"tab": "one"})))
    assert "families" in next(first)
    server.ask("hint", start=MATE_IN_ONE)
    *_, last = first
    assert last == {"stopped": ""}


def test_a_search_stops_when_its_page_goes_away(server: Served) -> None:
    response = server.open("POST", "explain", json.dumps({"tab": "one"}))
    assert "families" in next(answers(response))
    response.close()
    time.sleep(1)
    began = process_seconds(server)
    time.sleep(1)
    assert process_seconds(server) - began < 0.5


def process_seconds(server: Served) -> float:
    """The processor time that the server has used."""
    path = Path(f"/proc/{server.process.pid}/stat")
    if not path.exists():
        pytest.skip("the system does not tell the processor time of a process")
    fields = path.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is for all processes of a console there")
@pytest.mark.parametrize("is_searching", [False, True])
def test_ctrl_c_ends_it_cleanly(tmp_path: Path, is_searching: bool) -> None:
    with Served(tmp_path) as served:
        served.open("GET", "").read()
        told: list[dict[str, Any]] = []
        reader = None
        if is_searching:
            response = answers(served.open("POST", "explain", json.dumps({"tab": "one"})))
            told.append(next(response))
            reader = threading.Thread(target=lambda: told.extend(response))
            reader.start()
        served.process.send_signal(signal.SIGINT)
        output, errors = served.process.communicate(timeout=20)
        assert (served.process.returncode, output, errors) == (0, "", "")
        if reader is not None:
            reader.join(20)
            assert told[-1] == {"stopped": "The engine has been ended."}
