# C types of worker.py.

cimport cython

from uci_engine.search.search cimport Searcher

cdef int INFINITE, MATE_BOUND, MAX_PLY, ASPIRATION_DEPTH, MAX_ASPIRATION_WINDOW_CP
cdef int FAILED_HIGH, LINE_SEARCHED, DEPTH_SEARCHED

@cython.final
cdef class Worker:
    cdef readonly Searcher searcher
    cdef public object manager
    cdef object error                   # the exception that the manager raised

    # The search in progress
    cdef readonly int root_depth
    cdef readonly int pv_index          # MultiPV index, from 0
    cdef readonly int alpha
    cdef readonly int beta
    cdef int half_window
    cdef int first_line
    cdef int end_line
    cdef int skip_size
    cdef int skip_phase
    cdef int[256] pv_scores
    cdef int[256] pv_ends

    # The last result
    cdef readonly bint has_result       # the search of this line and depth has a result
    cdef readonly int depth
    cdef readonly int score
    cdef readonly int seldepth
    cdef readonly bint is_lower_bound
    cdef int pv_length
    cdef int[128] pv_moves

    cdef int _iterate(self, int first_depth, int last_depth) noexcept nogil
    cdef bint _aspirate(self, int depth, int first, int end, int score, int half_window_cp, bint notify) noexcept nogil
    cpdef int open_window(self, int score, int half_window_cp) noexcept nogil
    cpdef int widen_window(self, int score) noexcept nogil
    cdef int _save_result(self, int depth, int score) noexcept nogil
    cdef bint _notify(self, int event, bint finished) noexcept with gil
