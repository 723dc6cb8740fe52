"""A search that runs: `RunningSearch` collects its reports, `Analysis` hands them to the user.

The thread of the search holds only the `RunningSearch`, and not the `Engine`. So an engine that the user has dropped is
closed, even while it searches.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator

import chess
import chess.engine
from chess.engine import AnalysisComplete, EngineError, EngineTerminatedError, InfoDict

from uci_engine.api.conversion import info_dict
from uci_engine.search.info import BestMove, Info
from uci_engine.text import ERROR

LOGGER = logging.getLogger("uci_engine")


class EngineCondition(threading.Condition):
    """The condition of an engine, for the threads of the process that made it.

    In a forked child those do not exist, and one of them may have held the lock. So it is refused there.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process has made the engine."""
        return os.getpid() == self._process

    def __enter__(self) -> bool:
        if not self.is_of_this_process:
            raise EngineTerminatedError("this engine belongs to another process, make one in this process")
        return super().__enter__()


class RunningSearch:
    """The reports of one search, and its end. `condition` guards all of it; the engine uses the same one."""

    def __init__(
        self, condition: EngineCondition, turn: chess.Color, selector: chess.engine.Info, is_analysis: bool
    ) -> None:
        """`turn`: the side to move at the root. `is_analysis`: whether a later search may stop this one."""
        self.condition = condition
        self.is_analysis = is_analysis
        self.infos: deque[InfoDict] = deque()
        self.multipv: list[InfoDict] = [{}]
        self.best: chess.engine.BestMove | None = None
        self.error: Exception | None = None
        self._turn = turn
        self._selector = selector

    @property
    def is_done(self) -> bool:
        """Whether the search has ended."""
        return self.best is not None

    def on_info(self, info: Info) -> None:
        """Take a report. Called from the search's thread and the timer's."""
        log_message(info.string or "")
        report = info_dict(info, self._turn, self._selector)
        if not report:
            return
        with self.condition:
            number = report.get("multipv", 1)
            while len(self.multipv) < number:
                self.multipv.append({})
            line = self.multipv[number - 1]
            if "score" in report:
                # A bound belongs to the score that it came with.
                line.pop("lowerbound", None)  # type: ignore[typeddict-item]
                line.pop("upperbound", None)  # type: ignore[typeddict-item]
            line.update(report)
            self.infos.append(report)
            self.condition.notify_all()

    def on_best_move(self, best: BestMove) -> None:
        """Take the answer. Called last, from the search's thread."""
        move, ponder = (None if word is None else chess.Move.from_uci(word) for word in (best.move, best.ponder))
        with self.condition:
            self.best = chess.engine.BestMove(move, ponder)
            self.error = best.error
            self.condition.notify_all()

    def wait(self) -> chess.engine.BestMove:
        """Wait for the answer. EngineError: the search has failed."""
        with self.condition:
            while self.best is None:
                self.condition.wait()
            if self.error is not None:
                raise EngineError(f"the search has failed: {self.error}") from self.error
            return self.best


class Analysis:
    """An analysis that runs in the background, as `Engine.analysis` returns it.

    It is an iterator of reports (`chess.engine.InfoDict`) and a context manager that stops it at the end. Any thread
    may call any method.
    """

    def __init__(self, engine: object, search: RunningSearch, stop: Callable[[], None]) -> None:
        """`engine`: the `Engine`, which must live as long as this. `stop`: stops the search, if it still runs."""
        self._engine = engine
        self._search = search
        self._stop = stop

    @property
    def info(self) -> InfoDict:
        """All that was reported of the best line so far: the newest value of each key."""
        with self._search.condition:
            return self._search.multipv[0].copy()

    @property
    def multipv(self) -> list[InfoDict]:
        """The same of each line, best first."""
        with self._search.condition:
            return [line.copy() for line in self._search.multipv]

    def stop(self) -> None:
        """End the analysis soon. No effect if it has ended."""
        self._stop()

    def wait(self) -> chess.engine.BestMove:
        """Wait for the end of the analysis. Returns the best move and the reply that is expected.

        An analysis without a limit ends only when another thread stops it.
        """
        return self._search.wait()

    def get(self) -> InfoDict:
        """Wait for the next report. `chess.engine.AnalysisComplete`: the analysis has ended and all were taken."""
        search = self._search
        with search.condition:
            while not search.infos and not search.is_done:
                search.condition.wait()
            if search.infos:
                return search.infos.popleft()
        # Raises the error of a search that has failed.
        search.wait()
        raise AnalysisComplete

    def next(self) -> InfoDict | None:
        """Wait for the next report; None when the analysis has ended and all reports were taken."""
        return next(self, None)

    def empty(self) -> bool:
        """Whether all reports so far were taken."""
        with self._search.condition:
            return not self._search.infos

    def would_block(self) -> bool:
        """Whether `get` and `next` would have to wait."""
        with self._search.condition:
            return not self._search.infos and not self._search.is_done

    def __iter__(self) -> Iterator[InfoDict]:
        return self

    def __next__(self) -> InfoDict:
        try:
            return self.get()
        except AnalysisComplete:
            raise StopIteration from None

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *reason: object) -> None:
        if not self._search.condition.is_of_this_process:
            return
        self.stop()
        with self._search.condition:
            while not self._search.is_done:
                self._search.condition.wait()


def log_message(message: str) -> None:
    """Log what the engine says of a problem."""
    if message.startswith(ERROR):
        LOGGER.warning("%s", message.removeprefix(ERROR))
