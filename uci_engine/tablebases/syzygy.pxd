# C types of syzygy.py.

cimport cython

from evaluation.bitboards cimport PAWN, popcount
from uci_engine.board.moves cimport EN_PASSANT, NO_SQUARE, NOISY, QUIET, SCRATCH, from_square, move_type, to_square
from uci_engine.board.position cimport Position
from uci_engine.tablebases.syzygy_tables cimport OTHER_SIDE, SyzygyTables

cdef int LOSS
cdef int DRAW
cdef int WIN
cdef int FAILED
cdef int NONE
cdef int UNKNOWN
cdef int[5] NEXT_PLY

@cython.final
cdef class SyzygyProber:
    cdef SyzygyTables tables
    cdef readonly int max_pieces

    cpdef int share(self, SyzygyProber other) except? -1
    cdef bint _is_too_large(self, Position position) noexcept nogil
    cdef int _value(self, Position position, int start) noexcept nogil
    cdef int _resolve(self, Position position, int alpha, int beta, int start) noexcept nogil
    cdef int _stored_value(self, Position position) noexcept nogil
    cdef int _best_capture(self, Position position, int alpha, int beta, int start) noexcept nogil
    cdef int _en_passant(self, Position position, int start) noexcept nogil
    cdef bint _is_en_passant_best(self, Position position, int en_passant, int value, int start) noexcept nogil
    cdef int _distance(self, Position position, int start) noexcept nogil
    cdef int _best_pawn_move(self, Position position, int enough, int start) noexcept nogil
    cdef int _distance_from_replies(self, Position position, int value, int start) noexcept nogil
    cdef bint _is_pawn_move(self, Position position, int move) noexcept nogil
    cdef bint _is_capture(self, Position position, int move) noexcept nogil
    cpdef int probe_wdl(self, Position position) noexcept nogil
    cpdef int probe_dtz(self, Position position) noexcept nogil
