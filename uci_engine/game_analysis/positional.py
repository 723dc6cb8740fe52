"""Positional features: what one side has on the board that the other line does not have, and that the terms value.

A feature is named where the terms of its titles differ by a third of what the move costs between positions of the two
lines, at two depths, and the feature itself is in one of them only. To add one, add a function that finds it, and a row
to FEATURES.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import chess

from evaluation.trace import Trace
from uci_engine.board.pieces import ahead, files_near
from uci_engine.game_analysis.boards import king_of
from uci_engine.game_analysis.tactics import Line
from uci_engine.game_analysis.thresholds import CONFIRMED, LEAF_PLIES, SOON
from uci_engine.score import win_curve


@dataclass(frozen=True, slots=True)
class Feature:
    """`titles` are those of the terms that value it. `find` gives its squares for a side.

    `is_weakness`: it is bad for the side that has it. `words`: {side} has it, {pieces} stand on its squares, {squares}
    are these, {files} their files.
    """

    name: str
    titles: tuple[str, ...]
    is_weakness: bool
    words: str
    find: Callable[[chess.Board, chess.Color], chess.SquareSet]


def doubled_pawns(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    own = board.pieces(chess.PAWN, color)
    return chess.SquareSet(at for at in own if own & chess.BB_FILES[chess.square_file(at)] & ahead(at, color))


def isolated_pawns(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    own = board.pieces(chess.PAWN, color)
    return chess.SquareSet(at for at in own if not own & files_near(at) & ~chess.BB_FILES[chess.square_file(at)])


def outposts(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    """Knights in the other half, guarded by a pawn, that no enemy pawn can ever attack."""
    half = sum(chess.BB_RANKS[rank] for rank in (range(3, 7) if color else range(1, 5)))
    pawns, enemies = board.pieces(chess.PAWN, color), board.pieces(chess.PAWN, not color)
    return chess.SquareSet(
        at
        for at in board.pieces(chess.KNIGHT, color) & half
        if board.attackers(color, at) & pawns
        and not enemies & files_near(at) & ~chess.BB_FILES[chess.square_file(at)] & ahead(at, color)
    )


def exposed_king(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    """The king off the middle files with own pawns in front of it on at most one file, and an enemy queen."""
    king = king_of(board, color)
    shelter = board.pieces(chess.PAWN, color) & files_near(king) & ahead(king, color)
    is_open = len({chess.square_file(at) for at in shelter}) <= 1 and chess.square_file(king) not in (3, 4)
    return chess.SquareSet([king] if is_open and board.pieces(chess.QUEEN, not color) else [])


KING_SAFETY = ("king's shelter", "safety from pawn storms", "safe checks against the king", "attack on the king")

FEATURES = (
    Feature("outpost", ("outposts",), False, "no pawn can drive {pieces} away", outposts),
    Feature("doubled pawns", ("doubled pawns",), True, "{side} has doubled pawns on the {files}", doubled_pawns),
    Feature("isolated pawn", ("isolated pawns",), True, "{pieces} is isolated", isolated_pawns),
    Feature("exposed king", KING_SAFETY, True, "{pieces} has hardly a pawn before it", exposed_king),
)


@dataclass(frozen=True, slots=True)
class FoundFeature:
    """A feature that stands in the line of the move played from the ply `ply` on, on these squares of a side."""

    feature: Feature
    color: chess.Color
    squares: chess.SquareSet
    ply: int
    part: float


def feature_of(played: Line, better: Line, lost: float) -> FoundFeature | None:
    """The feature of the line played that makes most of the difference from the better line; None for none.

    `lost`: what the move played costs, in pawns as they are shown.
    """
    color = played.boards[0].turn
    last = min(played.searched, better.searched)
    if last < 2 * LEAF_PLIES:
        return None
    leaves = [(played.boards[ply], better.boards[ply]) for ply in (last, last - LEAF_PLIES)]
    if any(board.is_game_over() for leaf in leaves for board in leaf):
        return None
    midpoint_cp, _ = win_curve(chess.popcount(played.boards[0].occupied))
    lost_cp = max(lost, 0.01) * midpoint_cp
    traces = [[_by_title(board, color) for board in leaf] for leaf in leaves]
    found = []
    for feature in FEATURES:
        parts = [sum(after[title] - before[title] for title in feature.titles) / lost_cp for before, after in traces]
        if min(parts) >= 1 - CONFIRMED:
            found.append(_found_in(feature, played, better, leaves, min(parts)))
    return max(filter(None, found), key=lambda each: each.part, default=None)


def _found_in(
    feature: Feature, played: Line, better: Line, leaves: list[tuple[chess.Board, chess.Board]], part: float
) -> FoundFeature | None:
    """The feature where it is new soon in the line played, stands at both depths, and not in the better line."""
    color = played.boards[0].turn
    side = color if feature.is_weakness else not color
    squares = chess.SquareSet(chess.BB_ALL)
    for leaf in leaves:
        with_it, without = (feature.find(board, side) for board in leaf)
        squares &= with_it - without
    there = [feature.find(board, side) for board in played.boards[: SOON + 2]]
    first = next((ply for ply, found in enumerate(there) if found & squares), 0)
    # What was there before the move is no news, nor what has only moved.
    is_new = first > 0 and len(there[first]) > len(there[0])
    if not is_new or feature.find(better.boards[min(first, better.searched)], side) & squares:
        return None
    return FoundFeature(feature, side, squares & there[first], first, part)


def _by_title(board: chess.Board, color: chess.Color) -> Mapping[str, int]:
    """The terms of the static score, added up by title, in internal centipawns for this side."""
    sums: dict[str, int] = defaultdict(int)
    for term in Trace.of(board, network=None):
        sums[term.title] += term.difference_cp if color else -term.difference_cp
    return sums
