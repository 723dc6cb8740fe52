# C types of pawns.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport PAWN, adjacent, file_fill, front_span, i64, lsb, popcount, u64
from evaluation.context cimport EvaluationContext

@cython.final
cdef class PawnWeights:
    cdef public i64 doubled_pawn
    cdef public i64 isolated_pawn
    cdef public i64[8] connected_pawn

cpdef i64 doubled_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 isolated_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 connected_pawn(PawnWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 pawn_king_total(PawnWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
