"""Scouting in analysis: what it finds, what counts as a find, and what it leaves alone."""

from __future__ import annotations

import time
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernel import QUEEN_SACRIFICE, deepening, is_compiled, random_game, search, searcher, start_board
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.search.analysis import (
    CLEAR_MARGIN_CP,
    FIND_MARGIN_CP,
    FIRST_NARROW_DEPTH,
    PLIES_BEHIND,
    SHARE,
    Scout,
)
from uci_engine.search.deepening import Request
from uci_engine.search.root_moves import Line, Window
from uci_engine.tablebases.root_ranking import RootRanking, TablebaseRank
from uci_engine.time_management.allocation import Budget
from uci_engine.time_management.clock import Clock

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
HANGING_ROOK = "4k3/8/8/8/3r4/8/3R4/4K3 w - - 0 1"
needs_compiler = pytest.mark.skipif(not is_compiled(), reason="too slow in plain Python")


# In a search ------------------------------------------------------------------------------------------------------


@needs_compiler
def test_a_sacrifice_is_not_hidden_by_its_price() -> None:
    board = chess.Board(QUEEN_SACRIFICE)
    found = search(Request(board, nodes=60_000, analysing=True))
    assert found.best.uci() == "d4g7"
    assert scores.mate_in_moves(found.score) == 4
    hidden = search(Request(board, nodes=200_000))
    assert hidden.best.uci() != "d4g7"


@needs_compiler
def test_one_thread_spends_its_share() -> None:
    spent = []

    class Counted(Scout):
        def look(self, searcher: Any, most_nodes: float) -> None:
            super().look(searcher, most_nodes)
            spent.append(self.nodes / searcher.nodes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uci_engine.search.deepening.Scout", Counted)
        search(Request(chess.Board(MIDDLEGAME), nodes=200_000, analysing=True))
    # A move is searched to the end, so the share is overdrawn a little.
    assert SHARE - 0.05 < spent[-2] < SHARE + 0.05


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_depth_that_was_asked_for_is_the_searchs_to_answer(depth: int) -> None:
    outcome = search(Request(chess.Board(MIDDLEGAME), depth=depth, analysing=True))
    assert outcome.infos[-1].depth == depth
    assert outcome.best.uci() == outcome.infos[-1].pv[0]


@pytest.mark.parametrize(
    ("fen", "limits", "budget"),
    [
        (MIDDLEGAME, {"analysing": False}, None),
        (MIDDLEGAME, {"lines": 2}, None),
        (MIDDLEGAME, {"mate": 2}, None),
        (MIDDLEGAME, {"root_moves": [chess.Move.from_uci("a7a6")]}, None),
        (MIDDLEGAME, {}, Budget(1000, 5000)),
        ("7k/8/8/8/8/8/6q1/7K w - - 0 1", {}, None),
    ],
    ids=["game", "lines", "mate", "one move asked for", "clock", "one legal move"],
)
def test_nothing_is_scouted(fen: str, limits: dict[str, Any], budget: Budget | None) -> None:
    clock = Clock(time.perf_counter(), budget) if budget else None
    assert deepening(Request(chess.Board(fen), **{"analysing": True, **limits}), clock)[0].scout is None
    assert deepening(Request(chess.Board(MIDDLEGAME), analysing=True))[0].scout is not None


def test_only_moves_asked_for_and_of_the_best_rank_are_scouted() -> None:
    board = chess.Board(HANGING_ROOK)
    asked = [chess.Move.from_uci(word) for word in ("d2d4", "d2d3", "d2c2", "e1e2")]
    outcome = search(Request(board, asked[1:], nodes=3000, analysing=True))
    assert outcome.best != asked[0]
    # The tables say that taking the rook is worse, and know.
    tablebase_ranks = {move: TablebaseRank(int(move != asked[0]), None) for move in asked}
    outcome = search(Request(board, asked, nodes=3000, analysing=True, ranking=RootRanking(tablebase_ranks)))
    assert not any(info.pv[0] == "d2d4" for info in outcome.infos)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(1, 40), st.booleans(), st.integers(1, 3000))
def test_stopped_after_any_number_of_nodes(seed: int, plies: int, chess960: bool, nodes: int) -> None:
    *_, board = random_game(seed, start_board(seed, chess960), plies)
    if not any(board.legal_moves):
        return
    before = board.fen()
    running, infos = deepening(Request(board, nodes=nodes if is_compiled() else nodes // 10 + 1, analysing=True))
    running.run()
    running.report()
    assert running.best in board.legal_moves
    assert running.nodes <= nodes
    assert board.fen() == before
    for info in infos:
        copy = board.copy()
        for word in info.pv:
            copy.push_uci(word)


def test_the_current_move_is_not_the_scouts(monkeypatch: pytest.MonkeyPatch) -> None:
    running, infos = deepening(Request(chess.Board(MIDDLEGAME), nodes=3000, analysing=True))
    told = []

    def look(scout: Scout, searcher: Any, most_nodes: float) -> None:
        before = len(infos)
        running.report_current_move()
        told.append(len(infos) - before)

    monkeypatch.setattr(Scout, "look", look)
    running.run()
    assert told
    assert not any(told)


def test_a_scout_that_was_stopped_looks_no_more() -> None:
    board = chess.Board(MIDDLEGAME)
    running, _ = deepening(Request(board, analysing=True))
    running.stop()
    assert running.scout is not None
    running.scout.look(searcher(), 1000)
    assert running.scout.nodes == 0


# The scout --------------------------------------------------------------------------------------------------------


class Position:
    """A scout of some moves, whose searches find what they are told to."""

    def __init__(self) -> None:
        board = chess.Board(MIDDLEGAME)
        self.moves = [moves.encode(board, move) for move in board.legal_moves]
        self.scout = Scout(board, self.moves)

    def see(self, place: int, score: int, depth: int) -> None:
        """The scout has searched a move."""
        self.scout._seen[place].line = Line([self.moves[place]], score, depth)

    def challenge(self, place: int, score: int, depth: int) -> None:
        """The main search has finished a depth."""
        self.scout.challenge(Line([self.moves[place]], score, depth))

    def finds(self) -> int | None:
        """Which move is a find."""
        return self._place(self.scout.find())

    def finds_in_the_end(self) -> int | None:
        """Which move is a find when there is no more time."""
        return self._place(self.scout.last_find())

    def _place(self, find: Line | None) -> int | None:
        return None if find is None else self.moves.index(find.moves[0])


def test_a_find_is_as_deep_and_better_by_a_margin() -> None:
    position = Position()
    position.see(1, 500, 7)
    assert position.finds() is None, "there is no rival yet"
    position.challenge(0, 0, 7)
    assert position.finds() == 1
    position.challenge(0, 0, 8)
    assert position.finds() is None
    position.see(1, FIND_MARGIN_CP, 8)
    assert position.finds() == 1
    position.challenge(0, 1, 8)
    assert position.finds() is None


def test_in_the_end_a_clear_find_may_be_less_deep() -> None:
    position = Position()
    position.challenge(0, 0, 12)
    position.see(1, CLEAR_MARGIN_CP, 12 - PLIES_BEHIND)
    assert position.finds() is None
    assert position.finds_in_the_end() == 1
    position.challenge(0, 1, 12)
    assert position.finds_in_the_end() is None
    position.challenge(0, 0, 13)
    assert position.finds_in_the_end() is None
    # Of the first depths nothing is played unseen.
    position.challenge(0, 0, FIRST_NARROW_DEPTH)
    position.see(1, 500, FIRST_NARROW_DEPTH - 1)
    assert position.finds_in_the_end() is None


def test_what_is_proved_is_a_find_however_shallow_and_narrow() -> None:
    position = Position()
    position.challenge(0, scores.MATE - 15, 20)
    position.see(1, scores.MATE - 5, 3)
    assert position.finds() == 1
    position.see(1, scores.MATE - 15, 3)
    assert position.finds() is None
    position.challenge(0, 900, 20)
    position.see(2, scores.TABLEBASE_WIN - 9, 2)
    position.see(1, scores.MATE - 15, 3)
    assert position.finds() == 1
    assert position.finds_in_the_end() == 1


def test_what_the_main_search_has_seen_as_deep_is_no_news() -> None:
    position = Position()
    position.see(1, 190, 10)
    position.challenge(1, 35, 13)
    assert position.finds() is None
    assert position.finds_in_the_end() is None
    position.challenge(0, 30, 14)
    assert position.finds() is None
    assert position.finds_in_the_end() is None
    position.see(1, 190, 14)
    assert position.finds() == 1


def test_the_best_of_several_finds() -> None:
    position = Position()
    position.challenge(0, 0, 8)
    for place, score in ((1, 60), (2, 80), (3, 70)):
        position.see(place, score, 8)
    assert position.finds() == 2


def test_a_find_is_the_best_line_from_then_on() -> None:
    board = chess.Board(HANGING_ROOK)
    running, infos = deepening(Request(board, nodes=4000 if is_compiled() else 800, analysing=True))
    scout = running.scout
    assert scout is not None
    machine = searcher()
    order = machine.root()
    scout.look(machine, 400)
    machine.set_root(order)
    taking = moves.encode(board, chess.Move.from_uci("d2d4"))
    # Somebody thinks that a king's move is best.
    scout.challenge(Line([moves.encode(board, chess.Move.from_uci("e1f1"))], 100, 2))
    find = scout.find()
    assert find is not None
    assert find.moves[0] == taking
    running._ask(scout)
    assert machine.root() == [taking, *(move for move in order if move != taking)]
    assert running.line is find
    assert infos[-1].pv[0] == "d2d4"
    assert infos[-1].depth == find.depth


@pytest.mark.parametrize(("better_cp", "is_adopted"), [(CLEAR_MARGIN_CP, True), (CLEAR_MARGIN_CP - 1, False)])
def test_in_the_end_a_clear_find_is_adopted(better_cp: int, is_adopted: bool) -> None:
    running, _ = deepening(Request(chess.Board(MIDDLEGAME), depth=6, analysing=True))
    running.run()
    assert running.scout is not None
    for seen in running.scout._seen:
        seen.line = Line([seen.move])
    other = next(seen for seen in running.scout._seen if seen.move not in running.scout._known)
    other.line = Line([other.move], running.score + better_cp, 5)
    running.adopt_find()
    assert (running.line is other.line) == is_adopted


def test_forcing_moves_and_cheap_ones_are_looked_at_more() -> None:
    board = chess.Board("6k1/5ppp/8/8/8/1p6/P4PPP/R3K2R w - - 0 1")
    running, _ = deepening(Request(board, analysing=True))
    scout = running.scout
    assert scout is not None
    weights = {moves.decode(seen.move, False).uci(): seen.weight for seen in scout._seen}
    assert weights.pop("a2b3") == 2
    assert set(weights.values()) == {1}
    board = chess.Board("6k1/P4ppp/8/8/8/8/5PPP/R3K2R w - - 0 1")
    weights = {
        moves.decode(seen.move, False).uci(): seen.weight
        for seen in Scout(board, [moves.encode(board, move) for move in board.legal_moves])._seen
    }
    assert weights["a7a8q"] == 4
    assert weights["a7a8n"] == 2
    # And by nodes, not by depth: the fewest for its weight comes next.
    for place, seen in enumerate(scout._seen):
        seen.nodes = 100 * seen.weight + place
    scout._seen[7].nodes = 0
    before = scout._seen[7].line
    scout.look(searcher(), 1)
    assert [seen.line.depth for seen in scout._seen if seen.line.depth] == [1]
    assert scout._seen[7].line is not before


@given(st.integers(-300, 300), st.integers(-2000, 2000))
def test_a_window_opens_until_it_holds_any_score(last: int, score: int) -> None:
    window = Window(Line([1], last, 7), 12, True)
    assert window.alpha == last - 12
    assert window.beta == last + 12
    for _ in range(12):
        if window.holds(score):
            return
        # A failure tells on which side the score lies, within the window of now.
        window.widen(min(max(score, window.alpha), window.beta))
        assert window.alpha < window.beta
    raise AssertionError((window.alpha, window.beta))
