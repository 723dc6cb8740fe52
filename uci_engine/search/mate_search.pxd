# C types of mate_search.py.

cimport cython

from evaluation.bitboards cimport ALL, u64
from uci_engine.board.position cimport Position
from uci_engine.search.history cimport Histories
from uci_engine.search.move_picker cimport MovePicker
from uci_engine.search.search cimport Searcher
from uci_engine.search.stack cimport SearchStack
from uci_engine.search.transposition_table cimport (
    EXACT, LOWER, TranspositionTable, UPPER, entry_bound, entry_depth, entry_move, entry_score,
)

cdef int MATE, INFINITE, NO_SCORE, FIFTY_MOVES_PLIES
cdef u64 MATE_SALT

@cython.final
cdef class MateSearch:
    cdef Searcher searcher
    cdef Position position
    cdef TranspositionTable table
    cdef SearchStack stack
    cdef Histories histories
    cdef MovePicker picker
    cdef u64[256] repeated
    cdef int repeated_count
    cdef u64 salt

    cdef bint _is_third_time(self) noexcept nogil
    cdef int _root(self, int depth) noexcept nogil
    cdef int _search(self, int depth, int alpha, int beta, int ply) noexcept nogil
    cdef int _leaf(self, int ply) noexcept nogil
