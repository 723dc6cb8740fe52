"""Moves as 16-bit numbers, and the way there and back through python-chess.

Used by both boards, `deepening` and `engine`. Bits 0-5 hold the origin, 6-11 the target, 12-13 the promoted piece type
less two, 14-15 the kind. Castling goes from the king's square to the rook's own, as in Chess960, whatever the dialect
outside. What must stay true: `decode(encode(board, move)) == move` for every legal move in the board's own dialect.
The numbers mean the same in a table entry, in the search and in the picker, which breaks ties by them.
"""

from __future__ import annotations

import chess

NO_MOVE = 0
# The kind of a move, in its two highest bits.
NORMAL, PROMOTION, EN_PASSANT, CASTLING = range(4)
# What a generator is asked for; the two may be added: captures and promotions, and everything else.
NOISY = 1
QUIET = 2
# Instead of an en-passant square when there is none.
NO_SQUARE = 64
# A board's move buffer: 320 moves for each of 136 plies, and a scratch ply at the end; the richest position of sixteen
# pieces a side has 218. The compiled kernel has all these numbers as constants of the C compiler, in generator.pxd.
MOVE_ROOM = 43840
SCRATCH = 43520


def encode(board: chess.Board, move: chess.Move) -> int:
    """The number of a legal move of `board`, castling written either way (e1g1 or e1h1)."""
    origin, target = move.from_square, move.to_square
    if move.promotion:
        return origin | target << 6 | (move.promotion - 2) << 12 | PROMOTION << 14
    if board.is_castling(move):
        ours = board.occupied_co[board.turn]
        if not board.rooks & ours & chess.BB_SQUARES[target]:
            rooks = board.clean_castling_rights() & ours
            target = chess.msb(rooks) if target > origin else chess.lsb(rooks)
        return origin | target << 6 | CASTLING << 14
    if board.is_en_passant(move):
        return origin | target << 6 | EN_PASSANT << 14
    return origin | target << 6


def decode(move: int, chess960: bool) -> chess.Move:
    """The python-chess move of a number other than NO_MOVE; `chess960` writes castling as king takes rook."""
    origin, target, kind = move & 63, move >> 6 & 63, move >> 14
    if kind == PROMOTION:
        return chess.Move(origin, target, promotion=(move >> 12 & 3) + 2)
    if kind == CASTLING and not chess960:
        target = chess.square(6 if target > origin else 2, chess.square_rank(origin))
    return chess.Move(origin, target)
