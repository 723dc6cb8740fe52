"""The Syzygy prober beside python-chess's, and what it makes of files that are no good."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import pytest

from tests.support import TABLES
from tests.support.kernel import ALL_CORES, core_or_skip, on_core
from tests.support.syzygy_samples import NAMES, WORKSHOP_PATH, Probing, copy_tables, flip_bytes, random_boards
from uci_engine.tablebases.root_ranking import RootRanking
from uci_engine.tablebases.syzygy_files import (
    DATA,
    DTZ_SUFFIX,
    INDEX,
    IS_BLACK,
    IS_MAPPED,
    IS_WIDE_MAP,
    MAX_DISTANCE_PLIES,
    PADDED_BLOCKS,
    SIZES,
    WDL_SUFFIX,
    Material,
    TableError,
    TableReader,
)


def compare(probing: Probing, oracle: chess.syzygy.Tablebase, name: str, count: int, distances: int) -> int:
    """Random positions of a table, and the distances of the first of them. Returns how many have en passant."""
    en_passant = 0
    for number, board in enumerate(random_boards(name, count)):
        assert probing.value(board) == oracle.probe_wdl(board), board.fen()
        if number < distances:
            expected = oracle.get_dtz(board)
            # There are not all tables of five pieces, and python-chess may look for one that is not needed.
            assert expected is None or probing.distance(board) == expected, board.fen()
            en_passant += board.has_legal_en_passant()
    return en_passant


@pytest.mark.parametrize("name", NAMES)
def test_every_table_gives_what_python_chess_gives(name: str, probing: Probing, oracle: chess.syzygy.Tablebase) -> None:
    compare(probing, oracle, name, 300, 100)


@pytest.mark.slow
def test_the_tables_of_the_workshop_give_what_python_chess_gives(workshop: chess.syzygy.Tablebase) -> None:
    probing, pawns = Probing(WORKSHOP_PATH), "KPvKP"
    assert compare(probing, workshop, pawns, 5000, 1000) > 20
    for name in sorted(probing.tables.wdl - {pawns}):
        compare(probing, workshop, name, 1000, 100)


def with_lists(data: bytes, lists: list[list[int]], flags: int, probing: Probing) -> bytes:
    """The bytes of KRvK.rtbz with other flags, and lists of distances put in that the stored numbers are places in."""
    (section,) = TableReader(data, Material.of("KRvK"), DTZ_SUFFIX, probing.read_symbols).read().sections
    width = 2 if flags & IS_WIDE_MAP else 1
    inserted = b"".join(number.to_bytes(width, "little") for values in lists for number in [len(values), *values])
    flags_place = 10
    start = data[:flags_place] + bytes([flags]) + data[flags_place + 1 : section[INDEX]] + inserted
    start += bytes(len(start) % 2) + data[section[INDEX] : section[SIZES] + 2 * section[PADDED_BLOCKS]]
    return start + bytes(-len(start) % 64) + data[section[DATA] :]


@pytest.mark.parametrize("black", [0, IS_BLACK])
@pytest.mark.parametrize("in_plies", [0, 4, 8, 4 | 8])
@pytest.mark.parametrize("wide", [0, IS_WIDE_MAP])
def test_lists_of_distances_and_their_flags(
    wide: int, in_plies: int, black: int, probing: Probing, tmp_path: Path
) -> None:
    """What files of three pieces do not have, put into one of them."""
    most = 5000 if wide else 255
    wins, losses = [(37 * place + 5) % most for place in range(17)], [(91 * place + 2) % most for place in range(20)]
    data = (TABLES / "KRvK.rtbz").read_bytes()
    folder = copy_tables(tmp_path / "tables", "KRvK")
    (folder / "KRvK.rtbz").write_bytes(
        with_lists(data, [wins, losses, [1], []], IS_MAPPED | wide | in_plies | black, probing)
    )
    ours, theirs = Probing(folder, copied_bytes=0), chess.syzygy.open_tablebase(str(folder))
    assert ours.tables.dtz == {"KRvK"}
    seen = {board.fen(): theirs.probe_dtz(board) for board in random_boards("KRvK", 40)}
    for fen, expected in seen.items():
        assert ours.distance(chess.Board(fen)) == expected, fen
    assert len(set(seen.values())) > 10
    theirs.close()


def test_a_stored_number_beyond_its_list_is_no_distance(probing: Probing, tmp_path: Path) -> None:
    folder = copy_tables(tmp_path / "tables", "KRvK")
    data = with_lists((TABLES / "KRvK.rtbz").read_bytes(), [[7], [7], [7], [7]], IS_MAPPED, probing)
    (folder / "KRvK.rtbz").write_bytes(data)
    short = Probing(folder, copied_bytes=0)
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    assert short.value(board) == 2
    assert short.distance(board) is None


def test_a_missing_table_matters_only_where_it_could_be_better(tmp_path: Path) -> None:
    """Promotions to a queen win; what one to a knight leads to need not be known, whichever comes first."""
    board = chess.Board("8/5P2/8/8/1k6/8/8/K7 w - - 0 1")
    assert Probing(copy_tables(tmp_path / "one", "KPvK", "KQvK")).distance(board) == 1
    lacking = Probing(copy_tables(tmp_path / "two", "KPvK"))
    assert lacking.value(board) == 2
    assert lacking.distance(board) is None


def test_what_is_not_in_the_tables(probing: Probing) -> None:
    for fen in (
        chess.STARTING_FEN,
        "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
        "4k3/8/8/8/8/8/8/Q3K2Q w - - 0 1",
        "r3k3/8/8/8/8/8/8/R3K2R w - - 0 1",
    ):
        assert probing.value(chess.Board(fen)) is None
        assert probing.ranked(chess.Board(fen)) == RootRanking()
    assert probing.value(chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")) == 0
    assert Probing("").value(chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")) is None


def probed() -> list[Any]:
    """What the core of this process finds: values, distances and rankings."""
    probing = Probing(TABLES)
    boards = [board for name in NAMES for board in random_boards(name, 12)]
    rankings = [str(probing.ranked(board)) for board in boards[::4]]
    return [[probing.value(board) for board in boards], [probing.distance(board) for board in boards], rankings]


def test_all_cores_probe_and_rank_alike() -> None:
    answers = [on_core(core_or_skip(core), __name__, "probed") for core in ALL_CORES]
    assert answers[0] == answers[1] == answers[2]
    values, _, rankings = answers[0]
    assert {2, 0, -2} <= set(values)
    assert sum("complete=True" in ranking for ranking in rankings) > 10


# Files that are no good -------------------------------------------------------------------------------------------


def refused(probing: Probing, data: bytes, name: str = "KRvK", suffix: str = WDL_SUFFIX) -> str:
    with pytest.raises(TableError) as caught:
        TableReader(data, Material.of(name), suffix, probing.read_symbols).read()
    return str(caught.value)


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.rtb?")), ids=lambda path: path.name)
def test_a_truncated_or_extended_file_is_refused(path: Path, probing: Probing) -> None:
    data = path.read_bytes()
    for size in [*range(0, len(data), 61), *range(16, len(data), 64)]:
        refused(probing, data[:size], path.stem, path.suffix)
    refused(probing, data + bytes(64), path.stem, path.suffix)
    refused(probing, data + bytes(1), path.stem, path.suffix)


@pytest.mark.parametrize(
    ("name", "suffix", "word"),
    [
        ("KQvK", WDL_SUFFIX, "pieces"),
        ("KPvK", WDL_SUFFIX, "name"),
        ("KRvKR", WDL_SUFFIX, "split"),
        ("KRvK", DTZ_SUFFIX, "begin"),
        ("KRRRRRRRvK", WDL_SUFFIX, "name"),
        ("RvK", WDL_SUFFIX, "name"),
    ],
)
def test_a_file_under_another_name_is_refused(name: str, suffix: str, word: str, probing: Probing) -> None:
    assert word in refused(probing, (TABLES / "KRvK.rtbw").read_bytes(), name, suffix)


def test_symbols_that_never_end_are_refused(probing: Probing) -> None:
    value, pair = b"\x04\xf0\xff", b"\x00\x00\x00"
    assert list(probing.read_symbols(value + pair)) == [0xFFF << 12 | 4, 1 << 24]
    itself = b"\x01\x10\x00"
    for pattern in (value + itself, pair, value + b"\x02\x00\x00", itself + b"\x00\x00\x00"):
        assert probing.read_symbols(pattern) is None
    # Each symbol is twice the one before: the ninth would stand for 512 values.
    doubling = value + b"".join(bytes((n, (n & 15) << 4, n >> 4)) for n in range(9))
    assert probing.read_symbols(doubling[: 3 * 9]) is not None
    assert probing.read_symbols(doubling) is None


def probe_damaged(path: str, trials: int) -> list[int]:
    """How many damaged tables the core of this process takes, and how many of them with distances."""
    choice = random.Random(9)
    folder = copy_tables(Path(path))
    boards = [board for name in NAMES for board in random_boards(name, 4)]
    accepted = distances = 0
    for trial in range(trials):
        for file in folder.glob("*.rtb?"):
            data = (TABLES / file.name).read_bytes()
            if trial % 3 == 2:
                kept = choice.randrange(len(data))
                file.write_bytes(data[:kept] + bytes(len(data) - kept))
            else:
                file.write_bytes(flip_bytes(data, choice, 1 + trial % 3 * 20))
        probing = Probing(folder, copied_bytes=0)
        accepted += len(probing.tables.wdl)
        distances += len(probing.tables.dtz)
        assert all(probing.value(board) in (None, -2, -1, 0, 1, 2) for board in boards)
        assert all(abs(probing.distance(board) or 0) <= MAX_DISTANCE_PLIES for board in boards)
    return [distances, accepted]


def test_damaged_files_are_refused_or_probed_without_harm(tmp_path: Path) -> None:
    """Flipped bytes and zeroed tails: an answer may be wrong, but it is an answer, and it comes at once."""
    distances, accepted = probe_damaged(str(tmp_path / "tables"), 150)
    assert 50 < distances < accepted < 150 * len(NAMES)
    # Plain Python checks the bounds of arrays.
    distances, accepted = on_core("interpreted", __name__, "probe_damaged", str(tmp_path / "others"), 15)
    assert 5 < distances < accepted


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    choice = random.Random(2)
    folder = copy_tables(tmp_path / "tables")
    for _ in range(15):
        for path in folder.glob("*.rtb?"):
            path.write_bytes(flip_bytes((TABLES / path.name).read_bytes(), choice, 1))
        assert Probing(folder).tables.wdl == set()
