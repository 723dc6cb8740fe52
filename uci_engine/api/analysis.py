"""`Analysis`: a search of an `Engine`, its reports and its end.

The thread of the search holds the `Analysis`, and that does not hold the `Engine`. So an engine that the user has
dropped is closed, even while it searches.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import NoReturn

import chess
import chess.engine
from chess.engine import AnalysisComplete, Cp, EngineError, EngineTerminatedError, InfoDict, Mate, PovScore

from uci_engine import score as scores
from uci_engine.search.info import BestMove, Bound, Info
from uci_engine.text import ERROR

LOGGER = logging.getLogger("uci_engine")
# What the engine's reports and those of python-chess call by the same name.
SAME_NAMES = ("depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "currmovenumber", "string")


class EngineCondition(threading.Condition):
    """The condition of an engine, for the threads of the process that made it.

    In a forked child those do not exist, and one of them may have held the lock. So it is refused there.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    @property
    def is_of_this_process(self) -> bool:
        return os.getpid() == self._process

    def __enter__(self) -> bool:
        if not self.is_of_this_process:
            raise EngineTerminatedError("this engine belongs to another process, make one in this process")
        return super().__enter__()


class Analysis:
    """An analysis that runs in the background, as `Engine.analysis` returns it.

    It is an iterator of reports (`chess.engine.InfoDict`) and a context manager that stops it at the end. Any thread
    may call any method. It ends with its engine, which must be kept while it is to run.
    """

    def __init__(
        self,
        condition: EngineCondition,
        turn: chess.Color,
        selector: chess.engine.Info,
        in_background: bool,
        stop: Callable[[], None],
    ) -> None:
        """`condition`: guards all of it; the engine uses the same one. `turn`: the side to move at the root.

        `in_background`: whether a later search may stop this one. `stop`: stops the search that runs.
        """
        self.in_background = in_background
        self._condition = condition
        self._turn = turn
        self._selector = selector
        self._stop = stop
        self._infos: deque[InfoDict] = deque()
        self._multipv: list[InfoDict] = [{}]
        self._best: chess.engine.BestMove | None = None
        self._error: Exception | None = None

    @property
    def is_done(self) -> bool:
        """Whether the search has ended."""
        return self._best is not None

    @property
    def info(self) -> InfoDict:
        """All that was reported of the best line so far: the newest value of each key."""
        return self.multipv[0]

    @property
    def multipv(self) -> list[InfoDict]:
        """The same of each line, best first."""
        with self._condition:
            return [line.copy() for line in self._multipv]

    def stop(self) -> None:
        """End the analysis soon. No effect if it has ended."""
        with self._condition:
            if not self.is_done:
                self._stop()

    def wait(self) -> chess.engine.BestMove:
        """Wait for the end of the analysis. Returns the best move and the reply that is expected.

        An analysis without a limit ends only when another thread stops it. EngineError: the search has failed.
        """
        with self._condition:
            while self._best is None:
                self._condition.wait()
            if self._error is not None:
                raise EngineError(f"the search has failed: {self._error}") from self._error
            return self._best

    def get(self) -> InfoDict:
        """Wait for the next report. `chess.engine.AnalysisComplete`: the analysis has ended and all were taken."""
        with self._condition:
            self._condition.wait_for(lambda: self._infos or self.is_done)
            if self._infos:
                return self._infos.popleft()
        # Raises the error of a search that has failed.
        self.wait()
        raise AnalysisComplete

    def next(self) -> InfoDict | None:
        """Wait for the next report; None when the analysis has ended and all reports were taken."""
        return next(self, None)

    def empty(self) -> bool:
        """Whether all reports so far were taken."""
        with self._condition:
            return not self._infos

    def would_block(self) -> bool:
        """Whether `get` and `next` would have to wait."""
        with self._condition:
            return not self._infos and not self.is_done

    def __iter__(self) -> Iterator[InfoDict]:
        return self

    def __next__(self) -> InfoDict:
        try:
            return self.get()
        except AnalysisComplete:
            raise StopIteration from None

    def __enter__(self) -> Analysis:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("an analysis cannot be copied or pickled")

    def __exit__(self, *reason: object) -> None:
        if self._condition.is_of_this_process:
            self.stop()
            with self._condition:
                self._condition.wait_for(lambda: self.is_done)

    def on_info(self, info: Info) -> None:
        """Take a report. Called from the search's thread and the timer's."""
        if info.string is not None and info.string.startswith(ERROR):
            LOGGER.warning("%s", info.string.removeprefix(ERROR))
        report = info_dict(info, self._turn, self._selector)
        if not report:
            return
        with self._condition:
            number = report.get("multipv", 1)
            while len(self._multipv) < number:
                self._multipv.append({})
            line = self._multipv[number - 1]
            if "score" in report:
                # A bound belongs to the score that it came with.
                line.pop("lowerbound", None)  # type: ignore[typeddict-item]
                line.pop("upperbound", None)  # type: ignore[typeddict-item]
            line.update(report)
            self._infos.append(report)
            self._condition.notify_all()

    def on_best_move(self, best: BestMove) -> None:
        """Take the answer. Called last, from the search's thread."""
        move, ponder = (None if word is None else chess.Move.from_uci(word) for word in (best.move, best.ponder))
        with self._condition:
            self._best = chess.engine.BestMove(move, ponder)
            self._error = best.error
            self._condition.notify_all()


def info_dict(info: Info, turn: chess.Color, selector: chess.engine.Info) -> InfoDict:
    """A report in python-chess's form. `turn`: the side to move at the root. `selector`: what is wanted of it."""
    result: InfoDict = {}
    if not selector:
        return result
    numbers = {name: getattr(info, name) for name in SAME_NAMES}
    result.update({name: value for name, value in numbers.items() if value is not None})  # type: ignore[typeddict-item]
    if info.score is not None and selector & chess.engine.INFO_SCORE:
        kind, number = scores.to_uci(info.score, info.pieces).split()
        result["score"] = PovScore(Mate(int(number)) if kind == "mate" else Cp(int(number)), turn)
        if info.bound is not Bound.EXACT:
            name = "lowerbound" if info.bound is Bound.LOWER else "upperbound"
            result[name] = True  # type: ignore[literal-required]
    if info.wdl is not None:
        result["wdl"] = chess.engine.PovWdl(chess.engine.Wdl(*info.wdl), turn)
    if info.time_ms is not None:
        result["time"] = info.time_ms / 1000
    if info.pv and selector & chess.engine.INFO_PV:
        result["pv"] = [chess.Move.from_uci(move) for move in info.pv]
    if info.currmove is not None:
        result["currmove"] = chess.Move.from_uci(info.currmove)
    return result
