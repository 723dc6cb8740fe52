# C types of pieces.py.

cimport cython

from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    BISHOP, FILES, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, RANKS, ROOK, bishop_attacks, front_span, i64, lsb, popcount,
    popcount_few, rook_attacks, u64,
)
from evaluation.context cimport EvaluationContext

cdef int[6] ATTACK_UNITS
cdef int MIN_SPACE_PHASE

@cython.final
cdef class PieceWeights:
    cdef public i64[9] knight_mobility
    cdef public i64[14] bishop_mobility
    cdef public i64[15] rook_mobility
    cdef public i64[28] queen_mobility
    cdef public i64 bishop_pair
    cdef public i64 rook_open_file
    cdef public i64 rook_half_open_file
    cdef public i64[2] safe_mobility
    cdef public i64[2] space

cdef i64 _mobility(PieceWeights weights, EvaluationContext context, BaseBoard board, int us, int piece_type) noexcept nogil
cpdef i64 knight_mobility(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 bishop_mobility(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 rook_mobility(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 queen_mobility(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 bishop_pair(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 rook_open_file(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 rook_half_open_file(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 safe_mobility(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 space(PieceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 total(PieceWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
