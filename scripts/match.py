#!/usr/bin/env python3
"""Engine against engine: pairs of games from openings, with Elo, error bars and a sequential test.

    python scripts/match.py --engine 'cmd=./new' --engine 'cmd=./old' --each 'tc=5+0.05 option.Hash=16' \\
        --openings 8moves_v3.pgn.zip --order random --games 1000 --concurrency 2 --pgn games.pgn \\
        --sprt elo0=0 elo1=5 alpha=0.05 beta=0.05

Of more than two engines the first plays against each of the others (a gauntlet). With --pgn or --journal a journal is
kept, and the same command with --resume goes on where it was killed. Progress goes to stderr, the tables to stdout.
Exit code: 0 when all was played or the test is decided, 1 for an error on the way, 2 for what cannot be played, 130
when interrupted.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from toolkit.console import at_least_one, not_negative, read_numbers, run_program
from toolkit.elo import Sprt
from toolkit.engines.spec import ENGINE_SYNTAX, parse_engines
from toolkit.errors import ProgramError
from toolkit.games import runs
from toolkit.games.tournament import Tournament

DEFAULT_GAMES = 100
# A sequential test ends by itself.
DEFAULT_SPRT_GAMES = 40_000


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    who = parser.add_argument_group("who plays")
    who.add_argument("--engine", action="append", required=True, metavar="'KEY=VALUE ...'", help="once for each")
    who.add_argument("--each", default="", metavar="'KEY=VALUE ...'", help="what all engines have unless they say else")
    who.add_argument("--games", type=at_least_one, metavar="N", help="games of each pairing, even (100; --sprt 40000)")
    time = parser.add_argument_group("time")
    time.add_argument("--margin-ms", type=not_negative, default=0.0, metavar="MS", help="grace on the clock (0)")
    test = parser.add_argument_group("sequential test")
    test.add_argument("--sprt", nargs="*", metavar="KEY=VALUE", help="elo0=0 elo1=5 alpha=0.05 beta=0.05")
    runs.add_arguments(parser, "file")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code. Raises ProgramError and OSError for what cannot be played."""
    words = parse_arguments(arguments)
    sprt = None if words.sprt is None else Sprt(**read_numbers(words.sprt, asdict(Sprt())))
    pairs = runs.pairs_of(words.games or (DEFAULT_GAMES if sprt is None else DEFAULT_SPRT_GAMES))
    engines = parse_engines(words.engine, words.each)
    if len(engines) < 2 or (sprt is not None and len(engines) > 2):
        raise ProgramError("a match needs two engines, and a sequential test no more")
    pairings = [(0, other) for other in range(1, len(engines))]
    return runs.Run(words, Tournament(engines, pairings, pairs, sprt), words.margin_ms).run()


if __name__ == "__main__":
    run_program(main)
