# C types of king.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    ALL, BB, BETWEEN, BISHOP, BISHOP_PSEUDO_ATTACKS, FILES, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, RANKS,
    ROOK, ROOK_PSEUDO_ATTACKS, adjacent, bishop_attacks, forward, front_span, i64, lsb, msb, popcount, popcount_few,
    rook_attacks, u64,
)
from evaluation.context cimport EvaluationContext

cdef int MIN_ATTACK_UNITS
cdef int KING_ATTACK_SHIFT
cdef int MAX_KING_ATTACK
cdef u64[16] KING_FLANK

@cython.final
cdef class KingWeights:
    cdef public i64[32] king_shelter
    cdef public i64[8] pawn_storm
    cdef public i64[4] safe_check
    cdef public i64[32] pawn_storm_by_file
    cdef public i64[8] blocked_storm
    cdef public i64[8] king_pawn_distance
    cdef public i64[64] king_attack
    # The units of king_attack.
    cdef public int[6] attacker_units
    cdef public int[6] safe_check_units
    cdef public int[6] unsafe_check_units
    cdef public int[8] no_shelter_units
    cdef public int[8] near_storm_units
    cdef public int attacked_twice_units
    cdef public int weak_square_units
    cdef public int pinned_units
    cdef public int flank_attack_units
    cdef public int flank_defence_units
    cdef public int no_queen_units

cdef u64 _shelter_area(int king, int us) noexcept nogil
cdef int _nearest_rank(u64 pawns, int us) noexcept nogil
cdef int _shelter_file(int king) noexcept nogil
cpdef i64 king_shelter(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_storm(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 safe_check(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 pawn_storm_by_file(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 blocked_storm(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 king_pawn_distance(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 king_attack(KingWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef int _king_attack_units(
    KingWeights weights, EvaluationContext context, BaseBoard board, int us, int them
) noexcept nogil
cdef i64 pawn_king_total(KingWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
cdef i64 total(KingWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
