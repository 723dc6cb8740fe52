"""Tablebases in the engine: folders and hostile files, the root's ranking, and the search."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.syzygy
import pytest

from tests.support import TABLES
from tests.support.engines import go
from tests.support.kernel import board_after
from tests.support.syzygy_samples import (
    NAMES,
    WORKSHOP_PATH,
    Probing,
    copy_tables,
    random_board,
    random_boards,
    slow_table,
)
from tests.support.uci_process import UciProcess
from uci_engine import score as scores
from uci_engine.engine import UciEngine
from uci_engine.tablebases import root_ranking as ranking_module
from uci_engine.tablebases.root_ranking import WON, RootRanking
from uci_engine.time_management import UNLIMITED, Budget, Clock

WON_POSITION = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"


def best_moves(ranking: RootRanking) -> list[chess.Move]:
    best = max(tablebase_rank.rank for tablebase_rank in ranking.tablebase_ranks.values())
    return [move for move, tablebase_rank in ranking.tablebase_ranks.items() if tablebase_rank.rank == best]


# Folders and files ------------------------------------------------------------------------------------------------


def test_several_folders(tmp_path: Path) -> None:
    first = copy_tables(tmp_path / "first", "KRvK")
    second = copy_tables(tmp_path / "second folder", "KQvK", "KRvK")
    for separator in (os.pathsep, ";", f" {os.pathsep} "):
        probing = Probing(f'{first}{separator}"{second}"')
        assert probing.tables.wdl == probing.tables.dtz == {"KQvK", "KRvK"}
        assert probing.sentences == ["SyzygyPath: 2 WDL and 2 DTZ tables of up to 3 pieces"]
    assert probing.tables.set_syzygy_path("") == []
    assert probing.tables.wdl == set()
    assert probing.tables.prober.max_pieces == 0


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in ("/no/such/folder", str(tmp_path / "file"), "a\0b", "x" * 5000):
        sentences = Probing(path).sentences
        assert sentences[0].startswith("error: SyzygyPath: not used: ")
        assert sentences[1:] == ["SyzygyPath: no Syzygy tables there"]
        assert Probing(f"{path};{TABLES}").tables.wdl == set(NAMES)
    assert Probing(empty).sentences == ["SyzygyPath: no Syzygy tables there"]


# The ways in which disks, downloads and people make a file useless.
WAYS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.touch(),
    "another table": lambda path: path.write_bytes((TABLES / "KQvK.rtbw").read_bytes()),
    "a folder": lambda path: path.mkdir(),
}
if os.name == "posix":
    WAYS |= {
        "a pipe": lambda path: os.mkfifo(path),
        "no end": lambda path: path.symlink_to("/dev/zero"),
        "a circle": lambda path: path.symlink_to(path),
    }
    if os.geteuid() != 0:  # root can read everything
        WAYS["unreadable"] = lambda path: path.touch(mode=0)


@pytest.mark.parametrize("way", WAYS)
def test_one_bad_file_is_left_out_with_one_sentence(way: str, tmp_path: Path) -> None:
    folder = copy_tables(tmp_path / "tables")
    path = folder / "KRvK.rtbw"
    path.unlink()
    WAYS[way](path)
    began = time.perf_counter()
    probing = Probing(folder)
    assert time.perf_counter() - began < 5
    refusals = [sentence for sentence in probing.sentences if sentence.startswith("error: ")]
    assert len(refusals) == 1
    assert "KRvK.rtbw" in refusals[0]
    assert probing.tables.wdl == probing.tables.dtz == set(NAMES) - {"KRvK"}
    board = chess.Board(WON_POSITION)
    assert probing.value(board) is None
    assert probing.ranked(board) == RootRanking()


def test_many_bad_files_are_still_one_sentence(tmp_path: Path) -> None:
    folder = copy_tables(tmp_path / "tables")
    for path in folder.iterdir():
        path.write_bytes(b"nothing")
    (folder / "K\u00e4se.rtbw").touch()
    sentences = Probing(folder).sentences
    assert len(sentences) == 2
    assert f"and {2 * len(NAMES) + 1 - 3} more" in sentences[0]
    assert sentences[0].isascii()


def test_a_table_without_distances(tmp_path: Path) -> None:
    folder = copy_tables(tmp_path / "tables")
    (folder / "KRvK.rtbz").unlink()
    probing = Probing(folder)
    assert probing.sentences == [f"SyzygyPath: {len(NAMES)} WDL and {len(NAMES) - 1} DTZ tables of up to 4 pieces"]
    ranking = probing.ranked(chess.Board(WON_POSITION))
    assert not ranking.complete
    assert ranking.messages == ()
    for move in best_moves(ranking):
        board = chess.Board(WON_POSITION)
        board.push(move)
        assert probing.value(board) == -2


def cut_short(folder: Path) -> None:
    for path in folder.glob("*.rtb?"):
        os.truncate(path, 16)


def test_a_copied_table_does_not_care_what_happens_to_its_file(tmp_path: Path) -> None:
    folder = copy_tables(tmp_path / "tables", "KRvK")
    probing = Probing(folder)
    whole = probing.ranked(chess.Board(WON_POSITION))
    cut_short(folder)
    assert probing.ranked(chess.Board(WON_POSITION)) == whole
    assert whole.complete


@pytest.mark.skipif(os.name == "nt", reason="a mapped file cannot be changed there")
def test_a_mapped_table_is_dropped_when_its_file_changes(tmp_path: Path) -> None:
    """Reading a mapped file that was cut short would end this process."""
    folder = copy_tables(tmp_path / "tables", "KRvK", "KQvK")
    probing = Probing(folder, copied_bytes=300)
    assert probing.tables.wdl == probing.tables.dtz == {"KQvK", "KRvK"}
    os.truncate(folder / "KRvK.rtbz", 16)
    ranking = probing.ranked(chess.Board(WON_POSITION))
    (message,) = ranking.messages
    assert str(message).startswith("error: ")
    assert "KRvK.rtbz" in message.text
    assert ranking.tablebase_ranks == {}
    assert probing.tables.wdl == probing.tables.dtz == {"KQvK"}
    assert probing.ranked(chess.Board(WON_POSITION)) == RootRanking()
    assert probing.value(chess.Board("8/8/8/4k3/8/8/8/1Q2K3 w - - 0 1")) == 2


# The root ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "KNvKN"])
def test_the_best_moves_keep_the_result_and_make_headway(
    name: str, probing: Probing, oracle: chess.syzygy.Tablebase
) -> None:
    for board in random_boards(name, 12, seed=2):
        if len(list(board.legal_moves)) < 2:
            continue
        value, distance = oracle.probe_wdl(board), oracle.probe_dtz(board)
        ranking = probing.ranked(board)
        assert ranking.complete
        assert set(ranking.tablebase_ranks) == set(board.legal_moves)
        for move in best_moves(ranking):
            after = board.copy()
            after.push(move)
            assert -oracle.probe_wdl(after) == value
            if value and after.halfmove_clock and not after.is_checkmate():
                assert abs(oracle.probe_dtz(after)) in (abs(distance) - 1, abs(distance))


@pytest.mark.parametrize(("clock", "played"), [(0, ""), (92, ""), (99, ""), (0, "a2a1 h5g4 a1a2 g4h5")])
def test_with_a_piece_to_spare_wins_that_are_safe_rank_equal(
    clock: int, played: str, workshop: chess.syzygy.Tablebase
) -> None:
    """Queen and rook: the nearest capture would be that of the queen."""
    probing, board = Probing(WORKSHOP_PATH), board_after(f"8/8/5Q2/7k/8/8/K7/4R3 w - - {clock} 100", played)
    plies = {}
    for move in board.legal_moves:
        board.push(move)
        if workshop.probe_wdl(board) == -2:
            plies[move] = 1 if board.is_checkmate() else 1 - workshop.probe_dtz(board)
        board.pop()
    # One ply is left for the rounding of the tables. After a repetition the shortest win ranks first.
    safe = {move for move, count in plies.items() if count + clock < 100 and not played}
    shortest = {move for move, count in plies.items() if count == min(plies.values())}
    assert set(best_moves(probing.ranked(board))) == (safe or shortest)


def test_a_cursed_win_is_a_draw_unless_the_rule_is_off(probing: Probing) -> None:
    board = chess.Board("8/8/8/4k3/8/8/8/R3K3 w - - 95 100")
    cursed = probing.ranked(board)
    assert {tablebase_rank.score for tablebase_rank in cursed.tablebase_ranks.values()} <= {1, 0}
    free = probing.ranked(board, fifty_moves=False)
    best = free.tablebase_ranks[best_moves(free)[0]].score
    assert best is not None
    assert best > scores.TABLEBASE_BOUND
    assert best_moves(free) == best_moves(cursed)


def test_a_third_repetition_is_no_way_to_win(probing: Probing) -> None:
    board = board_after("8/8/8/8/8/1k6/7R/K7 w - - 0 1", "h2g2 b3c3 g2h2 c3b3 " * 2 + "h2g2 b3c3")
    ranking = probing.ranked(board)
    back = chess.Move.from_uci("g2h2")
    assert ranking.tablebase_ranks[back].rank == 0
    assert back not in best_moves(ranking)
    assert ranking.tablebase_ranks[best_moves(ranking)[0]].rank > WON // 2


def test_only_allowed_moves_are_ranked(probing: Probing) -> None:
    board = chess.Board(WON_POSITION)
    allowed = [chess.Move.from_uci(word) for word in ("a1a5", "a1a2", "e1d2")]
    ranking = probing.ranked(board, allowed)
    assert set(ranking.tablebase_ranks) == set(allowed)
    assert ranking.tablebase_ranks[allowed[0]].rank > 0
    assert probing.ranked(board, probe_limit=2) == RootRanking()


def test_out_of_time_there_are_results_without_distances(probing: Probing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking_module, "MIN_SECONDS", 0.0)
    board = chess.Board(WON_POSITION)
    # Time for the result of every move, and no more.
    times = iter([False] * board.legal_moves.count())
    ranking = probing.ranked(board, stopped=partial(next, times, True))
    assert not ranking.complete
    for move in best_moves(ranking):
        board.push(move)
        assert probing.value(board) == -2
        board.pop()


@pytest.mark.parametrize("limited_by", ["the clock", "a stop"])
@pytest.mark.parametrize(("probe_seconds", "is_enough"), [(0.001, True), (0.02, False)])
def test_without_time_there_is_a_little_and_no_more(
    limited_by: str, probe_seconds: float, is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    probing = Probing(TABLES)
    probe_wdl, began = probing.tables.probe_wdl, 1000.0
    now = [began]

    def slowly(position: Any) -> int | None:
        now[0] += probe_seconds
        return probe_wdl(position)

    monkeypatch.setattr(probing.tables, "probe_wdl", slowly)
    monkeypatch.setattr("uci_engine.tablebases.root_ranking.time.perf_counter", lambda: now[0])
    budget, stopped = (Budget(0, 0), False) if limited_by == "the clock" else (UNLIMITED, True)
    ranking = probing.ranked(chess.Board(WON_POSITION), clock=Clock(began, budget), stopped=lambda: stopped)
    assert ranking.complete == is_enough
    assert is_enough or ranking == RootRanking()
    assert is_enough or 0 < now[0] - began - ranking_module.MIN_SECONDS <= probe_seconds


def test_a_crafted_table_cannot_make_a_probe_long(tmp_path: Path) -> None:
    """Its index is far from every number, so that a lookup would go over more than a hundred thousand blocks."""
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R b - - 0 1")
    (tmp_path / "KRvK.rtbw").write_bytes(slow_table(140_000, 17))
    # 65 536 blocks back: the last number of the table is that near, and has its value.
    assert Probing(tmp_path, copied_bytes=0).value(board) == -2
    (tmp_path / "KRvK.rtbw").write_bytes(slow_table(140_000, 18))
    probing = Probing(tmp_path, copied_bytes=0)
    assert probing.sentences[0] == "SyzygyPath: 1 WDL and 0 DTZ tables of up to 3 pieces"
    assert probing.value(board) is None


def test_tables_that_contradict_each_other_are_dropped_with_a_sentence(tmp_path: Path) -> None:
    """Sound headers and wrong results: tables of queen and rook that call every position a draw, like a bishop's."""
    folder = copy_tables(tmp_path / "tables")
    for name in ("KQvK", "KRvK"):
        data = bytearray((folder / "KBvK.rtbw").read_bytes())
        data[5:9] = (TABLES / f"{name}.rtbw").read_bytes()[5:9]
        (folder / f"{name}.rtbw").write_bytes(data)
    assert "checksum" in Probing(folder).sentences[0]
    probing = Probing(folder, copied_bytes=0)
    assert probing.value(chess.Board(WON_POSITION)) == 0
    # By the pawn's table White wins, and only by promoting at once; by the others no promotion wins.
    board = chess.Board("8/1P6/2k5/8/8/8/8/K7 w - - 0 1")
    assert probing.value(board) == 2
    ranking = probing.ranked(board)
    assert ranking.tablebase_ranks == {}
    (message,) = ranking.messages
    assert str(message).startswith("error: Syzygy table KPvK ")
    assert probing.value(board) is None
    assert probing.ranked(board) == RootRanking()


# The search -------------------------------------------------------------------------------------------------------


@pytest.fixture
def engine() -> Iterator[UciEngine]:
    with closing(UciEngine()) as engine:
        assert len(engine.options.set("SyzygyPath", str(TABLES))) == 1
        yield engine


@pytest.mark.parametrize("contempt_cp", [0, 100])
def test_contempt_for_a_draw_of_the_tables(engine: UciEngine, contempt_cp: int) -> None:
    # The king takes the rook: a draw of the tables one ply before the search sees that no material is left.
    engine.options.set("Contempt", str(contempt_cp))
    last = go(engine, "1k6/p7/8/8/8/8/8/R6K w - - 0 1", depth=2, searchmoves=[chess.Move.from_uci("a1a7")]).last
    assert last.tbhits
    assert last.score == -contempt_cp


def test_wins_of_the_search_are_those_of_the_tables(engine: UciEngine) -> None:
    """Four pieces whose own table is missing: a capture into a table decides."""
    assert str(go(engine, "8/8/8/8/3k4/8/3r4/R2K4 w - - 0 1", depth=4).move) == "d1d2"
    engine.options.set("SyzygyPath", "")
    assert go(engine, "8/8/8/4k3/8/2b5/8/R3K3 w - - 0 1", depth=2).last.tbhits == 0


# Endings, played out: every win is won inside the fifty-move rule, every draw is held -------------------------------

ENDINGS = 100
MAX_PLIES = 300
MAX_PIECES = 4
WIN, DRAW = 2, 0


def position(tables: chess.syzygy.Tablebase, value: int, choice: random.Random) -> chess.Board:
    """A random position in which the side to move has this result, and not a bare king against a bare king."""
    names = sorted(name for name in tables.wdl if len(name) - 1 <= MAX_PIECES)
    while True:
        board = random_board(choice.choice(names), choice)
        board.ep_square = None
        playable = any(board.legal_moves) and not board.is_insufficient_material()
        if playable and tables.probe_wdl(board) == value:
            return board


def reply(tables: chess.syzygy.Tablebase, board: chess.Board, choice: random.Random) -> chess.Move:
    """The move that loses last, for which a capture or pawn move that still loses counts as short. Or a sound one."""
    values, delays = {}, {}
    is_lost = tables.probe_wdl(board) < 0
    for move in board.legal_moves:
        board.push(move)
        values[move] = tables.probe_wdl(board)
        if is_lost:
            delays[move] = 1 if board.halfmove_clock == 0 else 1 + abs(tables.probe_dtz(board))
        board.pop()
    best = [move for move in values if (delays[move] == max(delays.values()) if is_lost else values[move] <= 0)]
    return choice.choice(best)


@pytest.mark.slow
@pytest.mark.parametrize("go", ["depth 4", "movetime 5", "wtime 50 btime 50 winc 5 binc 5"])
@pytest.mark.parametrize("value", [WIN, DRAW])
def test_every_win_is_won_and_every_draw_held(workshop: chess.syzygy.Tablebase, value: int, go: str) -> None:
    """The opponent defends a lost ending as long as it can, and in a draw makes any move that does not lose."""
    choice = random.Random(1)
    with UciProcess() as engine:
        engine.send(f"setoption name SyzygyPath value {WORKSHOP_PATH}")
        for _ in range(ENDINGS):
            board = position(workshop, value, choice)
            own, fen = board.turn, board.fen()
            # Only the opponent would claim a draw.
            while not board.is_game_over(claim_draw=board.turn != own) and len(board.move_stack) < MAX_PLIES:
                if board.turn == own:
                    moves = " ".join(move.uci() for move in board.move_stack)
                    engine.send(f"position fen {fen} moves {moves}")
                    board.push_uci(engine.search(f"go {go}", board)[0])
                else:
                    board.push(reply(workshop, board, choice))
            outcome = board.outcome(claim_draw=board.turn != own)
            assert outcome is not None, fen
            assert outcome.winner in ((own,) if value == WIN else (own, None)), fen
