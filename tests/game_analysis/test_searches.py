"""Verdicts: how often a move is looked at, what decides, and that they are the same for whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import pytest
from chess.engine import Cp, Limit, Mate, PovScore, Score

from tests.support.analyser import MaterialAnalyser
from uci_engine import Engine
from uci_engine.board.pgn import ReadGame
from uci_engine.game_analysis.analysed_game import analyse_game
from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.examination import EFFORTS, examine
from uci_engine.game_analysis.judgement import Mark
from uci_engine.game_analysis.searches import Searches, Verdict, Verdicts, limit_text, share_of
from uci_engine.game_analysis.words import sentence

E4, D4 = map(chess.Move.from_uci, ("e2e4", "d2d4"))


@dataclass
class Script(MaterialAnalyser):
    """What White is worth at the start, where `best` is the first move, and after it, by the length of the search.

    `others`: that of all moves but one. `asked` has the ply, the nodes and the moves of each search, in `games`.
    """

    start: Sequence[int]
    after: Sequence[int | Score]
    best: chess.Move = D4
    others: int = -900
    asked: list[tuple[int, int, list[chess.Move] | None]] = field(default_factory=list)
    games: list[object] = field(default_factory=list)

    def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
        moves, nodes = words["root_moves"], limit.nodes or 0
        look = {25: 0, 100: 0, 200: 1, 50: 1, 800: 2}.get(nodes, 2)
        worth = (self.after if board.ply() else self.start)[look] if moves is None else self.others
        self.asked.append((board.ply(), nodes, moves))
        self.games.append(words["game"])
        first = moves[0] if moves else next(iter(board.legal_moves)) if board.ply() else self.best
        score = worth if isinstance(worth, Score) else Cp(worth)
        return {"score": PovScore(score, chess.WHITE), "depth": 10, "nodes": nodes, "pv": [first]}


def verdict(script: Script, thorough: bool = False) -> Verdict:
    """That on 1.e4 from a position that is in no book, the first look with 100 nodes."""
    board = chess.Board("rnbqkbnr/1ppppppp/p7/8/8/P7/1PPPPPPP/RNBQKBNR w KQkq - 0 1")
    return Verdicts(Searches(script), Limit(nodes=400)).of(board, E4, is_last=False, thorough=thorough)


LOOKS = [(ply, nodes) for nodes in (100, 200, 800) for ply in (0, 1)]


@pytest.mark.parametrize(
    ("start", "after", "mark", "looks"),
    [
        ((0, 0, 0), (-10, -200, -200), Mark.SOUND, 2),
        ((0, 0, 0), (-200, -10, -200), Mark.SOUND, 4),
        ((0, 0, 0), (-200, -200, -30), Mark.SOUND, 6),
        ((0, 0, 0), (-50, -200, -200), Mark.BLUNDER, 6),
        # It costs what they find in the mean, the last one four times.
        ((0, 0, 0), (-200, -80, -200), Mark.BLUNDER, 6),
        ((0, 0, 0), (-200, -200, -50), Mark.MISTAKE, 6),
        # The move is better than what the search before it has found.
        ((0, 0, 0), (20, 20, 20), Mark.BEST, 2),
        ((0, 0, 0), (Mate(-2), Mate(-2), Mate(-2)), Mark.BLUNDER, 6),
        # A longer mate is no error.
        ((Mate(2),) * 3, (Mate(4),) * 3, Mark.SOUND, 2),
    ],
)
def test_an_error_is_one_in_every_look(start: Any, after: Any, mark: Mark, looks: int) -> None:
    script = Script(start, after)
    found = verdict(script)
    assert found.judgement.mark is mark
    assert [(ply, nodes) for ply, nodes, _ in script.asked] == LOOKS[:looks]
    # Each search begins with an empty table.
    assert len(set(map(id, script.games))) == looks
    assert verdict(Script(start, after), thorough=True).judgement.mark.sign == mark.sign


@pytest.mark.parametrize(
    ("after", "others", "mark", "asked"),
    [
        # It is the only move, by all looks.
        (0, -300, Mark.GOOD, [25, 50]),
        (0, -20, Mark.BEST, [25]),
        # The search before it thinks it the best, and has not seen what it allows.
        (-200, -20, Mark.BLUNDER, [100, 200, 800]),
        (-200, -300, Mark.BEST, [100]),
        (Mate(-3), -300, Mark.BLUNDER, [100, 200, 800]),
    ],
)
def test_the_other_moves_are_searched_where_that_matters(
    after: int | Score, others: int, mark: Mark, asked: list[int]
) -> None:
    script = Script((0, 0, 0), (after,) * 3, best=E4, others=others)
    assert verdict(script).judgement.mark is mark
    assert [nodes for _, nodes, moves in script.asked if moves] == asked


def test_a_repetition_at_the_end_of_the_game_is_a_draw() -> None:
    board = chess.Board()
    for word in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]:
        board.push_uci(word)
    script = Script((400,) * 3, (400,) * 3)
    for is_last, score in ((True, Cp(0)), (False, Cp(400))):
        # Whoever goes on has not claimed it.
        found = Verdicts(Searches(script), Limit(nodes=400)).of(board, chess.Move.from_uci("f6g8"), is_last=is_last)
        assert found.after.value.score == score


def test_an_analysis_and_a_question_have_the_same_verdicts_and_causes() -> None:
    board = chess.Board()
    for word in OPERA.split():
        board.push_san(word)
    limit = Limit(nodes=6000)
    with Engine(hash=8) as engine, Engine(hash=8) as other:
        game = analyse_game(ReadGame.from_board(board), engine, limit)
        assert len(game.errors) > 1
        for ply in game.plies:
            found = examine(other, ply.board, ply.move, share_of(limit, EFFORTS))
            assert found.judgement.mark.sign == ply.judgement.mark.sign
            if ply.judgement.mark.is_error:
                assert (found.judgement, found.why) == (ply.judgement, sentence(ply.causes))


OPERA = """e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8
Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"""


def test_each_mate_that_is_stated_is_proved_by_the_mate_search() -> None:
    board = chess.Board()
    moves = [board.push_san(word) for word in OPERA.split()]
    board.reset()
    stated = []
    with Engine(hash=16) as engine:
        verdicts = Verdicts(Searches(engine), Limit(nodes=12_000))
        for move in moves:
            mate = verdicts.of(board, move, is_last=move == moves[-1]).best.value.mate_for(chess.WHITE)
            if mate is not None:
                stated.append(mate)
                # Black is mated where each of its moves is.
                after = [board.copy()] if board.turn else [board_after(board, [reply]) for reply in board.legal_moves]
                scores = [engine.analyse(each, Limit(mate=mate))["score"].white() for each in after]
                assert all(score >= Mate(mate) for score in scores), (board.fen(), mate)
            board.push(move)
    assert stated[-3:] == [2, 1, 1]


def test_limits() -> None:
    assert share_of(Limit(time=0.5), 0.5) == Limit(time=0.25)
    assert share_of(Limit(nodes=1), 0.2) == Limit(nodes=1)
    assert share_of(Limit(depth=7), 0.2) == Limit(depth=7)
    texts = [limit_text(limit) for limit in (Limit(time=0.2), Limit(nodes=5), Limit(depth=3))]
    assert texts == ["0.2 s a move", "5 nodes a move", "depth 3"]
