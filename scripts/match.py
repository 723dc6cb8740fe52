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

from toolkit.console import (
    add_run_arguments,
    at_least_one,
    new_file,
    not_negative,
    read_numbers,
    run_program,
    run_to_end,
    standard_output,
    write_json,
)
from toolkit.elo import MODELS, Sprt
from toolkit.engines.engine import identified
from toolkit.engines.spec import ENGINE_SYNTAX, parse_engines, require_limits
from toolkit.errors import ProgramError
from toolkit.games import adjudication, openings
from toolkit.games.clock import Patience
from toolkit.games.report import pairings_table, progress_text, show_conduct, tournament_as_json
from toolkit.games.tournament import Archive, Settings, Tournament, play
from toolkit.journal import Journal, journal_beside

DEFAULT_GAMES = 100
# A sequential test ends by itself.
DEFAULT_SPRT_GAMES = 40_000


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n\n")[0],
        epilog=f"An engine is {ENGINE_SYNTAX}.",
    )
    who = parser.add_argument_group("who plays")
    who.add_argument("--engine", action="append", required=True, metavar="'KEY=VALUE ...'", help="once for each")
    who.add_argument("--each", default="", metavar="'KEY=VALUE ...'", help="what all engines have unless they say else")
    who.add_argument("--games", type=at_least_one, metavar="N", help="games of each pairing, even (100; --sprt 40000)")
    openings.add_arguments(parser, "file")
    adjudication.add_arguments(parser)
    time = parser.add_argument_group("time")
    time.add_argument("--margin-ms", type=not_negative, default=0.0, metavar="MS", help="grace on the clock (0)")
    test = parser.add_argument_group("sequential test")
    test.add_argument(
        "--sprt", nargs="*", metavar="KEY=VALUE", help=f"elo0=0 elo1=5 alpha=0.05 beta=0.05 model={' or '.join(MODELS)}"
    )
    add_run_arguments(parser, "what --resume needs (the PGN's name and .journal)")
    parser.add_argument("--pgn", type=new_file, metavar="FILE", help="write the games")
    return parser.parse_args(arguments)


def make_settings(words: argparse.Namespace) -> Settings:
    """The settings of the tournament. Raises ProgramError and OSError."""
    engines = tuple(parse_engines(words.engine, words.each))
    if len(engines) < 2:
        raise ProgramError("a match needs two engines")
    if words.sprt is not None and len(engines) != 2:
        raise ProgramError("a sequential test is between two engines")
    require_limits(engines)
    rules = adjudication.rules_of(words)
    adjudication.check_tables(rules)
    engines = identified(engines)
    pairings = tuple((0, other) for other in range(1, len(engines)))
    patience = Patience(margin_ms=words.margin_ms)
    return Settings(engines, pairings, openings.openings_as_json(words), rules, patience)


def read_sprt(words: list[str]) -> Sprt:
    """A sequential test from words like `elo1=3 model=normalized`. Raises ProgramError."""
    defaults = asdict(Sprt())
    model = defaults.pop("model")
    numbers = []
    for word in words:
        if word.startswith("model="):
            model = word.removeprefix("model=")
        else:
            numbers.append(word)
    return Sprt(**read_numbers(numbers, defaults), model=model)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code. Raises ProgramError and OSError for what cannot be played."""
    words = parse_arguments(arguments)
    sprt = None if words.sprt is None else read_sprt(words.sprt)
    games = words.games or (DEFAULT_GAMES if sprt is None else DEFAULT_SPRT_GAMES)
    if games % 2:
        raise ProgramError(f"--games {games}: openings are played in pairs of games")
    settings = make_settings(words)
    tournament = Tournament(settings, openings.book_of(words), games // 2)
    path = words.journal or (words.pgn and journal_beside(words.pgn))
    with Journal(path, {**settings.as_json(), "sprt": sprt and asdict(sprt)}, resume=words.resume) as journal:
        archive = Archive(journal, words.pgn, tournament)
        code = run_to_end(
            lambda: play(
                words,
                tournament,
                archive,
                lambda: progress_text(tournament, sprt),
                lambda: sprt is not None and bool(sprt.verdict(tournament.total.counts)),
            )
        )
    # Without a game there is nothing to show beside the complaint.
    if tournament.pairs_done or not code:
        standard_output().print(pairings_table(tournament, sprt))
        show_conduct(tournament)
        if words.json is not None:
            write_json(words.json, tournament_as_json(tournament, sprt))
    return code


if __name__ == "__main__":
    run_program(main)
