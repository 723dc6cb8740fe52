"""Proofs: a move that wins or loses by force, with an answer to every defence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.values import DRAWN, Analyser, Found, found_by

# Of a longer mate only the line is shown.
MAX_MATE_MOVES = 6
# The most nodes for the answer to one defence.
MAX_ANSWER_NODES = 200_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A defence, the answer to it, and in how many more moves that mates; None if no mate was found."""

    defence: chess.Move
    line: tuple[chess.Move, ...]
    mate: int | None


@dataclass(frozen=True, slots=True)
class Proof:
    """A forced mate: who mates, in how many moves, and an answer to each defence.

    `before` are the moves to the position in which the side that is mated defends. `is_complete`: every defence has its
    answer, and each was searched. `is_cut`: there was no effort left to search them all, so no answer is given.
    """

    white_mates: bool
    moves: int
    before: tuple[chess.Move, ...]
    answers: tuple[Answer, ...]
    is_complete: bool
    is_cut: bool = False


def prove(analyser: Analyser, board: chess.Board, played: Found, left: Callable[[], Limit | None]) -> Proof | None:
    """The proof that a move mates or is mated, None where no mate is known.

    `played`: the move with its line. `left`: gives the limit that is left for a search, None where nothing is.
    """
    line = played.line
    wins, loses = played.value.mate_for(board.turn), played.value.mate_for(not board.turn)
    moves = loses if wins is None else wins
    if moves is None:
        return None
    # The side that is mated moves after the move itself, or after the opponent's reply to it.
    before = line[:1] if wins is not None else line[:2]
    if loses is not None and len(line) < 2:
        return None
    winner = board.turn if wins is not None else not board.turn
    position = board_after(board, before)
    if position.is_checkmate():
        return Proof(winner, moves, before, (), True)
    if moves > MAX_MATE_MOVES:
        return Proof(winner, moves, before, (), False)
    # Three plies deeper than the mate, for what the search reduces.
    answers = _answers(analyser, position, 2 * moves, left)
    if answers is None:
        return Proof(winner, moves, before, (), is_complete=False, is_cut=True)
    return Proof(winner, moves, before, answers, all(answer.mate is not None for answer in answers))


def _answers(
    analyser: Analyser, position: chess.Board, depth: int, left: Callable[[], Limit | None]
) -> tuple[Answer, ...] | None:
    """The answers to all defences, None where they do not fit into what is left. Nodes are divided among them."""
    answers = []
    defences = list(position.legal_moves)
    for number, defence in enumerate(defences):
        limit = left()
        if limit is not None and limit.nodes is not None:
            limit.nodes = max(limit.nodes // (len(defences) - number), 1)
        answer = None if limit is None else _answer(analyser, position, defence, depth, limit)
        if answer is None:
            return None
        answers.append(answer)
    return tuple(answers)


def _answer(analyser: Analyser, position: chess.Board, defence: chess.Move, depth: int, limit: Limit) -> Answer | None:
    """The answer to a defence, None where the limit ends the search before it has found a mate."""
    after = board_after(position, [defence])
    if after.is_game_over():
        return Answer(defence, (), None)
    limit.depth = limit.depth or depth
    limit.nodes = min(limit.nodes or MAX_ANSWER_NODES, MAX_ANSWER_NODES)
    found = found_by(analyser.analyse(after, limit), after) or Found(DRAWN)
    mate = found.value.mate_for(after.turn)
    if mate is None and found.depth < limit.depth and found.nodes < MAX_ANSWER_NODES:
        return None
    return Answer(defence, found.line, mate)
