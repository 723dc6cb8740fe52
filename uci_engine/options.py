"""Secateur's UCI options: name, bounds, value, and the callback that acts on a change.

Of UCI's types of option there are `Check`, `Spin`, `String` and `Button`. `Options` lists those of Secateur, and
`UciEngine` sets their callbacks. A new option is one line in `Options` and the code that reads it. A callback is
called when the value has changed. That of a `String` is called whenever it is set, because the file that it names may
have changed, and so is that of a `Button`.

Invariant: whatever text arrives, a value has its option's type and is within its bounds.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypedDict, TypeVar

from evaluation.files import reason_of
from uci_engine.memory import HASH_DECLARED_MIB, hash_maximum_mib
from uci_engine.search.parameters import PARAMETERS
from uci_engine.search.strength import MAX_ELO, MAX_SKILL_LEVEL, MIN_ELO
from uci_engine.text import Message, parse_int, quoted
from uci_engine.time_management import TIME_DEFAULTS
from uci_engine.tunable import tunables_of

# How UCI writes a string option without text.
EMPTY = "<empty>"

# The default of the option `Use NNUE`.
NETWORK_BY_DEFAULT = True

# Acts on an option and may return messages for the user. ValueError, OSError, MemoryError: the option keeps its value.
Callback = Callable[[], Sequence[Message] | None]

T = TypeVar("T", bound=bool | int | str)


class Option:
    type_name = ""

    def __init__(self, name: str, help: str) -> None:
        self.name = name
        self.help = help
        self.on_set: Callback | None = None

    def declaration(self) -> str:
        """The `option name ...` line of UCI."""
        return f"option name {self.name} type {self.type_name}"

    def description(self) -> str:
        return f"{self.name}: {self.help}"

    def set(self, text: str | None) -> list[Message]:
        """Set the option from the value of `setoption`, or None. Returns messages for the user.

        ValueError: it cannot be set; the text tells the user why.
        """
        raise NotImplementedError

    def _act(self) -> list[Message]:
        return [] if self.on_set is None else list(self.on_set() or ())


class Button(Option):
    """An option without a value: setting it runs its callback."""

    type_name = "button"

    def set(self, text: str | None) -> list[Message]:
        remarks = [] if text is None else [Message(f"option {self.name} takes no value, {quoted(text)} is ignored")]
        return remarks + self._act()


class ValueOption(Option, Generic[T]):
    # What a value is, for messages.
    wanted = "text"

    def __init__(self, name: str, default: T, help: str) -> None:
        super().__init__(name, help)
        self.default = default
        self.value = default

    def declaration(self) -> str:
        return f"{super().declaration()} default {_written(self.default)}"

    def description(self) -> str:
        return f"{self.name} = {_shown(self.value)}: {self.help}"

    def set(self, text: str | None) -> list[Message]:
        if text is None:
            raise ValueError(f"option {self.name} needs a value, it stays {_shown(self.value)}")
        value = self.read(text)
        if value is None:
            raise ValueError(f"option {self.name} cannot be {quoted(text)}, it stays {_shown(self.value)}")
        return self.assign(value)

    def assign(self, value: T) -> list[Message]:
        """Set the value, or the nearest that is allowed. Returns messages for the user; ValueError: as `set`."""
        value, remarks = self._bounded(value)
        before, self.value = self.value, value
        try:
            return remarks if value == before and not isinstance(value, str) else remarks + self._act()
        except (ValueError, OSError, MemoryError) as error:
            self.value = before
            reason = "there is not enough memory" if isinstance(error, MemoryError) else reason_of(error)
            now = f"it stays {_shown(before)}"
            raise ValueError(f"option {self.name} cannot be {_shown(value)} ({reason}), {now}") from None

    def read(self, text: str) -> T | None:
        """The value that the text stands for, or None."""
        raise NotImplementedError

    def checked(self, name: str, value: Any) -> T:
        """A value, or what its text stands for. ValueError, with this name of the option: it may not be that."""
        read = self.read(value) if isinstance(value, str) else value
        if type(read) is not type(self.default) or not self._allows(read):
            raise ValueError(f"{name} must be {self.wanted}{'' if value is None else f', not {value!r}'}")
        return read

    def _allows(self, value: T) -> bool:
        return True

    def _bounded(self, value: T) -> tuple[T, list[Message]]:
        """The nearest allowed value, and a message if it differs."""
        return value, []


class Check(ValueOption[bool]):
    type_name = "check"
    wanted = "True or False"

    def read(self, text: str) -> bool | None:
        return {"true": True, "false": False}.get(text.strip().lower())


class Spin(ValueOption[int]):
    """An option with a whole number; one out of bounds is clamped.

    `usable`: the maximum that machine and core allow, where that is less than the `maximum` declared.
    """

    type_name = "spin"

    def __init__(
        self, name: str, default: int, minimum: int, maximum: int, help: str, usable: int | None = None
    ) -> None:
        super().__init__(name, default, help)
        self.minimum = minimum
        self.maximum = maximum
        self.wanted = f"a whole number from {minimum} to {maximum}"
        self.usable = maximum if usable is None else min(usable, maximum)

    def declaration(self) -> str:
        return f"{super().declaration()} min {self.minimum} max {self.maximum}"

    def read(self, text: str) -> int | None:
        return parse_int(text)

    def _allows(self, value: int) -> bool:
        return self.minimum <= value <= self.maximum

    def _bounded(self, value: int) -> tuple[int, list[Message]]:
        clamped = min(max(value, self.minimum), self.usable)
        if clamped == value:
            return value, []
        if value > self.usable < self.maximum:
            why = ", the most that is possible here"
        else:
            why = f" ({self.minimum} to {self.maximum})"
        return clamped, [Message(f"option {self.name}: {value} is taken as {clamped}{why}")]


class String(ValueOption[str]):
    type_name = "string"

    def read(self, text: str) -> str | None:
        return "" if text == EMPTY else text


class EngineOptions(TypedDict, total=False):
    """The options by keyword, for `uci_engine.Engine` and its `configure`. GUIS.md says what each does."""

    hash: int
    threads: int
    move_overhead: int
    contempt: int
    uci_limit_strength: bool
    uci_elo: int
    skill_level: int
    human_pace: bool
    own_book: bool
    book_file: str
    book_depth: int
    book_variety: int
    syzygy_path: str
    syzygy_probe_depth: int
    syzygy_50_move_rule: bool
    syzygy_probe_limit: int
    weights_file: str
    use_nnue: bool
    eval_file: str
    uci_show_wdl: bool
    uci_analyse_mode: bool


def usable_processors() -> int:
    """The number of processors that this process may run on, at least 1."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class Options:
    """Secateur's options: its attributes, in their order. Case, blanks and underscores of their names do not matter."""

    def __init__(self, core: str = "compiled", tuning: bool = False) -> None:
        """`core`: its name. Only the compiled one has several threads."""
        max_mib = hash_maximum_mib()
        self.hash = Spin("Hash", min(16, max_mib), 1, HASH_DECLARED_MIB, "MiB of the transposition table", max_mib)
        most = usable_processors() if core == "compiled" else 1
        self.threads = Spin("Threads", 1, 1, 512, "number of search threads; at most one per CPU core", most)
        self.clear_hash = Button("Clear Hash", "clear the transposition table")
        self.ponder = Check("Ponder", False, "the engine may think on the opponent's time")
        self.multi_pv = Spin("MultiPV", 1, 1, 256, "number of principal variations to report")
        self.move_overhead = Spin("Move Overhead", 10, 0, 5000, "milliseconds kept for lag; 100 to 300 over a network")
        self.contempt = Spin("Contempt", 0, -100, 100, "centipawns that a draw costs the engine; 0 in analysis")
        self.limit_strength = Check("UCI_LimitStrength", False, "play as people of the rating UCI_Elo")
        self.elo = Spin("UCI_Elo", MIN_ELO, MIN_ELO, MAX_ELO, "rating of people in rapid games on lichess")
        self.skill_level = Spin("Skill Level", MAX_SKILL_LEVEL, 0, MAX_SKILL_LEVEL, "0: weakest; 20: full strength")
        self.pace = Check("Human Pace", True, "weaker levels take time for a move, as a person does")
        self.own_book = Check("OwnBook", False, "play the opening from a book")
        self.book_file = String("BookFile", "", "a Polyglot book; empty: the built-in one")
        self.book_depth = Spin("BookDepth", 40, 0, 200, "last ply at which the book is used")
        self.book_variety = Spin("BookVariety", 50, 0, 100, "0: the move of highest weight; 100: at random by weight")
        self.syzygy_path = String("SyzygyPath", "", "folders of Syzygy tables, separated by ; or :")
        self.syzygy_probe_depth = Spin("SyzygyProbeDepth", 1, 1, 100, "minimum depth to probe the largest tables")
        self.syzygy_50_move_rule = Check("Syzygy50MoveRule", True, "a cursed win counts as a draw")
        self.syzygy_probe_limit = Spin("SyzygyProbeLimit", 7, 0, 7, "most pieces to probe; 0: never")
        self.weights_file = String("WeightsFile", "", "empty: the built-in weights")
        self.use_nnue = Check("Use NNUE", NETWORK_BY_DEFAULT, "add the output of the network")
        self.eval_file = String("EvalFile", "", "empty: the built-in network")
        self.chess960 = Check("UCI_Chess960", False, "play Chess960")
        self.show_wdl = Check("UCI_ShowWDL", False, "report expected wins, draws and losses in permille")
        self.analyse_mode = Check("UCI_AnalyseMode", False, "no book or contempt; root moves are also searched alone")
        self.debug_log_file = String("Debug Log File", "", "records every line from and to the GUI")

        offered = [each for each in vars(self).values() if isinstance(each, Option)]

        # For tuners. Without `tuning` they are not offered and keep their defaults.
        self.search_parameters = [Spin(*parameter) for parameter in PARAMETERS]
        self.time_parameters = [Spin(*parameter) for parameter in tunables_of(TIME_DEFAULTS)]
        self.seed = Spin("Seed", 0, 0, 2**31 - 1, "seed of the choices of limited strength; 0: a new one for each game")
        if tuning:
            offered += [*self.search_parameters, *self.time_parameters, self.seed]
        self._options = {_key(option.name): option for option in offered}

    def __iter__(self) -> Iterator[Option]:
        """The options in the order in which they are declared."""
        return iter(self._options.values())

    def find(self, name: str) -> Option | None:
        return self._options.get(_key(name))

    def set(self, name: str | None, text: str | None) -> list[Message]:
        """Set an option from the name and value of `setoption`, each None if absent. Returns messages for the user.

        When nothing was changed, the only message is an error.
        """
        if not name:
            return [Message.error("setoption needs name and the name of an option")]
        option = self.find(name)
        if option is None:
            return [Message.error(f"there is no option {quoted(name)}")]
        try:
            return option.set(text)
        except ValueError as error:
            return [Message.error(error)]


def _written(value: bool | int | str) -> str:
    """A value as UCI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value) or EMPTY


def _shown(value: bool | int | str) -> str:
    """A value in a message, where the user's text must be printable."""
    return quoted(value) if isinstance(value, str) and value else _written(value)


def _key(name: str) -> str:
    return re.sub(r"[\s_]", "", name).lower()
