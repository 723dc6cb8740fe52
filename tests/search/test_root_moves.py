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

    def root_order(self) -> Sequence[int]:
        return self._root

    def set_root(self, root_moves: Sequence[int]) -> None:
        self._root = root_moves

    def clear_result(self) -> None:
        """There is none."""

    def search_root_move(self, move: int, depth: int, score: int, half_window_cp: int) -> bool:
        """What is seen does not depend on windows."""
        self._root = [move]
        self.nodes += 1
        self.searched[move] += 1
        self.score, self.depth = self._told.get(move, (0, 0))
        return move in self._told

    def pv(self) -> Sequence[int]:
        return self._root


@pytest.mark.parametrize(
    ("told", "best", "better"),
    [
        # Told of moves: score and depth. Best of the main search, in turn: move, score and depth. Better: the move now,
        # and when there is no more time. It is as deep, and better by a margin.
        ({1: (500, 7)}, [(0, 0, 7)], (1, 1)),
        ({1: (500, 7)}, [(0, 0, 8)], (None, 1)),
        ({1: (ANALYSIS_MARGIN_CP, 8)}, [(0, 0, 8)], (1, None)),
        ({1: (ANALYSIS_MARGIN_CP, 8)}, [(0, 1, 8)], (None, None)),
        # In the end a clearly better move may be less deep, but of the first depths nothing is played unseen.
        ({1: (ANALYSIS_CLEAR_MARGIN_CP, 12 - ANALYSIS_PLIES_BEHIND)}, [(0, 0, 12)], (None, 1)),
        ({1: (ANALYSIS_CLEAR_MARGIN_CP, 12 - ANALYSIS_PLIES_BEHIND)}, [(0, 1, 12)], (None, None)),
        ({1: (ANALYSIS_CLEAR_MARGIN_CP, 12 - ANALYSIS_PLIES_BEHIND)}, [(0, 0, 13)], (None, None)),
        ({1: (500, ANALYSIS_ASPIRATION_DEPTH - 1)}, [(0, 0, ANALYSIS_ASPIRATION_DEPTH)], (None, None)),
        # What is proved is better, however shallow and narrow.
        ({1: (MATE - 5, 3)}, [(0, MATE - 15, 20)], (1, 1)),
        ({1: (MATE - 15, 3), 2: (WIN - 9, 2)}, [(0, MATE - 15, 20)], (None, None)),
        ({1: (MATE - 15, 3), 2: (WIN - 9, 2)}, [(0, 900, 20)], (1, 1)),
        # What the main search has seen as deep is no news.
        ({1: (190, 10)}, [(1, 35, 13)], (None, None)),
        ({1: (190, 10)}, [(1, 35, 13), (0, 30, 14)], (None, None)),
        ({1: (190, 14)}, [(1, 35, 13), (0, 30, 14)], (1, 1)),
    ],
)
def test_which_move_is_better_now_and_at_the_end(
    told: dict[int, tuple[int, int]], best: list[tuple[int, int, int]], better: tuple[int | None, int | None]
) -> None:
    board = chess.Board(MIDDLEGAME)
    encoded = [moves.encode(board, move) for move in board.legal_moves][:3]
    analysis = RootAnalysis(board, [RootMove((move,)) for move in encoded])
    analysis.run(cast(Any, ToldSearcher({encoded[place]: result for place, result in told.items()})), 30)
    assert analysis.better_move() is None, "there is no best move yet"
    for place, score, depth in best:
        analysis.set_best(RootMove((encoded[place],), score, depth))
    found = (analysis.better_move(), analysis.better_move_at_end())
    assert tuple(root_move and encoded.index(root_move.move) for root_move in found) == better


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
    assert searcher.root_order() == [0]
