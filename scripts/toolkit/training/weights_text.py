"""The text of a weights file, which `evaluation.weights` reads back."""

from __future__ import annotations

from typing import Final

from evaluation.catalogue import BOARD, CATALOGUE, Term
from evaluation.weights import PHASES, Weights

# A longer list continues on the next line.
MAX_NUMBERS_PER_LINE: Final = 64
# How a file begins.
HEADER: Final = """\
# The weights of the evaluation, in centipawns. Ranks and squares are as the own side sees the board.
# By victim: pawn, knight, bishop, rook, queen.
"""


def weights_text(weights: Weights) -> str:
    """The text of a weights file: `Weights.parse` makes an equal object of it."""
    parts = [HEADER]
    for term in CATALOGUE:
        # What the term counts: how the docstring of its function begins.
        comment = term.words or (term.function.__doc__ or "").partition("\n\n")[0]
        parts.append(f"\n# {comment}\n[{term.name}]\n")
        for phase, values in zip(PHASES, (weights.middlegame, weights.endgame), strict=True):
            parts.append(f"{phase} = {_to_file(term, values[term.name])}\n")
    return "".join(parts)


def _to_file(term: Term, numbers: tuple[int, ...]) -> str:
    """One phase of a weight as TOML: a number or a text. A board begins with the eighth rank."""
    if term.size == 1:
        return str(numbers[0])
    if term.name.endswith(BOARD):
        rows = [numbers[rank * 8 : rank * 8 + 8] for rank in range(7, -1, -1)]
        lines = [" ".join(f"{number:4d}" for number in row) for row in rows]
    else:
        rows = [numbers[i : i + MAX_NUMBERS_PER_LINE] for i in range(0, term.size, MAX_NUMBERS_PER_LINE)]
        lines = [" ".join(map(str, row)) for row in rows]
    return f"'{lines[0]}'" if len(lines) == 1 else "\n".join(["'''", *lines, "'''"])
