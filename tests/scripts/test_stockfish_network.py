"""A network of Stockfish 15: what many positions get, against the same from the format, one position at a time."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import chess
import numpy as np
import pytest

from positions import main
from tests.evaluation.test_evaluation import random_game, random_pieces
from tests.support.records import records_of
from toolkit.errors import ProgramError
from toolkit.training.positions import read_positions, write_positions
from toolkit.training.stockfish_network import (
    INPUTS,
    NETWORK_BATCH,
    SHAPE,
    SUMS,
    VERSION,
    read_network,
    scores_of_network,
)

WORDS = b"made by nobody"
STACK_BYTES = 4 + 4 * 16 + 16 * 1024 + 4 * 32 + 32 * 32 + 4 + 32


@pytest.fixture(scope="module")
def network_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("network") / "random.nnue"
    with path.open("wb") as file:
        file.write(struct.pack("<III", VERSION, SHAPE, len(WORDS)) + WORDS + b"hash")
        file.write(chance.integers(-40, 80, SUMS, np.int16).tobytes())
        file.write(chance.integers(-25, 27, (INPUTS, SUMS), np.int16).tobytes())
        file.write(chance.integers(-3000, 3000, (INPUTS, 8), np.int32).tobytes())
        for _ in range(8):
            file.write(b"hash")
            for outputs, inputs in ((16, 1024), (32, 32), (1, 32)):
                file.write(chance.integers(-2000, 2000, outputs, np.int32).tobytes())
                file.write(chance.integers(-60, 60, (outputs, inputs), np.int8).tobytes())
    return path


@pytest.fixture(scope="module")
def boards() -> list[chess.Board]:
    """Few pieces anywhere, and games with many."""
    return [random_pieces(seed, seed % 10) for seed in range(50)] + [random_game(seed, 8 * seed) for seed in range(20)]


def slow_score(data: bytes, board: chess.Board) -> float:
    """The same number in whole numbers, straight from the format."""
    place = 12 + len(WORDS) + 4
    bias = np.frombuffer(data, "<i2", SUMS, place).astype(int)
    place += 2 * SUMS
    weights = np.frombuffer(data, "<i2", INPUTS * SUMS, place).reshape(INPUTS, SUMS)
    place += 2 * INPUTS * SUMS
    straight = np.frombuffer(data, "<i4", INPUTS * 8, place).reshape(INPUTS, 8)
    bucket = (chess.popcount(board.occupied) - 1) // 4
    place += 4 * 8 * INPUTS + STACK_BYTES * bucket
    halves: list[int] = []
    shortcut = []
    for view in (board.turn, not board.turn):
        king = board.king(view)
        assert king is not None
        turn = (0 if view else 56) ^ (7 if chess.square_file(king) < 4 else 0)
        file, rank = chess.square_file(king ^ turn), chess.square_rank(king ^ turn)
        row = 4 * (7 - rank) + (7 - file)
        inputs = []
        for square, piece in board.piece_map().items():
            kind = 10 if piece.piece_type == chess.KING else 2 * (piece.piece_type - 1) + (piece.color != view)
            inputs.append(704 * row + 64 * kind + (square ^ turn))
        sums = np.clip(bias + weights[inputs].astype(int).sum(axis=0), 0, 127).tolist()
        halves += [first * second // 128 for first, second in zip(sums[:512], sums[512:], strict=True)]
        shortcut.append(int(straight[inputs, bucket].astype(int).sum()))
    layers = []
    place += 4
    for outputs, inputs_count in ((16, 1024), (32, 32), (1, 32)):
        layer_bias = np.frombuffer(data, "<i4", outputs, place).astype(int)
        layer = np.frombuffer(data, "<i1", outputs * inputs_count, place + 4 * outputs).astype(int)
        layers.append((layer_bias, layer.reshape(outputs, inputs_count)))
        place += 4 * outputs + outputs * inputs_count
    second = (layers[0][1] @ np.array(halves) + layers[0][0]).tolist()
    squares = [min(127, (value * value >> 12) // 128) for value in second[:15]]
    cut = [min(127, max(0, value >> 6)) for value in second[:15]]
    third = (layers[1][1] @ np.array([*squares, *cut, 0, 0]) + layers[1][0]).tolist()
    last = int((layers[2][1] @ np.array([min(127, max(0, value >> 6)) for value in third]) + layers[2][0])[0])
    deep = last + int(second[15] * 600 * 16 / (127 * 64))
    units = int((int((shortcut[0] - shortcut[1]) / 2) + deep) / 16)
    return (1 if board.turn else -1) * units * 100 / 361


def test_it_says_what_whole_numbers_say(network_file: Path, boards: list[chess.Board]) -> None:
    data = network_file.read_bytes()
    assert len({(chess.popcount(board.occupied) - 1) // 4 for board in boards}) == 8
    expected = [slow_score(data, board) for board in boards]
    assert len(set(expected)) > 0.9 * len(boards)
    assert scores_of_network(read_network(network_file), records_of(boards)).tolist() == np.rint(expected).tolist()


def test_positions_are_labelled(network_file: Path, boards: list[chess.Board], tmp_path: Path) -> None:
    records = np.tile(records_of(boards), 1 + 2 * NETWORK_BATCH // len(boards))
    write_positions(tmp_path / "x", {"from": "test"}, records)
    words = ["label", str(tmp_path / "x"), "--network", str(network_file), "--output", str(tmp_path / "y")]
    assert main([*words, "--concurrency", "2"]) == 0
    provenance, labelled = read_positions(tmp_path / "y")
    assert (labelled["score_cp"] == scores_of_network(read_network(network_file), records)).all()
    assert provenance["scores"]["network"] == "random.nnue"
    assert provenance["scores"]["sha256"] == hashlib.sha256(network_file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-1], "cut off"),
        (lambda data: data + b"x", "longer than"),
        (lambda data: b"x" + data[1:], "no network of Stockfish 15"),
    ],
)
def test_other_files_are_refused(change: object, reason: str, network_file: Path, tmp_path: Path) -> None:
    assert callable(change)
    (tmp_path / "bad.nnue").write_bytes(change(network_file.read_bytes()))
    with pytest.raises(ProgramError, match=reason):
        read_network(tmp_path / "bad.nnue")
