"""Files of training positions: what is written is read back, games stay together, and bad files are refused."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from positions import main
from tests.support import FAKE_ENGINE
from tests.support.kernel import random_game, start_board
from tests.support.records import random_records
from toolkit.errors import ProgramError
from toolkit.pool import in_order
from toolkit.training.positions import (
    CAPTURE,
    MAX_SCORE_CP,
    QUIET,
    RECORD,
    are_first,
    are_quiet,
    board_of,
    game_numbers,
    header,
    in_blocks,
    kept,
    keys,
    pack,
    pieces_of,
    read_positions,
    write_positions,
)


def record(data: bytes) -> Any:
    return np.frombuffer(data, RECORD)[0]


@pytest.mark.parametrize("chess960", [False, True])
def test_positions_of_random_games_come_back(chess960: bool) -> None:
    for number in range(20):
        for board in random_game(number, start_board(number, chess960), 60):
            packed = np.frombuffer(pack(board, -5, 2, QUIET), RECORD)
            pieces = {square: 2 * piece.piece_type + piece.color for square, piece in board.piece_map().items()}
            assert pieces_of(packed)[0].tolist() == [pieces.get(square, 0) for square in chess.SQUARES]
            found = board_of(packed[0])
            assert found.fen(en_passant="fen") == board.fen(en_passant="fen")
            assert found.castling_rights == board.castling_rights
            assert set(found.legal_moves) == set(board.legal_moves) or chess960


@given(st.integers(-(10**6), 10**6), st.integers(0, 2), st.integers(0, 7))
def test_labels_come_back(score_cp: int, result: int, flags: int) -> None:
    found = record(pack(chess.Board(), score_cp, result, flags))
    assert found["score_cp"] == max(-MAX_SCORE_CP, min(score_cp, MAX_SCORE_CP))
    assert (found["result"], found["flags"]) == (result, flags)


def test_a_file_is_read_back_without_a_torn_end(tmp_path: Path) -> None:
    path = tmp_path / "x.positions"
    provenance = {"program": "test", "long": "x" * 100}
    positions = random_records(3, 20)
    write_positions(path, provenance, positions)
    with path.open("ab") as file:
        file.write(b"torn")
    found_provenance, found = read_positions(path)
    assert found_provenance == provenance
    assert found.tobytes() == positions.tobytes()
    assert sorted(path.parent.iterdir()) == [path]


def test_blocks_hold_each_position_once_and_know_their_games(records: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.training.positions.POSITIONS_AT_ONCE", 7)
    blocks, numbers = zip(*in_blocks(records), strict=True)
    assert max(map(len, blocks)) == 7
    assert np.concatenate(blocks).tobytes() == records.tobytes()
    assert np.concatenate(numbers).tolist() == game_numbers(records).tolist()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PNG" * 40,
        header({})[:24] + (2**63).to_bytes(8, "little"),
        header({})[:24] + (64).to_bytes(8, "little") + b"[" * 32,
    ],
)
def test_other_files_are_refused_in_a_sentence(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(ProgramError):
        read_positions(path)
    assert main(["info", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("offset", "byte"), [(8, 0xFF), (3, 0xFF)], ids=["a piece that is none", "more than 32 pieces"]
)
def test_a_damaged_record_is_one_complaint(
    offset: int, byte: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(pack(chess.Board(), 0, 1, 0))
    data[offset] = byte
    with pytest.raises(ProgramError):
        board_of(record(bytes(data)))
    path = tmp_path / "x.positions"
    write_positions(path, {}, np.frombuffer(bytes(data), RECORD))
    assert main(["text", str(path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: a record of a position is damaged")


def test_keys_tell_positions_apart_and_ignore_clocks_and_labels() -> None:
    board = chess.Board()
    other = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 7 9")
    black = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    castled = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w Kkq - 0 1")
    data = b"".join(pack(position, 3, 1, 0) for position in (board, other, black, castled))
    same, also, turn, castling = keys(np.frombuffer(data, RECORD)).tolist()
    assert same == also
    assert len({same, turn, castling}) == 3


def test_text_is_read_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(5)
    lines = [
        f"{board.fen()} | {chance.randint(-500, 500)} | {chance.choice(['0.0', '0.5', '1.0'])}"
        for number in range(3)
        for board in random_game(number, chess.Board(), 10)
    ]
    (tmp_path / "x.txt").write_text("\n".join(lines) + "\n")
    assert main(["import", str(tmp_path / "x.txt"), "--output", str(tmp_path / "x.positions")]) == 0
    _, positions = read_positions(tmp_path / "x.positions")
    assert game_numbers(positions)[-1] == 2
    capsys.readouterr()
    assert main(["text", str(tmp_path / "x.positions"), "--count", "99"]) == 0
    assert capsys.readouterr().out.splitlines() == lines
    (tmp_path / "x.txt").write_text("no position\n")
    assert main(["import", str(tmp_path / "x.txt"), "--output", str(tmp_path / "y.positions")]) == 1
    assert "line 1" in capsys.readouterr().err


def test_another_engine_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("positions.ENGINE_BATCH", 20)
    positions = np.concatenate([random_records(2, 20)] * 2)
    write_positions(tmp_path / "x", {"from": "test"}, positions)
    engine = f"cmd='{sys.executable} {FAKE_ENGINE}' depth=1"
    words = ["label", str(tmp_path / "x"), "--engine", engine, "--output", str(tmp_path / "y")]
    assert main(words) == 0
    provenance, whole = read_positions(tmp_path / "y")
    assert provenance["from"] == "test"
    assert "fake_engine" in json.dumps(provenance["scores"])
    assert (whole["score_cp"] != positions["score_cp"]).any()
    for name in ("occupied", "pieces", "turn_ep", "halfmove", "fullmove", "result", "flags"):
        assert (whole[name] == positions[name]).all()
    assert main([*words[:3], f"cmd={sys.executable}", *words[4:]]) == 1
    assert main([*words[:4], "--output", str(tmp_path / "z"), "--ahead", "7"]) == 0
    assert (read_positions(tmp_path / "z")[1] == whole).all()
    # A run that is killed goes on.
    (tmp_path / "y").unlink()
    part = tmp_path / "y.part"
    assert not part.exists()

    class KilledError(Exception):
        pass

    def three_batches(*arguments: Any) -> Iterator[Any]:
        yield from islice(in_order(*arguments), 3)
        raise KilledError

    monkeypatch.setattr("positions.in_order", three_batches)
    with pytest.raises(KilledError):
        main(words)
    begun = part.read_bytes()
    assert (read_positions(part)[1] == whole[:60]).all()
    assert not (tmp_path / "y").exists()
    monkeypatch.setattr("positions.in_order", in_order)
    assert main(words) == 1
    assert main([*words, "--unique", "--resume"]) == 1
    assert main([*words[:3], f"{engine} name=other", *words[4:], "--resume"]) == 1
    assert part.read_bytes() == begun
    assert main([*words, "--resume", "--concurrency", "2"]) == 0
    assert (read_positions(tmp_path / "y")[1] == whole).all()
    assert not part.exists()


def test_quiet_and_unique_positions_keep_their_games_together() -> None:
    positions = np.concatenate([random_records(3, 20), random_records(3, 20)]).copy()
    positions["flags"] = positions["flags"] & ~np.uint8(QUIET | CAPTURE)
    positions["flags"][1::2] |= QUIET
    positions["flags"][3::8] |= CAPTURE
    numbers = game_numbers(positions)
    keep = (positions["flags"] & (QUIET | CAPTURE)) == QUIET
    assert (are_quiet(positions) == keep).all()
    quiet = kept(positions, keep)
    assert (quiet["occupied"] == positions["occupied"][keep]).all()
    assert (np.diff(game_numbers(quiet)) == np.diff(np.unique(numbers[keep], return_inverse=True)[1])).all()
    unique = kept(positions, are_first(keys(positions)))
    assert len(unique) == len(np.unique(keys(positions)))
    assert len(np.unique(game_numbers(unique))) == 3
