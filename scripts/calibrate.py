#!/usr/bin/env python3
"""The levels of UCI_Elo measured: a ladder of games, ratings by maximum likelihood, requested against measured.

    python scripts/calibrate.py --stockfish stockfish --opponent 1900 'cmd=hoichess tc=60+1' --games 20 \\
        --openings 8moves_v3.pgn.zip --concurrency 2 --journal ladder.journal --plot ladder.png

Each level meets the next one, and the opponents whose rating is near its own. Games between levels do not count for the
ratings, as an engine beats a weaker version of itself by more than others do. A second column shows the ratings with
them.

Run it again after a change of search or evaluation, and put what it measures into `uci_engine/search/strength.py`. With
--journal, the same command with --resume goes on where it was killed. Exit code: 0, or 1 for an error, 130 when
interrupted.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from lib.console import (
    add_run_arguments,
    at_least_one,
    complain,
    make_table,
    new_file,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, own_engine, parse_engine
from lib.errors import ProgramError
from lib.games.adjudication import add_arguments, check_tables, rules_of
from lib.games.clock import Patience
from lib.games.crosstable import tournament_as_json
from lib.games.game import play_pair
from lib.games.ladder import (
    LadderSettings,
    Measured,
    Player,
    fit,
    ladder_as_json,
    level_player,
    meetings_of,
    stockfish_players,
)
from lib.games.openings import OpeningBook, read_openings, start_position
from lib.games.tournament import Archive, Tournament
from lib.journal import Journal
from lib.pool import run_tasks
from lib.trial import try_engines
from uci_engine.search.strength import MAX_ELO, MIN_ELO

STEP_ELO = 200
# The error that is allowed. The plot shows it.
TOLERANCE_ELO = 75
# A busy machine must not decide games.
MARGIN_MS = 2000.0
OWN_OPTIONS = (("Hash", "16"),)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    who = parser.add_argument_group("who plays")
    who.add_argument(
        "--engine", metavar="'KEY=VALUE ...'", help="the engine with the levels (the one of these sources)"
    )
    who.add_argument("--levels", metavar="ELO,ELO,...", help="values of UCI_Elo (the whole range in steps of 200)")
    who.add_argument("--stockfish", metavar="COMMAND", help="Stockfish 15.1, whose skill levels have known ratings")
    who.add_argument(
        "--opponent",
        nargs=2,
        action="append",
        default=[],
        metavar=("RATING", "'KEY=VALUE ...'"),
        help="an opponent, and its rating; ? for one that is to be found out",
    )
    who.add_argument("--window", type=float, default=250.0, metavar="ELO", help="how far opponents may be away (250)")
    who.add_argument("--games", type=at_least_one, default=20, metavar="N", help="games of each pairing, even (20)")
    what = parser.add_argument_group("openings")
    what.add_argument("--openings", type=Path, metavar="FILE", help=".pgn or .epd, also in a .zip or .gz")
    what.add_argument("--seed", type=int, default=0, help="of their random order (0)")
    add_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument("--pgn", type=new_file, metavar="FILE", help="write the games")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw what was asked against what was measured")
    return parser.parse_args(arguments)


def make_players(words: argparse.Namespace) -> list[Player]:
    """The levels, then the opponents that meet any. Raises ProgramError."""
    own = own_engine()
    engine = parse_engine(words.engine) if words.engine else EngineSpec(own.name, own.command, own.directory)
    engine = (
        engine if engine.options else EngineSpec(engine.name, engine.command, engine.directory, options=OWN_OPTIONS)
    )
    try:
        whole_range = range(MIN_ELO, MAX_ELO + 1, STEP_ELO)
        elos = [int(word) for word in words.levels.split(",")] if words.levels else whole_range
        opponents = [
            Player(parse_engine(text), None if rating == "?" else float(rating), False)
            for rating, text in words.opponent
        ]
    except ValueError as error:
        raise ProgramError(str(error)) from None
    players = [*(level_player(engine, elo) for elo in sorted(set(elos))), *opponents]
    if words.stockfish:
        players += stockfish_players(shlex.split(words.stockfish))
    names = [player.spec.name for player in players]
    if len(set(names)) < len(names):
        raise ProgramError("two players have the same name: give them name=")
    unlimited = [player.spec.name for player in players if str(player.spec.control) == "no limit"]
    if unlimited:
        raise ProgramError(f"no tc=, nodes=, movetime= or depth= for {', '.join(unlimited)}")
    meeting = {number for meeting in meetings_of(players, words.window) for number in meeting}
    if not any(player.is_fixed for number, player in enumerate(players) if number in meeting):
        raise ProgramError("no level meets an opponent of known rating: name some, or widen --window")
    return [player for number, player in enumerate(players) if number in meeting]


def make_tournament(words: argparse.Namespace, players: Sequence[Player]) -> Tournament:
    """What is to be played. Raises ProgramError, ValueError and OSError."""
    if words.games % 2:
        raise ProgramError(f"--games {words.games}: openings are played in pairs of games")
    rules = rules_of(words)
    check_tables(rules)
    book = make_book(words)
    openings = {"file": words.openings.name if words.openings else None, "seed": words.seed}
    specs = tuple(player.spec for player in players)
    meetings = meetings_of(players, words.window)
    settings = LadderSettings(specs, False, openings, rules, Patience(margin_ms=MARGIN_MS), "calibration", meetings)
    return Tournament(settings, book, words.games // 2)


def make_book(words: argparse.Namespace) -> OpeningBook:
    """The openings. Raises ProgramError and OSError."""
    if words.openings is None:
        return start_position()
    return read_openings(words.openings, order="random", seed=words.seed)


def play(words: argparse.Namespace, tournament: Tournament, archive: Archive) -> None:
    """Play what is left. Raises ProgramError."""
    tasks = tournament.tasks(keep_engines=words.cluster is None)
    results = run_tasks(play_pair, tasks, workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("pairs", tournament.pairs_scheduled, tournament.pairs_done) as advance:
        for result in results:
            games = result.value_or_raise()
            if tournament.add(result.key, games):
                archive.append(result.key, games)
            advance()


def report(words: argparse.Namespace, players: Sequence[Player], tournament: Tournament) -> None:
    """The tables, the JSON file and the plot. Raises ProgramError and OSError."""
    console = standard_output()
    scores = list(tournament.scores.values())
    levels = {player.spec.name for player in players if player.is_level}
    measured = fit(players, [score for score in scores if not {score.first, score.second} <= levels])
    with_levels = fit(players, scores)
    rows = [[s.first, s.second, str(s.games), f"{s.wins} / {s.draws} / {s.losses}"] for s in scores if s.games]
    console.print(make_table("Games", ("level", "opponent", "games", "won / drawn / lost"), rows))
    console.print(
        make_table(
            "Ratings",
            ("player", "asked or known", "measured", "difference", "games", "with games between levels"),
            [
                [
                    player.spec.name,
                    "?" if player.rating is None else f"{player.rating:.0f}",
                    "fixed" if player.is_fixed else f"{found.elo:.0f} ± {found.error:.0f}",
                    "" if player.is_fixed or player.rating is None else f"{found.elo - player.rating:+.0f}",
                    str(found.games),
                    f"{with_levels[player.spec.name].elo:.0f}" if player.is_level else "",
                ]
                for player in players
                if (found := measured[player.spec.name]).games
            ],
        )
    )
    for name, conduct in tournament.conduct.items():
        for detail in conduct.details:
            say(f"{name}: {detail}")
    if words.json is not None:
        write_json(words.json, {**tournament_as_json(tournament, None), "ratings": ladder_as_json(players, measured)})
    if words.plot is not None:
        draw(players, measured, sum(score.games for score in scores), words.plot)
        say(str(words.plot))


def draw(players: Sequence[Player], measured: Mapping[str, Measured], games: int, path: Path) -> None:
    """What was asked for against what was measured, and the difference below. Raises ProgramError and OSError."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ProgramError("--plot needs matplotlib") from None
    levels = [player for player in players if player.is_level and measured[player.spec.name].games]
    asked = [player.rating or 0.0 for player in levels]
    found = [measured[player.spec.name] for player in levels]
    figure = Figure(figsize=(8, 9), dpi=130, layout="constrained")
    curve, differences = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)})
    curve.set_title(f"UCI_Elo: requested against measured, 95 % intervals ({games} games)")
    bars = {"fmt": "o", "capsize": 4, "color": "#1f4e9c", "ecolor": "#7f9cc8"}
    curve.plot(asked, asked, "--", color="#555555", linewidth=1, label="as asked")
    curve.errorbar(asked, [each.elo for each in found], yerr=[each.error for each in found], label="measured", **bars)
    curve.set_ylabel("measured Elo (CCRL Blitz)")
    curve.legend(frameon=False)
    differences.axhspan(-TOLERANCE_ELO, TOLERANCE_ELO, color="#1b9e77", alpha=0.15, label=f"± {TOLERANCE_ELO}")
    differences.axhline(0, color="#555555", linewidth=1, linestyle="--")
    gaps = [each.elo - rating for each, rating in zip(found, asked, strict=True)]
    differences.errorbar(asked, gaps, yerr=[each.error for each in found], **bars)
    differences.set_ylabel("measured minus asked")
    differences.set_xlabel("UCI_Elo")
    differences.legend(frameon=False)
    for plot in (curve, differences):
        plot.grid(True, color="#dddddd", linewidth=0.6)
        plot.set_axisbelow(True)
    figure.savefig(path, format="png")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    try:
        players = make_players(words)
        tournament = make_tournament(words, players)
        if words.cluster is None:
            try_engines(tournament.settings.engines)
        journal = Journal(words.journal, tournament.settings.as_json(), resume=words.resume)
        archive = Archive(journal, words.pgn)
    except (ProgramError, ValueError, OSError) as error:
        complain(error)
        return 1
    archive.restore(tournament)
    code = run_to_end(lambda: play(words, tournament, archive), archive.close)
    if tournament.pairs_done:
        code = run_to_end(lambda: report(words, players, tournament)) or code
    return code


if __name__ == "__main__":
    run_program(main)
