# C types of worker.py.

cimport cython

from uci_engine.search.search cimport Searcher

cdef int INFINITE, MATE_BOUND, MAX_PLY, ASPIRATION_DEPTH, MAX_ASPIRATION_WINDOW_CP

@cython.final
cdef class Worker:
    cdef readonly Searcher searcher

    # The line of MultiPV in search
    cdef int line_depth
    cdef int pv_index
    cdef readonly int alpha
    cdef readonly int beta
    cdef int half_window
    cdef readonly bint failed_high
    cdef readonly bint finished

    # The last result
    cdef readonly bint has_result       # of this line and depth
    cdef readonly int depth
    cdef readonly int score
    cdef readonly int seldepth
    cdef readonly bint is_lower_bound
    cdef int pv_length
    cdef int[128] pv_moves

    cdef int _iterate(self, int first_depth, int last_depth, int pv_index, int skip_size, int skip_phase) noexcept nogil
    cdef bint _search_line(self, int depth, int pv_index, int end, int score, int half_window_cp) noexcept nogil
    cdef int _begin_line(self, int depth, int pv_index, int end, int score, int half_window_cp) noexcept nogil
    cdef bint _search_window(self) noexcept nogil
    cdef int _half_window(self, int depth) noexcept nogil
    cpdef int open_window(self, int score, int half_window_cp) noexcept nogil
    cpdef int widen_window(self, int score) noexcept nogil
    cdef int _save_result(self, int score) noexcept nogil
