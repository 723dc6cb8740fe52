#!/usr/bin/env python3
"""The policy of people, fitted to their games: its network, then the weights of its features; their opening moves.

    python scripts/fit_policy.py games.txt.gz
    python scripts/fit_policy.py games.txt.gz --openings

A line of the file is a game: source, time control, White's rating, Black's, result, and the moves in UCI notation,
separated by tabs. Whole games are held out for the measure, and others for the weights: there the network has not seen
the moves, so it gets no more weight than it deserves.

The network learns from all positions of its games, by PyTorch. The weights are fitted by L-BFGS to positions drawn from
their games, with the network as the engine has it. Both maximise the likelihood of the moves that were played. Move
match is how often the likeliest move is the one that was played.

With --openings the policy stays, and the opening moves in the games of the network are counted. What both give
together is measured on the held-out games; on those for the weights, how much the policy should count.
"""

from __future__ import annotations

import argparse
import gzip
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import chess.polyglot
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
from toolkit.training.positions import command_text
from uci_engine.core import instructions
from uci_engine.policy import openings, policy
from uci_engine.policy.convolution import CHANNELS, LAYERS, MAX_CHANNEL, ONE, VECTOR, ConvolutionWeights
from uci_engine.policy.features import Features
from uci_engine.policy.policy import CASTLING, PLANES, RATINGS, READ

if TYPE_CHECKING:
    from uci_engine.search.thread_pool import ThreadPool

try:
    import torch
except ImportError:
    torch = None

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

FOLDER, NETWORK_FILE = Path(policy.__file__).parent, "people.network"
# Of twenty games one is held out, and two are for the weights.
PARTS = 20
HELD_OUT, FOR_WEIGHTS = (0,), (1, 2)
# The plies to which the weights are fitted, those from which the network learns, and those of the opening.
PLIES, LEARNT_PLIES, OPENING_PLIES = range(12, 91), range(6, sys.maxsize), range(12)
# Opening moves are counted in positions of so many games, where they were played so often.
LEAST_GAMES, LEAST_PLAYED = 15, 3
# As how many games the policy may count beside them.
ALONE, TIMES = "alone", (4, 8, 16, 32, 64)
# The positions of players below LOW are the fewest, and their moves the hardest to foresee: they count LOW_TIMES.
LOW, LOW_TIMES = 1250, 3
GAMES_IN_TASK = 100
# AdamW with one cycle of the rate: up during WARM_UP of the steps, then down to zero.
BATCH = 1024
RATE, DECAY, WARM_UP = 0.005, 1e-4, 0.05
# Pulls the weights of features to zero, and to the line between those of the ratings beside them.
RIDGE, SMOOTH = 1e-4, 0.02
BANDS = tuple((low, low + 200) for low in range(1000, 2000, 200))
# The bounds of given probabilities.
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)


@dataclass(frozen=True)
class Game:
    number: int
    ratings: tuple[int, int]  # Black's, White's
    moves: tuple[str, ...]


@dataclass(frozen=True)
class Moves:
    """Positions with their legal moves, those of one position in a row.

    `planes`: of each position what the network reads. `squares`: of each move 64 times where it comes from and where
    it goes. `features`: of each move, when they are known. `games`: the number of the game of each position.
    """

    planes: Array
    counts: Array
    squares: Array
    chosen: Array
    ratings: Array
    games: Array
    features: Floats

    @cached_property
    def starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    @property
    def played(self) -> Array:
        """The places of the moves that were played."""
        found: Array = self.starts[:-1] + self.chosen
        return found

    def select(self, rows: Array) -> Moves:
        """The positions where `rows` is true."""
        moves = np.repeat(rows, self.counts)
        by_position = {name: getattr(self, name)[rows] for name in ("planes", "counts", "chosen", "ratings", "games")}
        return Moves(**by_position, squares=self.squares[moves], features=self.features[moves])


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
def own_pool() -> ThreadPool:
    """The searcher of this process, as `UciEngine.human` has one."""
    from evaluation.network.file import default_network
    from uci_engine.core import load
    from uci_engine.search.thread_pool import ThreadPool

    return ThreadPool(load("compiled"), 1, default_network())


def opening_features(
    table: dict[str, str], board: chess.Board, legal: list[chess.Move], found: list[list[int]], rating: int
) -> list[Features]:
    """What the policy of the package gives moves, alone and beside the games of a table. As `all_features`."""
    shares = policy.default_policy().probabilities(board, legal, found, rating)
    games = openings.games_of(board, legal, policy.shares_of(rating), table)
    given = {ALONE: shares, **{str(times): openings.with_games(shares, games, times) for times in TIMES}}
    return [dict(zip(given, each, strict=True)) for each in zip(*given.values(), strict=True)]


def positions_of(task: tuple[Sequence[Game], float, range, bytes | None]) -> tuple[Moves, list[str]]:
    """A share of the positions of some games at some plies. With a file features are found, with their names."""
    games, part, plies, file = task
    see: Callable[..., list[Features]] | None = None
    if file and plies == OPENING_PLIES:
        see = partial(opening_features, openings.unpacked(file))
    elif file:
        see = partial(policy.all_features, ConvolutionWeights(file))
    planes: list[list[int]] = []
    squares: list[int] = []
    counts, chosen, ratings, numbers = [], [], [], []
    rows: list[tuple[int, int, float]] = []
    names: dict[str, int] = {}
    for game in games:
        board, drawn = chess.Board(), random.Random(game.number)
        for ply, text in enumerate(game.moves[: plies.stop]):
            move = board.parse_uci(text)
            legal = policy.candidates(board)
            rating = game.ratings[board.turn]
            times = LOW_TIMES if rating < LOW else 1
            if ply in plies and len(legal) > 1 and move in legal and drawn.random() < part * times:
                planes.append(policy.planes(board))
                if see:
                    own_pool().clear()
                    own_pool().main.begin(0)
                    found = policy.searched_scores(own_pool().main, board, legal)
                    for index, features in enumerate(see(board, legal, found, rating), start=len(squares)):
                        rows += [(index, names.setdefault(name, len(names)), value) for name, value in features.items()]
                squares += [64 * start + end for start, end in policy.squares_of(board, legal)]
                counts.append(len(legal))
                chosen.append(legal.index(move))
                ratings.append(rating)
                numbers.append(game.number)
            board.push(move)
    table = np.zeros((len(squares), len(names)), np.float32)
    for row, column, value in rows:
        table[row, column] = value
    moves = Moves(
        np.array(planes, np.uint64).reshape(-1, PLANES),
        np.array(counts, np.int64),
        np.array(squares, np.uint16),
        np.array(chosen, np.int64),
        np.array(ratings, np.int64),
        np.array(numbers, np.int64),
        table,
    )
    return moves, list(names)


def collect(
    what: str, games: Sequence[Game], part: float, workers: int, plies: range, file: bytes | None = None
) -> tuple[Moves, list[str]]:
    """The positions of games, by parallel processes, and the names of the features."""
    tasks = [(games[first : first + GAMES_IN_TASK], part, plies, file) for first in range(0, len(games), GAMES_IN_TASK)]
    found = []
    with show_progress(what, len(tasks)) as advance:
        for answer in in_order(positions_of, tasks, workers):
            found.append(answer)
            advance()
    names = sorted({name for _, each in found for name in each})
    tables = []
    for moves, own in found:
        table = np.zeros((len(moves.squares), len(names)), np.float32)
        table[:, [names.index(name) for name in own]] = moves.features
        tables.append(table)
    columns: dict[str, Array] = {
        field: np.concatenate([getattr(moves, field) for moves, _ in found])
        for field in ("planes", "counts", "squares", "chosen", "ratings", "games")
    }
    return Moves(**columns, features=np.concatenate(tables)), names


def shares_of(ratings: Array) -> Floats:
    """Of each rating, as `policy.shares_of`."""
    different, places = np.unique(ratings, return_inverse=True)
    shares = np.array([policy.shares_of(rating) for rating in different], np.float32)
    return shares.reshape(-1, len(RATINGS))[places]


# The network ---------------------------------------------------------------------------------------------------------


class TrainedNetwork:
    """The network of `policy.convolution` in floating point, with batch normalisation behind each convolution."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        nn, inputs = torch.nn, [READ, *[CHANNELS] * (LAYERS - 1)]
        self.layers = nn.ModuleList([nn.Conv2d(each, CHANNELS, 3, padding=1, bias=False) for each in inputs])
        self.norms = nn.ModuleList([nn.BatchNorm2d(CHANNELS) for _ in inputs])
        self.vectors = nn.Conv2d(CHANNELS, 2 * VECTOR, 1)
        self.all = nn.ModuleList([self.layers, self.norms, self.vectors]).to(memory_format=torch.channels_last)

    def scores(self, planes: Any, squares: Any) -> Any:
        """The scores of moves; of each position as many."""
        board = self._layer(0, planes, 0)
        for layer in range(1, LAYERS, 2):
            board = self._layer(layer + 1, self._layer(layer, board, 0), board)
        leaves, enters = self.vectors(board).flatten(2).split(VECTOR, 1)
        return (leaves.transpose(1, 2) @ enters).flatten(1).gather(1, squares)

    def _layer(self, layer: int, board: Any, added: Any) -> Any:
        board = self.norms[layer](self.layers[layer](board)) + added
        # As `clamp`, whose gradient takes three times as long.
        return torch.nn.functional.hardtanh(board, 0.0, MAX_CHANNEL / ONE)

    def loss(self, batch: tuple[Any, ...]) -> Any:
        """The loss of positions by `batch_of`."""
        planes, squares, is_move, chosen = batch
        # Numbers of 16 bits where the processor computes with them.
        is_half = "avx512_bf16" in (instructions() or ())
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_half):
            scores = self.scores(planes, squares)
        return torch.nn.functional.cross_entropy(scores.float().masked_fill(~is_move, -torch.inf), chosen)

    def train(self, moves: Moves, options: argparse.Namespace) -> None:
        """Learn from all positions, `options.epochs` times, each time in another order."""
        torch.set_num_threads(options.concurrency)
        rows_in_turn = np.repeat(np.arange(len(moves.counts)), np.where(moves.ratings < LOW, LOW_TIMES, 1))
        drawn, steps = np.random.default_rng(options.seed), round(options.epochs * len(rows_in_turn) / BATCH)
        optimizer = torch.optim.AdamW(self.all.parameters(), RATE, (0.9, 0.99), weight_decay=DECAY)
        rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps + 1, pct_start=WARM_UP)
        order = np.concatenate([drawn.permutation(rows_in_turn) for _ in range(math.ceil(options.epochs) + 1)])

        def batch(step: int) -> tuple[Any, ...]:
            rows = np.sort(order[step * BATCH : (step + 1) * BATCH])
            return batch_of(moves, rows, drawn.random(len(rows)) < 0.5)

        with ThreadPoolExecutor(1) as thread, show_progress("steps", steps) as advance:
            following = thread.submit(batch, 0)
            for step in range(1, steps + 1):
                ready, following = following.result(), thread.submit(batch, step)
                loss = self.loss(ready)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                rates.step()
                advance(text=f"loss {loss.item():.3f}")
        self.all.eval()

    def packed(self) -> bytes:
        """The file of the network, in whole numbers. Batch normalisation is part of its weights and biases."""
        weights, biases = [], []
        for layer, norm in zip(self.layers, self.norms, strict=True):
            factor = norm.weight / (norm.running_var + norm.eps).sqrt()
            weight = (layer.weight * factor[:, None, None, None]).permute(0, 2, 3, 1)
            weights.append(torch.nn.functional.pad(weight, (0, CHANNELS - weight.shape[3])))
            biases.append(norm.bias - norm.running_mean * factor)
        weights.append(self.vectors.weight.permute(0, 2, 3, 1))
        biases.append(self.vectors.bias)
        shifts, whole = [], []
        for weight in weights:
            numbers = weight.detach().numpy().reshape(len(weight), -1).astype(float)
            # Invariant: neither a number of 16 bits overflows nor a sum of 32, whatever a position holds.
            largest = max(np.abs(numbers).max() / 32767, np.abs(numbers).sum(axis=1).max() * MAX_CHANNEL / 2**30)
            shifts.append(min(15, math.floor(-math.log2(largest))))
            whole.append(np.round(numbers * 2.0 ** shifts[-1]).astype("<i2").tobytes())
        # The engine rounds sums down, so half a unit is added.
        rounded = [np.round(each.detach().numpy() * ONE + 0.5).clip(-32767, 32767).astype("<i2") for each in biases]
        return bytes(shifts) + b"".join(each.tobytes() for each in rounded) + b"".join(whole)


def batch_of(moves: Moves, rows: Array, mirrored: Array) -> tuple[Any, ...]:
    """Some positions as the network reads them: planes, the squares of moves, which are moves, and the chosen ones.

    Where `mirrored` is true and nobody may castle, king's side and queen's side are exchanged.
    """
    count, most = len(rows), int(moves.counts[rows].max())
    bits = np.unpackbits(moves.planes[rows].astype("<u8").view(np.uint8), bitorder="little")
    planes = np.ones((count, READ, 64), np.float32)
    planes[:, :PLANES] = bits.reshape(count, PLANES, 64)
    planes[:, PLANES:-1] = shares_of(moves.ratings[rows])[:, :, None]
    is_move = np.arange(most) < moves.counts[rows][:, None]
    squares = moves.squares[np.where(is_move, moves.starts[rows][:, None] + np.arange(most), 0)].astype(np.int64)
    boards = planes.reshape(count, READ, 8, 8)
    mirrored = mirrored & (moves.planes[rows, CASTLING] == 0)
    boards[mirrored] = boards[mirrored][..., ::-1]
    squares[mirrored] ^= 7 * 64 + 7
    arrays = (squares, is_move, moves.chosen[rows])
    read = torch.from_numpy(boards).contiguous(memory_format=torch.channels_last)
    return read, *map(torch.from_numpy, arrays)


# The weights ---------------------------------------------------------------------------------------------------------


def probabilities(weights: Array, features: Floats, moves: Moves, shares: Floats) -> Array:
    """What the policy gives each move. `shares`: of the rating, for each move."""
    logits, starts = ((features @ weights.T) * shares).sum(axis=1), moves.starts[:-1]
    powers = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), moves.counts))
    given: Array = powers / np.repeat(np.add.reduceat(powers, starts), moves.counts)
    return given


def fit_weights(moves: Moves) -> Array:
    """The weights of all features, by RATINGS in rows."""
    scale = moves.features.std(axis=0) + np.float32(1e-3)
    features, shares = moves.features / scale, np.repeat(shares_of(moves.ratings), moves.counts, axis=0)
    shape, count = (len(RATINGS), features.shape[1]), len(moves.counts)
    bend = np.diff(np.eye(len(RATINGS)), 2, axis=0)
    pull = RIDGE * np.eye(len(RATINGS)) + SMOOTH * bend.T @ bend

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        given = probabilities(weights.astype(np.float32), features, moves, shares)
        total = -np.log(given[moves.played]).sum()
        given[moves.played] -= 1
        gradient = (given[:, None] * shares).T @ features
        pulled = pull @ weights
        return total / count + float((weights * pulled).sum()), (gradient / count + 2 * pulled).ravel()

    start = np.zeros(shape[0] * shape[1])
    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    weights: Array = found.reshape(shape) / scale
    return weights


def measured(given: Array, moves: Moves) -> Iterator[tuple[str, ...]]:
    """By rating: the positions, the log loss, and the move match in percent. `given`: by `probabilities`."""
    chosen = given[moves.played]
    hits = 100.0 * (chosen == np.maximum.reduceat(given, moves.starts[:-1]))
    for low, high in (*BANDS, (0, 4000)):
        rows = (moves.ratings >= low) & (moves.ratings < high)
        if count := int(rows.sum()):
            match = f"{hits[rows].mean():.1f} ± {hits[rows].std() / np.sqrt(count):.1f}"
            yield f"{low} to {high}" if low else "all", str(count), f"{-np.log(chosen[rows]).mean():.4f}", match


def reliability(given: Array, moves: Moves) -> Iterator[tuple[str, ...]]:
    """By rating and probability: the moves, the mean that was given, and the share that was played, in percent."""
    played = np.zeros(len(given))
    played[moves.played] = 1
    ratings, places = np.repeat(moves.ratings, moves.counts), np.digitize(given, BINS[1:-1])
    for low, high in (*pairwise(RATINGS), (0, 4000)):
        for place, (least, most) in enumerate(pairwise(BINS)):
            rows = (ratings >= low) & (ratings < high) & (places == place)
            if count := int(rows.sum()):
                share, error = 100 * played[rows].mean(), 196 * played[rows].std() / np.sqrt(count)
                band, part = f"{low} to {high}" if low else "all", f"{100 * least:.0f} to {100 * most:.0f}"
                yield band, part, str(count), f"{100 * given[rows].mean():.1f}", f"{share:.1f} ± {error:.1f}"


# The opening moves ---------------------------------------------------------------------------------------------------


def count_openings(games: Sequence[Game]) -> bytes:
    """The file that `openings` reads."""
    played: Counter[tuple[int, str, int]] = Counter()
    for game in games:
        board, nodes = chess.Board(), [int(np.argmax(policy.shares_of(rating))) for rating in game.ratings]
        for text in game.moves[: OPENING_PLIES.stop]:
            played[chess.polyglot.zobrist_hash(board), text, nodes[board.turn]] += 1
            board.push_uci(text)
    positions: dict[int, dict[str, list[int]]] = {}
    for (key, text, node), count in sorted(played.items()):
        positions.setdefault(key, {}).setdefault(text, [0] * len(RATINGS))[node] = count
    rows = []
    for key, moves in positions.items():
        often = {text: counts for text, counts in moves.items() if sum(counts) >= LEAST_PLAYED}
        if sum(map(sum, often.values())) >= LEAST_GAMES:
            rows.append("\t".join([f"{key:016x}", *(f"{text} {' '.join(map(str, often[text]))}" for text in often)]))
    note(f"{len(rows)} positions")
    return gzip.compress("\n".join(rows).encode(), mtime=0)


# The program ---------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="a gzip file of games")
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder of weights.toml and people.network")
    parser.add_argument("--epochs", type=above_zero, default=1.25, help="of the network (default 1.25)")
    parser.add_argument("--share", type=share, default=0.1, help="of the positions for the weights (default 0.1)")
    parser.add_argument("--keep-network", action="store_true", help="fit the weights to the network of the package")
    parser.add_argument("--openings", action="store_true", help="count and measure the opening moves alone")
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
    if options.openings:
        file, plies = count_openings(rest), OPENING_PLIES
    else:
        file, plies = (FOLDER / NETWORK_FILE).read_bytes() if options.keep_network else learnt(rest, options), PLIES
    seen, names = collect("games for the weights", apart, options.share, options.concurrency, plies, file)
    is_held = np.isin(seen.games % PARTS, HELD_OUT)
    others, held = seen.select(~is_held), seen.select(is_held)
    if options.openings:
        for name, each in zip(names, others.features.T, strict=True):
            note(f"policy, {name}: log loss {-np.log(each[others.played]).mean():.4f}")
        given = {f"policy, {name}": held.features[:, names.index(name)] for name in (ALONE, str(openings.POLICY_GAMES))}
        replace_file(options.output / openings.OPENINGS.name, file)
    else:
        weights, shares = fit_weights(others), np.repeat(shares_of(held.ratings), held.counts, axis=0)
        given = {"policy": probabilities(weights, held.features, held, shares)}
        write(options, file, dict(zip(names, weights.T, strict=True)))
    for title, each in given.items():
        tables = (
            (f"held-out games, {title}", ("rating", "positions", "log loss", "move match"), measured(each, held)),
            ("reliability", ("rating", "given, %", "moves", "mean", "played, %"), reliability(each, held)),
        )
        for table in tables:
            standard_output().print(make_table(*table))
    return 0


def learnt(games: Sequence[Game], options: argparse.Namespace) -> bytes:
    """The file of a new network."""
    if torch is None:
        raise ProgramError("it needs PyTorch: pip install torch")
    moves, _ = collect("games for the network", games, 1.0, options.concurrency, LEARNT_PLIES)
    note(f"the network learns from {len(moves.counts)} positions")
    network = TrainedNetwork(options.seed)
    network.train(moves, options)
    return network.packed()


def write(options: argparse.Namespace, network: bytes, weights: dict[str, Array]) -> None:
    options.output.mkdir(parents=True, exist_ok=True)
    replace_file(options.output / NETWORK_FILE, network)
    ratings = ", ".join(map(str, RATINGS))
    data = {
        "provenance": {"games": options.games.name, "command": command_text("scripts/fit_policy.py", options.command)},
        "weights": {name: " ".join(f"{each:.4f}" for each in row) for name, row in sorted(weights.items())},
    }
    text = f"# The weights of the policy at {ratings}, by scripts/fit_policy.py.\n\n{tomli_w.dumps(data)}"
    replace_file(options.output / "weights.toml", text.encode())


if __name__ == "__main__":
    run_program(main)
