# C types of checksum.py.

cimport cython

from evaluation.bitboards cimport ALL, i64, u64
from uci_engine.tablebases.syzygy_tables cimport Bytes

cdef u64 K0, K1, K3, MULTIPLIER
cdef int STEP, ROUND
cdef int[5] TURNS
cdef u64[2048] CRC

cdef u64 turned(u64 word, int places) noexcept nogil
cdef u64 shifted(u64 word) noexcept nogil
cdef u64 joined(u64 first, u64 second) noexcept nogil
cdef u64 crc_of(u64 crc, u64 word) noexcept nogil

@cython.final
cdef class Checksum:
    cdef u64 address
    cdef object data
    cdef u64[6] lanes
    cdef u64[5] sums
    cdef u64[4] result

    cdef u64 _word(self, i64 place) noexcept nogil
    cdef int _step(self, i64 place, bint plain) noexcept nogil
    cdef int _run(self, i64 size, u64 seed) noexcept nogil
    cdef int _finish(self) noexcept nogil
