# C types of syzygy_tables.py.

cimport cython
from cpython.buffer cimport Py_buffer, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

from evaluation.bitboards cimport ALL, PAWN, QUEEN, i64, lsb, popcount, u64
from uci_engine.board.position cimport Position

ctypedef unsigned int u32

cdef int DRAWN
cdef int MISSING
cdef int OTHER_SIDE
cdef int MAX_BLOCK_STEPS
cdef int SLOTS
cdef int PIECE_COUNT, SIDES, SIDE, SYMMETRIC, PAWNS, LEAD, CONSTANT, FILE, FILE_BYTES, INDEX, SIZES, DATA, BLOCKS, PADDED_BLOCKS
cdef int BLOCK_BITS, INDEX_BITS, SHORTEST, LENGTHS, BASES, SYMBOLS, POSITIONS, FLAGS, GROUPS
cdef int PIECES, GROUP_SIZES, FACTORS, LISTS, LIST_SIZES, RECORD
cdef int IS_MAPPED, WINS_IN_PLIES, LOSSES_IN_PLIES, IS_WIDE_MAP
cdef int[5] LIST_OF

cdef int[64] TRIANGLE
cdef int[64] BELOW
cdef int[640] KINGS
cdef int[64] PAWN_NUMBERS
cdef int[384] LEAD_PAWN_STARTS
cdef i64[512] CHOOSE

@cython.final
cdef class Bytes:
    cdef Py_buffer view
    cdef bint held
    cdef readonly i64 size
    cdef object owner

    cdef u64 address(self)

@cython.final
cdef class SymbolReader:
    cdef int[4096] left
    cdef int[4096] right
    cdef int[4096] length

@cython.final
cdef class SyzygyTables:
    cdef object tables
    cdef object kept
    cdef i64* records
    cdef u64* bases
    cdef u32* symbols
    cdef int[8192] slot_keys
    cdef int[8192] slot_results
    cdef int[8192] slot_distances
    cdef int[8] squares
    cdef i64 number
    cdef readonly int max_pieces

    cpdef int share(self, SyzygyTables other) except? -1
    cdef int _material(self, Position position) noexcept nogil
    cdef int _slot(self, int key) noexcept nogil
    cdef int result(self, Position position) noexcept nogil
    cdef int distance(self, Position position, int result) noexcept nogil
    cdef i64 _locate(self, Position position, int entry) noexcept nogil
    cdef bint _place(self, Position position, i64 record, int mirror, int first, int end) noexcept nogil
    cdef int _reflect(self, int pieces, int change) noexcept nogil
    cdef i64 _lead_pieces(self, i64 record, int pieces) noexcept nogil
    cdef int _lead_pawn(self, int count) noexcept nogil
    cdef i64 _lead_pawns(self, int count, int pieces) noexcept nogil
    cdef i64 _position_number(self, i64 record, i64 lead) noexcept nogil
    cdef int _byte(self, i64 file, i64 place) noexcept nogil
    cdef i64 _number(self, i64 file, i64 place, int count) noexcept nogil
    cdef u64 _code(self, i64 file, i64 place, int count) noexcept nogil
    cdef int _stored(self, i64 record) noexcept nogil
    cdef int _decode(self, i64 record, i64 place, i64 offset) noexcept nogil
