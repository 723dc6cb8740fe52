"""The weights file: what it must hold, what is refused, and that nothing is lost on the way to the file and back."""

from __future__ import annotations

import os
import random
import re
import tomllib
from importlib import resources
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.catalogue import CATALOGUE, Term
from evaluation.piece_squares import KING_BUCKET, KING_BUCKETS, PIECES, accumulated_indices
from evaluation.weights import (
    MATERIAL,
    MAX_BYTES,
    MAX_CENTIPAWNS,
    PHASES,
    PIECE_NAMES,
    Weights,
    WeightsError,
    _to_file,
    default_weights,
    unpack,
)
from tests.evaluation.test_evaluation import random_weights

MAX_SUM = 0x7FFFFFFF


def pack(middlegame: int, endgame: int) -> int:
    """S(mg, eg) as one int, as the head of `evaluation.weights` defines it."""
    return (endgame << 32) + middlegame


HALVES = st.integers(-MAX_SUM - 1, MAX_SUM)
TEXT = default_weights().text()


def changed(name: str, phase: str, value: str) -> bytes:
    """The default file with one phase of one weight replaced."""
    pattern = rf"(\[{name}\]\n(?:middlegame = [^\n]*\n)?{phase} = )[^\n]*\n"
    text, count = re.subn(pattern, rf"\g<1>{value}\n", TEXT)
    assert count == 1
    return text.encode()


def replaced(name: str, middlegame: object, endgame: object) -> tuple[dict[str, object], dict[str, object]]:
    """The default numbers with one weight replaced in both phases."""
    weights = default_weights()
    return {**weights.middlegame, name: middlegame}, {**weights.endgame, name: endgame}


def random_numbers(size: int, seed: int, limit: int) -> list[int]:
    chance = random.Random(seed)
    return [chance.randint(-limit, limit) for _ in range(size)]


@given(HALVES, HALVES)
def test_packing_is_exact(middlegame: int, endgame: int) -> None:
    assert unpack(pack(middlegame, endgame)) == (middlegame, endgame)


@given(st.lists(st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)), max_size=30))
def test_packed_numbers_add_up(pairs: list[tuple[int, int]]) -> None:
    total = sum(pack(middlegame, endgame) for middlegame, endgame in pairs)
    assert unpack(total) == (sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs))


def test_material_is_nine_five_three_three_one() -> None:
    weights = default_weights()
    assert weights.middlegame["material"] == weights.endgame["material"] == MATERIAL == (100, 300, 300, 500, 900)


def test_every_weight_has_its_shape_and_no_other_is_there() -> None:
    weights = default_weights()
    for phase in (weights.middlegame, weights.endgame):
        assert {name: len(numbers) for name, numbers in phase.items()} == {term.name: term.size for term in CATALOGUE}


def test_the_packaged_file_is_the_text_of_its_weights() -> None:
    packaged = resources.files("evaluation").joinpath("weights.toml").read_text("utf-8")
    first, _, rest = packaged.partition("\n[provenance]\n")
    # Without the provenance, the file is the same to the byte.
    assert first + "\n" + rest.partition("\n\n")[2] == TEXT


def test_file_and_back(tmp_path: Path) -> None:
    (tmp_path / "weights.toml").write_text(default_weights().text(), "utf-8")
    assert Weights.load(tmp_path / "weights.toml") == default_weights()


def test_the_provenance_is_for_readers_of_the_file() -> None:
    table = '[provenance]\nprogram = "a.b"\n"any name" = 1\n'
    assert Weights.parse(f"{table}\n{TEXT}".encode()) == default_weights()
    many_dots = f'[provenance]\ndata = "{"a.b " * 500}"\n'
    assert Weights.parse(f"{many_dots}\n{TEXT}".encode()) == default_weights()


@given(st.data())
def test_any_weights_survive_the_file(data: st.DataObject) -> None:
    term = data.draw(st.sampled_from(CATALOGUE[1:]))
    numbers = st.lists(st.integers(-100, 100), min_size=term.size, max_size=term.size)
    if term.size > 500:
        numbers = st.builds(random_numbers, st.just(term.size), st.integers(0, 10**9), st.integers(0, 1000))
    weights = Weights(*replaced(term.name, data.draw(numbers), data.draw(numbers)))  # type: ignore[arg-type]
    assert Weights.parse(weights.text().encode()) == weights
    assert weights.packed(term.name) == [
        pack(*pair) for pair in zip(weights.middlegame[term.name], weights.endgame[term.name], strict=True)
    ]


def test_board_shaped_weights_stand_in_the_file_as_white_sees_the_board() -> None:
    numbers = [0] * 64
    numbers[chess.A8], numbers[chess.H1] = 11, 22
    text = Weights(*replaced("knight_squares", numbers, [0] * 64)).text()  # type: ignore[arg-type]
    rows = text.split("[knight_squares]")[1].splitlines()[2:10]
    assert rows[0].split() == ["11", "0", "0", "0", "0", "0", "0", "0"]
    assert rows[7].split() == ["0", "0", "0", "0", "0", "0", "0", "22"]


def test_a_table_of_64_squares_by_64_has_64_lines() -> None:
    comment = "a pawn by square, for each square of its king"
    term = Term("table", 4096, "pawns", "pawn", 1, "table", comment)
    text = _to_file(term, tuple(range(-1000, 3096)))
    assert len(text.splitlines()) == 64 + 2
    assert list(map(int, tomllib.loads(f"table = {text}")["table"].split())) == list(range(-1000, 3096))


def test_piece_square_is_what_explain_counts_and_the_mirror_image_for_black() -> None:
    weights = random_weights(1)
    numbers = weights.piece_square()
    assert len(numbers) == 2 * KING_BUCKETS * PIECES
    chance = random.Random(2)
    for _ in range(100):
        white_king, black_king, square = chance.sample(chess.SQUARES, 3)
        piece = chess.Piece(chance.randint(chess.PAWN, chess.QUEEN), chance.random() < 0.5)
        board = chess.Board(None)
        board.set_piece_at(white_king, chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(black_king, chess.Piece(chess.KING, chess.BLACK))
        board.set_piece_at(square, piece)
        index = (2 * piece.piece_type + piece.color) * 64 + square
        black_bucket, white_bucket = KING_BUCKET[black_king ^ 56], KING_BUCKET[white_king]
        value = numbers[black_bucket * PIECES + index] + numbers[(KING_BUCKETS + white_bucket) * PIECES + index]
        counted = accumulated_indices(board, piece.color).items()
        indices = {name: found for name, found in counted if not name.startswith("king_")}
        assert unpack(value if piece.color else -value) == tuple(
            sum(phase[name][index] for name, found in indices.items() for index in found)
            for phase in (weights.middlegame, weights.endgame)
        )
    assert not any(numbers[:128])


def test_the_greatest_weights_do_not_overflow() -> None:
    """No file can overflow: the best case of one side plus the worst case of the other, with the greatest numbers.

    Each of the eight pawns may have been promoted, so it counts as the piece type with the greatest sum.
    """
    greatest = 0
    for sign in (1, -1):
        pieces = {name: sign * value for name, value in zip(PIECE_NAMES, (*MATERIAL, 0), strict=True)}
        for term in CATALOGUE:
            if term.owner == "side":
                greatest += term.max_count * MAX_CENTIPAWNS
            else:
                pieces[term.owner] += term.max_count * MAX_CENTIPAWNS
        counts = zip(PIECE_NAMES[1:], (2, 2, 2, 1, 1), strict=True)
        greatest += sum(count * max(0, pieces[name]) for name, count in counts)
        greatest += 8 * max(0, *(pieces[name] for name in PIECE_NAMES[:5]))
    # Both halves, with the carry between them, and what `taper` makes of them.
    assert 1_000_000 < greatest < MAX_SUM
    assert 2 * MAX_SUM * 256 * 64 < 2**63


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "material is missing"),
        (b"\xff\xfe\x00", "not TOML"),
        (b"material = ", "not TOML"),
        (b"material = 1", "needs a middlegame and an endgame"),
        (b"[material]\nmiddlegame = [1]", "needs a middlegame and an endgame"),
        (TEXT.encode() + b"\n[surprise]\nmiddlegame = 1\nendgame = 1\n", "no weight named 'surprise'"),
        (TEXT.encode() + b"\n[tempo]\nmiddlegame = 1\nendgame = 1\n", "not TOML"),
        (TEXT.replace("[tempo]", "[tempos]").encode(), "no weight named 'tempos'"),
        (b"a = " + b"[" * 15_000, "not TOML"),
        (b"a = " + b"{a=" * 5_000, "not TOML"),
        (b"a = " + b"9" * 15_000, "not TOML"),
        (b"#" * (MAX_BYTES + 1), "longer than"),
        (changed("tempo", "middlegame", "true"), "whole numbers"),
        (changed("tempo", "middlegame", "1.5"), "whole numbers"),
        (changed("tempo", "middlegame", "nan"), "whole numbers"),
        (changed("tempo", "middlegame", "1979-05-27"), "whole numbers"),
        (changed("tempo", "endgame", "1001"), "whole numbers"),
        (changed("tempo", "endgame", "-" + "9" * 40), "whole numbers"),
        (changed("tempo", "endgame", "'1 2'"), "2 endgame numbers, not 1"),
        (changed("tempo", "endgame", "[1]"), "whole numbers"),
        (changed("safe_check", "endgame", "[1, 2, 3, 4]"), "1 endgame numbers, not 4"),
        (changed("safe_check", "endgame", "{}"), "1 endgame numbers, not 4"),
        (changed("safe_check", "endgame", "'1 2 3'"), "3 endgame numbers, not 4"),
        (changed("safe_check", "endgame", "'1 2 3 1001'"), "whole numbers"),
        (changed("safe_check", "endgame", "'1 2 3 nan'"), "whole numbers"),
        (changed("safe_check", "endgame", "''"), "0 endgame numbers, not 4"),
        (changed("material", "middlegame", "'100 320 330 500 900'"), "must be 100, 300, 300, 500, 900"),
    ],
    ids=range(27),
)
def test_bad_files_are_refused_with_one_sentence(data: bytes, reason: str) -> None:
    with pytest.raises(WeightsError, match=re.escape(reason)) as caught:
        Weights.parse(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@given(st.binary(max_size=300))
def test_any_bytes_end_in_weights_or_a_sentence(data: bytes) -> None:
    with pytest.raises(WeightsError):
        Weights.parse(data)


@pytest.mark.parametrize("name", ["missing.toml", "", "nul\0byte"])
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeightsError, match="cannot be read"):
        Weights.load(f"{tmp_path}/{name}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes as POSIX has them")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WeightsError, match=r"^'pipe' cannot be read: it is not a plain file$"):
        Weights.load(tmp_path / "pipe")


@pytest.mark.parametrize("phase", PHASES)
def test_weights_are_never_changed(phase: str) -> None:
    with pytest.raises(TypeError):
        getattr(default_weights(), phase)["tempo"] = (1,)
