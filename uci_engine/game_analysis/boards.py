"""What boards and moves tell without a search: names of moves, obvious moves, sacrifices, material, phase weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import chess

from evaluation.constants import PHASE_WEIGHTS
from evaluation.report import counted_pieces

PIECE_VALUES = (0, 1, 3, 3, 5, 9, 0)
# Of more pieces than these, lost for others, it is only said that they are material.
MOST_TRADED = 2
# Out of check, so few moves leave not much to find.
FEW_EVASIONS = 3


def board_after(board: chess.Board, moves: Iterable[chess.Move]) -> chess.Board:
    """The board after these moves. It remembers the moves of `board` and these, so it knows repetitions."""
    after = board.copy()
    for move in moves:
        after.push(move)
    return after


def positions(start: chess.Board, moves: Iterable[chess.Move]) -> list[chess.Board]:
    """The position before each move of a game, and the last one. Each remembers the moves before it."""
    boards = [start.copy()]
    for move in moves:
        boards.append(board_after(boards[-1], [move]))
    return boards


def numbered(board: chess.Board, move: chess.Move) -> str:
    """`45.Nf3` or `45...Nf6+`."""
    return f"{board.fullmove_number}{'.' if board.turn else '...'}{board.san(move)}"


def variation(board: chess.Board, moves: Sequence[chess.Move]) -> str:
    """`45.Nf3 Nf6 46.Ng5`."""
    return board.variation_san(moves).replace(". ", ".")


def last_move(board: chess.Board) -> str:
    """The move that led to a board, numbered."""
    before = board.copy(stack=1)
    move = before.pop()
    return numbered(before, move)


def is_obvious(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move takes back, takes at least what it can lose, promotes, or is one of few out of check."""
    if move.promotion is not None or (board.is_check() and board.legal_moves.count() <= FEW_EVASIONS):
        return True
    if not board.is_capture(move):
        return False
    if board.move_stack and board.peek().to_square == move.to_square:
        return True
    captured = PIECE_VALUES[board.piece_type_at(move.to_square) or chess.PAWN]
    moved = PIECE_VALUES[board.piece_type_at(move.from_square) or chess.PAWN]
    return captured >= moved or not board.is_attacked_by(not board.turn, move.to_square)


def is_sacrifice(board: chess.Board, line: Sequence[chess.Move]) -> bool:
    """Whether the first move of a line gives at least two pawns' worth that the next four plies do not bring back.

    The reply takes the piece that moved, or one that was not attacked before.
    """
    boards = positions(board.copy(stack=False), line[:6])
    if len(boards) < 5 or not boards[1].is_capture(line[1]):
        return False
    taken = line[1].to_square
    if taken != line[0].to_square and board.is_attacked_by(not board.turn, taken):
        return False
    given = [material_balance(board, board.turn) - material_balance(after, board.turn) for after in boards[1:]]
    # After the opponent's reply, and after the side's own next moves.
    return given[1] >= 2 and min(given[2::2]) >= 2


def material_balance(board: chess.Board, color: chess.Color) -> int:
    """The material of one side minus that of the other, in pawns."""
    return sum(PIECE_VALUES[kind] * _surplus(board, kind, color) for kind in chess.PIECE_TYPES)


def material_words(better: chess.Board, worse: chess.Board, color: chess.Color) -> str:
    """What one side has less in the second position than in the first: `a piece`, or "" for nothing.

    Pieces that both sides have less cancel out, and a knight counts as a bishop. What nobody would add up in his head
    is `material`.
    """
    owed = {kind: _surplus(better, kind, color) - _surplus(worse, kind, color) for kind in chess.PIECE_TYPES}
    if sum(PIECE_VALUES[kind] * count for kind, count in owed.items()) <= 0:
        return ""
    owed[chess.BISHOP] += owed.pop(chess.KNIGHT)
    if owed[chess.ROOK] == 1 and owed[chess.BISHOP] == -1 and owed[chess.QUEEN] == 0:
        pawns = counted_pieces({chess.PAWN: abs(owed[chess.PAWN])})
        return f"the exchange {'and' if owed[chess.PAWN] > 0 else 'for'} {pawns}" if pawns else "the exchange"
    lost, gained = counted_pieces(owed), counted_pieces({kind: -count for kind, count in owed.items()})
    if gained and sum(abs(owed[kind]) for kind in (chess.BISHOP, chess.ROOK, chess.QUEEN)) > MOST_TRADED:
        return "material"
    return (f"{lost} for {gained}" if gained else lost).replace("bishop", "piece")


def _surplus(board: chess.Board, piece_type: chess.PieceType, color: chess.Color) -> int:
    return len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color))


def phase_weight(board: chess.Board) -> int:
    """The game phase of the evaluation: the pieces of both sides, each with its weight."""
    return sum(PHASE_WEIGHTS[piece.piece_type] for piece in board.piece_map().values())
