# C types of transposition_table.py.

cimport cython
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from evaluation.bitboards cimport i64, u64

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define secateur_prefetch(address) __builtin_prefetch(address)
    #else
    #define secateur_prefetch(address) ((void)0)
    #endif
    """
    void fetch "secateur_prefetch" (void* address) noexcept nogil

cdef extern from *:
    """
    #if defined(__linux__)
    #include <sys/mman.h>
    /* Advice only: a kernel without large pages ignores it. */
    #define secateur_advise_large_pages(start, size) ((void)madvise((void*)(start), (size), MADV_HUGEPAGE))
    #else
    #define secateur_advise_large_pages(start, size) ((void)0)
    #endif
    """
    void advise_large_pages "secateur_advise_large_pages" (void* start, size_t size) noexcept nogil

cdef u64 LOW_HALF
cdef int TT_AGE_PLIES, TT_REPLACE_PLIES
cdef enum:
    UPPER = 1
    LOWER = 2
    EXACT = 3
    AGE_SHIFT = 58
    AGE_MASK = 63
    DEPTH_OFFSET = 8
    MAX_VALUE = 100000

cdef inline int entry_move(u64 entry) noexcept nogil:
    return entry & 0xFFFF

cdef inline int entry_score(u64 entry) noexcept nogil:
    return <int>((entry >> 16) & 0xFFFF) - 32768

cdef inline int entry_eval(u64 entry) noexcept nogil:
    return <int>((entry >> 32) & 0xFFFF) - 32768

cdef inline int entry_depth(u64 entry) noexcept nogil:
    return <int>((entry >> 48) & 255) - DEPTH_OFFSET

cdef inline int entry_bound(u64 entry) noexcept nogil:
    return (entry >> 56) & 3

@cython.final
cdef class TranspositionTable:
    cdef void* block
    cdef volatile u64* words            # shared by all threads without locks
    cdef u64 buckets
    cdef u64 age
    cdef readonly i64 megabytes

    cdef u64 _start(self, u64 key) noexcept nogil
    cpdef u64 probe(self, u64 key) noexcept nogil
    cpdef int store(self, u64 key, int move, int score, int raw_eval, int depth, int bound) noexcept nogil
    cpdef int prefetch(self, u64 key) noexcept nogil
