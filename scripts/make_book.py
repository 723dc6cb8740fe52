#!/usr/bin/env python3
"""Make Polyglot opening books: compile lines of theory, count games, merge, prune, inspect.

    python scripts/make_book.py compile                      rebuild the built-in book, uci_engine/book.bin
    python scripts/make_book.py pgn games.pgn -o my.bin      a book of what was played, and how it went
    python scripts/make_book.py inspect my.bin --moves "e4 c5"

The same input gives the same bytes: scores come from searches of fixed depth, each with an empty hash table. Tables
and games may come from anywhere: what cannot be read is reported and left out, and nothing is read without bounds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import struct
import sys
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot

from uci_engine.book import BUILT_IN, Book, BookError
from uci_engine.repertoire import OPENINGS, Line, RepertoireError, opening_names, read_table, replay

# For each position's key: the moves, as Polyglot writes them, and their weights.
Weights = dict[int, dict[int, float]]

ENTRY = struct.Struct(">QHHI")
HEAVIEST = 65535
# The best move of a compiled position has this weight.
BEST_WEIGHT = 1000

SEARCH_DEPTH = 8
JUDGE_HASH_MIB = 4
# Among moves of equal merit, one with four times as many lines behind it is played twice as often.
LINES_POWER = 0.5
# A move whose score is lower by so much is played e times less often.
LOSS_SCALE_CP = 25.0
# Games count as if there had been so many more, all drawn.
PRIOR_GAMES = 20
# A line is reported when one of our moves loses more than this, or when it ends worse than this for us.
LARGEST_LOSS_CP = 80
WORST_END_CP = -90

LARGEST_GAME_CHARACTERS = 2**20
LARGEST_PGN_BYTES = 16 * 2**30
LONGEST_TEXT_LINE = 2**16
MOST_POSITIONS = 4_000_000
MOST_REPORTS = 20
HEADER = re.compile(r'\[[A-Za-z0-9_]{1,64} +"')


class RefusalError(Exception):
    """Something that ends the program, with one sentence for the user."""


# Books -------------------------------------------------------------------------------------------------------------


def polyglot_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move in Polyglot's 16 bits; castling is written as the king taking the rook."""
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(
            7 if board.is_kingside_castling(move) else 0, chess.square_rank(move.from_square)
        )
    promotion = move.promotion - 1 if move.promotion else 0
    return promotion << 12 | move.from_square << 6 | target


def book_bytes(weights: Weights) -> bytes:
    """A Polyglot file: sorted by key, heavier moves first. Weights too large for 16 bits are scaled down."""
    entries = []
    for key, moves in sorted(weights.items()):
        scale = HEAVIEST / max(HEAVIEST, *moves.values())
        rounded = {move: round(weight * scale) for move, weight in moves.items() if weight > 0}
        for move, weight in sorted(rounded.items(), key=lambda item: (-item[1], item[0])):
            # A move that was wanted at all stays possible.
            entries.append(ENTRY.pack(key, move, max(weight, 1), 0))
    return b"".join(entries)


def write_book(weights: Weights, path: Path) -> None:
    """Write the file whole or not at all."""
    data = book_bytes(weights)
    if not data:
        raise RefusalError("there is nothing to write: no move was left")
    draft = path.with_name(path.name + ".part")
    draft.write_bytes(data)
    os.replace(draft, path)
    print(f"{path}: {len(weights)} positions, {len(data) // ENTRY.size} moves, {len(data)} bytes")


def read_book(path: str) -> Weights:
    """All of a book's entries. Raises RefusalError."""
    try:
        book = Book(path)
    except BookError as error:
        raise RefusalError(str(error)) from None
    book.close()
    weights: Weights = {}
    with chess.polyglot.MemoryMappedReader(path) as reader:
        for entry in reader:
            moves = weights.setdefault(entry.key, {})
            moves[entry.raw_move] = max(entry.weight, moves.get(entry.raw_move, 0))
    return weights


# Games -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Record:
    """How a move did for the side that played it."""

    games: int = 0
    half_points: int = 0

    @property
    def score(self) -> float:
        return self.half_points / (2 * self.games)


Records = dict[int, dict[int, Record]]


class OpeningVisitor(chess.pgn.BaseVisitor["OpeningVisitor"]):
    """Takes the first moves and the result of one game; no variations, no comments."""

    def __init__(self, plies: int) -> None:
        # Key and move, in the book's terms, and whether White played it.
        self.moves: list[tuple[int, int, bool]] = []
        self.outcome = ""
        self.problem = ""
        self._plies = plies

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        if tagname == "Result":
            self.outcome = tagvalue
        elif tagname == "Variant" and tagvalue.lower() not in ("standard", "chess", "normal", "from position"):
            self.problem = f"variant {tagvalue[:40]!a}"

    def visit_result(self, result: str) -> None:
        self.outcome = result

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        return chess.pgn.SKIP if self.problem or len(self.moves) >= self._plies else None

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if not move or board.chess960:
            self.problem = "a null move" if not move else "Chess960"
        else:
            self.moves.append((chess.polyglot.zobrist_hash(board), polyglot_move(board, move), board.turn))

    def handle_error(self, error: Exception) -> None:
        self.problem = self.problem or str(error).split("\n")[0][:100]

    def result(self) -> OpeningVisitor:
        return self


def game_texts(path: Path) -> Iterator[str]:
    """The games of a PGN file one by one, as text; RefusalError for what is no such file.

    A game begins where headers follow something else, so that an unfinished comment or bracket ends with its game. An
    endless line or game is cut: what is left is not legal, and is reported with the game.
    """
    if not path.is_file():
        raise RefusalError(f"{path} is not a file of games")
    if path.stat().st_size > LARGEST_PGN_BYTES:
        raise RefusalError(f"{path} is larger than {LARGEST_PGN_BYTES // 2**30} GiB")
    game: list[str] = []
    size = 0
    in_headers = False
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(LONGEST_TEXT_LINE):
            is_header = HEADER.match(line) is not None
            if is_header and not in_headers and game:
                yield "".join(game)
                game, size = [], 0
            in_headers = is_header or (in_headers and line.isspace())
            if size < LARGEST_GAME_CHARACTERS:
                # Blank lines end a game for python-chess, and some programs write them between moves.
                game += [line] if is_header or not line.isspace() else []
                size += len(line)
    if game:
        yield "".join(game)


def count_games(paths: Iterable[Path], plies: int) -> Records:
    """How the moves of these games' first plies did. What cannot be used is told and left out."""
    records: Records = {}
    used = 0
    problems: list[str] = []
    for path in paths:
        for number, text in enumerate(game_texts(path), start=1):
            if not text.strip():
                continue
            problem = _count_game(text, plies, records)
            if problem:
                problems.append(f"{path}, game {number}: {problem}")
            else:
                used += 1
    for problem in problems[:MOST_REPORTS]:
        print(f"left out: {problem}".encode("ascii", "replace").decode(), file=sys.stderr)
    if len(problems) > MOST_REPORTS:
        print(f"left out: {len(problems) - MOST_REPORTS} games more", file=sys.stderr)
    print(f"{used} games used, {len(problems)} left out, {len(records)} positions")
    return records


def _count_game(text: str, plies: int, records: Records) -> str:
    """Count one game; what is wrong with it, if anything, and then nothing of it is counted."""
    try:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=lambda: OpeningVisitor(plies))
    except Exception as error:  # a parser that was never meant for hostile text
        return f"{type(error).__name__}: {str(error)[:100]}"
    if game is None or not (game.moves or game.problem):
        return "no moves"
    if game.problem:
        return game.problem
    points = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}.get(game.outcome)
    if points is None:
        return "no result"
    for key, move, white in game.moves:
        if key not in records and len(records) >= MOST_POSITIONS:
            continue
        record = records.setdefault(key, {}).setdefault(move, Record())
        record.games += 1
        record.half_points += points if white else 2 - points
    return ""


def weights_of_games(records: Records, min_games: int, min_score: float) -> Weights:
    """Weights as Polyglot has them, two for a win and one for a draw, of moves played and scoring often enough."""
    weights: Weights = {}
    for key, moves in records.items():
        kept = {
            move: float(record.half_points)
            for move, record in moves.items()
            if record.games >= min_games and record.half_points and record.score >= min_score
        }
        if kept:
            weights[key] = kept
    return weights


# Theory ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Choice:
    """A move of the repertoire in one position: how many lines play it, and the position after it."""

    san: str
    lines: int
    after: str
    avoided: bool


@dataclass(slots=True)
class Theory:
    """All positions of the repertoire, transpositions merged: FEN without clocks to moves; and where each line ends.

    A line that is the beginning of another only names a position: it has no end, and lends its moves no weight.
    """

    choices: dict[str, dict[int, Choice]] = field(default_factory=dict)
    ends: list[tuple[Line, str]] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Theory:
        """Play the lines out. Raises RepertoireError at an illegal move."""
        theory = cls()
        ordered = sorted(lines, key=lambda line: line.moves)
        beginnings = {
            line.moves
            for line, following in pairwise(ordered)
            if following.moves[: len(line.moves)] == line.moves
        }
        for line, board in replay(ordered):
            if line.moves in beginnings:
                continue
            position = chess.Board()
            for i, move in enumerate(board.move_stack):
                here = position.epd()
                number = polyglot_move(position, move)
                position.push(move)
                after = position.epd()
                choice = theory.choices.setdefault(here, {}).setdefault(
                    number, Choice(line.moves[i], 0, after, i in line.avoided)
                )
                choice.lines += 1
                if choice.avoided != (i in line.avoided):
                    raise RepertoireError(f"{line}: {choice.san} is avoided in some lines and not in others")
            theory.ends.append((line, position.epd()))
        return theory


class Judge:
    """The engine's opinion: a search of fixed depth for each position, each as if it were the first."""

    def __init__(self, depth: int) -> None:
        from uci_engine.core import load
        from uci_engine.deepening import new_searcher

        self._searcher = new_searcher(load(), JUDGE_HASH_MIB)
        self._depth = depth
        self._known: dict[str, tuple[int, str]] = {}

    def score_cp(self, epd: str) -> int:
        """The score for the side to move."""
        return self._look(epd)[0]

    def loss_cp(self, here: str, after: str) -> int:
        """What the move from `here` to `after` loses against the move that the engine would play.

        Both are scored after the move, because a search sees the side to move in a better light.
        """
        preferred = self._look(here)[1]
        return max(0, self.score_cp(after) - self.score_cp(preferred))

    def _look(self, epd: str) -> tuple[int, str]:
        """Score, and the position after the best move."""
        if epd not in self._known:
            self._known[epd] = self._search(epd)
        return self._known[epd]

    def _search(self, epd: str) -> tuple[int, str]:
        from uci_engine.clock import Clock
        from uci_engine.deepening import Deepening, Request

        board = chess.Board(epd + " 0 1")
        self._searcher.table.clear()
        self._searcher.forget()
        request = Request(board, depth=self._depth)
        deepening = Deepening(self._searcher, request, Clock(time.perf_counter()), lambda info: None)
        deepening.run()
        score = deepening.score
        board.push(deepening.best)
        return score, board.epd()


def find_faults(theory: Theory, judge: Judge, largest_loss_cp: int, worst_end_cp: int) -> list[str]:
    """Moves of ours that lose too much, and lines that end too badly, by the engine's search.

    Who plays a move marked as avoided is not "us" in that line.
    """
    faults = []
    for here, choices in theory.choices.items():
        for choice in choices.values():
            loss = 0 if choice.avoided else judge.loss_cp(here, choice.after)
            if loss > largest_loss_cp:
                faults.append(f"{choice.san} loses {loss} cp in {here}")
    for line, end in theory.ends:
        white_score = judge.score_cp(end) * (1 if end.split()[1] == "w" else -1)
        for white, score in ((True, white_score), (False, -white_score)):
            if score < worst_end_cp and not any((i % 2 == 0) == white for i in line.avoided):
                side = "White" if white else "Black"
                faults.append(f"{side} has {score} cp at the end of {line.eco} {line.name}: {line.moves_text()}")
    return faults


def weights_of_theory(theory: Theory, judge: Judge, records: Records) -> Weights:
    """Weights from the engine's search, from the number of lines behind a move, and from results, if there are any."""
    weights: Weights = {}
    for here, choices in theory.choices.items():
        ours = {move: choice for move, choice in choices.items() if not choice.avoided}
        if not ours:
            continue
        key = chess.polyglot.zobrist_hash(chess.Board(here + " 0 1"))
        values = {move: -judge.score_cp(choice.after) for move, choice in ours.items()}
        best = max(values.values())
        merits = {}
        for move, choice in ours.items():
            record = records.get(key, {}).get(move, Record())
            points = record.half_points / 2 + PRIOR_GAMES / 2
            success = (2 * points / (record.games + PRIOR_GAMES)) ** 2
            liking = math.exp((values[move] - best) / LOSS_SCALE_CP)
            merits[move] = choice.lines**LINES_POWER * liking * success
        top = max(merits.values())
        weights[key] = {move: max(BEST_WEIGHT * merit / top, 1.0) for move, merit in merits.items()}
    return weights


# Commands ----------------------------------------------------------------------------------------------------------


def compile_command(options: argparse.Namespace) -> int:
    lines = [line for table in options.tables for line in read_table(table)]
    theory = Theory.of(lines)
    judge = Judge(options.depth)
    faults = find_faults(theory, judge, options.max_loss, options.worst_end)
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


def _plain(name: str) -> str:
    """The name in ASCII letters."""
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()


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
    try:
        book = Book(options.book)
    except BookError as error:
        raise RefusalError(str(error)) from None
    board = _position(options)
    weights = read_book(options.book or str(BUILT_IN))
    widths = [len(moves) for moves in weights.values()]
    reached, deepest = _reachable(book)
    print(f"{len(weights)} positions, {len(book)} moves, up to {max(widths)} in a position")
    print(f"{reached} positions are reached from the start, the deepest after {deepest} plies")
    opening = opening_names().of(board)
    print(f"\n{board.fen()}" + (f"  {opening}" if opening else ""))
    candidates = book.moves(board)
    total = sum(weight for _, weight in candidates)
    for move, weight in candidates:
        san = board.san(move)
        board.push(move)
        after = opening_names().of(board)
        board.pop()
        print(f"  {san:8s}{weight:6d}  {weight / total:4.0%}  {after or ''}".rstrip())
    if not candidates:
        print("  no move")
    book.close()
    return 0


def _position(options: argparse.Namespace) -> chess.Board:
    try:
        board = chess.Board(options.fen) if options.fen else chess.Board()
        for word in options.moves.split():
            if not word.rstrip(".").isdecimal():
                board.push_san(word.lstrip("0123456789."))
    except ValueError as error:
        raise RefusalError(str(error)) from None
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
                after.clear_stack()
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
        sub.add_argument("--max-ply", type=int, default=30, help="plies of each game to use (default 30)")

    sub = command("compile", compile_command, "Compile tables of opening lines (eco, name, moves) into a book.")
    sub.add_argument("tables", nargs="*", type=Path, default=[OPENINGS], metavar="TABLE", help="default: our own")
    output(sub, BUILT_IN)
    sub.add_argument("--depth", type=int, default=SEARCH_DEPTH, help=f"of the searches (default {SEARCH_DEPTH})")
    sub.add_argument("--results", nargs="+", type=Path, default=[], metavar="PGN", help="games to learn from")
    sub.add_argument("--max-loss", type=int, default=LARGEST_LOSS_CP, help="remark on moves that lose more cp")
    sub.add_argument("--worst-end", type=int, default=WORST_END_CP, help="remark on ends worse than this, in cp")
    sub.add_argument("--check", action="store_true", help="only remark; exit code 1 when there is a remark")
    max_ply(sub)

    sub = command("names", names_command, "Compare codes and names with those in other tables of openings.")
    sub.add_argument("tables", nargs="+", type=Path, metavar="TABLE", help="eco, name, moves or pgn")
    sub.add_argument("--lines", type=Path, default=OPENINGS, help="what to compare (default: our own)")

    sub = command("pgn", pgn_command, "Make a book of the moves that were played in games.")
    sub.add_argument("games", nargs="+", type=Path, metavar="PGN")
    output(sub)
    max_ply(sub)
    sub.add_argument("--min-games", type=int, default=3, help="a move must occur so often (default 3)")
    sub.add_argument("--min-score", type=float, default=0.0, help="and score so many percent (default 0)")

    sub = command("merge", merge_command, "Merge books; in each position every book counts the same.")
    sub.add_argument("books", nargs="+", metavar="BOOK")
    output(sub)

    sub = command("prune", prune_command, "Drop moves that weigh too little.")
    sub.add_argument("book", metavar="BOOK")
    output(sub)
    sub.add_argument("--min-weight", type=int, default=1, help="in the book's own numbers (default 1)")
    sub.add_argument("--min-share", type=float, default=0.0, help="percent of the position's weight (default 0)")
    sub.add_argument("--keep", type=int, default=None, help="at most so many moves in a position")

    sub = command("inspect", inspect_command, "Count a book's contents and show its moves in one position.")
    sub.add_argument("book", nargs="?", default="", metavar="BOOK", help="default: the built-in one")
    sub.add_argument("--fen", help="the position (default: the start)")
    sub.add_argument("--moves", default="", help='moves to play first, for example "e4 c5"')
    return main


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with these arguments; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except (RefusalError, RepertoireError, OSError) as error:
        print(f"make_book: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        raise SystemExit(main())
