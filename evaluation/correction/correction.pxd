# C types of correction.py.

cimport cython

from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport KING, i64, lsb, popcount, u64
from evaluation.correction.shape cimport (
    INPUTS, MAX_CORRECTION_CP, MAX_SUM, MIN_PIECES, OUTPUT_SHIFT, PIECE_SQUARES, PIECES_PER_BUCKET, SQUARE_SHIFT,
    UNITS,
)
from evaluation.correction.weights cimport CorrectionWeights

cdef enum:
    SLOTS = 128

cdef int BIASES
cdef int NO_INPUT
cdef int[28] ROWS_OF
cdef int[64] FIRST_ROW

# In 16 bits with a sign throughout: so the C compiler finds products of 16 bits to add up.
cdef inline short activation(short total) noexcept nogil:
    cdef short cut = 0 if total < 0 else MAX_SUM if total > MAX_SUM else total
    return <short>(cut * cut) >> SQUARE_SHIFT

@cython.final
cdef class Correction:
    cdef readonly CorrectionWeights weights
    cdef short[65792] sums              # [(2 * slot + colour of the view) * UNITS + unit], then the biases
    cdef u64[1024] sets                 # [8 * slot]: white pieces; [8 * slot + piece type]: those of both colours
    cdef signed char[8192] squares      # [64 * slot + square]
    cdef int[256] views                 # [2 * slot + colour of the view]: orientation and first row, -1 for an empty slot
    cdef int[64] added                  # rows
    cdef int[64] removed

    cdef int _clear(self) noexcept nogil
    cpdef int of(self, BaseBoard board) noexcept nogil
    cdef u64 _changed(self, BaseBoard board, int slot) noexcept nogil
    cdef int _update(self, BaseBoard board, int slot) noexcept nogil
    cdef int _add_up(self, i64 base, i64 target, int added, int removed) noexcept nogil
    cdef int _output(self, i64 ours, i64 theirs, int bucket) noexcept nogil
