#!/usr/bin/env python3
"""Train the network on positions with scores and results.

    python scripts/train_network.py own.positions 'other.positions mix=0.7 weight=0.5' --output new.network \\
        --checkpoint new.npz

The network learns what the weighted features miss: it is added to their score. The files come from selfplay.py or
positions.py. Games are split into parts for training, for choosing the best epoch (validation) and for the report
(test). Beside the network a file .toml says how it was made. The same command with --resume goes on from the
checkpoint and finds the same network. It is a proposal: a match decides.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tomli_w

from evaluation.files import replaced
from evaluation.network import file as network_file
from evaluation.network.file import OUTPUT_BUCKETS, UNITS
from toolkit.console import (
    above_zero,
    at_least_one,
    at_least_zero,
    make_table,
    new_file,
    not_negative,
    read_numbers,
    run_program,
    run_to_end,
    say,
    show_progress,
    standard_output,
    three_shares,
)
from toolkit.errors import ProgramError
from toolkit.training.network import (
    BLOCK,
    Batch,
    Fit,
    Plan,
    State,
    TrainedNetwork,
    best_mixture,
    floating,
    has_output,
    load_checkpoint,
    mean_loss,
    network_scores,
    new_network,
    new_state,
    outputs,
    quantised,
    save_checkpoint,
    static_scores,
)
from toolkit.training.positions import (
    STOCKFISH_SCALE_CP,
    Examples,
    Source,
    command_text,
    fit_scale,
    of_chunks,
    read_examples,
    split_rows,
    white_to_move,
)

SOURCE_SYNTAX = "'FILE [mix=0..1] [scale=CP] [weight=NUMBER]'"
NETWORK_SUFFIX = ".network"
# The scale of the evaluation is fitted to about so many.
SCALE_POSITIONS = 4_000_000


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n\n")[0], epilog=f"A source is {SOURCE_SYNTAX}; mix=1 is the score alone."
    )
    parser.add_argument("files", nargs="+", metavar="SOURCE", help="positions, games together")
    parser.add_argument("--output", type=new_file, required=True, metavar="FILE", help="the network")
    data = parser.add_argument_group("data")
    data.add_argument("--max-score", type=at_least_one, default=1500, metavar="CP", help="leave out beyond (1500)")
    data.add_argument("--positions", type=at_least_zero, default=0, metavar="N", help="of each file, 0 for all (0)")
    data.add_argument("--parts", type=three_shares, default="96,2,2", metavar="N,N,N", help="shares (96,2,2)")
    fit = parser.add_argument_group("training")
    fit.add_argument("--start", type=Path, metavar="FILE", help="go on from this network, then mix both")
    fit.add_argument("--scale", type=above_zero, metavar="CP", help="of the evaluation (that of the features)")
    fit.add_argument("--epochs", type=at_least_one, default=Plan.epochs, metavar="N", help="(%(default)s)")
    fit.add_argument(
        "--patience", type=at_least_one, default=Plan.patience, metavar="N", help="epochs without gain (%(default)s)"
    )
    fit.add_argument("--batch", type=at_least_one, default=Plan.batch, metavar="N", help="positions (%(default)s)")
    fit.add_argument("--rate", type=above_zero, default=Plan.rate, metavar="N", help="the largest step (%(default)s)")
    fit.add_argument(
        "--decay", type=not_negative, default=Plan.decay, metavar="N", help="of parameters, by the step (%(default)s)"
    )
    fit.add_argument("--seed", type=int, default=0)
    fit.add_argument("--threads", type=at_least_one, default=1, metavar="N", help="(1)")
    fit.add_argument("--checkpoint", type=new_file, metavar="FILE", help="what --resume needs")
    fit.add_argument("--resume", action="store_true", help="go on from the checkpoint, if there is one")
    words = parser.parse_args(arguments)
    if words.resume and words.checkpoint is None:
        parser.error("--resume needs --checkpoint")
    if words.checkpoint is not None and words.checkpoint.exists() and not words.resume:
        parser.error(f"{words.checkpoint} is of an earlier run: continue it with --resume, or remove it")
    if words.batch % BLOCK:
        parser.error(f"--batch {words.batch}: it is a multiple of {BLOCK}")
    # Beside it stands a file of the same name that ends in .toml.
    if words.output.suffix != NETWORK_SUFFIX:
        parser.error(f"--output {words.output}: the name of a network ends in {NETWORK_SUFFIX}")
    return words


def parse_source(text: str) -> Source:
    """A Source from words like SOURCE_SYNTAX. Raises ProgramError."""
    try:
        path, *words = shlex.split(text)
        numbers = read_numbers(words, {"mix": 1.0, "scale": STOCKFISH_SCALE_CP, "weight": 1.0})
    except ValueError as error:
        raise ProgramError(f"{text!r} is no source ({error}): {SOURCE_SYNTAX}") from None
    source = Source(Path(path), numbers["mix"], numbers["scale"], numbers["weight"])
    if not (0 <= source.mix <= 1 and numbers["scale"] > 0 and source.weight > 0):
        raise ProgramError(f"{text!r}: mix is from 0 to 1, scale and weight are above 0")
    return source


def batch_of(examples: Examples, workers: int) -> tuple[Batch, npt.NDArray[np.int64]]:
    """The rows that the network scores, and their games. workers: processes that score the features.

    Raises ProgramError for a position that cannot be evaluated.
    """
    with show_progress("scoring", len(examples)) as advance:
        static_cp = np.concatenate(of_chunks(static_scores, examples.records, workers, advance))
    used = has_output(examples.records, static_cp)
    some = examples.rows(used)
    expected = np.where(white_to_move(some.records), some.expected, 1 - some.expected)
    return Batch(some.records, static_cp[used].astype(np.float32), expected, some.weight), some.games


def read_start(path: Path) -> tuple[TrainedNetwork, dict[str, Any]]:
    """A network to go on from, and its digest with what the file .toml beside it says.

    Raises NetworkError, ProgramError, OSError.
    """
    network = network_file.Network.load(path)
    beside = path.with_suffix(".toml")
    try:
        facts: dict[str, Any] = tomllib.loads(beside.read_text("utf-8")) if beside.exists() else {}
    except ValueError as error:
        raise ProgramError(f"{beside} is no TOML: {error}") from None
    kept: dict[str, Any] = {name: facts[name] for name in ("command", "positions", "data") if name in facts}
    return floating(network), {"sha256": hashlib.sha256(network.pack()).hexdigest(), **kept}


class Job:
    """All that a run needs, read and checked."""

    def __init__(self, words: argparse.Namespace) -> None:
        """Raises ProgramError, NetworkError, OSError."""
        self.start: TrainedNetwork | None = None
        self.start_facts: dict[str, Any] | None = None
        if words.start:
            self.start, self.start_facts = read_start(words.start)
        sources = [parse_source(text) for text in words.files]
        examples, self.sources = read_examples(sources, words.max_score, words.positions)
        self.batch, games = batch_of(examples, words.threads)
        self.train, self.validation, self.test = split_rows(games, words.parts, np.random.default_rng(words.seed))
        some = self.train[:: -(-len(self.train) // SCALE_POSITIONS)]
        self.plan = Plan(
            words.scale or fit_scale(self.batch.static_cp[some], self.batch.expected[some]),
            **{field.name: getattr(words, field.name) for field in fields(Plan)[1:]},
        )
        self.settings = {
            "sources": self.sources,
            "max_score": words.max_score,
            "parts": words.parts,
            "plan": asdict(self.plan),
            "features": hashlib.sha256(self.batch.static_cp.data).hexdigest(),
            "start": self.start_facts,
        }


def train(words: argparse.Namespace, job: Job) -> State:
    """The run, with its checkpoints. Raises ProgramError, OSError."""
    first = job.start or new_network(UNITS, OUTPUT_BUCKETS, job.plan.seed)
    state = new_state(first.arrays())
    if words.resume and words.checkpoint.exists():
        state = load_checkpoint(words.checkpoint, job.settings, state)
    fit = Fit(job.batch, job.train, job.validation, job.plan, state)
    with show_progress("positions", job.plan.epochs * len(job.train), state.epoch * len(job.train)) as advance:

        def after_epoch(state: State) -> None:
            train_loss, validation = state.history[-1]
            advance(0, f"epoch {state.epoch}: {train_loss:.6f}, validation {validation:.6f}")
            if words.checkpoint is not None:
                save_checkpoint(words.checkpoint, state, job.settings)

        return fit.run(after_epoch, advance)


def write_network(path: Path, whole: network_file.Network, facts: Mapping[str, Any]) -> None:
    """The network, and beside it a file .toml that says how it was made. Raises OSError."""
    data = whole.pack()
    text = tomli_w.dumps({"sha256": hashlib.sha256(data).hexdigest(), **facts})
    with replaced(path) as file:
        file.write(data)
    with replaced(path.with_suffix(".toml")) as file:
        file.write(f"# How the network beside this file was made, by scripts/train_network.py.\n\n{text}".encode())


def maker(provenance: Mapping[str, Any]) -> str:
    """Who made a file of positions, and whose scores it has, in a few words. The file itself says more."""
    words = [str(provenance[name]) for name in ("program", "engine", "version") if name in provenance]
    scores = provenance.get("scores")
    if isinstance(scores, dict):
        words.append(f"scores of {scores.get('network') or scores.get('name')}")
    return ", ".join(words)


def facts_of(words: argparse.Namespace, job: Job, state: State) -> dict[str, Any]:
    """How the network was made, for the file beside it."""
    names = ("file", "positions", "games", "sha256", "mix", "weight")
    return {
        "command": command_text("scripts/train_network.py", words.command),
        "positions": [len(job.train), len(job.validation), len(job.test)],
        "scale_cp": round(job.plan.scale_cp, 2),
        "features": job.settings["features"],
        "epochs": state.epoch,
        "best_epoch": state.best_epoch,
        # Losses of the epochs.
        "history": dict(zip(("training", "validation"), map(list, zip(*state.history, strict=True)), strict=True)),
        "data": [
            {**{name: fact[name] for name in names}, "made_by": maker(fact["provenance"])} for fact in job.sources
        ],
    }


def report(words: argparse.Namespace, job: Job, state: State) -> None:
    """Write the network, and say what it is worth. Raises ProgramError, NetworkError, OSError."""
    network, scale_cp = TrainedNetwork(*state.best), job.plan.scale_cp
    parts = {"validation": job.batch.rows(job.validation), "test": job.batch.rows(job.test)}
    facts = facts_of(words, job, state)
    console = standard_output()
    rows = [[fact["file"], str(fact["positions"]), str(fact["games"])] for fact in job.sources]
    console.print(make_table("Files", ["file", "positions", "games"], rows))
    say(f"the best of {state.epoch} epochs was number {state.best_epoch}; scale {scale_cp:.1f} cp")
    if job.start is not None:
        share, network = best_mixture(job.start, network, parts["validation"], scale_cp)
        facts |= {"share": share, "start": job.start_facts}
        say(f"the best mixture of the start and this has a share of {share:.3f} of this")
    whole = quantised(network)
    losses = {}
    for name, part in parts.items():
        whole_cp = network_scores(whole, part.records, part.static_cp)
        # Of the features alone, with the network, and with that in whole numbers.
        losses[name] = [mean_loss(part, cp, scale_cp) for cp in (0.0, outputs(network, part), whole_cp)]
    write_network(words.output, whole, {**facts, "losses": losses})
    rows = [[name, *(f"{number:.6f}" for number in numbers)] for name, numbers in losses.items()]
    console.print(make_table("Loss", ["part", "features", "with the network", "in whole numbers"], rows))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    words.command = sys.argv[1:] if arguments is None else arguments

    def work() -> None:
        job = Job(words)
        report(words, job, train(words, job))

    return run_to_end(work, errors=(network_file.NetworkError,))


if __name__ == "__main__":
    run_program(main)
