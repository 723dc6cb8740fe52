"""Analysis of root moves: what it sees, which move counts as better, and what it leaves alone."""

from __future__ import annotations

import time
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernel import (
    QUEEN_SACRIFICE,
    Request,
    is_compiled,
    prepare,
    random_game,
    search,
    start_board,
)
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.search.root_moves import (
    ANALYSIS_ASPIRATION_DEPTH,
    ANALYSIS_CLEAR_MARGIN_CP,
    ANALYSIS_MARGIN_CP,
    ANALYSIS_PLIES_BEHIND,
    ANALYSIS_SHARE,
    RootAnalysis,
    RootMove,
)
from uci_engine.tablebases.root_ranking import RootRanking, TablebaseRank
from uci_engine.time_management import Budget
from uci_engine.time_management import Clock

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
HANGING_ROOK = "4k3/8/8/8/3r4/8/3R4/4K3 w - - 0 1"
needs_compiler = pytest.mark.skipif(not is_compiled(), reason="too slow in plain Python")


# In a search ------------------------------------------------------------------------------------------------------


@needs_compiler
def test_a_sacrifice_is_not_hidden_by_its_price() -> None:
    board = chess.Board(QUEEN_SACRIFICE)
    found = search(Request(board, nodes=60_000, analyse_mode=True))
    assert found.best.uci() == "d4g7"
    assert scores.mate_in_moves(found.score) == 4
    hidden = search(Request(board, nodes=200_000))
    assert hidden.best.uci() != "d4g7"


@needs_compiler
def test_one_thread_spends_its_share() -> None:
    spent = []

    class Counted(RootAnalysis):
        def run(self, worker: Any, max_nodes: float) -> None:
            super().run(worker, max_nodes)
            spent.append(self.nodes / worker.searcher.nodes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uci_engine.search.manager.RootAnalysis", Counted)
        search(Request(chess.Board(MIDDLEGAME), nodes=200_000, analyse_mode=True))
    # A move is searched to the end, so the share is overdrawn a little.
    assert ANALYSIS_SHARE - 0.05 < spent[-2] < ANALYSIS_SHARE + 0.05


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_depth_that_was_asked_for_is_the_searchs_to_answer(depth: int) -> None:
    outcome = search(Request(chess.Board(MIDDLEGAME), depth=depth, analyse_mode=True))
    assert outcome.infos[-1].depth == depth
    assert outcome.best.uci() == outcome.infos[-1].pv[0]


@pytest.mark.parametrize(
    "fen",
    [
        "3r2k1/pp3ppp/2p1p3/4P1PP/8/4PQ2/P1qr4/R4RK1 w - - 2 25",
        "r5k1/2p3pp/p1q1p3/7Q/2p5/2Pp2P1/PP5P/5RK1 w - - 0 31",
    ],
)
def test_see_pruning_spares_checks(fen: str) -> None:
    # Each mate begins Qf7+ Kh8 Qf8+, and the last check loses a queen.
    assert search(Request(chess.Board(fen), depth=6, analyse_mode=True)).score == scores.MATE - 5


@pytest.mark.parametrize(
    ("fen", "limits", "budget"),
    [
        (MIDDLEGAME, {"analyse_mode": False}, None),
        (MIDDLEGAME, {"multipv": 2}, None),
        (MIDDLEGAME, {"mate": 2}, None),
        (MIDDLEGAME, {"root_moves": [chess.Move.from_uci("a7a6")]}, None),
        (MIDDLEGAME, {}, Budget(1000, 5000)),
        ("7k/8/8/8/8/8/6q1/7K w - - 0 1", {}, None),
    ],
    ids=["game", "lines", "mate", "one move asked for", "clock", "one legal move"],
)
def test_nothing_is_analysed(fen: str, limits: dict[str, Any], budget: Budget | None) -> None:
    clock = Clock(time.perf_counter(), budget) if budget else None
    assert prepare(Request(chess.Board(fen), **{"analyse_mode": True, **limits}), clock)[0].analysis is None
    assert prepare(Request(chess.Board(MIDDLEGAME), analyse_mode=True))[0].analysis is not None


def test_only_moves_asked_for_and_of_the_best_rank_are_analysed() -> None:
    board = chess.Board(HANGING_ROOK)
    asked = [chess.Move.from_uci(word) for word in ("d2d4", "d2d3", "d2c2", "e1e2")]
    outcome = search(Request(board, asked[1:], nodes=3000, analyse_mode=True))
    assert outcome.best != asked[0]
    # The tables say that taking the rook is worse, and know.
    tablebase_ranks = {move: TablebaseRank(int(move != asked[0]), None) for move in asked}
    outcome = search(Request(board, asked, nodes=3000, analyse_mode=True, ranking=RootRanking(tablebase_ranks)))
    assert not any(info.pv[0] == "d2d4" for info in outcome.infos)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(1, 40), st.booleans(), st.integers(1, 3000))
def test_stopped_after_any_number_of_nodes(seed: int, plies: int, chess960: bool, nodes: int) -> None:
    *_, board = random_game(seed, start_board(seed, chess960), plies)
    if not any(board.legal_moves):
        return
    before = board.fen()
    running, infos = prepare(Request(board, nodes=nodes if is_compiled() else nodes // 10 + 1, analyse_mode=True))
    running.run()
    running.report()
    assert running.best in board.legal_moves
    assert running.nodes <= nodes
    assert board.fen() == before
    for info in infos:
        copy = board.copy()
        for word in info.pv:
            copy.push_uci(word)


# The analysis -----------------------------------------------------------------------------------------------------


class Position:
    """An analysis of some moves, whose searches see what they are told to."""

    def __init__(self) -> None:
        board = chess.Board(MIDDLEGAME)
        self.moves = [moves.encode(board, move) for move in board.legal_moves]
        self.analysis = RootAnalysis(board, [RootMove((move,)) for move in self.moves])

    def see(self, place: int, score: int, depth: int) -> None:
        """The analysis has searched a move."""
        self.analysis._moves[place].root_move = RootMove((self.moves[place],), score, depth)

    def set_best(self, place: int, score: int, depth: int) -> None:
        """The main search has finished a depth."""
        self.analysis.set_best(RootMove((self.moves[place],), score, depth))

    def better(self) -> int | None:
        """Which move is better."""
        return self._place(self.analysis.better_move())

    def better_at_end(self) -> int | None:
        """Which move is better when there is no more time."""
        return self._place(self.analysis.better_move_at_end())

    def _place(self, better: RootMove | None) -> int | None:
        return None if better is None else self.moves.index(better.move)


def test_a_better_move_is_as_deep_and_better_by_a_margin() -> None:
    position = Position()
    position.see(1, 500, 7)
    assert position.better() is None, "there is no best move yet"
    position.set_best(0, 0, 7)
    assert position.better() == 1
    position.set_best(0, 0, 8)
    assert position.better() is None
    position.see(1, ANALYSIS_MARGIN_CP, 8)
    assert position.better() == 1
    position.set_best(0, 1, 8)
    assert position.better() is None


def test_in_the_end_a_clearly_better_move_may_be_less_deep() -> None:
    position = Position()
    position.set_best(0, 0, 12)
    position.see(1, ANALYSIS_CLEAR_MARGIN_CP, 12 - ANALYSIS_PLIES_BEHIND)
    assert position.better() is None
    assert position.better_at_end() == 1
    position.set_best(0, 1, 12)
    assert position.better_at_end() is None
    position.set_best(0, 0, 13)
    assert position.better_at_end() is None
    # Of the first depths nothing is played unseen.
    position.set_best(0, 0, ANALYSIS_ASPIRATION_DEPTH)
    position.see(1, 500, ANALYSIS_ASPIRATION_DEPTH - 1)
    assert position.better_at_end() is None


def test_what_is_proved_is_better_however_shallow_and_narrow() -> None:
    position = Position()
    position.set_best(0, scores.MATE - 15, 20)
    position.see(1, scores.MATE - 5, 3)
    assert position.better() == 1
    position.see(1, scores.MATE - 15, 3)
    assert position.better() is None
    position.set_best(0, 900, 20)
    position.see(2, scores.TABLEBASE_WIN - 9, 2)
    position.see(1, scores.MATE - 15, 3)
    assert position.better() == 1
    assert position.better_at_end() == 1


def test_what_the_main_search_has_seen_as_deep_is_no_news() -> None:
    position = Position()
    position.see(1, 190, 10)
    position.set_best(1, 35, 13)
    assert position.better() is None
    assert position.better_at_end() is None
    position.set_best(0, 30, 14)
    assert position.better() is None
    assert position.better_at_end() is None
    position.see(1, 190, 14)
    assert position.better() == 1


def test_forcing_moves_and_cheap_ones_are_searched_more() -> None:
    board = chess.Board("6k1/5ppp/8/8/8/1p6/P4PPP/R3K2R w - - 0 1")
    running, _ = prepare(Request(board, analyse_mode=True))
    analysis = running.analysis
    assert analysis is not None
    weights = {moves.decode(seen.root_move.move, False).uci(): seen.weight for seen in analysis._moves}
    assert weights.pop("a2b3") == 2
    assert set(weights.values()) == {1}
    board = chess.Board("6k1/P4ppp/8/8/8/8/5PPP/R3K2R w - - 0 1")
    root_moves = [RootMove((moves.encode(board, move),)) for move in board.legal_moves]
    weights = {
        moves.decode(seen.root_move.move, False).uci(): seen.weight for seen in RootAnalysis(board, root_moves)._moves
    }
    assert weights["a7a8q"] == 4
    assert weights["a7a8n"] == 2
    # And by nodes, not by depth: the fewest for its weight comes next.
    for place, seen in enumerate(analysis._moves):
        seen.nodes = 100 * seen.weight + place
    analysis._moves[7].nodes = 0
    before = analysis._moves[7].root_move
    analysis.run(running._main, 1)
    assert [seen.root_move.depth for seen in analysis._moves if seen.root_move.depth] == [1]
    assert analysis._moves[7].root_move is not before
