# C types of pawn_pairs.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport PAWN, flip_vertical, i64, lsb, u64
from evaluation.context cimport EvaluationContext

@cython.final
cdef class PawnPairWeights:
    cdef public i64[4096] pawn_pair
    cdef public i64[4096] pawn_against_pawn
    cdef public i64[4096] pawn_by_own_king
    cdef public i64[4096] pawn_by_enemy_king

cpdef i64 pawn_pair(PawnPairWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_against_pawn(PawnPairWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_by_own_king(PawnPairWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_by_enemy_king(PawnPairWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 pawn_king_total(PawnPairWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
