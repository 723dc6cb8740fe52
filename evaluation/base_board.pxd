# C types of base_board.py.

from evaluation.bitboards cimport BB, KING, PAWN, ZOBRIST, u64

cdef class BaseBoard:
    cdef readonly int turn
    cdef readonly int scores            # packed middlegame and endgame, White minus Black
    cdef readonly int phase
    cdef readonly u64 pawn_key
    cdef u64[7] by_type
    cdef u64[2] by_colour
    cdef signed char[64] squares
    cdef int[1024] piece_square         # packed, [code * 64 + square], negative for Black's pieces

    cpdef int clear(self) except? -1
    cpdef int put(self, int code, int square) except? -1
