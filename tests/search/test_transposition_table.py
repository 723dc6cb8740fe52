"""The transposition table: it may forget, but never tells of one position what belongs to another."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import on_core
from uci_engine import score as scores
from uci_engine.search.transposition_table import TranspositionTable

UPPER, LOWER, EXACT = 1, 2, 3
AGES = 64
ENTRIES_PER_BUCKET = 4


def new_table(megabytes: int = 1) -> Any:
    return TranspositionTable(megabytes)


def unpack(entry: int) -> tuple[int, int, int, int, int]:
    """Move, score, raw eval, depth and bound of an entry."""
    return (
        entry & 0xFFFF,
        (entry >> 16 & 0xFFFF) - 32768,
        (entry >> 32 & 0xFFFF) + scores.NO_SCORE,
        (entry >> 48 & 0xFF) - 8,
        entry >> 56 & 3,
    )


keys = st.integers(0, 2**64 - 1)
score_values = st.integers(-scores.INFINITE, scores.INFINITE)
entries = st.tuples(
    st.integers(0, 0xFFFF),
    score_values,
    st.one_of(st.just(scores.NO_SCORE), score_values),
    st.integers(-2, scores.MAX_PLY),
    st.sampled_from((UPPER, LOWER, EXACT)),
)


@given(keys, entries)
def test_what_is_stored_is_found(key: int, entry: tuple[int, int, int, int, int]) -> None:
    table = new_table()
    assert table.probe(key) == 0
    table.store(key, 0, *entry)
    assert unpack(table.probe(key)) == entry
    # One bit beside it, there is nothing.
    assert all(table.probe(key ^ 1 << bit) == 0 for bit in range(64))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), entries, st.booleans()), max_size=60))
def test_a_probe_gives_what_was_stored_under_that_key(steps: list[Any]) -> None:
    table = new_table()
    stored: dict[int, set[tuple[int, ...]]] = {}
    for number, low, (move, *rest), new_search in steps:
        # Few buckets, so that entries must make room.
        key = number << 40 | low
        if new_search:
            table.new_search()
        table.store(key, 0, move, *rest)
        stored.setdefault(key, set()).add(tuple(rest))
        for known, entry in stored.items():
            found = table.probe(known)
            assert found == 0 or unpack(found)[1:] in entry
        assert len([known for known in stored if table.probe(known)]) <= 4 * ENTRIES_PER_BUCKET


def kept_and_read(cases: list[tuple[int, int, int]]) -> list[list[int]]:
    """Of scores stored at one ply and read at another: what the table keeps, and what is read."""
    from uci_engine.search.transposition_table import entry_score

    table = new_table()
    found = []
    for value, stored_at, read_at in cases:
        table.store(1, stored_at, 0, value, 0, 0, EXACT)
        found.append([unpack(table.probe(1))[1], entry_score(table.probe(1), read_at)])
    return found


def test_the_table_keeps_the_distance_from_the_node_and_static_scores_as_they_are() -> None:
    wins = (scores.MATE, scores.MATE - 60, scores.TABLEBASE_WIN, scores.TABLEBASE_WIN - 60)
    static = scores.STATIC_LIMIT - 1
    expected = {}
    for sign, stored_at, read_at in itertools.product((1, -1), (0, 1, 60), (0, 1, 60)):
        for win in wins:
            expected[sign * (win - stored_at), stored_at, read_at] = [sign * win, sign * (win - read_at)]
        expected[sign * static, stored_at, read_at] = [sign * static, sign * static]
    # Compiled, what reads an entry is C.
    assert on_core("interpreted", __name__, "kept_and_read", list(expected)) == list(expected.values())


# Keys of one bucket: their low halves are the same.
BUCKET = [number << 32 | 12345 for number in range(1, 6)]


@pytest.mark.parametrize(
    ("depths", "searches", "kept"),
    [
        # The shallowest entry gives way.
        ((5, 3, 8, 6), 0, [True, False, True, True, True]),
        # Seven plies of the last search are worth three of this one.
        ((7, 5, 4, 6), 1, [False, True, True, True, True]),
    ],
)
def test_a_full_bucket_gives_up_what_is_shallow_or_old(
    depths: tuple[int, ...], searches: int, kept: list[bool]
) -> None:
    table = new_table()
    for key, depth in zip(BUCKET, depths, strict=False):
        table.store(key, 0, 1, 0, 0, depth, EXACT)
        for _ in range(searches if key == BUCKET[0] else 0):
            table.new_search()
    table.store(BUCKET[4], 0, 1, 0, 0, 4 if searches == 0 else 1, EXACT)
    assert [bool(table.probe(key)) for key in BUCKET] == kept


def test_the_age_comes_round() -> None:
    table = new_table()
    for _ in range(3 * AGES + 5):
        table.new_search()
    table.store(BUCKET[0], 0, 1, 0, 0, 9, EXACT)
    for _ in range(AGES):
        assert table.probe(BUCKET[0])
        table.new_search()


def spread_keys(count: int) -> list[int]:
    """Keys that fall into the buckets one after another."""
    buckets = (1 << 20) // 64
    return [number << 40 | -(-(number % buckets) * 2**32 // buckets) for number in range(count)]


def test_hashfull_counts_the_entries_of_this_search() -> None:
    table = new_table()
    buckets = (1 << 20) // 64
    for share, permille in ((0, 0), (2, 500), (4, 1000)):
        table.new_search()
        assert table.hashfull() == 0
        for key in spread_keys(share * buckets):
            table.store(key, 0, 1, 0, 0, 3, EXACT)
        assert table.hashfull() == permille


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_all_parts_together_are_the_whole_table(parts: int) -> None:
    table = new_table()
    keys = spread_keys(1 << 14)[::64]
    for key in keys:
        table.store(key, 0, 1, 2, 3, 4, EXACT)
    for part in range(parts):
        assert any(table.probe(key) for key in keys)
        table.clear_part(part, parts)
    assert not any(table.probe(key) for key in keys)


def test_a_table_of_any_size_forgets_when_it_is_cleared_or_resized_and_works_on() -> None:
    table = new_table()

    def fill() -> None:
        for key in (0, 1, 0xFFFFFFFF, 0xFFFFFFFE, 2**64 - 1, 0x8000000080000000, 5):
            table.store(key, 0, 77, 5, 6, 7, EXACT)
            assert unpack(table.probe(key)) == (77, 5, 6, 7, EXACT)

    fill()
    table.clear()
    assert table.probe(5) == 0
    for megabytes in (2, 2, 3, 7, 1):
        fill()
        table.resize(megabytes)
        assert (table.megabytes, table.probe(5)) == (megabytes, 0)
    fill()
    with pytest.raises(MemoryError):
        table.resize(1 << 42)
    assert (table.megabytes, table.probe(5)) == (1, 0)
    fill()
    with pytest.raises(MemoryError):
        new_table(1 << 42)


def believed_entries() -> tuple[int, int]:
    """Of entries put together out of the words of two: how many whole ones a probe believes, and how many mixtures."""
    choice = random.Random(1)
    table = new_table()
    whole = mixed = 0
    for _ in range(40):
        key, other = choice.getrandbits(64), choice.getrandbits(64)
        words = []
        # A position with two sets of entry, and another position of the same bucket.
        for stored in (key, key, other >> 32 << 32 | key & 0xFFFFFFFF):
            table.clear()
            entry = [choice.randint(-500, 500) for _ in range(2)]
            table.store(stored, 0, choice.getrandbits(16), *entry, choice.randint(0, 60), EXACT)
            place = table._start(stored)
            words.append((table.words[place], table.words[place + 1], stored))
        for first, _, one in words:
            for _, second, two in words:
                # In plain Python the words are at hand.
                table.words[place], table.words[place + 1] = first, second
                found = bool(table.probe(one)) + bool(table.probe(two))
                if (first ^ one, one) == (second, two):
                    whole += found == 2
                else:
                    mixed += found
    return whole, mixed


def test_half_written_entries_are_not_believed() -> None:
    assert on_core("interpreted", __name__, "believed_entries") == [120, 0]
