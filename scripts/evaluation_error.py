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
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from evaluation.network.file import Network, NetworkError
from evaluation.weights import Weights, WeightsError, default_weights
from toolkit.console import (
    Advance,
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
from toolkit.engines.engine import Engine, EngineError
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engine
from toolkit.errors import ProgramError
from toolkit.training.coefficients import find_coefficients
from toolkit.training.engine_scores import network_scores, static_scores
from toolkit.training.examples import STOCKFISH_SCALE_CP, Floats, error_of
from toolkit.training.model import exact_scores, only_material, weights_as_array
from toolkit.training.positions import (
    FIRST,
    QUIET,
    RECORD,
    RESULT_NAMES,
    board_of,
    game_numbers,
    pack,
    read_positions,
    unique_positions,
    white_to_move,
    write_positions,
)
from uci_engine.game_analysis.pgn import game_texts, read_game

# As Stockfish prints them, in pawns: `Classical evaluation   +0.66 (white side)`.
EVALUATION = re.compile(r"(?P<name>\w+) evaluation:?\s+(?P<pawns>[+-]?\d+\.\d+) +\(white side\)")
EVAL_SECONDS = 10.0
# Positions before it are left out.
FIRST_PLY = 12


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
    packed: list[bytes] = []
    with show_progress("games", None) as advance:
        for path in words.files:
            with path.open("rb") as file:
                for number, text in enumerate(game_texts(file)):
                    try:
                        packed += quiet_positions(text, number, words.every, words.seed)
                    except ValueError as error:
                        raise ProgramError(f"{path}, game {number + 1}: {error}") from None
                    advance(1, f"{len(packed)} positions")
    records = np.frombuffer(b"".join(packed), RECORD)
    chosen = unique_positions(records)
    provenance = {
        "program": "scripts/evaluation_error.py choose",
        "files": [path.name for path in words.files],
        "scores": None,
        "every": words.every,
        "seed": words.seed,
    }
    write_positions(words.output, provenance, chosen)
    say(f"{words.output}: {len(chosen)} positions of {int(game_numbers(chosen)[-1]) + 1 if len(chosen) else 0} games")


def read_evaluations(lines: Sequence[str]) -> dict[str, float]:
    """What the lines after `eval` say, in centipawns, White's view, by the word before "evaluation"."""
    found = (EVALUATION.match(line) for line in lines)
    return {match["name"]: 100 * float(match["pawns"]) for match in found if match}


def ask_engine(spec: EngineSpec, records: npt.NDArray[Any], advance: Advance) -> dict[str, Floats]:
    """The evaluations of an engine, by the engine's name and theirs, in centipawns, White's view.

    Raises EngineError for an engine that does not answer, or has not the same evaluations of each position.
    """
    found: dict[str, list[float]] = {}
    with Engine(spec) as engine:
        for number, record in enumerate(records):
            engine.set_position(board_of(record))
            engine.send("eval", "isready")
            lines = engine.read_until("readyok", EVAL_SECONDS)
            evaluations = read_evaluations([line.text for line in lines])
            if not evaluations or (number and evaluations.keys() != found.keys()):
                raise EngineError(f"{spec.name} does not evaluate {board_of(record).fen()}")
            for name, score in evaluations.items():
                found.setdefault(name, []).append(score)
            advance()
    return {f"{spec.name}: {name}": np.array(scores) for name, scores in found.items()}


def compare(words: argparse.Namespace) -> None:
    """The errors of all evaluations, in one table."""
    provenance, records = read_positions(words.file, scored=True)
    records = np.asarray(records)
    expected = expit(records["score_cp"] / STOCKFISH_SCALE_CP)
    errors = [
        error_of(name, scores, expected, game_numbers(records)) for name, scores in all_evaluations(words, records)
    ]
    rows = [
        [each.name, f"{each.scale:.0f}", f"{each.error:.4f} ± {each.interval:.4f}", f"{each.correlation:.4f}"]
        for each in errors
    ]
    games = int(game_numbers(records)[-1]) + 1
    console = standard_output()
    console.print(make_table("", ["static evaluation", "scale", "error of the expected result", "correlation"], rows))
    say(f"{len(records)} positions of {games} games, scored by {provenance.get('scores', provenance.get('program'))}")
    if words.json is not None:
        write_json(words.json, {"positions": len(records), "errors": [asdict(each) for each in errors]})


def features_scores(records: Any, weights: Weights) -> Floats:
    """The engine's scores of the features, that of king and pawn against king included. Centipawns, White's view.

    Raises ProgramError.
    """
    scores = static_scores(records, weights).astype(np.float64)
    return np.where(white_to_move(records), scores, -scores)


def all_evaluations(words: argparse.Namespace, records: Any) -> list[tuple[str, Floats]]:
    """Names and scores in centipawns, White's view. Raises ProgramError, WeightsError, NetworkError."""
    engines = [parse_engine(text) for text in words.engine]
    material = only_material(weights_as_array(default_weights()))
    features_cp = features_scores(records, default_weights())
    found = [
        ("material", exact_scores(find_coefficients(records), material).astype(float)),
        ("Secateur", features_cp),
    ]
    for path in words.weights:
        found.append((f"Secateur, {path.name}", features_scores(records, Weights.load(path))))
    for path in words.network:
        sign = np.where(white_to_move(records), 1, -1)
        added = network_scores(Network.load(path), records, sign * features_cp.astype(np.int64))
        found.append((f"Secateur, {path.name}", features_cp + sign * added))
    for engine in engines:
        with show_progress(engine.name, len(records)) as advance:
            found += ask_engine(engine, records, advance).items()
    return found


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
