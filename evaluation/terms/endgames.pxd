# C types of endgames.py.

cimport cython

from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport BISHOP, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, distance, i64, popcount, u64
from evaluation.context cimport EvaluationContext

cdef int FULL_SCALE
cdef int DRAWN_SCALE
cdef int DRAWISH_SCALE
cdef int PURE_OPPOSITE_BISHOPS_SCALE
cdef int OPPOSITE_BISHOPS_SCALE
cdef int MIN_WINNING_MATERIAL
cdef int DRAWISH_LEAD

cdef enum:  # as in endgames.py
    NOTHING_TO_MOP_UP = 0
    ANY_CORNER = 1
    LIGHT_CORNERS = 2
    DARK_CORNERS = 3

@cython.final
cdef class EndgameWeights:
    cdef public i64 mop_up_edge
    cdef public i64 mop_up_near
    cdef public i64 mop_up_corner

cdef int _mop_up(BaseBoard board, int us) noexcept nogil
cpdef i64 mop_up_edge(EndgameWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 mop_up_near(EndgameWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 mop_up_corner(EndgameWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 total(EndgameWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
cpdef int endgame_scale(BaseBoard board, int strong_side) noexcept nogil
cdef int non_pawn_material(BaseBoard board, int us) noexcept nogil
cdef bint only_two_knights(BaseBoard board, int us) noexcept nogil
