#!/usr/bin/env python3
"""Engine against engine: pairs of games from openings, with Elo, error bars and a sequential test.

    python scripts/match.py --engine 'cmd=./new' --engine 'cmd=./old' --each 'tc=5+0.05 option.Hash=16' \\
        --openings 8moves_v3.pgn.zip --order random --games 1000 --concurrency 2 --pgn games.pgn \\
        --sprt elo0=0 elo1=5 alpha=0.05 beta=0.05

More than two engines play a round robin, or with --gauntlet the first against the others. With --pgn or --journal a
journal is kept, and the same command with --resume goes on where it was killed. Progress goes to stderr, the tables to
stdout. Exit code: 0 when all was played or the test is decided, 1 for an error, 130 when interrupted.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.text import Text

from lib.console import (
    add_run_arguments,
    at_least_one,
    complain,
    new_file,
    run_to_end,
    say,
    show_progress,
    standard_error,
    standard_output,
    write_json,
)
from lib.elo import Sprt, estimate, parse_sprt
from lib.engines.spec import ENGINE_SYNTAX, parse_engines
from lib.errors import ProgramError
from lib.games.adjudication import add_arguments, check_tables, rules_of
from lib.games.clock import Patience
from lib.games.crosstable import (
    conduct_table,
    counts_text,
    crosstable,
    elo_text,
    pairings_table,
    sprt_text,
    standing_estimate,
    tournament_as_json,
)
from lib.games.game import play_pair
from lib.games.openings import OpeningBook, read_openings, start_position
from lib.games.tournament import Archive, Settings, Tournament
from lib.journal import Journal
from lib.pool import run_tasks
from lib.trial import try_engines

DEFAULT_GAMES = 100
# A sequential test ends by itself.
DEFAULT_SPRT_GAMES = 40_000


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n\n")[0],
        epilog=f"An engine is {ENGINE_SYNTAX}.",
    )
    who = parser.add_argument_group("who plays")
    who.add_argument("--engine", action="append", required=True, metavar="'KEY=VALUE ...'", help="once for each")
    who.add_argument("--each", default="", metavar="'KEY=VALUE ...'", help="what all engines have unless they say else")
    who.add_argument("--gauntlet", action="store_true", help="the first engine against each of the others")
    who.add_argument("--games", type=at_least_one, metavar="N", help="games of each pairing, even (100; --sprt 40000)")
    what = parser.add_argument_group("openings")
    what.add_argument("--openings", type=Path, metavar="FILE", help=".pgn or .epd, also in a .zip or .gz")
    what.add_argument("--order", choices=("file", "random"), default="file")
    what.add_argument("--seed", type=int, default=0, help="of the random order (0)")
    what.add_argument("--plies", type=int, metavar="N", help="play at most so many of an opening's moves")
    what.add_argument("--chess960", action="store_true", help="the openings are Fischer random chess")
    add_arguments(parser)
    time = parser.add_argument_group("time")
    time.add_argument("--margin-ms", type=float, default=0.0, metavar="MS", help="grace on the clock (0)")
    time.add_argument("--hang", type=float, default=5.0, metavar="SECONDS", help="wait so long for a lost engine (5)")
    test = parser.add_argument_group("sequential test")
    test.add_argument(
        "--sprt", nargs="*", metavar="KEY=VALUE", help="elo0=0 elo1=5 alpha=0.05 beta=0.05 model=logistic"
    )
    add_run_arguments(parser, "what --resume needs (the PGN's name and .journal)")
    parser.add_argument("--pgn", type=new_file, metavar="FILE", help="write the games")
    parser.add_argument("--event", default="match", help="name in the PGN")
    return parser.parse_args(arguments)


def make_settings(words: argparse.Namespace) -> Settings:
    """The settings of the tournament. Raises ProgramError, ValueError and OSError."""
    engines = tuple(parse_engines(words.engine, words.each))
    if len(engines) < 2:
        raise ProgramError("a match needs two engines")
    unlimited = [engine.name for engine in engines if str(engine.control) == "no limit"]
    if unlimited:
        raise ProgramError(f"no tc=, nodes=, movetime= or depth= for {', '.join(unlimited)}")
    rules = rules_of(words)
    if words.cluster is None:
        check_tables(rules)
    openings = {
        "file": None if words.openings is None else words.openings.name,
        "bytes": None if words.openings is None else words.openings.stat().st_size,
        "order": words.order,
        "seed": words.seed,
        "plies": words.plies,
        "chess960": words.chess960,
    }
    patience = Patience(margin_ms=words.margin_ms, hang_seconds=words.hang)
    return Settings(engines, words.gauntlet, openings, rules, patience, words.event)


def make_book(words: argparse.Namespace) -> OpeningBook:
    """The openings. Raises ProgramError and OSError."""
    if words.openings is None:
        return start_position(words.chess960)
    return read_openings(words.openings, order=words.order, seed=words.seed, plies=words.plies, chess960=words.chess960)


def make_archive(words: argparse.Namespace, settings: Settings, sprt: Sprt | None) -> Archive:
    """Journal and PGN. Raises ProgramError and OSError."""
    path = words.journal or (words.pgn and words.pgn.with_name(words.pgn.name + ".journal"))
    fresh = path is None or not (path.exists() and path.stat().st_size)
    if fresh and words.pgn is not None and words.pgn.exists() and words.pgn.stat().st_size:
        raise ProgramError(f"{words.pgn} exists and has no journal: remove it, or name another")
    test = None if sprt is None else asdict(sprt)
    return Archive(Journal(path, {**settings.as_json(), "sprt": test}, resume=words.resume), words.pgn)


class Scoreboard:
    """What is shown while games are played: a live table in a terminal, else a line now and then."""

    def __init__(self, tournament: Tournament, sprt: Sprt | None) -> None:
        self._tournament = tournament
        self._sprt = sprt

    def line(self) -> str:
        """Every pairing in short, of a gauntlet the sum before them, and how many forfeits there were in all."""
        scores = list(self._tournament.scores.values())
        words = []
        if len(scores) == 1:
            words.append(f"{counts_text(*scores)}  Elo {elo_text(estimate(scores[0].counts))}")
        elif self._tournament.settings.gauntlet:
            first = scores[0].first
            words.append(f"{counts_text(*scores)}  Elo {elo_text(standing_estimate(self._tournament, first))}")
            words += [f"{score.second} {counts_text(score)}" for score in scores]
        else:
            words += [f"{score.first} - {score.second} {counts_text(score)}" for score in scores]
        if self._sprt is not None:
            words.append(f"LLR {sprt_text(self._sprt, scores[0])}")
        words.append(f"forfeits {sum(conduct.faults.total() for conduct in self._tournament.conduct.values())}")
        return "  ".join(words)

    def tables(self) -> Group:
        """The pairings, and the engines' conduct."""
        done, scheduled = 2 * self._tournament.pairs_done, 2 * self._tournament.pairs_scheduled
        return Group(
            pairings_table(self._tournament, self._sprt),
            conduct_table(self._tournament),
            Text(f"{done} of {scheduled} games"),
        )


def play(words: argparse.Namespace, tournament: Tournament, archive: Archive, sprt: Sprt | None) -> None:
    """Play what is left, until the test is decided. Raises ProgramError."""
    board = Scoreboard(tournament, sprt)
    only = next(iter(tournament.scores.values()))
    tasks = tournament.tasks(keep_engines=words.cluster is None)
    if sprt is not None and sprt.verdict(only.counts):
        return
    results = run_tasks(play_pair, tasks, workers=words.concurrency, cluster=words.cluster)
    terminal = standard_error().is_terminal
    live = Live(board.tables(), console=standard_error(), refresh_per_second=2, transient=True) if terminal else None
    with closing(results), live or show_progress("pairs", tournament.pairs_scheduled, tournament.pairs_done) as shown:
        for result in results:
            games = result.value_or_raise()
            if tournament.add(result.key, games):
                archive.append(result.key, games)
            if isinstance(shown, Live):
                shown.update(board.tables())
            else:
                shown(text=board.line())
            if sprt is not None and sprt.verdict(only.counts):
                return


def report(words: argparse.Namespace, tournament: Tournament, sprt: Sprt | None) -> None:
    """The final tables, and the JSON file."""
    console = standard_output()
    console.print(pairings_table(tournament, sprt))
    if len(tournament.scores) > 1:
        console.print(crosstable(tournament))
    console.print(conduct_table(tournament))
    for name, conduct in tournament.conduct.items():
        for detail in conduct.details:
            say(f"{name}: {detail}")
    if words.json is not None:
        write_json(words.json, tournament_as_json(tournament, sprt))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    try:
        sprt = None if words.sprt is None else parse_sprt(words.sprt)
        settings = make_settings(words)
        if sprt is not None and len(settings.engines) != 2:
            raise ProgramError("a sequential test is between two engines")
        games = words.games or (DEFAULT_GAMES if sprt is None else DEFAULT_SPRT_GAMES)
        if games % 2:
            raise ProgramError(f"--games {games}: openings are played in pairs of games")
        tournament = Tournament(settings, make_book(words), games // 2)
        if words.cluster is None:
            try_engines(settings.engines)
        archive = make_archive(words, settings, sprt)
    except (ProgramError, ValueError, OSError) as error:
        complain(error)
        return 1
    archive.restore(tournament)
    code = run_to_end(lambda: play(words, tournament, archive, sprt), archive.close)
    # Without a game there is nothing to show beside the complaint.
    if tournament.pairs_done or not code:
        report(words, tournament, sprt)
    return code


if __name__ == "__main__":
    run_program(main)
