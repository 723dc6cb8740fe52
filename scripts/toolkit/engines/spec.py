"""UCI engines as the command line, a journal and a worker know them: command, options, limits, identity.

Invariant: a description can be pickled and written as JSON, and is the same for the same engine with the same settings.
What tells an engine from another one under the same command is a digest of its program; a program that is started by a
script of the shell is not seen.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import chess.engine

from toolkit.console import above_zero, at_least_one
from toolkit.errors import ProgramError
from toolkit.files import digest_of_files

T = TypeVar("T")

ENGINE_SYNTAX = (
    "'cmd=PROGRAM [name=NAME] [dir=FOLDER] [tc=[MOVES/]SECONDS[+INCREMENT]] [nodes=N] [movetime=SECONDS] [depth=N] "
    "[option.NAME=VALUE ...]', each word quoted as in a shell where it holds blanks"
)
LIMIT_KEYS = ("tc", "nodes", "movetime", "depth")
CLOCK = re.compile(r"(?:(?P<moves>\d+)/)?(?P<base>\d+(?:\.\d*)?|\.\d+)(?:\+(?P<increment>\d+(?:\.\d*)?|\.\d+))?")
# The name in UCI of the engine whose packages, unlike its launcher, say what it is.
OWN_NAME = "Secateur"
OWN_PACKAGES = ("evaluation", "uci_engine")
# Without what a compiler made of the sources, which differs from machine to machine.
SOURCE_SUFFIXES = (".py", ".toml", ".network", ".bin", ".gz")
FIND_PACKAGES = f"""
from importlib.util import find_spec
for name in {OWN_PACKAGES}:
    print(find_spec(name).submodule_search_locations[0])
"""
FIND_SECONDS = 30.0


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
class EngineSpec:
    """An engine, its options and its limits.

    identity: what it has to be, wherever and whenever it is started: what it calls itself, and a digest of its program.
    """

    name: str
    command: tuple[str, ...]
    directory: str | None = None
    control: TimeControl = TimeControl()
    options: tuple[tuple[str, str], ...] = ()
    identity: str | None = None

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
    base, increment, moves = None, 0.0, None
    if "tc" in words:
        value = words.pop("tc")
        match = CLOCK.fullmatch(value)
        if match is None:
            raise ProgramError(f"tc={value} is not [MOVES/]SECONDS[+INCREMENT]")
        base, increment, moves = float(match["base"]), float(match["increment"] or 0), int(match["moves"] or 0) or None
        if base <= 0:
            raise ProgramError(f"tc={value} leaves no time for the first move")
    nodes, depth = _number("nodes", words, at_least_one), _number("depth", words, at_least_one)
    return TimeControl(base, increment, moves, nodes, _number("movetime", words, above_zero), depth)


def _number(key: str, words: dict[str, str], read: Callable[[str], T]) -> T | None:
    """Take a number out of the words. None if it is not there."""
    value = words.pop(key, None)
    try:
        return None if value is None else read(value)
    except argparse.ArgumentTypeError as error:
        raise ProgramError(f"{key}={value}: {error}") from None


# ---- Identity ----


def digest_of_packages(folders: Iterable[Path]) -> str:
    """Of the sources and the data in these folders. Raises OSError."""
    paths = (path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in SOURCE_SUFFIXES)
    return digest_of_files(paths)


def digest_of_program(spec: EngineSpec, id_name: str) -> str:
    """Of the files that the command names, or of Secateur's packages. Raises ProgramError, OSError."""
    program, *rest = spec.command
    folder = Path(spec.directory or ".")
    files = [path for word in (shutil.which(program) or program, *rest) if (path := folder / word).is_file()]
    interpreter = _python_of(files[0]) if files and id_name.startswith(OWN_NAME) else None
    if interpreter is None:
        return digest_of_files(files)
    # Where Python looks first: beside its script, and with -m in the folder that it is started in.
    found = _found_packages(interpreter, folder if "-m" in rest else files[-1].parent)
    if found is None:
        raise ProgramError(f"{spec.name}: the Python of {files[0]} does not find Secateur's packages")
    return digest_of_packages(found)


def _python_of(program: Path) -> str | None:
    """The Python that runs it, or that it is."""
    with program.open("rb") as file:
        beginning = file.readline(1024)
    name = beginning[2:].decode("utf-8", "replace").strip() if beginning.startswith(b"#!") else str(program)
    return name if Path(name).name.startswith("python") else None


def _found_packages(interpreter: str, folder: Path) -> list[Path] | None:
    command = [interpreter, "-c", FIND_PACKAGES]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FIND_SECONDS, check=False)
    return None if found.returncode else [Path(line) for line in found.stdout.splitlines()]
