"""The legal moves of a position compared, and one move explained: what refutes or supports it, and why.

`explained` has the results, and shows them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import board_after, is_obvious, is_sacrifice
from uci_engine.game_analysis.explained import MoveComparison, MoveExplanation, MoveValue
from uci_engine.game_analysis.features import feature_changes
from uci_engine.game_analysis.game_search import Effort
from uci_engine.game_analysis.judgement import MoveFacts, judge
from uci_engine.game_analysis.proof import prove
from uci_engine.game_analysis.reasons import reason_for
from uci_engine.game_analysis.report import extended, shown_line, tablebase_verdict
from uci_engine.game_analysis.values import DRAWN, Analyser, Found, Value, final_value, found_by
from uci_engine.score import MAX_DEPTH, piece_count

# The share of the effort for a search of the position as a whole, before each move is searched alone.
FIRST_SHARE = 0.4
# The depths of the first rounds, in which each move is searched alone.
FIRST_DEPTHS = (1, 4, 6, 8)
# The replies to a move that are shown.
REPLIES = 3
# The shares of the effort for one move: the position, the position after the move, and the comparison of the two.
MOVE_SHARES = (0.4, 0.4, 0.2)


class _Budget:
    """What is left of an effort that several searches share."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._began = time.perf_counter()
        self.nodes = 0

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.perf_counter() - self._began

    def left(self) -> Limit | None:
        """The limit of the next search, None if nothing is left."""
        if self._effort.seconds is not None:
            left = self._effort.seconds - self.seconds
            return Limit(time=left) if left > 0 else None
        if self._effort.nodes is not None:
            nodes = self._effort.nodes - self.nodes
            return Limit(nodes=nodes) if nodes > 0 else None
        return Limit()


def compare_moves(analyser: Analyser, board: chess.Board, effort: Effort) -> MoveComparison:
    """Compare the legal moves of a position. The effort is for all of them; a depth is for each.

    Each move is searched alone, deeper in every round, so that all are searched equally deep.
    """
    budget = _Budget(effort)
    game = object()
    moves: dict[chess.Move, MoveValue] = {}
    open_moves = []
    for move in board.legal_moves:
        value = final_value(board_after(board, [move]))
        moves[move] = MoveValue(move, DRAWN if value is None else value.backed_up(board.turn), 0, 0, (move,))
        if value is None:
            open_moves.append(move)
    first = None
    if open_moves and len(moves) > 1:
        first = found_by(analyser.analyse(board, effort.share(FIRST_SHARE), game=game), board)
    if first is not None:
        budget.nodes += first.nodes
    for depth in _depths(effort):
        order = _in_order(moves, open_moves, board)
        if not all(_deepen(analyser, board, moves, move, depth, budget, game) for move in order):
            break
    if first is not None and first.move is not None and first.depth > moves[first.move].depth:
        own_nodes = moves[first.move].nodes
        moves[first.move] = MoveValue(first.move, first.value, first.depth, own_nodes, first.line)
    ranked = [moves[move] for move in _in_order(moves, list(moves), board)]
    return MoveComparison(board.copy(), tuple(ranked), budget.nodes, budget.seconds)


def _depths(effort: Effort) -> Sequence[int]:
    last = MAX_DEPTH if effort.depth is None else effort.depth
    return [depth for depth in (*FIRST_DEPTHS, *range(FIRST_DEPTHS[-1] + 1, MAX_DEPTH)) if depth < last] + [last]


def _in_order(moves: dict[chess.Move, MoveValue], wanted: list[chess.Move], board: chess.Board) -> list[chess.Move]:
    """Moves, best first; among equal ones the deeper, then by name."""

    def key(move: chess.Move) -> tuple[float, int, int, str]:
        entry = moves[move]
        expected, cp = entry.value.order_for(board.turn)
        return (-expected, -cp, -entry.depth, move.uci())

    return sorted(wanted, key=key)


def _deepen(
    analyser: Analyser,
    board: chess.Board,
    moves: dict[chess.Move, MoveValue],
    move: chess.Move,
    depth: int,
    budget: _Budget,
    game: object,
) -> bool:
    """Search one move to this depth. False if the budget is at its end; the first round is always finished."""
    limit = budget.left()
    if limit is None and depth > FIRST_DEPTHS[0]:
        return False
    limit = Limit() if limit is None else limit
    limit.depth = depth
    found = found_by(analyser.analyse(board, limit, game=game, root_moves=[move]), board)
    entry = moves[move]
    if found is None:
        return True
    budget.nodes += found.nodes
    # A search that was cut short says less than the one before it.
    is_complete = found.depth >= depth or found.value.score.is_mate() or not entry.depth
    taken = found if is_complete else Found(entry.value, entry.depth, 0, entry.line)
    moves[move] = MoveValue(move, taken.value, taken.depth, entry.nodes + found.nodes, taken.line or (move,))
    return True


def explain_move(analyser: Analyser, board: chess.Board, move: chess.Move, effort: Effort) -> MoveExplanation:
    """Explain one legal move. The effort is for all of it; a depth is for each search."""
    began = time.perf_counter()
    game = object()
    color = board.turn
    for_position, for_replies, for_comparison = (effort.share(share) for share in MOVE_SHARES)
    after = board_after(board, [move])
    here = found_by(analyser.analyse(board, for_position, game=game), board) or Found(DRAWN)
    replies = _replies(analyser, after, for_replies, game)
    played = Found(replies[0].value.backed_up(color), replies[0].depth + 1, replies[0].nodes, (move, *replies[0].line))
    value = played.value
    is_best = here.move in (None, move) or value.score_for(color) >= here.value.score_for(color)
    # The move is compared with all others if it seems to be the best, and with the best if it does not.
    rivals = [other for other in board.legal_moves if other != move] if is_best else [*here.line[:1]]
    rival = found_by(analyser.analyse(board, for_comparison, game=game, root_moves=rivals), board) if rivals else None
    others: Value | None = None
    if not is_best:
        best = here if rival is None or rival.depth < here.depth else rival
    elif rival is not None and rival.value.score_for(color) > value.score_for(color):
        best, is_best = rival, False
    else:
        best, others = played, None if rival is None else rival.value
    legal_moves = board.legal_moves.count()
    judgement = judge(
        MoveFacts(
            white=color,
            best=best.value,
            played=value,
            is_best=is_best,
            others=others,
            legal_moves=legal_moves,
            is_obvious=is_obvious(board, move),
            is_sacrifice=is_sacrifice(board, played.line),
        )
    )
    played = extended(analyser, board, played)
    better = best if is_best else extended(analyser, board, best)
    reason = None if is_best else reason_for(analyser, board, played, better)
    line = shown_line(played)
    return MoveExplanation(
        board=board.copy(),
        move=move,
        value=value,
        line=line,
        depth=replies[0].depth,
        judgement=judgement,
        best=replace(better, line=shown_line(better)),
        is_best=is_best,
        others=others,
        replies=replies if replies[0].line else (),
        reply_count=after.legal_moves.count(),
        alternatives=legal_moves - 1,
        changes=tuple(feature_changes(analyser, board, board_after(board, line), piece_count(board))),
        reason=reason,
        proof=prove(analyser, board, played),
        verdict=tablebase_verdict(analyser, after),
        nodes=here.nodes + replies[0].nodes + (0 if rival is None else rival.nodes),
        seconds=time.perf_counter() - began,
    )


def _replies(analyser: Analyser, after: chess.Board, limit: Limit, game: object) -> tuple[Found, ...]:
    """The best replies of the opponent, at least one; without a line where the game is over."""
    value = final_value(after)
    if value is not None:
        return (Found(value),)
    infos = analyser.analyse(after, limit, game=game, multipv=min(REPLIES, after.legal_moves.count()))
    found = [reply for info in infos if (reply := found_by(info, after)) is not None and reply.line]
    return tuple(found) or (Found(DRAWN),)
