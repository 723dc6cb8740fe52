"""The engine's options: one table with names, types, bounds and help, and the values they have now.

`engine` holds an `Options`, reads values from it and acts on the changes that `set` reports; `uci` prints
`declare`. What must stay true: a value is always of its option's type and within its bounds, whatever text
arrives; what cannot be read changes nothing and is answered with a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from uci_engine.memory import hash_maximum_mib
from uci_engine.search.parameters import PARAMETERS
from uci_engine.text import parse_int, quoted
from uci_engine.time_management.parameters import time_tunables

Value = bool | int | str
Kind = Literal["check", "spin", "combo", "button", "string"]

EMPTY = "<empty>"
"""How UCI writes a string option without text."""

ABOUT = "Secateur, a chess engine in Python that prunes trees. Free software, GPL-3.0-or-later."


NODES_TIME = "NodesTime"
"""The option of `--tuning` that is not a parameter."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option as declared to the GUI; `minimum` and `maximum` are for a spin, `choices` for a combo."""

    name: str
    kind: Kind
    default: Value = ""
    minimum: int = 0
    maximum: int = 0
    choices: tuple[str, ...] = ()
    help: str = ""
    read_only: bool = False

    def declaration(self) -> str:
        """The `option name ...` line of UCI."""
        text = f"option name {self.name} type {self.kind}"
        if self.kind == "button":
            return text
        text += f" default {_written(self.default)}"
        if self.kind == "spin":
            text += f" min {self.minimum} max {self.maximum}"
        return text + "".join(f" var {choice}" for choice in self.choices)


@dataclass(frozen=True, slots=True)
class Change:
    """An option that was set: its name as declared, its value (True for a button), and a remark, if any."""

    name: str
    value: Value
    message: str | None = None


def standard_options(hash_maximum: int | None = None) -> tuple[Option, ...]:
    """Secateur's options. `hash_maximum` in MiB; None asks the machine."""
    largest_hash = hash_maximum_mib() if hash_maximum is None else hash_maximum
    return (
        Option("Hash", "spin", min(16, largest_hash), 1, largest_hash, help="size of the hash table in MiB"),
        Option("Threads", "spin", 1, 1, 512, help="number of threads that search, best one for each core"),
        Option("Clear Hash", "button", help="forget everything in the hash table"),
        Option("Ponder", "check", False, help="the GUI may let the engine think on the opponent's time"),
        Option("MultiPV", "spin", 1, 1, 256, help="number of best lines to report"),
        Option("Move Overhead", "spin", 10, 0, 5000, help="time in ms to keep back per move for delays"),
        Option("OwnBook", "check", False, help="play the opening from a book"),
        Option("BookFile", "string", "", help="a Polyglot book; empty: the built-in one"),
        Option("BookDepth", "spin", 40, 0, 200, help="plies of a game after which the book is closed"),
        Option("BookVariety", "spin", 50, 0, 100, help="0: always the book's best move; 100: by weight"),
        Option("SyzygyPath", "string", "", help="folders with Syzygy endgame tables"),
        Option("SyzygyProbeDepth", "spin", 1, 1, 100, help="least depth in plies to probe the largest tables"),
        Option("Syzygy50MoveRule", "check", True, help="a win that the fifty-move rule spoils counts as a draw"),
        Option("SyzygyProbeLimit", "spin", 7, 0, 7, help="most pieces for which tables are probed; 0 for never"),
        Option("GaviotaTbPath", "string", "", help="folders with Gaviota tables, for the distance to mate at the root"),
        Option("UCI_Chess960", "check", False, help="Chess960: castling is written king takes rook"),
        Option("UCI_ShowWDL", "check", False, help="report expected wins, draws and losses in permille"),
        Option("UCI_AnalyseMode", "check", False, help="the GUI analyses instead of playing a game"),
        Option("UCI_EngineAbout", "string", ABOUT, help="what this engine is", read_only=True),
    )


def tuning_options(core: str) -> tuple[Option, ...]:
    """For tuners: an option for every parameter of the search and its time on this core, and `nodes_time`'s clock."""
    return (
        *(
            Option(parameter.name, "spin", parameter.value, parameter.minimum, parameter.maximum, help=parameter.why)
            for parameter in (*PARAMETERS, *time_tunables(core))
        ),
        Option(NODES_TIME, "spin", 0, 0, 100_000, help="so many nodes are a ms of our clock (1 thread); 0: off"),
    )


class Options:
    """The table of options and their current values."""

    def __init__(self, table: Sequence[Option] | None = None) -> None:
        options = standard_options() if table is None else table
        self._options = {_key(option.name): option for option in options}
        self._values = {key: option.default for key, option in self._options.items()}

    def __getitem__(self, name: str) -> Value:
        """The current value; KeyError if there is no such option. The case of the name does not matter."""
        return self._values[_key(name)]

    def declare(self) -> list[str]:
        """The `option name ...` lines for the answer to `uci`."""
        return [option.declaration() for option in self._options.values()]

    def describe(self) -> list[str]:
        """One line for each option for people: its name, its current value and what it is for."""
        return [
            f"{option.name}: {option.help}"
            if option.kind == "button"
            else f"{option.name} = {self._shown(option)}: {option.help}"
            for option in self._options.values()
        ]

    def set(self, name: str | None, value: str | None) -> Change | str:
        """Set an option from the two texts of `setoption`, either None if it was absent.

        Returns the change, or a sentence saying why there was none. A number out of bounds is clamped, with a
        remark in the change.
        """
        if not name:
            return "setoption needs name and the name of an option"
        option = self._options.get(_key(name))
        if option is None:
            return f"there is no option {quoted(name)}"
        if option.read_only:
            return f"option {option.name} cannot be changed"
        if option.kind == "button":
            if value is None:
                return Change(option.name, True)
            return Change(
                option.name, True, f"option {option.name} takes no value, {quoted(value)} is ignored"
            )
        if value is None:
            return f"option {option.name} needs a value, it stays {self._shown(option)}"
        change = self._read(option, value)
        if isinstance(change, Change):
            self._values[_key(option.name)] = change.value
        return change

    def restore(self, name: str, value: Value) -> None:
        """Put back an earlier value, for an owner that could not act on a change (no memory for a table)."""
        key = _key(name)
        if key not in self._values:
            raise KeyError(name)
        self._values[key] = value

    def _read(self, option: Option, value: str) -> Change | str:
        if option.kind == "string":
            return Change(option.name, "" if value == EMPTY else value)
        if option.kind == "spin":
            number = parse_int(value)
            if number is not None:
                return _clamped(option, number)
        else:
            choices = ("true", "false") if option.kind == "check" else option.choices
            chosen = next((choice for choice in choices if _key(choice) == _key(value)), None)
            if chosen is not None:
                return Change(option.name, chosen == "true" if option.kind == "check" else chosen)
        return f"option {option.name} cannot be {quoted(value)}, it stays {self._shown(option)}"

    def _shown(self, option: Option) -> str:
        value = self._values[_key(option.name)]
        # A text came from outside, and whatever is shown must be printable.
        return quoted(value) if isinstance(value, str) and value else _written(value)


def _clamped(option: Option, number: int) -> Change:
    clamped = min(max(number, option.minimum), option.maximum)
    if clamped == number:
        return Change(option.name, number)
    bounds = f"{option.minimum} to {option.maximum}"
    return Change(option.name, clamped, f"option {option.name}: {number} is taken as {clamped} ({bounds})")


def _key(text: str) -> str:
    return " ".join(text.split()).lower()


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if value != "" else EMPTY
