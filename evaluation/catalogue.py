"""The catalogue of the evaluation, one row per term: the single source for loading, checking, explaining and tuning.

A term has one name: its section in `weights.toml`, the field of its weights in the kernel, its function in
`evaluation.terms`, and its row here. To add a term, write its row here, its section in `weights.toml`, and in a module
of `evaluation/terms/` its field, its function and the call in `pawn_king_total` or `total`. `Weights.text` and
`explain` follow the order of the rows.

`group` is the module of `evaluation.terms` with the function. The terms of the group ACCUMULATED have no function: the
accumulator adds them up move by move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

ACCUMULATED: Final = "accumulator"
# A weight with at least this many numbers is a table.
MIN_TABLE: Final = 512
# What `explain` groups the terms in, in this order.
FAMILIES: Final = (
    "Material",
    "Piece squares",
    "Pawn structure",
    "Passed pawns",
    "Mobility",
    "Pieces",
    "King safety",
    "Threats",
    "Space",
    "Endgames",
    "Tempo",
)


@dataclass(frozen=True, slots=True)
class Term:
    """One term: its name, the number of its weights in each phase, and its group.

    `owner` and `max_count` are for `weights.max_sum`. If `owner` is a piece type, each piece of that type counts at
    most `max_count` weights. If it is "side", each side does. Material is bounded separately: its `max_count` is 0.
    `family` is one of FAMILIES. `title` is the row in the table of `explain`, which adds up terms with the same title.
    All terms of a title are of one family. `comment` is the comment in the weights file.
    """

    name: str
    size: int
    group: str
    owner: str
    max_count: int
    family: str
    title: str
    comment: str

    @property
    def is_board(self) -> bool:
        """Whether there is a weight for each of the 64 squares: in the file eight rows, the eighth rank first."""
        return self.name.endswith("_squares")

    @property
    def is_table(self) -> bool:
        """Whether it has so many numbers that the file holds one number where all are equal."""
        return self.size >= MIN_TABLE

    @property
    def function(self) -> Callable[..., int]:
        """The function of the term, with the signature that `evaluation.terms` describes."""
        function: Callable[..., int] = getattr(import_module(f"evaluation.terms.{self.group}"), self.name)
        return function


# `explain` calls the functions in this order. Invariant: a term that fills the context comes before those that read it
# (see `evaluation.terms`).
CATALOGUE: Final = (
    Term("material", 5, ACCUMULATED, "side", 0, "Material", "material", "pawn, knight, bishop, rook, queen (fixed)"),
    Term(
        "pawn_squares", 64, ACCUMULATED, "pawn", 1, "Piece squares", "piece squares",
        "a pawn by square, as White sees the board",
    ),
    Term("knight_squares", 64, ACCUMULATED, "knight", 1, "Piece squares", "piece squares", "a knight by square"),
    Term("bishop_squares", 64, ACCUMULATED, "bishop", 1, "Piece squares", "piece squares", "a bishop by square"),
    Term("rook_squares", 64, ACCUMULATED, "rook", 1, "Piece squares", "piece squares", "a rook by square"),
    Term("queen_squares", 64, ACCUMULATED, "queen", 1, "Piece squares", "piece squares", "a queen by square"),
    Term("king_squares", 64, ACCUMULATED, "king", 1, "Piece squares", "piece squares", "the king by square"),
    Term(
        "knight_squares_by_own_king", 512, ACCUMULATED, "knight", 1, "Piece squares", "squares by kings",
        "a knight by square, for each bucket of its own king",
    ),
    Term(
        "knight_squares_by_enemy_king", 512, ACCUMULATED, "knight", 1, "Piece squares", "squares by kings",
        "a knight by square, for each bucket of the enemy king",
    ),
    Term(
        "bishop_squares_by_own_king", 512, ACCUMULATED, "bishop", 1, "Piece squares", "squares by kings",
        "a bishop by square, for each bucket of its own king",
    ),
    Term(
        "bishop_squares_by_enemy_king", 512, ACCUMULATED, "bishop", 1, "Piece squares", "squares by kings",
        "a bishop by square, for each bucket of the enemy king",
    ),
    Term(
        "rook_squares_by_own_king", 512, ACCUMULATED, "rook", 1, "Piece squares", "squares by kings",
        "a rook by square, for each bucket of its own king",
    ),
    Term(
        "rook_squares_by_enemy_king", 512, ACCUMULATED, "rook", 1, "Piece squares", "squares by kings",
        "a rook by square, for each bucket of the enemy king",
    ),
    Term(
        "queen_squares_by_own_king", 512, ACCUMULATED, "queen", 1, "Piece squares", "squares by kings",
        "a queen by square, for each bucket of its own king",
    ),
    Term(
        "queen_squares_by_enemy_king", 512, ACCUMULATED, "queen", 1, "Piece squares", "squares by kings",
        "a queen by square, for each bucket of the enemy king",
    ),
    Term(
        "own_pair", 14, "imbalance", "side", 105, "Material", "imbalance",
        "two pieces of one side: pawn and pawn, knight and pawn, knight and knight, ... queen and rook; not two queens",
    ),
    Term(
        "enemy_pair", 10, "imbalance", "side", 225, "Material", "imbalance",
        "a piece and a lesser enemy piece: knight and pawn, bishop and pawn, bishop and knight, ... queen and rook",
    ),
    Term(
        "doubled_pawn", 1, "pawns", "pawn", 1, "Pawn structure", "doubled pawns",
        "a pawn with another of its side behind it on its file",
    ),
    Term(
        "isolated_pawn", 1, "pawns", "pawn", 1, "Pawn structure", "isolated pawns",
        "a pawn with none of its side on the adjacent files",
    ),
    Term(
        "connected_pawn", 8, "pawns", "pawn", 1, "Pawn structure", "connected pawns",
        "a pawn defended by another or in a phalanx, by rank",
    ),
    Term(
        "doubled_isolated_pawn", 1, "pawns", "pawn", 1, "Pawn structure", "doubled pawns",
        "a doubled pawn that is isolated too",
    ),
    Term(
        "isolated_pawn_open", 4, "pawns", "pawn", 1, "Pawn structure", "isolated pawns",
        "an isolated pawn without an enemy pawn ahead on its file, by the file's distance from the edge",
    ),
    Term(
        "backward_pawn", 16, "pawns", "pawn", 1, "Pawn structure", "backward pawns",
        "a backward pawn, by rank: with an enemy pawn ahead on its file, then without",
    ),
    Term(
        "connected_pawn_opposed", 8, "pawns", "pawn", 1, "Pawn structure", "connected pawns",
        "a connected pawn with an enemy pawn ahead on its file, by rank",
    ),
    Term(
        "phalanx_pawn", 8, "pawns", "pawn", 1, "Pawn structure", "connected pawns",
        "a pawn with another beside it, by rank",
    ),
    Term(
        "doubly_supported_pawn", 8, "pawns", "pawn", 1, "Pawn structure", "connected pawns",
        "a pawn that two pawns defend, by rank",
    ),
    Term("pawn_lever", 8, "pawns", "pawn", 1, "Pawn structure", "levers", "a pawn that attacks an enemy pawn, by rank"),
    Term(
        "blocked_pawn", 8, "pawns", "pawn", 1, "Pawn structure", "blocked pawns",
        "a pawn with an enemy pawn directly ahead, by rank",
    ),
    Term(
        "pawn_island", 1, "pawns", "side", 4, "Pawn structure", "pawn islands",
        "a group of adjacent files with pawns",
    ),
    Term(
        "pawn_pair", 4096, "pawn_pairs", "pawn", 7, "Pawn structure", "pawn pairs",
        "two pawns of one side: 64 * the lower square + the higher one",
    ),
    Term(
        "pawn_against_pawn", 4096, "pawn_pairs", "side", 225, "Pawn structure", "pawn against pawn",
        "64 * a pawn's square + an enemy pawn's, for the side whose pawn has the lower square in its own view",
    ),
    Term(
        "pawn_by_own_king", 4096, "pawn_pairs", "pawn", 1, "Pawn structure", "pawns by king",
        "64 * the square of its own king + a pawn's",
    ),
    Term(
        "pawn_by_enemy_king", 4096, "pawn_pairs", "pawn", 1, "Pawn structure", "pawns by king",
        "64 * the enemy king's square + a pawn's, as the pawn's side sees the board",
    ),
    Term("passed_pawn", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns", "a passed pawn, by rank"),
    Term(
        "passed_pawn_own_king", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns",
        "a passed pawn beyond the third rank, by its own king's distance",
    ),
    Term(
        "passed_pawn_enemy_king", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns",
        "a passed pawn beyond the third rank, by the enemy king's distance",
    ),
    Term(
        "protected_passed_pawn", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns",
        "a passed pawn that a pawn defends, by rank",
    ),
    Term(
        "connected_passed_pawn", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns",
        "a passed pawn with another on an adjacent file, at most one rank away, by rank",
    ),
    Term(
        "king_shelter", 32, "king", "side", 3, "King safety", "king shelter",
        "for each of three files around the king: 8 * distance to the edge + rank of its own pawn",
    ),
    Term(
        "pawn_storm", 8, "king", "side", 3, "King safety", "pawn storm",
        "for each of three files around the king: rank of the enemy pawn, from the king's side",
    ),
    Term(
        "pawn_storm_by_file", 32, "king", "side", 3, "King safety", "pawn storm",
        "the same pawns: 8 * the file's distance from the edge + the rank",
    ),
    Term(
        "blocked_storm", 8, "king", "side", 3, "King safety", "pawn storm",
        "those that a pawn of the king's side blocks, by rank",
    ),
    Term(
        "king_pawn_distance", 8, "king", "side", 1, "King safety", "king and pawns",
        "the king, by its distance from the nearest pawn",
    ),
    Term(
        "knight_mobility", 9, "pieces", "knight", 1, "Mobility", "knight mobility",
        "a knight, by the number of squares of the mobility area that it attacks",
    ),
    Term(
        "bishop_mobility", 14, "pieces", "bishop", 1, "Mobility", "bishop mobility",
        "a bishop, by the number of squares of the mobility area that it attacks; x-rays through its own queens",
    ),
    Term(
        "rook_mobility", 15, "pieces", "rook", 1, "Mobility", "rook mobility",
        "a rook, by the number of squares of the mobility area that it attacks; x-rays through its own rooks, queens",
    ),
    Term(
        "queen_mobility", 28, "pieces", "queen", 1, "Mobility", "queen mobility",
        "a queen, by the number of squares of the mobility area that it attacks",
    ),
    Term("bishop_pair", 1, "pieces", "side", 1, "Material", "bishop pair", "two bishops or more"),
    Term("rook_open_file", 1, "pieces", "rook", 1, "Pieces", "rooks on open files", "a rook with no pawn on its file"),
    Term(
        "rook_half_open_file", 1, "pieces", "rook", 1, "Pieces", "rooks on open files",
        "a rook with enemy pawns only on its file",
    ),
    Term(
        "outpost", 16, "minor_pieces", "side", 10, "Pieces", "outposts",
        "a knight on an outpost, by rank; then a bishop",
    ),
    Term(
        "reachable_outpost", 2, "minor_pieces", "side", 48, "Pieces", "outposts",
        "an outpost without a piece of its side that its knights, its bishops attack",
    ),
    Term(
        "minor_behind_pawn", 2, "minor_pieces", "side", 10, "Pieces", "minor pieces",
        "a knight, a bishop with any pawn directly ahead",
    ),
    Term(
        "bishop_pawns", 45, "minor_pieces", "bishop", 1, "Pieces", "bishops and pawns",
        "a bishop: 5 * the number of its pawns on its colour + that of its rammed centre pawns",
    ),
    Term(
        "bishop_enemy_pawns", 9, "minor_pieces", "bishop", 1, "Pieces", "bishops and pawns",
        "a bishop, by the number of enemy pawns on its colour",
    ),
    Term(
        "safe_mobility", 2, "pieces", "side", 128, "Mobility", "safe mobility",
        "a square of the mobility area that a rook, a queen attacks, and no lesser enemy piece",
    ),
    Term("space", 2, "pieces", "side", 24, "Space", "space", "a square of space; one behind a pawn of its side"),
    Term(
        "passed_pawn_blocked", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns' paths",
        "a blocked passed pawn, by rank",
    ),
    Term(
        "passed_pawn_free", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns' paths",
        "a passed pawn with a free, unattacked path, by rank",
    ),
    Term(
        "passed_pawn_enemy_ahead", 8, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns' paths",
        "a passed pawn that an enemy piece blocks, by rank",
    ),
    Term(
        "passed_pawn_path", 32, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns' paths",
        "a passed pawn, by rank: path not attacked, only beyond the next square, next square defended, undefended",
    ),
    Term(
        "rook_behind_passed_pawn", 16, "passed_pawns", "pawn", 1, "Passed pawns", "passed pawns' paths",
        "a passed pawn with a rook as the first piece behind it, by rank: its own rook, then an enemy rook",
    ),
    Term(
        "safe_check", 4, "king", "side", 4, "King safety", "safe checks",
        "a knight, bishop, rook or queen can give check on a safe square",
    ),
    Term(
        "king_attack", 64, "king", "side", 1, "King safety", "attack on the king",
        "all dangers of the enemy king, by units",
    ),
    Term(
        "threat_by_pawn", 10, "threats", "side", 15, "Threats", "threats",
        "a safe pawn attacks (no pawn), knight, bishop, rook, queen; then: an unsafe pawn does",
    ),
    Term(
        "threat_by_push", 6, "threats", "side", 15, "Threats", "pawn push threats",
        "a pawn could attack with its next push (no pawn), knight, bishop, rook, queen, king",
    ),
    Term(
        "threat_by_minor", 10, "threats", "side", 15, "Threats", "threats",
        "a knight or bishop attacks a pawn, knight, bishop, rook, queen; then: one that a pawn defends",
    ),
    Term(
        "threat_by_rook", 10, "threats", "side", 15, "Threats", "threats",
        "a rook attacks a pawn, knight, bishop, rook, queen; then: one that a pawn defends",
    ),
    Term(
        "threat_by_king", 5, "threats", "side", 8, "Threats", "threats",
        "the king attacks a pawn, knight, bishop, rook, queen that is not strongly defended",
    ),
    Term("hanging", 1, "threats", "side", 15, "Threats", "hanging pieces", "an enemy piece attacked and not defended"),
    Term(
        "restricted_square", 1, "threats", "side", 64, "Threats", "contested squares",
        "a square that both sides attack and the enemy does not defend strongly",
    ),
    Term(
        "queen_attackable", 3, "threats", "side", 35, "Threats", "threats",
        "a square from which a knight, bishop, rook could attack the only enemy queen",
    ),
    Term("mop_up_edge", 1, "endgames", "side", 7, "Endgames", "mop-up", "a bare enemy king: each step from the centre"),
    Term(
        "mop_up_near", 1, "endgames", "side", 7, "Endgames", "mop-up",
        "a bare enemy king: 7 minus the distance between the kings",
    ),
    Term(
        "mop_up_corner", 1, "endgames", "side", 7, "Endgames", "mop-up",
        "bishop and knight against a bare king: each step towards the right corners",
    ),
    Term("tempo", 1, "tempo", "side", 1, "Tempo", "tempo", "the side to move"),
)
