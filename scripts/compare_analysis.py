#!/usr/bin/env python3
"""Compare the marks of `secateur analyse` with those that another engine's scores give.

    python scripts/compare_analysis.py games.pgn --engine stockfish [--nodes 25000] [--factor 10] [--games 20]

The other engine searches every position with FACTOR times the nodes. Its moves are judged by the same losses of
expected result, with the model of wins of Secateur on both engines' normalised scores. Prints how many of its blunders
are named, how many named ones are false, and each move about which the two disagree. Moves of the book and forced moves
do not count.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from lib.console import at_least_one, complain, say, show_progress, write_json
from lib.errors import ProgramError
from uci_engine.api.games import new_engine
from uci_engine.game_analysis.game_search import Effort
from uci_engine.game_analysis.judgement import BLUNDER_LOSS, INACCURACY_LOSS, MISTAKE_LOSS, Mark
from uci_engine.game_analysis.pgn_reader import PgnError, game_texts, read_game
from uci_engine.game_analysis.report import GameReport, analyse_game, static_score
from uci_engine.game_analysis.values import final_value, value_of
from uci_engine.score import piece_count


@dataclass(frozen=True, slots=True)
class Compared:
    """One judged move: its mark, the loss that Secateur found, and the loss by the other engine."""

    game: int
    move: str
    fen: str
    mark: str
    loss: float
    reference_loss: float


def reference_losses(engine: chess.engine.SimpleEngine, report: GameReport, nodes: int, game: object) -> list[float]:
    """The loss of expected result of each move by the other engine."""
    board = report.start.copy()
    expected = [_expected(engine, board, nodes, game)]
    for ply in report.plies:
        board.push(ply.move)
        expected.append(_expected(engine, board, nodes, game))
    losses = []
    for index, ply in enumerate(report.plies):
        loss = expected[index] - expected[index + 1]
        losses.append(max(0.0, loss if ply.white else -loss))
    return losses


def _expected(engine: chess.engine.SimpleEngine, board: chess.Board, nodes: int, game: object) -> float:
    """White's expected result in a position."""
    value = final_value(board)
    if value is None:
        info = engine.analyse(board, chess.engine.Limit(nodes=nodes), game=game)
        value = value_of(info["score"].white(), piece_count(board))
    return value.expected


def compare(options: argparse.Namespace) -> Iterator[list[Compared]]:
    """The judged moves of each game."""
    with (
        chess.engine.SimpleEngine.popen_uci(shlex.split(options.engine)) as reference,
        new_engine({"threads": 1}) as engine,
        options.games_file.open("rb") as file,
    ):
        reference.configure({"Hash": 64, "Threads": 1})
        for number, text in enumerate(game_texts(file), start=1):
            if number > options.games:
                return
            try:
                game = read_game(text)
                engine.new_game()
                report = analyse_game(game, engine, Effort(nodes=options.nodes), static_score(engine.evaluate))
            except (PgnError, ValueError) as error:
                raise ProgramError(f"game {number}: {error}") from None
            losses = reference_losses(reference, report, options.factor * options.nodes, number)
            yield list(_judged(number, report, losses))


def _judged(number: int, report: GameReport, losses: list[float]) -> Iterator[Compared]:
    board = report.start.copy()
    for ply, loss in zip(report.plies, losses, strict=True):
        if ply.judgement.is_judged:
            name = f"{ply.number}{'.' if ply.white else '...'}{ply.san}"
            yield Compared(number, name, board.fen(), ply.judgement.mark.word, ply.judgement.loss, loss)
        board.push(ply.move)


def mark_of(loss: float) -> str:
    """The mark that a loss deserves."""
    bounds = ((BLUNDER_LOSS, Mark.BLUNDER), (MISTAKE_LOSS, Mark.MISTAKE), (INACCURACY_LOSS, Mark.INACCURACY))
    return next((mark.word for least, mark in bounds if loss >= least), "none")


def summary(moves: list[Compared]) -> list[str]:
    """What comes of the comparison, as lines."""
    errors = (Mark.MISTAKE.word, Mark.BLUNDER.word)
    blunders = [move for move in moves if mark_of(move.reference_loss) == Mark.BLUNDER.word]
    named = [move for move in moves if move.mark == Mark.BLUNDER.word]
    counts = Counter(move.mark for move in blunders)
    as_error = sum(counts[word] for word in errors)
    false = [move for move in named if move.reference_loss < INACCURACY_LOSS]
    not_an_error = [move for move in named if move.reference_loss < MISTAKE_LOSS]

    def share(part: int, whole: int) -> str:
        return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else f"{part} of {whole}"

    return [
        f"{len(moves)} judged moves in {len({move.game for move in moves})} games",
        f"its blunders that are named a blunder: {share(counts[Mark.BLUNDER.word], len(blunders))}",
        f"its blunders that are named a mistake or a blunder: {share(as_error, len(blunders))}",
        f"its blunders that are named at all: {share(as_error + counts[Mark.INACCURACY.word], len(blunders))}",
        f"named blunders that cost nothing by it (less than an inaccuracy): {share(len(false), len(named))}",
        f"named blunders that are no mistake by it: {share(len(not_an_error), len(named))}",
    ]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main.add_argument("games_file", type=Path, metavar="GAMES", help="a PGN file")
    main.add_argument("--engine", required=True, help="the command of the other engine")
    main.add_argument("--nodes", type=at_least_one, default=25_000, help="nodes of Secateur for a move (25000)")
    main.add_argument("--factor", type=at_least_one, default=10, help="how many times as many the other has (10)")
    main.add_argument("--games", type=at_least_one, default=20, help="how many games to compare (20)")
    main.add_argument("--json", type=Path, metavar="FILE", help="write every judged move")
    return main


def main() -> int:
    """Run the program; returns the exit code."""
    options = parser().parse_args()
    moves: list[Compared] = []
    try:
        with show_progress("games", options.games) as advance:
            for game in compare(options):
                moves += game
                advance()
    except (ProgramError, OSError, chess.engine.EngineError) as error:
        complain(error)
        return 1
    for line in summary(moves):
        say(line)
    for move in moves:
        theirs = mark_of(move.reference_loss)
        if "blunder" in (move.mark, theirs) and move.mark != theirs:
            say(f"game {move.game} {move.move}: {move.mark} {move.loss:.2f}, by it {theirs} {move.reference_loss:.2f}")
    if options.json:
        rows = [
            {name: getattr(move, name) for name in ("game", "move", "fen", "mark", "loss", "reference_loss")}
            for move in moves
        ]
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    run_program(main)
