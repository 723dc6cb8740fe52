#!/usr/bin/env python3
"""Make what the engine knows of openings: its book, and the names of openings.

    python scripts/make_book.py book                         rebuild the built-in book, uci_engine/book/book.bin
    python scripts/make_book.py names a.tsv b.tsv            rebuild the names, uci_engine/book/opening_names.tsv.gz

The same tables and the same version of the search give the same bytes: scores come from searches of fixed depth, each
with an empty hash table. After a change of the search or the evaluation the book in the package still has the old
weights: compile again for a release.

`openings.tsv` beside this file is our own repertoire. Any table with the columns `eco`, `name` and `moves` (or `pgn`)
can be read.

The moves are in SAN, with or without move numbers. `|` follows the move that reaches the named position. Without it,
that is the last move. A move marked `~` (or `?!`, or `?`) is answered but never played: a gambit, or a line that does
not suit the engine.
"""

from __future__ import annotations

import argparse
import gzip
import math
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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

OPENINGS = Path(__file__).with_name("openings.tsv")

MAX_LINE_PLIES = 80

NAME_MARK = "|"
AVOIDED_MARK = "~"
_MOVE_NUMBER = re.compile(r"^\d+\.+")
_ECO = re.compile(r"[A-E]\d\d")
_SUFFIX = re.compile(r"[!?~]+$")

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
    """One opening line.

    `moves` are in SAN, without marks. The first `named_plies` of them lead to the position with the name. `avoided`
    holds the indices of moves that we answer and do not play.
    """

    eco: str
    name: str
    moves: tuple[str, ...]
    named_plies: int
    avoided: frozenset[int] = frozenset()


def read_line(eco: str, name: str, text: str) -> Line:
    """A line from the three columns of a table. Raises ProgramError. `replay` checks the moves."""
    moves: list[str] = []
    avoided: set[int] = set()
    named_plies = 0
    for word in text.split():
        if word == NAME_MARK:
            named_plies = len(moves)
            continue
        move = _MOVE_NUMBER.sub("", word)
        if not move:
            continue
        mark = _SUFFIX.search(move)
        if mark:
            move = move[: mark.start()]
            if mark[0] in (AVOIDED_MARK, "?!", "?", "??"):
                avoided.add(len(moves))
        moves.append(move)
    if _ECO.fullmatch(eco) is None:
        raise ProgramError(f"{eco!a} is not an ECO code")
    if not name or not name.isprintable():
        raise ProgramError("a line has no name")
    if not 0 < len(moves) <= MAX_LINE_PLIES:
        raise ProgramError(f"{name!a} has {len(moves)} moves, not 1 to {MAX_LINE_PLIES}")
    return Line(eco, name, tuple(moves), named_plies or len(moves), frozenset(avoided))


def read_table(path: Path = OPENINGS) -> list[Line]:
    """All lines of a table with a header, columns parted by tabs. Raises ProgramError, and OSError."""
    header, *rows = read_text(path).split("\n")
    columns = header.rstrip("\r").split("\t")
    try:
        eco, name = columns.index("eco"), columns.index("name")
        moves = columns.index("moves" if "moves" in columns else "pgn")
    except ValueError:
        raise ProgramError(f"{path} has no header with eco, name and moves") from None
    lines = []
    for number, row in enumerate(rows, start=2):
        if not row.strip() or row.startswith("#"):
            continue
        cells = row.rstrip("\r").split("\t")
        if len(cells) != len(columns):
            raise ProgramError(f"{path}, row {number}: {len(cells)} columns, not {len(columns)}")
        try:
            lines.append(read_line(cells[eco], cells[name], cells[moves]))
        except ProgramError as error:
            raise ProgramError(f"{path}, row {number}: {error}") from None
    return lines


def replay(line: Line) -> chess.Board:
    """The board after the moves of a line. Raises ProgramError for a move that is not legal."""
    board = chess.Board()
    for move in line.moves:
        try:
            board.push_san(move)
        except ValueError:
            number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
            raise ProgramError(f"{line.eco} {line.name}: {number} {move!a} is not legal") from None
    return board


@dataclass(slots=True)
class Choice:
    """A move of the repertoire in one position: how many lines play it, and the position after it."""

    san: str
    lines: int
    after: str
    avoided: bool


# For each position, a FEN without clocks, the moves as Polyglot writes them. Transpositions are one position.
Theory = dict[str, dict[int, Choice]]


def theory_of(lines: Iterable[Line]) -> Theory:
    """Play the lines out. Raises ProgramError at an illegal move.

    A line that is the beginning of another only names a position: it lends its moves no weight.
    """
    theory: Theory = {}
    ordered = sorted(lines, key=lambda line: line.moves)
    beginnings = {
        line.moves for line, following in pairwise(ordered) if following.moves[: len(line.moves)] == line.moves
    }
    for line in ordered:
        played = replay(line).move_stack
        position = chess.Board()
        for i, move in enumerate([] if line.moves in beginnings else played):
            choices = theory.setdefault(position.epd(), {})
            number = polyglot_move(position, move)
            position.push(move)
            choice = choices.setdefault(number, Choice(line.moves[i], 0, position.epd(), i in line.avoided))
            choice.lines += 1
            if choice.avoided != (i in line.avoided):
                raise ProgramError(f"{line.name}: {choice.san} is avoided in some lines and not in others")
    return theory


def polyglot_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move in Polyglot's 16 bits; castling is written as the king taking the rook."""
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(7 if board.is_kingside_castling(move) else 0, chess.square_rank(move.from_square))
    promotion = move.promotion - 1 if move.promotion else 0
    return promotion << 12 | move.from_square << 6 | target


class Scorer:
    """The engine's opinion: a search of fixed depth for each position, each as if it were the first."""

    def __init__(self, depth: int) -> None:
        self._searcher = load().searcher(load().table_class(SEARCH_HASH_MIB))
        self._depth = depth
        self._known: dict[str, int] = {}

    def score_cp(self, epd: str) -> int:
        """The score for the side to move."""
        if epd not in self._known:
            self._known[epd] = self._search(chess.Board(f"{epd} 0 1"))
        return self._known[epd]

    def _search(self, board: chess.Board) -> int:
        if not any(board.legal_moves):  # the line ends with mate or stalemate
            return -MATE if board.is_check() else DRAW
        self._searcher.table.clear()
        self._searcher.clear()
        worker = load().worker(self._searcher)
        worker.reset(0)
        self._searcher.position.set_board(board)
        ranks = {moves.encode(board, move): 0 for move in board.legal_moves}
        self._searcher.set_root(worker.sorted_root_moves(ranks))
        self._searcher.table.new_search()
        worker.run(1, self._depth)
        score: int = worker.score
        return score


def weights_of_theory(theory: Theory, scorer: Scorer) -> Weights:
    """Weights from the engine's search and from the number of lines behind a move."""
    weights: Weights = {}
    for here, choices in theory.items():
        ours = {move: choice for move, choice in choices.items() if not choice.avoided}
        if not ours:
            continue
        values = {move: -scorer.score_cp(choice.after) for move, choice in ours.items()}
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
    names = {}
    for line in sorted(lines, key=lambda line: line.moves):
        board = replay(replace(line, moves=line.moves[: line.named_plies]))
        names[chess.polyglot.zobrist_hash(board)] = f"{line.eco}\t{line.name}"
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
