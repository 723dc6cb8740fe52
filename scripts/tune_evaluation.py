#!/usr/bin/env python3
"""Fit the weights of the evaluation, all at once, to positions with scores and results.

    python scripts/tune_evaluation.py data.positions --output tuned.toml --threads 2

The files come from selfplay.py or positions.py. Games are split into parts for fitting (train), for the end of the fit
(validation) and for the report (test). Material stays 9/5/3/3/1. The weights file says how it was made. The same
command finds the same weights. They are a proposal: a match decides.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import evaluation
from evaluation.catalogue import CATALOGUE
from evaluation.files import replaced
from evaluation.weights import PROVENANCE, Weights, WeightsError, default_weights
from toolkit.console import (
    above_zero,
    at_least_one,
    at_least_zero,
    make_table,
    new_file,
    run_program,
    run_to_end,
    say,
    share,
    show_progress,
    standard_output,
    three_shares,
)
from toolkit.errors import ProgramError
from toolkit.files import digest_of_files
from toolkit.training.coefficients import find_coefficients
from toolkit.training.model import (
    MOP_UP,
    Fit,
    Plan,
    Sample,
    centred,
    columns_of,
    exact_scores,
    fit_scales,
    fit_weights,
    rounded,
    weights_as_array,
    weights_from_array,
    weights_text,
)
from toolkit.training.positions import Source, command_text, fit_scale, log_loss, read_examples, split_rows

PARTS = ("train", "validation", "test")
OLD, NEW = "old weights", "new weights"


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="positions, games together")
    parser.add_argument("--output", type=new_file, required=True, metavar="FILE", help="the weights, .toml")
    data = parser.add_argument_group("data")
    data.add_argument("--mix", type=share, default=0.7, help="share of the score against the result, 0 to 1 (0.7)")
    data.add_argument("--max-score", type=at_least_one, default=1500, metavar="CP", help="leave out beyond (1500)")
    data.add_argument("--positions", type=at_least_zero, default=0, metavar="N", help="of each file, 0 for all (0)")
    data.add_argument("--parts", type=three_shares, default="90,5,5", metavar="N,N,N", help="shares (90,5,5)")
    data.add_argument("--score-scale", type=above_zero, metavar="CP", help="of the scores (fitted to the results)")
    fit = parser.add_argument_group("fit")
    fit.add_argument("--start", type=Path, metavar="FILE", help="weights to begin with (those of the engine)")
    fit.add_argument("--from-material", action="store_true", help="begin with material and mop-up alone")
    fit.add_argument("--scale", type=above_zero, metavar="CP", help="of the evaluation (that of --start)")
    fit.add_argument("--terms", action="append", default=[], metavar="PATTERN", help="fit these terms only (*)")
    fit.add_argument("--iterations", type=at_least_one, default=Plan.iterations, metavar="N", help="(%(default)s)")
    fit.add_argument(
        "--patience",
        type=at_least_one,
        default=Plan.patience,
        metavar="N",
        help="iterations without gain (%(default)s)",
    )
    fit.add_argument("--seed", type=int, default=0)
    fit.add_argument("--threads", type=at_least_one, default=1, metavar="N", help="(1)")
    fit.add_argument("--endgame-scales", action="store_true", help="then fit these factors, and print them")
    return parser.parse_args(arguments)


def free_columns(patterns: list[str]) -> npt.NDArray[np.bool_]:
    """The columns that are fitted. Raises ProgramError for a pattern that fits no term."""
    chosen = columns_of([])
    for pattern in patterns or ["*"]:
        names = [term.name for term in CATALOGUE if fnmatchcase(term.name, pattern) and term.name != "material"]
        if not names:
            raise ProgramError(f"--terms {pattern!r} fits no term that can be fitted")
        chosen |= columns_of(names)
    return chosen


def read_sample(words: argparse.Namespace) -> tuple[Sample, list[dict[str, Any]]]:
    """The positions of all files, and facts of each file. Raises ProgramError, OSError."""
    sources = [Source(path, words.mix, words.score_scale) for path in words.files]
    found, facts = read_examples(sources, words.max_score, words.positions)
    with show_progress("coefficients", len(found)) as advance:
        coefficients = find_coefficients(found.records, words.threads, advance)
    sample = Sample(found.records, found.expected, found.games, found.weight, coefficients)
    # King and pawn against king is not fitted: its score does not come from the weights alone.
    return sample.rows(np.flatnonzero(coefficients.kpk_result == 0)), facts


class TuningJob:
    """All that a run needs, read and checked."""

    def __init__(self, words: argparse.Namespace) -> None:
        """Raises ProgramError, WeightsError, OSError."""
        self.free = free_columns(words.terms)
        self.old = weights_as_array(Weights.load(words.start) if words.start else default_weights())
        start = self.old * columns_of(["material", MOP_UP])[:, None] if words.from_material else self.old
        self.start = start.astype(np.float64)
        sample, self.sources = read_sample(words)
        rows = split_rows(sample.games, words.parts, np.random.default_rng(words.seed))
        self.parts = {name: sample.rows(part) for name, part in zip(PARTS, rows, strict=True)}
        train = self.parts["train"]
        scale = words.scale or fit_scale(exact_scores(train.coefficients, self.old), train.expected)
        self.plan = Plan(scale, words.iterations, words.patience, words.threads)

    def fit(self) -> Fit:
        """The run, with its progress."""
        with show_progress("iterations", self.plan.iterations) as advance:

            def after_iteration(fit: Fit) -> None:
                train, validation = fit.history[-1]
                advance(1, f"train {train:.6f}  validation {validation:.6f}  best {fit.loss:.6f}")

            return fit_weights(
                self.parts["train"], self.parts["validation"], self.start, self.free, self.plan, after_iteration
            )


def losses(weights: npt.NDArray[np.int64], scale: float, parts: Mapping[str, Sample]) -> dict[str, float]:
    """Of weights in whole centipawns on each part. `scale`: in centipawns, at which a score promises 73 %."""
    return {
        name: log_loss(exact_scores(part.coefficients, weights) / scale, part.expected) for name, part in parts.items()
    }


def write_weights(
    words: argparse.Namespace, job: TuningJob, new: npt.NDArray[np.int64], found: Mapping[str, float]
) -> None:
    """The weights file, with how it was made. Raises WeightsError, OSError."""
    data = "; ".join(f"{each['file']} {each['positions']} positions {each['sha256'][:16]}" for each in job.sources)
    provenance = {
        "program": "scripts/tune_evaluation.py",
        "command": command_text("scripts/tune_evaluation.py", words.command),
        "data": data,
        "scale_cp": f"{job.plan.scale:.4f}",
        "evaluation": digest_of_files(sorted(Path(evaluation.__file__).parent.rglob("*.py")))[:16],
        **{f"{name}_loss": f"{found[name]:.6f}" for name in PARTS[1:]},
    }
    first_line, rest = weights_text(weights_from_array(new.astype(np.float64))).split("\n", 1)
    # A string of JSON without line ends is a string of TOML, too.
    table = "".join(f"{name} = {json.dumps(text, ensure_ascii=False)}\n" for name, text in provenance.items())
    with replaced(words.output) as file:
        file.write(f"{first_line}\n\n[{PROVENANCE}]\n{table}{rest}".encode("utf-8", "replace"))


def report(words: argparse.Namespace, job: TuningJob, fit: Fit) -> None:
    """Write the weights, and say what they are worth. Raises ProgramError, WeightsError, OSError."""
    train = job.parts["train"]
    new = centred(rounded(fit.weights), train.coefficients.matrix, job.free)
    scales = {NEW: job.plan.scale}
    found = {NEW: losses(new, job.plan.scale, job.parts)}
    write_weights(words, job, new, found[NEW])
    for name, weights in (("material", job.old * columns_of(["material"])[:, None]), (OLD, job.old)):
        scales[name] = fit_scale(exact_scores(train.coefficients, weights), train.expected)
        found[name] = losses(weights, scales[name], job.parts)
    console = standard_output()
    rows = [
        [each["file"], str(each["positions"]), "none" if each["score_scale"] is None else f"{each['score_scale']:.1f}"]
        for each in job.sources
    ]
    console.print(make_table("Files", ["file", "positions", "scale of scores"], rows))
    sizes = [[name, str(len(part)), str(len(np.unique(part.games)))] for name, part in job.parts.items()]
    console.print(make_table("Parts, without duplicates", ["part", "positions", "games"], sizes))
    say(f"the best of {len(fit.history)} iterations was number {fit.best}: validation loss {fit.loss:.6f}")
    say(f"after rounding {found[NEW]['validation']:.6f}; weights that changed: {(new != job.old).sum()}")
    rows = [
        [name, f"{scales[name]:.1f}", *(f"{each:.5f}" for each in numbers.values())] for name, numbers in found.items()
    ]
    console.print(make_table("Logistic loss", ["weights", "scale", *PARTS], rows))
    if words.endgame_scales:
        for kind, factors in fit_scales(train, new, job.plan.scale).items():
            print(f'    "{kind}": {tuple(factors)},')


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    words.command = sys.argv[1:] if arguments is None else arguments

    def work() -> None:
        job = TuningJob(words)
        report(words, job, job.fit())

    return run_to_end(work, errors=(WeightsError,))


if __name__ == "__main__":
    run_program(main)
