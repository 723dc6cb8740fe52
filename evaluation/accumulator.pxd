# C types of accumulator.py.

cimport cython

from evaluation.bitboards cimport KING, PAWN, ZOBRIST, i64, u64

cdef u64[14] MATERIAL_OF
cdef int[14] PHASE_OF
cdef int[128] TABLE_OF_KING

@cython.final
cdef class Accumulator:
    cdef readonly i64 score                 # packed, White minus Black
    cdef readonly int phase
    cdef readonly u64 pawn_key
    cdef readonly u64 material_key
    cdef readonly int ply
    cdef int black_king_table
    cdef int white_king_table
    cdef i64[14336] piece_square            # 2 * KING_BUCKETS * 896, packed, see Weights.piece_square
    cdef i64[1024] saved_score
    cdef int[1024] saved_phase
    cdef u64[1024] saved_pawn_key
    cdef int[1024] saved_black_king_table
    cdef int[1024] saved_white_king_table
    cdef u64[1024] saved_material_key

    cdef int clear(self) noexcept nogil
    cdef bint set_kings(self, int black_king, int white_king) noexcept nogil
    cdef int add(self, int piece, int square) noexcept nogil
    cdef i64 value(self, int index) noexcept nogil
    cdef int put(self, int piece, int square) noexcept nogil
    cdef int remove(self, int piece, int square) noexcept nogil
    cdef int move(self, int piece, int origin, int target) noexcept nogil
    cdef int save(self, int index) noexcept nogil
    cdef int restore(self, int index) noexcept nogil
