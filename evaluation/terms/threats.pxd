# C types of threats.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    ALL, BB, BISHOP, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, RANKS, ROOK, bishop_attacks, forward, i64,
    lsb, pawn_attacks, popcount, rook_attacks, u64,
)
from evaluation.context cimport EvaluationContext

@cython.final
cdef class ThreatWeights:
    cdef public i64 threat_by_pawn
    cdef public i64 threat_by_push
    cdef public i64[2] threat_by_minor
    cdef public i64[2] threat_by_rook
    cdef public i64 hanging
    cdef public i64[10] minor_threat
    cdef public i64[10] rook_threat
    cdef public i64[10] queen_threat
    cdef public i64[5] king_threat
    cdef public i64[5] safe_pawn_threat
    cdef public i64[5] push_threat
    cdef public i64[5] hanging_piece
    cdef public i64[5] defended_once
    cdef public i64 restricted_square
    cdef public i64[3] queen_attackable

cpdef i64 threat_by_pawn(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_push(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_minor(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 threat_by_rook(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 hanging(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 minor_threat(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 rook_threat(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 queen_threat(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 king_threat(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 safe_pawn_threat(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 push_threat(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 hanging_piece(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 defended_once(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 restricted_square(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 queen_attackable(ThreatWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef u64 _safe_pushes(EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef u64 _strongly_defended(EvaluationContext context, int us) noexcept nogil
cdef i64 _by_victim(i64* table, BaseBoard board, int us, u64 targets) noexcept nogil
cdef i64 _by_victim_and_defence(
    i64* table, EvaluationContext context, BaseBoard board, int us, u64 targets
) noexcept nogil
cdef i64 total(ThreatWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
