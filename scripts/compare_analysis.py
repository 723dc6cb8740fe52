#!/usr/bin/env python3
"""Compare the marks of `secateur analyse` with those that another engine's scores give.

    python scripts/compare_analysis.py games.pgn --engine stockfish [--nodes 25000] [--factor 10] [--games 20]

The other engine searches every position with FACTOR times the nodes. Two rules turn its scores into losses: that of
lichess.org (points of win percentage, by 1 / (1 + exp(-0.00368208 cp))), and the expected result by its own wins, draws
and losses (UCI_ShowWDL; by Secateur's model where an engine does not tell them). A blunder costs 15 points by the first
rule, and as much as a blunder of Secateur by the second.

Prints how many of its blunders are named, how many named ones are false, and each move about which the two disagree.
Moves of the book and forced moves do not count. With --scores the scores of the other engine are kept in a file, from
which later runs take them.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import hashlib
import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import chess
import chess.engine
from chess.engine import Cp, Limit, Mate, MateGiven

from lib.console import at_least_one, complain, say, show_progress, write_json
from lib.errors import ProgramError
from uci_engine import Engine
from uci_engine.game_analysis.judgement import BLUNDER_LOSS, INACCURACY_LOSS, MISTAKE_LOSS, Mark
from uci_engine.game_analysis.pgn import PgnError, game_texts, read_game
from uci_engine.game_analysis.report import GameReport, analyse_game
from uci_engine.game_analysis.values import Value, final_value, value_of
from uci_engine.score import piece_count

# The rule of lichess.org: the losses of win percentage for each mark.
PERCENTAGE_LOSSES = (0.05, 0.10, 0.15)
RESULT_LOSSES = (INACCURACY_LOSS, MISTAKE_LOSS, BLUNDER_LOSS)


@dataclass(frozen=True, slots=True)
class Compared:
    """One judged move: its mark, the loss that Secateur found, and the losses by the other engine's scores.

    `reference_loss` is of expected result, `percentage_loss` of win percentage. Both are from 0 to 1.
    """

    game: int
    move: str
    fen: str
    mark: str
    loss: float
    reference_loss: float
    percentage_loss: float


class Reference:
    """The other engine, and the values that it has given to the positions of games."""

    def __init__(self, command: str, nodes: int, scores: Path | None) -> None:
        """`scores`: a file with values of earlier runs, and for those of this one. Raises ProgramError and OSError."""
        self._nodes = nodes
        self._file = scores
        self._known: dict[str, list[list[float | None]]] = {}
        if scores is not None and scores.exists():
            try:
                self._known = json.loads(scores.read_text("utf-8"))
            except ValueError:
                raise ProgramError(f"{scores} is no file of scores") from None
        self._engine = chess.engine.SimpleEngine.popen_uci(shlex.split(command))
        fixed = {"Hash": 64, "Threads": 1, "UCI_ShowWDL": True}
        self._engine.configure({name: value for name, value in fixed.items() if name in self._engine.options})
        self._name = self._engine.id.get("name", command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._engine.close()

    def losses(self, report: GameReport) -> list[tuple[float, float]]:
        """The loss of each move, by expected result and by the rule of lichess.org."""
        values = self.values(report.boards[0], [ply.move for ply in report.plies])
        losses = []
        for ply, before, after in zip(report.plies, values, values[1:], strict=False):
            by_result = before.expected_for(ply.white) - after.expected_for(ply.white)
            by_percentage = before.between_people(ply.white) - after.between_people(ply.white)
            losses.append((max(0.0, by_result), max(0.0, by_percentage)))
        return losses

    def values(self, start: chess.Board, moves: Sequence[chess.Move]) -> list[Value]:
        """The value of each position of a game."""
        words = [self._name, str(self._nodes), start.fen(), *(move.uci() for move in moves)]
        key = hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]
        if key not in self._known:
            board = start.copy()
            values = [self._value(board, key)]
            for move in moves:
                board.push(move)
                values.append(self._value(board, key))
            self._known[key] = [[value.score.score(), value.score.mate(), value.expected] for value in values]
            if self._file is not None:
                write_json(self._file, self._known)
        return [_known_value(*known) for known in self._known[key]]

    def _value(self, board: chess.Board, game: str) -> Value:
        final = final_value(board)
        if final is not None:
            return final
        info = self._engine.analyse(board, chess.engine.Limit(nodes=self._nodes), game=game)
        value = value_of(info["score"].white(), piece_count(board))
        return Value(value.score, info["wdl"].white().expectation()) if "wdl" in info else value


def _known_value(cp: float | None, mate: float | None, expected: float | None) -> Value:
    assert expected is not None
    if cp is not None:
        return Value(Cp(int(cp)), expected)
    return Value(Mate(int(mate)) if mate else MateGiven if expected > 0.5 else -MateGiven, expected)


def compare(options: argparse.Namespace) -> Iterator[list[Compared]]:
    """The judged moves of each game."""
    with (
        Reference(options.engine, options.factor * options.nodes, options.scores) as reference,
        Engine(hash=64) as engine,
        options.games_file.open("rb") as file,
    ):
        for number, text in enumerate(game_texts(file), start=1):
            if number > options.games:
                return
            try:
                game = read_game(text)
                engine.new_game()
                report = analyse_game(game, engine, Limit(nodes=options.nodes))
            except (PgnError, ValueError) as error:
                raise ProgramError(f"game {number}: {error}") from None
            yield list(_judged(number, report, reference.losses(report)))


def _judged(number: int, report: GameReport, losses: list[tuple[float, float]]) -> Iterator[Compared]:
    board = report.boards[0].copy()
    for ply, loss in zip(report.plies, losses, strict=True):
        if ply.judgement.is_judged:
            name = f"{ply.number}{'.' if ply.white else '...'}{ply.san}"
            yield Compared(number, name, board.fen(), ply.judgement.mark.word, ply.judgement.loss, *loss)
        board.push(ply.move)


def summary(moves: list[Compared]) -> list[str]:
    """What comes of the comparison, as lines."""
    lines = [f"{len(moves)} judged moves in {len({move.game for move in moves})} games"]
    lines.append("by the rule of lichess.org for the other engine:")
    lines += _counts(moves, [move.percentage_loss for move in moves], PERCENTAGE_LOSSES)
    lines.append("by the losses of expected result for both:")
    return lines + _counts(moves, [move.reference_loss for move in moves], RESULT_LOSSES)


def _counts(moves: list[Compared], losses: list[float], thresholds: tuple[float, float, float]) -> list[str]:
    """How many blunders by these losses are named, and how many that are named are blunders or errors by them.

    `thresholds`: the least losses of an inaccuracy, a mistake and a blunder.
    """
    inaccuracy, mistake, blunder = thresholds
    pairs = list(zip(moves, losses, strict=True))
    theirs = [move.mark for move, loss in pairs if loss >= blunder]
    as_error = sum(mark in (Mark.MISTAKE.word, Mark.BLUNDER.word) for mark in theirs)
    at_all = as_error + theirs.count(Mark.INACCURACY.word)
    named = [loss for move, loss in pairs if move.mark == Mark.BLUNDER.word]

    def share(part: int, whole: int) -> str:
        return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else f"{part} of {whole}"

    def named_share(least: float) -> str:
        return share(sum(loss >= least for loss in named), len(named))

    return [
        f"  its blunders that are named a blunder: {share(theirs.count(Mark.BLUNDER.word), len(theirs))}",
        f"  its blunders that are named a mistake or a blunder: {share(as_error, len(theirs))}",
        f"  its blunders that are named at all: {share(at_all, len(theirs))}",
        f"  named blunders that are blunders by it: {named_share(blunder)}",
        f"  named blunders that are at least mistakes by it: {named_share(mistake)}",
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
    main.add_argument("--scores", type=Path, metavar="FILE", help="keep the other engine's scores here, for later runs")
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
        is_blunder = move.percentage_loss >= PERCENTAGE_LOSSES[-1]
        if is_blunder != (move.mark == Mark.BLUNDER.word):
            losses = f"by it {move.reference_loss:.2f}, and {100 * move.percentage_loss:.0f} points of win percentage"
            say(f"game {move.game} {move.move}: {move.mark} {move.loss:.2f}, {losses}")
    return 0


if __name__ == "__main__":
    run_program(main)
