# C types of pawns.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    ALL, FILES, LIGHT, PAWN, RANKS, adjacent, file_fill, forward, front_span, i64, lsb, pawn_attacks, popcount,
    popcount_few, sum_by_rank,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class PawnWeights:
    cdef public i64 doubled_pawn
    cdef public i64 isolated_pawn
    cdef public i64[8] connected_pawn
    cdef public i64 doubled_isolated_pawn
    cdef public i64[4] isolated_pawn_open
    cdef public i64[16] backward_pawn
    cdef public i64[8] connected_pawn_opposed
    cdef public i64[8] phalanx_pawn
    cdef public i64[8] doubly_supported_pawn
    cdef public i64[8] pawn_lever
    cdef public i64[8] blocked_pawn
    cdef public i64 pawn_island

cpdef i64 doubled_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 isolated_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 connected_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 doubled_isolated_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 isolated_pawn_open(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 backward_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 connected_pawn_opposed(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 phalanx_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 doubly_supported_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_lever(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 blocked_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_island(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 pawn_king_total(PawnWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
