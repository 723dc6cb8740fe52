"""Positional features: a weakness in the line of the move played that the better line does not have.

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
    """A weakness. `titles` are those of the terms that value it. `find` gives its squares for the side that has it.

    `words`: {side} has it, {pieces} stand on its squares, {files} are their files.
    """

    name: str
    titles: tuple[str, ...]
    words: str
    find: Callable[[chess.Board, chess.Color], chess.SquareSet]


def doubled_pawns(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    own = board.pieces(chess.PAWN, color)
    return chess.SquareSet(at for at in own if own & chess.BB_FILES[chess.square_file(at)] & ahead(at, color))


def exposed_king(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    """The king off the middle files with own pawns in front of it on at most one file, and an enemy queen."""
    king = king_of(board, color)
    shelter = board.pieces(chess.PAWN, color) & files_near(king) & ahead(king, color)
    is_open = len({chess.square_file(at) for at in shelter}) <= 1 and chess.square_file(king) not in (3, 4)
    return chess.SquareSet([king] if is_open and board.pieces(chess.QUEEN, not color) else [])


# A feature, the squares on which the player has it in the line of the move played, and the ply from which on.
FoundFeature = tuple[Feature, chess.SquareSet, int]

KING_SAFETY = ("king's shelter", "safety from pawn storms", "safe checks against the king", "attack on the king")

FEATURES = (
    Feature("doubled pawns", ("doubled pawns",), "{side} has doubled pawns on the {files}", doubled_pawns),
    Feature("exposed king", KING_SAFETY, "{pieces} has hardly a pawn before it", exposed_king),
)


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
    traces = [[_by_title(board, color) for board in leaf] for leaf in leaves]

    def part(feature: Feature) -> float:
        """The part of the loss that its terms make, at least."""
        costs = [sum(after[title] - before[title] for title in feature.titles) for before, after in traces]
        return min(costs) / (max(lost, 0.01) * midpoint_cp)

    for feature in sorted(FEATURES, key=part, reverse=True):
        found = _found_in(feature, played, better, leaves) if part(feature) >= 1 - CONFIRMED else None
        if found:
            return found
    return None


def _found_in(
    feature: Feature, played: Line, better: Line, leaves: list[tuple[chess.Board, chess.Board]]
) -> FoundFeature | None:
    """The feature where it is new soon in the line played, stands at both depths, and not in the better line."""
    color = played.boards[0].turn
    squares = chess.SquareSet(chess.BB_ALL)
    for leaf in leaves:
        with_it, without = (feature.find(board, color) for board in leaf)
        squares &= with_it - without
    there = [feature.find(board, color) for board in played.boards[: SOON + 2]]
    first = next((ply for ply, found in enumerate(there) if found & squares), 0)
    # What was there before the move is no news, nor what has only moved.
    is_new = first > 0 and len(there[first]) > len(there[0])
    if not is_new or feature.find(better.boards[min(first, better.searched)], color) & squares:
        return None
    return feature, squares & there[first], first


def _by_title(board: chess.Board, color: chess.Color) -> Mapping[str, int]:
    """The terms of the static score, added up by title, in internal centipawns for this side."""
    sums: dict[str, int] = defaultdict(int)
    for term in Trace.of(board, network=None):
        sums[term.title] += term.difference_cp if color else -term.difference_cp
    return sums
