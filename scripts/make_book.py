#!/usr/bin/env python3
"""Make what the engine knows of openings: its book, and the names of openings.

    python scripts/make_book.py book                         rebuild the built-in book, uci_engine/book/book.bin
    python scripts/make_book.py names a.tsv b.tsv            rebuild the names, uci_engine/book/opening_names.tsv.gz

The same tables and the same version of the search give the same bytes: scores come from searches of fixed depth, each
with an empty hash table. After a change of the search or the evaluation the book in the package still has the old
weights: compile again for a release.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from pathlib import Path

import chess.polyglot

from evaluation.files import replaced
from toolkit.books.repertoire import OPENINGS, read_table, replay
from toolkit.books.theory import Scorer, book_bytes, theory_of, weights_of_theory
from toolkit.console import at_least_one, new_file, run_program, run_to_end, say
from toolkit.errors import ProgramError
from uci_engine.book.book import BUILT_IN, POSITIONS

SEARCH_DEPTH = 10


def make_book(words: argparse.Namespace) -> None:
    """The lines of theory as a Polyglot book, weighted by search. Raises ProgramError, OSError."""
    theory = theory_of([line for table in words.tables for line in read_table(table)])
    weights = weights_of_theory(theory, Scorer(words.depth))
    data = book_bytes(weights)
    if not data:
        raise ProgramError("there is nothing to write: the tables have no move to play")
    with replaced(words.output) as file:
        file.write(data)
    say(f"{words.output}: {len(weights)} positions, {len(data)} bytes")


def make_names(words: argparse.Namespace) -> None:
    """The names of positions, by their keys: what the book and the analysis of games read. Raises as `make_book`."""
    lines = [line for table in words.tables for line in read_table(table)]
    names = {
        chess.polyglot.zobrist_hash(board): f"{line.eco}\t{line.name}"
        for line, board in replay(lines, as_far_as_named=True)
    }
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
