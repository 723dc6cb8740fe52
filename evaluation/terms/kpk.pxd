# C types of kpk.py.

cimport cython

from evaluation.bitboards cimport ALL, BB, KING, KING_ATTACKS, PAWN, PAWN_ATTACKS, adjacent, forward, lsb, u64
from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard

cdef int PAWNS

cdef enum:
    NO_RESULT = 0
    DRAWN = 1
    WHITE_WINS = 2
    BLACK_WINS = 3

cdef u64 neighbours(u64 squares) noexcept nogil

@cython.final
cdef class KpkBitbase:
    cdef bint solved
    cdef u64[1536] wins_to_move              # [pawn * 64 + king]: the pawn's side is to move
    cdef u64[1536] wins_not_to_move              # the other side is

    cdef int _solve(self) noexcept nogil
    cdef u64 _wins_by_push(self, int pawn, int square, int king) noexcept nogil
    cpdef int result(self, BaseBoard position) noexcept nogil
    cpdef bint wins(self, BaseBoard position) noexcept nogil
