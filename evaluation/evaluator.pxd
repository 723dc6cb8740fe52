# C types of evaluator.py.

cimport cython

from evaluation.bitboards cimport BISHOP, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, i64, popcount, u64
from evaluation.features cimport Features
from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.kpk cimport BLACK_WINS, DRAWN, NO_VERDICT, WHITE_WINS, PawnEnding

cdef int STATIC_LIMIT
cdef int FULL_PHASE
cdef int FULL_SCALE
cdef int DRAWN_SCALE
cdef int DRAWISH_SCALE
cdef int PURE_OPPOSITE_BISHOPS_SCALE
cdef int OPPOSITE_BISHOPS_SCALE
cdef int LEAST_WINNING_MATERIAL
cdef int DRAWISH_LEAD
cdef int WON_KPK_CP
cdef i64 HALF
cdef i64 MASK
cdef int PAWN_ENTRIES

@cython.final
cdef class Evaluator:
    cdef readonly Features features
    cdef readonly PawnEnding kpk
    cdef u64[32768] remembered      # 4 * PAWN_ENTRIES

    cpdef int evaluate(self, BaseBoard p) noexcept nogil
    cpdef bint is_known_draw(self, BaseBoard p) noexcept nogil
    cpdef int with_verdict(self, int white_score, int verdict) noexcept nogil
    cpdef i64 pawn_score(self, BaseBoard p) noexcept nogil
    cpdef int taper(self, BaseBoard p, i64 packed) noexcept nogil
    cpdef int endgame_scale(self, BaseBoard p, int strong) noexcept nogil
    cdef int non_pawn_material(self, BaseBoard p, int us) noexcept nogil
    cdef bint only_two_knights(self, BaseBoard p, int us) noexcept nogil
