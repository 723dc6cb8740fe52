#!/usr/bin/env python3
"""How far static evaluations are from a deep search, on quiet positions of games.

    python scripts/match.py --engine 'name=a cmd=stockfish nodes=20000' --engine 'name=b cmd=stockfish nodes=18000' \\
        --games 240 --openings noob_3moves.epd.zip --order random --pgn games.pgn
    python scripts/evaluation_error.py choose games.pgn --output quiet.positions
    python scripts/positions.py label quiet.positions --engine 'cmd=stockfish nodes=60000' --output deep.positions
    python scripts/evaluation_error.py compare deep.positions --weights tuned.toml --network new.network \\
        --engine 'cmd=stockfish'

Scores become expected results, from 0 to 1: 1 / (1 + exp(-score / scale)). Each evaluation has the scale that suits it
best, so that only what it knows is compared. An engine must have Stockfish's command `eval`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from evaluation.network.file import Network, NetworkError
from evaluation.weights import Weights, WeightsError, default_weights
from toolkit.console import (
    at_least_one,
    make_table,
    new_file,
    run_program,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from toolkit.engines.client import Engine, EngineError
from toolkit.engines.spec import ENGINE_SYNTAX, parse_engines
from toolkit.errors import ProgramError
from toolkit.training.model import columns_of, weights_as_array, weights_from_array
from toolkit.training.network import network_scores, static_scores
from toolkit.training.positions import (
    FIRST,
    QUIET,
    RECORD,
    RECORD_BYTES,
    RESULT_NAMES,
    STOCKFISH_SCALE_CP,
    are_first,
    board_of,
    fit_scale,
    game_numbers,
    kept,
    keys,
    pack,
    read_positions,
    white_to_move,
    write_positions,
)
from uci_engine.board.pgn import game_texts, read_game

# As Stockfish prints them, in pawns: `Classical evaluation   +0.66 (white side)`.
EVALUATION = re.compile(r"(?P<name>\w+) evaluation:?\s+(?P<pawns>[+-]?\d+\.\d+) +\(white side\)")
EVAL_SECONDS = 10.0
OWN = "Secateur"
Scores = npt.NDArray[np.float64]
# Positions before it are left out.
FIRST_PLY = 12
# Of an error's interval.
RESAMPLES = 500


@dataclass(frozen=True)
class ErrorOfEvaluation:
    """scale: in centipawns, at which the evaluation promises best what the deep search does. error: root mean square,
    with the half of its 95 % interval (games are resampled).
    """

    name: str
    scale: float
    error: float
    interval: float


def error_of(name: str, scores: Scores, expected: Scores, games: npt.NDArray[Any]) -> ErrorOfEvaluation:
    """Of scores against expected results, both from the same view. games: the number of each one's, from 0."""
    scale = fit_scale(scores, expected)
    promised = expit(scores / scale)
    squares = np.bincount(games, (promised - expected) ** 2)
    counts = np.bincount(games).astype(np.float64)
    chance = np.random.default_rng(0)
    draws = (chance.integers(len(counts), size=len(counts)) for _ in range(RESAMPLES))
    errors = [np.sqrt(squares[drawn].sum() / counts[drawn].sum()) for drawn in draws]
    low, high = np.quantile(errors, (0.025, 0.975))
    return ErrorOfEvaluation(name, scale, float(np.sqrt(squares.sum() / counts.sum())), float(high - low) / 2)


def quiet_positions(text: bytes, number: int, every: int, seed: int) -> Iterator[bytes]:
    """The packed positions of one game, in order, without scores. Raises ValueError for a game that cannot be read.

    A position is quiet here if the side to move is not in check and the move that was played neither captures nor
    promotes. So no evaluation decides which positions it is judged by. Instead of one that is not quiet the next one is
    taken. every: plies between them, about. number, seed: they decide on the first one.
    """
    game = read_game(text)
    result = game.headers.get("Result", "*")
    if result not in RESULT_NAMES:
        return
    board = game.board()
    wanted = FIRST_PLY + random.Random(f"{seed} {number}").randrange(every)
    flags = QUIET | FIRST
    for move in game.mainline_moves():
        if board.ply() >= wanted and not (board.is_check() or board.is_capture(move) or move.promotion):
            yield pack(board, 0, RESULT_NAMES.index(result), flags)
            flags = QUIET
            wanted = board.ply() + every
        board.push(move)


def choose(words: argparse.Namespace) -> None:
    """Quiet positions of all games, each once."""
    packed = bytearray()
    with show_progress("games", None) as advance:
        for path in words.files:
            with path.open("rb") as file:
                for number, text in enumerate(game_texts(file)):
                    try:
                        for record in quiet_positions(text, number, words.every, words.seed):
                            packed += record
                    except ValueError as error:
                        raise ProgramError(f"{path}, game {number + 1}: {error}") from None
                    advance(1, f"{len(packed) // RECORD_BYTES} positions")
    records = np.frombuffer(packed, RECORD)
    chosen = kept(records, are_first(keys(records)))
    provenance = {
        "program": "scripts/evaluation_error.py choose",
        "files": [path.name for path in words.files],
        "scores": None,
        "every": words.every,
        "seed": words.seed,
    }
    write_positions(words.output, provenance, chosen)
    say(f"{words.output}: {len(chosen)} positions of {int(game_numbers(chosen)[-1]) + 1 if len(chosen) else 0} games")


def ask_engine(engine: Engine, records: npt.NDArray[Any]) -> dict[str, Scores]:
    """The evaluations of an engine, by the engine's name and theirs, in centipawns, White's view.

    Raises EngineError for an engine that does not answer, or has not the same evaluations of each position.
    """
    found: dict[str, list[float]] = {}
    with show_progress(engine.name, len(records)) as advance:
        for number, record in enumerate(records):
            engine.set_position(board_of(record))
            engine.send("eval", "isready")
            matches = [EVALUATION.match(line.text) for line in engine.read_until("readyok", EVAL_SECONDS)]
            evaluations = {match["name"]: 100 * float(match["pawns"]) for match in matches if match}
            if not evaluations or (number and evaluations.keys() != found.keys()):
                raise EngineError(f"{engine.name} does not evaluate {board_of(record).fen()}")
            for name, score in evaluations.items():
                found.setdefault(name, []).append(score)
            advance()
    return {f"{engine.name}: {name}": np.array(scores) for name, scores in found.items()}


def compare(words: argparse.Namespace) -> None:
    """The errors of all evaluations, as a table and JSON. Raises ProgramError, WeightsError, NetworkError, OSError."""
    provenance, on_disk = read_positions(words.file, scored=True)
    records = np.array(on_disk)
    material = weights_as_array(default_weights()) * columns_of(["material"])[:, None]
    weights = {"material": weights_from_array(material.astype(np.float64)), OWN: default_weights()}
    weights |= {f"{OWN}, {path.name}": Weights.load(path) for path in words.weights}
    networks = {f"{OWN}, {path.name}": Network.load(path) for path in words.network}
    specs = parse_engines(words.engine)
    # Side to move's view, then White's.
    scores = {name: static_scores(records, each) for name, each in weights.items()}
    scores |= {name: scores[OWN] + network_scores(each, records, scores[OWN]) for name, each in networks.items()}
    sign = np.where(white_to_move(records), 1.0, -1.0)
    found: dict[str, Scores] = {name: sign * each for name, each in scores.items()}
    for spec in specs:
        with Engine(spec) as engine:
            found |= ask_engine(engine, records)
    expected, games = expit(records["score_cp"] / STOCKFISH_SCALE_CP), game_numbers(records)
    errors = [error_of(name, each, expected, games) for name, each in found.items()]
    rows = [[each.name, f"{each.scale:.0f}", f"{each.error:.4f} ± {each.interval:.4f}"] for each in errors]
    head = ["static evaluation", "scale", "error of the expected result"]
    standard_output().print(make_table("", head, rows))
    scorer = provenance.get("scores", provenance.get("program"))
    say(f"{len(games)} positions of {int(games[-1]) + 1} games, scored by {scorer}")
    if words.json is not None:
        write_json(words.json, {"positions": len(games), "errors": [asdict(each) for each in errors]})


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    chooser = commands.add_parser("choose", help="take quiet positions from games in PGN")
    chooser.add_argument("files", type=Path, nargs="+", metavar="PGN")
    chooser.add_argument("--output", type=new_file, required=True, metavar="FILE")
    chooser.add_argument("--every", type=at_least_one, default=10, metavar="PLIES", help="about (10)")
    chooser.add_argument("--seed", type=int, default=0)
    chooser.set_defaults(run=choose)
    table = commands.add_parser("compare", help="errors of evaluations", epilog=f"An engine is {ENGINE_SYNTAX}.")
    table.add_argument("file", type=Path, metavar="FILE", help="positions with scores of a deep search by Stockfish")
    table.add_argument("--weights", type=Path, action="append", default=[], metavar="FILE", help="also with these")
    table.add_argument(
        "--network", type=Path, action="append", default=[], metavar="FILE", help="also with this network"
    )
    table.add_argument("--engine", action="append", default=[], metavar="'KEY=VALUE ...'", help="also its `eval`")
    table.add_argument("--json", type=new_file, metavar="FILE", help="write the results")
    table.set_defaults(run=compare)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    return run_to_end(lambda: words.run(words), errors=(WeightsError, NetworkError))


if __name__ == "__main__":
    run_program(main)
