"""The catalogue of the evaluation, one row per term: the single source for loading, checking, explaining and tuning.

A term has one name: its section in `weights.toml`, the field of its weights in the kernel, its function in
`evaluation.terms`, and its row here. To add a term, write its row here, its section in `weights.toml`, and in a module
of `evaluation/terms/` its field, its function and the call in `pawn_king_total` or `total`. A title that is new also
goes into FAMILIES.

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
# What an explanation holds beside the terms: the result of a known ending, what the network adds, and what is cut off
# beyond ±STATIC_LIMIT. Their titles by name.
KNOWN_ENDING: Final = "known_ending"
CORRECTION: Final = "correction"
LIMIT: Final = "limit"
OTHER_TITLES: Final = {
    KNOWN_ENDING: "known ending",
    CORRECTION: "what the network sees",
    LIMIT: "limit of the score",
}
# The families of an explanation, in its order, and their titles. A title is what a player calls a term, or several that
# say the same to him: "your king's shelter".
FAMILIES: Final = {
    "Material": ("material", "imbalance", "bishop pair"),
    "Piece squares": ("placement of pieces",),
    "Pawn structure": (
        "doubled pawns", "isolated pawns", "backward pawns", "connected pawns", "pawn levers", "blocked pawns",
        "pawn islands", "pawn formation", "pawns around the kings",
    ),
    "Passed pawns": ("passed pawns",),
    "Mobility": (
        "knights' mobility", "bishops' mobility", "rooks' mobility", "queen's mobility",
        "safe squares of rooks and queen",
    ),
    "Pieces": ("rooks on open files", "outposts", "minor pieces behind pawns", "bishops' freedom from pawns"),
    "King safety": (
        "king's shelter", "safety from pawn storms", "king's place near the pawns", "safe checks against the king",
        "attack on the king",
    ),
    "Threats": ("threats", "threats to push a pawn", "attacks on hanging pieces", "hold on contested squares"),
    "Space": ("space",),
    "Endgames": ("drive against the bare king", OTHER_TITLES[KNOWN_ENDING]),
    "Tempo": ("tempo",),
    "Learned correction": (OTHER_TITLES[CORRECTION],),
    "Limit": (OTHER_TITLES[LIMIT],),
}
FAMILY_OF: Final = {title: family for family, titles in FAMILIES.items() for title in titles}


@dataclass(frozen=True, slots=True)
class Term:
    """One term: its name, the number of its weights in each phase, and its group.

    `owner` and `max_count` say how often they count. If `owner` is a piece type, each piece of that type counts at
    most `max_count` weights. If it is "side", each side does. Material is bounded separately: its `max_count` is 0.
    `title` is one of those in FAMILIES. `comment` is the comment in the weights file.
    """

    name: str
    size: int
    group: str
    owner: str
    max_count: int
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


# In the order of the calls in `Evaluator.sum_of_terms`, where a term that fills the context comes before those that
# read it (see `evaluation.terms`). A test compares the two. `explain` calls the functions in this order, and the
# weights file has it.
CATALOGUE: Final = (
    Term("material", 5, ACCUMULATED, "side", 0, "material", "pawn, knight, bishop, rook, queen (fixed)"),
    Term(
        "pawn_squares", 64, ACCUMULATED, "pawn", 1, "placement of pieces",
        "a pawn by square, as White sees the board",
    ),
    *(
        Term(f"{piece}_squares", 64, ACCUMULATED, piece, 1, "placement of pieces", f"a {piece} by square")
        for piece in ("knight", "bishop", "rook", "queen")
    ),
    Term("king_squares", 64, ACCUMULATED, "king", 1, "placement of pieces", "the king by square"),
    *(
        Term(
            f"{piece}_squares_by_{whose}_king", 512, ACCUMULATED, piece, 1, "placement of pieces",
            f"a {piece} by square, for each bucket of {'its own' if whose == 'own' else 'the enemy'} king",
        )
        for piece in ("knight", "bishop", "rook", "queen")
        for whose in ("own", "enemy")
    ),
    Term(
        "doubled_pawn", 1, "pawns", "pawn", 1, "doubled pawns",
        "a pawn with another of its side behind it on its file",
    ),
    Term("doubled_isolated_pawn", 1, "pawns", "pawn", 1, "doubled pawns", "a doubled pawn that is isolated too"),
    Term(
        "isolated_pawn", 1, "pawns", "pawn", 1, "isolated pawns",
        "a pawn with none of its side on the adjacent files",
    ),
    Term(
        "isolated_pawn_open", 4, "pawns", "pawn", 1, "isolated pawns",
        "an isolated pawn without an enemy pawn ahead on its file, by the file's distance from the edge",
    ),
    Term(
        "backward_pawn", 16, "pawns", "pawn", 1, "backward pawns",
        "a backward pawn, by rank: with an enemy pawn ahead on its file, then without",
    ),
    Term(
        "connected_pawn", 8, "pawns", "pawn", 1, "connected pawns",
        "a pawn defended by another or in a phalanx, by rank",
    ),
    Term(
        "connected_pawn_opposed", 8, "pawns", "pawn", 1, "connected pawns",
        "a connected pawn with an enemy pawn ahead on its file, by rank",
    ),
    Term("phalanx_pawn", 8, "pawns", "pawn", 1, "connected pawns", "a pawn with another beside it, by rank"),
    Term("doubly_supported_pawn", 8, "pawns", "pawn", 1, "connected pawns", "a pawn that two pawns defend, by rank"),
    Term("pawn_lever", 8, "pawns", "pawn", 1, "pawn levers", "a pawn that attacks an enemy pawn, by rank"),
    Term("blocked_pawn", 8, "pawns", "pawn", 1, "blocked pawns", "a pawn with an enemy pawn directly ahead, by rank"),
    Term("pawn_island", 1, "pawns", "side", 4, "pawn islands", "a group of adjacent files with pawns"),
    Term(
        "pawn_pair", 4096, "pawn_pairs", "pawn", 7, "pawn formation",
        "two pawns of one side: 64 * the lower square + the higher one",
    ),
    Term(
        "pawn_against_pawn", 4096, "pawn_pairs", "side", 225, "pawn formation",
        "64 * a pawn's square + an enemy pawn's, for the side whose pawn has the lower square in its own view",
    ),
    Term(
        "pawn_by_own_king", 4096, "pawn_pairs", "pawn", 1, "pawns around the kings",
        "64 * the square of its own king + a pawn's",
    ),
    Term(
        "pawn_by_enemy_king", 4096, "pawn_pairs", "pawn", 1, "pawns around the kings",
        "64 * the enemy king's square + a pawn's, as the pawn's side sees the board",
    ),
    Term("passed_pawn", 8, "passed_pawns", "pawn", 1, "passed pawns", "a passed pawn, by rank"),
    Term(
        "passed_pawn_own_king", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn beyond the third rank, by its own king's distance",
    ),
    Term(
        "passed_pawn_enemy_king", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn beyond the third rank, by the enemy king's distance",
    ),
    Term(
        "protected_passed_pawn", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn that a pawn defends, by rank",
    ),
    Term(
        "connected_passed_pawn", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn with another on an adjacent file, at most one rank away, by rank",
    ),
    Term(
        "king_shelter", 32, "king", "side", 3, "king's shelter",
        "for each of three files around the king: 8 * distance to the edge + rank of its own pawn",
    ),
    Term(
        "pawn_storm", 8, "king", "side", 3, "safety from pawn storms",
        "for each of three files around the king: rank of the enemy pawn, from the king's side",
    ),
    Term(
        "pawn_storm_by_file", 32, "king", "side", 3, "safety from pawn storms",
        "the same pawns: 8 * the file's distance from the edge + the rank",
    ),
    Term(
        "blocked_storm", 8, "king", "side", 3, "safety from pawn storms",
        "those that a pawn of the king's side blocks, by rank",
    ),
    Term(
        "king_pawn_distance", 8, "king", "side", 1, "king's place near the pawns",
        "the king, by its distance from the nearest pawn",
    ),
    Term(
        "own_pair", 14, "imbalance", "side", 105, "imbalance",
        "two pieces of one side: pawn and pawn, knight and pawn, knight and knight, ... queen and rook; not two queens",
    ),
    Term(
        "enemy_pair", 10, "imbalance", "side", 225, "imbalance",
        "a piece and a lesser enemy piece: knight and pawn, bishop and pawn, bishop and knight, ... queen and rook",
    ),
    Term(
        "knight_mobility", 9, "pieces", "knight", 1, "knights' mobility",
        "a knight, by the number of squares of the mobility area that it attacks",
    ),
    Term(
        "bishop_mobility", 14, "pieces", "bishop", 1, "bishops' mobility",
        "a bishop, by the number of squares of the mobility area that it attacks; x-rays through its own queens",
    ),
    Term(
        "rook_mobility", 15, "pieces", "rook", 1, "rooks' mobility",
        "a rook, by the number of squares of the mobility area that it attacks; x-rays through its own rooks, queens",
    ),
    Term(
        "queen_mobility", 28, "pieces", "queen", 1, "queen's mobility",
        "a queen, by the number of squares of the mobility area that it attacks",
    ),
    Term("bishop_pair", 1, "pieces", "side", 1, "bishop pair", "two bishops or more"),
    Term("rook_open_file", 1, "pieces", "rook", 1, "rooks on open files", "a rook with no pawn on its file"),
    Term(
        "rook_half_open_file", 1, "pieces", "rook", 1, "rooks on open files",
        "a rook with enemy pawns only on its file",
    ),
    Term(
        "safe_mobility", 2, "pieces", "side", 128, "safe squares of rooks and queen",
        "a square of the mobility area that a rook, a queen attacks, and no lesser enemy piece",
    ),
    Term("space", 2, "pieces", "side", 24, "space", "a square of space; one behind a pawn of its side"),
    Term("outpost", 16, "minor_pieces", "side", 10, "outposts", "a knight on an outpost, by rank; then a bishop"),
    Term(
        "reachable_outpost", 2, "minor_pieces", "side", 48, "outposts",
        "an outpost without a piece of its side that its knights, its bishops attack",
    ),
    Term(
        "minor_behind_pawn", 2, "minor_pieces", "side", 10, "minor pieces behind pawns",
        "a knight, a bishop with any pawn directly ahead",
    ),
    Term(
        "bishop_pawns", 45, "minor_pieces", "bishop", 1, "bishops' freedom from pawns",
        "a bishop: 5 * the number of its pawns on its colour + that of its rammed centre pawns",
    ),
    Term(
        "bishop_enemy_pawns", 9, "minor_pieces", "bishop", 1, "bishops' freedom from pawns",
        "a bishop, by the number of enemy pawns on its colour",
    ),
    Term("passed_pawn_blocked", 8, "passed_pawns", "pawn", 1, "passed pawns", "a blocked passed pawn, by rank"),
    Term(
        "passed_pawn_free", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn with a free, unattacked path, by rank",
    ),
    Term(
        "passed_pawn_enemy_ahead", 8, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn that an enemy piece blocks, by rank",
    ),
    Term(
        "passed_pawn_path", 32, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn, by rank: path not attacked, only beyond the next square, next square defended, undefended",
    ),
    Term(
        "rook_behind_passed_pawn", 16, "passed_pawns", "pawn", 1, "passed pawns",
        "a passed pawn with a rook as the first piece behind it, by rank: its own rook, then an enemy rook",
    ),
    Term(
        "safe_check", 4, "king", "side", 4, "safe checks against the king",
        "a knight, bishop, rook or queen can give check on a safe square",
    ),
    Term("king_attack", 64, "king", "side", 1, "attack on the king", "all dangers of the enemy king, by units"),
    Term(
        "threat_by_pawn", 10, "threats", "side", 15, "threats",
        "a safe pawn attacks (no pawn), knight, bishop, rook, queen; then: an unsafe pawn does",
    ),
    Term(
        "threat_by_push", 6, "threats", "side", 15, "threats to push a pawn",
        "a pawn could attack with its next push (no pawn), knight, bishop, rook, queen, king",
    ),
    Term(
        "threat_by_minor", 10, "threats", "side", 15, "threats",
        "a knight or bishop attacks a pawn, knight, bishop, rook, queen; then: one that a pawn defends",
    ),
    Term(
        "threat_by_rook", 10, "threats", "side", 15, "threats",
        "a rook attacks a pawn, knight, bishop, rook, queen; then: one that a pawn defends",
    ),
    Term("hanging", 1, "threats", "side", 15, "attacks on hanging pieces", "an enemy piece attacked and not defended"),
    Term(
        "threat_by_king", 5, "threats", "side", 8, "threats",
        "the king attacks a pawn, knight, bishop, rook, queen that is not strongly defended",
    ),
    Term(
        "restricted_square", 1, "threats", "side", 64, "hold on contested squares",
        "a square that both sides attack and the enemy does not defend strongly",
    ),
    Term(
        "queen_attackable", 3, "threats", "side", 35, "threats",
        "a square from which a knight, bishop, rook could attack the only enemy queen",
    ),
    Term(
        "mop_up_edge", 1, "endgames", "side", 7, "drive against the bare king",
        "a bare enemy king: each step from the centre",
    ),
    Term(
        "mop_up_near", 1, "endgames", "side", 7, "drive against the bare king",
        "a bare enemy king: 7 minus the distance between the kings",
    ),
    Term(
        "mop_up_corner", 1, "endgames", "side", 7, "drive against the bare king",
        "bishop and knight against a bare king: each step towards the right corners",
    ),
    Term("tempo", 1, "tempo", "side", 1, "tempo", "the side to move"),
)
