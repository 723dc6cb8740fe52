#!/usr/bin/env python3
"""Elo, error and forfeits of the matches in PGN files, computed afresh: a check on `match`, sharing no code with it.

    python scripts/pgn_elo.py games.pgn [more.pgn ...] [--json FILE]

Games of the same players whose Round differs only behind the point (`7.1`, `7.2`) are a pair; other games count singly.
Everything is read by python-chess, which also checks every move. The exit code is 1 for an unreadable game.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf, log10
from pathlib import Path
from typing import Any

import chess.pgn

from lib.console import complain, make_table, run_program, standard_output, without_infinities, write_json

POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


@dataclass
class Meeting:
    """The games of two players, from the view of the first in the alphabet."""

    units: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    endings: Counter[str] = field(default_factory=Counter)

    def add(self, unit: str, points: float, ending: str) -> None:
        """Take a game: which pair it belongs to, the first player's points, the Termination."""
        self.units[unit].append(points)
        self.endings[ending] += 1

    def summary(self) -> dict[str, Any]:
        """Wins, draws, losses, Elo and half of its 95 % interval (infinite where it has no end)."""
        games = [points for unit in self.units.values() for points in unit]
        means = [statistics.fmean(unit) for unit in self.units.values()]
        normal = statistics.NormalDist(statistics.fmean(means), statistics.pstdev(means) / len(means) ** 0.5)
        error = inf
        if normal.stdev:
            error = (elo(normal.inv_cdf(0.975)) - elo(normal.inv_cdf(0.025))) / 2
        return {
            "games": len(games),
            "wins": games.count(1.0),
            "draws": games.count(0.5),
            "losses": games.count(0.0),
            "elo": elo(normal.mean),
            "elo_error_95": error,
            "terminations": dict(self.endings),
        }


def elo(score: float) -> float:
    """The logistic scale."""
    if not 0 < score < 1:
        return inf if score >= 1 else -inf
    return -400 * log10((1 - score) / score)


def read_games(paths: Iterable[Path]) -> Iterator[tuple[Path, chess.pgn.Game]]:
    """Every game, with its file. Raises ValueError for one with an illegal move or without a result."""
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as file:
            number = 0
            while (game := chess.pgn.read_game(file)) is not None:
                number += 1
                if game.errors:
                    raise ValueError(f"{path}, game {number}: {game.errors[0]}")
                if game.headers["Result"] not in POINTS:
                    raise ValueError(f"{path}, game {number}: no result")
                yield path, game


def count(games: Iterable[tuple[Path, chess.pgn.Game]]) -> dict[tuple[str, str], Meeting]:
    """The games by their players; a pair of games is one of the same file and round."""
    meetings: defaultdict[tuple[str, str], Meeting] = defaultdict(Meeting)
    for number, (path, game) in enumerate(games):
        headers = game.headers
        first, second = sorted((headers["White"], headers["Black"]))
        points = POINTS[headers["Result"]]
        if headers["White"] != first:
            points = 1 - points
        pair, point, _ = headers["Round"].partition(".")
        unit = f"{path} {pair}" if point else f"game {number}"
        meetings[first, second].add(unit, points, headers.get("Termination", "normal"))
    return meetings


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    words = parser.parse_args(arguments)
    try:
        meetings = count(read_games(words.files))
    except (OSError, ValueError) as error:
        complain(str(error))
        return 1
    data = [{"first": names[0], "second": names[1], **meeting.summary()} for names, meeting in meetings.items()]
    rows = [
        [
            f"{one['first']} - {one['second']}",
            *(str(one[key]) for key in ("games", "wins", "draws", "losses")),
            f"{one['elo']:+.1f} ± {one['elo_error_95']:.1f}",
            ", ".join(f"{number} {name}" for name, number in sorted(one["terminations"].items())),
        ]
        for one in data
    ]
    standard_output().print(make_table("", ["players", "games", "W", "D", "L", "Elo ± 95 %", "terminations"], rows))
    if words.json is not None:
        write_json(words.json, [without_infinities(one) for one in data])
    return 0


if __name__ == "__main__":
    run_program(main)
