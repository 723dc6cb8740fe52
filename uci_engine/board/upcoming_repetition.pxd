# C types of upcoming_repetition.py.

cimport cython

from evaluation.bitboards cimport (
    BB, BISHOP, BISHOP_PSEUDO_ATTACKS, KING, KING_ATTACKS, KNIGHT, KNIGHT_ATTACKS, QUEEN, ROOK, ROOK_PSEUDO_ATTACKS, ZOBRIST, ZOBRIST_TURN, u64,
)

cdef enum:
    SLOTS = 8192

cdef u64[8192] CUCKOO_KEYS
cdef int[8192] CUCKOO_MOVES

cpdef int cuckoo_move(u64 difference) noexcept nogil
cdef int _insert(u64 difference, int move) noexcept nogil
cpdef int _fill() noexcept nogil
