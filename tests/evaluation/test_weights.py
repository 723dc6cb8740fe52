"""The weights file: what it must hold, and that nothing is lost on the way to the file and back."""

from __future__ import annotations

import random
from importlib import resources

import chess
from hypothesis import given
from hypothesis import strategies as st

from evaluation.catalogue import CATALOGUE
from evaluation.weights import MATERIAL, MAX_CENTIPAWNS, Weights, default_weights
from tests.evaluation.test_evaluation import weights_with
from toolkit.training.model import weights_text

MAX_SUM = 0x7FFFFFFF

PIECE_NAMES = [chess.piece_name(piece_type) for piece_type in chess.PIECE_TYPES]


def pack(middlegame: int, endgame: int) -> int:
    """S(mg, eg) as one int, as the head of `evaluation.weights` defines it."""
    return (endgame << 32) + middlegame


TEXT = weights_text(default_weights())


def random_numbers(size: int, seed: int, limit: int) -> list[int]:
    chance = random.Random(seed)
    return [chance.randint(-limit, limit) for _ in range(size)]


def test_the_packaged_file_is_the_text_of_its_weights() -> None:
    packaged = resources.files("evaluation").joinpath("weights.toml").read_text("utf-8")
    first, _, rest = packaged.partition("\n[provenance]\n")
    # Without the provenance, the file is the same to the byte.
    assert first + "\n" + rest.partition("\n\n")[2] == TEXT


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
    weights = weights_with({term.name: data.draw(numbers)}, {term.name: data.draw(numbers)})
    assert Weights.parse(weights_text(weights).encode()) == weights
    assert weights.packed(term.name) == [
        pack(*pair) for pair in zip(weights.middlegame[term.name], weights.endgame[term.name], strict=True)
    ]


def test_board_shaped_weights_stand_in_the_file_as_white_sees_the_board() -> None:
    numbers = [0] * 64
    numbers[chess.A8], numbers[chess.H1] = 11, 22
    text = weights_text(weights_with({"knight_squares": numbers}))
    rows = text.split("[knight_squares]")[1].splitlines()[2:10]
    assert rows[0].split() == ["11", "0", "0", "0", "0", "0", "0", "0"]
    assert rows[7].split() == ["0", "0", "0", "0", "0", "0", "0", "22"]


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
