# C types of position.py.

cimport cython

from evaluation.bitboards cimport (
    ALL, BB, BETWEEN, BISHOP, BISHOP_PSEUDO_ATTACKS, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, LIGHT, PAWN, PAWN_ATTACKS, QUEEN,
    ROOK, ROOK_PSEUDO_ATTACKS, ZOBRIST, ZOBRIST_CASTLING, ZOBRIST_EN_PASSANT, ZOBRIST_TURN, bishop_attacks, i64, lsb, rook_attacks,
    u64,
)
from uci_engine.board.upcoming_repetition cimport cuckoo_move
from uci_engine.board.movegen cimport MoveGenerator
from uci_engine.board.moves cimport (
    CASTLING, EN_PASSANT, NO_SQUARE, NOISY, PROMOTION, QUIET, SCRATCH, from_square, move_type, promotion, to_square,
)

cdef int[7] SEE_VALUES

@cython.final
cdef class Position(MoveGenerator):
    cdef readonly u64 key
    cdef readonly int halfmove_clock
    cdef readonly int reversible_plies       # plies since the last capture, pawn move or null move
    cdef readonly int stack_index            # moves made since the base position
    cdef int[64] castling_mask              # castling rights that survive a move from or to the square
    cdef u64[1024] keys
    cdef u64[1024] undo_checkers
    cdef u64[1024] undo_pinned
    cdef int[1024] undo_state
    cdef int[1024] undo_reversible_plies

    cdef int _find_checkers(self) noexcept nogil
    cdef int _push_state(self, int captured) noexcept nogil
    cdef int _pop_state(self) noexcept nogil
    cdef int _move_castling(self, int origin, int target, bint back) noexcept nogil
    cpdef u64 key_after(self, int move) noexcept nogil
    cpdef int make(self, int move) noexcept nogil
    cpdef int unmake(self, int move) noexcept nogil
    cpdef int make_null(self) noexcept nogil
    cpdef int unmake_null(self) noexcept nogil
    cpdef bint see_at_least(self, int move, int threshold) noexcept nogil
    cpdef bint is_insufficient_material(self) noexcept nogil
    cpdef bint is_fifty_moves(self) noexcept nogil
    cpdef bint is_repetition(self, int ply) noexcept nogil
    cpdef bint is_draw(self, int ply) noexcept nogil
    cpdef bint upcoming_repetition(self, int ply) noexcept nogil
    cpdef bint has_non_pawn_material(self) noexcept nogil
    cpdef i64 perft(self, int depth, int start) noexcept nogil
