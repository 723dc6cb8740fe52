# C types of history.py.

cimport cython

from evaluation.bitboards cimport BB
from uci_engine.board.moves cimport EN_PASSANT, from_square, move_type, to_square
from uci_engine.board.position cimport Position
from uci_engine.search.stack cimport MAX_CAPTURES, MAX_QUIETS, PLIES_BACK, SearchStack

cdef enum:
    HISTORY_SHIFT = 14
    CONTINUATION_SIZE = 1 << 19
    PAWN_SIZE = 1 << 19

@cython.final
cdef class Histories:
    cdef Position position
    cdef SearchStack stack
    cdef int[32768] butterfly           # [colour][to attacked][from attacked][to][from]
    cdef int[8192] capture              # [piece * 512 + to * 8 + captured piece type]
    cdef short[1048576] continuation    # [table][colour][piece type, to of the earlier move][piece type, to]
    cdef short[524288] pawn             # [pawn key][colour][piece type, to]
    cdef int[256] quiet_scores          # the results of `score_quiets`

    cpdef int quiet_history(self, int ply, int move) noexcept nogil
    cdef int score_quiets(self, int ply, int start, int end) noexcept nogil
    cpdef int capture_history(self, int move) noexcept nogil
    cpdef int update_quiet(self, int ply, int move, int bonus) noexcept nogil
    cpdef int update_previous_move(self, int ply, int bonus) noexcept nogil
    cdef int update_previous_in_butterfly(self, int ply, int bonus) noexcept nogil
    cpdef int update_capture(self, int move, int bonus) noexcept nogil
    cdef int update_after_cutoff(self, int ply, int move, bint is_quiet, int bonus) noexcept nogil
    cdef int _update_continuation(self, int ply, int plies_back, int move_index, int bonus) noexcept nogil
    cdef int _butterfly_index(self, int ply, int move, int colour) noexcept nogil
    cdef int _continuation_index(self, int move) noexcept nogil
    cdef int _pawn_index(self, int move) noexcept nogil
    cdef int _capture_index(self, int move) noexcept nogil

cdef int _with_gravity(int value, int bonus) noexcept nogil
