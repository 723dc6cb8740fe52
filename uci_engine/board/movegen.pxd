# C types of movegen.py.

cimport cython

from evaluation.bitboards cimport (
    ALL, BB, BETWEEN, BISHOP, BISHOP_PSEUDO_ATTACKS, FALLING, FILES, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, LINE, PAWN,
    PAWN_ATTACKS, QUEEN, RANKS, RISING, ROOK, ROOK_PSEUDO_ATTACKS, bishop_attacks, lsb, rook_attacks, u64,
)
from evaluation.base_board cimport BaseBoard
from uci_engine.board.moves cimport (
    CASTLING, EN_PASSANT, MOVE_ROOM, NO_SQUARE, NOISY, PROMOTION, QUIET, SCRATCH, from_square, move_type, promotion, to_square,
)

cdef class MoveGenerator(BaseBoard):
    cdef readonly u64 checkers
    cdef readonly u64 pinned
    cdef readonly int castling_rights
    cdef readonly int ep_square
    cdef int[4] rook_squares
    cdef int[MOVE_ROOM] moves

    # Final, so that calls go straight to the code.
    @cython.final
    cdef bint _attacked(self, int square, int by, u64 occupied) noexcept nogil
    @cython.final
    cdef int _add_from(self, int end, int origin, u64 targets) noexcept nogil
    @cython.final
    cdef int _add_pawns(self, int end, u64 targets, int step, bint promoting) noexcept nogil
    @cython.final
    cdef int _generate_pawns(self, int end, int gen_type, u64 evading) noexcept nogil
    @cython.final
    cdef int _generate_en_passant(self, int end) noexcept nogil
    @cython.final
    cdef int _generate_castling(self, int end) noexcept nogil
    @cython.final
    cdef int generate(self, int gen_type, int start) noexcept nogil
    @cython.final
    cdef bint gives_check(self, int move) noexcept nogil
    @cython.final
    cdef bint is_noisy(self, int move) noexcept nogil
    @cython.final
    cdef bint is_legal(self, int move) noexcept nogil
