"""The desk: one engine for the questions of all tabs, one at a time. The next question stops the one before."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chess
from chess.engine import Limit

from uci_engine.api import Analysis, Engine

# The page that asks has stopped reading its earlier answers, so only the page of another tab shows this.
OTHER_TAB = "Another tab has asked the engine. Click here to go on in this one."
AT_THE_END = "The engine has been ended."

Answer = dict[str, object]


class Turn:
    """A question's turn with the engine. It is an `Analyser`, whose searches `stop` ends."""

    def __init__(self, engine: Engine, tell: Callable[[Answer], object]) -> None:
        """`tell` sends an answer to the page."""
        self.tell = tell
        self.configure = engine.configure
        self.explain_evaluation = engine.explain_evaluation
        self.human = engine.human
        self.probe_tablebases = engine.probe_tablebases
        self.probe_dtz = engine.probe_dtz
        self._analysis = engine.analysis
        # Ctrl-C may come while the same thread stops the question.
        self._lock = threading.RLock()
        self._search: Analysis | None = None
        self._why: str | None = None

    def begin(self, board: chess.Board, limit: Limit, **words: Any) -> Analysis:
        """Begin a search. ValueError: the question was stopped."""
        with self._lock:
            self.require()
            self._search = self._analysis(board, limit, **words)
            return self._search

    def analyse(self, board: chess.Board, limit: Limit, *, multipv: int | None = None, **words: Any) -> Any:
        """Search, as `Engine.analyse` does. ValueError: the question was stopped."""
        search = self.begin(board, limit, multipv=multipv, **words)
        search.wait()
        self.require()
        return search.info if multipv is None else search.multipv

    def require(self) -> None:
        """ValueError: the question was stopped."""
        if self._why is not None:
            raise ValueError(self._why)

    def stop(self, why: str) -> None:
        """Stop the question. The first reason stays. May be called from any thread."""
        with self._lock:
            self._why = why if self._why is None else self._why
            if self._search is not None:
                self._search.stop()


class Desk:
    """Where questions are asked, in an event loop. `close` ends it. The engine answers nobody else."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # One worker: a question begins when the one before has ended.
        self._pool = ThreadPoolExecutor(1, "desk")
        self._turn: Turn | None = None
        # The first time takes longer, so it is before the first question.
        self._pool.submit(engine.explain_evaluation, chess.Board())

    async def ask(self, question: Callable[[Turn], None]) -> AsyncIterator[Answer]:
        """Ask a question, and give its answers as they come. It stops when nobody reads on.

        ValueError and EngineError: there is no answer, or no more.
        """
        loop = asyncio.get_running_loop()
        answers: asyncio.Queue[Answer | BaseException | None] = asyncio.Queue()
        self.stop(OTHER_TAB)
        turn = self._turn = Turn(self._engine, lambda answer: loop.call_soon_threadsafe(answers.put_nowait, answer))
        work = loop.run_in_executor(self._pool, self._answer, turn, question)
        work.add_done_callback(lambda work: answers.put_nowait(work.exception()))
        try:
            while isinstance(answer := await answers.get(), dict):
                yield answer
            if answer is not None:
                raise answer
        finally:
            turn.stop("Nobody reads on.")

    def _answer(self, turn: Turn, question: Callable[[Turn], None]) -> None:
        turn.require()
        self._engine.configure(uci_limit_strength=False, uci_analyse_mode=True)
        question(turn)

    def stop(self, why: str = AT_THE_END) -> None:
        """Stop the question that is being answered."""
        if self._turn is not None:
            self._turn.stop(why)

    def close(self) -> None:
        self.stop()
        self._pool.shutdown(cancel_futures=True)
