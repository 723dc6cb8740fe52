"""The command line: `secateur` alone speaks UCI; with a subcommand or a UCI command it runs that and exits.

Modules are imported where they are used, so that the program starts fast.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from uci_engine import __version__
from uci_engine.command_line.arguments import (
    Parser,
    UsageError,
    add_analysis,
    add_options,
    add_position,
    analysis_engine,
    number,
    read_game,
    uci_engine,
)
from uci_engine.command_line.console import guarded, show, warn
from uci_engine.core import CORES, require_own_evaluation
from uci_engine.text import suggestion

if TYPE_CHECKING:
    from uci_engine.board.game import Game
    from uci_engine.engine import UciEngine

CORE_VARIABLE = "SECATEUR_CORE"
EXPLAIN_SECONDS = 2.0

DESCRIPTION = """\
Secateur is a UCI chess engine. Without arguments it speaks UCI on standard input and output, which is how
chess programs use it. With arguments it runs one command and exits:

  secateur go LIMIT ...       search a position, for example: secateur go movetime 2000
  secateur go perft DEPTH     count the leaf nodes of the legal moves, in all and behind each first move
  secateur board              play against it in the browser, and see what it thinks
  secateur analyse GAMES      annotate games, and show their mistakes on pages
  secateur provider           analyse with it on lichess.org
  secateur explain            compare the legal moves of a position, or explain one
  secateur eval               explain the evaluation of a position, term by term
  secateur bench [DEPTH]      search fixed positions and show nodes, time and speed
  secateur doctor             show what is installed, and check that it works
  secateur UCI-COMMAND ...    run one UCI command, for example: secateur uci
"""

# For a person who starts it in a terminal, as chess programs never do.
GREETING = f"""\
Secateur {__version__} is a chess engine. To play and analyse in the browser: secateur board
A chess program plays with it by this command, in UCI. All other commands: secateur --help
It waits for UCI commands here, too: help lists them, quit ends the program."""

GO_DESCRIPTION = """\
Search a position and show UCI lines, as the UCI command go does. Ctrl-C ends the search.

The words are those of UCI: depth N, movetime N, nodes N, mate N, infinite, searchmoves MOVE ..., and for the clocks of
a game wtime N, btime N, winc N, binc N, movestogo N. Times are in milliseconds. Without a limit the search is endless.
perft N counts the leaf nodes of the legal move tree instead: a line for each move, and the total.
"""

EXPLAIN_DESCRIPTION = """\
Compare the legal moves of a position: value, depth and line of each, best first.

With --move, explain one move: the line that supports or refutes it, what is better, and why.
"""


def run(arguments: Sequence[str]) -> int:
    """Run the program with these arguments. Returns the exit code. SystemExit: after help and wrong usage."""
    parser = Parser(
        "secateur",
        DESCRIPTION,
        usage="secateur [-h] [--version] [--core CORE] [--tuning] [COMMAND ...]",
        epilog="secateur COMMAND --help explains one of these commands.",
    )
    parser.add_argument("--version", action="version", version=f"Secateur {__version__}")
    text = f"the board and search to use (default: the environment variable {CORE_VARIABLE}, or auto)"
    parser.add_argument("--core", choices=CORES, default=os.environ.get(CORE_VARIABLE, "auto"), help=text)
    parser.add_argument("--tuning", action="store_true", help="offer the parameters of search and clock as UCI options")
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.core not in CORES:
        parser.error(f"{CORE_VARIABLE} must be one of {', '.join(CORES)}, not {options.core!r}")
    return guarded(lambda: _execute(parser, options))


def _execute(parser: Parser, options: argparse.Namespace) -> int:
    require_own_evaluation()
    command, words = options.words[0] if options.words else "", options.words[1:]
    try:
        if command in COMMANDS:
            return COMMANDS[command](words, options.core, options.tuning)
    except UsageError as error:
        # The position is no part of the usage.
        warn(str(error) if error.exit_code == 1 else f"secateur {command}: {error}")
        return error.exit_code
    if command:
        from uci_engine.uci.protocol import COMMAND_WORDS

        # OpenBench has a whole line of UCI in one argument.
        if command.partition(" ")[0] not in COMMAND_WORDS:
            hint = suggestion(command, (*COMMANDS, *COMMAND_WORDS)) or "; to play: secateur board"
            parser.error(f"{command!a} is no command{hint}")
    from uci_engine.board.game import Game
    from uci_engine.engine import UciEngine
    from uci_engine.uci import loop as uci

    is_typed = not command and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    if is_typed:
        show(GREETING)
    line = " ".join(options.words) or None
    return uci.run(lambda: (UciEngine(options.core, options.tuning), Game()), line, is_typed=is_typed)


def _go(words: Sequence[str], core: str, tuning: bool) -> int:
    from uci_engine.board.game import parse_searchmoves
    from uci_engine.uci import loop as uci
    from uci_engine.uci.protocol import GO_WORDS, Go, parse

    parser = Parser("secateur go", GO_DESCRIPTION)
    parser.add_argument("words", metavar="WORD", nargs="*", help="limits of the search, as listed above")
    add_position(parser)
    add_options(parser, core)
    options = parser.parse_intermixed_args(words)
    line = " ".join(["go", *options.words])
    go = parse(line)
    assert isinstance(go, Go)
    if go.unknown_word is not None:
        choices = (*GO_WORDS, "--fen", "--moves", "--chess960", "--option", "--threads", "--hash")
        parser.error(f"{go.unknown_word!a} is no word of go{suggestion(go.unknown_word, choices)}")
    for problem in go.problems:
        if problem.is_error:
            parser.error(problem.text)

    def begin() -> tuple[UciEngine, Game]:
        engine = uci_engine(options, tuning)
        game = read_game(options, options.chess960 or engine.options.chess960.value)
        for problem in parse_searchmoves(game.position, go.searchmoves or ())[1]:
            raise UsageError(problem.text)
        return engine, game

    return uci.run(begin, line)


def _bench(words: Sequence[str], core: str, tuning: bool) -> int:
    from uci_engine.score import MAX_DEPTH
    from uci_engine.tools.bench import DEFAULT_DEPTH, bench

    parser = Parser("secateur bench", "Search fixed positions to a fixed depth and show nodes, time and speed.")
    parser.add_argument(
        "depth", metavar="DEPTH", nargs="?", type=number(1, MAX_DEPTH), help=f"in plies (default {DEFAULT_DEPTH})"
    )
    add_options(parser, core)
    options = parser.parse_intermixed_args(words)
    with closing(uci_engine(options, tuning)) as engine:
        bench(engine, options.depth, show)
    return 0


def _eval(words: Sequence[str], core: str, tuning: bool) -> int:
    parser = Parser("secateur eval", "Explain the evaluation of a position, term by term.")
    add_position(parser)
    add_options(parser, core)
    parser.add_argument("--json", action="store_true", help="show it as JSON, whose keys GUIS.md explains")
    options = parser.parse_args(words)
    board = read_game(options, options.chess960).position
    with analysis_engine(options) as engine:
        explanation = engine.explain_evaluation(board)
    show(json.dumps(explanation.data(), indent=1) if options.json else str(explanation))
    return 0


def _explain(words: Sequence[str], core: str, tuning: bool) -> int:
    from chess.engine import Limit

    parser = Parser("secateur explain", EXPLAIN_DESCRIPTION)
    add_position(parser)
    parser.add_argument("--move", metavar="MOVE", help="the move to explain, for example e2e4 or Nf3")
    add_analysis(parser, core, Limit(time=EXPLAIN_SECONDS), "all searches")
    parser.add_argument("--json", action="store_true", help="show JSON")
    options = parser.parse_args(words)
    move, limit, rating = options.move, options.limit, options.rating
    if rating is not None and not (move and options.moves):
        parser.error("--rating needs --move, and the --moves that led to the position")
    board = read_game(options, options.chess960).position
    with analysis_engine(options) as engine:
        try:
            found = engine.explain(board, move, limit, rating=rating) if move else engine.compare_moves(board, limit)
        except ValueError as error:
            raise UsageError(str(error)) from None
    show(json.dumps(found.data(), indent=1) if options.json else str(found))
    return 0


def _in_module(name: str, words: Sequence[str], core: str, tuning: bool) -> int:
    """A command that has a module of its own."""
    code: int = import_module(f"uci_engine.command_line.{name}").run(words, core)
    return code


def _doctor(words: Sequence[str], core: str, tuning: bool) -> int:
    from uci_engine.tools import doctor

    text = "Show what is installed, and check that it works. If so, the exit code is 0."
    Parser("secateur doctor", text).parse_args(words)
    return doctor.examine(core, show)


COMMANDS: dict[str, Callable[[Sequence[str], str, bool], int]] = {
    "go": _go,
    "board": partial(_in_module, "board"),
    "analyse": partial(_in_module, "analyse"),
    "provider": partial(_in_module, "provider"),
    "explain": _explain,
    "eval": _eval,
    "bench": _bench,
    "doctor": _doctor,
}
