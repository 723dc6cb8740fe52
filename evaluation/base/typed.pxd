# The C form of typed.py.

from cpython.buffer cimport Py_buffer, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int16_t, int64_t, int8_t, uint64_t
from libc.string cimport memcpy, memset

ctypedef uint64_t u64
ctypedef int64_t i64
ctypedef int16_t i16
ctypedef int8_t i8

cdef extern from *:
    """
    #include <stdlib.h>
    #include <string.h>
    #if defined(__GNUC__)
    static inline int secateur_lsb(uint64_t squares) { return __builtin_ctzll(squares); }
    static inline int secateur_msb(uint64_t squares) { return 63 ^ __builtin_clzll(squares); }
    static inline uint64_t secateur_flip(uint64_t squares) { return __builtin_bswap64(squares); }
    #define secateur_prefetch(words, index) __builtin_prefetch((const void*)&(words)[index])
    #else
    #include <intrin.h>
    static __forceinline int secateur_lsb(uint64_t squares)
    { unsigned long index; _BitScanForward64(&index, squares); return (int)index; }
    static __forceinline int secateur_msb(uint64_t squares)
    { unsigned long index; _BitScanReverse64(&index, squares); return (int)index; }
    static __forceinline uint64_t secateur_flip(uint64_t squares) { return _byteswap_uint64(squares); }
    #define secateur_prefetch(words, index) ((void)0)
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
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    /* A block begins with the address of what is to be freed, one large page or less before the words. Probes are
       random accesses: with large pages fewer of them miss the address cache (TLB). The advice is all there is; a
       system without such pages ignores it. */
    #define SECATEUR_PAGE ((uintptr_t)1 << 21)
    static inline volatile uint64_t *secateur_new_words(uint64_t count) {
        char *block, *start;
        if (count > (SIZE_MAX - 2 * SECATEUR_PAGE) / 8) return NULL;
        block = (char*)calloc(count * 8 + 2 * SECATEUR_PAGE, 1);
        if (!block) return NULL;
        start = (char*)(((uintptr_t)block + 2 * SECATEUR_PAGE - 1) & ~(SECATEUR_PAGE - 1));
    #if defined(__linux__)
        madvise(start, count * 8, MADV_HUGEPAGE);
    #endif
        ((void**)start)[-1] = block;
        return (volatile uint64_t*)start;
    }
    static inline void secateur_free_words(volatile uint64_t *words) {
        if (words) free(((void**)words)[-1]);
    }
    /* Threads race for what is volatile, see Searcher and TranspositionTable: ThreadSanitizer is to pass over that. */
    #if defined(__SANITIZE_THREAD__)
    #define SECATEUR_PASS_OVER(access) __attribute__((weak)) void __tsan_volatile_##access(void *place) { (void)place; }
    SECATEUR_PASS_OVER(read4) SECATEUR_PASS_OVER(write4) SECATEUR_PASS_OVER(read8) SECATEUR_PASS_OVER(write8)
    #endif
    """
    int popcount "secateur_popcount" (u64 squares) noexcept nogil
    int lsb "secateur_lsb" (u64 squares) noexcept nogil
    int msb "secateur_msb" (u64 squares) noexcept nogil
    u64 flip_vertical "secateur_flip" (u64 squares) noexcept nogil
    volatile u64* new_words "secateur_new_words" (u64 count) noexcept nogil
    void free_words "secateur_free_words" (volatile u64* words) noexcept nogil
    void prefetch_words "secateur_prefetch" (volatile u64* words, u64 index) noexcept nogil

cdef inline void clear_words(volatile u64* words, u64 begin, u64 end) noexcept nogil:
    memset(<void*>(words + begin), 0, (end - begin) << 3)

cdef inline void clear_i16s(i16* numbers, int length) noexcept nogil:
    memset(numbers, 0, length * sizeof(i16))

cdef inline u64 address_of(object data) except? 0:
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    address = <u64>view.buf
    PyBuffer_Release(&view)
    return address

cdef inline int byte_at(u64 address, i64 place) noexcept nogil:
    return (<unsigned char*>address)[place]

cdef inline u64* u64s_of(object numbers) except? NULL:
    return <u64*>address_of(numbers)

cdef inline void copy_i8s(i8* target, bytes data) except *:
    memcpy(target, <char*>data, len(data))

cdef inline void copy_i16s(i16* target, bytes data) except *:
    cdef const unsigned char* source = data
    cdef Py_ssize_t index
    for index in range(len(data) // 2):
        target[index] = <i16>(source[2 * index] | source[2 * index + 1] << 8)
