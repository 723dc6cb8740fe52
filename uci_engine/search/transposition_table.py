"""The transposition table: what the search found out about positions, kept from move to move of a game.

`search` probes and stores, `engine` sizes and clears it while no search runs. Searches in several threads share one
table without locks: an entry is two 64-bit words, the entry and the position's key exclusive-ored with them, so that
halves written by different threads never match (R. Hyatt and T. Mann, A lock-less transposition table implementation,
ICGA Journal 25/1, 2002). Four entries make a bucket of one cache line. What must stay true: a probe gives what was
stored under that very key or 0, whatever the size and whoever writes meanwhile; so each word is read once only, and the
words are volatile to the C compiler; nothing is allocated or cleared during a search.

The entry, from the lowest bit: move (16 bits), score + 32768 (16), static score + 32768 (16), depth + 8 (8), bound (2),
age (6). Wins are stored by their distance from the node (`Searcher.score_to_tt`).
"""

import array

import cython

# A large page, which also begins a cache line, of which each bucket is one.
PAGE_BYTES = 1 << 21
LOW_HALF = 0xFFFFFFFF

if not cython.compiled:
    # Bounds: the score is at most, at least, or exactly what is stored.
    UPPER, LOWER, EXACT = 1, 2, 3
    AGE_SHIFT = 58
    AGES = 63
    DEPTH_OFFSET = 8

    # The readers of entry; with a compiler they stand in table.pxd.
    def entry_move(entry: int) -> int:
        """The best move known, or 0."""
        return entry & 0xFFFF

    def entry_score(entry: int) -> int:
        """The score, by distance from the node."""
        return (entry >> 16 & 0xFFFF) - 32768

    def entry_eval(entry: int) -> int:
        """The static score, or NO_SCORE."""
        return (entry >> 32 & 0xFFFF) - 32768

    def entry_depth(entry: int) -> int:
        """To what depth the position was searched; 0 in quiescence."""
        return (entry >> 48 & 255) - DEPTH_OFFSET

    def entry_bound(entry: int) -> int:
        """UPPER, LOWER or EXACT."""
        return entry >> 56 & 3


class TranspositionTable:
    """A table of `megabytes` (2**20 bytes each)."""

    def __init__(self, megabytes):
        """Raises MemoryError when the system has no such block."""
        self.megabytes = 0
        self.resize(megabytes)

    def __dealloc__(self):
        if cython.compiled:
            free(self.block)

    def resize(self, megabytes):
        """Replace the table by an empty one of another size; on MemoryError the old table stays as it is."""
        if megabytes == self.megabytes:
            self.clear()
            return
        size: u64 = megabytes * 1024 * 1024
        if cython.compiled:
            block = calloc(size + PAGE_BYTES, 1)
            if not block:
                raise MemoryError
            free(self.block)
            self.block = block
            # Probes jump about: in large pages, where the system has them, they find their way with fewer look-ups.
            past: u64 = cython.cast(u64, block) & (PAGE_BYTES - 1)
            skipped: u64 = PAGE_BYTES - past if past else 0
            start = cython.cast(cython.pointer(u64), block) + (skipped >> 3)
            advise_large_pages(start, size)
            self.words = start
        else:
            self.words = array.array("Q", [0]) * (size >> 3)
        self.buckets = size >> 6
        self.megabytes = megabytes
        self.age = 0

    def clear(self):
        """Forget everything."""
        if cython.compiled:
            with cython.nogil:
                memset(cython.cast(cython.p_void, self.words), 0, self.buckets << 6)
        else:
            self.words = array.array("Q", [0]) * (self.buckets << 3)
        self.age = 0

    def new_search(self):
        """Entries of earlier searches give way before those of this one."""
        self.age = (self.age + 1) & AGES

    def hashfull(self):
        """How full the table is of entries of this search, in permille, from a sample."""
        used = 0
        index: cython.int
        # The smallest table has more buckets than are looked at.
        sampled: cython.int = 1000
        for index in range(sampled):
            entry: u64 = self.words[2 * index + 1]
            if entry and entry >> AGE_SHIFT == self.age:
                used += 1
        return used

    def _start(self, key):
        """The index of the first word of a key's bucket."""
        return (((key & LOW_HALF) * self.buckets) >> 32) << 3

    def prefetch(self, key):
        """Ask the memory for a key's bucket ahead of the probe."""
        if cython.compiled:
            fetch(cython.cast(cython.p_void, cython.address(self.words[self._start(key)])))
        return 0

    def probe(self, key):
        """The entry stored under a key, or 0."""
        word = self._start(key)
        for _ in range(4):
            entry: u64 = self.words[word + 1]
            if self.words[word] ^ entry == key and entry:
                return entry
            word += 2
        return 0

    def store(self, key, move, score, static_score, depth, bound):
        """Keep entry about a position, in the place of the same position or of the least worth keeping.

        An entry is worth its depth less four plies for each search that has passed since. A shallower result does not
        replace a much deeper one of the same position and search, unless it is exact; a known best move outlives a
        result that names none.
        """
        word = self._start(key)
        place = word
        least: cython.int = 100000
        for _ in range(4):
            entry: u64 = self.words[word + 1]
            if self.words[word] ^ entry == key and entry:
                if move == 0:
                    move = entry_move(entry)
                if bound != EXACT and depth + 4 < entry_depth(entry) and entry >> AGE_SHIFT == self.age:
                    return 0
                place = word
                break
            age_gap: cython.int = (self.age - (entry >> AGE_SHIFT)) & AGES
            worth = entry_depth(entry) - 4 * age_gap
            if entry == 0:
                worth = -100000
            if worth < least:
                least = worth
                place = word
            word += 2
        high: u64 = (bound << 8) | (depth + DEPTH_OFFSET)
        low: u64 = score + 32768
        middle: u64 = static_score + 32768
        entry = (self.age << AGE_SHIFT) | (high << 48) | (middle << 32) | (low << 16) | move
        self.words[place] = key ^ entry
        self.words[place + 1] = entry
        return 0
