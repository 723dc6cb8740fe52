"""The searches of a game: backwards, each position once, what a later one shows reaching the earlier one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import chess
import chess.pgn
import pytest
from chess.engine import Cp, Limit, Mate, PovScore

from tests.support.analyser import MaterialAnalyser
from uci_engine import Engine
from uci_engine.game_analysis.game_search import (
    MAIN_SHARE,
    Effort,
    is_obvious,
    is_sacrifice,
    phase_weight,
    search_game,
)
from uci_engine.game_analysis.report import analyse_game

MOVES = [chess.Move.from_uci(word) for word in ("e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7")]


class Script(MaterialAnalyser):
    """Gives these scores (for White) and first moves by ply, and notes what it is asked."""

    def __init__(self, scores: dict[int, int], best: dict[int, str] | None = None) -> None:
        super().__init__()
        self.scores, self.best = scores, best or {}
        self.asked: list[tuple[int, float | None, list[chess.Move] | None]] = []
        self.games: list[object] = []

    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        game: object = None,
        root_moves: Iterable[chess.Move] | None = None,
        multipv: int | None = None,
    ) -> Any:
        moves = None if root_moves is None else list(root_moves)
        self.asked.append((board.ply(), limit.time, moves))
        self.games.append(game)
        first = chess.Move.from_uci(self.best.get(board.ply(), next(iter(board.legal_moves)).uci()))
        move = moves[0] if moves else first
        score = PovScore(Cp(self.scores.get(board.ply(), 0)), chess.WHITE)
        return {"score": score, "depth": 10, "nodes": 100, "pv": [move]}


def test_positions_are_searched_backwards_in_one_game() -> None:
    analyser = Script({})
    told: list[None] = []
    found, searched = search_game(analyser, chess.Board(), MOVES[:4], Effort(seconds=1.0), lambda: told.append(None))
    plies = [ply for ply, _, moves in analyser.asked if moves is None]
    assert plies == [4, 3, 2, 1, 0]
    assert len(set(map(id, analyser.games))) == 1
    assert (len(found), len(searched), len(told)) == (5, 4, 5)


def test_a_move_takes_no_more_than_its_effort() -> None:
    analyser = Script({3: 400, 4: -400})
    search_game(analyser, chess.Board(), MOVES[:5], Effort(seconds=1.0))
    taken = [seconds or 0 for _, seconds, _ in analyser.asked]
    assert sum(taken) <= 6.0 + 1e-9
    mains = [seconds for _, seconds, moves in analyser.asked if moves is None]
    assert mains == [pytest.approx(MAIN_SHARE)] * 6


def test_an_error_is_checked_by_a_search_of_the_better_move_alone() -> None:
    analyser = Script({2: 0, 3: -300}, {2: "g1f3"})
    _, searched = search_game(analyser, chess.Board(), MOVES[:3], Effort(seconds=1.0))
    better = chess.Move.from_uci("g1f3")
    checks = [seconds for ply, seconds, moves in analyser.asked if ply == 2 and moves == [better]]
    assert checks[0] == pytest.approx(1 - MAIN_SHARE)
    assert not searched[2].is_best
    assert searched[2].best.move == better
    assert searched[2].best.value.expected > searched[2].played.value.expected + 0.3


def test_what_a_later_position_shows_reaches_the_move_before() -> None:
    # The search before the move sees nothing; the position after it is better than anything seen.
    analyser = Script({2: 0, 3: 250}, {2: "g1f3"})
    found, searched = search_game(analyser, chess.Board(), MOVES[:3], Effort(seconds=1.0))
    assert searched[2].is_best
    assert found[2].value == found[3].value
    assert found[2].move == MOVES[2]


def test_what_is_left_over_goes_into_a_second_look_at_an_error() -> None:
    class Second(Script):
        """After the first look, the move played turns out to be as good."""

        def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
            info = super().analyse(board, limit, **words)
            if words.get("root_moves") == [MOVES[2]]:
                info |= {"score": PovScore(Cp(0), chess.WHITE), "depth": 11}
            return info

    # Every other move costs too little for a check.
    scores = {0: 0, 1: -5, 2: 0, 3: -300, 4: -295, 5: -300, 6: -295}
    first = Script(scores, {2: "g1f3"})
    _, searched = search_game(first, chess.Board(), MOVES[:6], Effort(seconds=1.0))
    assert not searched[2].is_best
    alone = [(seconds, moves) for ply, seconds, moves in first.asked if ply == 2 and moves is not None]
    assert [moves for _, moves in alone[1:]] == [[chess.Move.from_uci("g1f3")], [MOVES[2]]]
    assert alone[1][0] == alone[2][0]
    assert sum(seconds or 0 for _, seconds, _ in first.asked) <= 7.0 + 1e-9

    found, searched = search_game(Second(scores, {2: "g1f3"}), chess.Board(), MOVES[:6], Effort(seconds=1.0))
    assert searched[2].is_best
    assert found[2].value.expected == 0.5
    _, by_depth = search_game(Second(scores, {2: "g1f3"}), chess.Board(), MOVES[:6], Effort(depth=5))
    assert not by_depth[2].is_best


def test_a_mate_at_the_end_of_the_game_is_counted_from_each_position() -> None:
    found, searched = search_game(MaterialAnalyser(), chess.Board(), MOVES, Effort(nodes=1))
    assert found[7].value.expected == 1.0
    assert found[6].value.score == Mate(1)
    assert searched[6].is_best
    assert not searched[5].is_best
    assert searched[5].played.value.score == Mate(1)


@pytest.mark.parametrize(
    ("fen", "move", "obvious"),
    [
        (chess.STARTING_FEN, "e2e4", False),
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5", True),
        ("4k3/2p5/3p4/8/8/3R4/8/4K3 w - - 0 1", "d3d6", False),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", True),
        ("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1", "e1e2", True),
    ],
)
def test_obvious_moves(fen: str, move: str, obvious: bool) -> None:
    assert is_obvious(chess.Board(fen), chess.Move.from_uci(move)) == obvious


def test_a_recapture_is_obvious() -> None:
    board = chess.Board("4k3/2p5/3p4/8/8/3R4/3R4/4K3 w - - 0 1")
    board.push_uci("d3d6")
    assert is_obvious(board, chess.Move.from_uci("c7d6"))


def test_a_sacrifice_gives_what_the_line_does_not_bring_back() -> None:
    board = chess.Board("r1b1k2r/pppp1ppp/8/4n3/8/5N2/PPPP1PPP/R1BQK2R w KQkq - 0 1")

    def line(*words: str) -> list[chess.Move]:
        return [chess.Move.from_uci(word) for word in words]

    assert not is_sacrifice(board, line("f3e5", "d7d6", "e5f3", "e8g8"))
    legal = chess.Board("r1bqkb1r/ppp2ppp/2np1n2/4p3/2B1P3/2N2N2/PPPP1PPP/R1BQ1RK1 w kq - 0 1")
    assert is_sacrifice(legal, line("c4f7", "e8f7", "d2d3", "f8e7", "c1e3", "h8f8"))
    assert not is_sacrifice(legal, line("c4f7", "e8f7"))


def test_weights_of_phases() -> None:
    assert phase_weight(chess.Board()) == 24
    assert phase_weight(chess.Board("4k3/8/8/8/8/8/8/RNB1K3 w - - 0 1")) == 4


def test_efforts() -> None:
    assert Effort(seconds=0.5).share(0.5) == Limit(time=0.25)
    assert Effort(nodes=1).share(0.2) == Limit(nodes=1)
    assert Effort(depth=7).share(0.2) == Limit(depth=7)
    assert [str(effort) for effort in (Effort(seconds=0.2), Effort(nodes=5), Effort(depth=3))] == [
        "0.2 s a move",
        "5 nodes a move",
        "depth 3",
    ]


def test_the_real_engine_gives_the_same_twice() -> None:
    def once() -> list[tuple[str, int]]:
        with Engine(hash=4) as engine:
            found, _ = search_game(engine, chess.Board(), MOVES, Effort(nodes=500))
            return [(entry.value.text, entry.depth) for entry in found]

    assert once() == once()


def test_a_game_from_a_board_that_cannot_be_evaluated_is_refused() -> None:
    game = chess.pgn.Game()
    game.headers["FEN"] = "8/8/8/8/8/8/8/8 w - - 0 1"
    with Engine(hash=1) as engine, pytest.raises(ValueError, match="not legal"):
        analyse_game(game, engine, Effort(nodes=1))
