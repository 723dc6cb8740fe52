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

from lib.program import run_program

# isort: split

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from evaluation.network.file import Network, NetworkError
from evaluation.weights import Weights, WeightsError, default_weights
from lib.console import (
    above_zero,
    at_least_one,
    at_least_zero,
    make_table,
    new_file,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from lib.engines.spec import ENGINE_SYNTAX, parse_engine
from lib.errors import ProgramError
from lib.games.pgn import game_texts
from lib.training.coefficients import find_coefficients
from lib.training.examples import STOCKFISH_SCALE_CP, Examples, Floats
from lib.training.model import exact_scores, only_material, weights_as_array
from lib.training.network_inputs import static_scores
from lib.training.outliers import group_errors, group_table, worst_positions
from lib.training.positions import (
    RECORD,
    game_numbers,
    has_scores,
    keys,
    read_positions,
    white_to_move,
    write_positions,
)
from lib.training.quantisation import white_outputs
from lib.training.quiet import Spread, quiet_positions
from lib.training.static_evaluations import ask_engine, error_of
from lib.training.tuning_report import Rival


def choose(words: argparse.Namespace) -> None:
    """Quiet positions of all games, each once."""
    spread = Spread(words.every, words.first_ply, words.seed)
    packed: list[bytes] = []
    with show_progress("games", None) as advance:
        for path in words.files:
            for number, text in enumerate(game_texts(path)):
                try:
                    packed += quiet_positions(text, number, spread)
                except ValueError as error:
                    raise ProgramError(f"{path}, game {number + 1}: {error}") from None
                advance(1, f"{len(packed)} positions")
    records = np.frombuffer(b"".join(packed), RECORD)
    games = game_numbers(records)
    _, first = np.unique(keys(records), return_index=True)
    first = np.sort(first)
    chosen = records[first]
    # The first position of a game may have been a duplicate.
    chosen["flags"] |= np.diff(games[first], prepend=-1) > 0
    provenance = {
        "program": "scripts/evaluation_error.py choose",
        "files": [path.name for path in words.files],
        "scores": None,
        **asdict(spread),
    }
    write_positions(words.output, provenance, chosen)
    say(f"{words.output}: {len(chosen)} positions of {len(np.unique(games[first]))} games")


def compare(words: argparse.Namespace) -> None:
    """The errors of all evaluations, in one table."""
    provenance, records = read_positions(words.file)
    if not has_scores(provenance) or not len(records):
        raise ProgramError(f"{words.file} has no scores: let positions.py label give it some")
    records = np.asarray(records)
    expected = expit(records["score_cp"] / words.deep_scale)
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
    if words.worst:
        show_worst(words, records, expected)
    if words.json is not None:
        write_json(words.json, {"positions": len(records), "errors": [asdict(each) for each in errors]})


def show_worst(words: argparse.Namespace, records: Any, expected: Floats) -> None:
    """Where the last of the weights are most wrong. Raises ProgramError, WeightsError."""
    weights = Weights.load(words.weights[-1]) if words.weights else default_weights()
    examples = Examples(records, find_coefficients(records), expected, game_numbers(records))
    rival = Rival.fitted("weights", weights_as_array(weights), examples)
    standard_output().print(group_table(group_errors(rival, examples)))
    print(worst_positions(rival, examples, words.worst))


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
        added = white_outputs(Network.load(path), records, features_cp)
        found.append((f"Secateur, {path.name}", features_cp + added))
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
    chooser.add_argument("--first-ply", type=at_least_one, default=12, metavar="N", help="none before it (12)")
    chooser.add_argument("--seed", type=int, default=0)
    chooser.set_defaults(run=choose)
    table = commands.add_parser("compare", help="errors of evaluations", epilog=f"An engine is {ENGINE_SYNTAX}.")
    table.add_argument("file", type=Path, metavar="FILE", help="positions with the scores of a deep search")
    table.add_argument("--weights", type=Path, action="append", default=[], metavar="FILE", help="also with these")
    table.add_argument(
        "--network", type=Path, action="append", default=[], metavar="FILE", help="also with this network"
    )
    table.add_argument("--engine", action="append", default=[], metavar="'KEY=VALUE ...'", help="also its `eval`")
    table.add_argument(
        "--deep-scale", type=above_zero, default=STOCKFISH_SCALE_CP, metavar="CP", help="of the deep scores (100)"
    )
    table.add_argument(
        "--worst", type=at_least_zero, default=0, metavar="N", help="kinds and positions where the last weights err"
    )
    table.add_argument("--json", type=new_file, metavar="FILE", help="write the results")
    table.set_defaults(run=compare)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    return run_to_end(lambda: words.run(words), errors=(WeightsError, NetworkError))


if __name__ == "__main__":
    run_program(main)
