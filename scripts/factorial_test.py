#!/usr/bin/env python3
"""A factorial test: the Elo of many changes to an engine's options, all measured by the same games.

    python scripts/factorial_test.py --engine "cmd='secateur --tuning' nodes=20000" --pairs 3000 --concurrency 2 \\
        --change no-null-move:null_move_depth=100 --change lmr_count=2 \\
        --openings 8moves_v3.pgn.zip --order random --journal factorial.journal

Every change is one or more options of the engine, whole numbers, with other values than the defaults. In each pair of
games every change is given to one of the two sides at random, or with a --share below 0.5 often to neither, and a
regression tells them apart: so many games measure each change nearly as well as a match would that tried it alone. Give
large changes, as switching a pruning off, a share of 0.1. The same command with --resume goes on where it was killed.
What comes out is for choosing: let `match.py --sprt` say whether what was chosen gains.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lib.console import at_least_one, run_program
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec
from lib.factorial import Design, Effect, Factor, estimate_effects
from lib.games.settings import find_numbers
from lib.games.settings_run import RunError, SettingsRun, add_run_arguments, carry_out, games_of


def parse_change(text: str) -> Factor:
    """A factor from `[LABEL:]NAME=VALUE[,NAME=VALUE...]`. Raises RunError."""
    label, colon, rest = text.partition(":")
    values = {}
    for word in (rest if colon else text).split(","):
        name, _, number = word.strip().partition("=")
        try:
            values[name.strip()] = int(number)
        except ValueError:
            raise RunError(f"--change {text!r}: {word.strip()!r} is not NAME=NUMBER") from None
    return Factor(label.strip() if colon else text, values)


def defaults_of(engine: EngineSpec, factors: list[Factor]) -> dict[str, int]:
    """The engine's own values of the options that factors name. Raises RunError, LaunchError."""
    numbers = find_numbers(engine)
    defaults = {}
    for factor in factors:
        for name, value in factor.values.items():
            if name not in numbers:
                raise RunError(f"{engine.name} has no number called {name!r}")
            least, most = int(numbers[name].min or 0), int(numbers[name].max or 0)
            if not least <= value <= most:
                raise RunError(f"{name} goes from {least} to {most}, not to {value}")
            defaults[name] = int(numbers[name].default or 0)
    return defaults


class FactorialTest:
    """The results so far of a design's pairs."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._directions: list[tuple[int, ...]] = []
        self._results: list[float] = []

    def learn(self, number: int, directions: tuple[int, ...], result: float) -> None:
        """Take a pair's result: the games that the first side won less those it lost."""
        self._directions.append(directions)
        self._results.append(result)

    def effects(self) -> list[Effect]:
        """What the pairs say of each change, the best first."""
        found = estimate_effects(self.design.factors, self._directions, self._results)
        return sorted(found, key=lambda effect: effect.elo, reverse=True)


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    parser.add_argument(
        "--change", action="append", required=True, metavar="[LABEL:]NAME=VALUE[,...]", help="once for each change"
    )
    parser.add_argument("--share", type=float, default=0.5, help="chance of a change to be on either side (0.5)")
    parser.add_argument("--pairs", type=at_least_one, default=2000, metavar="N", help="pairs of games (2000)")
    add_run_arguments(parser)
    return parser.parse_args(arguments)


def begin(words: argparse.Namespace) -> tuple[FactorialTest, SettingsRun]:
    """Everything that a run needs. Raises RunError, SpecError, LaunchError, OpeningError, JournalError, OSError and
    ValueError."""
    games = games_of(words)
    factors = [parse_change(text) for text in words.change]
    defaults = defaults_of(games.engine, factors)
    test = FactorialTest(Design(factors, defaults, words.share, words.seed))
    settings = {"changes": [asdict(factor) for factor in factors], "defaults": defaults, "share": words.share}
    return test, SettingsRun(words, games, settings, test.learn)


def report(test: FactorialTest, run: SettingsRun) -> None:
    """The table, the best change first, and the JSON file."""
    found = test.effects()
    rows = [[effect.label, f"{effect.elo:+.1f}", f"{effect.error_elo:.1f}", str(effect.pairs)] for effect in found]
    run.report(["change", "Elo", "± (95 %)", "pairs"], rows, {"changes": [asdict(effect) for effect in found]})


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    return carry_out(
        lambda: begin(words), lambda test, run: run.play(words.pairs, test.design.pairing), report
    )


if __name__ == "__main__":
    run_program(main)
