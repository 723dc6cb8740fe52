#!/usr/bin/env python3
"""Training positions from the engine that plays itself: each with its score and the result of its game.

    python scripts/selfplay.py --nodes 1000 --games 100000 --output data.positions --concurrency 2 \\
        --resign 1000 --longest 200

Games begin with random moves, behind the start position or the openings of files. The engine searches in the processes
of this program, a fixed number of nodes a move. toolkit/training/positions.py documents the file; positions.py prints
it. Positions in check are left out, and a flag marks the quiet ones. The same command gives the same file. With
--resume it goes on where it was killed, and --games may be more.

With --ahead N it also keeps up to N positions ahead of each search: some way along its line, up to two random moves off
it, and after the captures that follow. Their scores come from positions.py label.
"""

from __future__ import annotations

import argparse
import random
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from evaluation.network.file import default_network
from toolkit.console import at_least_one, at_least_zero, new_file, run_program, run_to_end, say, show_progress
from toolkit.errors import ProgramError
from toolkit.files import digest_of_files
from toolkit.games.openings import OpeningBook, read_openings
from toolkit.pool import in_order
from toolkit.training.positions import AHEAD, CAPTURE, FIRST, QUIET, RECORD, begun, continued, packed
from uci_engine import __version__
from uci_engine.core import load
from uci_engine.options import NETWORK_BY_DEFAULT
from uci_engine.search.thread_pool import ThreadPool

# Games of one task.
BATCH_GAMES = 64
# A game whose opening is too unequal begins otherwise, so many times at most.
MAX_OPENINGS = 1000
# The most random moves of an opening.
MAX_PLIES = 100

Interval = tuple[int, int]
Records = npt.NDArray[Any]


# ---- Openings ----


@cache
def book_of(path: Path) -> OpeningBook:
    """Chess960 is also what every usual opening is."""
    return read_openings(path, chess960=True)


def random_opening(chance: random.Random, plies: Interval, files: Sequence[Path] = ()) -> chess.Board:
    """An opening of the files, each as often as the others, or the start position, after so many random moves.

    It is not in check and not at the end of a game. Raises ProgramError, OSError.
    """
    for _ in range(MAX_OPENINGS):
        if files:
            book = book_of(chance.choice(files))
            board = book.opening(chance.randrange(len(book))).board()
        else:
            board = chess.Board()
        for _ in range(chance.randint(*plies)):
            if legal := sorted(board.legal_moves, key=chess.Move.uci):
                board.push(chance.choice(legal))
        if any(board.legal_moves) and not board.is_check():
            return board
    raise ProgramError(f"no game can begin: {MAX_OPENINGS} openings in a row are in check or at the end of a game")


# ---- Games ----


@dataclass(frozen=True)
class Recipe:
    """How games are begun and played, and what is kept of them.

    openings: files. plies: of random moves behind them, or behind the start position. nodes: of each search. A game is
    not played if its first score is beyond `max_opening_cp`, lost by a side that sees itself at `-resign_cp` or worse
    at some moves in a row, and drawn after `max_moves`; 0 switches each off. ahead: up to so many positions ahead of
    each search are kept besides its own. skipped_plies: nothing is kept of a game before this ply, from the start
    position.
    """

    openings: tuple[Path, ...] = ()
    plies: Interval = (6, 9)
    nodes: int = 1000
    hash_mib: int = 8
    seed: int = 0
    resign_cp: int = 0
    max_moves: int = 0
    max_opening_cp: int = 400
    ahead: int = 0
    skipped_plies: int = 0


class SelfPlayer:
    """The engine with a fixed number of nodes a move, for both sides of a game; see `uci_engine.search.self_play`."""

    def __init__(self, recipe: Recipe) -> None:
        pool = ThreadPool(load(), recipe.hash_mib, default_network() if NETWORK_BY_DEFAULT else None)
        from uci_engine.search.self_play import SelfPlay
        from uci_engine.search.transposition_table import TranspositionTable

        # Of games, and of the scout.
        self._searchers = [pool.main, pool.new_searcher(TranspositionTable(1))]
        self.game: Any = SelfPlay(*self._searchers)
        for name in ("nodes", "resign_cp", "max_moves", "max_opening_cp", "ahead", "skipped_plies"):
            setattr(self.game, name, getattr(recipe, name))

    def play(self, board: chess.Board, seed: int) -> Records:
        """Play a game to its end. Returns what is kept: no positions in check, none of an opening that is too unequal.
        `seed`: of random moves off lines.
        """
        from uci_engine.search.self_play import NOT_PLAYED, ROW

        for searcher in self._searchers:
            searcher.table.clear()
            searcher.histories.clear()
            searcher.position.set_board(board)
        game = self.game
        game.play(board.ply(), seed)
        if game.result == NOT_PLAYED:
            return np.empty(0, RECORD)
        rows = np.frombuffer(array("Q", game.kept_rows()), np.uint64).reshape(-1, ROW).copy()
        ply, score_cp, *flags = rows[:, 11:].T
        rows[:, 11] = ply // 2 + 1
        records = packed(rows)
        records["score_cp"] = score_cp.astype(np.uint16).view(np.int16)
        records["result"] = game.result
        records["flags"] = sum(flag * mask for flag, mask in zip((QUIET, CAPTURE, AHEAD), flags, strict=True))
        records["flags"][:1] |= FIRST
        return records


# The one of this process.
self_player = cache(SelfPlayer)


def play_game(recipe: Recipe, number: int) -> Records:
    """The positions of the game with this number: another is begun where none are kept.

    Raises ProgramError, OSError.
    """
    chance = random.Random(f"{recipe.seed} {number}")
    for _ in range(MAX_OPENINGS):
        board = random_opening(chance, recipe.plies, recipe.openings)
        records = self_player(recipe).play(board, chance.getrandbits(32))
        if len(records):
            return records
    raise ProgramError(f"nothing is kept of {MAX_OPENINGS} games in a row: too unequal, or too short for --skip")


def play_games(recipe: Recipe, numbers: Iterable[int]) -> Records:
    """What the processes do: games with these numbers. Raises ProgramError, OSError."""
    return np.concatenate([play_game(recipe, number) for number in numbers])


# ---- The run ----


def plies(word: str) -> Interval:
    """Two numbers of moves, as 6-9, from a command line."""
    first, dash, last = word.partition("-")
    low, high = at_least_zero(first), at_least_zero(last if dash else first)
    if not low <= high <= MAX_PLIES:
        raise argparse.ArgumentTypeError(f"{word} is not FIRST-LAST, from 0 to {MAX_PLIES}")
    return low, high


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--output", type=new_file, required=True, metavar="FILE")
    parser.add_argument("--games", type=at_least_one, default=1000, metavar="N", help="(1000)")
    parser.add_argument("--nodes", type=at_least_one, metavar="N", help="of each search (%(default)s)")
    what = "of each process (%(default)s)"
    parser.add_argument("--hash", type=at_least_one, dest="hash_mib", metavar="MIB", help=what)
    what = ".pgn or .epd, also in a .zip or .gz; each as often as the others (the start position)"
    parser.add_argument("--openings", type=Path, nargs="+", metavar="FILE", help=what)
    what = "random moves at the start, or behind openings of files (6-9; 0-0)"
    parser.add_argument("--plies", type=plies, metavar="N-N", help=what)
    what = "kept ahead of each search, too (%(default)s)"
    parser.add_argument("--ahead", type=at_least_zero, metavar="N", help=what)
    what = "nothing kept before (%(default)s)"
    parser.add_argument("--skip", type=at_least_zero, dest="skipped_plies", metavar="PLIES", help=what)
    what = "openings beyond are not played; 0: all (%(default)s)"
    parser.add_argument("--max-opening", type=at_least_zero, dest="max_opening_cp", metavar="CP", help=what)
    what = "lost by who sees it so ten times in a row; 0: never (%(default)s)"
    parser.add_argument("--resign", type=at_least_zero, dest="resign_cp", metavar="CP", help=what)
    what = "longer games are drawn; 0: none (%(default)s)"
    parser.add_argument("--longest", type=at_least_zero, dest="max_moves", metavar="MOVES", help=what)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--resume", action="store_true", help="go on behind what the output has")
    parser.set_defaults(**asdict(Recipe()) | {"plies": None})
    words = parser.parse_args(arguments)
    words.openings = tuple(words.openings)
    words.plies = words.plies or ((0, 0) if words.openings else Recipe.plies)
    return words


def provenance_of(recipe: Recipe) -> dict[str, Any]:
    """What makes a run the same run: the number of games may grow from run to run. Raises OSError."""
    openings = [{"file": path.name, "digest": digest_of_files([path])} for path in recipe.openings]
    return {
        "program": "scripts/selfplay.py",
        "engine": "Secateur",
        "version": __version__,
        "core": load().name,
        "recipe": asdict(recipe) | {"openings": openings},
        **({"scores": None} if recipe.ahead else {}),
    }


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code. Raises ProgramError and OSError for what cannot be played."""
    words = parse_arguments(arguments)
    recipe = Recipe(**{each.name: getattr(words, each.name) for each in fields(Recipe)})
    # What is wrong with a file is said before another is made.
    for path in recipe.openings:
        book_of(path)
    provenance = provenance_of(recipe)
    firsts = np.flatnonzero(begun(words.output, provenance, words.resume)["flags"] & FIRST)
    # The last game may have been cut off: it is played again.
    games, positions = max(len(firsts) - 1, 0), int(firsts[-1]) if len(firsts) else 0

    def play() -> None:
        nonlocal games, positions
        numbers = range(games, words.games)
        batches = (numbers[first : first + BATCH_GAMES] for first in range(0, len(numbers), BATCH_GAMES))
        with (
            continued(words.output, provenance, positions) as append,
            show_progress("games", words.games, games) as advance,
        ):
            for records in in_order(partial(play_games, recipe), batches, words.concurrency):
                append(records)
                played = int(np.count_nonzero(records["flags"] & FIRST))
                games, positions = games + played, positions + len(records)
                advance(played, f"{positions} positions")

    code = run_to_end(play)
    say(f"{words.output}: {positions} positions of {games} games")
    return code


if __name__ == "__main__":
    run_program(main)
