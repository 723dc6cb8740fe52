# C types of bitboards.py. Functions with a body here are the C form. Their plain-Python form is in bitboards.py.

from libc.stdint cimport int64_t, uint64_t

ctypedef uint64_t u64
ctypedef int64_t i64

cdef extern from *:
    """
    #if defined(__GNUC__)
    static inline int secateur_lsb(uint64_t squares) { return __builtin_ctzll(squares); }
    static inline int secateur_msb(uint64_t squares) { return 63 ^ __builtin_clzll(squares); }
    static inline uint64_t secateur_flip(uint64_t squares) { return __builtin_bswap64(squares); }
    #else
    #include <intrin.h>
    #include <stdlib.h>
    static __forceinline int secateur_lsb(uint64_t squares)
    { unsigned long index; _BitScanForward64(&index, squares); return (int)index; }
    static __forceinline int secateur_msb(uint64_t squares)
    { unsigned long index; _BitScanReverse64(&index, squares); return (int)index; }
    static __forceinline uint64_t secateur_flip(uint64_t squares) { return _byteswap_uint64(squares); }
    #endif
    #if defined(__GNUC__) && (defined(__POPCNT__) || !defined(__x86_64__))
    static inline int secateur_popcount(uint64_t squares) { return __builtin_popcountll(squares); }
    #else  /* no instruction for it in the x86-64 baseline: add up in parallel, without a call */
    static inline int secateur_popcount(uint64_t squares) {
        squares -= (squares >> 1) & 0x5555555555555555ULL;
        squares = (squares & 0x3333333333333333ULL) + ((squares >> 2) & 0x3333333333333333ULL);
        squares = (squares + (squares >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
        return (int)((squares * 0x0101010101010101ULL) >> 56);
    }
    #endif
    static inline int secateur_popcount_few(uint64_t squares) {
        int count = 0;
        for (; squares; squares &= squares - 1) count++;
        return count;
    }
    #define SECATEUR_ALL 0xFFFFFFFFFFFFFFFFULL
    #define SECATEUR_LIGHT 0x55AA55AA55AA55AAULL
    """
    const u64 ALL "SECATEUR_ALL"
    const u64 LIGHT "SECATEUR_LIGHT"
    int popcount "secateur_popcount" (u64 squares) noexcept nogil
    int popcount_few "secateur_popcount_few" (u64 squares) noexcept nogil
    int lsb "secateur_lsb" (u64 squares) noexcept nogil
    int msb "secateur_msb" (u64 squares) noexcept nogil
    u64 flip_vertical "secateur_flip" (u64 squares) noexcept nogil

cdef enum:  # python-chess's piece types, as constants of the C compiler
    PAWN = 1
    KNIGHT = 2
    BISHOP = 3
    ROOK = 4
    QUEEN = 5
    KING = 6

cdef u64[8] FILES
cdef u64[8] RANKS
cdef u64[64] BB
cdef u64[64] KING_ATTACKS
cdef u64[64] KNIGHT_ATTACKS
cdef u64[128] PAWN_ATTACKS
cdef u64[64] BISHOP_PSEUDO_ATTACKS
cdef u64[64] ROOK_PSEUDO_ATTACKS
cdef u64[64] RISING
cdef u64[64] FALLING
cdef u64[4096] BETWEEN
cdef u64[4096] LINE
cdef u64[1024] ZOBRIST
cdef u64[4] ZOBRIST_CASTLING
cdef u64[8] ZOBRIST_EN_PASSANT
cdef u64 ZOBRIST_TURN

cdef u64[64] BISHOP_MASKS
cdef u64[64] ROOK_MASKS
cdef u64[64] BISHOP_MULTIPLIERS
cdef u64[64] ROOK_MULTIPLIERS
cdef int[64] BISHOP_SHIFTS
cdef int[64] ROOK_SHIFTS
cdef int[64] BISHOP_OFFSETS
cdef int[64] ROOK_OFFSETS
cdef u64[5248] BISHOP_TABLE
cdef u64[102400] ROOK_TABLE

cdef inline u64 bishop_attacks(int square, u64 occupied) noexcept nogil:
    return BISHOP_TABLE[
        BISHOP_OFFSETS[square]
        + <int>(((occupied & BISHOP_MASKS[square]) * BISHOP_MULTIPLIERS[square]) >> BISHOP_SHIFTS[square])
    ]

cdef inline u64 rook_attacks(int square, u64 occupied) noexcept nogil:
    return ROOK_TABLE[
        ROOK_OFFSETS[square]
        + <int>(((occupied & ROOK_MASKS[square]) * ROOK_MULTIPLIERS[square]) >> ROOK_SHIFTS[square])
    ]

cdef inline u64 pawn_attacks(u64 pawns, int us) noexcept nogil:
    cdef u64 leftward = pawns & <u64>0xFEFEFEFEFEFEFEFEULL
    cdef u64 rightward = pawns & <u64>0x7F7F7F7F7F7F7F7FULL
    return (leftward << 7) | (rightward << 9) if us else (leftward >> 9) | (rightward >> 7)

cdef inline u64 forward(u64 squares, int us) noexcept nogil:
    return squares << 8 if us else squares >> 8

cdef inline u64 adjacent(u64 squares) noexcept nogil:
    return ((squares & <u64>0x7F7F7F7F7F7F7F7FULL) << 1) | ((squares & <u64>0xFEFEFEFEFEFEFEFEULL) >> 1)

cdef inline u64 front_span(u64 squares, int us) noexcept nogil:
    if us:
        squares <<= 8
        squares |= squares << 8
        squares |= squares << 16
        return squares | (squares << 32)
    squares >>= 8
    squares |= squares >> 8
    squares |= squares >> 16
    return squares | (squares >> 32)

cdef inline u64 file_fill(u64 squares) noexcept nogil:
    squares |= squares << 8
    squares |= squares >> 8
    squares |= squares << 16
    squares |= squares >> 16
    squares |= squares << 32
    return squares | (squares >> 32)

cdef inline int distance(int a, int b) noexcept nogil:
    cdef int files = abs((a & 7) - (b & 7))
    cdef int ranks = abs((a >> 3) - (b >> 3))
    return files if files > ranks else ranks

cdef inline i64 sum_by_rank(i64* table, int offset, u64 squares, int us) noexcept nogil:
    cdef int flip = 0 if us else 7
    cdef i64 total = 0
    while squares:
        total += table[offset + ((lsb(squares) >> 3) ^ flip)]
        squares &= squares - 1
    return total

cdef u64 _slide(int square, u64 occupied, bint rook) noexcept nogil
cdef int _fill_magic(int square, bint rook, int offset) noexcept nogil
