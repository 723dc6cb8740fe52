"""UCI engines as the command line, a journal and a worker know them: command, options, limits.

Invariant: a description can be pickled and written as JSON, and is the same for the same engine with the same settings.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import chess.engine

from toolkit.errors import ProgramError

ENGINE_SYNTAX = (
    "'cmd=PROGRAM [name=NAME] [dir=FOLDER] [tc=[MOVES/]SECONDS[+INCREMENT]] [nodes=N] [movetime=SECONDS] [depth=N] "
    "[option.NAME=VALUE ...]', each word quoted as in a shell where it holds blanks"
)
LIMIT_KEYS = ("tc", "nodes", "movetime", "depth")
CLOCK = re.compile(r"(?:(?P<moves>\d+)/)?(?P<base>\d+(?:\.\d*)?|\.\d+)(?:\+(?P<increment>\d+(?:\.\d*)?|\.\d+))?")


@dataclass(frozen=True)
class TimeControl:
    """How long an engine may think: a clock, a fixed effort for each move, or both; at least one is set.

    `moves` is how many moves the clock is for (None for the whole game); depth in plies.
    """

    base_seconds: float | None = None
    increment_seconds: float = 0.0
    moves: int | None = None
    nodes: int | None = None
    movetime_seconds: float | None = None
    depth: int | None = None

    def fixed_limit(self) -> chess.engine.Limit:
        """The limit of a single search, without the clock."""
        return chess.engine.Limit(time=self.movetime_seconds, nodes=self.nodes, depth=self.depth)

    def __str__(self) -> str:
        words = []
        if self.base_seconds is not None:
            moves = f"{self.moves}/" if self.moves else ""
            increment = f"+{self.increment_seconds:g}" if self.increment_seconds else ""
            words.append(f"{moves}{self.base_seconds:g}{increment}")
        words += [f"nodes={self.nodes}"] if self.nodes is not None else []
        words += [f"movetime={self.movetime_seconds:g}"] if self.movetime_seconds is not None else []
        words += [f"depth={self.depth}"] if self.depth is not None else []
        return " ".join(words) or "no limit"


@dataclass(frozen=True)
class Identity:
    """What an engine calls itself, and a digest of its program (`identity`)."""

    id_name: str
    digest: str

    def __str__(self) -> str:
        return f"{self.id_name} ({self.digest[:12]})"


@dataclass(frozen=True)
class EngineSpec:
    """An engine, its options and its limits. identity: what it has to be, wherever and whenever it is started."""

    name: str
    command: tuple[str, ...]
    directory: str | None = None
    control: TimeControl = TimeControl()
    options: tuple[tuple[str, str], ...] = ()
    identity: Identity | None = None

    def as_json(self) -> dict[str, Any]:
        """For journals and results; the same for the same engine with the same settings."""
        return {
            **asdict(self),
            "command": list(self.command),
            "options": dict(self.options),
            "control": {key: value for key, value in asdict(self.control).items() if value},
        }


def own_engine(core: str = "auto") -> EngineSpec:
    """The engine of these sources, on this core."""
    name = "secateur" if core == "auto" else f"the {core} core"
    root = Path(__file__).resolve().parents[3]
    return EngineSpec(name, (sys.executable, "-m", "uci_engine", "--core", core), str(root))


def go_words(limit: chess.engine.Limit) -> str:
    """What stands behind `go` for this limit. Times are whole milliseconds, at least one: some take 0 for no time."""
    words = []
    for word, seconds in (("wtime", limit.white_clock), ("btime", limit.black_clock)):
        words += [f"{word} {max(1, round(seconds * 1000))}"] if seconds is not None else []
    for word, seconds in (("winc", limit.white_inc), ("binc", limit.black_inc)):
        words += [f"{word} {round(seconds * 1000)}"] if seconds is not None else []
    words += [f"movestogo {limit.remaining_moves}"] if limit.remaining_moves is not None else []
    words += [f"movetime {max(1, round(limit.time * 1000))}"] if limit.time is not None else []
    words += [f"nodes {limit.nodes}"] if limit.nodes is not None else []
    words += [f"depth {limit.depth}"] if limit.depth is not None else []
    return " ".join(words)


def parse_engine(text: str, defaults: str = "") -> EngineSpec:
    """An engine from `key=value` words (ENGINE_SYNTAX); what it does not say is taken from `defaults`.

    An engine with any limit of its own takes none from the defaults. Raises ProgramError.
    """
    own, common = _words(text), _words(defaults)
    if any(key in own for key in LIMIT_KEYS):
        common = {key: value for key, value in common.items() if key not in LIMIT_KEYS}
    words = {**common, **own}
    try:
        command = tuple(shlex.split(words.pop("cmd", "")))
    except ValueError as error:
        raise ProgramError(f"cmd= of {text!r}: {error}") from None
    if not command:
        raise ProgramError(f"no cmd= in {text!r}")
    control = _control(words)
    name = words.pop("name", "") or Path(command[0]).name
    directory = words.pop("dir", None)
    options = tuple((key.removeprefix("option."), words.pop(key)) for key in list(words) if key.startswith("option."))
    if words:
        raise ProgramError(f"unknown {', '.join(f'{key}=' for key in words)} in {text!r}; an engine is {ENGINE_SYNTAX}")
    return EngineSpec(name, command, directory, control, options)


def parse_engines(texts: Iterable[str], defaults: str = "") -> list[EngineSpec]:
    """Several engines; equal names are told apart by a number behind them."""
    specs: list[EngineSpec] = []
    names: set[str] = set()
    for text in texts:
        spec = parse_engine(text, defaults)
        name, number = spec.name, 1
        while name in names:
            number += 1
            name = f"{spec.name} {number}"
        names.add(name)
        specs.append(replace(spec, name=name))
    return specs


def require_limits(specs: Iterable[EngineSpec]) -> None:
    """Raise ProgramError for engines that could think for ever."""
    unlimited = [spec.name for spec in specs if spec.control == TimeControl()]
    if unlimited:
        raise ProgramError(f"no tc=, nodes=, movetime= or depth= for {', '.join(unlimited)}")


def _words(text: str) -> dict[str, str]:
    words: dict[str, str] = {}
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise ProgramError(f"{text!r}: {error}") from None
    for part in parts:
        key, equals, value = part.partition("=")
        if not key or not equals:
            raise ProgramError(f"{part!r} is not key=value, in {text!r}; an engine is {ENGINE_SYNTAX}")
        if key in words:
            raise ProgramError(f"{key}= twice in {text!r}")
        words[key] = value
    return words


def _control(words: dict[str, str]) -> TimeControl:
    """Take the limits out of the words."""
    base, increment, moves = None, 0.0, 0
    if "tc" in words:
        value = words.pop("tc")
        match = CLOCK.fullmatch(value)
        if match is None:
            raise ProgramError(f"tc={value} is not [MOVES/]SECONDS[+INCREMENT]")
        moves, base, increment = int(match["moves"] or 0), float(match["base"]), float(match["increment"] or 0)
        if base <= 0:
            raise ProgramError(f"tc={value} leaves no time for the first move")
    nodes, depth = _positive("nodes", words), _positive("depth", words)
    return TimeControl(
        base_seconds=base,
        increment_seconds=increment,
        moves=moves or None,
        nodes=None if nodes is None else int(nodes),
        depth=None if depth is None else int(depth),
        movetime_seconds=_positive("movetime", words),
    )


def _positive(key: str, words: dict[str, str]) -> float | None:
    """Take a number out of the words: whole, except that of `movetime`. None if it is not there."""
    value = words.pop(key, None)
    if value is None:
        return None
    if not (value.isdecimal() or (key == "movetime" and CLOCK.fullmatch(value))) or not 0 < float(value) < 10**18:
        raise ProgramError(f"{key}={value} is not a sensible number")
    return float(value)
