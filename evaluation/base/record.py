"""The layout of a training position: 32 bytes, as four words of 64 bits. The engine writes them, programs read them.

It is that of other engines' trainers (Marlinformat): a bitboard of the occupied squares, then for each of them, from a1
to h8, four bits for its piece. Numbers are little-endian.

    bytes   content
    0-7     occupied squares
    8-23    pieces, two a byte, the first in the lower half: type 0 to 5 (pawn to king) or CASTLING_ROOK, and BLACK
    24      en passant square (64: none), and BLACK_TO_MOVE
    25      halfmove clock
    26-27   fullmove number
    28-29   score in centipawns, White's view (signed)
    30      result: 0 Black won, 1 draw, 2 White won
    31      flags

Invariant: the positions of one game stand together, and the first has the flag FIRST.
"""

from __future__ import annotations

# A rook that may castle.
CASTLING_ROOK = 6
# Added to a black piece, and to the en passant square when Black is to move.
BLACK = 8
BLACK_TO_MOVE = 128
MAX_SCORE_CP = 32767
# The flags. The first position that was kept of a game.
FIRST = 1
# The quiescence search finds nothing better than the static evaluation, and the side to move is not in check.
QUIET = 2
# The best move of the search is a capture or a promotion.
CAPTURE = 4
# Not of the game itself, but met by a search of it: the score is 0 until a program gives it one.
AHEAD = 8
