"""The weights of the evaluation: loading and checking of one TOML file, `weights.toml`.

Names, sizes and bounds come from `evaluation.catalogue`. Every weight has a middlegame and an endgame value in
centipawns. Both are packed into one 64-bit number, so that one addition adds both: S(mg, eg) = (eg << 32) + mg.

Invariant: no sum over a legal position overflows either half of 32 bits, even with the greatest weights that a file may
have. A file with a fault is refused with WeightsError.

Material is the classical 9/5/3/3/1 in both phases, and no file can change it. The piece-square tables hold the rest, so
they may include an offset common to all squares of one type (what a bishop is worth beyond a knight, for example).

In the file the numbers of a weight are one text, separated by blanks, because tomllib reads a text much faster than a
list. A single number stands alone. A file may have a table `provenance`, which tells its readers where the weights come
from.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import add
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import chess

from evaluation.base.constants import KING_PLACES, PIECES
from evaluation.catalogue import BOARD, CATALOGUE, ENEMY_KING, OWN_KING
from evaluation.files import read_start

# Centipawns, by python-chess's piece types: pawn, knight, bishop, rook, queen.
MATERIAL: Final = (100, 300, 300, 500, 900)
PHASES: Final = ("middlegame", "endgame")
MAX_BYTES: Final = 1 << 19
MAX_CENTIPAWNS: Final = 1000
PROVENANCE: Final = "provenance"
# In a line of the file, because tomllib takes minutes for a key of many dots. Strings of the provenance are free.
MAX_DOTS: Final = 100
_TEXT_LINE: Final = re.compile(rb'\w+ = "')
# Every number as the text of a file has it. Looking it up is faster than `int`, and checks its bound.
_NUMBERS: Final = {str(number): number for number in range(-MAX_CENTIPAWNS, MAX_CENTIPAWNS + 1)}


class WeightsError(ValueError):
    """A weights file that cannot be used. The message gives the reason."""


@dataclass(repr=False)
class Weights:
    """A complete set of weights, checked on construction and never changed afterwards.

    `middlegame` and `endgame` map each name in CATALOGUE to its tuple of ints. Squares are numbered from a1 to h8.
    Two sets with the same weights are equal. Raises WeightsError unless every name is present and each value is an int
    within its bound.
    """

    middlegame: Mapping[str, Sequence[int]]
    endgame: Mapping[str, Sequence[int]]

    def __post_init__(self) -> None:
        self.middlegame = _checked(self.middlegame, "middlegame")
        self.endgame = _checked(self.endgame, "endgame")

    @cached_property
    def packed(self) -> dict[str, list[int]]:
        """All numbers by name, each with middlegame and endgame packed into one int. Not to be changed."""
        both = zip(self.middlegame.items(), self.endgame.values(), strict=True)
        return {name: [(eg << 32) + mg for mg, eg in zip(mgs, egs, strict=True)] for (name, mgs), egs in both}

    @cached_property
    def piece_square(self) -> list[int]:
        """The board's number for each piece, packed, negative for Black: 2 * 8 * 896 numbers.

        [(8 * colour of a king + its place) * 896 + (2 * type + colour) * 64 + square]. Add a piece's entries
        for both kings; those for the white king hold material and square. Not to be changed.
        """
        numbers = [0] * (2 * KING_PLACES * PIECES)
        material = [*self.packed["material"], 0]
        for piece_type, value in zip(chess.PIECE_TYPES, material, strict=True):
            name = chess.piece_name(piece_type)
            plain = [value + bonus for bonus in self.packed[f"{name}_squares"]]
            own, enemy = ([0] * 64 * KING_PLACES for _ in range(2))
            if f"{name}_squares{OWN_KING}" in self.middlegame:
                own = self.packed[f"{name}_squares{OWN_KING}"]
                enemy = self.packed[f"{name}_squares{ENEMY_KING}"]
            for place in range(KING_PLACES):
                by_own, by_enemy = (table[64 * place : 64 * place + 64] for table in (own, enemy))
                black_king = place * PIECES + 128 * piece_type
                white_king = black_king + KING_PLACES * PIECES
                # The black piece, then the white one, of this type.
                numbers[black_king : black_king + 128] = _mirrored(by_own) + by_enemy
                numbers[white_king : white_king + 128] = _mirrored(list(map(add, plain, by_enemy))) + list(
                    map(add, plain, by_own)
                )
        return numbers

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        """Read a weights file; a pipe is refused. Raises WeightsError when it cannot be read or is not valid."""
        return cls.parse(read_start(path, MAX_BYTES + 1, WeightsError))

    @classmethod
    def parse(cls, data: bytes) -> Weights:
        """Parse the bytes of a weights file. Raises WeightsError when they are not valid."""
        if len(data) > MAX_BYTES:
            raise WeightsError(f"the weights file is longer than {MAX_BYTES} bytes")
        if any(line.count(b".") > MAX_DOTS and not _TEXT_LINE.match(line) for line in data.split(b"\n")):
            raise WeightsError(f"the weights file has a line with more than {MAX_DOTS} dots")
        try:
            document = tomllib.loads(data.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise WeightsError(f"the weights file is not TOML: {str(error)[:200]}") from error
        document.pop(PROVENANCE, None)
        phases: dict[str, dict[str, list[int]]] = {phase: {} for phase in PHASES}
        for name, entry in document.items():
            if not isinstance(entry, dict) or set(entry) != set(PHASES):
                raise WeightsError(f"weight {name[:40]!r} needs a middlegame and an endgame and no more")
            for phase in PHASES:
                phases[phase][name] = _from_file(name, entry[phase])
        return cls(phases["middlegame"], phases["endgame"])


@cache
def default_weights() -> Weights:
    """The weights of the file in the package."""
    # Not by importlib.resources, which takes milliseconds to import.
    return Weights.parse(Path(__file__).with_name("weights.toml").read_bytes())


def _checked(values: Mapping[str, Sequence[int]], phase: str) -> Mapping[str, tuple[int, ...]]:
    """One phase's weights as tuples, in the order of CATALOGUE. Raises WeightsError."""
    unknown = sorted(set(values) - {term.name for term in CATALOGUE})
    if unknown:
        raise WeightsError(f"there is no weight named {unknown[0][:40]!r}")
    checked = {}
    for term in CATALOGUE:
        if term.name not in values:
            raise WeightsError(f"weight {term.name} is missing")
        numbers = tuple(values[term.name])
        if len(numbers) != term.size:
            raise WeightsError(f"weight {term.name} has {len(numbers)} {phase} numbers, not {term.size}")
        is_whole = set(map(type, numbers)) == {int}
        if not is_whole or not -MAX_CENTIPAWNS <= min(numbers) <= max(numbers) <= MAX_CENTIPAWNS:
            raise WeightsError(f"weight {term.name}: {phase} takes whole numbers to ±{MAX_CENTIPAWNS}")
        checked[term.name] = numbers
    if checked["material"] != MATERIAL:
        raise WeightsError(f"weight material ({phase}) must be {', '.join(map(str, MATERIAL))}")
    return MappingProxyType(checked)


def _mirrored(numbers: list[int]) -> list[int]:
    """64 packed numbers of a white piece, as those of a black one."""
    return [-numbers[square ^ 56] for square in range(64)]


def _from_file(name: str, value: Any) -> list[Any]:
    """A flat list from one phase of a weight in the file: a number or a text. A board begins with the eighth rank."""
    if not isinstance(value, str):
        return [value]
    # None, which `_checked` refuses, for what is no number within its bound.
    numbers = [_NUMBERS.get(word) for word in value.split()]
    if not name.endswith(BOARD) or len(numbers) != 64:
        return numbers
    return [number for rank in range(56, -1, -8) for number in numbers[rank : rank + 8]]
