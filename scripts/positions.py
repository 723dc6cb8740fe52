#!/usr/bin/env python3
"""Files of training positions: look at them, label them by another engine, read text.

    python scripts/positions.py info data.positions
    python scripts/positions.py text data.positions --count 10
    python scripts/positions.py label data.positions --engine 'cmd=stockfish nodes=5000' --output labelled.positions
    python scripts/positions.py label data.positions --network stockfish.nnue --output labelled.positions
    python scripts/positions.py import data.txt.gz --output data.positions

selfplay.py makes such files; toolkit/training/positions.py documents them. A line of text is `FEN | score in
centipawns | result`, both White's view, the result 1.0, 0.5 or 0.0.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import chess
import chess.engine
import numpy as np
import numpy.typing as npt

from toolkit.console import (
    Advance,
    at_least_one,
    make_table,
    new_file,
    run_program,
    run_to_end,
    show_progress,
    standard_output,
)
from toolkit.engines.client import identified, running_engines
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engine, require_limits
from toolkit.errors import ProgramError
from toolkit.files import unpack_text
from toolkit.pool import in_order
from toolkit.training.positions import (
    CAPTURE,
    FIRST,
    MAX_SCORE_CP,
    QUIET,
    RECORD,
    are_first,
    are_quiet,
    begun,
    board_of,
    continued,
    kept,
    keys,
    pack,
    read_positions,
    write_positions,
)
from toolkit.training.stockfish_network import read_network, scores_of_network

# Text has no suffix of its own.
ANY_SUFFIX = ("",)
POINTS = ("0.0", "0.5", "1.0")
# Positions that an engine scores as one task, and how long it may take for each.
ENGINE_BATCH = 500
LABEL_SECONDS = 60.0


# ---- info, text ----


def show_info(words: argparse.Namespace) -> None:
    """What a file holds."""
    for path in words.files:
        provenance, positions = read_positions(path)
        flags = positions["flags"]
        counts = {
            "positions": len(positions),
            "games": int((flags & FIRST != 0).sum()),
            "different": len(np.unique(keys(positions))),
            "quiet": int((flags & QUIET != 0).sum()),
            "best move captures": int((flags & CAPTURE != 0).sum()),
            "White won": int((positions["result"] == 2).sum()),
            "drawn": int((positions["result"] == 1).sum()),
            "Black won": int((positions["result"] == 0).sum()),
        }
        standard_output().print(make_table(str(path), ["", ""], [(name, str(count)) for name, count in counts.items()]))
        standard_output().print(str(provenance), markup=False, soft_wrap=True)


def print_text(words: argparse.Namespace) -> None:
    """Some positions of a file as lines, evenly spread."""
    for path in words.files:
        _, positions = read_positions(path)
        for index in np.linspace(0, len(positions) - 1, min(words.count, len(positions)), dtype=np.int64):
            record = positions[index]
            print(f"{board_of(record).fen()} | {record['score_cp']} | {POINTS[record['result']]}")


# ---- label ----


def label(words: argparse.Namespace) -> None:
    """Replace the scores of a file by those of another engine, or of its network.

    What an engine has scored is in a file beside the output until the last position has its score.
    Raises EngineError, ProgramError, OSError.
    """
    (path,) = words.files
    if (words.engine is None) == (words.network is None):
        raise ProgramError("label needs --engine or --network, and not both")
    if words.engine is None:
        network = read_network(words.network)
        digest = hashlib.sha256(words.network.read_bytes()).hexdigest()
        scorer: dict[str, Any] = {"network": words.network.name, "sha256": digest}
    else:
        parsed = parse_engine(words.engine)
        require_limits([parsed])
        (spec,) = identified([parsed])
        scorer = spec.as_json()
    provenance, positions = read_positions(path)
    chosen = kept(positions, are_quiet(positions)) if words.quiet else positions.copy()
    chosen = kept(chosen, are_first(keys(chosen))) if words.unique else chosen
    provenance["scores"] = scorer
    if words.engine is None:
        with show_progress("positions", len(chosen)) as advance:
            chosen["score_cp"] = scores_of_network(network, chosen, words.concurrency, advance)
        write_positions(words.output, provenance, chosen)
        return
    part = words.output.with_name(words.output.name + ".part")
    done = begun(part, provenance, words.resume)
    if not np.array_equal(keys(done), keys(chosen[: len(done)])):
        raise ProgramError(f"{part} has other positions: remove it")
    parts = [chosen[first : first + ENGINE_BATCH] for first in range(len(done), len(chosen), ENGINE_BATCH)]
    scored = in_order(partial(scores_by_engine, spec, words.ahead), parts, words.concurrency)
    with (
        show_progress("positions", len(chosen), len(done)) as advance,
        continued(part, provenance, len(done)) as append,
        closing(scored),
    ):
        for each, scores in zip(parts, scored, strict=True):
            each["score_cp"] = scores
            append(each)
            advance(len(each))
    part.replace(words.output)


def scores_by_engine(spec: EngineSpec, ahead: int, positions: npt.NDArray[Any]) -> list[int]:
    """The engine's scores of positions, White's view. Raises EngineError, ProgramError."""
    boards = list(map(board_of, positions))
    with running_engines() as engines:
        answers = engines.engine(spec).play_each(boards, spec.control.fixed_limit(), LABEL_SECONDS, ahead)
        return [score_cp_of(spec.name, board, answer.score) for board, answer in zip(boards, answers, strict=True)]


def score_cp_of(name: str, board: chess.Board, score: chess.engine.PovScore | None) -> int:
    """A score in centipawns, White's view. Raises ProgramError where the engine gave none."""
    if score is None:
        raise ProgramError(f"{name} gives no score for {board.fen()}")
    return int(np.clip(score.white().score(mate_score=MAX_SCORE_CP), -MAX_SCORE_CP, MAX_SCORE_CP))


# ---- import ----


def import_text(words: argparse.Namespace) -> None:
    """Read lines of text. Positions are taken to be quiet, and a ply that does not rise begins a game."""
    (path,) = words.files
    _, text = unpack_text(path, ANY_SUFFIX)
    with show_progress("positions", None) as advance:
        packed = b"".join(packed_lines(text.splitlines(), advance))
    provenance = {"program": "scripts/positions.py import", "file": path.name}
    write_positions(words.output, provenance, np.frombuffer(packed, RECORD))


def packed_lines(lines: Iterable[str], advance: Advance) -> Iterator[bytes]:
    """The records of lines of text. Raises ProgramError."""
    last_ply = None
    for number, line in enumerate(lines, start=1):
        try:
            fen, score, result = line.strip().split(" | ")
            board = chess.Board(fen)
            points = POINTS.index(result)
            first = last_ply is None or board.ply() <= last_ply
            last_ply = board.ply()
            yield pack(board, int(score), points, QUIET | (FIRST if first else 0))
        except ValueError as error:
            raise ProgramError(f"line {number}: {error}") from None
        advance()


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="what a file holds")
    info.set_defaults(run=show_info)
    text = commands.add_parser("text", help="print positions")
    text.add_argument("--count", type=at_least_one, default=10, metavar="N", help="evenly spread (10)")
    text.set_defaults(run=print_text)
    labels = commands.add_parser("label", help="score by another engine", epilog=f"An engine is {ENGINE_SYNTAX}.")
    labels.add_argument("--engine", metavar="'KEY=VALUE ...'", help="with nodes= or another limit")
    labels.add_argument("--network", type=Path, metavar="FILE", help="of Stockfish 15, as its export_net writes it")
    labels.add_argument("--output", type=new_file, required=True, metavar="FILE")
    labels.add_argument("--quiet", action="store_true", help="leave out positions that are not quiet")
    labels.add_argument("--unique", action="store_true", help="leave out positions that came before")
    labels.add_argument("--resume", action="store_true", help="go on from the file .part beside the output")
    labels.add_argument(
        "--ahead", type=at_least_one, default=1, metavar="N", help="positions sent at once, for Stockfish 32 (1)"
    )
    labels.add_argument("--concurrency", type=at_least_one, default=1, metavar="N", help="engines or threads (1)")
    labels.set_defaults(run=label)
    reader = commands.add_parser("import", help="read text")
    reader.add_argument("--output", type=new_file, required=True, metavar="FILE")
    reader.set_defaults(run=import_text)
    for command in (info, text):
        command.add_argument("files", type=Path, nargs="+", metavar="FILE")
    for command in (labels, reader):
        command.add_argument("files", type=Path, nargs=1, metavar="FILE")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    return run_to_end(lambda: words.run(words))


if __name__ == "__main__":
    run_program(main)
