"""Proofs: a move that wins or loses by force, with an answer to every defence."""

from __future__ import annotations

from dataclasses import dataclass

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.values import Analyser, Found, found_by

# Of a longer mate only the line is shown.
MAX_MATE_MOVES = 6
# The effort for the answer to one defence.
ANSWER = Limit(nodes=200_000)


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
    answer, and each was searched.
    """

    white_mates: bool
    moves: int
    before: tuple[chess.Move, ...]
    answers: tuple[Answer, ...]
    is_complete: bool


def prove(analyser: Analyser, board: chess.Board, played: Found) -> Proof | None:
    """The proof that a move mates or is mated, None where no mate is known. `played`: the move with its line."""
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
    answers = tuple(_answer(analyser, position, defence) for defence in position.legal_moves)
    is_complete = all(answer.mate is not None for answer in answers)
    return Proof(winner, moves, before, answers, is_complete)


def _answer(analyser: Analyser, position: chess.Board, defence: chess.Move) -> Answer:
    after = board_after(position, [defence])
    found = None if after.is_game_over() else found_by(analyser.analyse(after, ANSWER), after)
    mate = None if found is None else found.value.mate_for(after.turn)
    return Answer(defence, () if found is None else found.line, mate)
