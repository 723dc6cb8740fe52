"""The engine as a Python library: `from uci_engine import Engine`. A program that speaks UCI loads none of it.

`Engine` runs in the process of the Python program. It has the methods of `chess.engine.SimpleEngine`, with
python-chess's own types. What differs: options may be keywords; `play` has reports in `info`; it does not ponder.

An engine does one search at a time. A second call waits for the first, in whatever thread, but an analysis that runs in
the background is stopped for it, as in python-chess. For searches at the same time, use several engines. The compiled
search holds no GIL, so they run in parallel, beside other Python code. From asyncio, call the methods in a thread:
`await asyncio.to_thread(engine.play, board, limit)`.

The thread of a search holds its `Analysis`, and that does not hold the `Engine`. So an engine that the user has dropped
is closed, even while it searches.

An option has a keyword: its UCI name in lower case, with underscores. `move_overhead` is `Move Overhead`, `own_book` is
`OwnBook`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack, overload

import chess
import chess.engine
import chess.pgn
from chess.engine import (
    INFO_ALL,
    AnalysisComplete,
    Cp,
    EngineError,
    EngineTerminatedError,
    InfoDict,
    Limit,
    Mate,
    PlayResult,
    PovScore,
)

from evaluation import check, set_up
from evaluation.network.file import Network
from evaluation.weights import Weights
from uci_engine import score as scores
from uci_engine.board.game import checked, legal_move
from uci_engine.board.pgn import read_game
from uci_engine.engine import UciEngine
from uci_engine.explanation import Explanation
from uci_engine.game_analysis.analysed_game import AnalysedGame, analyse_game
from uci_engine.game_analysis.examination import Examination, MoveComparison, compare_moves, examine
from uci_engine.options import EngineOptions, ValueOption
from uci_engine.search.info import BestMove, Info
from uci_engine.text import MAX_INT, Message, suggestion
from uci_engine.time_management import Limits
from uci_engine.tools.doctor import slow_core_warning

if TYPE_CHECKING:
    from evaluation.base.base_board import BaseBoard
    from evaluation.evaluator import Evaluator

__all__ = ["AnalysedGame", "Analysis", "Engine", "EngineOptions", "Examination", "Explanation", "MoveComparison"]

LOGGER = logging.getLogger("uci_engine")
# What the engine's reports and those of python-chess call by the same name.
SAME_NAMES = ("depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "currmove", "currmovenumber")

# A move, or its text in UCI notation or in SAN.
Move = chess.Move | str
Moves = Iterable[Move] | None
# Options as python-chess has them: by the names of UCI or the keywords. None presses the button Clear Hash.
Config = Mapping[str, bool | int | str | None]
# Values of options by keyword, each of the type of its option.
Values = dict[str, Any]

# How long a thread waits at a time: on Windows Ctrl-C does not end a wait, and is seen after it.
WAIT_SECONDS = 0.2

KEYWORDS = tuple(EngineOptions.__annotations__)

# `core.load` changes the whole process, so only one thread may call it.
_LOADING = threading.Lock()


class Request(TypedDict, total=False):
    """What every search takes: see `Engine.play`."""

    game: object
    info: chess.engine.Info
    root_moves: Moves
    options: Config


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

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, not long at a time."""
        return super().wait(WAIT_SECONDS if timeout is None else timeout)


class Analysis:
    """An analysis that runs in the background, as `Engine.analysis` returns it.

    It is an iterator of reports (`chess.engine.InfoDict`), also for `async for`, and a context manager that stops it at
    the end. A cancelled `async for` stops it, too. Any thread may call any method. It ends with its engine, which must
    be kept while it is to run.
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
        self._best: BestMove | None = None

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
            if self._best.error is not None:
                raise EngineError(f"the search has failed: {self._best.error}") from self._best.error
            return chess.engine.BestMove(self._best.move, self._best.ponder)

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

    def __aiter__(self) -> AsyncIterator[InfoDict]:
        return self

    async def __anext__(self) -> InfoDict:
        try:
            return await asyncio.to_thread(self.get)
        except AnalysisComplete:
            raise StopAsyncIteration from None
        except asyncio.CancelledError:
            # The thread still waits for a report, and the end of the event loop would wait for that thread.
            self.stop()
            raise

    def __repr__(self) -> str:
        info = self.info
        score = f", {info['score']!r}" if "score" in info else ""
        return f"<Analysis {'done' if self.is_done else 'running'}, depth {info.get('depth', 0)}{score}>"

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._condition.is_of_this_process:
            self.stop()
            with self._condition:
                self._condition.wait_for(lambda: self.is_done)

    def on_info(self, info: Info) -> None:
        """Take a report. Called from the search's thread and the timer's."""
        if info.message is not None and info.message.is_error:
            LOGGER.warning("%s", info.message.text)
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
            line.update(report)
            self._infos.append(report)
            self._condition.notify_all()

    def on_best_move(self, best: BestMove) -> None:
        """Take the answer. Called last, from the search's thread."""
        with self._condition:
            self._best = best
            self._condition.notify_all()


def info_dict(info: Info, turn: chess.Color, selector: chess.engine.Info) -> InfoDict:
    """A report in python-chess's form. `turn`: the side to move at the root. `selector`: what is wanted of it."""
    result: InfoDict = {}
    if not selector:
        return result
    same = {name: getattr(info, name) for name in SAME_NAMES}
    result.update({name: value for name, value in same.items() if value is not None})  # type: ignore[typeddict-item]
    if info.score is not None and selector & chess.engine.INFO_SCORE:
        is_mate = scores.is_mate(info.score)
        cp = scores.normalised(info.score, info.pieces)
        result["score"] = PovScore(Mate(scores.mate_in_moves(info.score)) if is_mate else Cp(cp), turn)
        if info.is_lower_bound:
            result["lowerbound"] = True  # type: ignore[typeddict-unknown-key]
    if info.wdl is not None:
        result["wdl"] = chess.engine.PovWdl(chess.engine.Wdl(*info.wdl), turn)
    if info.time_ms is not None:
        result["time"] = info.time_ms / 1000
    if info.pv and selector & chess.engine.INFO_PV:
        result["pv"] = list(info.pv)
    if info.message is not None:
        result["string"] = str(info.message)
    return result


class Engine:
    """A chess engine in this process.

    >>> import chess
    >>> from chess.engine import Limit
    >>> from uci_engine import Engine
    >>> with Engine(hash=32) as engine:
    ...     result = engine.play(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), Limit(depth=4))
    >>> result.move
    Move.from_uci('a1a8')

    All methods may be called from any thread. Close the engine, or use it as a context manager: it has threads of its
    own, and the memory of `hash`. Problems that do not stop it are logged, by the logger `uci_engine`.

    A wrong value raises ValueError, also that of an option, of a field of a `Limit` or of a board that is of a variant
    or whose fields do not agree. A number that no search reaches, such as 2**70 nodes, sets no bound. A closed engine
    raises `chess.engine.EngineTerminatedError`, and a fault in the search `chess.engine.EngineError`.

    After a fork the engine stays with the parent. In the child its methods raise `chess.engine.EngineTerminatedError`,
    and `close` does nothing. A new engine made there works, if no engine of the parent was being made or searching
    at the fork. The start method "spawn" of `multiprocessing` has no such condition.
    """

    def __init__(self, *, core: str = "auto", **options: Unpack[EngineOptions]) -> None:
        """`options`: as for `configure`. `core`: see `uci_engine.core.load`; one process runs one core.

        ValueError: an option is wrong. ImportError: the core is not installed. RuntimeError: its network is not.
        """
        with _LOADING:
            inner = UciEngine(core)
        self._inner = inner
        # Guards all that follows, and the reports of the running search.
        self._condition = EngineCondition()
        self._search: Analysis | None = None
        self._is_closed = False
        self._game: object = None
        self._chooses_analyse_mode = True
        found = ((keyword, inner.options.find(keyword)) for keyword in KEYWORDS)
        self._options = {keyword: option for keyword, option in found if isinstance(option, ValueOption)}
        # Of the options that a search has for itself, the values before it.
        self._lasting: Values = {}
        self._evaluator: tuple[Weights, Network | None, Evaluator, BaseBoard] | None = None
        # For an engine that is dropped without `close`, and at the end of the program.
        self._finalizer = weakref.finalize(self, _release, inner, self._condition)
        if warning := slow_core_warning(inner.core):
            LOGGER.warning("%s", warning)
        try:
            self.configure(**options)
        except BaseException:
            self.close()
            raise

    @property
    def id(self) -> dict[str, str]:
        """The `name` of the engine, with its version, and its `author`."""
        return self._inner.id

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "searching" if self._inner.searching else "idle"
        return f"<Engine {self._inner.name}, {state}>"

    def ping(self) -> None:
        """Return if the engine is open. `chess.engine.EngineTerminatedError`: it is not."""
        with self._condition:
            self._require_open()

    # Searching -----------------------------------------------------------------------------------------------------

    def play(self, board: chess.Board, limit: Limit, **request: Unpack[Request]) -> PlayResult:
        """Find a move. The board is not changed.

        >>> with Engine() as engine:
        ...     result = engine.play(chess.Board(), Limit(time=0.05))
        ...     result.move in chess.Board().legal_moves
        True

        `limit` must end the search by itself: it has a time, a depth, nodes, a mate or a clock. The times are seconds;
        Move Overhead is reserved of each. `game`: any object; when it differs from the one before, the engine begins a
        new game. `info`: what the result's `info` shall hold, by default all. `root_moves`: only these are considered,
        each a move or its text. `options`: for this search alone, as for `configure`.

        When the game is over, the move of the result is None.
        """
        # However this ends, also by Ctrl-C, the search ends too.
        with self._begin(board, limit, **request) as search:
            best = search.wait()
            return PlayResult(best.move, best.ponder, search.info)

    @overload
    def analyse(
        self, board: chess.Board, limit: Limit, *, multipv: None = ..., **request: Unpack[Request]
    ) -> InfoDict: ...

    @overload
    def analyse(
        self, board: chess.Board, limit: Limit, *, multipv: int, **request: Unpack[Request]
    ) -> list[InfoDict]: ...

    def analyse(
        self, board: chess.Board, limit: Limit, *, multipv: int | None = None, **request: Unpack[Request]
    ) -> InfoDict | list[InfoDict]:
        """Analyse a position. Returns what was reported last, or with `multipv` a list of that many lines, best first.

        >>> with Engine() as engine:
        ...     info = engine.analyse(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), Limit(depth=4))
        ...     print(info["score"].white(), info["pv"][0])
        #+1 a1a8

        The other arguments are those of `play`.
        """
        with self._begin(board, limit, multipv=multipv, analyses=True, **request) as search:
            search.wait()
            return search.info if multipv is None else search.multipv

    def analysis(
        self,
        board: chess.Board,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        **request: Unpack[Request],
    ) -> Analysis:
        """Start an analysis in the background, and return at once. Without a limit it runs until it is stopped.

        It also ends when there is nothing more to search: at the maximum depth, or when the game is over.

        >>> with Engine() as engine, engine.analysis(chess.Board()) as analysis:
        ...     for info in analysis:
        ...         if info.get("depth", 0) >= 3:
        ...             break
        ...     analysis.info["pv"][0] in chess.Board().legal_moves
        True

        The next search of this engine stops it, and so does the end of the engine: keep that in a variable. The other
        arguments are those of `analyse`.
        """
        return self._begin(board, limit, multipv=multipv, analyses=True, in_background=True, **request)

    def human(self, board: chess.Board, rating: float) -> dict[chess.Move, float]:
        """How likely people of a rating are to play each legal move, the likeliest first.

        >>> with Engine() as engine:
        ...     shares = engine.human(chess.Board(), 1500)
        >>> round(sum(shares.values()), 6), len(shares)
        (1.0, 20)

        The rating is one of lichess for rapid games, from 800 to 2400; one beyond counts as the nearest. The model
        (`uci_engine.policy`) is fitted to positions of move 7 to 45 in standard chess. In positions of the first six
        moves that occur often, what people played is counted, too. It knows the position and the last four moves, but
        no clock: give a board with its moves. Promotions to less than a queen are left out. In held-out games shares
        up to 80 % are right to about 3 points of percent; what is beyond is 2 too high. What a deeper search finds to
        be an error gets somewhat too much.

        Options and earlier searches do not count: the same question always has the same answer, after some 10 ms. A
        search that runs is waited for. ValueError: as for `evaluate`.
        """
        check(board)
        with self._condition:
            self._wait_for_turn()
            return self._inner.human(board, rating)

    # The static evaluation -----------------------------------------------------------------------------------------

    def evaluate(self, board: chess.Board) -> PovScore:
        """The static evaluation of a position. Only the pieces and the side to move count.

        It is in the centipawns of the weights, as the `score` of `explain_evaluation`, whose `normalised_score` is on
        the scale of `analyse`.

        >>> with Engine() as engine:
        ...     engine.evaluate(chess.Board()) == engine.explain_evaluation(chess.Board()).score
        True

        ValueError unless there is one king and at most 16 pieces a side, and no pawn on the first or last rank.
        """
        with self._condition:
            self._require_open()
            self._end_last_search()
            check(board)
            weights, network = self._inner.pool.weights, self._inner.pool.network
            if self._evaluator is None or self._evaluator[0] is not weights or self._evaluator[1] is not network:
                self._evaluator = (weights, network, *set_up(board, weights, network))
            _, _, evaluator, base_board = self._evaluator
            base_board.set_pieces(board)
            return PovScore(Cp(evaluator.evaluate(base_board)), board.turn)

    def explain_evaluation(self, board: chess.Board) -> Explanation:
        """The static evaluation, term by term, as `secateur eval` shows it. ValueError: as for `evaluate`.

        The terms add up to the `score` of the explanation, which is that of `evaluate`.

        >>> with Engine() as engine:
        ...     explanation = engine.explain_evaluation(chess.Board())
        >>> explanation["material"]
        0
        >>> sum(term.difference_cp for term in explanation) == explanation.score.white().score()
        True
        """
        with self._condition:
            self._require_open()
            self._end_last_search()
            return self._inner.explain_evaluation(board)

    # Moves and endgames --------------------------------------------------------------------------------------------

    def explain(
        self, board: chess.Board, move: Move, limit: Limit | None = None, *, rating: int | None = None
    ) -> Examination:
        """Why a move is good or bad, by searches, as `secateur explain --move` shows it: what refutes or supports it,
        and what is better.

        `limit` has a time, nodes or a depth, and is for all searches together (a depth for each); None is one second.
        With a `rating` and a board with its moves it also says who would find it: see `human`. `str` of the result is
        text, and a notebook shows that beside the board.

        >>> with Engine() as engine:
        ...     engine.explain(chess.Board(), "f3", Limit(depth=6)).is_best
        False

        ValueError: as for `evaluate`, or the move is not legal.
        """
        bounds = _bounds(board, limit)
        return examine(self, board, legal_move(board, move), bounds, rating)

    def compare_moves(self, board: chess.Board, limit: Limit | None = None) -> MoveComparison:
        """All legal moves with value, depth and line, best first, as `secateur explain` shows them.

        `limit` has a time, nodes or a depth for a search with a line for each move; None is one second.

        >>> with Engine() as engine:
        ...     comparison = engine.compare_moves(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), Limit(depth=4))
        >>> comparison.moves[0].move, comparison.moves[0].value.text
        (Move.from_uci('a1a8'), '#1')
        """
        return compare_moves(self, board, _bounds(board, limit))

    def analyse_game(
        self, game: chess.pgn.Game, limit: Limit | None = None, *, rating: int | None = None
    ) -> AnalysedGame:
        """What each move of a game was worth, and why, as `secateur analyse` shows it.

        `limit` has a time, nodes or a depth for each move; None is one second. `rating`: of both players; None for
        those of the game.

        >>> import chess.pgn, io
        >>> game = chess.pgn.read_game(io.StringIO("1. f3 e5 2. g4 Qh4#"))
        >>> with Engine() as engine:
        ...     analysed = engine.analyse_game(game, Limit(nodes=2000))
        >>> [ply.name for ply in analysed.errors]
        ['2.g4']

        ValueError: as for `evaluate`, of the first position.
        """
        return analyse_game(read_game(str(game).encode()), self, _bounds(game.board(), limit), rating=rating)

    def probe_tablebases(self, board: chess.Board) -> int | None:
        """What the Syzygy tables of the option `syzygy_path` say of a position, for the side to move.

        2 is a win, 1 a win that the fifty-move rule prevents, 0 a draw, -1 a loss that it prevents, -2 a loss. None if
        the position is not in the tables.

        >>> with Engine() as engine:
        ...     print(engine.probe_tablebases(chess.Board("8/8/8/8/8/8/8/KQ5k w - - 0 1")))
        None

        A search that runs is waited for. ValueError: as for `evaluate`.
        """
        return self._probe(self._inner.probe_wdl, board)

    def probe_dtz(self, board: chess.Board) -> int | None:
        """The DTZ by the same tables: plies to the next capture, pawn move or mate, as python-chess gives it.

        Negative for a loss, beyond 100 where the fifty-move rule prevents it. None if it is not in the tables.

        >>> with Engine() as engine:
        ...     print(engine.probe_dtz(chess.Board("8/8/8/8/8/8/8/KQ5k w - - 0 1")))
        None

        A search that runs is waited for. ValueError: as for `evaluate`.
        """
        return self._probe(self._inner.probe_dtz, board)

    def _probe(self, ask: Callable[[chess.Board], tuple[int | None, list[Message]]], board: chess.Board) -> int | None:
        check(board)
        with self._condition:
            self._wait_for_turn()
            value, messages = ask(board)
        for message in messages:
            LOGGER.warning("%s", message.text)
        return value

    # Options and games ---------------------------------------------------------------------------------------------

    def configure(self, config: Config | None = None, /, **options: Unpack[EngineOptions]) -> None:
        """Set options. GUIS.md explains each; `EngineOptions` lists the keywords.

        >>> with Engine() as engine:
        ...     engine.configure({"Threads": 2}, uci_elo=1800)
        ...     engine.options["uci_limit_strength"]
        True

        `uci_elo` also sets `uci_limit_strength`, unless that is given. `uci_analyse_mode` is on in `analyse` and
        `analysis` and off in `play`, until it is set. `{"Clear Hash": None}` clears the table, as in python-chess.
        ValueError: there is no such option or value. A `hash` that this machine does not allow, or more `threads` than
        it has processors, is cut, and logged: `options` has what is in use.
        """
        given, button = {**(config or {}), **options}, self._inner.options.clear_hash
        presses = [name for name in given if self._inner.options.find(name) is button]
        settings = self._settings({name: value for name, value in given.items() if name not in presses})
        with self._condition:
            self._wait_for_turn()
            self._set(settings)
            if presses:
                button.set(None)
            if "uci_analyse_mode" in settings:
                self._chooses_analyse_mode = False

    def _settings(self, config: Mapping[str, object]) -> Values:
        """Options by keyword, with their values, also given as text. `uci_elo` alone asks for that strength, too.

        ValueError: an option or a value is wrong.
        """
        found: Values = {}
        for name, value in config.items():
            named = self._inner.options.find(name)
            keyword = next((keyword for keyword, option in self._options.items() if option is named), None)
            if keyword is None:
                hint = suggestion(name, KEYWORDS) or f"; the options are {', '.join(KEYWORDS)}"
                raise ValueError(f"there is no option {name!r}{hint}")
            found[keyword] = self._options[keyword].checked(name, value)
        if "uci_elo" in found:
            found.setdefault("uci_limit_strength", True)
        return found

    def _set(self, values: Values) -> None:
        for keyword, value in values.items():
            for message in self._options[keyword].assign(value):
                LOGGER.warning("%s", message.text)

    @property
    def options(self) -> dict[str, bool | int | str]:
        """The value of every option, by keyword."""
        return {keyword: option.value for keyword, option in self._options.items()} | self._lasting

    def new_game(self) -> None:
        """Forget what was learnt from earlier searches: clear the hash table and the histories."""
        with self._condition:
            self._wait_for_turn()
            self._inner.new_game()

    # The end -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the search that runs, which returns what it has found, and end all threads.

        In a forked child this does nothing: the threads are those of the parent.
        """
        if not self._condition.is_of_this_process:
            return
        with self._condition:
            self._is_closed = True
            self._inner.stop()
            self._condition.notify_all()
        if self._finalizer.detach() is not None:
            self._inner.close()

    # As in python-chess.
    quit = close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    # How a search begins and ends ----------------------------------------------------------------------------------

    def _begin(
        self,
        board: chess.Board,
        limit: Limit | None,
        *,
        multipv: int | None = None,
        game: object = None,
        info: chess.engine.Info = INFO_ALL,
        root_moves: Moves = None,
        options: Config | None = None,
        analyses: bool = False,
        in_background: bool = False,
    ) -> Analysis:
        """Start a search, as soon as none is running."""
        position, remarks = checked(board)
        for remark in remarks:
            LOGGER.warning("%s", remark)
        limits = limits_of(limit, position, root_moves)
        settings = self._settings(options or {})
        if analyses:
            # Nothing has to be in time, and the shortest searches are no longer than the overhead.
            settings.setdefault("move_overhead", 0)
        if limits.is_endless and not in_background:
            raise ValueError("the limit needs a time, depth, nodes, mate or clock: this search would never end")
        with self._condition:
            self._wait_for_turn()
            if game != self._game:
                self._inner.new_game()
                self._game = game
            multi_pv, analyse_mode = self._inner.options.multi_pv, self._inner.options.analyse_mode
            multi_pv.value = 1 if multipv is None else multi_pv.checked("multipv", multipv)
            if self._chooses_analyse_mode:
                analyse_mode.value = analyses
            self._lasting = {keyword: self._options[keyword].value for keyword in settings}
            self._set(settings)
            search = Analysis(self._condition, board.turn, info, in_background, self._inner.stop)
            self._inner.go(position, limits, time.perf_counter(), search.on_info, search.on_best_move)
            self._search = search
            return search

    def _wait_for_turn(self) -> None:
        """Wait until no search runs. An analysis in the background is stopped."""
        while self._search is not None and not self._search.is_done:
            if self._search.in_background:
                self._inner.stop()
            self._require_open()
            self._condition.wait()
        self._require_open()
        self._end_last_search()

    def _require_open(self) -> None:
        if self._is_closed:
            raise EngineTerminatedError("this engine is closed")

    def _end_last_search(self) -> None:
        """Where no search runs, the thread of the last one ends, and so do its options."""
        if self._search is not None and not self._search.is_done:
            return
        # It has answered, and is about to end.
        self._inner.wait()
        lasting, self._lasting = self._lasting, {}
        for keyword, value in lasting.items():
            try:
                self._set({keyword: value})
            except ValueError as error:
                # A file is gone. Whoever calls now has not asked for it.
                LOGGER.warning("%s stays as it is: %s", keyword, error)


def _release(inner: UciEngine, condition: EngineCondition) -> None:
    """Close an engine that was dropped, in the process that made it. The garbage collector may call this in one of the
    engine's own threads, which cannot wait for itself.
    """
    if not condition.is_of_this_process:
        return
    if threading.current_thread() is threading.main_thread():
        inner.close()
    else:
        threading.Thread(target=inner.close, name="close").start()


# The fields of a limit, and what they are in `go`.
_FIELDS = {
    "white_clock": "wtime_ms",
    "black_clock": "btime_ms",
    "white_inc": "winc_ms",
    "black_inc": "binc_ms",
    "time": "movetime_ms",
    "remaining_moves": "movestogo",
    "depth": "depth",
    "nodes": "nodes",
    "mate": "mate",
}


def limits_of(limit: Limit | None, board: chess.Board, root_moves: Moves) -> Limits:
    """What a `go` with this limit asks for; None asks for no bound. A number above MAX_INT counts as that, as in UCI.

    ValueError: a value of the limit, or a move, makes no sense.
    """
    found: dict[str, Any] = {}
    for name, field in _FIELDS.items():
        value: object = getattr(limit, name, None)
        if value is None:
            continue
        if field.endswith("_ms"):
            if not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ValueError(f"Limit.{name} must be a number of seconds, 0 or more, not {value!r}")
            value = round(1000 * min(value, MAX_INT))
        elif not isinstance(value, int) or value < 1:
            raise ValueError(f"Limit.{name} must be a whole number, 1 or more, not {value!r}")
        found[field] = min(value, MAX_INT)
    moves = None if root_moves is None else tuple(legal_move(board, move) for move in root_moves)
    if moves == ():
        raise ValueError("root_moves holds no move")
    return Limits(**found, searchmoves=moves)


def _bounds(board: chess.Board, limit: Limit | None) -> Limit:
    """The time, nodes and depth of a limit for several searches. ValueError: as `limits_of`, or there is none."""
    check(board)
    bounds = Limit(time=1.0) if limit is None else Limit(time=limit.time, nodes=limit.nodes, depth=limit.depth)
    if limits_of(bounds, board, None).is_endless:
        raise ValueError("the limit needs a time, nodes or a depth")
    return bounds
