"""What the engine makes of arguments of a wrong type, and of numbers that no search reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import chess
import pytest
from chess.engine import Limit

from uci_engine import Engine
from uci_engine.api.session import limits_of
from uci_engine.text import MAX_INT

FEN: Any = chess.STARTING_FEN
BOARD = chess.Board()
LIMIT = Limit(depth=1)
MOVE = chess.Move.from_uci("e2e4")
# A wrong argument, whatever it is for.
WRONG: Any = 0.1


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash=4) as engine:
        yield engine


CALLS: list[tuple[str, Callable[[Engine], object]]] = [
    ("board must be a chess.Board, not str", lambda engine: engine.play(FEN, LIMIT)),
    ("board must be a chess.Board, not str", lambda engine: engine.analyse(FEN, LIMIT)),
    ("board must be a chess.Board, not str", lambda engine: engine.analysis(FEN)),
    ("board must be a chess.Board, not str", lambda engine: engine.evaluate(FEN)),
    ("board must be a chess.Board, not str", lambda engine: engine.explain(FEN)),
    ("board must be a chess.Board, not str", lambda engine: engine.explain(FEN, MOVE)),
    ("board must be a chess.Board, not str", lambda engine: engine.compare_moves(FEN)),
    ("board must be a chess.Board, not str", lambda engine: engine.probe_tablebases(FEN)),
    ("limit must be a chess.engine.Limit, not float", lambda engine: engine.play(BOARD, WRONG)),
    ("limit must be a chess.engine.Limit, not float", lambda engine: engine.analyse(BOARD, WRONG)),
    ("limit must be a chess.engine.Limit, not float", lambda engine: engine.analysis(BOARD, WRONG)),
    ("limit must be a chess.engine.Limit, not float", lambda engine: engine.explain(BOARD, MOVE, WRONG)),
    ("limit must be a chess.engine.Limit, not float", lambda engine: engine.compare_moves(BOARD, WRONG)),
    ("move must be a chess.Move, not float", lambda engine: engine.explain(BOARD, WRONG)),
    ("a move of root_moves must be a chess.Move, not str", lambda engine: engine.play(BOARD, LIMIT, root_moves=FEN)),
    ("root_moves must be a collections.abc.Iterable, not float", lambda e: e.play(BOARD, LIMIT, root_moves=WRONG)),
    ("info must be a chess.engine.Info, not float", lambda engine: engine.play(BOARD, LIMIT, info=WRONG)),
    ("multipv must be a whole number, not 0.1", lambda e: e.analyse(BOARD, LIMIT, multipv=WRONG)),
]


@pytest.mark.parametrize(("sentence", "call"), CALLS)
def test_a_wrong_type_is_one_sentence(engine: Engine, sentence: str, call: Callable[[Engine], object]) -> None:
    with pytest.raises(TypeError) as caught:
        call(engine)
    assert str(caught.value) == sentence
    assert engine.play(BOARD, LIMIT).move is not None


@pytest.mark.parametrize("limit", [Limit(nodes=-1), Limit(time=WRONG * -1), Limit(depth=WRONG), Limit()], ids=str)
def test_a_wrong_limit_of_an_explanation(engine: Engine, limit: Limit) -> None:
    for call in (lambda: engine.compare_moves(BOARD, limit), lambda: engine.explain(BOARD, MOVE, limit)):
        with pytest.raises(ValueError, match=r"^(Limit\.\w+ must be|the limit needs) a "):
            call()


def test_a_position_without_kings_is_not_probed(engine: Engine) -> None:
    with pytest.raises(ValueError, match=r"^a position to evaluate has one king"):
        engine.probe_tablebases(chess.Board(None))


HUGE: list[dict[str, Any]] = [
    *({field: 2**70} for field in ("depth", "nodes", "mate", "time", "white_clock")),
    {"time": 1e300},
    {"time": 1.7e308},
    {"time": 10**400},
    {"white_clock": 1e300, "black_clock": 1e300, "white_inc": 1.7e308, "black_inc": 2**70, "remaining_moves": 2**70},
]


@pytest.mark.parametrize("fields", HUGE, ids=lambda fields: "-".join(fields))
def test_a_huge_number_sets_no_bound(engine: Engine, fields: dict[str, Any]) -> None:
    limits = limits_of(Limit(**fields), BOARD, None)
    assert max(number for number in (getattr(limits, name) for name in limits.__slots__) if number) == MAX_INT
    with engine.analysis(BOARD, Limit(**fields)) as analysis:
        analysis.get()
        assert not analysis._search.is_done
    assert analysis.wait().move is not None
