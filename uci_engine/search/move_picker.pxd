# C types of move_picker.py.

cimport cython

from evaluation.bitboards cimport BB, PAWN, QUEEN, i64
from uci_engine.board.moves cimport EN_PASSANT, NOISY, PROMOTION, QUIET, from_square, move_type, promotion, to_square
from uci_engine.board.position cimport Position
from uci_engine.search.history cimport Histories
from uci_engine.search.stack cimport SearchStack

cdef int MAX_MOVES
cdef int TT_MOVE, GENERATE_NOISY, GOOD_NOISY, FIRST_KILLER, SECOND_KILLER, GENERATE_QUIET, QUIETS, BAD_NOISY
cdef int GENERATE_EVASIONS, GENERATE_QUIESCENCE, ALL_GENERATED, DONE
cdef int CAPTURE_BASE
cdef int QUEEN_PROMOTION_VALUE, UNDERPROMOTION_VALUE, CAPTURE_HISTORY_SHIFT
cdef int[7] MVV_VALUES
cdef int[7] THREAT_BONUS

@cython.final
cdef class MovePicker:
    cdef Position position
    cdef SearchStack stack
    cdef Histories histories
    cdef i64[40960] scored_moves        # [ply * MAX_MOVES + n]: (score << 16) + move
    cdef int[128] stage
    cdef int[128] cursor
    cdef int[128] end
    cdef int[128] bad_end
    cdef int[128] tt_move
    cdef int[128] skips_quiets

    cpdef int begin(self, int ply, int tt_move, bint quiescence) noexcept nogil
    cpdef int next(self, int ply) noexcept nogil
    cpdef int skip_quiets(self, int ply) noexcept nogil
    cdef bint is_good_capture(self, int ply) noexcept nogil
    cdef bint is_bad_capture(self, int ply) noexcept nogil
    cdef int _score_noisy(self, int ply, int start, int end) noexcept nogil
    cdef int _score_quiet(self, int ply, int start, int end) noexcept nogil
    cdef int _select_best(self, int ply) noexcept nogil
    cdef int _keep_checks(self, int start, int end) noexcept nogil
    cdef int _keep_generated_checks(self, int start, int end) noexcept nogil
    cdef bint _is_playable_killer(self, int ply, int move) noexcept nogil
