# C types of king.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    ALL, BB, BISHOP, FILES, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, ROOK, adjacent, bishop_attacks, front_span, i64, lsb, msb,
    popcount, rook_attacks, u64,
)
from evaluation.context cimport EvaluationContext

cdef int MAX_ATTACK_UNITS

@cython.final
cdef class KingWeights:
    cdef public i64[32] king_shelter
    cdef public i64[8] pawn_storm
    cdef public i64[24] king_danger
    cdef public i64[4] safe_check

cdef u64 _shelter_area(int king, int us) noexcept nogil
cdef int _nearest_rank(u64 pawns, int us) noexcept nogil
cdef int _shelter_file(int king) noexcept nogil
cpdef i64 king_shelter(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_storm(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 king_danger(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 safe_check(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 pawn_king_total(KingWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
cdef i64 total(KingWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
