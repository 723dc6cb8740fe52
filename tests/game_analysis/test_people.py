"""Who would find it: when something is said, of whom, and that it is the same every time."""

from __future__ import annotations

import chess
import pytest
from chess.engine import Limit

from tests.game_analysis.test_examination import SCHOLAR
from tests.game_analysis.test_pgn import SCHOLAR as GAME
from tests.support.analyser import MaterialAnalyser
from uci_engine import Engine
from uci_engine.board.pgn import read_game
from uci_engine.game_analysis.analysed_game import analyse_game, annotate
from uci_engine.game_analysis.examination import examine
from uci_engine.game_analysis.judgement import Mark
from uci_engine.game_analysis.people import People
from uci_engine.game_analysis.words import people_words

MOVE, BETTER = map(chess.Move.from_uci, ("g8f6", "d8e7"))


@pytest.mark.parametrize(
    ("mark", "people", "said"),
    [
        (Mark.BLUNDER, People(1400, BETTER, 0.31, 0.5, False, 0.08), ["31 % at 1400, 8 % at 2000."]),
        (Mark.MISTAKE, People(1400, BETTER, 0.31, 0.06, True, 0.29), ["31 % at 1400.", "to find at 1400."]),
        (Mark.MISTAKE, People(1400, BETTER, 0.19, 0.06, False, None), []),
        (Mark.MISTAKE, People(1400, BETTER, 0.1, 0.9, False, None), ["Qe7: over 80 % at 1400."]),
        (Mark.GOOD, People(1400, MOVE, 0.002, 0.002, True, None), ["to find at 1400."]),
    ],
)
def test_it_is_said_where_it_is_worth_it(mark: Mark, people: People, said: list[str]) -> None:
    words = people_words(chess.Board(SCHOLAR), mark, people)
    assert [word[-len(end) :] for word, end in zip(words, said, strict=True)] == said


class Crowd(MaterialAnalyser):
    def human(self, board: chess.Board, rating: float) -> dict[chess.Move, float]:
        rare = 0.1 + (rating - 1000) / 1000
        return {**dict.fromkeys(board.legal_moves, rare / 30), MOVE: 1 - rare}


@pytest.mark.parametrize(
    ("elo", "rating", "told"),
    [("?", None, None), ("1010", None, 1000), ("1010", 1151, 1200), *((elo, None, None) for elo in ("799", "1500?"))],
)
def test_of_whom_it_is_said(elo: str, rating: int | None, told: int | None) -> None:
    text = GAME.replace("[White ", f'[WhiteElo "1200"]\n[BlackElo "{elo}"]\n[White ')
    game = analyse_game(read_game(text.encode()), Crowd(), Limit(nodes=100), rating=rating)
    (blunder,) = (ply for ply in game.plies if ply.move == MOVE)
    assert (blunder.people and blunder.people.rating) == told
    assert ("over 80 % at 1000, 30 % at 1600" in annotate(game, "test")) == (told == 1000)


def test_a_move_is_hard_to_find_where_no_other_is_as_good() -> None:
    for black, is_only in (("3q4", True), ("3q1q2", False)):
        board = chess.Board(f"1k6/8/8/{black}/4P3/8/8/K7 b - - 0 1")
        board.push_uci("b8a8")
        found = examine(Crowd(), board, chess.Move.from_uci("a1b1"), Limit(nodes=9000), 1000)
        assert found.people
        assert found.people.is_only == is_only


def test_earlier_searches_and_options_do_not_count() -> None:
    board, promotion = read_game(GAME.encode()).end().board(), chess.Board("8/P7/7k/8/8/8/8/K7 b - - 0 1")
    board.pop()
    board.pop()
    promotion.push_uci("h6h7")
    with Engine(hash=8) as engine:
        first = engine.human(board, 1400)
        engine.configure(use_nnue=False)
        data = engine.explain(board, MOVE, Limit(depth=4), rating=1400).data()["people"]
        assert f"'played': {round(first[MOVE], 4)}" in str(data)
        assert engine.human(board, 1400) == first
        # The policy does not know it.
        assert engine.explain(promotion, chess.Move.from_uci("a7a8n"), Limit(depth=2), rating=1400).people is None
