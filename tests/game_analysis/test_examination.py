"""Moves compared and explained, with the real engine: order, lines, proofs, text, JSON, HTML and the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest
from chess.engine import Cp, Limit, Mate, PovScore

from tests.support import TABLES
from tests.support.analyser import MaterialAnalyser
from tests.test_command_line import secateur
from uci_engine import Engine
from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.examination import Examination, examine, prove_mate
from uci_engine.game_analysis.searches import Searches
from uci_engine.game_analysis.values import Found, value_of

SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
BACK_RANK = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
LADDER = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash=8) as engine:
        yield engine


def explained(engine: Engine, fen: str, move: str, depth: int = 6) -> Examination:
    return engine.explain(chess.Board(fen), chess.Move.from_uci(move), Limit(depth=depth))


@pytest.mark.parametrize("fen", [BACK_RANK, SCHOLAR])
def test_every_legal_move_is_there_best_first(engine: Engine, fen: str) -> None:
    board = chess.Board(fen)
    comparison = engine.compare_moves(board, Limit(depth=4))
    assert {entry.move for entry in comparison.moves} == set(board.legal_moves)
    # From White's view, so Black has the lowest value first.
    expected = [entry.value.expected for entry in comparison.moves]
    assert expected == sorted(expected, reverse=board.turn)
    assert max(expected) == 1.0
    assert min(entry.depth for entry in comparison.moves[1:]) >= 4
    assert comparison.nodes > 0
    # Also where the limit does not reach them all.
    for limit in (Limit(nodes=1), Limit(time=0.001)):
        assert len(engine.compare_moves(board, limit).moves) == len(comparison.moves)


def test_a_position_without_moves_gives_an_empty_comparison(engine: Engine) -> None:
    comparison = engine.compare_moves(chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Limit(depth=3))
    assert comparison.moves == ()
    assert "There is no legal move." in str(comparison)
    assert "There is no legal move." in comparison.page()


@pytest.mark.parametrize(
    ("fen", "move", "is_best", "texts"),
    [
        (
            SCHOLAR,
            "g8f6",
            False,
            [
                "??",
                "What refutes it: 3...Nf6 4. Qxf7#.",
                "It does not meet a threat: it allows mate in 1 by 4.Qxf7#.",
                "43 replies",
            ],
        ),
        (BACK_RANK, "a1a8", True, ["White has mated.", "1.Ra8# is a back-rank mate.", "0 replies"]),
        ("k7/8/1K6/8/8/8/8/7R w - - 0 1", "h1h7", False, ["a sound move, which costs nothing"]),
    ],
)
def test_a_move_is_explained(engine: Engine, fen: str, move: str, is_best: bool, texts: list[str]) -> None:
    explanation = explained(engine, fen, move)
    assert explanation.is_best == is_best
    assert explanation.alternatives == chess.Board(fen).legal_moves.count() - 1
    for text in texts:
        assert text in str(explanation)


def test_the_best_move_is_not_one_that_another_move_beats() -> None:
    class Late(MaterialAnalyser):
        """Finds the better move only in the search of all other moves."""

        def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
            info = super().analyse(board, limit, **words)
            if words.get("root_moves") is not None:
                info["score"] = PovScore(Cp(60), chess.WHITE)
            return info

    move = chess.Move.from_uci("a2a3")
    explanation = examine(Late(), chess.Board(), move, Limit(nodes=10))
    assert not explanation.is_best
    assert explanation.others is None
    assert explanation.best.move not in (None, move)
    assert "the best move" not in str(explanation)


def test_a_move_worth_more_than_the_better_one_is_the_best() -> None:
    class Changing(MaterialAnalyser):
        """Takes the other move for the better one at first."""

        def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
            info = super().analyse(board, limit, **words)
            if board.ply() == 0:
                info["score"] = PovScore(Cp(-60 if words.get("root_moves") else 60), chess.WHITE)
                info["depth"] = 20
            return info

    explanation = examine(Changing(), chess.Board(), chess.Move.from_uci("h2h3"), Limit(nodes=10))
    assert explanation.is_best
    assert explanation.others is not None
    assert explanation.others.score == Cp(-60)


def test_a_forced_win_is_proved_for_every_defence(engine: Engine) -> None:
    explanation = explained(engine, LADDER, "b1b7", depth=8)
    proof = explanation.proof
    assert proof is not None
    assert proof.answers is not None
    assert proof.is_complete
    assert proof.white_mates
    board = chess.Board(LADDER)
    board.push_uci("b1b7")
    assert {answer.move for answer in proof.answers} == set(board.legal_moves)
    assert all(board_after(board, answer.line).is_checkmate() for answer in proof.answers)


def test_a_mate_that_the_mate_search_refutes_is_not_proved(engine: Engine) -> None:
    # After a move of the king 1...Kg7 lasts longest: 2.Ra6 Kf7 3.Rb7+ Ke8 4.Ra8#.
    played = Found(value_of(Mate(2), 4), 6, 100, (chess.Move.from_uci("g1f1"),))
    for moves, answers in ((2, 0), (3, 0), (4, 3)):
        played = replace(played, value=value_of(Mate(moves), 4))
        proof = prove_mate(Searches(engine, Limit(nodes=100_000)), chess.Board(LADDER), played)
        assert proof is not None
        assert len(proof.answers or ()) == answers
        assert proof.is_complete == bool(answers)


class Noted(Engine):
    """Notes the limit of each search, and counts the nodes of all."""

    def __init__(self) -> None:
        super().__init__(hash=8, move_overhead=0)
        self.limits: list[Limit] = []
        self.nodes = 0

    def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
        result = super().analyse(board, limit, **words)
        self.limits.append(limit)
        self.nodes += (result[0] if isinstance(result, list) else result)["nodes"]
        return result


# White mates in 2, and Black has 34 defences.
MANY_DEFENCES = ("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1", "g3g6")


def test_the_proof_counts_within_the_limit() -> None:
    board, move = chess.Board(MANY_DEFENCES[0]), chess.Move.from_uci(MANY_DEFENCES[1])
    with Noted() as engine:
        explanation = engine.explain(board, move, Limit(nodes=5000))
        assert explanation.proof is not None
        assert explanation.proof.is_complete
        assert "each of the 34 defences has an answer" in str(explanation.proof)
        assert explanation.nodes == engine.nodes <= 5000
        engine.limits.clear()
        explanation = engine.explain(board, move, Limit(time=0.05))
        # On a busy machine nothing may be left for the last searches. They have one ply.
        limited = [limit for limit in engine.limits if limit != Limit(depth=1)]
        assert limited
        assert all(limit.time is not None and limit.time <= 0.05 for limit in limited)


def test_a_proof_that_does_not_fit_into_the_limit_is_left_out_with_a_word(engine: Engine) -> None:
    played = Found(value_of(Mate(2), 4), 6, 100, (chess.Move.from_uci("b1b7"),))
    proof = prove_mate(Searches(engine, Limit(nodes=0)), chess.Board(LADDER), played)
    assert str(proof) == "White mates in 2 by force; the limit is too small for an answer to every defence."
    board = chess.Board(MANY_DEFENCES[0])
    played = Found(value_of(Mate(2), 24), 6, 100, (chess.Move.from_uci(MANY_DEFENCES[1]),))
    cut = prove_mate(Searches(engine, Limit(nodes=40)), board, played)
    assert cut is not None
    assert cut.answers is None


def test_tablebases_give_a_verdict() -> None:
    won, drawn = chess.Board("k7/8/8/8/8/8/7P/4K3 w - - 0 1"), chess.Board("7k/8/8/8/8/8/7P/4K3 w - - 0 1")
    with Engine(hash=8, syzygy_path=str(TABLES)) as engine:
        assert (engine.probe_tablebases(won), engine.probe_tablebases(drawn)) == (2, 0)
        assert engine.probe_tablebases(chess.Board()) is None
        assert "The tablebases say: White wins." in str(explained(engine, won.fen(), "h2h4"))
        assert "The tablebases say: draw." in str(explained(engine, drawn.fen(), "h2h4"))


def test_an_illegal_move_is_refused(engine: Engine) -> None:
    with pytest.raises(ValueError, match="e2e5 is not legal here"):
        engine.explain(chess.Board(), chess.Move.from_uci("e2e5"))
    with pytest.raises(ValueError, match="the limit needs"):
        engine.compare_moves(chess.Board(), Limit(mate=3))


def test_json_and_html(engine: Engine) -> None:
    explanation = explained(engine, SCHOLAR, "g8f6")
    data = json.loads(json.dumps(explanation.data()))
    assert data["line"] == ["g8f6", "h5f7"]
    assert data["value"] == {"mate": 1, "expected": 1.0}
    assert data["proof"]["winner"] == "white"
    html = explanation._repr_html_()
    assert html.startswith("<div><svg")
    assert "<script" not in html
    page = explanation.page()
    assert page.count("<script") == 2
    comparison = engine.compare_moves(chess.Board(SCHOLAR), Limit(depth=2))
    rows = json.loads(json.dumps(comparison.data()))["moves"]
    assert len(rows) == len(comparison.moves)
    assert "<pre>" in comparison._repr_html_()


def test_the_command_compares_and_explains(tmp_path: Path) -> None:
    table = secateur("explain", "--fen", BACK_RANK, "--depth", 4)
    assert table.stderr == ""
    assert table.stdout.splitlines()[2].startswith("Ra8#          #1")
    result = secateur(
        "explain", "--fen", BACK_RANK, "--depth", 4, "--move", "Ra8#", "--json", "--page", "p.html", folder=tmp_path
    )
    assert result.stderr == ""
    assert json.loads(result.stdout)["san"] == "Ra8#"
    assert (tmp_path / "p.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    moves = secateur("explain", "--moves", "e2e4", "e7e5", "--depth", 2, "--move", "g1f3")
    assert "2. Nf3" in moves.stdout
