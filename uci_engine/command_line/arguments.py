"""The arguments that several commands share: the core, the position, the options of the engine.

Invariant: wrong usage ends in one sentence and the exit code 2.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

from uci_engine.command_line.console import warn
from uci_engine.core import CORES
from uci_engine.text import ERROR, closest

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine

# "interpreted" is accepted too but not shown, because it is for tests and debugging only.
CORES_SHOWN = tuple(name for name in CORES if name != "interpreted")

_MOVES = re.compile(r"[a-h][1-8][a-h][1-8]\w?(\s+[a-h][1-8][a-h][1-8]\w?)*")


class UsageError(Exception):
    """A setting is refused. The text is one sentence for the user."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def add_core(parser: argparse.ArgumentParser, default: str) -> None:
    """Add `--core`."""
    parser.add_argument(
        "--core",
        choices=CORES,
        default=default,
        metavar="{" + ",".join(CORES_SHOWN) + "}",
        help="the board and search to use (default: the environment variable SECATEUR_CORE, or auto)",
    )


def add_settings(
    parser: argparse.ArgumentParser, default_core: str, position: str = "the position (default: the start position)"
) -> None:
    """Add the position, the options of the engine and the core."""
    parser.add_argument("--fen", metavar="FEN", help=position)
    parser.add_argument("--moves", metavar="MOVES", help="moves to play first, for example: --moves e2e4 e7e5")
    parser.add_argument("--chess960", action="store_true", help="read position and moves as Chess960")
    parser.add_argument("--threads", metavar="N", help="number of search threads")
    parser.add_argument("--hash", metavar="MIB", help="size of the transposition table in MiB")
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help='set a UCI option, for example: --option MultiPV=3 --option "Skill Level=5"; may be repeated',
    )
    add_core(parser, default_core)


def gathered_moves(words: Sequence[str]) -> list[str]:
    """The words, with all moves that follow `--moves` in one word."""
    gathered: list[str] = []
    for word in words:
        is_after = len(gathered) > 1 and gathered[-2] == "--moves"
        if is_after and _MOVES.fullmatch(gathered[-1]) and _MOVES.fullmatch(word):
            gathered[-1] += f" {word}"
        else:
            gathered.append(word)
    return gathered


def number(minimum: int, maximum: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number within these bounds."""

    def read(text: str) -> int:
        value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else minimum - 1
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text!a} is not a whole number from {minimum} to {maximum}")
        return value

    return read


def prepare(engine: UciEngine, options: argparse.Namespace, search_moves: Sequence[str] = ()) -> None:
    """Set the options of the engine and the position. Prints remarks on stderr. Raises UsageError."""
    if engine.problem:
        warn(engine.problem)
    settings = [("Hash", options.hash), ("Threads", options.threads)]
    settings = [(name, value) for name, value in settings if value is not None]
    for text in options.option:
        name, separator, value = text.partition("=")
        settings.append((name.strip(), value.strip() if separator else None))
    if options.chess960:
        settings.append(("UCI_Chess960", "true"))
    for name, value in settings:
        for message in engine.set_option(name, value):
            if message.startswith(ERROR):
                names = (option.name for option in engine.options)
                hint = suggestion(name, names) if "there is no option" in message else ""
                raise UsageError(message.removeprefix(ERROR) + hint)
            warn(message)
    for message in engine.set_position(options.fen, (options.moves or "").split()):
        if message.startswith(ERROR):
            raise UsageError(message, exit_code=1)
        warn(message)
    if search_moves and engine.board is not None:
        from uci_engine.board.validation import parse_searchmoves

        _, problems = parse_searchmoves(engine.board, search_moves)
        for problem in problems:
            raise UsageError(problem.removeprefix(ERROR))


def suggestion(word: str, choices: Iterable[str]) -> str:
    """The end of a sentence: the choice that the word resembles, if any."""
    meant = closest(word, choices)
    return f", did you mean {meant}?" if meant else ""
