# C types of position.py.

cimport cython

from evaluation.bitboards cimport (
    ALL, BB, BETWEEN, BISHOP, FALLING, FILES, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, LIGHT, LINE, PAWN,
    PAWN_ATTACKS, QUEEN, RANKS, RISING, ROOK, BISHOP_LINES, ROOK_LINES, ZOBRIST, ZOBRIST_CASTLING, ZOBRIST_EN_PASSANT, ZOBRIST_TURN,
    bishop_attacks, i64, lowest, popcount, rook_attacks, u64,
)
from evaluation.placement cimport Placement

cdef int NOISY
cdef int QUIET
cdef int IS_PROMOTION
cdef int IS_EN_PASSANT
cdef int IS_CASTLING
cdef int NO_SQUARE
cdef int SCRATCH
cdef int[7] EXCHANGE_VALUES
cdef int[14] PHASE_OF

@cython.final
cdef class Position(Placement):
    cdef readonly u64 key
    cdef readonly u64 checkers
    cdef readonly u64 pinned
    cdef readonly int castling          # bits: white short 1, white long 2, black short 4, black long 8
    cdef readonly int en_passant        # the target square when a pawn stands ready to capture, else NO_SQUARE
    cdef readonly int halfmove
    cdef readonly int reversible        # plies since the last capture, pawn move or null move
    cdef readonly int height            # moves made since the base position
    cdef readonly int base_height       # of these, how many led to the search's root
    cdef int[4] rook_squares
    cdef int[64] kept_rights
    cdef u64[1024] keys
    cdef u64[1024] undo_checkers
    cdef u64[1024] undo_pinned
    cdef u64[1024] undo_pawn_key
    cdef int[1024] undo_state
    cdef int[1024] undo_reversible
    cdef int[1024] undo_scores
    cdef int[1024] undo_phase
    cdef int[43840] moves

    cdef int _find_checkers(self) noexcept nogil
    cdef bint _attacked(self, int square, int by, u64 occupied) noexcept nogil
    cdef int _save(self, int captured) noexcept nogil
    cdef int _restore(self) noexcept nogil
    cdef int _move_castling(self, int origin, int target, bint back) noexcept nogil
    cdef int _add_from(self, int end, int origin, u64 targets) noexcept nogil
    cdef int _add_pawns(self, int end, u64 targets, int step, bint promoting) noexcept nogil
    cdef int _generate_pawns(self, int end, int kind, u64 evading) noexcept nogil
    cdef int _generate_en_passant(self, int end) noexcept nogil
    cdef int _generate_castling(self, int end) noexcept nogil
    cpdef int generate(self, int kind, int start) noexcept nogil
    cpdef int make(self, int move) noexcept nogil
    cpdef int unmake(self, int move) noexcept nogil
    cpdef int make_null(self) noexcept nogil
    cpdef int unmake_null(self) noexcept nogil
    cpdef bint gives_check(self, int move) noexcept nogil
    cpdef bint is_noisy(self, int move) noexcept nogil
    cpdef bint is_legal(self, int move) noexcept nogil
    cpdef bint see_at_least(self, int move, int threshold) noexcept nogil
    cpdef bint has_insufficient_material(self) noexcept nogil
    cpdef bint is_draw(self, int ply) noexcept nogil
    cpdef bint has_pieces(self) noexcept nogil
    cpdef i64 perft(self, int depth, int start) noexcept nogil
