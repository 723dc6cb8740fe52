"""Searches by an engine in this process, and what they say."""

from __future__ import annotations

import threading
import time
from typing import Any

import chess

from tests.support import PATIENCE_SECONDS
from uci_engine.engine import UciEngine
from uci_engine.search.info import BestMove, Info
from uci_engine.time_management import Limits


class Ear:
    """Listens to one search; what is said after the answer is remembered as a fault."""

    def __init__(self) -> None:
        self.infos: list[Info] = []
        self.answers: list[BestMove] = []
        self.faults: list[str] = []
        self._answered = threading.Event()

    def on_info(self, info: Info) -> None:
        if self.answers:
            self.faults.append(f"said after the answer: {info}")
        self.infos.append(info)

    def on_best_move(self, answer: BestMove) -> None:
        self.answers.append(answer)
        self._answered.set()

    def answered_within(self, seconds: float) -> bool:
        return self._answered.wait(seconds)

    @property
    def answer(self) -> BestMove:
        """The only one."""
        (answer,) = self.answers
        return answer

    @property
    def move(self) -> chess.Move:
        """Of the answer, where there is one."""
        assert self.answer.move is not None
        return self.answer.move

    @property
    def scored(self) -> list[Info]:
        return [info for info in self.infos if info.score is not None]

    @property
    def last(self) -> Info:
        return self.scored[-1]

    @property
    def sentences(self) -> list[str]:
        return [str(info.message) for info in self.infos if info.message is not None]


def begin(engine: UciEngine, board: chess.Board | str | None = None, **limits: Any) -> Ear:
    """Begin a search of a board or a FEN, by default the start position."""
    ear = Ear()
    if not isinstance(board, chess.Board):
        board = chess.Board(board or chess.STARTING_FEN)
    engine.go(board, Limits(**limits), time.perf_counter(), ear.on_info, ear.on_best_move)
    return ear


def finish(engine: UciEngine, ear: Ear) -> Ear:
    """A search that ends by itself or has been told to, with its one answer."""
    assert engine.wait(PATIENCE_SECONDS)
    assert not engine.searching
    assert ear.faults == []
    if ear.answer.move is not None and ear.scored:
        assert ear.last.pv[0] == ear.answer.move
    return ear


def go(engine: UciEngine, board: chess.Board | str | None = None, **limits: Any) -> Ear:
    return finish(engine, begin(engine, board, **limits))
