"""The bench of causes: claims on the board, edits by another engine, and the program on one game."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import pytest
from chess.engine import Cp, PovScore

import explain_bench
from explain_bench import main
from toolkit.claims import RULES, Claim, claims_of
from toolkit.errors import ProgramError
from uci_engine.game_analysis.causes import Cause, Evidence, Why
from uci_engine.game_analysis.judgement import Found, value_of
from uci_engine.game_analysis.tactics import Kind, Line, Motif


def motif(kind: Kind, move: str, targets: str, others: str = "") -> Motif:
    """A motif of the first move; squares by their names, the actor is what moves."""
    played = chess.Move.from_uci(move)
    first, second = (tuple(map(chess.parse_square, words.split())) for words in (targets, others))
    return Motif(kind, 0, played, played.to_square, first, second)


@pytest.mark.parametrize(
    ("fen", "named", "is_true"),
    [
        ("4k3/8/8/3r4/8/8/8/3Q2K1 w - - 0 1", motif(Kind.CAPTURE, "d1d5", "d5"), True),
        ("4k3/8/4p3/3r4/8/8/8/3Q2K1 w - - 0 1", motif(Kind.CAPTURE, "d1d4", "d4"), False),
        ("4k3/8/8/3r4/8/8/8/3Q2K1 w - - 0 1", motif(Kind.CAPTURE, "d1d4", "d5"), False),
        ("4k3/8/8/q7/8/8/4N3/6K1 w - - 0 1", motif(Kind.FORK, "e2d4", "a5 e8"), False),
        ("4k3/8/q7/8/8/3N4/8/6K1 w - - 0 1", motif(Kind.FORK, "d3c5", "a6"), False),
        ("4k3/8/q7/8/8/3N4/8/6K1 w - - 0 1", motif(Kind.ATTACK, "d3c5", "a6"), True),
        ("4k3/4n3/8/8/8/8/8/R5K1 w - - 0 1", motif(Kind.PIN, "a1e1", "e7", "e8"), True),
        ("4k3/4n3/4p3/8/8/8/8/R5K1 w - - 0 1", motif(Kind.PIN, "a1e1", "e7", "e8"), False),
        ("4k3/8/8/8/8/8/8/R5K1 w - - 0 1", motif(Kind.UNGUARDED, "a1b1", "a7"), True),
        ("4k3/8/8/8/8/8/8/R5K1 w - - 0 1", motif(Kind.UNGUARDED, "a1a2", "a7"), False),
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", motif(Kind.BACK_RANK_MATE, "a1a8", "g8"), True),
        ("6k1/5pp1/8/8/8/8/8/R5K1 w - - 0 1", motif(Kind.BACK_RANK_MATE, "a1a8", "g8"), False),
        ("4k3/1n6/8/8/2P5/8/8/4RK2 w - - 0 1", motif(Kind.TRAPPED, "c4c5", "b7"), False),
    ],
)
def test_a_false_claim_is_found(fen: str, named: Motif, is_true: bool) -> None:
    board = chess.Board(fen)
    assert board.is_legal(named.move)
    assert RULES[named.kind](Claim.of(Line(board, [named.move], board.turn), named)) is is_true


def lost_rook(*found: Found, bishop: str = "e5") -> Cause:
    """White moves the king, and the rook on a1 is taken by the bishop. `found`: what a search finds that hands over."""
    board = chess.Board("6k1/8/8/8/8/8/8/R5K1 w - - 0 1")
    board.set_piece_at(chess.parse_square(bishop), chess.Piece(chess.BISHOP, chess.BLACK))
    line = Line(board, [chess.Move.from_uci("g1h1"), chess.Move.from_uci(f"{bishop}a1")], chess.BLACK)
    evidence = tuple(Evidence(line.boards[1], each) for each in found)
    return Cause(Why.LOSS, chess.BLACK, line, (), 2, (0, 0, 0, 1, 0, 0), evidence=evidence)


def test_material_and_threats_are_checked_too() -> None:
    material = ("material in the line shown", True)
    assert claims_of(lost_rook()) == [material]
    drawn = Found(value_of(Cp(0)))
    assert claims_of(lost_rook(drawn)) == [material, ("reply legal before", True)]
    # From d4 the bishop gives check: nobody can pass.
    assert claims_of(lost_rook(drawn, bishop="d4")) == [material, ("reply legal before", False)]


class Doubted:
    """An engine to whom White's king move, and the capture of the rook, are worth -3, and all else so many pawns."""

    def __init__(self, other_cp: int) -> None:
        self.other_cp = other_cp

    def analyse(
        self, board: chess.Board, limit: object, *, game: object, root_moves: Sequence[chess.Move]
    ) -> dict[str, Any]:
        is_bad = any(move.uci() in ("e5a1", "g1h1") for move in root_moves)
        return {"score": PovScore(Cp(-300 if is_bad else self.other_cp), chess.WHITE)}


@pytest.mark.parametrize(("other_cp", "right", "wrong"), [(0, "confirmed", "refused"), (-295, "no loss", "no loss")])
def test_an_edit_is_judged_by_the_other_engine(
    monkeypatch: pytest.MonkeyPatch, other_cp: int, right: str, wrong: str
) -> None:
    monkeypatch.setattr(explain_bench, "started", lambda command: Doubted(other_cp))
    line = lost_rook().line
    played = Found(value_of(Cp(-300)), line=(line.moves[0],))
    better = Found(value_of(Cp(0)), line=(chess.Move.from_uci("a1a8"),))
    other = explain_bench.OtherEngine((), 1, line.boards[0], played, better)
    taking = Found(value_of(Cp(-500)), line=(line.moves[1],))
    # What a search found may be as good for White as the better move.
    for cause, expected in (
        (lost_rook(), [("", right)]),
        (lost_rook(taking), [("PASS", right)]),
        (lost_rook(better), [("PASS", wrong)]),
    ):
        assert [(check["edit"], check["verdict"]) for check in other.checks(cause)] == expected


GAME = {"moves": "e2e4 e7e5 d1h5 b8c6 h5f7 e8f7", "marks": {"4": ["Blunder", "f1c4", ""]}}


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, output = tmp_path / "games.jsonl", tmp_path / "output.json"
    games.write_text(f"{json.dumps(GAME)}\n{{}}\n")
    words = [str(games), "--nodes", "3000", "--check", f"{sys.executable} -m uci_engine", "--check-nodes", "3000"]
    words += ["--marks", "1", "--json", str(output)]
    assert main(words) == 0
    found = json.loads(output.read_text())["rows"]
    error, marks = found
    (cause, *_) = error["causes"]
    assert cause["why"] == "LOSS"
    assert cause["claims"]
    assert all(is_true for _, is_true in cause["claims"])
    assert {check["verdict"] for check in cause["checks"]} == {"confirmed"}
    assert marks["marks"]["blunder blunder"] == 1
    assert marks["seen"][-1] == ["blunder", "an error"]
    shown = capsys.readouterr().out
    assert "precision" in shown
    with pytest.raises(ProgramError, match=r"games\.jsonl:2"):
        main([str(games), "--half", "report"])
