# C types of correction_history.py.

cimport cython

from evaluation.bitboards cimport ALL, BISHOP, KING, KNIGHT, QUEEN, ROOK, u64
from uci_engine.board.position cimport Position

cdef enum:
    BY_PAWNS = 1 << 14
    BY_PIECES = 1 << 14
    BY_MOVES = 1 << 16
    LIMIT = (1 << 15) - 1
    SIZE = 2 * (BY_PAWNS + 2 * BY_PIECES + BY_MOVES)
    PIECES_SHIFT = 50

cdef extern from *:
    """
    #define SECATEUR_KNIGHT_MIXER 0x1D4C1B7E53F0A68BULL
    #define SECATEUR_BISHOP_MIXER 0x61C88A2F7E3D94B5ULL
    #define SECATEUR_ROOK_MIXER 0x53A2646C8B15E79FULL
    #define SECATEUR_QUEEN_MIXER 0x3851F7B92C4ED6A3ULL
    #define SECATEUR_KING_MIXER 0x75297A4D1E63C80DULL
    """
    const u64 KNIGHT_MIXER "SECATEUR_KNIGHT_MIXER"
    const u64 BISHOP_MIXER "SECATEUR_BISHOP_MIXER"
    const u64 ROOK_MIXER "SECATEUR_ROOK_MIXER"
    const u64 QUEEN_MIXER "SECATEUR_QUEEN_MIXER"
    const u64 KING_MIXER "SECATEUR_KING_MIXER"

cdef int MAX_CORRECTION_WEIGHT

@cython.final
cdef class CorrectionHistory:
    cdef Position position
    cdef short[SIZE] errors             # by pawns, by White's pieces, by Black's pieces, by moves; within ±LIMIT

    cpdef int correction(self, int last_two_moves) noexcept nogil
    cpdef int update(self, int last_two_moves, int depth, int error_cp) noexcept nogil
    cdef int _update_entry(self, int index, int error, int weight) noexcept nogil
    cdef int _pawn_index(self, int turn) noexcept nogil
    cdef int _piece_index(self, int turn, int colour) noexcept nogil
    cdef int _move_index(self, int turn, int last_two_moves) noexcept nogil
