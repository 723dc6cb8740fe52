"""The arguments that several commands share: the position, how much to search, the options of the engine.

Invariant: wrong usage ends in one sentence and the exit code 2.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from uci_engine.command_line.console import warn
from uci_engine.text import suggestion

if TYPE_CHECKING:
    from chess.engine import Limit

    from uci_engine.api import Engine
    from uci_engine.board.game import Game
    from uci_engine.engine import UciEngine

# For an analysis. Most of it is used again by the position before.
DEFAULT_HASH_MIB = 64
MAX_NODES = 999_999_999
MAX_SECONDS = 86_400.0

Number = TypeVar("Number", int, float)


class UsageError(Exception):
    """A setting is refused. The text is one sentence for the user."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def __init__(self, prog: str, description: str, **more: Any) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, description=description, formatter_class=form, allow_abbrev=False, **more)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def add_position(parser: argparse.ArgumentParser) -> None:
    """Add `--fen`, `--moves` and `--chess960`."""
    parser.add_argument("--fen", metavar="FEN", help="the position (default: the start position)")
    text = "moves to play first, for example: --moves e4 e5, or e2e4 e7e5; words without -- come before them"
    parser.add_argument("--moves", metavar="MOVE", nargs="+", default=[], help=text)
    parser.add_argument("--chess960", action="store_true", help="read position and moves as Chess960")


def add_analysis(parser: argparse.ArgumentParser, core: str, default: Limit, what: str) -> None:
    """Add `--time`, `--nodes` and `--depth`, one of which gives `limit`, `--rating`, and the options of the engine."""
    from chess.engine import Limit

    from uci_engine.options import usable_processors
    from uci_engine.score import MAX_DEPTH
    from uci_engine.search.strength import MAX_ELO, MIN_ELO

    parser.set_defaults(limit=default)
    nodes, depth = number(1, MAX_NODES), number(1, MAX_DEPTH)
    time = number(0.001, MAX_SECONDS, "a number of seconds")
    efforts = parser.add_mutually_exclusive_group()

    def add(name: str, metavar: str, text: str, read: Callable[[str], Limit]) -> None:
        efforts.add_argument(name, dest="limit", metavar=metavar, type=read, help=text)

    for_time, for_nodes = (f" (default {each:g})" if each else "" for each in (default.time, default.nodes))
    add("--time", "SECONDS", f"time for {what}{for_time}", lambda word: Limit(time=time(word)))
    add("--nodes", "N", f"nodes for {what}{for_nodes}", lambda word: Limit(nodes=nodes(word)))
    add("--depth", "N", "depth of each search", lambda word: Limit(depth=depth(word)))
    text = (
        "say how often players of this rating make a mistake, and find the better move: a rating of rapid games on "
        f"lichess, {MIN_ELO} to {MAX_ELO} (default: those of the PGN)"
    )
    parser.add_argument("--rating", metavar="N", type=number(MIN_ELO, MAX_ELO), help=text)
    add_options(parser, core, threads=min(2, usable_processors()))


def add_options(parser: argparse.ArgumentParser, core: str, threads: int | None = None) -> None:
    """Add `--threads`, `--hash`, and `--option`. With `threads` the first two have defaults."""
    hash_mib, end = (None, "") if threads is None else (DEFAULT_HASH_MIB, " (default %(default)s)")
    parser.add_argument("--threads", metavar="N", default=threads, help=f"number of search threads{end}")
    text = f"size of the transposition table in MiB{end}"
    parser.add_argument("--hash", metavar="MIB", default=hash_mib, help=text)
    text = 'set a UCI option, for example: --option SyzygyPath=/tables --option "Skill Level=5"; may be repeated'
    parser.add_argument("--option", metavar="NAME=VALUE", action="append", default=[], help=text)
    parser.set_defaults(core=core)


def analysis_engine(options: argparse.Namespace) -> Engine:
    """An engine with the options of `add_options`. Raises UsageError where one is refused."""
    from uci_engine.api import Engine

    engine = Engine(core=options.core)
    try:
        engine.configure(dict(_settings(options)))
    except ValueError as error:
        engine.close()
        raise UsageError(str(error)) from None
    return engine


def _settings(options: argparse.Namespace) -> list[tuple[str, str | None]]:
    """The names and values of the options that the arguments set; None for a value that is missing."""
    settings = [("Hash", options.hash), ("Threads", options.threads)]
    settings = [(name, value) for name, value in settings if value is not None]
    for text in options.option:
        name, separator, value = text.partition("=")
        settings.append((name.strip(), value.strip() if separator else None))
    return settings


def number(minimum: Number, maximum: Number, what: str = "a whole number") -> Callable[[str], Number]:
    """The type of an argument that is a number within these bounds, and whole if they are."""
    kind = type(minimum)

    def read(text: str) -> Number:
        with suppress(ValueError):
            if minimum <= (value := kind(text)) <= maximum:
                return value
        raise argparse.ArgumentTypeError(f"{text!a} is not {what} from {minimum} to {maximum}")

    return read


def uci_engine(options: argparse.Namespace, tuning: bool) -> UciEngine:
    """An engine with the options of `add_options`. Prints remarks on stderr. Raises UsageError."""
    from uci_engine.engine import UciEngine

    engine = UciEngine(options.core, tuning)
    for name, value in _settings(options):
        is_known = engine.options.find(name) is not None
        hint = "" if is_known else suggestion(name, (option.name for option in engine.options))
        for message in engine.options.set(name, value):
            if message.is_error:
                raise UsageError(message.text + hint)
            warn(message.text)
    return engine


def read_game(options: argparse.Namespace, chess960: bool) -> Game:
    """The game of `add_position`, repaired or refused as UCI's `position` does. Prints remarks on stderr.

    Raises UsageError.
    """
    from uci_engine.board.game import Game, PositionError, legal_move

    game = Game()
    try:
        for message in game.set(options.fen, (), chess960):
            warn(message)
        for word in " ".join(options.moves).split():
            game.position.push(legal_move(game.position, word))
    except PositionError as error:
        raise UsageError(f"error: {error}", exit_code=1) from None
    return game
