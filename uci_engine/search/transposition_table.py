"""The transposition table (TT): search results by position, kept between the moves of a game.

The searches of all threads share one table without locks, by the XOR method (R. Hyatt and T. Mann, A lock-less
transposition table implementation, ICGA Journal 25/1, 2002). A TT entry is two 64-bit words: the data, and the key XOR
the data. Reads and writes are relaxed: threads see them in any order. If two threads write an entry at once, key and
data may be from different threads. Then they do not match, and the probe misses.

Four entries make a bucket of one cache line. The data, from the lowest bit: move (16 bits), score + 32768 (16), raw
eval - NO_SCORE (16), depth + 8 (8), bound (2), age (6). Mate and tablebase scores are stored by their distance from the
node, and are by that from the root outside.

Invariant: a probe returns what was stored under the same key, or 0. So each word is read once, because a second read
could see another thread's write.
Invariant: nothing is allocated or cleared during a search.
"""

from __future__ import annotations

from evaluation.base.typed import (
    clear_words,
    free_words,
    i64,
    inline,
    new_words,
    nogil,
    prefetch_words,
    shared_u64_pointer,
    u64,
    void,
)
from uci_engine.score import NO_SCORE, TABLEBASE_BOUND

LOW_HALF = 0xFFFFFFFF

# Bounds: the score is at most, at least, or exactly what is stored.
UPPER, LOWER, EXACT = 1, 2, 3
AGE_SHIFT = 58
# There are 64 ages.
AGE_MASK = 63
# Depths down to -8 can be stored. With some tuned parameters ProbCut stores a negative depth.
DEPTH_OFFSET = 8
# Above the value of every entry. An empty entry has minus this.
MAX_VALUE = 100000
# Replacement: the value of an entry is its depth, less this many plies for each search since it was stored.
TT_AGE_PLIES = 4
# A bound does not replace an entry of the same position and search that is deeper by more than this. An exact score
# does.
TT_REPLACE_PLIES = 4


# What is in an entry. 0, no entry, has neither move nor bound nor eval.
@inline
def entry_move(entry: u64) -> int:
    """The TT move, or 0."""
    return entry & 0xFFFF


@inline
def entry_score(entry: u64, ply: int) -> int:
    """The score, by distance from the root, for a node at `ply`."""
    return _nearer((entry >> 16 & 0xFFFF) - 32768, -ply)


@inline
def _nearer(score: int, plies: int) -> int:
    """A mate or tablebase score with its end so many plies nearer, any other score as it is."""
    if score >= TABLEBASE_BOUND:
        return score + plies
    if score <= -TABLEBASE_BOUND:
        return score - plies
    return score


@inline
def entry_eval(entry: u64) -> int:
    """The raw eval, or NO_SCORE."""
    return (entry >> 32 & 0xFFFF) + NO_SCORE


@inline
def entry_depth(entry: u64) -> int:
    """The depth to which the position was searched; 0 in quiescence."""
    return (entry >> 48 & 255) - DEPTH_OFFSET


@inline
def entry_bound(entry: u64) -> int:
    """UPPER, LOWER or EXACT."""
    return entry >> 56 & 3


class TranspositionTable:
    """A table of `megabytes` (2**20 bytes each)."""

    words: shared_u64_pointer
    buckets: u64
    age: u64
    megabytes: i64

    def __init__(self, megabytes: i64) -> None:
        """Raises MemoryError when the system has no such block."""
        self.megabytes = 0
        self.words = new_words(0)
        if not self._allocate(megabytes):
            raise MemoryError

    def __dealloc__(self) -> None:
        free_words(self.words)

    def resize(self, megabytes: i64) -> None:
        """Replace the table by an empty one of a new size.

        The old one is freed first, so that there need not be room for both. MemoryError: there is no such block. The
        table is then empty, and has its old size; or 1 MiB, if there is no longer room for that.
        """
        before = self.megabytes
        if not self._allocate(megabytes):
            # There was room for it a moment ago.
            if not self._allocate(before) and not self._allocate(1):
                raise SystemError("there is no memory for a table of 1 MiB")
            raise MemoryError

    def _allocate(self, megabytes: i64) -> bool:
        """Free the table, and make an empty one. False when the system has no such block; then there is no table."""
        size: u64 = megabytes * 1024 * 1024
        free_words(self.words)
        self.words = new_words(size >> 3)
        if not self.words:
            return False
        self.buckets = size >> 6
        self.megabytes = megabytes
        self.age = 0
        return True

    def clear(self) -> None:
        self.clear_part(0, 1)

    def clear_part(self, part: int, parts: int) -> None:
        """Clear one of so many parts, which threads may do at the same time. No search may run."""
        begin: u64 = self.buckets * part // parts
        end: u64 = self.buckets * (part + 1) // parts
        with nogil:
            clear_words(self.words, begin << 3, end << 3)
        self.age = 0

    def new_search(self) -> void:
        """Start a new age. Entries of earlier searches are replaced first."""
        self.age = (self.age + 1) & AGE_MASK

    def hashfull(self) -> int:
        """The share of entries of this search, in permille, from a sample."""
        used = 0
        index: int
        # Even a table of 1 MiB has more than 1000 entries.
        sampled: int = 1000
        for index in range(sampled):
            entry: u64 = self.words[2 * index + 1]
            if entry and entry >> AGE_SHIFT == self.age:
                used += 1
        return used

    def _start(self, key: u64) -> u64:
        """The index of the first word of a key's bucket."""
        return (((key & LOW_HALF) * self.buckets) >> 32) << 3

    def prefetch(self, key: u64) -> void:
        """Load a key's bucket into the cache ahead of the probe."""
        prefetch_words(self.words, self._start(key))

    def probe(self, key: u64) -> u64:
        word = self._start(key)
        for _ in range(4):
            entry: u64 = self.words[word + 1]
            if self.words[word] ^ entry == key and entry:
                return entry
            word += 2
        return 0

    def store(self, key: u64, ply: int, move: int, score: int, raw_eval: int, depth: int, bound: int) -> void:
        """Store a result of a node at `ply`, in the entry of the same position or else in the least valuable one of
        the bucket.

        An entry's value is its depth, minus TT_AGE_PLIES for each search since it was stored. A bound does not replace
        an entry of the same position and search that is deeper by more than TT_REPLACE_PLIES. A result without a move
        keeps the old TT move.
        """
        word = self._start(key)
        place = word
        lowest_value: int = MAX_VALUE
        for _ in range(4):
            entry: u64 = self.words[word + 1]
            if self.words[word] ^ entry == key and entry:
                if move == 0:
                    move = entry_move(entry)
                if bound != EXACT and depth + TT_REPLACE_PLIES < entry_depth(entry) and entry >> AGE_SHIFT == self.age:
                    return
                place = word
                break
            age_gap: int = (self.age - (entry >> AGE_SHIFT)) & AGE_MASK
            value = entry_depth(entry) - TT_AGE_PLIES * age_gap
            if entry == 0:
                value = -MAX_VALUE
            if value < lowest_value:
                lowest_value = value
                place = word
            word += 2
        high: u64 = (bound << 8) | (depth + DEPTH_OFFSET)
        low: u64 = _nearer(score, ply) + 32768
        middle: u64 = raw_eval - NO_SCORE
        entry = (self.age << AGE_SHIFT) | (high << 48) | (middle << 32) | (low << 16) | move
        self.words[place] = key ^ entry
        self.words[place + 1] = entry
