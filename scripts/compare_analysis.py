#!/usr/bin/env python3
"""Compare the marks of `secateur analyse` with those that another engine's scores give.

    python scripts/compare_analysis.py games.pgn --engine stockfish [--nodes 25000] [--factor 10] [--games 20]

The other engine searches every position with FACTOR times the nodes. Two rules turn its scores into blunders: that of
lichess.org (15 points of win percentage, by 1 / (1 + exp(-0.00368208 cp))), and Secateur's own losses of expected
result. Prints how many of its blunders are named, how many named ones are false, and each move about which the two
disagree. Moves of the book and forced moves do not count.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import math
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from lib.console import at_least_one, complain, say, show_progress, write_json
from lib.errors import ProgramError
from uci_engine.api.games import new_engine
from uci_engine.game_analysis.game_search import Effort
from uci_engine.game_analysis.judgement import BLUNDER_LOSS, INACCURACY_LOSS, Mark
from uci_engine.game_analysis.pgn_reader import PgnError, game_texts, read_game
from uci_engine.game_analysis.report import GameReport, analyse_game
from uci_engine.game_analysis.values import Value, final_value, value_of
from uci_engine.score import piece_count

# The rule of lichess.org: the slope for a centipawn, and the losses of win percentage for each mark.
WIN_SHARE_SLOPE = 0.00368208
PERCENTAGE_BLUNDER, PERCENTAGE_INACCURACY = 0.15, 0.05


@dataclass(frozen=True, slots=True)
class Compared:
    """One judged move: its mark, the loss that Secateur found, and the losses by the other engine's scores.

    `reference_loss` is by Secateur's model of wins, `percentage_loss` by that of lichess.org. Both are from 0 to 1.
    """

    game: int
    move: str
    fen: str
    mark: str
    loss: float
    reference_loss: float
    percentage_loss: float


def reference_losses(
    engine: chess.engine.SimpleEngine, report: GameReport, nodes: int, game: object
) -> list[tuple[float, float]]:
    """The loss of each move by the other engine, by both rules."""
    board = report.start.copy()
    values = [_value(engine, board, nodes, game)]
    for ply in report.plies:
        board.push(ply.move)
        values.append(_value(engine, board, nodes, game))
    losses = []
    for index, ply in enumerate(report.plies):
        before, after = values[index], values[index + 1]
        sign = 1 if ply.white else -1
        by_result = sign * (before.expected - after.expected)
        by_percentage = sign * (win_share(before) - win_share(after))
        losses.append((max(0.0, by_result), max(0.0, by_percentage)))
    return losses


def win_share(value: Value) -> float:
    """White's share of wins by the rule of lichess.org."""
    cp = min(max(value.score.score(mate_score=100_000), -1000), 1000)
    return 1 / (1 + math.exp(-WIN_SHARE_SLOPE * cp))


def _value(engine: chess.engine.SimpleEngine, board: chess.Board, nodes: int, game: object) -> Value:
    value = final_value(board)
    if value is None:
        info = engine.analyse(board, chess.engine.Limit(nodes=nodes), game=game)
        value = value_of(info["score"].white(), piece_count(board))
    return value


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
                report = analyse_game(game, engine, Effort(nodes=options.nodes))
            except (PgnError, ValueError) as error:
                raise ProgramError(f"game {number}: {error}") from None
            losses = reference_losses(reference, report, options.factor * options.nodes, number)
            yield list(_judged(number, report, losses))


def _judged(number: int, report: GameReport, losses: list[tuple[float, float]]) -> Iterator[Compared]:
    board = report.start.copy()
    for ply, loss in zip(report.plies, losses, strict=True):
        if ply.judgement.is_judged:
            name = f"{ply.number}{'.' if ply.white else '...'}{ply.san}"
            yield Compared(number, name, board.fen(), ply.judgement.mark.word, ply.judgement.loss, *loss)
        board.push(ply.move)


def summary(moves: list[Compared]) -> list[str]:
    """What comes of the comparison, as lines."""
    lines = [f"{len(moves)} judged moves in {len({move.game for move in moves})} games"]
    lines.append("by the rule of lichess.org for the other engine:")
    lines += _counts(moves, [move.percentage_loss for move in moves], PERCENTAGE_BLUNDER, PERCENTAGE_INACCURACY)
    lines.append("by Secateur's losses of expected result for both:")
    return lines + _counts(moves, [move.reference_loss for move in moves], BLUNDER_LOSS, INACCURACY_LOSS)


def _counts(moves: list[Compared], losses: list[float], blunder: float, inaccuracy: float) -> list[str]:
    """How many blunders by these losses are named, and how many that are named are none."""
    pairs = list(zip(moves, losses, strict=True))
    theirs = [move.mark for move, loss in pairs if loss >= blunder]
    as_error = sum(mark in (Mark.MISTAKE.word, Mark.BLUNDER.word) for mark in theirs)
    at_all = as_error + theirs.count(Mark.INACCURACY.word)
    named = [loss for move, loss in pairs if move.mark == Mark.BLUNDER.word]

    def share(part: int, whole: int) -> str:
        return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else f"{part} of {whole}"

    return [
        f"  its blunders that are named a blunder: {share(theirs.count(Mark.BLUNDER.word), len(theirs))}",
        f"  its blunders that are named a mistake or a blunder: {share(as_error, len(theirs))}",
        f"  its blunders that are named at all: {share(at_all, len(theirs))}",
        f"  named blunders that are no error by it: {share(sum(loss < inaccuracy for loss in named), len(named))}",
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
                if options.json:
                    write_json(options.json, [asdict(move) for move in moves])
                advance()
    except KeyboardInterrupt:
        complain("interrupted")
    except (ProgramError, OSError, chess.engine.EngineError) as error:
        complain(error)
        return 1
    for line in summary(moves):
        say(line)
    for move in moves:
        is_blunder = move.percentage_loss >= PERCENTAGE_BLUNDER
        if is_blunder != (move.mark == Mark.BLUNDER.word):
            losses = f"by it {move.reference_loss:.2f}, and {100 * move.percentage_loss:.0f} points of win percentage"
            say(f"game {move.game} {move.move}: {move.mark} {move.loss:.2f}, {losses}")
    return 0


if __name__ == "__main__":
    run_program(main)
