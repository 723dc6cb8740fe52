# C types of minor_pieces.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    BB, BISHOP, FILES, KNIGHT, LIGHT, PAWN, RANKS, bishop_attacks, distance, forward, front_span, i64, lsb, popcount, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class MinorPieceWeights:
    cdef public i64[16] outpost_by_rank
    cdef public i64[2] reachable_outpost
    cdef public i64[2] minor_behind_pawn
    cdef public i64[16] minor_by_own_king
    cdef public i64[16] minor_by_enemy_king
    cdef public i64[45] bishop_pawns
    cdef public i64[9] bishop_enemy_pawns
    cdef public i64 long_diagonal

cpdef i64 outpost_by_rank(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 reachable_outpost(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 minor_behind_pawn(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 minor_by_own_king(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 minor_by_enemy_king(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 bishop_pawns(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 bishop_enemy_pawns(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 long_diagonal(MinorPieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef u64 _outposts(EvaluationContext context, int us) noexcept nogil
cdef i64 _by_king(i64* table, BaseBoard board, int us, int king) noexcept nogil
cdef i64 _by_colour(i64* table, u64 bishops, u64 pawns, int factor, int offset) noexcept nogil
cdef i64 total(MinorPieceWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
