# C types of syzygy.py.

cimport cython
from cpython.buffer cimport Py_buffer, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

from evaluation.bitboards cimport ALL, PAWN, QUEEN, i64, lowest, popcount, u64
from uci_engine.core.generator cimport IS_EN_PASSANT, NO_SQUARE, NOISY, QUIET, SCRATCH
from uci_engine.core.position cimport Position

ctypedef unsigned int u32

cdef int FAILED
cdef int LOSS
cdef int DRAW
cdef int WIN
cdef int SLOTS
cdef int MEN, SIDES, PAWNS, LEAD, CONSTANT, FILE, FILE_BYTES, INDEX, SIZES, DATA, BLOCKS, PADDED_BLOCKS
cdef int BLOCK_BITS, INDEX_BITS, SHORTEST, LENGTHS, BASES, SYMBOLS, POSITIONS, GROUPS
cdef int CODES, GROUP_SIZES, FACTORS, RECORD

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
cdef class SyzygyProber:
    cdef object tables
    cdef object kept
    cdef i64* records
    cdef u64* bases
    cdef u32* symbols
    cdef int[8192] slot_keys
    cdef int[8192] slot_records
    cdef int[8] squares
    cdef readonly int largest

    cdef int _byte(self, i64 file, i64 place) noexcept nogil
    cdef i64 _number(self, i64 file, i64 place, int count) noexcept nogil
    cdef u64 _code(self, i64 file, i64 place, int count) noexcept nogil
    cdef int _material(self, Position position) noexcept nogil
    cdef int _slot(self, int key) noexcept nogil
    cdef int _resolve(self, Position position, int alpha, int beta, int start) noexcept nogil
    cdef int _en_passant(self, Position position, int value, int beta) noexcept nogil
    cdef bint _place(self, Position position, i64 record, int mirror, int first, int end) noexcept nogil
    cdef int _reflect(self, int men, int change) noexcept nogil
    cdef i64 _lead_pieces(self, i64 record, int men) noexcept nogil
    cdef int _lead_pawn(self, int count) noexcept nogil
    cdef i64 _lead_pawns(self, int count, int men) noexcept nogil
    cdef i64 _position_number(self, i64 record, i64 lead) noexcept nogil
    cdef int _value(self, i64 record, i64 number) noexcept nogil
    cdef int _decode(self, i64 record, i64 place, i64 offset) noexcept nogil
    cpdef int probe_table(self, Position position) noexcept nogil
    cpdef int probe_wdl(self, Position position) noexcept nogil
