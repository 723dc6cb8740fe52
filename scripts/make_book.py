#!/usr/bin/env python3
"""Make Polyglot opening books: compile lines of theory, count games, merge, prune, inspect.

    python scripts/make_book.py compile                      rebuild the built-in book, uci_engine/book/book.bin
    python scripts/make_book.py pgn games.pgn -o my.bin      a book of the moves and results of games
    python scripts/make_book.py inspect my.bin --moves "e4 c5"

The same input and the same version of the search give the same bytes: scores come from searches of fixed depth, each
with an empty hash table. After a change of the search or the evaluation the book in the package still has the old
weights: compile again for a release. Tables and games may come from anywhere. What cannot be read is reported and left
out.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import gzip
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.polyglot

from lib.books.file import Weights, read_book, write_book
from lib.books.games import count_games, weights_of_games
from lib.books.repertoire import OPENINGS, RepertoireError, read_table, replay
from lib.books.review import ACCEPTED, find_faults, read_accepted, without_accepted
from lib.books.theory import BEST_WEIGHT, Judge, Theory, weights_of_theory
from lib.console import at_least_one
from lib.errors import ProgramError
from uci_engine.book.book import BUILT_IN, POSITIONS, Book, BookError, opening_of

SEARCH_DEPTH = 10
# Letters that Unicode takes for whole ones, and not for a letter with a mark.
UNDECOMPOSED = str.maketrans({"\u00f8": "o", "\u00d8": "O", "\u0142": "l", "\u0141": "L", "\u00df": "ss"})
# A line is reported when one of our moves loses more than this, or when it ends worse than this for us.
MAX_LOSS_CP = 100
WORST_END_CP = -110


def compile_command(options: argparse.Namespace) -> int:
    lines = [line for table in options.tables for line in read_table(table)]
    theory = Theory.of(lines)
    judge = Judge(options.depth)
    accepted = options.accepted or (ACCEPTED if options.tables == [OPENINGS] else None)
    rows = read_accepted(accepted) if accepted else []
    faults = without_accepted(find_faults(theory, judge, options.max_loss, options.worst_end), rows, theory)
    for fault in faults:
        print(fault)
    moves = sum(map(len, theory.choices.values()))
    print(f"{len(lines)} lines, {len(theory.choices)} positions, {moves} moves, {len(faults)} remarks")
    if options.check:
        return 1 if faults else 0
    records = count_games(options.results, options.max_ply) if options.results else {}
    write_book(weights_of_theory(theory, judge, records), options.output)
    return 0


def names_command(options: argparse.Namespace) -> int:
    """Each line must bear the code and name of the last of its positions that the reference tables name."""
    reference = {}
    for line, board in replay([line for table in options.tables for line in read_table(table)], as_far_as_named=True):
        reference[board.epd()] = (line.eco, _plain(line.name))
    unlike = 0
    lines = read_table(options.lines)
    for line, board in replay(lines):
        position = board.copy()
        while position.move_stack and position.epd() not in reference:
            position.pop()
        there = reference.get(position.epd(), ("", "no name"))
        if there != (line.eco, _plain(line.name)) or len(position.move_stack) != line.named_plies:
            unlike += 1
            print(f"{line}\n    there: {' '.join(there)}, after {len(position.move_stack)} plies")
    print(f"{len(lines)} lines, {unlike} with another code, name, or place of the name")
    return 1 if unlike else 0


def positions_command(options: argparse.Namespace) -> int:
    """The names of positions, by their keys: what the book and the analysis of games read."""
    lines = [line for table in options.tables for line in read_table(table)]
    names = {
        chess.polyglot.zobrist_hash(board): f"{line.eco}\t{line.name}"
        for line, board in replay(lines, as_far_as_named=True)
    }
    rows = "".join(f"{key:016x}\t{name}\n" for key, name in sorted(names.items(), key=lambda item: (item[1], item[0])))
    options.output.write_bytes(gzip.compress(rows.encode(), mtime=0))
    print(f"{len(names)} positions")
    return 0


def _plain(name: str) -> str:
    """The name in ASCII letters."""
    return unicodedata.normalize("NFKD", name.translate(UNDECOMPOSED)).encode("ascii", "ignore").decode()


def pgn_command(options: argparse.Namespace) -> int:
    records = count_games(options.games, options.max_ply)
    write_book(weights_of_games(records, options.min_games, options.min_score / 100), options.output)
    return 0


def merge_command(options: argparse.Namespace) -> int:
    merged: Weights = {}
    for path in options.books:
        for key, moves in read_book(path).items():
            # Each book's word counts the same, however large its numbers are.
            total = sum(moves.values())
            target = merged.setdefault(key, defaultdict(float))
            for move, weight in moves.items():
                if weight:
                    target[move] += BEST_WEIGHT * weight / total
    write_book({key: dict(moves) for key, moves in merged.items() if moves}, options.output)
    return 0


def prune_command(options: argparse.Namespace) -> int:
    pruned: Weights = {}
    for key, moves in read_book(options.book).items():
        total = sum(moves.values())
        best = sorted(moves.items(), key=lambda item: (-item[1], item[0]))[: options.keep]
        kept = {
            move: weight
            for move, weight in best
            if weight and weight >= options.min_weight and 100 * weight >= options.min_share * total
        }
        if kept:
            pruned[key] = kept
    write_book(pruned, options.output)
    return 0


def inspect_command(options: argparse.Namespace) -> int:
    weights = read_book(options.book)
    book = Book(options.book)
    board = _position(options)
    widths = [len(moves) for moves in weights.values()]
    reached, max_plies = _reachable(book)
    print(f"{len(weights)} positions, {len(book)} moves, up to {max(widths)} in a position")
    print(f"{reached} positions are reached from the start, the deepest after {max_plies} plies")
    opening = opening_of(board)
    print(f"\n{board.fen()}" + (f"  {opening}" if opening else ""))
    candidates = book.moves(board)
    total = sum(weight for _, weight in candidates)
    for move, weight in candidates:
        san = board.san(move)
        board.push(move)
        after = opening_of(board)
        board.pop()
        print(f"  {san:8s}{weight:6d}  {weight / total:4.0%}  {after or ''}".rstrip())
    if not candidates:
        print("  no move")
    return 0


def _position(options: argparse.Namespace) -> chess.Board:
    try:
        board = chess.Board(options.fen) if options.fen else chess.Board()
        for word in options.moves.split():
            if not word.rstrip(".").isdecimal():
                board.push_san(word.lstrip("0123456789."))
    except ValueError as error:
        raise ProgramError(str(error)) from None
    return board


def _reachable(book: Book) -> tuple[int, int]:
    """Positions that the book's own moves lead to from the start, and the most plies they take at least."""
    seen = {chess.polyglot.zobrist_hash(chess.Board())}
    level = [chess.Board()]
    reached = depth = 0
    while level:
        below = []
        for board in level:
            moves = book.moves(board)
            reached += bool(moves)
            for move, _ in moves:
                after = board.copy(stack=False)
                after.push(move)
                key = chess.polyglot.zobrist_hash(after)
                if key not in seen:
                    seen.add(key)
                    below.append(after)
        level = below
        depth += bool(below)
    return reached, depth


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = main.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, action: object, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(action=action)
        return sub

    def output(sub: argparse.ArgumentParser, default: Path | None = None) -> None:
        text = f"the book to write (default {default})" if default else "the book to write"
        sub.add_argument("-o", "--output", type=Path, default=default, required=default is None, help=text)

    def max_ply(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--max-ply", type=at_least_one, default=30, help="plies of each game to use (default 30)")

    sub = command("compile", compile_command, "Compile tables of opening lines (eco, name, moves) into a book.")
    sub.add_argument("tables", nargs="*", type=Path, default=[OPENINGS], metavar="TABLE", help="default: our own")
    output(sub, BUILT_IN)
    sub.add_argument("--depth", type=at_least_one, default=SEARCH_DEPTH, help=f"of searches (default {SEARCH_DEPTH})")
    sub.add_argument("--results", nargs="+", type=Path, default=[], metavar="PGN", help="games to learn from")
    sub.add_argument("--max-loss", type=int, default=MAX_LOSS_CP, help="remark on moves that lose more cp")
    sub.add_argument("--worst-end", type=int, default=WORST_END_CP, help="remark on ends worse than this, in cp")
    sub.add_argument("--accepted", type=Path, metavar="TABLE", help="remarks to leave out (default: ours for ours)")
    sub.add_argument("--check", action="store_true", help="only remark; exit code 1 when there is a remark")
    max_ply(sub)

    sub = command("names", names_command, "Compare codes and names with those in other tables of openings.")
    sub.add_argument("tables", nargs="+", type=Path, metavar="TABLE", help="eco, name, moves or pgn")
    sub.add_argument("--lines", type=Path, default=OPENINGS, help="what to compare (default: our own)")

    sub = command("positions", positions_command, "Write the names of positions, which the engine shows.")
    sub.add_argument("tables", nargs="+", type=Path, metavar="TABLE", help="eco, name, moves or pgn")
    sub.add_argument("-o", "--output", type=Path, default=POSITIONS, help=f"the file to write (default {POSITIONS})")

    sub = command("pgn", pgn_command, "Make a book of the moves that were played in games.")
    sub.add_argument("games", nargs="+", type=Path, metavar="PGN")
    output(sub)
    max_ply(sub)
    sub.add_argument("--min-games", type=at_least_one, default=3, help="a move must occur so often (default 3)")
    sub.add_argument("--min-score", type=float, default=0.0, help="and score so many percent (default 0)")

    sub = command("merge", merge_command, "Merge books; in each position every book counts the same.")
    sub.add_argument("books", nargs="+", metavar="BOOK")
    output(sub)

    sub = command("prune", prune_command, "Drop moves that weigh too little.")
    sub.add_argument("book", metavar="BOOK")
    output(sub)
    sub.add_argument("--min-weight", type=int, default=1, help="in the book's own numbers (default 1)")
    sub.add_argument("--min-share", type=float, default=0.0, help="percent of the position's weight (default 0)")
    sub.add_argument("--keep", type=at_least_one, default=None, help="at most so many moves in a position")

    sub = command("inspect", inspect_command, "Count a book's contents and show its moves in one position.")
    sub.add_argument("book", nargs="?", default=str(BUILT_IN), metavar="BOOK", help="default: the built-in one")
    sub.add_argument("--fen", help="the position (default: the start)")
    sub.add_argument("--moves", default="", help='moves to play first, for example "e4 c5"')
    return main


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with these arguments; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except (BookError, ProgramError, RepertoireError, OSError) as error:
        print(f"make_book: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    run_program(main)
