# C types of context.py.

cimport cython

from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport ALL, FILES, KING, KING_ATTACKS, PAWN, file_fill, forward, lsb, u64

@cython.final
cdef class EvaluationContext:
    cdef int[2] king
    cdef u64[2] pawn_attacks
    cdef u64[2] mobility_area
    cdef u64[2] king_zone
    cdef u64[2] pawn_files
    cdef u64[2] attacked
    cdef u64[16] attacked_by            # [8 * colour + piece type], knights to queens
    cdef u64[2] attacked_twice
    cdef int[2] attack_units
    cdef int[16] king_attackers         # [8 * colour + piece type], knights to queens
    cdef int[4] pawns_on_colour         # [2 * colour + 1 for light squares]
    cdef int[2] rammed_pawns
    cdef int[6] storm_ranks             # [3 * colour + number of the file]
    cdef int[2] shelter_units
    cdef int[2] storm_units
    cdef public u64 passed_pawns

    cpdef int begin(self, BaseBoard board) noexcept nogil
