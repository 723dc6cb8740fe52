# C types of base_board.py.

from evaluation.accumulator cimport Accumulator
from evaluation.bitboards cimport BB, KING, lsb, u64

cdef class BaseBoard:
    cdef readonly int turn
    cdef readonly Accumulator accumulator
    cdef u64[7] by_type
    cdef u64[2] by_colour
    cdef signed char[64] squares

    cpdef int clear(self) except? -1
    cpdef int put(self, int piece, int square) except? -1
    cpdef int remove(self, int piece, int square) except? -1
    cdef int update_king_buckets(self) noexcept nogil
    cpdef int refresh(self) except? -1
