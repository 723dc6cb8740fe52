#!/usr/bin/env python3
"""Training data from an engine that plays itself: positions with their scores and the results of their games.

    python scripts/selfplay.py --engine 'cmd=stockfish nodes=1000 option.Hash=8' --games 10000 --output data.txt.gz \\
        --plies 2-5 --positions 12 --concurrency 2 --resign 'moves=3 score=1000'

Each line is `FEN | score in centipawns | result`, both from White's side, the result 1.0, 0.5 or 0.0. Games begin with
random moves. Positions are quiet: no check, the move that was played no capture and no promotion, the score no mate.
The same command with --resume goes on where it was killed. Games that end by a forfeit are counted and give no
positions.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import gzip
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lib.console import (
    at_least_one,
    complain,
    make_table,
    new_file,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from lib.engines.cache import running_engines
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engine
from lib.errors import ProgramError
from lib.games.adjudication import Rules, add_arguments, check_tables, open_tables, rules_of
from lib.games.clock import Patience
from lib.games.game import Game
from lib.games.openings import Opening, OpeningBook, random_opening, read_openings, start_position
from lib.games.record import GameRecord
from lib.journal import Journal
from lib.pool import Task, run_tasks
from lib.trial import try_engines

# Games of one task: few enough to lose little, many enough to keep the journal short.
BATCH_GAMES = 8


@dataclass(frozen=True)
class Recipe:
    """How games are begun and what is kept of them.

    min_plies, max_plies: of random moves. positions: kept of a game at most, chosen at random; 0 for all.
    """

    engine: EngineSpec
    seed: int
    min_plies: int
    max_plies: int
    positions: int
    rules: Rules
    patience: Patience


@dataclass(frozen=True)
class Batch:
    """One task: games with these numbers, and the openings that the random moves go on from."""

    recipe: Recipe
    first_game: int
    openings: tuple[Opening, ...]
    keep_engines: bool


def play_batch(batch: Batch) -> dict[str, Any]:
    """What the workers do: `lines`, and counts of `results` and `faults`. Raises EngineError."""
    recipe = batch.recipe
    lines: list[str] = []
    results: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    with running_engines(batch.keep_engines) as engines, open_tables(recipe.rules) as tables:
        for number, opening in enumerate(batch.openings, start=batch.first_game):
            chance = random.Random(f"{recipe.seed} {number}")
            begun = random_opening(opening, chance, recipe.min_plies, recipe.max_plies)
            engine = engines.engine(recipe.engine)
            record = Game(engine, engine, begun, recipe.rules, recipe.patience, tables).play()
            if record.fault is not None:
                faults[f"{record.fault}: {record.detail}"] += 1
                engines.dismiss(recipe.engine)
                continue
            results[record.result] += 1
            lines += choose(quiet_positions(record), recipe.positions, chance)
    return {"lines": lines, "results": dict(results), "faults": dict(faults)}


def quiet_positions(record: GameRecord) -> Iterator[str]:
    """The lines of a game; a position that comes twice gives one."""
    board = record.opening.board()
    seen: set[str] = set()
    for move in record.moves:
        quiet = not (board.is_check() or board.is_capture(move.move) or move.move.promotion)
        score_cp = None if move.score is None else move.score.white().score()
        if quiet and score_cp is not None and (key := board.epd()) not in seen:
            seen.add(key)
            yield f"{board.fen()} | {score_cp} | {record.white_points}"
        board.push(move.move)


def choose(lines: Iterator[str], max_count: int, chance: random.Random) -> list[str]:
    """At most `max_count` of the lines (all for 0), in their order."""
    found = list(lines)
    if not max_count or len(found) <= max_count:
        return found
    return [found[index] for index in sorted(chance.sample(range(len(found)), max_count))]


class Harvest:
    """The output file and its journal, which holds how long the file is after each batch: the rest is cut off."""

    def __init__(self, path: Path, journal: Journal) -> None:
        self._path = path
        self._journal = journal
        self.done = {str(entry["key"]) for entry in journal.entries}
        self.results: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.lines = 0
        for entry in journal.entries:
            self._count(entry)
        size = int(journal.entries[-1]["bytes"]) if journal.entries else 0
        if path.exists() and path.stat().st_size < size:
            raise ProgramError(f"{path} is shorter than its journal says")
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.truncate(size)
        self._file.seek(size)

    def add(self, key: str, batch: dict[str, Any]) -> None:
        """Write the lines of a batch, once."""
        if key in self.done:
            return
        data = "".join(f"{line}\n" for line in batch["lines"]).encode()
        # Compressed pieces, one behind the other, are one compressed file.
        self._file.write(gzip.compress(data) if self._path.suffix == ".gz" else data)
        self._file.flush()
        os.fsync(self._file.fileno())
        entry = {
            "key": key,
            "bytes": self._file.tell(),
            "lines": len(batch["lines"]),
            "results": batch["results"],
            "faults": batch["faults"],
        }
        self._journal.append(entry)
        self.done.add(key)
        self._count(entry)

    def _count(self, entry: dict[str, Any]) -> None:
        self.results.update(entry["results"])
        self.faults.update(entry["faults"])
        self.lines += entry["lines"]

    @property
    def games(self) -> int:
        return self.results.total() + self.faults.total()

    def close(self) -> None:
        """Nothing can be added after this. A file without lines of any game is removed."""
        empty = not self.done
        self._file.close()
        if empty:
            self._path.unlink(missing_ok=True)
        self._journal.close()


def make_batches(recipe: Recipe, book: OpeningBook, games: int, harvest: Harvest, keep: bool) -> Iterator[Task]:
    """The games that are still to be played."""
    for first in range(0, games, BATCH_GAMES):
        last = min(first + BATCH_GAMES, games)
        key = f"{first}-{last}"
        if key not in harvest.done:
            openings = tuple(book.opening(number) for number in range(first, last))
            yield Task(key, Batch(recipe, first, openings, keep))


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    parser.add_argument("--engine", required=True, metavar="'KEY=VALUE ...'", help="with nodes= or another limit")
    parser.add_argument("--games", type=at_least_one, default=1000, metavar="N")
    parser.add_argument("--output", type=new_file, required=True, metavar="FILE", help="compressed if it ends in .gz")
    parser.add_argument("--plies", default="2-5", metavar="MIN-MAX", help="random plies at the beginning (2-5)")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="begin with these (.pgn or .epd, also zipped)")
    parser.add_argument("--positions", type=int, default=12, metavar="N", help="kept of each game, 0 for all (12)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N")
    parser.add_argument("--cluster", metavar="ADDRESS", help="play on the workers of this Dask scheduler instead")
    parser.add_argument("--resume", action="store_true", help="go on from the journal beside the output")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the counts")
    add_arguments(parser)
    return parser.parse_args(arguments)


def make_recipe(words: argparse.Namespace) -> Recipe:
    """What the command line asks for. Raises ProgramError, ValueError and OSError."""
    engine = parse_engine(words.engine)
    if str(engine.control) == "no limit":
        raise ProgramError(f"no nodes=, depth=, movetime= or tc= for {engine.name}")
    low, dash, high = words.plies.partition("-")
    if not (low.isdecimal() and (high if dash else low).isdecimal()):
        raise ProgramError(f"--plies {words.plies} is not MIN-MAX")
    min_plies, max_plies = int(low), int(high or low)
    if not 0 <= min_plies <= max_plies <= 100:
        raise ProgramError(f"--plies {words.plies}: the minimum is above the maximum, or too many")
    if words.positions < 0:
        raise ProgramError("--positions is at least 0")
    rules = rules_of(words)
    if words.cluster is None:
        check_tables(rules)
    return Recipe(engine, words.seed, min_plies, max_plies, words.positions, rules, Patience())


def open_harvest(words: argparse.Namespace, recipe: Recipe) -> Harvest:
    """Output and journal. Raises ProgramError and OSError."""
    path = words.output.with_name(words.output.name + ".journal")
    if not path.exists() and words.output.exists() and words.output.stat().st_size:
        raise ProgramError(f"{words.output} exists and has no journal: remove it, or name another")
    openings = None if words.openings is None else words.openings.name
    settings = {**asdict(recipe), "engine": recipe.engine.as_json(), "games": words.games, "openings": openings}
    return Harvest(words.output, Journal(path, settings, resume=words.resume))


def play(words: argparse.Namespace, recipe: Recipe, book: OpeningBook, harvest: Harvest) -> None:
    """Play what is left. Raises ProgramError."""
    tasks = make_batches(recipe, book, words.games, harvest, words.cluster is None)
    results = run_tasks(play_batch, tasks, workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("games", words.games, harvest.games) as advance:
        for result in results:
            before = harvest.games
            harvest.add(result.key, result.value_or_raise())
            advance(harvest.games - before, f"{harvest.lines} positions")


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    try:
        recipe = make_recipe(words)
        book = start_position() if words.openings is None else read_openings(words.openings)
        if words.cluster is None:
            try_engines([recipe.engine])
        harvest = open_harvest(words, recipe)
    except (ProgramError, ValueError, OSError) as error:
        complain(str(error))
        return 1
    code = run_to_end(lambda: play(words, recipe, book, harvest), harvest.close)
    if code and not harvest.games:
        return code
    results = [harvest.results[result] for result in ("1-0", "1/2-1/2", "0-1")]
    row = [str(words.output), *map(str, (harvest.games, *results, harvest.faults.total(), harvest.lines))]
    head = ["output", "games", "1-0", "1/2-1/2", "0-1", "forfeits", "positions"]
    standard_output().print(make_table("", head, [row]))
    for fault, number in harvest.faults.most_common():
        say(f"{number} {fault}")
    if words.json is not None:
        counts = {"games": harvest.games, "positions": harvest.lines, "results": dict(harvest.results)}
        write_json(words.json, {**counts, "faults": dict(harvest.faults)})
    return code


if __name__ == "__main__":
    run_program(main)
