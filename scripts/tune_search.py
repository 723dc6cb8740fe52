#!/usr/bin/env python3
"""Tune an engine's numbers by playing: SPSA over pairs of games.

    python scripts/tune_search.py --engine "cmd='secateur --tuning' tc=1+0.01" --tune all \\
        --iterations 5000 --openings 8moves_v3.pgn.zip --order random --concurrency 2 --journal tune.journal

Any UCI engine will do whose numbers are spin options. `--tune NAME[=STEP]` names one of them, and how far it is moved
at the end: if that is not said, a twentieth of its range, or a quarter of its value where that is less. `--tune all`
takes every number whose name is in small letters, as those of `secateur --tuning` are. The same command with --resume
goes on where it was killed. What comes out is a proposal: let `match.py --sprt` say whether it gains.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lib.console import at_least_one, run_program
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec
from lib.games.settings import find_numbers
from lib.games.settings_run import RunError, SettingsRun, add_run_arguments, carry_out, games_of
from lib.spsa import Parameter, Spsa

# Steps that nobody has named: of the range, but of the value where the range also holds what switches a thing off.
STEP_RANGE_SHARE = 0.05
STEP_VALUE_SHARE = 0.25
LEAST_STEP = 0.5


def find_parameters(engine: EngineSpec, wanted: list[str]) -> list[Parameter]:
    """The tunable parameters that --tune names, as the engine declares them. Raises RunError, LaunchError."""
    spins = find_numbers(engine)
    steps: dict[str, float | None] = {}
    for word in wanted:
        name, equals, number = word.partition("=")
        names = [spin for spin in spins if spin == spin.lower()] if name == "all" and not equals else [name]
        for known in names:
            if known not in spins:
                raise RunError(f"{engine.name} has no number called {known!r}")
            steps[known] = float(number) if equals else None
    parameters = []
    for name, step in steps.items():
        option = spins[name]
        least, most, value = int(option.min or 0), int(option.max or 0), int(option.default or 0)
        usual = (most - least) * STEP_RANGE_SHARE
        if value:
            usual = min(usual, abs(value) * STEP_VALUE_SHARE)
        parameters.append(Parameter(name, value, least, most, step or max(usual, LEAST_STEP)))
    if not parameters:
        raise RunError("nothing to tune: --tune names no number")
    return parameters


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    parser.add_argument("--tune", action="append", required=True, metavar="NAME[=STEP]", help="once for each, or all")
    parser.add_argument("--iterations", type=at_least_one, default=2000, metavar="N", help="pairs of games (2000)")
    parser.add_argument("--rate", type=float, default=0.002, help="how fast the numbers move at the end (0.002)")
    add_run_arguments(parser)
    return parser.parse_args(arguments)


def begin(words: argparse.Namespace) -> tuple[Spsa, SettingsRun]:
    """Everything that a run needs. Raises RunError, SpecError, LaunchError, OpeningError, JournalError, OSError and
    ValueError."""
    games = games_of(words)
    if words.rate <= 0:
        raise RunError(f"--rate {words.rate:g} is not above 0")
    parameters = find_parameters(games.engine, words.tune)
    spsa = Spsa(parameters, words.iterations, words.rate, words.seed)
    settings = {"parameters": list(map(asdict, parameters)), "iterations": words.iterations, "rate": words.rate}
    return spsa, SettingsRun(words, games, settings, spsa.learn)


def play(iterations: int, spsa: Spsa, run: SettingsRun) -> None:
    """Play what is left; each pair is made from the values of the moment. Raises RunError, OpeningError, PoolError."""

    def values() -> str:
        return ", ".join(f"{name} {value}" for name, value in spsa.tuned().items())[:120]

    run.play(iterations, spsa.perturbation, values)


def report(spsa: Spsa, run: SettingsRun) -> None:
    """The table of values, and the JSON file."""
    rows = [
        [each.name, str(each.value), f"{value:.1f}", str(round(value)), f"{each.minimum} to {each.maximum}"]
        for each, value in zip(spsa.parameters, spsa.values, strict=True)
    ]
    run.report(["number", "before", "exact", "tuned", "range"], rows, {"tuned": spsa.tuned()})


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    return carry_out(lambda: begin(words), lambda spsa, run: play(words.iterations, spsa, run), report)


if __name__ == "__main__":
    run_program(main)
