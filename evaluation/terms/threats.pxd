# C types of threats.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    ALL, BISHOP, KNIGHT, PAWN, QUEEN, RANKS, ROOK, forward, i64, pawn_attacks, popcount, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class ThreatWeights:
    cdef public i64 threat_by_pawn
    cdef public i64 threat_by_push
    cdef public i64[2] threat_by_minor
    cdef public i64[2] threat_by_rook
    cdef public i64 hanging

cpdef i64 threat_by_pawn(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_push(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_minor(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_rook(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 hanging(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 total(ThreatWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
