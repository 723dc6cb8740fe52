"""The catalogue of the evaluation, one row per term: the single source for loading, checking, explaining and tuning.

A term has one name: its section in `weights.toml`, the field of its weights in `evaluation.context`, its function in
`evaluation.terms`, and its row here. CONTRIBUTING.md says how to add one. A title that is new also goes into FAMILIES.

`group` is the module of `evaluation.terms` with the function. The terms of the group ACCUMULATED have no function: the
board adds them up move by move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

import chess

ACCUMULATED: Final = "board"
# How the name of a term ends that has a weight for each square: in the file eight rows, the eighth rank first.
BOARD: Final = "_squares"
# A piece of these types counts one weight more by its square and the place of either king: how the names of the terms
# end. For pawns there are tables of all king squares (`terms.pawns`).
BY_KINGS: Final = (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
OWN_KING: Final = "_by_own_king"
ENEMY_KING: Final = "_by_enemy_king"
# The rest of a `Trace`: the result of a known ending, the network's part, and the cut beyond ±STATIC_LIMIT. Their
# titles by name.
KNOWN_ENDING: Final = "known_ending"
NETWORK_TERM: Final = "network"
LIMIT: Final = "limit"
OTHER_TITLES: Final = {
    KNOWN_ENDING: "known ending",
    NETWORK_TERM: "what the network sees",
    LIMIT: "limit of the score",
}
# The families of terms, in the order of a table, and their titles. A title is what a player calls a term, or several
# that say the same to him: "your king's shelter".
# fmt: off
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
    "Network": (OTHER_TITLES[NETWORK_TERM],),
    "Limit": (OTHER_TITLES[LIMIT],),
}
# fmt: on
FAMILY_OF: Final = {title: family for family, titles in FAMILIES.items() for title in titles}


@dataclass(frozen=True, slots=True)
class Term:
    """One term: its name, the number of its weights in each phase, and its group.

    `owner` and `max_count` say how often they count. If `owner` is a piece type, each piece of that type counts at
    most `max_count` weights. If it is "side", each side does. Material is bounded separately: its `max_count` is 0.
    `title` is one of those in FAMILIES. `words` is for a term without a function: what it counts.
    """

    name: str
    size: int
    group: str
    owner: str
    max_count: int
    title: str
    words: str = ""

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
    *(
        Term(f"{piece}_squares", 64, ACCUMULATED, piece, 1, "placement of pieces", f"a {piece}, by square")
        for piece in map(chess.piece_name, chess.PIECE_TYPES)
    ),
    *(
        Term(
            f"{piece}_squares{by_king}",
            512,
            ACCUMULATED,
            piece,
            1,
            "placement of pieces",
            f"a {piece} by square, for each place of {'its own' if by_king == OWN_KING else 'the enemy'} king",
        )
        for piece in map(chess.piece_name, BY_KINGS)
        for by_king in (OWN_KING, ENEMY_KING)
    ),
    Term("doubled_pawn", 2, "pawns", "pawn", 1, "doubled pawns"),
    Term("isolated_pawn", 5, "pawns", "pawn", 1, "isolated pawns"),
    Term("backward_pawn", 16, "pawns", "pawn", 1, "backward pawns"),
    Term("connected_pawn", 16, "pawns", "pawn", 1, "connected pawns"),
    Term("phalanx_pawn", 8, "pawns", "pawn", 1, "connected pawns"),
    Term("doubly_supported_pawn", 8, "pawns", "pawn", 1, "connected pawns"),
    Term("pawn_lever", 8, "pawns", "pawn", 1, "pawn levers"),
    Term("blocked_pawn", 8, "pawns", "pawn", 1, "blocked pawns"),
    Term("pawn_island", 1, "pawns", "side", 4, "pawn islands"),
    Term("pawn_pair", 4096, "pawns", "pawn", 7, "pawn formation"),
    Term("pawn_against_pawn", 4096, "pawns", "side", 225, "pawn formation"),
    Term("pawn_by_own_king", 4096, "pawns", "pawn", 1, "pawns around the kings"),
    Term("pawn_by_enemy_king", 4096, "pawns", "pawn", 1, "pawns around the kings"),
    Term("passed_pawn", 32, "pawns", "pawn", 1, "passed pawns"),
    Term("passed_pawn_kings", 16, "pawns", "pawn", 2, "passed pawns"),
    Term("king_shelter", 32, "king", "side", 3, "king's shelter"),
    Term("pawn_storm", 64, "king", "side", 3, "safety from pawn storms"),
    Term("king_pawn_distance", 8, "king", "side", 1, "king's place near the pawns"),
    Term("own_pair", 14, "pieces", "side", 105, "imbalance"),
    Term("enemy_pair", 10, "pieces", "side", 225, "imbalance"),
    Term("knight_mobility", 9, "pieces", "knight", 1, "knights' mobility"),
    Term("bishop_mobility", 14, "pieces", "bishop", 1, "bishops' mobility"),
    Term("rook_mobility", 15, "pieces", "rook", 1, "rooks' mobility"),
    Term("queen_mobility", 28, "pieces", "queen", 1, "queen's mobility"),
    Term("bishop_pair", 1, "pieces", "side", 1, "bishop pair"),
    Term("rook_open_file", 2, "pieces", "rook", 1, "rooks on open files"),
    Term("safe_mobility", 2, "pieces", "side", 128, "safe squares of rooks and queen"),
    Term("space", 2, "pieces", "side", 24, "space"),
    Term("outpost", 16, "pieces", "side", 10, "outposts"),
    Term("reachable_outpost", 2, "pieces", "side", 48, "outposts"),
    Term("minor_behind_pawn", 2, "pieces", "side", 10, "minor pieces behind pawns"),
    Term("bishop_pawns", 45, "pieces", "bishop", 1, "bishops' freedom from pawns"),
    Term("bishop_enemy_pawns", 9, "pieces", "bishop", 1, "bishops' freedom from pawns"),
    Term("passed_pawn_blocked", 16, "pawns", "pawn", 1, "passed pawns"),
    Term("passed_pawn_path", 40, "pawns", "pawn", 1, "passed pawns"),
    Term("rook_behind_passed_pawn", 16, "pawns", "pawn", 1, "passed pawns"),
    Term("safe_check", 4, "king", "side", 4, "safe checks against the king"),
    Term("king_attack", 64, "king", "side", 1, "attack on the king"),
    Term("threat_by_pawn", 10, "threats", "side", 15, "threats"),
    Term("threat_by_push", 6, "threats", "side", 15, "threats to push a pawn"),
    Term("threat_by_minor", 10, "threats", "side", 15, "threats"),
    Term("threat_by_rook", 10, "threats", "side", 15, "threats"),
    Term("hanging", 1, "threats", "side", 15, "attacks on hanging pieces"),
    Term("threat_by_king", 5, "threats", "side", 8, "threats"),
    Term("restricted_square", 1, "threats", "side", 64, "hold on contested squares"),
    Term("queen_attackable", 3, "threats", "side", 35, "threats"),
    Term("tempo", 1, "threats", "side", 1, "tempo"),
    Term("mop_up", 3, "endgames", "side", 21, "drive against the bare king"),
)
