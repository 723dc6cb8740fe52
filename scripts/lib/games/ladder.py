"""A ladder: levels of one engine against opponents of known rating and against the levels beside them.

The ratings are those under which the results are likeliest (maximum likelihood, Bradley and Terry's model). Opponents
whose rating is known keep it. A weak prior around the expected ratings keeps a player finite who won every game.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.elo import DEVIATIONS_95, score_of_elo
from lib.engines.spec import EngineSpec, TimeControl
from lib.errors import ProgramError
from lib.games.tournament import PairingScore, Settings

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
    (11, 2856, 400_000),
    (12, 2922, 600_000),
    (13, 2973, 1_000_000),
    (14, 3025, 1_500_000),
)
# A level ends its search by its node budget. This limit is never reached.
LEVEL_SECONDS = 60.0
# The standard deviation of the prior.
PRIOR_ELO = 400.0
MAX_ROUNDS = 100
MIN_MOVEMENT_ELO = 1e-6
ELO_FACTOR = math.log(10.0) / 400.0


@dataclass(frozen=True)
class Player:
    """One who stands on the ladder. `rating`: what a level is asked for, or what an opponent is known for.

    `rating` None: an opponent whose rating is to be found out.
    """

    spec: EngineSpec
    rating: float | None
    is_level: bool

    @property
    def is_fixed(self) -> bool:
        """Whether the rating is taken as it is."""
        return not self.is_level and self.rating is not None


def level_player(engine: EngineSpec, elo: int) -> Player:
    """The engine at a level. Its own options are kept."""
    options = (*engine.options, ("UCI_LimitStrength", "true"), ("UCI_Elo", str(elo)))
    spec = EngineSpec(
        f"level {elo}", engine.command, engine.directory, TimeControl(movetime_seconds=LEVEL_SECONDS), options
    )
    return Player(spec, float(elo), True)


def stockfish_players(command: Sequence[str]) -> list[Player]:
    """Stockfish 15.1 at its skill levels, each with enough nodes for the depth at which it chooses."""
    return [
        Player(
            EngineSpec(
                f"stockfish {skill}",
                tuple(command),
                control=TimeControl(nodes=nodes),
                options=(("Threads", "1"), ("Hash", "16"), ("Skill Level", str(skill))),
            ),
            float(elo),
            False,
        )
        for skill, elo, nodes in STOCKFISH_SKILLS
    ]


def meetings_of(players: Sequence[Player], window_elo: float) -> tuple[tuple[int, int], ...]:
    """Who meets whom, by number: each level the next one, and the opponents that are at most `window_elo` away.

    An opponent without a rating meets every level.
    """
    levels = sorted((i for i, player in enumerate(players) if player.is_level), key=lambda i: players[i].rating or 0.0)
    meetings = []
    for place, level in enumerate(levels):
        meetings += [(level, neighbour) for neighbour in levels[place + 1 : place + 2]]
        for number, player in enumerate(players):
            if player.is_level:
                continue
            away = 0.0 if player.rating is None else abs(player.rating - (players[level].rating or 0.0))
            if away <= window_elo:
                meetings.append((level, number))
    return tuple(meetings)


@dataclass(frozen=True)
class LadderSettings(Settings):
    """The settings of a tournament in which only some meet. `meetings`: the numbers of the engines."""

    meetings: tuple[tuple[int, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "meetings": [list(meeting) for meeting in self.meetings]}

    def pairings(self) -> list[tuple[int, int]]:
        return list(self.meetings)


@dataclass(frozen=True, slots=True)
class Measured:
    """A rating, and half the width of its 95 % interval: 0 for one that was known before."""

    elo: float
    error: float
    games: int


def fit(players: Sequence[Player], scores: Iterable[PairingScore]) -> dict[str, Measured]:
    """The rating of every player by name. Raises ProgramError if no rating is known, for then nothing can be compared.

    The error is found from the spread of the pairs of games, as the two games of a pair depend on each other.
    """
    fixed = {player.spec.name: player.rating for player in players if player.is_fixed and player.rating is not None}
    if not fixed:
        raise ProgramError("no opponent has a known rating")
    played = [score for score in scores if score.pairs]
    known = [player.rating for player in players if player.rating is not None]
    expected = {
        player.spec.name: sum(known) / len(known) if player.rating is None else player.rating for player in players
    }
    free = [name for name in expected if name not in fixed]
    index = {name: number for number, name in enumerate(free)}
    elo = np.array([expected[name] for name in free])
    centre = elo.copy()

    def rating(name: str) -> float:
        return float(elo[index[name]]) if name in index else fixed[name]

    for _ in range(MAX_ROUNDS):
        slope = (centre - elo) / PRIOR_ELO**2
        curve = np.eye(len(free)) / PRIOR_ELO**2
        spread = np.eye(len(free)) / PRIOR_ELO**2
        for score in played:
            likely = score_of_elo(rating(score.first) - rating(score.second))
            sides = np.zeros(len(free))
            for name, sign in ((score.first, 1.0), (score.second, -1.0)):
                if name in index:
                    sides[index[name]] = sign
            outer = np.outer(sides, sides) * ELO_FACTOR**2
            surprise = sum(points - 2.0 * likely for points in score.pairs)
            slope += ELO_FACTOR * surprise * sides
            curve += 2.0 * len(score.pairs) * likely * (1.0 - likely) * outer
            spread += _spread(score.pairs, likely) * outer
        step = np.linalg.solve(curve, slope)
        elo += np.clip(step, -PRIOR_ELO, PRIOR_ELO)
        if not len(step) or float(np.max(np.abs(step))) < MIN_MOVEMENT_ELO:
            break
    inverse = np.linalg.inv(curve)
    errors = DEVIATIONS_95 * np.sqrt(np.diag(inverse @ spread @ inverse))
    return {
        name: Measured(
            elo=rating(name),
            error=float(errors[index[name]]) if name in index else 0.0,
            games=sum(score.games for score in played if name in (score.first, score.second)),
        )
        for name in expected
    }


def _spread(pairs: Sequence[float], likely: float) -> float:
    """The sum of squares of what pairs made more or less than was likely.

    At least what the model expects of draws in half of the games, as few pairs that happen to be equal prove nothing.
    """
    seen = sum((points - 2.0 * likely) ** 2 for points in pairs)
    return max(seen, len(pairs) * likely * (1.0 - likely))


def ladder_as_json(players: Sequence[Player], measured: Mapping[str, Measured]) -> list[dict[str, Any]]:
    """A row for each player."""
    return [
        {
            "name": player.spec.name,
            "level": player.is_level,
            "rating": player.rating,
            "measured": measured[player.spec.name].elo,
            "error_95": measured[player.spec.name].error,
            "games": measured[player.spec.name].games,
        }
        for player in players
    ]
