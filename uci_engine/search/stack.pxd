# C types of stack.py.

cimport cython

from evaluation.bitboards cimport (
    BISHOP, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, PAWN, QUEEN, ROOK, bishop_attacks, lsb, pawn_attacks,
    rook_attacks, u64,
)
from uci_engine.board.moves cimport from_square, to_square
from uci_engine.board.position cimport Position

cdef enum:
    PLIES = 128
    PLIES_BACK = 4
    MAX_QUIETS = 64
    MAX_CAPTURES = 32

@cython.final
cdef class SearchStack:
    cdef Position position
    cdef int[PLIES] static_eval             # NO_SCORE in check
    cdef int[PLIES] move                    # the move being searched, 0 for a null move
    cdef int[PLIES] is_quiet                # whether that move is quiet
    cdef int[132] moved_piece_to            # [ply + PLIES_BACK]: piece type * 64 + to-square of that move
    cdef readonly u64[PLIES] attacked       # squares that the side not to move attacks, see `find_threats`
    cdef readonly u64[1024] threats         # [ply * 8 + piece type]: squares attacked by enemy pieces of less value
    cdef int[PLIES] excluded_move           # the TT move, during a singular search
    cdef int[PLIES] double_extensions       # number of them on the line to the move being searched
    cdef int[PLIES] cutoff_count            # number of cutoffs at this ply since the last node two plies up began
    cdef int[256] killers                   # [ply * 2 + n]
    cdef int[PLIES] quiet_count             # number of quiets_searched
    cdef int[PLIES] capture_count           # number of captures_searched
    cdef int[8192] quiets_searched          # [ply * MAX_QUIETS + n]
    cdef int[4096] captures_searched        # [ply * MAX_CAPTURES + n]

    cpdef int clear(self) noexcept nogil
    cpdef int set_move(self, int ply, int move, bint is_quiet) noexcept nogil
    cpdef int set_null_move(self, int ply) noexcept nogil
    cpdef int find_threats(self, int ply) noexcept nogil
    cpdef int add_killer(self, int ply, int move) noexcept nogil
    cpdef int clear_killers(self, int ply) noexcept nogil
    cdef int add_searched(self, int ply, int move, bint quiet) noexcept nogil
    cdef int previous_to_square(self, int ply) noexcept nogil
    cdef int last_two_moves(self, int ply) noexcept nogil
