"""The desk: one engine, and the questions of all tabs, one at a time. The one that asked last is answered.

A question runs in the desk's own thread, and tells its answers one by one. The next question stops it at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import chess
from chess.engine import EngineError, EngineTerminatedError, Limit

from uci_engine.api.analysis import Analysis
from uci_engine.api.engine import Engine

OTHER_TAB = "Another tab has asked the engine. Click here to go on in this one."
AT_THE_END = "The engine has been ended."

Answer = dict[str, Any]
Tell = Callable[[Answer], None]


class StoppedError(Exception):
    """The question was stopped, because another came, or the page has gone on."""


class Turn:
    """A question's turn with the engine. It is an `Analyser`, whose searches `stop` ends."""

    def __init__(self, engine: Engine, tab: str) -> None:
        self.tab = tab
        self.engine = engine
        self.evaluate = engine.evaluate
        self.explain = engine.explain
        self.probe_tablebases = engine.probe_tablebases
        # What the searches have learnt is kept as long as this stays.
        self.game: object = tab
        self._lock = threading.Lock()
        self._search: Analysis | None = None
        self._why: str | None = None

    def begin(self, board: chess.Board, limit: Limit, **words: Any) -> Analysis:
        """Begin a search. StoppedError: the question was stopped."""
        with self._lock:
            self.require()
            self._search = self.engine.analysis(board, limit, **words | {"game": self.game})
            return self._search

    def analyse(self, board: chess.Board, limit: Limit, *, multipv: int | None = None, **words: Any) -> Any:
        """Search, as `Engine.analyse` does. StoppedError: the question was stopped."""
        search = self.begin(board, limit, multipv=multipv, **words)
        search.wait()
        self.require()
        return search.info if multipv is None else search.multipv

    def require(self) -> None:
        """Raises StoppedError, with the reason, if the question was stopped."""
        if self._why is not None:
            raise StoppedError(self._why)

    def stop(self, why: str = "") -> None:
        """Stop the question. The first reason stays. May be called from any thread."""
        with self._lock:
            self._why = why if self._why is None else self._why
            if self._search is not None:
                self._search.stop()


class Desk:
    """Where questions are asked. `close` ends it, and the engine, which is its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # One worker: a question begins when the one before has ended.
        self._pool = ThreadPoolExecutor(1, "desk")
        self._lock = threading.Lock()
        self._turn: Turn | None = None
        # The first time takes longer, so it is before the first question.
        self._pool.submit(engine.explain, chess.Board())

    def ask(self, tab: str, work: Callable[[Turn, Tell], None], tell: Tell) -> tuple[Turn, Future[None]]:
        """Ask a question for a tab, which stops the one before. `tell` gets its answers, in the desk's thread."""
        turn = Turn(self._engine, tab)
        with self._lock:
            if self._turn is not None:
                self._turn.stop("" if self._turn.tab == tab else OTHER_TAB)
            self._turn = turn
            return turn, self._pool.submit(self._answer, turn, work, tell)

    def _answer(self, turn: Turn, work: Callable[[Turn, Tell], None], tell: Tell) -> None:
        try:
            turn.require()
            self._engine.configure(uci_limit_strength=False, uci_analyse_mode=True)
            work(turn, tell)
        except StoppedError as error:
            tell({"stopped": str(error)})
        except EngineTerminatedError:
            tell({"stopped": AT_THE_END})
        except (ValueError, EngineError) as error:
            tell({"problem": f"{error}"})

    def stop(self) -> None:
        """Stop the question that is being answered. May be called from any thread."""
        if self._turn is not None:
            self._turn.stop(AT_THE_END)

    def close(self) -> None:
        self.stop()
        self._pool.shutdown(cancel_futures=True)
        self._engine.close()
