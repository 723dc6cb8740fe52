"""What is threatened, and why a move fails: what the side to move would win, found by a small search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import chess

from uci_engine.game_analysis.boards import board_after, numbered, variation
from uci_engine.game_analysis.judgement import INACCURACY_LOSS
from uci_engine.game_analysis.tactics.attacks import attacked_by_mover, best_capture, exchange, gain_of, with_turn
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line, TwoLines
from uci_engine.game_analysis.tactics.motif import Motif
from uci_engine.game_analysis.tactics.words import all_words, piece_on
from uci_engine.game_analysis.values import DRAWN, Found, Value

# What refutes a capture and has no name is shown up to the move that wins it back, if that is one of so many.
SHOWN_PLIES = 5


class Finder(Protocol):
    """Finds the best line of a position, of all or of some moves; an empty line where no search is left."""

    def __call__(self, board: chess.Board, moves: Sequence[chess.Move] | None = None, /) -> Found: ...


def nothing_found(board: chess.Board, moves: Sequence[chess.Move] | None = None) -> Found:
    """Where nothing is searched, nothing is found."""
    return Found(DRAWN)


def threat_to(board: chess.Board, value: Value, find: Finder) -> tuple[Line, tuple[Motif, ...]]:
    """The line, with the motifs that decide it, if the side not to move had the turn; no motifs for no threat.

    `value`: what the position is worth as it is.
    """
    passed, found = _passed(board, value, find)
    return _won_at_once(passed, found, value, INACCURACY_LOSS)


def was_threatened(lines: TwoLines, find: Finder) -> bool:
    """Whether the answer to the move played was a threat before it, good if that side had had the turn.

    A capture that is as good after the better move was not to be met, and what wins more by a capture now is new.
    """
    if lines.is_taken_anyway or lines.against.boards[1].is_check():
        return False
    passed, found = _passed(lines.board, lines.values[True], find)
    if _gain(passed, found, lines.values[True]) < lines.cost / 2 or list(found.line[:1]) != lines.against.moves[1:2]:
        return False
    answer, moved = found.line[0], lines.against.moves[0].to_square
    # What attacks the piece that has just moved is new, too.
    is_new = not passed.is_capture(answer) and moved in attacked_by_mover(lines.against.boards[2])
    return not is_new and exchange(passed, answer) >= exchange(lines.against.boards[1], answer)


def opened_by(lines: TwoLines) -> str:
    """What the move, unlike the better one, does for its answer: `12.Be3 cuts the rook on e1 off from e4`; or ""."""
    line, before = lines.against, with_turn(lines.board, not lines.color)
    (move, answer), after = line.moves[:2], line.boards[1]
    square, at = answer.to_square, chess.square_name(answer.to_square)
    others = [board for board in (before, *lines.missed.boards[1:2]) if board.is_legal(answer)]
    if square == move.to_square or any(exchange(board, answer) >= exchange(after, answer) for board in others):
        return ""
    guards = after.attackers(lines.color, square)
    lost = before.attackers(lines.color, square) - guards
    cut = [guard for guard in lost if chess.between(guard, square) & chess.BB_SQUARES[move.to_square]]
    deed = ""
    if move.from_square in lost and move.to_square not in guards:
        deed = f"no longer guards {at}"
    elif cut:
        deed = f"cuts the {piece_on(after, cut[0])} off from {at}"
    elif chess.between(answer.from_square, square) & chess.BB_SQUARES[move.from_square]:
        deed = f"opens the line of the {piece_on(after, answer.from_square)} to {at}"
    return deed and f"{line.name(0)} {deed}"


def _passed(board: chess.Board, value: Value, find: Finder) -> tuple[chess.Board, Found]:
    """A position of this value with the turn handed over, and what is found there; no line where it is over."""
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    passed.clear_stack()
    is_over = board.is_check() or passed.is_game_over()
    return passed, Found(value) if is_over else find(passed)


def recapture_that_fails(line: Line, ply: int, value: Value, find: Finder) -> str | None:
    """Why what moves in a line of that value is not taken, where that seems to win something.

    "" where it does not, None where it is not found why.
    """
    board, move = line.boards[ply], line.moves[ply]
    if line.is_taken_back(ply) or exchange(board, move) >= gain_of(board, move) or ply + 1 == len(line.moves):
        return ""
    after = line.boards[ply + 1]
    _, capture = best_capture(after, chess.BB_SQUARES[move.to_square])
    if capture is None:
        return ""
    taken = board_after(after, [capture])
    found = Found(DRAWN) if taken.is_game_over() else find(taken)
    if not found.line:
        return ""
    # It need not win more than the line does.
    answer, motifs = _won_at_once(taken, found, value, -INACCURACY_LOSS)
    least = answer.balance(0) + gain_of(after, capture)
    ends = [ply + 1 for ply in answer.own_plies() if ply < SHOWN_PLIES and not answer.is_taken_back(ply)]
    won = (end for end in ends if answer.balance(end) >= least or answer.boards[end].is_checkmate())
    words = all_words(answer, motifs) or variation(taken, answer.moves[: next(won, 0)])
    return f"{numbered(after, capture)} fails: {words}" if words else None


def _gain(board: chess.Board, found: Found, value: Value) -> float:
    """By how much what was found is better for the side to move than this value."""
    return found.value.expected_for(board.turn) - value.expected_for(board.turn)


def _won_at_once(board: chess.Board, found: Found, value: Value, least: float) -> tuple[Line, tuple[Motif, ...]]:
    """The line of the side to move, with the motifs by which it wins with its first or second move; else none."""
    line = Line(board, found.line if _gain(board, found, value) >= least else (), board.turn)
    motifs = deciding_motifs(line)
    return line, motifs if motifs and motifs[0].ply == 0 and motifs[-1].wins <= 2 else ()
