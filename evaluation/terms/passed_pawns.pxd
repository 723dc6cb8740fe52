# C types of passed_pawns.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    BB, PAWN, RANKS, ROOK, adjacent, distance, forward, front_span, i64, lsb, rook_attacks, sum_by_rank, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class PassedPawnWeights:
    cdef public i64[8] passed_pawn
    cdef public i64[8] passed_pawn_own_king
    cdef public i64[8] passed_pawn_enemy_king
    cdef public i64[8] passed_pawn_blocked
    cdef public i64[8] passed_pawn_free
    cdef public i64[8] protected_passed_pawn
    cdef public i64[8] connected_passed_pawn
    cdef public i64[8] passed_pawn_enemy_ahead
    cdef public i64[32] passed_pawn_path
    cdef public i64[16] rook_behind_passed_pawn

cdef u64 _advanced(EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn_own_king(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn_enemy_king(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn_blocked(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn_free(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 protected_passed_pawn(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 connected_passed_pawn(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn_enemy_ahead(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 passed_pawn_path(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 rook_behind_passed_pawn(PassedPawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 pawn_king_total(PassedPawnWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
cdef i64 total(PassedPawnWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
