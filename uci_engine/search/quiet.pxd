# C types of quiet.py.

cimport cython

from uci_engine.search.search cimport Searcher

cdef int NORMAL, INFINITE, MATE_BOUND, MAX_PLY, DEEPEST, WIDEST_WINDOW_CP

@cython.final
cdef class QuietSearch:
    cdef readonly Searcher searcher
    cdef readonly int depth
    cdef readonly int score
    cdef readonly int seldepth
    cdef readonly bint is_bound         # the score is at least this
    cdef int first
    cdef int length
    cdef int[128] moves

    cdef int _deepen(self, int first_depth, int stretch, int shift) noexcept nogil
    cdef bint _search(self, int depth) noexcept nogil
    cdef int _keep(self, int depth, int score, bint is_bound) noexcept nogil
