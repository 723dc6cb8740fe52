# C types of major_pieces.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    BETWEEN, BISHOP, BISHOP_PSEUDO_ATTACKS, KING, PAWN, QUEEN, RANKS, ROOK, ROOK_PSEUDO_ATTACKS, front_span, i64, lsb,
    popcount_few, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class MajorPieceWeights:
    cdef public i64 rook_on_seventh
    cdef public i64 trapped_rook
    cdef public i64 queen_infiltration
    cdef public i64 weak_queen

cpdef i64 rook_on_seventh(MajorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 trapped_rook(MajorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 queen_infiltration(MajorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 weak_queen(MajorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 total(MajorPieceWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
