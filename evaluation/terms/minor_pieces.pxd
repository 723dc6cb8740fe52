# C types of minor_pieces.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    BB, BISHOP, KNIGHT, LIGHT, PAWN, RANKS, forward, front_span, i64, lsb, popcount_few, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class MinorPieceWeights:
    cdef public i64[16] outpost
    cdef public i64[2] reachable_outpost
    cdef public i64[2] minor_behind_pawn
    cdef public i64[45] bishop_pawns
    cdef public i64[9] bishop_enemy_pawns

cpdef i64 outpost(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 reachable_outpost(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 minor_behind_pawn(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 bishop_pawns(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 bishop_enemy_pawns(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef u64 _outposts(EvaluationContext context, int us) noexcept nogil
cdef i64 total(MinorPieceWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
