# C types of features.py.

cimport cython

from evaluation.bitboards cimport (
    ALL,
    BB,
    BISHOP,
    FILES,
    KING,
    KING_ATTACKS,
    KNIGHT,
    KNIGHT_ATTACKS,
    LIGHT,
    PAWN,
    QUEEN,
    RANKS,
    ROOK,
    bishop_attacks,
    i64,
    msb,
    lsb,
    pawn_attacks,
    popcount,
    rook_attacks,
    u64,
)
from evaluation.base_board cimport BaseBoard

cdef u64 NOT_FILE_A
cdef u64 NOT_FILE_H

cdef int KNIGHT_UNITS
cdef int BISHOP_UNITS
cdef int ROOK_UNITS
cdef int QUEEN_UNITS
cdef int MOST_UNITS

cdef u64 _step(u64 squares, int us) noexcept nogil
cdef u64 _beside(u64 squares) noexcept nogil
cdef u64 _front_fill(u64 squares, int us) noexcept nogil
cdef u64 _not_behind(int king, int us) noexcept nogil
cdef int _hindmost_rank(u64 pieces, int us) noexcept nogil
cdef int _distance(int a, int b) noexcept nogil
cdef int _middle_file(int king) noexcept nogil

@cython.final
cdef class Features:
    cdef i64[9] knight_mobility
    cdef i64[14] bishop_mobility
    cdef i64[15] rook_mobility
    cdef i64[28] queen_mobility
    cdef i64[2] outpost
    cdef i64 bishop_pair_bonus, rook_open_file, rook_half_open_file
    cdef i64 doubled_pawn, isolated_pawn
    cdef i64[8] connected_pawn
    cdef i64[8] passed_pawn
    cdef i64[8] passed_pawn_own_king
    cdef i64[8] passed_pawn_enemy_king
    cdef i64[8] passed_pawn_blocked
    cdef i64[8] passed_pawn_free
    cdef i64[32] shelter_pawn
    cdef i64[8] storm_pawn
    cdef i64[24] danger_worth
    cdef i64[4] safe_check
    cdef i64 threat_by_pawn, threat_by_push, hanging_piece
    cdef i64[2] threat_by_minor
    cdef i64[2] threat_by_rook
    cdef readonly i64 tempo
    cdef i64 mop_up_edge, mop_up_near, mop_up_corner

    # Notes on the position at hand, by colour.
    cdef int[2] king
    cdef u64[2] pawn_attacks
    cdef u64[2] mobility_area                # squares a piece of that colour can use
    cdef u64[2] zone                # squares around that colour's king
    cdef u64[2] attacked
    cdef u64[2] by_knights          # what its knights attack, and so on
    cdef u64[2] by_bishops
    cdef u64[2] by_rooks
    cdef u64[2] by_queens
    cdef int[2] units               # of danger to the other colour's king
    cdef u64 passed                 # passed pawns of both colours

    cpdef int begin(self, BaseBoard p) noexcept nogil
    cpdef i64 pawns(self, BaseBoard p) noexcept nogil
    cpdef i64 pieces(self, BaseBoard p) noexcept nogil
    cpdef i64 doubled(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 isolated(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 connected(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 passed_pawns(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 shelter(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 storm(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 knights(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 bishops(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 rooks(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 queens(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 bishop_pair(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 outposts(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 rook_files(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 passed_pawn_paths(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 king_danger(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 safe_checks(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 threats(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 push_threats(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 hanging(self, BaseBoard p, int us) noexcept nogil
    cpdef i64 mop_up(self, BaseBoard p, int us) noexcept nogil
