"""Scouting in analysis: what it finds, that it only proposes, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel import is_compiled, random_game, search, searcher, start_board

from uci_engine import score as scores
from uci_engine.core import moves
from uci_engine.deepening import Request
from uci_engine.line import Line, Window
from uci_engine.ranking import Ranking, Standing
from uci_engine.scouting import FIND_DEPTH_BEHIND, FIND_MARGIN_CP, SHARE, Scout

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
# The queen is given for a pawn, and then quiet moves are mate.
QUEEN_SACRIFICE = "r3r1k1/pp1q1pp1/4b1p1/3p2B1/3Q1R2/8/PPP3PP/4R1K1 w - - 0 1"
HANGING_ROOK = "4k3/8/8/8/3r4/8/3R4/4K3 w - - 0 1"
needs_compiler = pytest.mark.skipif(not is_compiled(), reason="too slow in plain Python")


@needs_compiler
def test_a_sacrifice_is_not_hidden_by_its_price() -> None:
    board = chess.Board(QUEEN_SACRIFICE)
    found = search(Request(board, nodes=30_000, analysing=True))
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
        patch.setattr("uci_engine.deepening.Scout", Counted)
        search(Request(chess.Board(MIDDLEGAME), nodes=200_000, analysing=True))
    # A move is searched to the end, so the share is overdrawn a little.
    assert SHARE - 0.05 < spent[-2] < SHARE + 0.05


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_depth_that_was_asked_for_is_the_searchs_to_answer(depth: int) -> None:
    outcome = search(Request(chess.Board(MIDDLEGAME), depth=depth, analysing=True))
    assert outcome.infos[-1].depth == depth
    assert outcome.best.uci() == outcome.infos[-1].pv[0]


@pytest.mark.parametrize(
    ("lines", "mate", "analysing"), [(1, None, False), (2, None, True), (1, 2, True)], ids=["game", "lines", "mate"]
)
def test_nothing_is_scouted(lines: int, mate: int | None, analysing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*ignored: Any) -> None:
        raise AssertionError("a scout was sent")

    monkeypatch.setattr(Scout, "look", refuse)
    search(Request(chess.Board(MIDDLEGAME), depth=3, lines=lines, mate=mate, analysing=analysing))


def test_only_moves_asked_for_and_of_the_best_rank_are_scouted() -> None:
    board = chess.Board(MIDDLEGAME)
    asked = [chess.Move.from_uci(word) for word in ("a7a6", "h7h6", "c6d4", "d8a5")]
    outcome = search(Request(board, asked, nodes=3000, analysing=True))
    assert {chess.Move.from_uci(info.pv[0]) for info in outcome.infos} <= set(asked)
    standings = {move: Standing(int(move.uci()[1] == "7"), None) for move in asked}
    outcome = search(Request(board, asked, nodes=3000, analysing=True, ranking=Ranking(standings)))
    assert {info.pv[0] for info in outcome.infos} <= {"a7a6", "h7h6"}


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(1, 40), st.booleans(), st.integers(1, 3000))
def test_stopped_after_any_number_of_nodes(seed: int, plies: int, chess960: bool, nodes: int) -> None:
    *_, board = random_game(seed, start_board(seed, chess960), plies)
    if not any(board.legal_moves):
        return
    before = board.fen()
    outcome = search(Request(board, nodes=nodes if is_compiled() else nodes // 10 + 1, analysing=True))
    assert outcome.best in board.legal_moves
    assert outcome.nodes <= nodes
    assert board.fen() == before
    for info in outcome.infos:
        copy = board.copy()
        for word in info.pv:
            copy.push_uci(word)


def scout_of(board: chess.Board) -> tuple[Scout, dict[str, int]]:
    numbers = {move.uci(): moves.encode(board, move) for move in board.legal_moves}
    return Scout(board, numbers.values()), numbers


def looked_at(board: chess.Board, scout: Scout, most_nodes: float) -> Any:
    machine = searcher()
    machine.table.clear()
    machine.forget()
    machine.position.set_board(board)
    machine.begin(0, 0)
    scout.look(machine, most_nodes)
    return machine


def proposals(scout: Scout, rivals: Iterable[Line]) -> list[int | None]:
    found = []
    for rival in rivals:
        scout.challenge(rival)
        find = scout.propose()
        found.append(find.moves[0] if find is not None else None)
    return found


def test_what_a_depth_has_refuted_is_not_proposed_again_before_it_is_searched_deeper() -> None:
    # Somebody thinks that a king's move is best.
    board = chess.Board(HANGING_ROOK)
    scout, numbers = scout_of(board)
    rival = Line([numbers["e1f1"]], score=100, depth=3)
    scout.challenge(rival)
    looked_at(board, scout, 400)
    find = scout.propose()
    assert find is not None
    assert find.moves[0] == numbers["d2d4"]
    assert find.score >= rival.score + FIND_MARGIN_CP
    deeper = find.depth + FIND_DEPTH_BEHIND
    # The main search looked, and held to its move.
    assert proposals(scout, [Line(rival.moves, rival.score, deeper)] * 2) == [None, None]
    looked_at(board, scout, 20_000 if is_compiled() else 2_000)
    assert proposals(scout, [Line(rival.moves, rival.score, deeper)]) == [numbers["d2d4"]]


def test_finds_must_be_deep_enough() -> None:
    board = chess.Board(HANGING_ROOK)
    scout, numbers = scout_of(board)
    looked_at(board, scout, 400)
    depth = next(seen.line.depth for seen in scout._seen if seen.move == numbers["d2d4"])
    rival = [numbers["e1f1"]]
    assert proposals(scout, [Line(rival, 100, depth + FIND_DEPTH_BEHIND + 1)]) == [None]
    assert proposals(scout, [Line(rival, 100, depth + FIND_DEPTH_BEHIND)]) == [numbers["d2d4"]]


def test_forcing_moves_are_looked_at_more() -> None:
    board = chess.Board("6k1/5ppp/8/8/8/1p6/P4PPP/R3K2R w - - 0 1")
    scout, numbers = scout_of(board)
    looked_at(board, scout, 4000)
    nodes = {seen.move: seen.nodes for seen in scout._seen}
    quiet = sorted(nodes[numbers[word]] for word in ("h2h4", "e1e2", "g2g3", "f2f3", "a2a4"))
    assert nodes[numbers["a2b3"]] > quiet[2]


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
