# C types of ordering.py.

cimport cython

from evaluation.bitboards cimport (
    BB, BISHOP, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, ROOK, bishop_attacks, i64, lsb, pawn_attacks, rook_attacks,
    u64,
)
from uci_engine.board.moves cimport EN_PASSANT, NOISY, PROMOTION, QUIET, from_square, move_type, promotion, to_square
from uci_engine.board.position cimport Position

cdef int ROOM
cdef enum:  # as in ordering.py, for the C compiler
    PLIES_BACK = 4
    CONTINUATIONS = 1 << 19
    CAPTURE_HISTORY_SHIFT = 6

cdef int PLIES
cdef int TABLE, GENERATE_NOISY, GOOD_NOISY, FIRST_KILLER, SECOND_KILLER, GENERATE_QUIET, QUIETS, BAD_NOISY
cdef int GENERATE_EVASIONS, EVASIONS, GENERATE_QUIESCENCE, QUIESCENCE, DONE
cdef int CAPTURE_BASE
cdef int[7] ESCAPES
cdef int[7] VICTIM

@cython.final
cdef class MovePicker:
    cdef Position position
    cdef i64[40960] entries             # [ply * ROOM + n]: (score << 16) + move
    cdef int[128] stage
    cdef int[128] cursor
    cdef int[128] end
    cdef int[128] bad_end
    cdef int[128] tt_moves
    cdef int[128] skipping
    cdef int[256] killers               # [ply * 2 + n]
    cdef int[132] played                # [ply + PLIES_BACK]: type * 64 + target of the move played there
    cdef u64[7] threats                 # by kind of our piece: where a piece worth less would take it
    cdef int[8192] history              # [colour * 4096 + origin * 64 + target], within 2 ** 14
    cdef int[8192] captures             # [code * 512 + target * 8 + victim's type], within 2 ** 14
    cdef short[1048576] continuations   # [table, colour, type and target before, type and target], within 2 ** 14

    cdef int _score_noisy(self, int ply, int start, int end) noexcept nogil
    cdef int _score_quiet(self, int ply, int start, int end, bint checks_only) noexcept nogil
    cdef int _find_threats(self) noexcept nogil
    cdef int _pick(self, int ply) noexcept nogil
    cdef bint _usable_killer(self, int ply, int move) noexcept nogil
    cpdef int begin(self, int ply, int tt_move, bint quiescence) noexcept nogil
    cpdef int next(self, int ply) noexcept nogil
    cpdef int clear_killers(self, int ply) noexcept nogil
    cdef int _continuation_index(self, int move) noexcept nogil
    cdef int _capture_index(self, int move) noexcept nogil
    cdef bint is_losing(self, int ply) noexcept nogil
    cdef int _keep_checks(self, int start, int end) noexcept nogil
    cpdef int skip_quiets(self, int ply) noexcept nogil
    cpdef int note(self, int ply, int move) noexcept nogil
    cdef bint was_pass(self, int ply) noexcept nogil
    cdef int last_target(self, int ply) noexcept nogil
    cdef int last_moves(self, int ply) noexcept nogil
    cpdef int history_of(self, int ply, int move) noexcept nogil
    cpdef int capture_history_of(self, int move) noexcept nogil
    cpdef int reward(self, int ply, int move, int bonus) noexcept nogil
    cpdef int adjust(self, int ply, int move, int bonus) noexcept nogil
    cdef int adjust_made(self, int move, int bonus) noexcept nogil
    cpdef int adjust_capture(self, int move, int bonus) noexcept nogil

cdef int _drawn(int held, int bonus) noexcept nogil
