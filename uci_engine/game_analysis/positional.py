"""What happens in a line where nothing is won: kings, castling, the two bishops, pieces driven back or let in.

A detector gets a `Line`, and returns what happens there for the side that profits, or None. It is asked of both lines,
and what only one has is told: in that of the move played the opponent profits, in the better one the player.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise

import chess

from uci_engine.game_analysis.tactics import Kind, Line, Motif
from uci_engine.game_analysis.thresholds import OPEN_RANK, SOON


class Deed(Enum):
    """The kind of a cause by which nothing is won."""

    KING_DRIVEN = "king driven out"
    CASTLING_LOST = "castling lost"
    BISHOP_PAIR = "bishop pair given"
    PIECE_DRIVEN = "piece driven back"
    GONE_BACK = "piece gone back"


def _deed(line: Line, ply: int, target: chess.Square, *others: chess.Square) -> Motif:
    """What the move at this ply does, and the squares that it is about."""
    move = line.moves[ply]
    return Motif(Kind.DEED, ply, move, move.to_square, (target,), others)


def _rank(square: chess.Square, color: chess.Color) -> int:
    return chess.square_rank(square if color else chess.square_mirror(square))


def driven_king(line: Line) -> Motif | None:
    """Checks soon drive the king out into the open, or from its right to castle, while both sides have queens."""
    start, loser, first = line.boards[0], not line.winner, line.own_plies().start
    steps = [
        ply
        for ply in range(first + 1, min(first + SOON, len(line.moves)), 2)
        if line.boards[ply].is_check() and line.moves[ply].from_square == line.boards[ply].king(loser)
    ]
    has_queens = all(start.pieces(chess.QUEEN, color) for color in chess.COLORS)
    is_capture = any(line.boards[ply - 1].is_capture(line.moves[ply - 1]) for ply in steps)
    if not steps or not has_queens or is_capture or not line.end.pieces(chess.QUEEN, line.winner):
        return None
    square = line.moves[steps[-1]].to_square
    is_open = line.boards[steps[0]].has_castling_rights(loser) or _rank(square, loser) >= OPEN_RANK
    return _deed(line, steps[-1] - 1, square) if is_open and square != start.king(loser) else None


def castling_lost(line: Line) -> Motif | None:
    """A move of the side that suffers soon ends its right to castle, and does not castle."""
    loser = not line.winner
    for ply, (board, after) in enumerate(pairwise(line.boards[: 2 * SOON])):
        if board.turn == loser and board.has_castling_rights(loser) and not after.has_castling_rights(loser):
            move = line.moves[ply]
            return None if board.is_castling(move) else _deed(line, ply, move.to_square)
    return None


def bishop_pair(line: Line) -> Motif | None:
    """The first move gives one of two bishops for a knight, or soon a knight takes it; the other side keeps both."""
    loser = not line.winner
    if min(len(line.boards[0].pieces(chess.BISHOP, loser)), len(line.end.pieces(chess.BISHOP, line.winner))) < 2:
        return None
    for ply, (board, move) in enumerate(zip(line.boards, line.moves[: SOON + 2], strict=False)):
        kinds = [board.piece_type_at(square) for square in (move.from_square, move.to_square)]
        given = [chess.BISHOP, chess.KNIGHT] if board.turn == loser else [chess.KNIGHT, chess.BISHOP]
        is_forced = ply == 0 or board.turn != loser
        if kinds == given and is_forced and line.is_taken_back(ply):
            return _deed(line, ply, move.to_square)
    return None


def driven_back(line: Line) -> Motif | None:
    """The first move attacks a piece, which goes back, a queen or for two ranks, and stays there."""
    ply = line.own_plies().start
    if len(line.moves) < ply + 2:
        return None
    (before, after), (move, answer) = line.boards[ply : ply + 2], line.moves[ply : ply + 2]
    loser, square, to = after.turn, answer.from_square, answer.to_square
    is_attacked = square in after.attacks(move.to_square) and square not in before.attacks(move.from_square)
    is_piece = after.piece_type_at(square) not in (chess.PAWN, chess.KING)
    least = 1 if after.piece_type_at(square) == chess.QUEEN else 2
    is_back = _rank(square, loser) - _rank(to, loser) >= least and line.end.piece_at(to) == after.piece_at(square)
    is_quiet = not (before.is_capture(move) or after.is_capture(answer) or after.is_check())
    return _deed(line, ply, to, square) if is_attacked and is_piece and is_back and is_quiet else None


def gone_back(line: Line) -> Motif | None:
    """The piece that moved first, of the side that suffers, soon goes back for nothing."""
    board, moved = line.boards[0], line.moves[0]
    back = chess.Move(moved.to_square, moved.from_square)
    ply = next((ply for ply in (2, SOON) if line.moves[ply : ply + 1] == [back]), 0)
    is_piece = board.piece_type_at(moved.from_square) not in (chess.PAWN, chess.KING)
    is_even = line.balance(ply + 1) == line.balance(0)
    return _deed(line, ply, back.to_square) if ply and is_piece and is_even and not board.gives_check(moved) else None


# In the order in which they are asked. True: the better line has it, and not that of the move played.
DETECTORS = (
    (Deed.KING_DRIVEN, driven_king, False),
    (Deed.CASTLING_LOST, castling_lost, False),
    (Deed.KING_DRIVEN, driven_king, True),
    (Deed.BISHOP_PAIR, bishop_pair, False),
    (Deed.PIECE_DRIVEN, driven_back, False),
    (Deed.GONE_BACK, gone_back, False),
)
