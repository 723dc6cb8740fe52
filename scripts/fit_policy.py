#!/usr/bin/env python3
"""The policy of people, fitted to their games: its network, then the weights of its features.

    python scripts/fit_policy.py games.txt.gz

A line of the file is a game: source, time control, White's rating, Black's, result, and the moves in UCI notation,
separated by tabs. Whole games are held out for the measure, and others for the weights: there the network has not seen
the moves, so it gets no more weight than it deserves.

The network learns from all positions of its games, by Adam with a rate that falls to zero. The weights are fitted by
L-BFGS to positions drawn from their games. Both maximise the likelihood of the moves that were played. Move match is
how often the likeliest move is the one that was played.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numba
import numpy as np
import numpy.typing as npt
import tomli_w
from scipy.optimize import minimize

from evaluation.files import replace_file
from toolkit.console import (
    above_zero,
    at_least_one,
    make_table,
    note,
    run_program,
    share,
    show_progress,
    standard_output,
)
from toolkit.errors import ProgramError
from toolkit.files import unpack_text
from toolkit.pool import in_order
from toolkit.training.network import FIRST_DECAY, SECOND_DECAY, step
from toolkit.training.positions import command_text
from uci_engine.policy import policy
from uci_engine.policy.features import features_of
from uci_engine.policy.policy import HEAD, INPUTS, NETWORK, OUTPUTS, RATING_INPUTS, RATINGS, PolicyNetwork

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

FOLDER = Path(policy.__file__).parent
# Of twenty games one is held out, and two are for the weights.
PARTS = 20
HELD_OUT, FOR_WEIGHTS = (0,), (1, 2)
# The plies that are measured, and those from which the network learns.
FIRST_PLY, LAST_PLY = 12, 90
FIRST_LEARNT = 6
# Room for what the network reads of a position.
ACTIVE = 36
GAMES_IN_TASK = 100
# Adam, as for the network of the evaluation.
BATCH = 4096
RATE, DECAY = 0.004, 0.003
# The share of the hidden units that are off, by chance.
DROPOUT = 0.1
# Pulls the weights of features to zero.
RIDGE = 1e-4
BANDS = tuple((low, low + 200) for low in range(1000, 2000, 200))


@dataclass(frozen=True)
class Game:
    number: int
    ratings: tuple[int, int]  # Black's, White's
    moves: tuple[str, ...]


@dataclass(frozen=True)
class Moves:
    """Positions with their legal moves, those of one position in a row. Rows of `inputs` are filled up with INPUTS.

    `outputs`: of each move the rows of its three output weights. `features`: of each move, when they are known.
    `games`: the number of the game of each position.
    """

    inputs: Array
    counts: Array
    outputs: Array
    chosen: Array
    ratings: Array
    games: Array
    features: Floats

    @property
    def starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    def select(self, rows: Array) -> Moves:
        """The positions where `rows` is true."""
        moves = np.repeat(rows, self.counts)
        by_position = {name: getattr(self, name)[rows] for name in ("inputs", "counts", "chosen", "ratings", "games")}
        return Moves(**by_position, outputs=self.outputs[moves], features=self.features[moves])


def read_games(path: Path) -> list[Game]:
    games = []
    _, text = unpack_text(path, (".txt",))
    for number, line in enumerate(text.splitlines()):
        try:
            _, _, white, black, _, moves = line.split("\t")
            games.append(Game(number, (int(black), int(white)), tuple(moves.split())))
        except ValueError:
            raise ProgramError(f"line {number + 1} of {path} is no game") from None
    return games


# Positions ---------------------------------------------------------------------------------------------------------


@cache
def searcher() -> Any:
    """The searcher of this process."""
    from evaluation.network.file import default_network
    from uci_engine.core import load
    from uci_engine.search.thread_pool import ThreadPool

    return ThreadPool(load("compiled"), 1, default_network()).main


def positions_of(task: tuple[Sequence[Game], float, bool]) -> tuple[Moves, list[str]]:
    """A share of the positions of some games. Features are found if they are asked for, with their names."""
    games, part, with_features = task
    inputs: list[list[int]] = []
    outputs: list[tuple[int, int, int]] = []
    counts, chosen, ratings, numbers = [], [], [], []
    rows: list[tuple[int, int, float]] = []
    names: dict[str, int] = {}
    for game in games:
        board, drawn = chess.Board(), random.Random(game.number)
        for ply, text in enumerate(game.moves):
            move = board.parse_uci(text)
            if ply > LAST_PLY and with_features:
                break
            legal = policy.candidates(board)
            first = FIRST_PLY if with_features else FIRST_LEARNT
            if ply >= first and len(legal) > 1 and move in legal and drawn.random() < part:
                inputs.append((policy.active_inputs(board) + ACTIVE * [INPUTS])[:ACTIVE])
                if with_features:
                    searcher().begin(0)
                    found = policy.searched_scores(searcher(), board, legal)
                    for index, features in enumerate(features_of(board, legal, found), start=len(outputs)):
                        rows += [(index, names.setdefault(name, len(names)), value) for name, value in features.items()]
                outputs += [policy.output_rows(board, each) for each in legal]
                counts.append(len(legal))
                chosen.append(legal.index(move))
                ratings.append(game.ratings[board.turn])
                numbers.append(game.number)
            board.push(move)
    table = np.zeros((len(outputs), len(names)), np.float32)
    for row, column, value in rows:
        table[row, column] = value
    moves = Moves(
        np.array(inputs, np.uint16).reshape(-1, ACTIVE),
        np.array(counts, np.uint16),
        np.array(outputs, np.uint16).reshape(-1, 3),
        np.array(chosen, np.int64),
        np.array(ratings, np.int64),
        np.array(numbers, np.int64),
        table,
    )
    return moves, list(names)


def collect(
    what: str, games: Sequence[Game], part: float, workers: int, with_features: bool = False
) -> tuple[Moves, list[str]]:
    """The positions of games, by parallel processes, and the names of the features."""
    tasks = [
        (games[first : first + GAMES_IN_TASK], part, with_features) for first in range(0, len(games), GAMES_IN_TASK)
    ]
    found = []
    with show_progress(what, len(tasks)) as advance:
        for answer in in_order(positions_of, tasks, workers):
            found.append(answer)
            advance()
    names = sorted({name for _, each in found for name in each})
    tables = []
    for moves, own in found:
        table = np.zeros((len(moves.outputs), len(names)), np.float32)
        table[:, [names.index(name) for name in own]] = moves.features
        tables.append(table)
    columns: dict[str, Array] = {
        field: np.concatenate([getattr(moves, field) for moves, _ in found])
        for field in ("inputs", "counts", "outputs", "chosen", "ratings", "games")
    }
    return Moves(**columns, features=np.concatenate(tables)), names


def shares_of(ratings: Array) -> Floats:
    """Of each rating, as `policy.shares_of`."""
    different, places = np.unique(ratings, return_inverse=True)
    shares = np.array([policy.shares_of(rating) for rating in different], np.float32)
    return shares.reshape(-1, len(RATINGS))[places]


# The network ---------------------------------------------------------------------------------------------------------


@numba.njit(fastmath=True, nogil=True)
def _network_pass(
    first: Floats,
    second: Floats,
    first_gradient: Floats,
    second_gradient: Floats,
    inputs: Array,
    starts: Array,
    outputs: Array,
    chosen: Array,
    shares: Floats,
    rows: Array,
    logits: Floats,
    learns: bool,
) -> float:
    """The loss of some positions, added up. Adds their gradients if it learns, or else writes the logits of all moves.

    `rows`: the positions.
    """
    units, nodes = first.shape[1], shares.shape[1]
    width = units + nodes
    hidden, slope = np.empty(width, np.float32), np.empty(width, np.float32)
    loss = 0.0
    for index in range(len(rows)):
        row = rows[index]
        start, end = starts[row], starts[row + 1]
        hidden[:] = 0
        for each in inputs[row]:
            if each < RATING_INPUTS:
                for unit in range(units):
                    hidden[unit] += first[each, unit]
        for node in range(nodes):
            for unit in range(units):
                hidden[unit] += shares[index, node] * first[RATING_INPUTS + node, unit]
        for unit in range(units):
            is_off = hidden[unit] < 0 or (learns and np.random.random() < DROPOUT)
            hidden[unit] = 0 if is_off else hidden[unit] / np.float32(1 - DROPOUT if learns else 1)
        for node in range(nodes):
            hidden[units + node] = shares[index, node]
        highest = np.float32(-1e9)
        for move in range(start, end):
            total = np.float32(0)
            one, two, three = outputs[move]
            for unit in range(width):
                total += hidden[unit] * (second[one, unit] + second[two, unit] + second[three, unit])
            logits[move] = total
            highest = max(highest, total)
        powers = 0.0
        for move in range(start, end):
            powers += np.exp(logits[move] - highest)
        normed = highest + np.log(powers)
        loss += normed - logits[start + chosen[row]]
        if not learns:
            continue
        slope[:] = 0
        for move in range(start, end):
            error = np.float32(np.exp(logits[move] - normed) - (move - start == chosen[row]))
            if abs(error) < 1e-4:
                continue
            one, two, three = outputs[move]
            for unit in range(width):
                slope[unit] += error * (second[one, unit] + second[two, unit] + second[three, unit])
                change = error * hidden[unit]
                second_gradient[one, unit] += change
                second_gradient[two, unit] += change
                second_gradient[three, unit] += change
        for unit in range(units):
            slope[unit] = slope[unit] / np.float32(1 - DROPOUT) if hidden[unit] > 0 else 0
        for each in inputs[row]:
            if each < RATING_INPUTS:
                for unit in range(units):
                    first_gradient[each, unit] += slope[unit]
        for node in range(nodes):
            for unit in range(units):
                first_gradient[RATING_INPUTS + node, unit] += shares[index, node] * slope[unit]
    return loss


class TrainedNetwork:
    """The network in floating point: `first` has the input weights, `second` the output weights."""

    def __init__(self, units: int, seed: int) -> None:
        drawn = np.random.default_rng(seed)
        self.first = drawn.normal(0, 0.1, (INPUTS, units)).astype(np.float32)
        self.second = drawn.normal(0, 0.1, (OUTPUTS, units + len(RATINGS))).astype(np.float32)
        self.second[:, units:] = 0

    def train(self, moves: Moves, options: argparse.Namespace) -> None:
        """Learn from all positions, `options.epochs` times, each time in another order."""
        drawn = np.random.default_rng(options.seed)
        starts, shares, weights = moves.starts, shares_of(moves.ratings), (self.first, self.second)
        scratch = np.empty(len(moves.outputs), np.float32)
        gradients = [[np.zeros_like(each) for each in weights] for _ in range(options.concurrency)]
        moments = [[np.zeros(each.size, np.float32) for each in weights] for _ in range(2)]
        steps = round(options.epochs * len(moves.counts) / BATCH)
        order = np.empty(0, np.int64)
        with ThreadPoolExecutor(options.concurrency) as threads, show_progress("steps", steps) as advance:
            for number in range(1, steps + 1):
                if len(order) < BATCH:
                    order = drawn.permutation(len(moves.counts))
                batch, order = np.sort(order[:BATCH]), order[BATCH:]

                def learn(part: int, rows: Array = batch) -> float:
                    own = rows[part :: options.concurrency]
                    gradient = gradients[part]
                    found: float = _network_pass(
                        self.first, self.second, gradient[0], gradient[1], moves.inputs, starts, moves.outputs,
                        moves.chosen, shares[own], own, scratch, True,
                    )  # fmt: skip
                    return found

                loss = sum(threads.map(learn, range(options.concurrency))) / BATCH
                rate = RATE * (1 - (number - 1) / steps)
                adam = (rate, DECAY, 1 - FIRST_DECAY**number, 1 - SECOND_DECAY**number)
                for index, each in enumerate(weights):
                    gradient = sum(own[index] for own in gradients) / np.float32(BATCH)
                    for own in gradients:
                        own[index][:] = 0
                    step(each.reshape(-1), moments[0][index], moments[1][index], gradient.reshape(-1), adam)
                advance(text=f"loss {loss:.3f}")

    def logarithms(self, moves: Moves) -> Floats:
        """The logarithm of what the network gives each move, normed within its position."""
        logits, starts = np.empty(len(moves.outputs), np.float32), moves.starts
        _network_pass(
            self.first, self.second, self.first, self.second, moves.inputs, starts, moves.outputs, moves.chosen,
            shares_of(moves.ratings), np.arange(len(moves.counts)), logits, False,
        )  # fmt: skip
        sums = np.log(np.add.reduceat(np.exp(logits), starts[:-1]))
        normed: Floats = logits - np.repeat(sums, moves.counts)
        return normed

    def rounded(self) -> PolicyNetwork:
        """The network in whole numbers of 16 bits, as the engine reads it."""
        hidden_scale, output_scale = (float(np.abs(each).max()) / 32767 for each in (self.first, self.second))
        whole = [
            np.round(each / scale).astype(np.int16)
            for each, scale in ((self.first, hidden_scale), (self.second, output_scale))
        ]
        # So the rounding is that of the engine, too.
        self.first, self.second = (
            (each * scale).astype(np.float32) for each, scale in zip(whole, (hidden_scale, output_scale), strict=True)
        )
        return PolicyNetwork.of(whole[0].tobytes() + whole[1].tobytes(), hidden_scale, output_scale)


# The weights ---------------------------------------------------------------------------------------------------------


@numba.njit(fastmath=True, nogil=True)
def _weights_pass(
    weights: Array, gradient: Array, features: Floats, starts: Array, chosen: Array, shares: Floats, hits: Array
) -> float:
    """The loss of all positions, added up, with its gradient. `hits`: whether the likeliest move was played."""
    nodes, width = weights.shape
    mixed, slope = np.empty(width), np.empty(width)
    logits = np.empty(256)
    loss = 0.0
    for row in range(len(chosen)):
        start, count = starts[row], starts[row + 1] - starts[row]
        mixed[:] = 0
        for node in range(nodes):
            mixed += shares[row, node] * weights[node]
        for move in range(count):
            total = 0.0
            for each in range(width):
                total += features[start + move, each] * mixed[each]
            logits[move] = total
        highest = logits[:count].max()
        normed = highest + np.log(np.exp(logits[:count] - highest).sum())
        loss += normed - logits[chosen[row]]
        hits[row] = logits[:count].argmax() == chosen[row]
        slope[:] = 0
        for move in range(count):
            error = np.exp(logits[move] - normed) - (move == chosen[row])
            for each in range(width):
                slope[each] += error * features[start + move, each]
        for node in range(nodes):
            gradient[node] += shares[row, node] * slope
    return loss


def fit_weights(moves: Moves) -> Array:
    """The weights of all features, by RATINGS in rows."""
    scale = moves.features.std(axis=0) + 1e-3
    features, starts, shares = moves.features / scale, moves.starts, shares_of(moves.ratings)
    shape, count = (len(RATINGS), features.shape[1]), len(moves.counts)

    def loss(flat: Array) -> tuple[float, Array]:
        weights, gradient = flat.reshape(shape), np.zeros(shape)
        total = _weights_pass(weights, gradient, features, starts, moves.chosen, shares, np.empty(count))
        return total / count + RIDGE * float((weights**2).sum()), (gradient / count + 2 * RIDGE * weights).ravel()

    start = np.zeros(shape[0] * shape[1])
    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    weights: Array = found.reshape(shape) / scale
    return weights


def measured(weights: Array, moves: Moves) -> Iterator[tuple[str, str, str, str]]:
    """By ratings: the positions, the log loss, and the move match in percent."""
    for low, high in (*BANDS, (0, 4000)):
        some = moves.select((moves.ratings >= low) & (moves.ratings < high))
        count = len(some.counts)
        if count:
            hits, nothing = np.empty(count), np.zeros_like(weights)
            shares = shares_of(some.ratings)
            loss = _weights_pass(weights, nothing, some.features, some.starts, some.chosen, shares, hits) / count
            match = f"{100 * hits.mean():.1f} ± {100 * hits.std() / np.sqrt(count):.1f}"
            yield f"{low} to {high}" if low else "all", str(count), f"{loss:.4f}", match


# The program ---------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="a gzip file of games")
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder of weights.toml and people.network")
    parser.add_argument("--units", type=at_least_one, default=160, help="hidden units (default 160)")
    parser.add_argument("--epochs", type=above_zero, default=5.0, help="of the network (default 5)")
    parser.add_argument("--share", type=share, default=0.4, help="of the positions for the weights (default 0.4)")
    parser.add_argument("--limit", type=at_least_one, help="so many games alone")
    parser.add_argument("--concurrency", type=at_least_one, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="of the network and the order (default 1)")
    options = parser.parse_args(arguments)
    options.command = sys.argv[1:] if arguments is None else arguments
    games = read_games(options.games)[: options.limit]
    apart = [game for game in games if game.number % PARTS in (*HELD_OUT, *FOR_WEIGHTS)]
    rest = [game for game in games if game.number % PARTS not in (*HELD_OUT, *FOR_WEIGHTS)]
    if not (rest and apart):
        raise ProgramError("there are too few games")
    learnt, _ = collect("games for the network", rest, 1.0, options.concurrency)
    note(f"the network learns from {len(learnt.counts)} positions")
    network = TrainedNetwork(options.units, options.seed)
    network.train(learnt, options)
    rounded = network.rounded()
    seen, names = collect("games for the weights", apart, options.share, options.concurrency, True)
    seen = replace(seen, features=np.column_stack([seen.features, network.logarithms(seen)]))
    is_held = np.isin(seen.games % PARTS, HELD_OUT)
    weights = fit_weights(seen.select(~is_held))
    rows = measured(weights, seen.select(is_held))
    standard_output().print(make_table("held-out games", ("rating", "positions", "log loss", "move match"), rows))
    write(options, rounded, dict(zip([*names, NETWORK], weights.T, strict=True)))
    return 0


def write(options: argparse.Namespace, network: PolicyNetwork, weights: dict[str, Array]) -> None:
    options.output.mkdir(parents=True, exist_ok=True)
    head = HEAD.pack(network.hidden_scale, network.output_scale)
    replace_file(options.output / "people.network", head + network.inputs.tobytes() + network.outputs.tobytes())
    ratings = ", ".join(map(str, RATINGS))
    data = {
        "provenance": {
            "games": options.games.name,
            "command": command_text("scripts/fit_policy.py", options.command),
        },
        "weights": {name: " ".join(f"{each:.4f}" for each in row) for name, row in sorted(weights.items())},
    }
    text = f"# The weights of the policy at {ratings}, by scripts/fit_policy.py.\n\n{tomli_w.dumps(data)}"
    replace_file(options.output / "weights.toml", text.encode())


if __name__ == "__main__":
    run_program(main)
