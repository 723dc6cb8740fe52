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
    cdef int[9] knight_mobility
    cdef int[14] bishop_mobility
    cdef int[15] rook_mobility
    cdef int[28] queen_mobility
    cdef int[2] outpost
    cdef int bishop_pair_bonus, rook_open_file, rook_half_open_file
    cdef int doubled_pawn, isolated_pawn
    cdef int[8] connected_pawn
    cdef int[8] passed_pawn
    cdef int[8] passed_pawn_own_king
    cdef int[8] passed_pawn_enemy_king
    cdef int[8] passed_pawn_blocked
    cdef int[8] passed_pawn_free
    cdef int[32] shelter_pawn
    cdef int[8] storm_pawn
    cdef int[24] danger_worth
    cdef int[4] safe_check
    cdef int threat_by_pawn, threat_by_push, hanging_piece
    cdef int[2] threat_by_minor
    cdef int[2] threat_by_rook
    cdef readonly int tempo
    cdef int mop_up_edge, mop_up_near, mop_up_corner

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
    cpdef int pawns(self, BaseBoard p) noexcept nogil
    cpdef int pieces(self, BaseBoard p) noexcept nogil
    cpdef int doubled(self, BaseBoard p, int us) noexcept nogil
    cpdef int isolated(self, BaseBoard p, int us) noexcept nogil
    cpdef int connected(self, BaseBoard p, int us) noexcept nogil
    cpdef int passed_pawns(self, BaseBoard p, int us) noexcept nogil
    cpdef int shelter(self, BaseBoard p, int us) noexcept nogil
    cpdef int storm(self, BaseBoard p, int us) noexcept nogil
    cpdef int knights(self, BaseBoard p, int us) noexcept nogil
    cpdef int bishops(self, BaseBoard p, int us) noexcept nogil
    cpdef int rooks(self, BaseBoard p, int us) noexcept nogil
    cpdef int queens(self, BaseBoard p, int us) noexcept nogil
    cpdef int bishop_pair(self, BaseBoard p, int us) noexcept nogil
    cpdef int outposts(self, BaseBoard p, int us) noexcept nogil
    cpdef int rook_files(self, BaseBoard p, int us) noexcept nogil
    cpdef int passed_pawn_paths(self, BaseBoard p, int us) noexcept nogil
    cpdef int king_danger(self, BaseBoard p, int us) noexcept nogil
    cpdef int safe_checks(self, BaseBoard p, int us) noexcept nogil
    cpdef int threats(self, BaseBoard p, int us) noexcept nogil
    cpdef int push_threats(self, BaseBoard p, int us) noexcept nogil
    cpdef int hanging(self, BaseBoard p, int us) noexcept nogil
    cpdef int mop_up(self, BaseBoard p, int us) noexcept nogil
