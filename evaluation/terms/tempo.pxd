# C types of tempo.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport i64
from evaluation.context cimport EvaluationContext

@cython.final
cdef class TempoWeights:
    cdef public i64 tempo

cpdef i64 tempo(TempoWeights weights, EvaluationContext context, BaseBoard board, int us) noexcept nogil
cdef i64 total(TempoWeights weights, EvaluationContext context, BaseBoard board) noexcept nogil
