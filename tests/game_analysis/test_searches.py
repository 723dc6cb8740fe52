"""The searches of a game: backwards, each position once, what a later one shows reaching the earlier one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import pytest
from chess.engine import Cp, Limit, Mate, PovScore, Score

from tests.support.analyser import MaterialAnalyser
from uci_engine import Engine
from uci_engine.game_analysis.boards import board_after, positions
from uci_engine.game_analysis.judgement import Found, SearchedMove
from uci_engine.game_analysis.searches import (
    MAIN_SHARE,
    Analyser,
    limit_text,
    search_game,
    share_of,
)


def moves_of(words: str) -> list[chess.Move]:
    return [chess.Move.from_uci(word) for word in words.split()]


MOVES = moves_of("e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7")


def search(
    analyser: Analyser, moves: Sequence[chess.Move], limit: Limit, tell: Callable[[float], None] = lambda share: None
) -> tuple[list[Found], list[SearchedMove]]:
    return search_game(analyser, positions(chess.Board(), moves), moves, limit, tell)


@dataclass
class Script(MaterialAnalyser):
    """Gives these scores for White and first moves by ply, and others, `again`, when it searches a position again.

    With `others` the sixth move of MOVES allows a mate in 3, and all other moves there are worth so much. `asked` notes
    the ply, the seconds and the moves of each search.
    """

    scores: dict[int, int]
    best: dict[int, str] = field(default_factory=dict)
    again: dict[int, tuple[int, str]] = field(default_factory=dict)
    others: Score | None = None
    asked: list[tuple[int, float, list[chess.Move] | None]] = field(default_factory=list)
    games: list[object] = field(default_factory=list)

    def analyse(self, board: chess.Board, limit: Limit, **words: Any) -> Any:
        moves, ply = words["root_moves"], board.ply()
        cp, first = self.scores.get(ply, 0), self.best.get(ply, next(iter(board.legal_moves)).uci())
        if moves is None and ply in self.again and ply in self.looks():
            cp, first = self.again[ply]
        score: Score = Cp(cp)
        if self.others is not None and ply == 6:
            score = Mate(3)
        elif self.others is not None and ply == 5 and moves and MOVES[ply] not in moves:
            score = self.others
        self.asked.append((ply, limit.time or 0.0, moves))
        self.games.append(words["game"])
        pv = [moves[0] if moves else chess.Move.from_uci(first)]
        return {"score": PovScore(score, chess.WHITE), "depth": 10, "nodes": 100, "pv": pv}

    def looks(self) -> list[int]:
        """The plies of the searches of all moves, in their order."""
        return [ply for ply, _, moves in self.asked if moves is None]

    def seconds(self) -> float:
        return sum(seconds for _, seconds, _ in self.asked)


def test_positions_are_searched_backwards_in_one_game_within_the_limit() -> None:
    analyser = Script({3: 400, 4: -400})
    told: list[float] = []
    found, searched = search(analyser, MOVES[:4], Limit(time=1.0), told.append)
    assert analyser.looks()[:5] == [4, 3, 2, 1, 0]
    assert [seconds for _, seconds, moves in analyser.asked if moves is None][:5] == [MAIN_SHARE] * 5
    assert len(set(map(id, analyser.games))) == 1
    assert (len(found), len(searched), told) == (5, 4, [0.2] * 5)
    assert analyser.seconds() <= 5.0 + 1e-9


def test_what_a_later_position_shows_reaches_the_move_before() -> None:
    # The search before the move sees nothing; the position after it is better than anything seen.
    found, searched = search(Script({2: 0, 3: 250}, {2: "g1f3"}), MOVES[:3], Limit(time=1.0))
    assert searched[2].is_best
    assert found[2].value == found[3].value
    assert found[2].move == MOVES[2]


# The knights go out and back, but for the last one. Twenty moves leave enough effort for several second looks.
KNIGHTS = moves_of("g1f3 g8f6 f3g1 f6g8 " * 9 + "g1f3 g8f6 f3g1 f6d5")
# Only the third move costs enough for a second look.
SCORES = {0: 0, 1: -5, 2: 0, 3: -100, 4: -98, 5: -100, 6: -98}
LONG_SCORES = {ply: 0 if ply < 5 else -100 for ply in range(41)}
TWO_ERRORS = {ply: score if ply < 13 else -300 for ply, score in LONG_SCORES.items()}


@pytest.mark.parametrize(
    ("scores", "best", "again", "moves", "ply", "cp", "better", "errors"),
    [
        (SCORES, {2: "g1f3"}, {}, MOVES[:6], 2, 0, "g1f3", [2]),
        # It was no error.
        ({0: 0, 1: -5, 2: 0, 3: -300, 4: 0}, {2: "g1f3"}, {3: (0, "g8e7")}, MOVES[:6], 2, 0, None, [2]),
        # The opponent missed a chance.
        (SCORES, {2: "g1f3", 3: "g7g6"}, {3: (-400, "g7g6")}, MOVES[:6], 3, -400, "g7g6", [2]),
        # Another move is better.
        (LONG_SCORES, {4: "e2e4"}, {4: (0, "d2d4")}, KNIGHTS, 4, 0, "d2d4", [4]),
        # The last one first.
        (TWO_ERRORS, {4: "e2e4", 12: "e2e4"}, {}, KNIGHTS, 12, -100, "e2e4", [12, 4]),
    ],
)
def test_an_error_gets_a_second_look_at_both_moves(
    scores: dict[int, int],
    best: dict[int, str],
    again: dict[int, tuple[int, str]],
    moves: list[chess.Move],
    ply: int,
    cp: int,
    better: str | None,
    errors: list[int],
) -> None:
    analyser = Script(scores, best, again)
    found, searched = search(analyser, moves, Limit(time=1.0))
    assert found[ply].value.score == Cp(cp)
    assert searched[ply].is_best == (better is None)
    assert better is None or searched[ply].best.move == chess.Move.from_uci(better)
    looks = [(ply, seconds) for ply, seconds, moves in analyser.asked if moves is None][len(moves) + 1 :]
    assert [ply for ply, _ in looks] == [ply for error in errors for ply in (error, error + 1)]
    assert looks[0][1] == looks[1][1] > MAIN_SHARE
    assert analyser.seconds() <= len(moves) + 1 + 1e-9
    # A search to a depth has none.
    by_depth = Script(scores, best, again)
    search(by_depth, moves, Limit(depth=5))
    assert by_depth.looks() == list(range(len(moves), -1, -1))


def test_a_repetition_at_the_end_of_the_game_is_a_draw() -> None:
    moves, scores = KNIGHTS[:8], dict.fromkeys(range(12), 400)
    found, searched = search(Script(scores), moves, Limit(nodes=1))
    assert found[8].value.score == searched[7].played.value.score == Cp(0)
    # Whoever goes on has not claimed it.
    found, _ = search(Script(scores), KNIGHTS[:9], Limit(nodes=1))
    assert found[8].value.score == Cp(400)


@pytest.mark.parametrize("limit", [Limit(time=1.0), Limit(depth=5)])
@pytest.mark.parametrize(
    ("best", "others", "scores"),
    [
        # The search thinks that the move played, which allows the mate, is the best one. So the others are searched.
        ("g8f6", Cp(600), [Cp(500), Cp(600), Cp(600), Mate(3)]),
        # It knows of a better one: both expect nothing, but only one is mated.
        ("g7g6", Cp(600), [Cp(500), Cp(500), Cp(500), Mate(3)]),
        # Every move is mated. The longest defence counts.
        ("g8f6", Mate(2), [Cp(500), Mate(4), Mate(3), Mate(3)]),
        ("g8f6", Mate(5), [Cp(500), Mate(6), Mate(5), Mate(3)]),
    ],
)
def test_a_mate_goes_back_only_where_all_moves_were_searched(
    limit: Limit, best: str, others: Score, scores: list[Score]
) -> None:
    analyser = Script(dict.fromkeys(range(6), 500), {5: best}, others=others)
    found, searched = search(analyser, MOVES[:6], limit)
    assert [entry.value.score for entry in found[3:7]] == scores
    assert searched[5].is_best == (others == Mate(2))


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
