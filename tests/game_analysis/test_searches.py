"""The searches of a game: backwards, each position once, what a later one shows reaching the earlier one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import chess
import chess.pgn
from chess.engine import Cp, Limit, Mate, PovScore, Score

from tests.support.analyser import MaterialAnalyser
from uci_engine import Engine
from uci_engine.game_analysis.boards import board_after, positions
from uci_engine.game_analysis.searches import (
    LEAST_SECOND_SHARE,
    MAIN_SHARE,
    Analyser,
    limit_text,
    search_game,
    share_of,
)
from uci_engine.game_analysis.values import Found, SearchedMove

MOVES = [chess.Move.from_uci(word) for word in ("e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7")]


def search(
    analyser: Analyser, moves: Sequence[chess.Move], limit: Limit, tell: Callable[[float], None] = lambda share: None
) -> tuple[list[Found], list[SearchedMove]]:
    return search_game(analyser, positions(chess.Board(), moves), moves, limit, tell)


class Script(MaterialAnalyser):
    """Gives these scores (for White) and first moves by ply, and notes what it is asked."""

    def __init__(self, scores: dict[int, int], best: dict[int, str] | None = None) -> None:
        super().__init__()
        self.scores, self.best = scores, best or {}
        self.asked: list[tuple[int, float | None, list[chess.Move] | None]] = []
        self.games: list[object] = []

    def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
        root_moves = words.get("root_moves")
        moves = None if root_moves is None else list(root_moves)
        answer = self.answer(board, moves)
        self.asked.append((board.ply(), limit.time, moves))
        self.games.append(words["game"])
        return answer

    def answer(self, board: chess.Board, moves: list[chess.Move] | None) -> dict[str, Any]:
        """What a search of these moves, None for all, reports. It is noted afterwards."""
        first = chess.Move.from_uci(self.best.get(board.ply(), next(iter(board.legal_moves)).uci()))
        move = moves[0] if moves else first
        score = PovScore(Cp(self.scores.get(board.ply(), 0)), chess.WHITE)
        return {"score": score, "depth": 10, "nodes": 100, "pv": [move]}


# Only the third move costs enough for a second look.
SCORES = {0: 0, 1: -5, 2: 0, 3: -100, 4: -98, 5: -100, 6: -98}
BETTER = {2: "g1f3"}


def test_positions_are_searched_backwards_in_one_game_within_the_limit() -> None:
    analyser = Script({3: 400, 4: -400})
    told: list[float] = []
    found, searched = search(analyser, MOVES[:4], Limit(time=1.0), told.append)
    first_looks = [entry[:2] for entry in analyser.asked if entry[2] is None][:5]
    assert first_looks == [(ply, MAIN_SHARE) for ply in (4, 3, 2, 1, 0)]
    assert len(set(map(id, analyser.games))) == 1
    assert (len(found), len(searched), told) == (5, 4, [0.2] * 5)
    assert sum(seconds or 0 for _, seconds, _ in analyser.asked) <= 5.0 + 1e-9


def test_an_error_gets_a_second_look_at_both_moves() -> None:
    analyser = Script(SCORES, BETTER)
    _, searched = search(analyser, MOVES[:6], Limit(time=1.0))
    better = chess.Move.from_uci("g1f3")
    looks = [(ply, seconds or 0.0) for ply, seconds, moves in analyser.asked[-2:] if moves is None]
    assert [ply for ply, _ in looks] == [2, 3]
    assert looks[0][1] == looks[1][1]
    assert looks[0][1] >= LEAST_SECOND_SHARE
    assert not searched[2].is_best
    assert searched[2].best.move == better
    assert searched[2].best.value.expected > searched[2].played.value.expected + 0.1


def test_what_a_later_position_shows_reaches_the_move_before() -> None:
    # The search before the move sees nothing; the position after it is better than anything seen.
    analyser = Script({2: 0, 3: 250}, {2: "g1f3"})
    found, searched = search(analyser, MOVES[:3], Limit(time=1.0))
    assert searched[2].is_best
    assert found[2].value == found[3].value
    assert found[2].move == MOVES[2]


class Wiser(Script):
    """Gives other scores and first moves when it searches a position again."""

    def __init__(self, scores: dict[int, int], best: dict[int, str]) -> None:
        super().__init__(scores, best)
        self.again: dict[int, tuple[int, str]] = {}

    def answer(self, board: chess.Board, moves: list[chess.Move] | None) -> dict[str, Any]:
        ply = board.ply()
        is_second = any(asked == ply and of is None for asked, _, of in self.asked)
        info = super().answer(board, moves)
        if moves is None and is_second and ply in self.again:
            cp, word = self.again[ply]
            return info | {"score": PovScore(Cp(cp), chess.WHITE), "pv": [chess.Move.from_uci(word)]}
        return info


def test_a_second_look_may_show_that_a_move_was_no_error() -> None:
    analyser = Wiser({0: 0, 1: -5, 2: 0, 3: -300, 4: 0}, BETTER)
    _, by_depth = search(analyser, MOVES[:6], Limit(depth=5))
    assert not by_depth[2].is_best
    analyser.asked.clear()
    analyser.again = {3: (0, "g8e7")}
    found, searched = search(analyser, MOVES[:6], Limit(time=1.0))
    assert searched[2].is_best
    assert found[2].value.expected == 0.5


def test_a_second_look_uncovers_the_chance_that_the_opponent_missed() -> None:
    analyser = Wiser(SCORES, {**BETTER, 3: "g7g6"})
    _, before = search(analyser, MOVES[:6], Limit(time=1.0))
    assert before[3].best.value.score == Cp(-100)
    analyser.asked.clear()
    analyser.again = {3: (-400, "g7g6")}
    found, searched = search(analyser, MOVES[:6], Limit(time=1.0))
    assert found[3].value.score == Cp(-400)
    assert not searched[3].is_best
    assert searched[3].best.value.score == Cp(-400)
    assert sum(seconds or 0 for _, seconds, _ in analyser.asked) <= 7.0 + 1e-9


# The knights go out and back, but for the last one. Twenty moves leave enough effort for several second looks.
KNIGHTS = [chess.Move.from_uci(word) for word in ("g1f3", "g8f6", "f3g1", "f6g8")] * 10
KNIGHTS[-1] = chess.Move.from_uci("f6d5")


def test_second_looks_go_from_the_last_error_to_the_first() -> None:
    scores = {ply: 0 if ply < 5 else -100 if ply < 13 else -300 for ply in range(41)}
    analyser = Script(scores, {4: "e2e4", 12: "e2e4"})
    search(analyser, KNIGHTS, Limit(time=1.0))
    assert [ply for ply, _, moves in analyser.asked if moves is None][41:] == [12, 13, 4, 5]


def test_a_second_look_may_find_another_better_move() -> None:
    analyser = Wiser({ply: 0 if ply < 5 else -100 for ply in range(41)}, {4: "e2e4"})
    analyser.again = {4: (0, "d2d4")}
    _, searched = search(analyser, KNIGHTS, Limit(time=1.0))
    assert not searched[4].is_best
    assert searched[4].best.move == chess.Move.from_uci("d2d4")
    assert all(searched[index].is_best for index in range(4))
    assert sum(seconds or 0 for _, seconds, _ in analyser.asked) <= 41.0 + 1e-9


def test_a_mate_at_the_end_of_the_game_is_counted_from_each_position() -> None:
    found, searched = search(MaterialAnalyser(), MOVES, Limit(nodes=1))
    assert found[7].value.expected == 1.0
    assert found[6].value.score == Mate(1)
    assert searched[6].is_best
    assert not searched[5].is_best
    assert searched[5].played.value.score == Mate(1)


def test_a_repetition_at_the_end_of_the_game_is_a_draw() -> None:
    moves = [chess.Move.from_uci(word) for word in ("g1f3", "g8f6", "f3g1", "f6g8") * 2]
    scores = dict.fromkeys(range(12), 400)
    found, searched = search(Script(scores), moves, Limit(nodes=1))
    assert found[8].value.score == Cp(0)
    assert searched[7].played.value.score == Cp(0)
    # Whoever goes on has not claimed it.
    found, _ = search(Script(scores), [*moves, chess.Move.from_uci("g1f3")], Limit(nodes=1))
    assert found[8].value.score == Cp(400)


class Mated(Script):
    """Black is mated in 3 after the move g8f6, ply 6. What its other moves are worth is given."""

    def __init__(self, best: str, others: Score) -> None:
        super().__init__(dict.fromkeys(range(6), 500), {5: best})
        self.others = others

    def answer(self, board: chess.Board, moves: list[chess.Move] | None) -> dict[str, Any]:
        info = super().answer(board, moves)
        if board.ply() == 6:
            return info | {"score": PovScore(Mate(3), chess.WHITE)}
        if board.ply() == 5 and moves and MOVES[5] not in moves:
            return info | {"score": PovScore(self.others, chess.WHITE)}
        return info


def test_a_move_that_allows_a_mate_does_not_say_that_all_moves_do() -> None:
    for limit in (Limit(time=1.0), Limit(depth=5)):
        # The search thinks that the move played is the best one. So the others are searched.
        analyser = Mated("g8f6", Cp(600))
        found, searched = search(analyser, MOVES[:6], limit)
        assert found[6].value.score == Mate(3)
        assert found[5].value.score == Cp(600)
        assert not searched[5].is_best
        assert found[4].value.score == Cp(600)
        # It knows of a better one: both expect nothing, but only one is mated.
        found, searched = search(Mated("g7g6", Cp(600)), MOVES[:6], limit)
        assert found[5].value.score == Cp(500)
        assert not searched[5].is_best


def test_a_mate_goes_back_where_all_moves_were_searched() -> None:
    found, _ = search(Mated("g8f6", Mate(2)), MOVES[:6], Limit(time=1.0))
    assert [entry.value.score for entry in found[3:7]] == [Cp(500), Mate(4), Mate(3), Mate(3)]
    # The longest defence counts.
    found, _ = search(Mated("g8f6", Mate(5)), MOVES[:6], Limit(time=1.0))
    assert [entry.value.score for entry in found[4:7]] == [Mate(6), Mate(5), Mate(3)]


OPERA = """e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8
Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"""


def test_each_mate_that_is_stated_is_proved_by_the_mate_search() -> None:
    board = chess.Board()
    moves = [board.push_san(word) for word in OPERA.split()]
    board.reset()
    stated = []
    with Engine(hash=16) as engine:
        found, _ = search(engine, moves, Limit(nodes=4000))
        for entry, move in zip(found, moves, strict=False):
            mate = entry.value.mate_for(chess.WHITE)
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
