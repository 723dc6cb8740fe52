"""Root moves: the vote of the threads, and the analysis: what it sees, which move is better, what it leaves alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import (
    MIDDLEGAME,
    QUEEN_SACRIFICE,
    first_move,
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
    vote,
)
from uci_engine.tablebases.root_ranking import RootRanking, TablebaseRank
from uci_engine.time_management import Budget, Clock

HANGING_ROOK = "4k3/8/8/8/3r4/8/3R4/4K3 w - - 0 1"
MATE, WIN = scores.MATE, scores.TABLEBASE_WIN
needs_compiler = pytest.mark.skipif(not is_compiled(), reason="too slow in plain Python")

# The vote ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        # As move, score and depth; the place of the one that wins. The deeper and the better move win, not an equal.
        ([(1, 20, 10), (2, 20, 11)], 1),
        ([(1, 20, 10), (2, 35, 10)], 1),
        ([(1, 20, 10), (2, 20, 10)], 0),
        # Many agree against one; the deepest of them is shown.
        ([(1, 24, 11), (2, 20, 10), (2, 20, 9), (2, 20, 12)], 3),
        ([(1, 400, 11), (2, 20, 10), (2, 20, 9), (2, 20, 12)], 0),
        # A proved win needs no majority, and the shortest is played.
        ([(1, 300, 20), (1, 310, 20), (3, MATE - 7, 12), (2, MATE - 5, 8)], 3),
        ([(1, 300, 20), (1, 310, 20), (3, WIN - 11, 12), (2, WIN - 9, 8)], 3),
        # A mate against us is avoided if anyone sees how.
        ([(1, 6 - MATE, 14), (1, 6 - MATE, 15), (2, -900, 9)], 2),
        # What was never searched does not vote, unless none was.
        ([(7, -scores.INFINITE, 0), (2, -500, 1)], 1),
        ([(2, -500, 1), (7, -scores.INFINITE, 0), (7, -scores.INFINITE, 0)], 0),
        ([(7, -scores.INFINITE, 0), (8, -scores.INFINITE, 0)], 0),
    ],
)
def test_the_vote(candidates: list[tuple[int, int, int]], chosen: int) -> None:
    root_moves = [RootMove((move, 99), score, depth) for move, score, depth in candidates]
    assert vote(root_moves) is root_moves[chosen]


def test_of_equally_deep_searches_the_one_with_a_score_is_shown() -> None:
    exact = RootMove((2, 99), 20, 10)
    assert vote([RootMove((2, 99), 30, 10, is_lower_bound=True), exact]) is exact


# Analysis in a search ---------------------------------------------------------------------------------------------


@needs_compiler
def test_a_sacrifice_is_not_hidden_by_its_price() -> None:
    board = chess.Board(QUEEN_SACRIFICE)
    found = search(board, nodes=60_000, analyse_mode=True)
    assert (found.best.uci(), scores.mate_in_moves(found.score)) == ("d4g7", 4)
    assert search(board, nodes=200_000).best.uci() != "d4g7"


@needs_compiler
def test_one_thread_spends_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []

    class Counted(RootAnalysis):
        def run(self, searcher: Any, max_nodes: float) -> None:
            super().run(searcher, max_nodes)
            spent.append(self.nodes / searcher.nodes)

    monkeypatch.setattr("uci_engine.search.manager.RootAnalysis", Counted)
    search(chess.Board(MIDDLEGAME), nodes=200_000, analyse_mode=True)
    # A move is searched to the end, so the share is overdrawn a little.
    assert ANALYSIS_SHARE - 0.05 < spent[-2] < ANALYSIS_SHARE + 0.05


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_depth_that_was_asked_for_is_the_searchs_to_answer(depth: int) -> None:
    outcome = search(chess.Board(MIDDLEGAME), depth=depth, analyse_mode=True)
    assert outcome.infos[-1].depth == depth
    assert outcome.best == first_move(outcome.infos[-1])


@pytest.mark.parametrize(
    "fen",
    [
        "3r2k1/pp3ppp/2p1p3/4P1PP/8/4PQ2/P1qr4/R4RK1 w - - 2 25",
        "r5k1/2p3pp/p1q1p3/7Q/2p5/2Pp2P1/PP5P/5RK1 w - - 0 31",
    ],
)
def test_see_pruning_spares_checks(fen: str) -> None:
    # Each mate begins Qf7+ Kh8 Qf8+, and the last check loses a queen.
    assert search(chess.Board(fen), depth=6, analyse_mode=True).score == MATE - 5


@pytest.mark.parametrize(
    ("fen", "asked", "is_analysed"),
    [
        (MIDDLEGAME, {}, True),
        (MIDDLEGAME, {"analyse_mode": False}, False),
        (MIDDLEGAME, {"multipv": 2}, False),
        (MIDDLEGAME, {"mate": 2}, False),
        (MIDDLEGAME, {"root_moves": [chess.Move.from_uci("a7a6")]}, False),
        (MIDDLEGAME, {"clock": Clock(time.perf_counter(), Budget(1000, 5000))}, False),
        ("7k/8/8/8/8/8/6q1/7K w - - 0 1", {}, False),
    ],
    ids=["analysis", "game", "lines", "mate", "one move asked for", "clock", "one legal move"],
)
def test_what_is_analysed(fen: str, asked: dict[str, Any], is_analysed: bool) -> None:
    manager, _ = prepare(chess.Board(fen), **{"analyse_mode": True, **asked})
    manager.stop()
    manager.run()
    assert (manager.analysis is not None) == is_analysed


def test_only_moves_asked_for_and_of_the_best_rank_are_analysed() -> None:
    asked = [chess.Move.from_uci(word) for word in ("d2d4", "d2d3", "d2c2", "e1e2")]
    search(chess.Board(HANGING_ROOK), asked[1:], nodes=3000, analyse_mode=True)
    # The tables say that taking the rook is worse, and know.
    ranking = RootRanking({move: TablebaseRank(int(move != asked[0]), None) for move in asked})
    outcome = search(chess.Board(HANGING_ROOK), asked, nodes=3000, analyse_mode=True, ranking=ranking)
    assert not any(first_move(info) == asked[0] for info in outcome.infos)


@given(st.integers(0, 30), st.integers(1, 40), st.booleans(), st.integers(1, 3000))
def test_stopped_after_any_number_of_nodes(seed: int, plies: int, chess960: bool, nodes: int) -> None:
    *_, board = random_game(seed, start_board(seed, chess960), plies)
    if any(board.legal_moves):
        search(board, nodes=nodes if is_compiled() else nodes // 10 + 1, analyse_mode=True)


# Which move is better ---------------------------------------------------------------------------------------------


class ToldSearcher:
    """Stands for the searcher of an analysis: each search takes a node and sees what it is told.

    `told`: the score and the depth of a move; the search of another move is not finished. `searched`: how often.
    """

    is_lower_bound = stopped = stop_requested = False
    seldepth = nodes = 0

    def __init__(self, told: dict[int, tuple[int, int]]) -> None:
        self.searched: Counter[int] = Counter()
        self._told = told
        self._root: Sequence[int] = [0]

    def root(self) -> Sequence[int]:
        return self._root

    def set_root(self, root_moves: Sequence[int]) -> None:
        self._root = root_moves

    def clear_result(self) -> None:
        """There is none."""

    def begin_line(self, depth: int, line: int, score: int, end: int) -> None:
        """What is seen does not depend on windows."""

    def open_window(self, score: int, half_window_cp: int) -> None:
        """As above."""

    def search_window(self, depth: int) -> bool:
        self.nodes += 1
        move = self._root[0]
        self.searched[move] += 1
        self.finished = move in self._told
        self.score, self.depth = self._told.get(move, (0, 0))
        return False

    def pv(self) -> Sequence[int]:
        return self._root


class Analysis:
    """An analysis of three moves, by their places."""

    def __init__(self) -> None:
        board = chess.Board(MIDDLEGAME)
        self.moves = [moves.encode(board, move) for move in board.legal_moves][:3]
        self.analysis = RootAnalysis(board, [RootMove((move,)) for move in self.moves])

    def see(self, told: dict[int, tuple[int, int]]) -> None:
        """The analysis has searched these moves, with score and depth, but not what the main search holds for best."""
        searcher = ToldSearcher({self.moves[place]: result for place, result in told.items()})
        self.analysis.run(cast(Any, searcher), 30)

    def better(self, score: int, depth: int, place: int = 0) -> tuple[int | None, int | None]:
        """The main search has finished a depth with a move: which is better now, and when there is no more time."""
        self.analysis.set_best(RootMove((self.moves[place],), score, depth))
        found = (self.analysis.better_move(), self.analysis.better_move_at_end())
        now, at_end = (None if root_move is None else self.moves.index(root_move.move) for root_move in found)
        return now, at_end


def test_a_better_move_is_as_deep_and_better_by_a_margin() -> None:
    position = Analysis()
    position.see({1: (500, 7)})
    assert position.analysis.better_move() is None, "there is no best move yet"
    assert position.better(0, 7)[0] == 1
    assert position.better(0, 8)[0] is None
    position.see({1: (ANALYSIS_MARGIN_CP, 8)})
    assert position.better(0, 8)[0] == 1
    assert position.better(1, 8)[0] is None


def test_in_the_end_a_clearly_better_move_may_be_less_deep() -> None:
    position = Analysis()
    position.see({1: (ANALYSIS_CLEAR_MARGIN_CP, 12 - ANALYSIS_PLIES_BEHIND)})
    assert position.better(0, 12) == (None, 1)
    assert position.better(1, 12) == (None, None)
    assert position.better(0, 13) == (None, None)
    # Of the first depths nothing is played unseen.
    position.see({1: (500, ANALYSIS_ASPIRATION_DEPTH - 1)})
    assert position.better(0, ANALYSIS_ASPIRATION_DEPTH) == (None, None)


def test_what_is_proved_is_better_however_shallow_and_narrow() -> None:
    position = Analysis()
    position.see({1: (MATE - 5, 3)})
    assert position.better(MATE - 15, 20)[0] == 1
    position.see({1: (MATE - 15, 3), 2: (WIN - 9, 2)})
    assert position.better(MATE - 15, 20)[0] is None
    assert position.better(900, 20) == (1, 1)


def test_what_the_main_search_has_seen_as_deep_is_no_news() -> None:
    position = Analysis()
    position.see({1: (190, 10)})
    assert position.better(35, 13, place=1) == (None, None)
    assert position.better(30, 14) == (None, None)
    position.see({1: (190, 14)})
    assert position.better(30, 14)[0] == 1


def test_forcing_moves_are_searched_more_and_promising_ones_at_once() -> None:
    board = chess.Board("6k1/P4ppp/8/8/8/1p6/P4PPP/R3K2R w - - 0 1")
    encoded = {move.uci(): moves.encode(board, move) for move in board.legal_moves}
    analysis = RootAnalysis(board, [RootMove((move,)) for move in encoded.values()])
    searcher = ToldSearcher({})
    weights = {"a7a8q": 4, "a7a8r": 4, "a7a8n": 2, "a7a8b": 2, "a2b3": 2}
    analysis.run(cast(Any, searcher), len(encoded) - len(weights) + sum(weights.values()))
    assert {word: searcher.searched[move] for word, move in encoded.items()} == dict.fromkeys(encoded, 1) | weights
    # One that looks better than the best move goes on until it is as deep.
    analysis.set_best(RootMove((encoded["e1e2"],), 0, 9))
    searcher = ToldSearcher({move: (500 if word == "h2h3" else 0, 8) for word, move in encoded.items()})
    analysis.run(cast(Any, searcher), 3 * len(encoded))
    assert searcher.searched[encoded["h2h3"]] > len(encoded)
    assert searcher.searched[encoded["e1e2"]] == 0
    assert searcher.root() == [0]
