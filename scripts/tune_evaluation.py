#!/usr/bin/env python3
"""Fit the weights of the evaluation, all at once, to positions with scores and results.

    python scripts/tune_evaluation.py data.positions --output tuned.toml --threads 2 --also other.positions \\
        --checkpoint tune.npz --picture calibration.png --worst 20

The files come from selfplay.py or positions.py. Games are split into parts for fitting (train), for the end of the fit
(validation) and for the report (test). Material stays 9/5/3/3/1. The weights file says how it was made. The same
command with --resume goes on from the checkpoint and finds the same weights. They are a proposal: a match decides.

The coefficients of positions are kept in the folder --cache, so a second run begins at once.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import json
import shlex
import sys
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.catalogue import CATALOGUE
from evaluation.weights import PROVENANCE, Weights, WeightsError, default_weights
from lib.console import (
    above_zero,
    at_least_one,
    at_least_zero,
    by_stem,
    make_table,
    new_file,
    run_to_end,
    say,
    show_progress,
    standard_output,
    three_shares,
    write_json,
)
from lib.errors import ProgramError
from lib.files import replaced
from lib.training.coefficients import CoefficientCache, source_digest
from lib.training.descent import State, load_checkpoint, new_state, save_checkpoint, settings_of
from lib.training.endgame_scales import as_constants, fit_scales, scale_table
from lib.training.examples import Choice, Examples, Floats, fit_scale, read_examples, split_games
from lib.training.model import (
    SLICE,
    centred,
    columns_of,
    exact_scores,
    only_material,
    rounded,
    weights_as_array,
    weights_from_array,
)
from lib.training.optimiser import Fit, Plan
from lib.training.outliers import group_errors, group_table, worst_positions
from lib.training.priors import PRIOR_SYNTAX, PRIORS, Penalty, parse_prior
from lib.training.tuning_report import (
    Measured,
    Rival,
    as_json,
    calibrate,
    calibration_table,
    draw_calibration,
    loss_table,
    measure,
)

CACHE = Path(__file__).resolve().parents[1] / ".selfplay" / "coefficients"
# The comparison with material and mobility needs no more.
BASELINE_EPOCHS = 10
PARTS = ("train", "validation", "test")
OLD, NEW = "old weights", "new weights"
# Almost no position shows what mop-up is worth: scores beyond --max-score are left out.
MOP_UP = [term.name for term in CATALOGUE if term.name.startswith("mop_up_")]


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"A prior is {PRIOR_SYNTAX}.")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="positions, games together")
    parser.add_argument("--output", type=new_file, required=True, metavar="FILE", help="the weights, .toml")
    data = parser.add_argument_group("data")
    data.add_argument("--also", type=Path, action="append", default=[], metavar="FILE", help="report on these, too")
    data.add_argument("--mix", type=float, default=0.7, help="share of the score against the result, 0 to 1 (0.7)")
    data.add_argument("--max-score", type=at_least_one, default=1500, metavar="CP", help="leave out beyond (1500)")
    data.add_argument("--noisy", action="store_true", help="take positions that are not quiet, too")
    data.add_argument("--positions", type=at_least_zero, default=0, metavar="N", help="of each file, 0 for all (0)")
    data.add_argument("--parts", type=three_shares, default="90,5,5", metavar="N,N,N", help="shares (90,5,5)")
    data.add_argument("--score-scale", type=above_zero, metavar="CP", help="of the scores (fitted to the results)")
    data.add_argument("--cache", type=Path, default=CACHE, metavar="FOLDER", help="(.selfplay/coefficients)")
    fit = parser.add_argument_group("fit")
    fit.add_argument("--start", type=Path, metavar="FILE", help="weights to begin with (those of the engine)")
    fit.add_argument("--from-material", action="store_true", help="begin with material and mop-up alone")
    fit.add_argument("--scale", type=above_zero, metavar="CP", help="of the evaluation (that of --start)")
    fit.add_argument("--terms", action="append", default=[], metavar="PATTERN", help="fit these terms only (*)")
    fit.add_argument("--prior", action="append", default=[], metavar="'...'", help="more rows of the table of priors")
    fit.add_argument("--epochs", type=at_least_one, default=80, metavar="N", help="(80)")
    fit.add_argument("--patience", type=at_least_one, default=15, metavar="N", help="epochs without gain (15)")
    fit.add_argument("--batch", type=at_least_one, default=8, metavar="N", help=f"in units of {SLICE} positions (8)")
    fit.add_argument("--rate", type=above_zero, default=4.0, metavar="CP", help="the largest step (4)")
    fit.add_argument("--seed", type=int, default=0)
    fit.add_argument("--threads", type=at_least_one, default=1, metavar="N", help="(1)")
    fit.add_argument("--checkpoint", type=new_file, metavar="FILE", help="what --resume needs")
    fit.add_argument("--resume", action="store_true", help="go on from the checkpoint, if there is one")
    report = parser.add_argument_group("report")
    report.add_argument("--worst", type=at_least_zero, default=0, metavar="N", help="show where errors are large")
    report.add_argument("--endgame-scales", action="store_true", help="fit the endgame scale factors, and print them")
    report.add_argument("--picture", type=new_file, metavar="PNG", help="draw the calibration")
    report.add_argument("--json", type=new_file, metavar="FILE", help="write the results")
    words = parser.parse_args(arguments)
    if not 0 <= words.mix <= 1:
        parser.error(f"--mix {words.mix:g} is not between 0 and 1")
    if words.resume and words.checkpoint is None:
        parser.error("--resume needs --checkpoint")
    return words


def free_columns(patterns: list[str]) -> npt.NDArray[np.bool_]:
    """The columns that are fitted. Raises ProgramError for a pattern that fits no term."""
    chosen = columns_of([])
    for pattern in patterns or ["*"]:
        names = [term.name for term in CATALOGUE if fnmatchcase(term.name, pattern) and term.name != "material"]
        if not names:
            raise ProgramError(f"--terms {pattern!r} fits no term that can be fitted")
        chosen |= columns_of(names)
    return chosen


class Job:
    """All that a run needs, read and checked."""

    def __init__(self, words: argparse.Namespace) -> None:
        """Raises ProgramError, WeightsError, OSError."""
        also = by_stem(words.also, taken=PARTS[1:])
        self.free = free_columns(words.terms)
        self.old = weights_as_array(Weights.load(words.start) if words.start else default_weights())
        priors = [*PRIORS, *(parse_prior(text) for text in words.prior)]
        start = self.old * columns_of(["material", *MOP_UP])[:, None] if words.from_material else self.old
        self.start = start.astype(np.float64)
        self.penalty = Penalty(priors, self.start)
        choice = Choice(words.max_score, words.noisy, words.mix, words.score_scale, words.positions)
        store = CoefficientCache(words.cache)
        everything = read_examples(words.files, choice, store, words.threads)
        self.sources = everything.sources
        self.parts = split_games(everything, dict(zip(PARTS, words.parts, strict=True)), words.seed)
        whole = replace(choice, limit=0)
        self.also = {name: read_examples([path], whole, store, words.threads) for name, path in also.items()}
        train = self.parts["train"]
        scale = words.scale or fit_scale(exact_scores(train.coefficients, self.old).astype(np.float64), train.expected)
        self.plan = Plan(
            scale, words.epochs, words.patience, words.rate, words.batch * SLICE, words.seed, words.threads
        )
        self.settings = {
            "sources": self.sources,
            "choice": asdict(choice),
            "parts": words.parts,
            "plan": settings_of(self.plan),
            "priors": [str(prior) for prior in priors],
            "free": np.flatnonzero(self.free).tolist(),
            "start": start.tolist(),
            "evaluation": source_digest(),
        }

    @property
    def held_back(self) -> dict[str, Examples]:
        """The sets of the report."""
        return {"validation": self.parts["validation"], "test": self.parts["test"], **self.also}


def fit_weights(words: argparse.Namespace, job: Job) -> State:
    """The run, with its checkpoints. Raises ProgramError, OSError."""
    state = new_state([job.start])
    if words.resume and words.checkpoint.exists():
        state = load_checkpoint(words.checkpoint, job.settings, state)
    fit = Fit(job.parts["train"], job.parts["validation"], job.penalty, job.free, job.plan, state)
    with show_progress("epochs", job.plan.epochs, state.epoch) as advance:

        def after_epoch(state: State) -> None:
            train, validation = state.history[-1]
            advance(1, f"train {train:.6f}  validation {validation:.6f}  best {state.best_loss:.6f}")
            if words.checkpoint is not None:
                save_checkpoint(words.checkpoint, state, job.settings)

        return fit.run(after_epoch)


def fit_baseline(job: Job) -> npt.NDArray[np.int64]:
    """Material and the mobility of the pieces, fitted alone."""
    start = only_material(job.old).astype(np.float64)
    free = columns_of(term.name for term in CATALOGUE if term.name.endswith("_mobility"))
    plan = replace(job.plan, epochs=min(BASELINE_EPOCHS, job.plan.epochs), rate_cp=4 * job.plan.rate_cp)
    penalty = Penalty(PRIORS, start)
    with show_progress("epochs of the baseline", plan.epochs) as advance:
        fit = Fit(job.parts["train"], job.parts["validation"], penalty, free, plan, new_state([start]))
        return rounded(fit.run(lambda state: advance()).best[0])


def write_weights(words: argparse.Namespace, job: Job, best: Floats, measured: dict[str, Measured]) -> None:
    """The weights file, with how it was made. Raises WeightsError, OSError."""
    data = "; ".join(f"{each['file']} {each['positions']} positions {each['sha256'][:16]}" for each in job.sources)
    # TOML takes no other names.
    named = {name: each for name, each in measured.items() if name.isascii() and name.isidentifier()}
    provenance = {
        "program": "scripts/tune_evaluation.py",
        "command": shlex.join(["scripts/tune_evaluation.py", *words.command]),
        "data": data,
        "scale_cp": f"{job.plan.scale:.4f}",
        "evaluation": job.settings["evaluation"][:16],
        **{f"{name}_loss": f"{each.loss:.6f}" for name, each in named.items()},
    }
    first_line, rest = weights_from_array(best).text().split("\n", 1)
    # A string of JSON without line ends is a string of TOML, too.
    table = "".join(f"{name} = {json.dumps(text, ensure_ascii=False)}\n" for name, text in provenance.items())
    with replaced(words.output) as file:
        file.write(f"{first_line}\n\n[{PROVENANCE}]\n{table}{rest}".encode("utf-8", "replace"))


def report(words: argparse.Namespace, job: Job, state: State) -> None:
    """Write the weights, and say what they are worth. Raises ProgramError, WeightsError, OSError."""
    train = job.parts["train"]
    new = centred(rounded(state.best[0]), train.coefficients.matrix, job.free)
    rivals = [
        Rival.fitted("material", only_material(job.old), train),
        Rival.fitted("material, mobility", fit_baseline(job), train),
        Rival.fitted(OLD, job.old, train),
        Rival(NEW, new, job.plan.scale),
    ]
    measured = measure(rivals, job.held_back)
    write_weights(words, job, new.astype(np.float64), measured[NEW])
    console = standard_output()
    rows = [
        [each["file"], str(each["positions"]), "none" if each["score_scale"] is None else f"{each['score_scale']:.1f}"]
        for each in (*job.sources, *(source for also in job.also.values() for source in also.sources))
    ]
    console.print(make_table("Files", ["file", "positions", "scale of scores"], rows))
    sizes = [[name, str(len(part)), str(len(np.unique(part.games)))] for name, part in job.parts.items()]
    console.print(make_table("Parts, without duplicates", ["part", "positions", "games"], sizes))
    say(f"the best of {state.epoch} epochs was number {state.best_epoch}: validation loss {state.best_loss:.6f}")
    say(f"after rounding {measured[NEW]['validation'].loss:.6f}; weights that changed: {(new != job.old).sum()}")
    console.print(loss_table(rivals, measured))
    bins = {rival.name: calibrate(rival, job.parts["test"]) for rival in rivals[2:]}
    console.print(calibration_table(bins[NEW]))
    if words.picture is not None:
        draw_calibration(bins, words.picture)
    if words.worst:
        console.print(group_table(group_errors(rivals[-1], job.parts["test"])))
        print(worst_positions(rivals[-1], job.parts["test"], words.worst))
    if words.endgame_scales:
        cells = fit_scales(train, new, job.plan.scale)
        console.print(scale_table(cells))
        print(as_constants(cells))
    if words.json is not None:
        figures: dict[str, Any] = {"sources": job.sources, "losses": as_json(measured, rivals)}
        write_json(words.json, {**figures, "epochs": state.epoch, "history": state.history})


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    words.command = sys.argv[1:] if arguments is None else arguments

    def work() -> None:
        job = Job(words)
        report(words, job, fit_weights(words, job))

    return run_to_end(work, errors=(WeightsError,))


if __name__ == "__main__":
    run_program(main)
