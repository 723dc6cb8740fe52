"""The command line: `secateur` alone speaks UCI; with a subcommand or a UCI command it runs that and exits.

Modules are imported where they are used, so that the program starts fast.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from uci_engine import __version__

if TYPE_CHECKING:
    from uci_engine.engine import Engine

CORE_VARIABLE = "SECATEUR_CORE"
# "interpreted" is accepted too but not shown, because it is for tests and debugging only.
CORES_SHOWN = ("auto", "compiled", "python-chess")
CORES_ACCEPTED = (*CORES_SHOWN, "interpreted")

DESCRIPTION = """\
Secateur is a UCI chess engine. Without arguments it speaks UCI on standard input and output, which is how
chess programs use it. With arguments it runs one command and exits:

  secateur bench [DEPTH]      search fixed positions and show nodes, time and speed
  secateur perft DEPTH        count the leaf nodes of the legal move tree
  secateur eval               explain the evaluation of a position, term by term
  secateur doctor             show what is installed, and check that it works
  secateur UCI COMMAND ...    run one UCI command, for example: secateur go movetime 2000
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with these arguments, by default those of the process. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="secateur",
        usage="secateur [-h] [--version] [--core CORE] [--tuning] [COMMAND ...]",
        description=DESCRIPTION,
        epilog="secateur COMMAND --help explains bench, perft, eval and doctor.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"Secateur {__version__}")
    _add_core(parser, os.environ.get(CORE_VARIABLE, "auto"))
    parser.add_argument("--tuning", action="store_true", help="offer the parameters of the search as UCI options")
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.core not in CORES_ACCEPTED:
        parser.error(f"{CORE_VARIABLE} must be one of {', '.join(CORES_SHOWN)}, not {options.core!r}")
    try:
        if options.words and options.words[0] in COMMANDS:
            return COMMANDS[options.words[0]](options.words[1:], options.core)
        return _uci([" ".join(options.words)] if options.words else None, options.core, options.tuning)
    except ImportError as error:
        # The requested core, or python-chess, is not installed.
        print(f"secateur: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _uci(lines: Sequence[str] | None, core: str, tuning: bool) -> int:
    from uci_engine.uci import loop as uci

    return uci.run(lambda: _engine(core, tuning), lines)


def _bench(words: Sequence[str], default_core: str) -> int:
    from uci_engine.core import load
    from uci_engine.score import MAX_DEPTH
    from uci_engine.tools.bench import DEFAULT_DEPTH, Bench

    parser = _subcommand("bench", "Search fixed positions to a fixed depth and show nodes, time and speed.")
    parser.add_argument(
        "depth", metavar="DEPTH", nargs="?", type=_number(1, MAX_DEPTH), help=f"in plies (default {DEFAULT_DEPTH})"
    )
    _add_core(parser, default_core)
    options = parser.parse_args(words)
    Bench(load(options.core), options.depth, _print).report()
    return 0


def _perft(words: Sequence[str], default_core: str) -> int:
    from uci_engine.tools.perft import MAX_DEPTH, Perft

    parser = _subcommand("perft", "Count the leaf nodes of the legal move tree, DEPTH plies deep.")
    parser.add_argument("depth", metavar="DEPTH", type=_number(0, MAX_DEPTH), help=f"in plies, at most {MAX_DEPTH}")
    parser.add_argument("--divide", action="store_true", help="also show the count of each legal move")
    _add_position(parser)
    _add_core(parser, default_core)
    options = parser.parse_args(words)
    with closing(_engine(options.core)) as engine:
        if not _set_position(engine, options):
            return 1
        lines: list[str] = []
        started = time.perf_counter()
        engine.start(Perft(engine, options.depth, _print if options.divide else lines.append, lambda: None))
        engine.wait()
        seconds = time.perf_counter() - started
    # Without --divide, show only the last line, with the total.
    _print("".join(line.strip() + "\n" for line in lines[-1:]) + f"time {seconds:.3f} s")
    return 0


def _eval(words: Sequence[str], default_core: str) -> int:
    parser = _subcommand("eval", "Explain the evaluation of a position, term by term.")
    _add_position(parser)
    _add_core(parser, default_core)
    options = parser.parse_args(words)
    with closing(_engine(options.core)) as engine:
        if not _set_position(engine, options):
            return 1
        _print(engine.evaluation_text())
    return 0


def _doctor(words: Sequence[str], default_core: str) -> int:
    from uci_engine.tools import doctor

    parser = _subcommand("doctor", "Show what is installed, and check that it works. The exit code is 0 if it does.")
    _add_core(parser, default_core)
    return doctor.examine(parser.parse_args(words).core, _print)


COMMANDS: dict[str, Callable[[Sequence[str], str], int]] = {
    "bench": _bench,
    "perft": _perft,
    "eval": _eval,
    "doctor": _doctor,
}


def _subcommand(name: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"secateur {name}", description=description, allow_abbrev=False)


def _add_core(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--core",
        choices=CORES_ACCEPTED,
        default=default,
        metavar="{" + ",".join(CORES_SHOWN) + "}",
        help=f"the board and search to use (default: the environment variable {CORE_VARIABLE}, or auto)",
    )


def _add_position(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fen", metavar="FEN", help="the position (default: the start position)")
    parser.add_argument("--chess960", action="store_true", help="read the position as Chess960")


def _number(minimum: int, maximum: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else minimum - 1
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {minimum} to {maximum}")
        return value

    return number


def _engine(core: str, tuning: bool = False) -> Engine:
    from uci_engine.engine import Engine

    return Engine(core, tuning)


def _set_position(engine: Engine, options: argparse.Namespace) -> bool:
    """Set up the position of the command line. Prints messages on stderr; False if it is refused."""
    if options.chess960:
        engine.set_option("UCI_Chess960", "true")
    messages = engine.set_position(options.fen, ())
    for message in messages:
        print(message, file=sys.stderr)
    return not any(message.startswith("error:") for message in messages)


def _print(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
