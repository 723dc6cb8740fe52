"""Moves compared and explained, with the real engine: order, lines, causes, text, JSON and the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import chess
import pytest
from chess.engine import Cp, Limit, PovScore

from tests.support import TABLES
from tests.support.analyser import MaterialAnalyser
from tests.test_command_line import secateur
from uci_engine import Engine
from uci_engine.game_analysis.causes import Why
from uci_engine.game_analysis.examination import Examination, examine

SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
BACK_RANK = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash=8) as engine:
        yield engine


def explained(engine: Engine, fen: str, move: str, depth: int = 6) -> Examination:
    return engine.explain(chess.Board(fen), chess.Move.from_uci(move), Limit(depth=depth))


@pytest.mark.parametrize("fen", [BACK_RANK, SCHOLAR, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"])
def test_every_legal_move_is_there_best_first(engine: Engine, fen: str) -> None:
    board = chess.Board(fen)
    comparison = engine.compare_moves(board, Limit(depth=4))
    assert {entry.move for entry in comparison.moves} == set(board.legal_moves)
    # From White's view, so Black has the lowest value first.
    expected = [entry.value.expected for entry in comparison.moves]
    assert expected == sorted(expected, reverse=board.turn)
    assert max(expected, default=1.0) == 1.0
    assert all(entry.depth >= 4 for entry in comparison.moves[1:])
    assert (comparison.nodes > 0) == bool(expected)
    assert ("There is no legal move." in str(comparison)) == (not expected)
    # Also where the limit does not reach them all.
    for limit in (Limit(nodes=1), Limit(time=0.001)):
        assert len(engine.compare_moves(board, limit).moves) == len(comparison.moves)


HANGING = "r1bqkb1r/ppp2ppp/2n2n2/3pp1N1/2B1P3/8/PPPP1PPP/RNBQK2R w KQkq - 0 5"


@pytest.mark.parametrize(
    ("fen", "move", "is_best", "kinds"),
    [
        (SCHOLAR, "g8f6", False, [Why.ALLOWS_MATE]),
        (BACK_RANK, "a1a8", True, [Why.TACTIC]),
        ("k7/8/1K6/8/8/8/8/7R w - - 0 1", "h1h7", False, [Why.MISSES_MATE]),
        (HANGING, "d2d3", False, [Why.LOSS]),
    ],
)
def test_a_move_is_explained(engine: Engine, fen: str, move: str, is_best: bool, kinds: list[Why]) -> None:
    explanation = explained(engine, fen, move, depth=8)
    assert explanation.is_best == is_best
    assert explanation.data()["alternatives"] == chess.Board(fen).legal_moves.count() - 1
    assert [cause.why for cause in explanation.causes] == kinds
    assert f"{explanation.why}." in str(explanation)


def test_the_evidence_of_a_cause_can_be_played_through(engine: Engine) -> None:
    explanation = explained(engine, HANGING, "d2d3", depth=9)
    evidence = [each for cause in explanation.causes for each in cause.evidence]
    assert evidence
    for each in evidence:
        after = each.board.copy()
        for played in each.found.line:
            assert after.is_legal(played)
            after.push(played)
        assert each.board.turn != explanation.board.turn
    shown = [board.fen() for _, board, _ in explanation.lines() if board.fen() != explanation.board.fen()]
    assert shown == [each.board.fen() for each in evidence]


def test_a_better_move_may_be_found_only_in_the_search_of_all_other_moves() -> None:
    class Changing(MaterialAnalyser):
        def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
            info = super().analyse(board, limit, **words)
            score = Cp(60 if words.get("root_moves") else 0)
            return info | {"score": PovScore(score, chess.WHITE)} if board.ply() == 0 else info

    explanation = examine(Changing(), chess.Board(), chess.Move.from_uci("a2a3"), Limit(nodes=10))
    assert not explanation.is_best
    assert explanation.best.move != explanation.move
    assert "the best move" not in str(explanation)


def test_all_searches_count_within_the_limit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    board, move = chess.Board(HANGING), chess.Move.from_uci("d2d3")
    searches: list[tuple[Limit, int]] = []

    def noted(board: chess.Board, limit: Limit, **words: Any) -> Any:
        result = Engine.analyse(engine, board, limit, **words)
        searches.append((limit, (result[0] if isinstance(result, list) else result)["nodes"]))
        return result

    monkeypatch.setattr(engine, "analyse", noted)
    explanation = engine.explain(board, move, Limit(nodes=5000))
    assert explanation.nodes == sum(nodes for _, nodes in searches) <= 5000
    searches.clear()
    engine.explain(board, move, Limit(time=0.05))
    # On a busy machine nothing may be left for the last searches. They have one ply.
    limited = [limit for limit, _ in searches if limit != Limit(depth=1)]
    assert limited
    assert all(limit.time is not None and limit.time <= 0.05 for limit in limited)


def test_tablebases_give_a_verdict() -> None:
    with Engine(hash=8, syzygy_path=str(TABLES)) as engine:
        assert engine.probe_tablebases(chess.Board()) is None
        for king, wdl, said in (("k7", 2, "White wins"), ("7k", 0, "draw")):
            fen = f"{king}/8/8/8/8/8/7P/4K3 w - - 0 1"
            assert engine.probe_tablebases(chess.Board(fen)) == wdl
            assert f"The tablebases say: {said}." in str(explained(engine, fen, "h2h4"))


def test_json(engine: Engine) -> None:
    data = json.loads(json.dumps(explained(engine, HANGING, "d2d3", depth=8).data()))
    (cause,) = data["causes"]
    assert (cause["winner"], cause["material"]["bishop"]) == ("black", 1)
    comparison = engine.compare_moves(chess.Board(SCHOLAR), Limit(depth=2))
    assert len(json.loads(json.dumps(comparison.data()))["moves"]) == len(comparison.moves)


def test_the_command_compares_and_explains() -> None:
    table = secateur("explain", "--fen", BACK_RANK, "--depth", 4)
    assert table.stderr == ""
    assert table.stdout.splitlines()[2].startswith("Ra8#          #1")
    result = secateur("explain", "--fen", SCHOLAR, "--depth", 6, "--move", "Nf6", "--json")
    assert result.stderr == ""
    data = json.loads(result.stdout)
    assert (data["san"], data["line"]) == ("Nf6", ["g8f6", "h5f7"])
    assert data["value"] == {"mate": 1, "expected": 1.0}
    assert [cause["mate"] for cause in data["causes"]] == [1]
    moves = secateur("explain", "--moves", "e2e4", "e7e5", "--depth", 2, "--move", "g1f3")
    assert "2. Nf3" in moves.stdout
