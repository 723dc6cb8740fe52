#!/usr/bin/env python3
"""The levels of UCI_Elo measured: a ladder of games, ratings fitted to them, requested against measured.

    python scripts/calibrate.py --stockfish stockfish --opponent 1900 'cmd=hoichess tc=60+1' --games 20 \\
        --openings 8moves_v3.pgn.zip --concurrency 2 --journal ladder.journal

Each level meets the opponents whose rating is near its own. Levels do not meet each other, as an engine beats a weaker
version of itself by more than others do.

Run it again after a change of search, evaluation or policy, and put what it measures into RESULTS.md. With
--journal, the same command with --resume goes on where it was killed. Exit code: 0, 1 for an error on the way, 2 for
what cannot be measured, 130 when interrupted.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table

from toolkit.console import at_least_one, make_table, run_program
from toolkit.elo import fit_elo
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, TimeControl, own_engine, parse_engine
from toolkit.errors import ProgramError
from toolkit.games import runs
from toolkit.games.tournament import Tournament
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


def level_player(engine: EngineSpec, elo: int) -> Player:
    """The engine at a level. Its own options are kept."""
    options = (*engine.options, ("UCI_LimitStrength", "true"), ("UCI_Elo", str(elo)))
    control = TimeControl(movetime_seconds=LEVEL_SECONDS)
    return Player(replace(engine, name=f"level {elo}", control=control, options=options), float(elo))


def stockfish_players(command: Sequence[str]) -> list[Player]:
    """Stockfish 15.1 at its skill levels, each with enough nodes for the depth at which it chooses."""
    common = (("Threads", "1"), ("Hash", "16"))
    players = []
    for skill, elo, nodes in STOCKFISH_SKILLS:
        control, options = TimeControl(nodes=nodes), (*common, ("Skill Level", str(skill)))
        players.append(Player(EngineSpec(f"stockfish {skill}", tuple(command), None, control, options), float(elo)))
    return players


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


def make_ladder(words: argparse.Namespace) -> Ladder:
    """The levels, and the opponents that are near any. Raises ProgramError."""
    engine = parse_engine(words.engine) if words.engine else own_engine()
    if not engine.options:
        engine = replace(engine, options=OWN_OPTIONS)
    try:
        whole_range = range(MIN_ELO, MAX_ELO + 1, STEP_ELO)
        elos = [int(word) for word in words.levels.split(",")] if words.levels else whole_range
        opponents = [Player(parse_engine(text), float(rating)) for rating, text in words.opponent]
    except ValueError as error:
        raise ProgramError(str(error)) from None
    if words.stockfish:
        opponents += stockfish_players(shlex.split(words.stockfish))
    levels = [level_player(engine, elo) for elo in sorted(set(elos))]
    return Ladder(levels, opponents, words.window, runs.pairs_of(words.games))


class Ladder(Tournament):
    """The games of the levels against the opponents that are at most `window_elo` away, and the ratings."""

    def __init__(
        self, levels: Sequence[Player], opponents: Sequence[Player], window_elo: float, pairs_each: int
    ) -> None:
        meetings = [
            (level, opponent)
            for level in levels
            for opponent in opponents
            if abs(opponent.rating - level.rating) <= window_elo
        ]
        if not meetings:
            raise ProgramError("no level meets an opponent of known rating: name some, or widen --window")
        # Those that meet somebody, by name.
        self._levels = {level.spec.name: level.rating for level, _ in meetings}
        self._known = {opponent.spec.name: opponent.rating for _, opponent in meetings}
        players = [player for player in (*levels, *opponents) if player.spec.name in {**self._levels, **self._known}]
        names = [player.spec.name for player in players]
        if len(set(names)) < len(names):
            raise ProgramError("two players have the same name: give them name=")
        pairings = [(names.index(level.spec.name), names.index(opponent.spec.name)) for level, opponent in meetings]
        super().__init__([player.spec for player in players], pairings, pairs_each)

    def ratings(self) -> dict[str, dict[str, Any]]:
        """Of each level by name: its rating, half the width of its 95 % interval, and its games."""
        # Of every pair of games: which level, its points, and how much stronger than 0 the opponent is known to be.
        rows = [
            ([name == score.first for name in self._levels], sum(points) / 2, -self._known[score.second])
            for score in self.scores
            for points in score.pairs
        ]
        sides = np.array([row[0] for row in rows], float).reshape(len(rows), len(self._levels))
        points, ahead = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
        elo, errors = fit_elo(sides, points, ahead, np.array(list(self._levels.values())), PRIOR_ELO)
        found = zip(self._levels, elo.tolist(), errors.tolist(), (2 * sides.sum(axis=0)).tolist(), strict=True)
        return {name: {"elo": rating, "error": error, "games": int(games)} for name, rating, error, games in found}

    def table(self) -> Table:
        """A row for each level."""
        rows = []
        for name, found in self.ratings().items():
            asked = self._levels[name]
            elo, difference = f"{found['elo']:.0f} ± {found['error']:.0f}", f"{found['elo'] - asked:+.0f}"
            rows.append([name, f"{asked:.0f}", elo, difference, str(found["games"])])
        return make_table("Ratings", ("player", "asked", "measured", "difference", "games"), rows)

    def as_json(self) -> dict[str, Any]:
        """All results."""
        return {**super().as_json(), "ratings": self.ratings()}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code. Raises ProgramError and OSError for what cannot be measured."""
    words = parse_arguments(arguments)
    return runs.Run(words, make_ladder(words), MARGIN_MS).run()


if __name__ == "__main__":
    run_program(main)
