"""Motifs of endings and of draws: pawns that run, zugzwang, the opposition, perpetual check, stalemate."""

from __future__ import annotations

import chess

from uci_engine.game_analysis.tactics.attacks import exchange, mating_move, winning_captures, with_turn
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import Kind, Motif

# With more moves than these for the side to move, nobody speaks of zugzwang.
MAX_ZUGZWANG_MOVES = 12


def outside_square(line: Line) -> Motif | None:
    """A pawn runs, and the other side, which has only its king, cannot reach the square where it promotes."""
    for ply in line.own_plies():
        board, pawn = line.boards[ply + 1], line.moves[ply].to_square
        king = board.king(not line.winner)
        assert king is not None
        is_bare = board.occupied_co[not line.winner] == chess.BB_SQUARES[king]
        if board.piece_type_at(pawn) != chess.PAWN or board.is_check() or not is_bare:
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
        if ply + 2 > until:
            return None
        board = line.boards[ply + 1]
        moves = list(board.legal_moves)
        if board.is_check() or not 0 < len(moves) <= MAX_ZUGZWANG_MOVES or _wins_something(board, line.winner):
            continue
        position = board.copy(stack=False)
        if all(_loses_by(position, move, line.winner) for move in moves):
            king = board.king(not line.winner)
            assert king is not None
            return Motif(Kind.ZUGZWANG, ply, line.moves[ply], line.moves[ply].to_square, (king,), (), until)
    return None


def _loses_by(position: chess.Board, move: chess.Move, winner: chess.Color) -> bool:
    if exchange(position, move) > 0:
        return False
    position.push(move)
    loses = _wins_something(position, winner)
    position.pop()
    return loses


def _wins_something(board: chess.Board, color: chess.Color) -> bool:
    """Whether this side, if it is to move, takes or promotes at a profit, or mates."""
    if winning_captures(board, color) or mating_move(board, color):
        return True
    turned = with_turn(board, color)
    return any(move.promotion and exchange(turned, move) > 0 for move in list(turned.legal_moves))


def opposition(line: Line) -> Motif | None:
    """With king and pawn against king, a king takes the opposition: the side with the pawn wins by it, the other draws.

    The kings stand on one file with one square between them, and the stronger king just in front of its pawn, which is
    not on the edge. On its sixth rank the stronger king wins without the opposition, too.
    """
    for ply in line.own_plies():
        board, king = line.boards[ply + 1], line.moves[ply].to_square
        if chess.popcount(board.occupied) != 3 or not board.pawns or board.piece_type_at(king) != chess.KING:
            continue
        other = board.king(not line.winner)
        (pawn,) = chess.SquareSet(board.pawns)
        stronger = bool(board.color_at(pawn))
        front = board.king(stronger)
        assert other is not None
        assert front is not None
        step = 8 if stronger else -8
        rank = chess.square_rank(front) if stronger else 7 - chess.square_rank(front)
        is_file = chess.square_file(king) == chess.square_file(other)
        if not is_file or chess.square_distance(king, other) != 2 or chess.square_file(pawn) in (0, 7):
            continue
        # A weaker king in front of the pawn's king stops it, one behind it does not.
        faces = (front + 2 * step) in (king, other)
        if front == pawn + step and faces and rank < 5:
            return Motif(Kind.OPPOSITION, ply, line.moves[ply], king, (other,), (pawn,), ply)
    return None


def perpetual_check(line: Line) -> Motif | None:
    """A position comes again, and every move of one side between the two is a check."""
    own = line.own_plies()
    for last, board in enumerate(line.boards):
        for first in range(last - 4, -1, -2):
            if line.boards[first]._transposition_key() != board._transposition_key():
                continue
            checks = [ply for ply in own if first <= ply < last]
            if not all(line.boards[ply + 1].is_check() for ply in checks):
                continue
            begin = checks[0]
            while begin - 2 in own and line.boards[begin - 1].is_check():
                begin -= 2
            king = line.boards[begin + 1].king(not line.winner)
            assert king is not None
            move = line.moves[begin]
            return Motif(Kind.PERPETUAL_CHECK, begin, move, move.to_square, (king,), (), last - 1)
    return None


def stalemate(line: Line) -> Motif | None:
    """The side that is worse is stalemated at the end, or draws by giving away its last piece that can move."""
    king = line.end.king(line.winner)
    own = line.own_plies()
    if not line.end.is_stalemate() or line.end.turn != line.winner or king is None or not len(own):
        return None
    return Motif(Kind.STALEMATE, own[-1], line.moves[own[-1]], king, (king,), (), len(line.moves) - 1)
