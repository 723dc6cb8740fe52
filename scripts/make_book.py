#!/usr/bin/env python3
"""Make what the engine knows of openings: its book, and the names of openings.

    python scripts/make_book.py book                         rebuild the built-in book, uci_engine/book/book.bin
    python scripts/make_book.py names a.tsv b.tsv            rebuild the names, uci_engine/book/opening_names.tsv.gz

The same tables and the same version of the search give the same bytes: scores come from searches of fixed depth, each
with an empty hash table. After a change of the search or the evaluation the book in the package still has the old
weights: compile again for a release.

`openings.tsv` beside this file is our own repertoire. Any table with the columns `eco`, `name` and `moves` (or `pgn`)
can be read.

The moves are in SAN, with or without move numbers. A move marked `~` (or `?!`, or `?`) is answered but never played: a
gambit, or a line that does not suit the engine.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import chess
import chess.polyglot

from evaluation.files import replaced
from toolkit.console import at_least_one, new_file, run_program, run_to_end, say
from toolkit.errors import ProgramError
from toolkit.files import read_text
from uci_engine.board import moves
from uci_engine.book.book import BUILT_IN, POSITIONS
from uci_engine.core import load
from uci_engine.score import DRAW, MATE
from uci_engine.search.thread_pool import ThreadPool

OPENINGS = Path(__file__).with_name("openings.tsv")

MOVE_NUMBER = re.compile(r"^\d+\.+")
AVOIDED_MARKS = ("~", "?!", "?", "??")

# For each position's key: the moves, as Polyglot writes them, and their weights.
Weights = dict[int, dict[int, float]]
ENTRY = struct.Struct(">QHHI")
# The best move of a position has this weight.
BEST_WEIGHT = 1000
SEARCH_HASH_MIB = 4
# Among moves of equal merit, one with four times as many lines behind it is played twice as often.
LINES_POWER = 0.5
# A move whose score is lower by so much is played e times less often.
LOSS_SCALE_CP = 25.0
SEARCH_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Line:
    """One opening line, its name with the code in front. `avoided`: indices of moves that we answer and do not play."""

    name: str
    board: chess.Board
    avoided: frozenset[int]


def read_line(name: str, text: str) -> Line:
    """A line from its moves in SAN. Raises ValueError for a move that is not legal."""
    board = chess.Board()
    avoided = set()
    for word in text.split():
        marked = MOVE_NUMBER.sub("", word)
        move = marked.rstrip("!?~")
        if marked.removeprefix(move) in AVOIDED_MARKS:
            avoided.add(len(board.move_stack))
        if move:
            board.push_san(move)
    return Line(name, board, frozenset(avoided))


def read_tables(paths: Iterable[Path]) -> list[Line]:
    """All lines of tables with a header, columns parted by tabs. Raises ProgramError, and OSError."""
    lines = []
    for path in paths:
        rows = csv.DictReader(read_text(path).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
        for number, row in enumerate(rows, start=2):
            try:
                lines.append(read_line(f"{row['eco']}\t{row['name']}", row.get("moves") or row["pgn"]))
            except (KeyError, ValueError) as error:
                raise ProgramError(f"{path}, row {number}: {error}") from None
    return lines


@dataclass(slots=True)
class Choice:
    """A move of the repertoire in one position: the position after it, and how many lines play it."""

    after: str
    avoided: bool
    lines: int = 0


# For each position, a FEN without clocks, the moves as Polyglot writes them. Transpositions are one position.
Theory = dict[str, dict[int, Choice]]


def theory_of(lines: Sequence[Line]) -> Theory:
    """Play the lines out. Raises ProgramError for a move that is avoided in some lines and not in others.

    A line that is the beginning of another only names a position: it lends its moves no weight.
    """
    theory: Theory = {}
    stacks = [tuple(line.board.move_stack) for line in lines]
    beginnings = {stack[:count] for stack in stacks for count in range(len(stack))}
    for line, stack in zip(lines, stacks, strict=True):
        board = chess.Board()
        for ply, move in enumerate(() if stack in beginnings else stack):
            choices = theory.setdefault(board.epd(), {})
            number, avoided = polyglot_move(board, move), ply in line.avoided
            board.push(move)
            choice = choices.setdefault(number, Choice(board.epd(), avoided))
            choice.lines += 1
            if choice.avoided != avoided:
                raise ProgramError(f"{line.name}: {move} is avoided in some lines and not in others")
    return theory


def polyglot_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move in Polyglot's 16 bits; castling is written as the king taking the rook."""
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(7 if board.is_kingside_castling(move) else 0, chess.square_rank(move.from_square))
    promotion = move.promotion - 1 if move.promotion else 0
    return promotion << 12 | move.from_square << 6 | target


def scorer(depth: int) -> Callable[[str], int]:
    """The engine's opinion of a position, for the side to move: a search to this depth, as if it were the first."""
    searcher = ThreadPool(load(), SEARCH_HASH_MIB).main

    @cache
    def score_cp(epd: str) -> int:
        board = chess.Board(f"{epd} 0 1")
        if not any(board.legal_moves):  # the line ends with mate or stalemate
            return -MATE if board.is_check() else DRAW
        searcher.table.clear()
        searcher.histories.clear()
        searcher.begin(0)
        searcher.position.set_board(board)
        ranks = {moves.encode(board, move): 0 for move in board.legal_moves}
        searcher.set_root(searcher.sorted_root_moves(ranks))
        searcher.table.new_search()
        searcher.run(1, depth)
        score: int = searcher.score
        return score

    return score_cp


def weights_of_theory(theory: Theory, score_cp: Callable[[str], int]) -> Weights:
    """Weights from the engine's search and from the number of lines behind a move."""
    weights: Weights = {}
    for here, choices in theory.items():
        ours = {move: choice for move, choice in choices.items() if not choice.avoided}
        if not ours:
            continue
        values = {move: -score_cp(choice.after) for move, choice in ours.items()}
        best = max(values.values())
        merits = {
            move: choice.lines**LINES_POWER * math.exp((values[move] - best) / LOSS_SCALE_CP)
            for move, choice in ours.items()
        }
        top = max(merits.values())
        key = chess.polyglot.zobrist_hash(chess.Board(f"{here} 0 1"))
        weights[key] = {move: max(BEST_WEIGHT * merit / top, 1.0) for move, merit in merits.items()}
    return weights


def book_bytes(weights: Weights) -> bytes:
    """A Polyglot file: sorted by key, heavier moves first."""
    return b"".join(
        ENTRY.pack(key, move, weight, 0)
        for key, moves in sorted(weights.items())
        for move, weight in sorted(
            ((move, round(weight)) for move, weight in moves.items()), key=lambda item: (-item[1], item[0])
        )
    )


def make_book(words: argparse.Namespace) -> None:
    """The lines of theory as a Polyglot book, weighted by search. Raises ProgramError, OSError."""
    weights = weights_of_theory(theory_of(read_tables(words.tables)), scorer(words.depth))
    data = book_bytes(weights)
    if not data:
        raise ProgramError("there is nothing to write: the tables have no move to play")
    with replaced(words.output) as file:
        file.write(data)
    say(f"{words.output}: {len(weights)} positions, {len(data)} bytes")


def make_names(words: argparse.Namespace) -> None:
    """The names of positions, by their keys: what the book and the analysis of games read. Raises as `make_book`."""
    names = {chess.polyglot.zobrist_hash(line.board): line.name for line in read_tables(words.tables)}
    rows = "".join(f"{key:016x}\t{name}\n" for key, name in sorted(names.items(), key=lambda item: (item[1], item[0])))
    with replaced(words.output) as file:
        file.write(gzip.compress(rows.encode(), mtime=0))
    say(f"{words.output}: {len(names)} positions")


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    book = commands.add_parser("book", help="the book, from tables of lines (eco, name, moves)")
    book.add_argument("tables", nargs="*", type=Path, default=[OPENINGS], metavar="TABLE", help="(openings.tsv)")
    book.add_argument("-o", "--output", type=new_file, default=BUILT_IN, help="(%(default)s)")
    book.add_argument("--depth", type=at_least_one, default=SEARCH_DEPTH, help="of the searches (%(default)s)")
    book.set_defaults(run=make_book)
    names = commands.add_parser("names", help="the names of positions, from tables (eco, name, moves or pgn)")
    names.add_argument("tables", nargs="+", type=Path, metavar="TABLE")
    names.add_argument("-o", "--output", type=new_file, default=POSITIONS, help="(%(default)s)")
    names.set_defaults(run=make_names)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    return run_to_end(lambda: words.run(words))


if __name__ == "__main__":
    run_program(main)
