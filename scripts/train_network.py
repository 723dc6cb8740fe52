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
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from matplotlib.figure import Figure

from evaluation.files import replaced
from evaluation.network import file as engine
from evaluation.network.file import NetworkError
from evaluation.network.shape import BUCKETS, UNITS
from evaluation.weights import Weights, WeightsError, default_weights
from toolkit.console import (
    above_zero,
    at_least_one,
    at_least_zero,
    make_table,
    new_file,
    not_negative,
    run_program,
    run_to_end,
    say,
    show_progress,
    standard_output,
    three_shares,
    write_json,
)
from toolkit.errors import ProgramError
from toolkit.training.examples import Choice, command_text, fit_scale
from toolkit.training.network_data import (
    SOURCE_SYNTAX,
    Cache,
    features_digest,
    network_scores,
    parse_source,
    read_examples,
)
from toolkit.training.network_fit import (
    BLOCK,
    Fit,
    Plan,
    State,
    best_mixture,
    load_checkpoint,
    mean_loss,
    new_state,
    save_checkpoint,
)
from toolkit.training.network_model import Batch, Loss, Network, floating, new_network, outputs, quantised
from toolkit.training.positions import split_rows

NETWORK_SUFFIX = ".network"
CACHE = Path(__file__).resolve().parents[1] / ".selfplay" / "network"
# The scale of the evaluation is fitted to about so many.
SCALE_POSITIONS = 4_000_000
FEATURES, WITH_NETWORK, QUANTISED = "features", "with the network", "in whole numbers"


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
    data.add_argument("--weights", type=Path, metavar="FILE", help="of the features (those of the engine)")
    data.add_argument("--cache", type=Path, default=CACHE, metavar="FOLDER", help="(.selfplay/network)")
    fit = parser.add_argument_group("training")
    fit.add_argument("--start", type=Path, metavar="FILE", help="go on from this network, then mix both")
    fit.add_argument("--scale", type=above_zero, metavar="CP", help="of the evaluation (that of the features)")
    fit.add_argument("--power", type=above_zero, default=2.0, metavar="N", help="of the error in the loss (2)")
    fit.add_argument("--epochs", type=at_least_one, default=20, metavar="N", help="(20)")
    fit.add_argument("--patience", type=at_least_one, default=6, metavar="N", help="epochs without gain (6)")
    fit.add_argument("--batch", type=at_least_one, default=8192, metavar="N", help="positions (8192)")
    fit.add_argument("--rate", type=above_zero, default=0.002, metavar="N", help="the largest step (0.002)")
    fit.add_argument("--decay", type=not_negative, default=0.01, metavar="N", help="of parameters, by the step (0.01)")
    fit.add_argument("--seed", type=int, default=0)
    fit.add_argument("--threads", type=at_least_one, default=1, metavar="N", help="(1)")
    fit.add_argument("--checkpoint", type=new_file, metavar="FILE", help="what --resume needs")
    fit.add_argument("--resume", action="store_true", help="go on from the checkpoint, if there is one")
    report = parser.add_argument_group("report")
    report.add_argument("--json", type=new_file, metavar="FILE", help="write the results")
    report.add_argument("--curve", type=new_file, metavar="FILE", help="draw the losses of the epochs (.png, .svg)")
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


class Start:
    """A network to go on from, and what the file .toml beside it says of it."""

    def __init__(self, path: Path) -> None:
        """Raises NetworkError, ProgramError, OSError."""
        network = engine.Network.load(path)
        self.network = floating(network)
        self.sha256 = hashlib.sha256(network.pack()).hexdigest()
        beside = path.with_suffix(".toml")
        try:
            self.facts: dict[str, Any] = tomllib.loads(beside.read_text("utf-8")) if beside.exists() else {}
        except ValueError as error:
            raise ProgramError(f"{beside} is no TOML: {error}") from None

    def as_facts(self) -> dict[str, Any]:
        """For the file beside the new network."""
        kept: dict[str, Any] = {
            name: self.facts[name] for name in ("command", "positions", "data") if name in self.facts
        }
        return {"sha256": self.sha256, **kept}


class Job:
    """All that a run needs, read and checked."""

    def __init__(self, words: argparse.Namespace) -> None:
        """Raises ProgramError, WeightsError, OSError."""
        weights = Weights.load(words.weights) if words.weights else default_weights()
        self.start = Start(words.start) if words.start else None
        cache = Cache(words.cache)
        choice = Choice(words.max_score, limit=words.positions)
        self.examples = read_examples(
            [parse_source(text) for text in words.files], choice, weights, cache, words.threads
        )
        self.train, self.validation, self.test = split_rows(
            self.examples.games, words.parts, np.random.default_rng(words.seed)
        )
        batch = self.examples.batch
        some = self.train[:: -(-len(self.train) // SCALE_POSITIONS)]
        scale_cp = words.scale or fit_scale(
            batch.static_cp[some].astype(np.float64), batch.expected[some].astype(np.float64)
        )
        self.plan = Plan(
            scale_cp,
            words.power,
            words.epochs,
            words.patience,
            words.rate,
            words.decay,
            words.batch,
            words.seed,
            words.threads,
        )
        self.settings = {
            "sources": [dict(fact) for fact in self.examples.sources],
            "choice": asdict(choice),
            "parts": words.parts,
            "plan": asdict(self.plan),
            "features": features_digest(weights),
            "start": self.start.sha256 if self.start else None,
        }

    def first_network(self) -> Network:
        """Where the run begins."""
        return self.start.network if self.start else new_network(UNITS, BUCKETS, self.plan.seed)


def train(words: argparse.Namespace, job: Job) -> State:
    """The run, with its checkpoints. Raises ProgramError, OSError."""
    state = new_state(job.first_network().arrays())
    if words.resume and words.checkpoint.exists():
        state = load_checkpoint(words.checkpoint, job.settings, state)
    fit = Fit(job.examples.batch, job.train, job.validation, job.plan, state)
    with show_progress("positions", job.plan.epochs * len(job.train), state.epoch * len(job.train)) as advance:

        def after_epoch(state: State) -> None:
            train_loss, validation = state.history[-1]
            advance(0, f"epoch {state.epoch}: {train_loss:.6f}, validation {validation:.6f}")
            if words.checkpoint is not None:
                save_checkpoint(words.checkpoint, state, job.settings)

        return fit.run(after_epoch, advance)


def losses(batch: Batch, network: Network, whole: engine.Network, loss: Loss) -> dict[str, float]:
    """The mean loss a position of the features alone and of both networks."""
    each = loss.of(batch.static_cp + network_scores(whole, batch.records, batch.static_cp), batch.expected)
    return {
        FEATURES: mean_loss(None, batch, loss),
        WITH_NETWORK: mean_loss(network, batch, loss),
        QUANTISED: float(np.average(each, weights=batch.weight)),
    }


def write_network(path: Path, whole: engine.Network, facts: Mapping[str, Any]) -> None:
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


def draw_losses(path: Path, history: Sequence[tuple[float, float]]) -> None:
    """A picture of the losses after each epoch, in the format of its name. Raises ProgramError, OSError."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    epochs = range(1, len(history) + 1)
    for name, losses in zip(("training", "validation"), zip(*history, strict=True), strict=True):
        axes.plot(epochs, losses, marker=".", label=name)
    axes.set(xlabel="epoch", ylabel="loss a position")
    axes.grid(alpha=0.3)
    axes.legend()
    try:
        figure.savefig(path)
    except ValueError as error:
        raise ProgramError(f"{path}: {error}") from None


def facts_of(
    words: argparse.Namespace, job: Job, state: State, found: Mapping[str, Mapping[str, float]], rounding_cp: float
) -> dict[str, Any]:
    """How the network was made, for the file beside it. found: the losses of each part."""
    data = [
        {
            **{name: fact[name] for name in ("file", "positions", "games", "sha256", "mix", "weight")},
            "made_by": maker(fact["provenance"]),
        }
        for fact in job.examples.sources
    ]
    return {
        "command": command_text("scripts/train_network.py", words.command),
        "positions": [len(job.train), len(job.validation), len(job.test)],
        "scale_cp": round(job.plan.scale_cp, 2),
        "features": job.settings["features"],
        "epochs": state.epoch,
        "best_epoch": state.best_epoch,
        "rounding_error_cp": round(rounding_cp, 2),
        # Of the features, with the network, and with that in whole numbers.
        "losses": {name: list(each.values()) for name, each in found.items()},
        "data": data,
    }


def report(words: argparse.Namespace, job: Job, state: State) -> None:
    """Write the network, and say what it is worth. Raises ProgramError, NetworkError, OSError."""
    network = Network(*state.best)
    batch, loss = job.examples.batch, job.plan.loss
    parts = {"validation": batch.rows(job.validation), "test": batch.rows(job.test)}
    started: dict[str, Any] = {}
    if job.start is not None:
        share, network = best_mixture(job.start.network, network, parts["validation"], loss)
        started = {"share": share, "start": job.start.as_facts()}
    whole = quantised(network)
    found = {name: losses(part, network, whole, loss) for name, part in parts.items()}
    # What rounding to whole numbers does to the outputs.
    test = parts["test"]
    exact = outputs(network, test)
    difference = network_scores(whole, test.records, test.static_cp) - exact
    network_cp, rounding_cp = (float(np.sqrt(np.mean(each**2))) for each in (exact, difference))
    facts = {**facts_of(words, job, state, found, rounding_cp), **started}
    write_network(words.output, whole, facts)
    console = standard_output()
    rows = [[fact["file"], str(fact["positions"]), str(fact["games"])] for fact in job.examples.sources]
    console.print(make_table("Files", ["file", "positions", "games"], rows))
    say(f"the best of {state.epoch} epochs was number {state.best_epoch}; scale {job.plan.scale_cp:.1f} cp")
    if started:
        say(f"the best mixture of the start and this has a share of {started['share']:.3f} of this")
    names = (FEATURES, WITH_NETWORK, QUANTISED)
    rows = [[part, *(f"{each[name]:.6f}" for name in names)] for part, each in found.items()]
    console.print(make_table("Loss", ["part", *names], rows))
    say(
        f"outputs are {network_cp:.1f} cp (root mean square); "
        f"whole numbers change them by {rounding_cp:.2f} cp, at most {np.abs(difference).max():.1f} cp"
    )
    if words.json is not None:
        write_json(words.json, {**facts, "history": state.history})
    if words.curve is not None:
        draw_losses(words.curve, state.history)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    words.command = sys.argv[1:] if arguments is None else arguments

    def work() -> None:
        job = Job(words)
        report(words, job, train(words, job))

    return run_to_end(work, errors=(NetworkError, WeightsError))


if __name__ == "__main__":
    run_program(main)
