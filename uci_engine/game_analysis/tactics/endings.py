"""Motifs of endings and of draws: pawns that run, zugzwang, the opposition, perpetual check, stalemate."""

from __future__ import annotations

import chess

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.tactics.attacks import exchange, gain_of, king_of, with_turn
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import Kind, Motif

# With more moves than these for the side to move, nobody speaks of zugzwang.
MAX_ZUGZWANG_MOVES = 12


def outside_square(line: Line) -> Motif | None:
    """A pawn runs, and the other side, which has only its king, cannot reach the square where it promotes."""
    for ply in line.own_plies():
        board, pawn = line.boards[ply + 1], line.moves[ply].to_square
        king = king_of(board, not line.winner)
        is_bare = board.occupied_co[not line.winner] == chess.BB_SQUARES[king]
        if board.piece_type_at(pawn) != chess.PAWN or not is_bare:
            continue
        goal = chess.square(chess.square_file(pawn), 7 if line.winner else 0)
        is_free = not (chess.between(pawn, goal) | chess.BB_SQUARES[goal]) & board.occupied
        # The king has the move, and may take the queen just after the pawn has promoted.
        if is_free and chess.square_distance(king, goal) > chess.square_distance(pawn, goal) + 1:
            return Motif(Kind.OUTSIDE_SQUARE, ply, line.moves[ply], pawn, (king,), (pawn,), ply)
    return None


def zugzwang(line: Line, until: int) -> Motif | None:
    """Nothing is threatened, but every move of the other side loses something, and something is won until this ply."""
    for ply in line.own_plies():
        board, move = line.boards[ply + 1], line.moves[ply]
        replies = list(board.legal_moves)
        is_quiet = ply + 2 <= until and not board.is_check() and _most_won(board, line.winner) < 1
        if not is_quiet or not 0 < len(replies) <= MAX_ZUGZWANG_MOVES:
            continue
        # What takes as much as it loses is a trade.
        if all(_most_won(board_after(board, [reply]), line.winner) > gain_of(board, reply) for reply in replies):
            return Motif(Kind.ZUGZWANG, ply, move, move.to_square, (king_of(board, not line.winner),), (), until)
    return None


def _most_won(board: chess.Board, color: chess.Color) -> int:
    """What this side wins at most by one move if it is to move: by what it takes or promotes to, or by mate."""
    turned = with_turn(board, color)
    return max((exchange(turned, move) for move in list(turned.legal_moves)), default=0)


def opposition(line: Line) -> Motif | None:
    """With king and pawn against king, a king takes the opposition: the side with the pawn wins by it, the other draws.

    The kings stand on one file with one square between them, and the stronger king just in front of its pawn, which is
    not on the edge. On its sixth rank the stronger king wins without the opposition, too.
    """
    for ply in line.own_plies():
        board, king = line.boards[ply + 1], line.moves[ply].to_square
        if chess.popcount(board.occupied) != 3 or not board.pawns or board.piece_type_at(king) != chess.KING:
            continue
        other = king_of(board, not line.winner)
        (pawn,) = chess.SquareSet(board.pawns)
        stronger = bool(board.color_at(pawn))
        front, step = king_of(board, stronger), 8 if stronger else -8
        rank = chess.square_rank(front) if stronger else 7 - chess.square_rank(front)
        # A weaker king in front of the pawn's king stops it, one behind it does not.
        faces = front + 2 * step in (king, other)
        if front == pawn + step and faces and rank < 5 and chess.square_file(pawn) not in (0, 7):
            return Motif(Kind.OPPOSITION, ply, line.moves[ply], king, (other,), (pawn,), ply)
    return None


def perpetual_check(line: Line) -> Motif | None:
    """The line ends with checks of one side, and a position comes again between them."""
    own = line.own_plies()
    begin = max((ply + 2 for ply in own if not line.boards[ply + 1].is_check()), default=own.start)
    seen = set()
    for last, board in enumerate(line.boards[begin:], start=begin):
        key = board._transposition_key()
        if key in seen:
            king = king_of(line.boards[begin + 1], not line.winner)
            move = line.moves[begin]
            return Motif(Kind.PERPETUAL_CHECK, begin, move, move.to_square, (king,), (), last - 1)
        seen.add(key)
    return None


def stalemate(line: Line) -> Motif | None:
    """The side that is worse is stalemated at the end, or draws by giving away its last piece that can move."""
    own = line.own_plies()
    if not own or not line.end.is_stalemate() or line.end.turn != line.winner:
        return None
    king = king_of(line.end, line.winner)
    return Motif(Kind.STALEMATE, own[-1], line.moves[own[-1]], king, (king,), (), len(line.moves) - 1)
