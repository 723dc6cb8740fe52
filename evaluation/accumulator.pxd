# C types of accumulator.py.

cimport cython

from evaluation.bitboards cimport KING, PAWN, ZOBRIST, i64, u64

cdef int[14] PHASE_OF

@cython.final
cdef class Accumulator:
    cdef readonly i64 score                 # packed, White minus Black
    cdef readonly int phase
    cdef readonly u64 pawn_key
    cdef i64[896] piece_square              # packed, [piece * 64 + square], negative for Black's pieces
    cdef i64[1024] saved_score
    cdef int[1024] saved_phase
    cdef u64[1024] saved_pawn_key

    cdef int clear(self) noexcept nogil
    cdef int put(self, int piece, int square) noexcept nogil
    cdef int remove(self, int piece, int square) noexcept nogil
    cdef int move(self, int piece, int origin, int target) noexcept nogil
    cdef int save(self, int index) noexcept nogil
    cdef int restore(self, int index) noexcept nogil
