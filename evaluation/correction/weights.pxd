# C types of weights.py.

cimport cython

from evaluation.correction.shape cimport BUCKETS, INPUTS, UNITS

cdef int NO_INPUT

@cython.final
cdef class CorrectionWeights:
    # 8 bits, as in the file: fewer bytes to read from memory.
    cdef signed char[1573120] hidden    # (INPUTS + 1) * UNITS
    cdef short[UNITS] hidden_bias
    cdef short[4096] output             # BUCKETS * 2 * UNITS
    cdef int[BUCKETS] output_bias

    cdef int _take(self, bytes hidden, bytes hidden_bias, bytes output) except? -1

cdef int signed(int number) noexcept nogil
