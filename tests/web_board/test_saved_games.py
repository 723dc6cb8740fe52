"""The file of the games that were played: nothing in it is lost that others wrote, and boards may share it."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernel import random_game, start_board
from tests.web_board.served import GAMES_FILE, Served
from uci_engine.web_board.questions import Fields
from uci_engine.web_board.report import key_of
from uci_engine.web_board.saved_games import save

NOTES = b'[Site "x"]\n\n1. d4 d5 *\n\nMy notes: [GameId "c3"]\n'
FOREIGN = b'[Event "A"]\n\n1. e4 {as in\n[GameId "c3"]\n} e5 *\n\n\n \n'


def play(path: Path, **fields: Any) -> object:
    return save(path, Fields(json.dumps({"id": "c3", **fields}).encode()))["key"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", NOTES),
        (b"", b'\n[Event "A"]\n\n1. d4 *'),
        (FOREIGN, NOTES),
        (b"no newline", b""),
        (b"\xef\xbb\xbf[Event \xff\r\n", b""),
    ],
)
def test_what_others_wrote_stays_byte_for_byte(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(before)
    play(path, moves=["e2e4"], elo=1500, color="black")
    path.write_bytes(path.read_bytes() + after)
    key = play(path, moves=["e2e4", "e7e5"], result="1-0", elo=1500, color="black")
    text = path.read_bytes()
    assert text.startswith(before)
    assert text.endswith(after)
    own = text.removeprefix(before).removesuffix(after)
    assert b'\n[Black "Player"]\n' in own
    # By it the report knows the game in the list.
    assert key == key_of(own)
    assert re.search(rb'\n\[White "Secateur .*1500"\]\n', own)
    assert own.count(b'\n[GameId "c3"]\n') == own.count(b"1. e4 e5 1-0\n") == own.count(b"1. e4") == 1


@pytest.mark.parametrize(
    ("written", "edited"),
    [
        (b'[Site "?"]', b'[Site "x"]'),
        (b'"Player"', b'"Ann"'),
        (b"1. e4", b"1. e4 {best by test}"),
        (b"1. e4", b"1. e4!"),
        (b"*", b"* {unfinished}"),
    ],
)
def test_a_game_that_somebody_edited_stays(tmp_path: Path, written: bytes, edited: bytes) -> None:
    path = tmp_path / "games.pgn"
    play(path, moves=["e2e4"])
    text = path.read_bytes().replace(written, edited)
    path.write_bytes(text)
    for moves in (["e2e4", "e7e5"], ["e2e4", "e7e5", "g1f3"]):
        play(path, moves=moves)
    assert path.read_bytes().startswith(text)
    assert path.read_bytes().count(b"[GameId") == 2


@pytest.mark.parametrize("chess960", [False, True])
def test_a_game_is_in_the_file_once_however_it_goes(tmp_path: Path, chess960: bool) -> None:
    path = tmp_path / "games.pgn"
    for number in (0, 1):
        start = start_board(number, chess960).fen()
        for board in random_game(number, start_board(number, chess960), 80):
            moves = [move.uci() for move in board.move_stack]
            nodes = [{"ply": ply, "move": move, "clock": 600.5 - ply / 2} for ply, move in enumerate(moves, 1)]
            play(path, id=f"{number}", start=start, moves=moves, nodes=nodes, began=1 << 40, control="600+5")
    assert path.read_bytes().count(b"[Event ") == path.read_bytes().count(b'[Date "2004.11.0') == 2
    assert path.read_bytes().count(b"{ [%clk 0:10:00] }") == 2


def test_what_was_taken_back_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    moves = ["e2e4", "e7e5", "g1f3"]
    nodes = [{"ply": ply, "move": move, "clock": 60 - ply} for ply, move in enumerate(moves, 1)]
    for count in (3, 1):
        play(path, moves=moves[:count], nodes=nodes)
    assert path.read_bytes().count(b"[GameId") == 1
    assert b"\n1. e4 { [%clk 0:00:59] } *\n" in path.read_bytes()
    with pytest.raises(ValueError, match="none of the game"):
        play(path, moves=["d2d4"], nodes=nodes)


def test_two_boards_may_share_the_file(tmp_path: Path) -> None:
    with Served(tmp_path) as first, Served(tmp_path) as second, ThreadPoolExecutor(4) as pool:
        boards = [first, second] * 30
        list(pool.map(lambda task: task[1].ask("save", id=f"{task[0]:x}", moves=["e2e4"]), enumerate(boards)))
    text = (tmp_path / GAMES_FILE).read_text("utf-8")
    assert all(f'[GameId "{number:x}"]' in text for number in range(len(boards)))
    assert [path.name for path in tmp_path.glob("[!.]*")] == [GAMES_FILE]


def test_what_cannot_be_saved_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, reason in ((tmp_path / "missing" / "games.pgn", "No such file"), (tmp_path, "plain file")):
        with pytest.raises(ValueError, match=reason):
            play(path)
    path = tmp_path / "games.pgn"
    path.write_bytes(b"x" * 11)
    monkeypatch.setattr("uci_engine.web_board.saved_games.MAX_FILE_BYTES", 10)
    with pytest.raises(ValueError, match="too large"):
        play(path)
    assert path.read_bytes() == b"x" * 11
