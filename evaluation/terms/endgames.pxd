# C types of endgames.py.

cimport cython

from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport (
    BB, BISHOP, FILES, KING, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, distance, i64, lsb, popcount, popcount_few, u64,
)
from evaluation.context cimport EvaluationContext

cdef int FULL_PHASE
cdef int FULL_SCALE
cdef int DRAWN_SCALE
cdef int DRAWISH_SCALE
cdef int MIN_WINNING_MATERIAL
cdef int DRAWISH_LEAD
cdef int[72] ENDGAME_SCALES

cdef enum:  # as in endgames.py
    NOTHING_TO_MOP_UP = 0
    ANY_CORNER = 1
    LIGHT_CORNERS = 2
    DARK_CORNERS = 3

cdef enum:  # as in endgames.py
    PAWNS = 0
    MINORS = 1
    OPPOSITE_BISHOPS = 2
    OPPOSITE_BISHOPS_AND_OTHERS = 3
    ROOKS = 4
    ROOKS_AND_MINORS = 5
    QUEENS = 6
    EQUAL = 7
    UNEQUAL = 8

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
cpdef int ending(BaseBoard board) noexcept nogil
cdef bint _wrong_bishop(BaseBoard board, int us) noexcept nogil
cdef int non_pawn_material(BaseBoard board, int us) noexcept nogil
cdef bint only_two_knights(BaseBoard board, int us) noexcept nogil
