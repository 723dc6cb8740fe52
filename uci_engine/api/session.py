"""`Session`: an engine in this process, its options and games, and how its one search begins and ends.

`Engine` adds the searches that a user asks for. An option has a keyword: its UCI name in lower case, with underscores.
`move_overhead` is `Move Overhead`, `own_book` is `OwnBook`.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Iterable
from typing import Any, NoReturn, Self, TypedDict, Unpack

import chess
import chess.engine
from chess.engine import INFO_ALL, EngineTerminatedError, Info, Limit

from evaluation.scoring import check
from uci_engine.api.analysis import LOGGER, Analysis, EngineCondition
from uci_engine.engine import UciEngine
from uci_engine.options import EngineOptions, Options, ValueOption
from uci_engine.text import ERROR, MAX_INT, suggestion
from uci_engine.time_management.limits import Limits
from uci_engine.tools.doctor import slow_core_warning

Moves = Iterable[chess.Move] | None

KEYWORDS = tuple(EngineOptions.__annotations__)

# `core.load` changes the whole process, so only one thread may call it.
_LOADING = threading.Lock()


class Asked(TypedDict, total=False):
    """What every search may be asked for: see `Engine.play`."""

    game: object
    info: Info
    root_moves: Moves


class Session:
    """What `Engine` has apart from its searches."""

    def __init__(self, *, core: str = "auto", **options: Unpack[EngineOptions]) -> None:
        """`options`: as for `configure`. `core`: see `uci_engine.core.load`; one process runs one core.

        ValueError: an option is wrong. ImportError: the core is not installed.
        """
        with _LOADING:
            inner = UciEngine(core, owns_process=False)
        self._inner = inner
        # Guards all that follows, and the reports of the running search.
        self._condition = EngineCondition()
        self._search: Analysis | None = None
        self._is_closed = False
        self._game: object = None
        self._chooses_analyse_mode = True
        # For an engine that is dropped without `close`, and at the end of the program.
        self._finalizer = weakref.finalize(self, _release, inner, os.getpid())
        for warning in (slow_core_warning(inner.core), inner.problem):
            if warning:
                LOGGER.warning("%s", warning)
        try:
            self.configure(**options)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The name of the engine, with its version."""
        return self._inner.name

    # Options and games ---------------------------------------------------------------------------------------------

    def configure(self, **options: Unpack[EngineOptions]) -> None:
        """Set options. GUIS.md explains each; `EngineOptions` lists the keywords.

        >>> with Engine() as engine:
        ...     engine.configure(threads=2, uci_elo=1800)
        ...     engine.options["uci_limit_strength"]
        True

        `uci_elo` also sets `uci_limit_strength`, unless that is given. `uci_analyse_mode` is on in `analyse` and
        `analysis` and off in `play`, until it is set. ValueError: there is no such option or value. A `hash` that this
        machine does not allow, or more `threads` than it has processors, is cut, and logged: `options` has what is in
        use.
        """
        with self._condition:
            settings = [setting(self._inner.options, name, value) for name, value in options.items()]
            # Alone it asks for that strength. In UCI it takes two options.
            if "uci_elo" in options and "uci_limit_strength" not in options:
                settings.append(setting(self._inner.options, "uci_limit_strength", True))
            for _, option, value in settings:
                self._wait_for_turn()
                for message in option.assign(value):
                    LOGGER.warning("%s", message.removeprefix(ERROR))
            if "uci_analyse_mode" in options:
                self._chooses_analyse_mode = False

    @property
    def options(self) -> dict[str, bool | int | str]:
        """The value of every option, by keyword."""
        found = {keyword: self._inner.options.find(keyword) for keyword in KEYWORDS}
        return {keyword: option.value for keyword, option in found.items() if isinstance(option, ValueOption)}

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

    def quit(self) -> None:
        """The same as `close`, as in python-chess."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine cannot be copied or pickled")

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else ""
        options = self._inner.options
        return f"<{self.name}, hash={options.hash.value}, threads={options.threads.value}{state}>"

    # How a search begins and ends ----------------------------------------------------------------------------------

    def _begin(
        self,
        board: chess.Board,
        limit: Limit | None,
        *,
        multipv: int | None = None,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Moves = None,
        analyses: bool = False,
        in_background: bool = False,
    ) -> Analysis:
        """Start a search, as soon as none is running."""
        check(board)
        limits = limits_of(limit, board, root_moves)
        if limits.is_endless and not in_background:
            raise ValueError("the limit needs a time, depth, nodes, mate or clock: this search would never end")
        with self._condition:
            self._wait_for_turn()
            if game != self._game:
                self._inner.new_game()
                self._game = game
            options = self._inner.options
            options.multi_pv.value = 1 if multipv is None else options.multi_pv.checked("multipv", multipv)
            self._set_position(board)
            if self._chooses_analyse_mode:
                options.analyse_mode.value = analyses
            search = Analysis(self._condition, board.turn, info, in_background, self._inner.stop)
            self._inner.go(limits, time.perf_counter(), search.on_info, search.on_best_move)
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
        # The thread of the last search has answered, and is about to end.
        self._inner.wait()

    def _set_position(self, board: chess.Board) -> None:
        """Set up the position as the UCI loop does, so that a position which no game can hold is refused."""
        self._inner.options.chess960.value = board.chess960
        # A null move is not a move of a game. The position after it can be searched.
        has_game = all(board.move_stack)
        root = board.root() if has_game else board
        check(root)
        moves = [move.uci() for move in board.move_stack] if has_game else []
        for message in self._inner.set_position(root.fen(shredder=board.chess960, en_passant="fen"), moves):
            if message.startswith(ERROR):
                raise ValueError(message.removeprefix(ERROR))
            LOGGER.warning("%s", message)
        reached = self._inner.board
        if reached is None or (reached.turn, reached.board_fen()) != (board.turn, board.board_fen()):
            raise ValueError("the moves of the board do not lead to its position")

    def _answer(self, search: Analysis) -> chess.engine.BestMove:
        """Wait for a search. If that is interrupted, for example by Ctrl-C, the search is stopped."""
        try:
            return search.wait()
        except BaseException:
            search.stop()
            raise

    def _require_open(self) -> None:
        if self._is_closed:
            raise EngineTerminatedError("this engine is closed")


def _release(inner: UciEngine, process: int) -> None:
    """Close an engine that was dropped, in the process that made it. The garbage collector may call this in one of the
    engine's own threads, which cannot wait for itself.
    """
    if os.getpid() != process:
        return
    if threading.current_thread() is threading.main_thread():
        inner.close()
    else:
        threading.Thread(target=inner.close, name="close").start()


# Limits ---------------------------------------------------------------------------------------------------------


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
        value: Any = None if limit is None else getattr(limit, name)
        if value is None:
            continue
        if field.endswith("_ms"):
            if not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ValueError(f"Limit.{name} must be a number of seconds, 0 or more, not {value!r}")
            value = round(1000 * min(value, MAX_INT))
        elif not isinstance(value, int) or value < 1:
            raise ValueError(f"Limit.{name} must be a whole number, 1 or more, not {value!r}")
        found[field] = min(value, MAX_INT)
    moves = None if root_moves is None else list(root_moves)
    if moves is not None and not moves:
        raise ValueError("root_moves holds no move")
    for move in moves or ():
        if not board.is_legal(move):
            raise ValueError(f"root_moves holds {move.uci()}, which is not legal here")
    return Limits(**found, searchmoves=None if moves is None else tuple(move.uci() for move in moves))


def setting(options: Options, name: str, value: object) -> tuple[str, ValueOption[Any], Any]:
    """Find an option by keyword or UCI name, and check its value, which may be text. Returns keyword, option and value.

    ValueError: the option or the value is wrong.
    """
    option = options.find(name)
    keyword = next((keyword for keyword in KEYWORDS if options.find(keyword) is option), None)
    if keyword is None or not isinstance(option, ValueOption):
        hint = suggestion(name, KEYWORDS) or f"; the options are {', '.join(KEYWORDS)}"
        raise ValueError(f"there is no option {name!r}{hint}")
    return keyword, option, option.checked(name, value)
