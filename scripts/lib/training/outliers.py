"""Where the static evaluation is most wrong: kinds of positions, and single ones as boards.

What many of them have in common is what the evaluation does not see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
from rich.table import Table
from scipy.special import expit

from lib.console import make_table
from lib.training.examples import Examples, Floats
from lib.training.positions import RESULT_NAMES, board_of, pieces_of
from lib.training.tuning_report import Rival

# Kinds with fewer positions say little.
MIN_POSITIONS = 100
MATERIAL_ROWS = 20
WORD = re.compile(r"\d+|\D+")
Pieces = npt.NDArray[np.uint8]
Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class Group:
    """Positions of one kind. share: of the sum of squared errors of all. error: root mean square. overrated: how much
    less the side that is ahead gets than it was promised, on average; below 0 it gets more.
    """

    kind: str
    positions: int
    share: float
    error: float
    overrated: float


def group_errors(rival: Rival, examples: Examples) -> list[Group]:
    """The kinds of each question in turn; those of material with the greatest share first."""
    logits = rival.logits(examples)
    promised = expit(logits)
    pieces = pieces_of(examples.records)
    groups = []
    for question, answer in QUESTIONS.items():
        labels = answer(pieces, examples)
        found = [
            _group(f"{question}: {label}", labels == label, logits, promised, examples.expected)
            for label in sorted(np.unique(labels).tolist(), key=_natural)
            if (labels == label).sum() >= MIN_POSITIONS
        ]
        if question == "material":
            found = sorted(found, key=lambda group: -group.share)[:MATERIAL_ROWS]
        groups += found
    return groups


def group_table(groups: Sequence[Group]) -> Table:
    """A row for each kind."""
    rows = [
        [
            each.kind,
            str(each.positions),
            f"{100 * each.share:.1f} %",
            f"{each.error:.4f}",
            f"{each.overrated:+.4f}",
        ]
        for each in groups
    ]
    head = ["kind", "positions", "of all squared errors", "error", "overrated"]
    return make_table("Error of the expected result, by kind of position", head, rows)


def worst_positions(rival: Rival, examples: Examples, count: int) -> str:
    """The positions with the greatest errors, one from a game, as boards with what is expected of them."""
    logits = rival.logits(examples)
    scores, promised = logits * rival.scale, expit(logits)
    texts: list[str] = []
    games: set[int] = set()
    for row in np.argsort(-np.abs(promised - examples.expected)):
        if len(texts) >= count:
            break
        game = int(examples.games[row])
        if game in games:
            continue
        games.add(game)
        record = examples.records[row]
        board = board_of(record)
        facts = (
            f"static {scores[row] / 100:+.2f}, promises {promised[row]:.2f}",
            f"label {int(record['score_cp']) / 100:+.2f}, game {RESULT_NAMES[record['result']]}, "
            f"expected {examples.expected[row]:.2f}",
            f"phase {int(examples.coefficients.phase[row])}, {'White' if board.turn else 'Black'} to move",
        )
        texts.append("\n".join((board.fen(), str(board), *facts)))
    return "\n\n".join(texts)


def _natural(label: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in labels by their values."""
    return [(int(word), "") if word.isdecimal() else (0, word) for word in WORD.findall(label)]


def _group(kind: str, chosen: Labels, logits: Floats, promised: Floats, expected: Floats) -> Group:
    errors = promised - expected
    squares = errors**2
    return Group(
        kind,
        int(chosen.sum()),
        float(squares[chosen].sum() / squares.sum()),
        float(np.sqrt(squares[chosen].mean())),
        float((errors[chosen] * np.sign(logits[chosen])).mean()),
    )


# ---- The questions: a label for each position ----


def _phase(pieces: Pieces, examples: Examples) -> Labels:
    edges = (5, 11, 17, 23)
    names = np.array(["0 to 4 (endgame)", "5 to 10", "11 to 16", "17 to 22", "23 to 24 (all pieces)"])
    return np.asarray(names[np.searchsorted(edges, examples.coefficients.phase, side="right")])


def _count(pieces: Pieces, piece: chess.PieceType, color: chess.Color) -> npt.NDArray[np.int64]:
    return np.asarray((pieces == 2 * piece + color).sum(1))


def _queens(pieces: Pieces, examples: Examples) -> Labels:
    white, black = (_count(pieces, chess.QUEEN, color) > 0 for color in (True, False))
    return np.where(white & black, "both sides", np.where(white | black, "one side", "none"))


def _kings(pieces: Pieces, examples: Examples) -> Labels:
    files = [np.argmax(pieces == 2 * chess.KING + color, axis=1) & 7 for color in (True, False)]
    wings = [np.where(file > 4, 2, np.where(file < 3, 0, 1)) for file in files]
    opposite = np.abs(wings[0] - wings[1]) == 2
    return np.where(opposite, "on opposite wings", np.where((wings[0] == 1) | (wings[1] == 1), "one central", "same"))


def _passed(pieces: Pieces, examples: Examples) -> Labels:
    """The rank of the most advanced passed pawn of either side."""
    boards = pieces.reshape(-1, 8, 8)
    white, black = boards == 2 * chess.PAWN + 1, (boards == 2 * chess.PAWN)[:, ::-1]
    best = np.zeros(len(pieces), np.int64)
    for own, other in ((white, black[:, ::-1]), (black, white[:, ::-1])):
        wide = np.pad(other, ((0, 0), (0, 0), (1, 1)))
        near = wide[:, :, :-2] | wide[:, :, 1:-1] | wide[:, :, 2:]
        # Whether an enemy pawn stands further on.
        ahead = np.zeros_like(near)
        ahead[:, :-1] = np.logical_or.accumulate(near[:, ::-1], axis=1)[:, ::-1][:, 1:]
        ranks = np.where(own & ~ahead, np.arange(1, 9)[None, :, None], 0)
        best = np.maximum(best, ranks.max(axis=(1, 2)))
    return np.where(best == 0, "none", np.char.add("most advanced on rank ", best.astype("U1")))


def _bishops(pieces: Pieces, examples: Examples) -> Labels:
    white, black = (_count(pieces, chess.BISHOP, color) for color in (True, False))
    light = np.array([(square ^ square >> 3) & 1 for square in range(64)], np.bool_)
    colours = [(((pieces == 2 * chess.BISHOP + color) & light).any(1)) for color in (True, False)]
    opposite = (white == 1) & (black == 1) & (colours[0] != colours[1])
    return np.where(opposite, "of opposite colours", "other")


def _pawns(pieces: Pieces, examples: Examples) -> Labels:
    white, black = (_count(pieces, chess.PAWN, color) for color in (True, False))
    return np.char.add(np.minimum(white + black, 16).astype("U2"), " on the board")


def _material(pieces: Pieces, examples: Examples) -> Labels:
    """The pieces of both sides without pawns, the stronger side first, and its pawns more or less."""
    labels = np.zeros(len(pieces), "U40")
    counts = {
        color: np.stack([_count(pieces, piece, color) for piece in range(1, 6)], axis=1) for color in (True, False)
    }
    both = np.concatenate([counts[True], counts[False]], axis=1)
    kinds, inverse = np.unique(both, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds.tolist()):
        sides = sorted(((side[4:0:-1], side[0]) for side in (kind[:5], kind[5:])), reverse=True)
        names = ["".join("QRBN"[i] * n for i, n in enumerate(side)) or "-" for side, _ in sides]
        labels[inverse.reshape(-1) == number] = f"{names[0]} v {names[1]}, pawns {sides[0][1] - sides[1][1]:+d}"
    return labels


QUESTIONS: dict[str, Callable[[Pieces, Examples], Labels]] = {
    "phase": _phase,
    "queens": _queens,
    "kings": _kings,
    "passed pawns": _passed,
    "bishops": _bishops,
    "pawns": _pawns,
    "material": _material,
}
