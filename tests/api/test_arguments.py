"""What the engine makes of wrong limits, and of numbers that no search reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chess
import pytest
from chess.engine import Limit

from uci_engine import Engine
from uci_engine.api.session import limits_of
from uci_engine.text import MAX_INT

BOARD = chess.Board()
MOVE = chess.Move.from_uci("e2e4")
# A wrong argument, whatever it is for.
WRONG: Any = 0.1


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash=4) as engine:
        yield engine


@pytest.mark.parametrize("limit", [Limit(nodes=-1), Limit(time=WRONG * -1), Limit(depth=WRONG), Limit()], ids=str)
def test_a_wrong_limit_of_an_explanation(engine: Engine, limit: Limit) -> None:
    for call in (lambda: engine.compare_moves(BOARD, limit), lambda: engine.explain(BOARD, MOVE, limit)):
        with pytest.raises(ValueError, match=r"^(Limit\.\w+ must be|the limit needs) a "):
            call()


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
        assert not analysis.is_done
    assert analysis.wait().move is not None
