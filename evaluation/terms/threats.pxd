# C types of threats.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    ALL, BB, BISHOP, BISHOP_PSEUDO_ATTACKS, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, RANKS, ROOK,
    ROOK_PSEUDO_ATTACKS, bishop_attacks, forward, i64, lsb, pawn_attacks, popcount, popcount_few, rook_attacks, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class ThreatWeights:
    cdef public i64[10] threat_by_pawn
    cdef public i64[6] threat_by_push
    cdef public i64[10] threat_by_minor
    cdef public i64[10] threat_by_rook
    cdef public i64[5] threat_by_king
    cdef public i64 hanging
    cdef public i64 restricted_square
    cdef public i64[3] queen_attackable

cpdef i64 threat_by_pawn(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_push(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_minor(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_rook(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_king(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 hanging(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 restricted_square(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 queen_attackable(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef u64 _strongly_defended(EvaluationContext context, int us) noexcept nogil
cdef i64 _by_victim(i64* table, BaseBoard board, u64 targets) noexcept nogil
cdef i64 _by_victim_and_defence(i64* table, BaseBoard board, u64 targets, u64 second) noexcept nogil
cdef i64 total(ThreatWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
