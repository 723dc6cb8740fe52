"""The catalogue of the evaluation: one row for each term, and all that the rest needs to know of it.

A term has one name: the section in `weights.toml`, the field of its weights in the kernel, its function in
`evaluation.terms`, and its row here. To add one: a row here, its section in `weights.toml`, its function and its place
in the sum of its module in `evaluation/terms/`, and its declarations in the `.pxd` beside it. Loading and checking of
weights, the bound on all sums, `explain` and `coefficients` follow from the row.

The group is the module of `evaluation.terms` that holds the function. The terms of the group ACCUMULATED have none:
the accumulator adds them up move by move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

ACCUMULATED: Final = "accumulator"


@dataclass(frozen=True, slots=True)
class Term:
    """One term: its name, how many weights it has in each phase, and how often one side can count one of them.

    `owner` is the piece type that brings a weight into the sum, each piece `most` times at most; or "side": `most`
    times in all. `title` is for people; `explain` adds up terms with the same title. `meaning` is the comment in the
    file.
    """

    name: str
    size: int
    group: str
    owner: str
    most: int
    title: str
    meaning: str

    @property
    def is_board(self) -> bool:
        """Whether the weights are the 64 squares (in the file: eight rows, the eighth rank first)."""
        return self.name.endswith("_squares")

    @property
    def function(self) -> Callable[..., int]:
        """The function of the term, with the signature that `evaluation.terms` describes."""
        function: Callable[..., int] = getattr(import_module(f"evaluation.terms.{self.group}"), self.name)
        return function


# In the order in which the functions must be called.
CATALOGUE: Final = (
    Term("material", 5, ACCUMULATED, "side", 0, "material", "pawn, knight, bishop, rook, queen: fixed"),
    Term("pawn_squares", 64, ACCUMULATED, "pawn", 1, "piece squares", "a pawn by square, as White sees the board"),
    Term("knight_squares", 64, ACCUMULATED, "knight", 1, "piece squares", "a knight by square"),
    Term("bishop_squares", 64, ACCUMULATED, "bishop", 1, "piece squares", "a bishop by square"),
    Term("rook_squares", 64, ACCUMULATED, "rook", 1, "piece squares", "a rook by square"),
    Term("queen_squares", 64, ACCUMULATED, "queen", 1, "piece squares", "a queen by square"),
    Term("king_squares", 64, ACCUMULATED, "king", 1, "piece squares", "the king by square"),
    Term(
        "doubled_pawn", 1, "pawns", "pawn", 1, "doubled pawns",
        "a pawn with another of its side behind it on its file",
    ),
    Term(
        "isolated_pawn", 1, "pawns", "pawn", 1, "isolated pawns",
        "a pawn with none of its side on the files beside it",
    ),
    Term(
        "connected_pawn", 8, "pawns", "pawn", 1, "connected pawns",
        "a pawn defended by another or beside one, by rank",
    ),
    Term("passed_pawn", 8, "passed_pawns", "pawn", 1, "passed pawns", "a passed pawn, by rank"),
    Term(
        "passed_pawn_own_king", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "beyond the third rank, by the king's distance",
    ),
    Term(
        "passed_pawn_enemy_king", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "beyond the third rank, by the enemy king's distance",
    ),
    Term(
        "king_shelter", 32, "king", "side", 3, "king shelter",
        "files by the king: 8 * edge distance + rank of its own pawn",
    ),
    Term(
        "pawn_storm", 8, "king", "side", 3, "pawn storm",
        "files by the king: rank of the enemy pawn, seen from the king",
    ),
    Term(
        "knight_mobility", 9, "pieces", "knight", 1, "knight mobility",
        "a knight, by the number of squares it can use",
    ),
    Term(
        "bishop_mobility", 14, "pieces", "bishop", 1, "bishop mobility",
        "a bishop, likewise; it looks through its own queens",
    ),
    Term(
        "rook_mobility", 15, "pieces", "rook", 1, "rook mobility",
        "a rook, likewise; it looks through its own rooks and queens",
    ),
    Term("queen_mobility", 28, "pieces", "queen", 1, "queen mobility", "a queen, likewise"),
    Term("bishop_pair", 1, "pieces", "side", 1, "bishop pair", "two bishops or more"),
    Term(
        "outpost", 2, "pieces", "side", 10, "outposts",
        "a knight, a bishop: defended by a pawn where no enemy pawn can attack it",
    ),
    Term("rook_open_file", 1, "pieces", "rook", 1, "rooks on open files", "a rook with no pawn on its file"),
    Term(
        "rook_half_open_file", 1, "pieces", "rook", 1, "rooks on open files",
        "a rook with enemy pawns only on its file",
    ),
    Term(
        "passed_pawn_blocked", 8, "passed_pawns", "pawn", 1, "passed pawns' paths",
        "any piece on its next square, by rank",
    ),
    Term(
        "passed_pawn_free", 8, "passed_pawns", "pawn", 1, "passed pawns' paths",
        "nothing on its way and none of it attacked, by rank",
    ),
    Term("king_danger", 24, "king", "side", 1, "attack on the king", "attack on the enemy king, by its units"),
    Term(
        "safe_check", 4, "king", "side", 4, "safe checks",
        "a knight, bishop, rook, queen can give check on a safe square",
    ),
    Term("threat_by_pawn", 1, "threats", "side", 15, "threats", "an enemy piece attacked by a pawn"),
    Term(
        "threat_by_push", 1, "threats", "side", 15, "pawn push threats",
        "an enemy piece that a pawn could attack with its next step",
    ),
    Term(
        "threat_by_minor", 2, "threats", "side", 15, "threats",
        "it attacks: a minor that no pawn defends; a rook or queen",
    ),
    Term("threat_by_rook", 2, "threats", "side", 15, "threats", "it attacks: a minor that no pawn defends; a queen"),
    Term("hanging", 1, "threats", "side", 15, "hanging pieces", "an enemy piece attacked and not defended"),
    Term("mop_up_edge", 1, "endgames", "side", 7, "mop-up", "an enemy king left alone: each step from the centre"),
    Term(
        "mop_up_near", 1, "endgames", "side", 7, "mop-up",
        "an enemy king left alone: each step nearer the two kings are",
    ),
    Term("mop_up_corner", 1, "endgames", "side", 7, "mop-up", "bishop and knight: each step to the right corners"),
    Term("tempo", 1, "threats", "side", 1, "side to move", "the side to move"),
)
