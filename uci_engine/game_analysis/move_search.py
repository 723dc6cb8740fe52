"""The searches that compare the legal moves of a position, or explain one: what refutes or supports it, and why.

`move_report` has the results, and shows them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.game_search import share_of
from uci_engine.game_analysis.judgement import Mark, judge
from uci_engine.game_analysis.move_report import MoveComparison, MoveExplanation, Proof
from uci_engine.game_analysis.reasons import reason_for
from uci_engine.game_analysis.report import EXTENSION, extended, tablebase_verdict
from uci_engine.game_analysis.support import support_for
from uci_engine.game_analysis.values import DRAWN, Analyser, Found, SearchedMove, final_value, found_by

# The replies to a move that are shown.
REPLIES = 3
# The shares of the limit for one move: the position, the position after the move, the comparison of the two, each
# search that makes a line longer, and each that looks for a threat or confirms a reason. The proof has what is left.
MOVE_SHARES = (0.3, 0.25, 0.1, 0.02, 0.05)
# Of a longer mate only the line is shown.
MAX_MATE_MOVES = 6
# The most nodes for the answer to one defence.
MAX_ANSWER_NODES = 200_000


class Searches:
    """The searches of one question: an `Analyser` whose searches share a limit and what they learn.

    `nodes` counts those of all searches. A search for which nothing is left has the depth of 1.
    """

    def __init__(self, analyser: Analyser, limit: Limit) -> None:
        self.probe_tablebases = analyser.probe_tablebases
        self._analyse = analyser.analyse
        self._limit = limit
        self._game = object()
        self._began = time.perf_counter()
        self.nodes = 0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def left(self) -> Limit | None:
        """The limit that gives a search all that is left, None if nothing is. A depth is for each search."""
        whole = self._limit
        seconds = None if whole.time is None else whole.time - self.seconds
        nodes = None if whole.nodes is None else whole.nodes - self.nodes
        if any(value is not None and value <= 0 for value in (seconds, nodes)):
            return None
        return Limit(time=seconds, nodes=nodes, depth=whole.depth)

    def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
        """Search a position, within what is left."""
        left = self.left()
        if left is None:
            limit = Limit(depth=1)
        else:
            limit = replace(limit, time=_least(limit.time, left.time), nodes=_least(limit.nodes, left.nodes))
        result = self._analyse(board, limit, **words | {"game": self._game})
        # With MultiPV the first line counts the nodes of the whole search.
        self.nodes += (result[0] if isinstance(result, list) else result).get("nodes", 0)
        return result


def _least(first: float | None, second: float | None) -> Any:
    return min((value for value in (first, second) if value is not None), default=None)


def compare_moves(analyser: Analyser, board: chess.Board, limit: Limit) -> MoveComparison:
    """Compare the legal moves of a position, by one search that has a line for each."""
    began, game = time.perf_counter(), object()
    count = board.legal_moves.count()
    infos = analyser.analyse(board, limit, game=game, multipv=count) if count else []
    if len(infos) < count:
        # The limit has ended the search before it had all lines.
        infos = analyser.analyse(board, Limit(depth=1), game=game, multipv=count)
    moves = [found_by(info, board) for info in infos]
    # A search that was cut has the last lines from the depth before.
    moves.sort(key=lambda found: found.value.order_for(board.turn), reverse=True)
    # With MultiPV a line counts the nodes of the whole search until it was reported.
    nodes = max((found.nodes for found in moves), default=0)
    return MoveComparison(board.copy(), tuple(moves), nodes, time.perf_counter() - began)


def explain_move(analyser: Analyser, board: chess.Board, move: chess.Move, limit: Limit) -> MoveExplanation:
    """Explain one legal move. The limit is for all of it; a depth is for each search."""
    searches = Searches(analyser, limit)
    color = board.turn
    shares = [share_of(limit, share) for share in MOVE_SHARES]
    for_position, for_replies, for_comparison, for_extension, for_threat = shares
    after = board_after(board, [move])
    here = found_by(searches.analyse(board, for_position), board)
    replies = _replies(searches, after, for_replies)
    played = replace(replies[0], value=replies[0].value.backed_up(color), line=(move, *replies[0].line))
    value = played.value
    is_best = here.move in (None, move) or value.score_for(color) >= here.value.score_for(color)
    # The move is compared with all others if it seems to be the best, and with the best if it does not.
    rivals = [other for other in board.legal_moves if other != move] if is_best else [*here.line[:1]]
    rival = found_by(searches.analyse(board, for_comparison, root_moves=rivals), board) if rivals else Found(DRAWN)
    is_known = rival.line and (is_best or rival.depth >= here.depth)
    other = rival if is_known else None if is_best else here
    best, others = played, None
    if other is not None:
        is_best = value.score_for(color) >= other.value.score_for(color)
        best, others = (played, other.value) if is_best else (other, None)
    judgement = judge(board, SearchedMove(best, played, is_best, others))
    for_extension.nodes = _least(for_extension.nodes, EXTENSION.nodes)
    played = extended(searches, board, played, for_extension)
    proof = prove(searches, board, played)
    better = best if is_best or searches.left() is None else extended(searches, board, best, for_extension)

    def find(position: chess.Board, moves: Sequence[chess.Move] | None = None) -> Found:
        if not searches.left():
            return Found(DRAWN)
        found = found_by(searches.analyse(position, for_threat, root_moves=moves), position)
        return extended(searches, position, found, for_extension)

    reason = None if is_best else reason_for(board, played, better, find)
    is_good = not judgement.mark.is_error and judgement.mark is not Mark.FORCED
    support = support_for(board, played, others, find) if is_good else None
    return MoveExplanation(
        board=board.copy(),
        move=move,
        judgement=judgement,
        played=played.shown,
        best=better.shown,
        is_best=is_best,
        others=others,
        replies=replies if replies[0].line else (),
        reply_count=after.legal_moves.count(),
        alternatives=board.legal_moves.count() - 1,
        reason=None if reason is None else reason.text,
        support=None if support is None else support.text,
        motifs=reason.motifs if reason is not None else support.motifs if support is not None else (),
        proof=proof,
        verdict=tablebase_verdict(searches, after),
        nodes=searches.nodes,
        seconds=searches.seconds,
    )


def _replies(searches: Searches, after: chess.Board, limit: Limit) -> tuple[Found, ...]:
    """The best replies of the opponent, at least one; without a line where the game is over."""
    value = final_value(after, claims=True)
    if value is not None:
        return (Found(value),)
    infos = searches.analyse(after, limit, multipv=min(REPLIES, after.legal_moves.count()))
    found = [found_by(info, after) for info in infos]
    return tuple(reply for reply in found if reply.line) or (Found(DRAWN),)


# A proof: a move that wins or loses by force, with an answer to every defence ----------------------------------------


def prove(searches: Searches, board: chess.Board, played: Found) -> Proof | None:
    """The proof that a move mates or is mated, None where no mate is known. `played`: the move with its line."""
    winner = board.turn if played.value.mate_for(board.turn) is not None else not board.turn
    moves = played.value.mate_for(winner)
    # The side that is mated moves after the move itself, or after the opponent's reply to it.
    before = played.line[: 1 if winner == board.turn else 2]
    if moves is None or (winner != board.turn and len(before) < 2):
        return None
    is_short = 1 < moves <= MAX_MATE_MOVES
    return Proof(winner, moves, before, _answers(searches, board_after(board, before), moves) if is_short else ())


def _answers(searches: Searches, position: chess.Board, moves: int) -> tuple[Found, ...] | None:
    """The answer to each defence against a mate in `moves`, None if one was not found within what is left.

    The mate search of `go mate` proves each. Nodes are divided among the defences.
    """
    answers = []
    defences = list(position.legal_moves)
    for number, defence in enumerate(defences):
        after, left = board_after(position, [defence]), searches.left()
        if left is None or after.is_game_over():
            return None
        share = None if left.nodes is None else max(left.nodes // (len(defences) - number), 1)
        limit = Limit(nodes=_least(share, MAX_ANSWER_NODES), mate=moves - 1)
        answer = found_by(searches.analyse(after, limit), after)
        if answer.value.mate_for(after.turn) is None:
            return None
        answers.append(replace(answer, line=(defence, *answer.line)))
    return tuple(answers)
