#!/usr/bin/env python3
"""The errors of levels beside those of people of the same rating, as another engine sees both.

    python scripts/human_errors.py analysed.jsonl.gz --ratings 1000,1400,1800 --concurrency 2

A line of the file is a game: `moves` in UCI, and the ratings `white` and `black`. Positions are drawn from those with
a player within WINDOW of a rating to move; the level moves once in each. What a move loses is in expected results.
Recaptures are counted where one was legal.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path

import chess
import numpy as np

from toolkit.console import at_least_one, make_table, run_program, show_progress, standard_output
from toolkit.errors import ProgramError
from toolkit.files import unpack_text
from toolkit.judge import expected, started
from toolkit.pool import Task, run_tasks
from uci_engine.api import Engine
from uci_engine.game_analysis.judgement import final_value

# What a blunder loses, at least.
BLUNDER = 0.15
WINDOW = 100
FIRST_PLY, LAST_PLY = 12, 90

# A position, the move that was played, the rating, the other engine and its nodes.
Job = tuple[chess.Board, chess.Move, int, Sequence[str], int]
# Of the player and of the level.
Pair = tuple[float, float]


def read_jobs(words: argparse.Namespace, rating: int) -> Iterator[Job]:
    """The positions of a rating, two of a game at most. Raises ProgramError and OSError."""
    lines = unpack_text(words.file, (".jsonl",))[1].splitlines()
    chance = random.Random(rating)
    chance.shuffle(lines)
    for line in lines:
        try:
            game = json.loads(line)
            moves, ratings = game["moves"].split(), (int(game["black"]), int(game["white"]))
        except (LookupError, TypeError, ValueError) as error:
            raise ProgramError(f"{words.file.name}: a line is no game: {error}") from None
        plies = range(FIRST_PLY, min(len(moves), LAST_PLY + 1))
        fitting = [ply for ply in plies if abs(ratings[ply % 2 == 0] - rating) <= WINDOW]
        for ply in chance.sample(fitting, min(2, len(fitting))):
            board = chess.Board()
            for move in moves[:ply]:
                board.push_uci(move)
            yield board, board.parse_uci(moves[ply]), rating, tuple(words.engine), words.nodes


# The one of this process.
own_engine = cache(partial(Engine, hash=16))


def measure(job: Job) -> tuple[Pair, Pair | None]:
    """What the move of the player and that of the level lose, and which recaptures; None where nothing can."""
    board, played, rating, command, nodes = job
    shares = own_engine().human(board, rating)
    moves = (played, random.Random(board.fen()).choices(list(shares), list(shares.values()))[0])

    def now() -> float:
        """The result that the side to move may expect."""
        end = final_value(board)
        return end.expected_for(board.turn) if end else expected(started(command), nodes, board, object())

    best, after = now(), []
    for move in moves:
        board.push(move)
        after.append(1 - now())
        board.pop()
    losses = [max(best, *after) - each for each in after]
    last = board.pop()
    was_capture = board.is_capture(last)
    board.push(last)
    can_retake = was_capture and any(move.to_square == last.to_square for move in board.generate_legal_captures())
    first, second = (float(move.to_square == last.to_square) for move in moves)
    return (losses[0], losses[1]), (first, second) if can_retake else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", type=Path, help="games: .jsonl, .jsonl.gz")
    parser.add_argument("--ratings", default="1000,1400,1800", metavar="N,N", help="of levels (1000,1400,1800)")
    parser.add_argument("--positions", type=at_least_one, default=1500, metavar="N", help="for each rating (1500)")
    parser.add_argument(
        "--engine", type=shlex.split, default=["stockfish"], metavar="CMD", help="the other (stockfish)"
    )
    parser.add_argument("--nodes", type=at_least_one, default=15_000, metavar="N", help="of its searches (15000)")
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N", help="how many at a time (1)")
    words, rows = parser.parse_args(arguments), []
    for rating in map(int, words.ratings.split(",")):
        jobs = islice(read_jobs(words, rating), words.positions)
        tasks = (Task(str(number), job) for number, job in enumerate(jobs))
        found = []
        with show_progress(f"positions of {rating}", words.positions) as advance:
            for _, each in run_tasks(measure, tasks, workers=words.concurrency):
                found.append(each)
                advance()
        losses, recaptures = np.array([each for each, _ in found]), np.array([each for _, each in found if each])
        columns = ((losses, ".4f"), (losses >= BLUNDER, ".1%"), (recaptures, ".1%"))
        shown = ("; ".join(format(each, form) for each in column.mean(axis=0)) for column, form in columns)
        rows.append((str(rating), str(len(found)), *shown))
    head = ("rating", "positions", "average loss", "blunders", "recaptures")
    standard_output().print(make_table("people; level", head, rows))
    return 0


if __name__ == "__main__":
    run_program(main)
