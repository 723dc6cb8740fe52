#!/usr/bin/env python3
"""Training positions from the engine that plays itself: each with its score and the result of its game.

    python scripts/selfplay.py --nodes 1000 --games 100000 --output data.positions --concurrency 2 \\
        --source 'random plies=6-9 share=2' --source 'file=openings.epd plies=0-4 share=3' \\
        --resign 'moves=4 score=1000' --draw 'from=40 moves=10 score=8'

The engine searches in the processes of this program, a fixed number of nodes a move. toolkit/training/positions.py
documents the file; positions.py prints it. Positions in check are left out, and a flag marks the quiet ones. The same
command with --resume goes on where it was killed. With one process the same command gives the same file.

With --ahead N it also keeps up to N positions of each search, as the search meets them: some way along its line, up to
two random moves off it, and after the captures that follow. Their scores come from --network, or positions.py label.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from toolkit.console import (
    add_run_arguments,
    at_least_one,
    at_least_zero,
    make_table,
    new_file,
    run_program,
    run_to_end,
    show_progress,
    standard_output,
    write_json,
)
from toolkit.errors import ProgramError
from toolkit.games.adjudication import add_arguments, rules_of
from toolkit.journal import Journal, journal_beside
from toolkit.pool import Task, run_tasks
from toolkit.training.datagen import (
    NOT_PLAYED,
    SOURCE_SYNTAX,
    Batch,
    Kept,
    Recipe,
    choose_opening,
    network_of,
    parse_source,
    play_batch,
)
from toolkit.training.positions import RECORD_BYTES, header
from toolkit.training.stockfish_network import scorer_of
from uci_engine import __version__
from uci_engine.core import load

# Games of one task: few enough to lose little, many enough to keep the journal short.
BATCH_GAMES = 64


class Harvest:
    """The output file and its journal, which counts the positions of each batch: what comes after them is cut off."""

    def __init__(self, path: Path, journal: Journal, provenance: dict[str, Any]) -> None:
        self._path = path
        self._journal = journal
        # Of each batch, by its number: the game after the last one that was played.
        self.ends: dict[int, int] = {}
        self.results: Counter[str] = Counter()
        self.positions = 0
        self._bytes = 0
        self._header = header(provenance)
        journal.replay(self._take)
        if self._bytes or path.exists():
            with path.open("rb") as file:
                if file.read(len(self._header)) != (self._header if self._bytes else b""):
                    raise ProgramError(f"{path} is not of this run: remove it, or name another")
            if path.stat().st_size < self._bytes:
                raise ProgramError(f"{path} is shorter than its journal says")
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.truncate(self._bytes)
        self._file.seek(self._bytes)

    def add(self, batch: dict[str, Any]) -> None:
        """Write the positions of a batch."""
        if not self._file.tell():
            self._file.write(self._header)
        self._file.write(batch["positions"])
        self._file.flush()
        os.fsync(self._file.fileno())
        entry = {**batch, "positions": len(batch["positions"]) // RECORD_BYTES}
        self._journal.append(entry)
        self._take(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        first, end, positions = entry["first"], entry["end"], entry["positions"]
        number = first // BATCH_GAMES
        is_next = first == self.ends.get(number, number * BATCH_GAMES) and end <= (number + 1) * BATCH_GAMES
        if not is_next or first < 0 or not sum(entry["results"].values()) == end - first > 0 or positions < 0:
            raise ValueError("a batch goes on where the one before has ended")
        self.ends[number] = end
        self.results.update(entry["results"])
        self.positions += positions
        self._bytes = len(self._header) + self.positions * RECORD_BYTES

    @property
    def games(self) -> int:
        return self.results.total()

    def close(self) -> None:
        """Nothing can be added after this. A file without positions is removed."""
        is_empty = not self._file.tell()
        self._file.close()
        if is_empty:
            self._path.unlink()


def make_batches(recipe: Recipe, games: int, harvest: Harvest) -> Iterator[Task]:
    """The games that are still to be played."""
    for number, start in enumerate(range(0, games, BATCH_GAMES)):
        # A run that has grown plays the rest of what was its last batch.
        left = range(harvest.ends.get(number, start), min(start + BATCH_GAMES, games))
        if left:
            yield Task(str(left.start), Batch(recipe, left))


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"A source is {SOURCE_SYNTAX}.")
    parser.add_argument("--output", type=new_file, required=True, metavar="FILE")
    parser.add_argument("--games", type=at_least_one, default=1000, metavar="N", help="(1000)")
    parser.add_argument("--nodes", type=at_least_one, default=1000, metavar="N", help="of each search (1000)")
    parser.add_argument("--hash", type=at_least_one, default=8, metavar="MIB", help="of each process (8)")
    parser.add_argument("--source", action="append", default=[], metavar="'...'", help="where games begin (random)")
    parser.add_argument(
        "--max-opening",
        type=at_least_zero,
        default=400,
        metavar="CP",
        help="openings beyond are not played; 0: all (400)",
    )
    parser.add_argument(
        "--ahead", type=at_least_zero, default=0, metavar="N", help="kept ahead of each search, too (0)"
    )
    parser.add_argument("--skip", type=at_least_zero, default=0, metavar="PLIES", help="nothing kept before (0)")
    parser.add_argument("--network", type=Path, metavar="FILE", help="of Stockfish 15: positions have its scores")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on from the journal beside the output")
    add_arguments(parser)
    add_run_arguments(parser, journal="")
    return parser.parse_args(arguments)


def make_recipe(words: argparse.Namespace) -> Recipe:
    """What the command line asks for. Raises ProgramError and OSError."""
    sources = tuple(parse_source(text) for text in words.source or ["random"])
    kept = Kept(words.max_opening, words.ahead, words.skip)
    return Recipe(sources, words.nodes, words.hash, words.seed, rules_of(words), kept, words.network)


def provenance_of(recipe: Recipe) -> dict[str, Any]:
    """What makes a run the same run: the number of games may grow from run to run. Raises OSError."""
    engine = {"engine": "Secateur", "version": __version__, "core": load().name}
    provenance: dict[str, Any] = {"program": "scripts/selfplay.py", **engine, "recipe": recipe.as_json()}
    if recipe.network is not None:
        provenance["scores"] = scorer_of(recipe.network)
    elif recipe.kept.ahead:
        provenance["scores"] = None
    return provenance


def play(words: argparse.Namespace, recipe: Recipe, harvest: Harvest) -> None:
    """Play what is left. Raises ProgramError."""
    tasks = make_batches(recipe, words.games, harvest)
    results = run_tasks(play_batch, tasks, workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("games", words.games, harvest.games) as advance:
        for _, batch in results:
            before = harvest.games
            harvest.add(batch)
            advance(harvest.games - before, f"{harvest.positions} positions")


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code. Raises ProgramError and OSError for what cannot be played."""
    words = parse_arguments(arguments)
    recipe = make_recipe(words)
    # What is wrong with a source is said before a file is made.
    for source in recipe.sources:
        choose_opening((source,), recipe.seed, 0)
    if recipe.network is not None:
        network_of(recipe.network)
    provenance = provenance_of(recipe)
    with Journal(journal_beside(words.output), provenance, resume=words.resume) as journal:
        harvest = Harvest(words.output, journal, provenance)
        code = run_to_end(lambda: play(words, recipe, harvest), harvest.close)
    if not harvest.games:
        return code
    results = [harvest.results[result] for result in ("1-0", "1/2-1/2", "0-1", NOT_PLAYED)]
    row = [str(words.output), *map(str, (harvest.games, *results, harvest.positions))]
    head = ["output", "games", "1-0", "1/2-1/2", "0-1", NOT_PLAYED, "positions"]
    standard_output().print(make_table("", head, [row]))
    if words.json is not None:
        write_json(
            words.json, {"games": harvest.games, "positions": harvest.positions, "results": dict(harvest.results)}
        )
    return code


if __name__ == "__main__":
    run_program(main)
