# C types of imbalance.py.

cimport cython

from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport PAWN, QUEEN, i64, u64
from evaluation.context cimport EvaluationContext

@cython.final
cdef class ImbalanceWeights:
    cdef public i64[14] own_pair
    cdef public i64[10] enemy_pair

cpdef i64 own_pair(ImbalanceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cpdef i64 enemy_pair(ImbalanceWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef int _count(BaseBoard board, int piece_type, int us) noexcept nogil
cdef i64 total(ImbalanceWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
