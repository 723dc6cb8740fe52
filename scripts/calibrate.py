#!/usr/bin/env python3
"""The levels of UCI_Elo measured: a ladder of games, ratings fitted to them, requested against measured.

    python scripts/calibrate.py --stockfish stockfish --opponent 1900 'cmd=hoichess tc=60+1' --games 20 \\
        --openings 8moves_v3.pgn.zip --concurrency 2 --journal ladder.journal

Each level meets the opponents whose rating is near its own. Levels do not meet each other, as an engine beats a weaker
version of itself by more than others do.

Run it again after a change of search or evaluation, and put what it measures into `uci_engine/search/strength.py`. With
--journal, the same command with --resume goes on where it was killed. Exit code: 0, 1 for an error on the way, 2 for
what cannot be measured, 130 when interrupted.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table

from toolkit.console import at_least_one, make_table, run_program
from toolkit.elo import fit_elo
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, TimeControl, own_engine, parse_engine
from toolkit.errors import ProgramError
from toolkit.games import runs
from toolkit.games.tournament import PairingScore, Tournament
from uci_engine.search.strength import MAX_ELO, MIN_ELO

STEP_ELO = 200
# A busy machine must not decide games.
MARGIN_MS = 2000.0
OWN_OPTIONS = (("Hash", "16"),)
# Stockfish 15.1's skill levels: the rating on the CCRL Blitz scale, as its developers measured it (2022), and nodes for
# a move. A level chooses its move at depth 1 + level, which takes a third of the nodes, and then searches on. What it
# finds then stays in its table and makes the next move stronger. So `go depth` would be weaker than the rating says. A
# clock would be too, on a busy machine.
STOCKFISH_SKILLS = (
    (0, 1320, 25_000),
    (1, 1468, 25_000),
    (2, 1608, 25_000),
    (3, 1742, 25_000),
    (4, 1923, 25_000),
    (5, 2204, 25_000),
    (6, 2363, 30_000),
    (7, 2500, 50_000),
    (8, 2596, 80_000),
    (9, 2703, 130_000),
    (10, 2788, 220_000),
)
# A level ends its search by its node budget. This limit is never reached.
LEVEL_SECONDS = 60.0
# The standard deviation of the prior around the expected ratings.
PRIOR_ELO = 400.0


@dataclass(frozen=True)
class Player:
    """One who stands on the ladder. `rating`: what a level is asked for, or what an opponent is known for."""

    spec: EngineSpec
    rating: float
    is_level: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """The rating of a level, half the width of its 95 % interval, and the games that it comes from."""

    elo: float
    error: float
    games: int


def level_player(engine: EngineSpec, elo: int) -> Player:
    """The engine at a level. Its own options are kept."""
    options = (*engine.options, ("UCI_LimitStrength", "true"), ("UCI_Elo", str(elo)))
    control = TimeControl(movetime_seconds=LEVEL_SECONDS)
    return Player(replace(engine, name=f"level {elo}", control=control, options=options), float(elo), True)


def stockfish_players(command: Sequence[str]) -> list[Player]:
    """Stockfish 15.1 at its skill levels, each with enough nodes for the depth at which it chooses."""
    common = (("Threads", "1"), ("Hash", "16"))
    players = []
    for skill, elo, nodes in STOCKFISH_SKILLS:
        control, options = TimeControl(nodes=nodes), (*common, ("Skill Level", str(skill)))
        spec = EngineSpec(f"stockfish {skill}", tuple(command), control=control, options=options)
        players.append(Player(spec, float(elo), False))
    return players


def meetings_of(players: Sequence[Player], window_elo: float) -> tuple[tuple[int, int], ...]:
    """Who meets whom, by number: each level the opponents that are at most `window_elo` away."""
    return tuple(
        (one, other)
        for one, level in enumerate(players)
        for other, opponent in enumerate(players)
        if level.is_level and not opponent.is_level and abs(opponent.rating - level.rating) <= window_elo
    )


def fit(players: Sequence[Player], scores: Iterable[PairingScore]) -> dict[str, Measured]:
    """The rating of every level by name. The level is the first of each pairing."""
    levels = {player.spec.name: player.rating for player in players if player.is_level}
    known = {player.spec.name: player.rating for player in players if not player.is_level}
    # Of every pair of games: which level, the points of it, and how much stronger than 0 the opponent is known to be.
    rows = [
        ([name == score.first for name in levels], sum(points) / 2, -known[score.second])
        for score in scores
        for points in score.pairs
    ]
    sides = np.array([row[0] for row in rows], float).reshape(len(rows), len(levels))
    points, ahead = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    elo, errors = fit_elo(sides, points, ahead, np.array(list(levels.values())), PRIOR_ELO)
    games = 2 * sides.sum(axis=0)
    return {
        name: Measured(float(elo[number]), float(errors[number]), int(games[number]))
        for number, name in enumerate(levels)
    }


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    who = parser.add_argument_group("who plays")
    who.add_argument("--engine", metavar="'KEY=VALUE ...'", help="the one with the levels (that of these sources)")
    who.add_argument("--levels", metavar="ELO,ELO,...", help="values of UCI_Elo (the whole range in steps of 200)")
    who.add_argument("--stockfish", metavar="COMMAND", help="Stockfish 15.1, whose skill levels have known ratings")
    rated = ("RATING", "'KEY=VALUE ...'")
    who.add_argument("--opponent", nargs=2, action="append", default=[], metavar=rated, help="one, and its rating")
    who.add_argument("--window", type=float, default=250.0, metavar="ELO", help="how far opponents may be away (250)")
    who.add_argument("--games", type=at_least_one, default=20, metavar="N", help="games of each pairing, even (20)")
    runs.add_arguments(parser, "random")
    return parser.parse_args(arguments)


def make_players(words: argparse.Namespace) -> list[Player]:
    """The levels, then the opponents that meet any. Raises ProgramError."""
    engine = parse_engine(words.engine) if words.engine else own_engine()
    if not engine.options:
        engine = replace(engine, options=OWN_OPTIONS)
    try:
        whole_range = range(MIN_ELO, MAX_ELO + 1, STEP_ELO)
        elos = [int(word) for word in words.levels.split(",")] if words.levels else whole_range
        opponents = [Player(parse_engine(text), float(rating), False) for rating, text in words.opponent]
    except ValueError as error:
        raise ProgramError(str(error)) from None
    players = [*(level_player(engine, elo) for elo in sorted(set(elos))), *opponents]
    if words.stockfish:
        players += stockfish_players(shlex.split(words.stockfish))
    names = [player.spec.name for player in players]
    if len(set(names)) < len(names):
        raise ProgramError("two players have the same name: give them name=")
    meeting = {number for meeting in meetings_of(players, words.window) for number in meeting}
    if not meeting:
        raise ProgramError("no level meets an opponent of known rating: name some, or widen --window")
    return [player for number, player in enumerate(players) if number in meeting]


class Ladder(Tournament):
    """The games of the levels against their opponents, and the ratings."""

    def __init__(self, players: Sequence[Player], window_elo: float, pairs_each: int) -> None:
        super().__init__([player.spec for player in players], meetings_of(players, window_elo), pairs_each)
        self._players = players

    def table(self) -> Table:
        """A row for each level."""
        measured = fit(self._players, self.scores)
        rows = []
        for player in self._players:
            if player.is_level:
                found = measured[player.spec.name]
                elo, difference = f"{found.elo:.0f} ± {found.error:.0f}", f"{found.elo - player.rating:+.0f}"
                rows.append([player.spec.name, f"{player.rating:.0f}", elo, difference, str(found.games)])
        return make_table("Ratings", ("player", "asked", "measured", "difference", "games"), rows)

    def as_json(self) -> dict[str, Any]:
        """All results."""
        ratings = {name: asdict(found) for name, found in fit(self._players, self.scores).items()}
        return {**super().as_json(), "ratings": ratings}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code. Raises ProgramError and OSError for what cannot be measured."""
    words = parse_arguments(arguments)
    ladder = Ladder(make_players(words), words.window, runs.pairs_of(words.games))
    return runs.Run(words, ladder, MARGIN_MS).run()


if __name__ == "__main__":
    run_program(main)
