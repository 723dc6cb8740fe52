#!/usr/bin/env python3
"""Measure the causes of errors: how many errors have one, what is true of it on the board, what another engine says.

    python scripts/explain_bench.py analysed.jsonl.gz --games 200 --marks 40 --concurrency 2 --json explained.json

A line of the file is a game: `moves` in UCI, and by ply `marks` of a site. Those on even lines, from 0, are to tune on.
Of each game up to two mistakes and an inaccuracy are explained. Exit code: 0 when all was measured, 1 when a search
failed, 2 when a file cannot be used.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import chess
import chess.pgn
from chess.engine import Limit

from toolkit import console
from toolkit.claims import claims_of
from toolkit.console import at_least_one, at_least_zero, new_file, run_program
from toolkit.errors import ProgramError
from toolkit.files import unpack_text
from toolkit.judge import expected, started
from toolkit.pool import Task, engine_digest, run_tasks
from uci_engine.api import Engine
from uci_engine.board.pgn import ReadGame
from uci_engine.game_analysis.analysed_game import Ply, analyse_game
from uci_engine.game_analysis.boards import board_after, variation
from uci_engine.game_analysis.causes import Cause, Why, causes_of
from uci_engine.game_analysis.judgement import INACCURACY_LOSS, MISTAKE_LOSS, Found, final_value
from uci_engine.game_analysis.searches import FOR_EDIT, MOVE_EFFORT, Searches, share_of
from uci_engine.game_analysis.words import cause_words

ERRORS = ("blunder", "mistake", "inaccuracy")
GROUPS = ("inaccuracies", "mistakes")
# An edit is confirmed by this part of the loss that the other engine sees, where that is no less than LEAST_LOSS.
CHECK_CONFIRMED, LEAST_LOSS = 0.5, 0.03
VERDICTS = ("confirmed", "refused", "no loss")

COVERED, TRUTH, SEEN = ("with a cause", "without"), ("true", "false"), ("an error", "none")


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A game, as the board at its end; the plies to explain, or None for all errors; or the site's marks to compare."""

    board: chess.Board
    nodes: int
    check: tuple[str, ...] = ()
    check_nodes: int = 1
    plies: tuple[int, ...] | None = None
    marks: dict[int, str] | None = None


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", type=Path, help="games with the marks of a site: .jsonl, .jsonl.gz")
    parser.add_argument("--half", choices=("tune", "report"), default="tune", help="which games of the file (tune)")
    parser.add_argument("--games", type=at_least_zero, default=60, metavar="N", help="games with errors (60)")
    parser.add_argument("--seed", type=int, default=63, metavar="S", help="draws games and errors (63)")
    parser.add_argument("--pgn", type=Path, metavar="FILE", help="more games, of which all errors are explained")
    parser.add_argument("--nodes", type=at_least_one, default=80_000, metavar="N", help="of our searches (80000)")
    parser.add_argument(
        "--check", type=shlex.split, default="stockfish", metavar="CMD", help="another engine (stockfish)"
    )
    parser.add_argument("--check-nodes", type=at_least_one, default=500_000, metavar="N", help="of its (500000)")
    parser.add_argument("--marks", type=at_least_zero, default=0, metavar="N", help="games to compare marks in (0)")
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N", help="how many at a time (1)")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the results")
    return parser.parse_args(arguments)


def read_games(words: argparse.Namespace) -> Iterator[tuple[int, chess.Board, dict[int, str]]]:
    """The games in the order of the seed: number of the line, board at the end, marks. Raises ProgramError, OSError."""
    lines = list(enumerate(unpack_text(words.file, (".jsonl",))[1].splitlines()))[words.half == "report" :: 2]
    random.Random(words.seed).shuffle(lines)
    for number, line in lines[: max(words.games, words.marks)]:
        try:
            game, board = json.loads(line), chess.Board()
            for move in game["moves"].split():
                board.push_uci(move)
            marks = {int(ply): str(mark[0]).lower() for ply, mark in game["marks"].items()}
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ProgramError(f"{words.file.name}:{number + 1}: no game with marks: {error}") from None
        yield number, board, marks


def make_tasks(words: argparse.Namespace) -> Iterator[Task]:
    """The games of all parts. Raises ProgramError and OSError."""
    search = words.nodes, tuple(words.check), words.check_nodes
    games = list(read_games(words))
    for number, board, marks in games[: words.games]:
        chance, plies = random.Random(f"{words.seed} {number}"), list[int]()
        for most, kinds in ((2, ERRORS[:2]), (1, ERRORS[2:])):
            marked = [ply for ply in range(len(board.move_stack)) if marks.get(ply) in kinds]
            plies += chance.sample(marked, min(most, len(marked)))
        yield Task(f"errors {number}", CheckJob(board, *search, tuple(sorted(plies))))
    if words.pgn:
        pgn = io.StringIO(unpack_text(words.pgn, (".pgn",))[1])
        for number, game in enumerate(iter(lambda: chess.pgn.read_game(pgn), None)):
            yield Task(f"pgn {number}", CheckJob(game.end().board(), *search))
    for number, board, marks in games[: words.marks]:
        yield Task(f"marks {number}", CheckJob(board, MOVE_EFFORT.nodes or 1, *search[1:], marks=marks))


# The one of this process.
own_engine = cache(partial(Engine, hash=64, threads=1))


def measure(job: CheckJob) -> list[dict[str, Any]]:
    """The rows of a game: one for each error, or one with the counts of its marks."""
    moves = job.board.move_stack
    if job.plies is not None:
        rows = (searched(job, board_after(job.board.root(), moves[:ply]), moves[ply]) for ply in job.plies)
        return [row for row in rows if row]
    own_engine().new_game()
    analysed = analyse_game(ReadGame.from_board(job.board), own_engine(), Limit(nodes=job.nodes))
    if job.marks is not None:
        pairs = ((job.marks.get(ply.index, "-"), ply.judgement.mark) for ply in analysed.plies)
        counts = Counter(f"{site} {own.word if own.is_error else '-'}" for site, own in pairs)
        return [{"marks": counts, "seen": [seen(job, ply) for ply in analysed.errors if job.check]}]
    return [row_of(job, ply.board, ply.played, ply.best, ply.causes) for ply in analysed.errors]


def searched(job: CheckJob, board: chess.Board, move: chess.Move) -> dict[str, Any] | None:
    """The row of a move that the site has marked; None where our searches find no error."""
    color, limit, searches = board.turn, Limit(nodes=job.nodes), Searches(own_engine())
    after, best = board_after(board, [move]), searches.find(board, limit).move
    end = final_value(after, claims=True)
    following = Found(end) if end else searches.find(after, limit)
    if best in (None, move):
        return None
    better = searches.find(board, limit, [best])
    played = Found(following.value.backed_up(color), following.depth, (move, *following.line))
    if better.value.expected_for(color) - played.value.expected_for(color) < INACCURACY_LOSS:
        return None
    began = time.perf_counter()
    better, played = (searches.extended(board, found) for found in (better, played))
    causes = causes_of(board, played, better, searches.finder(share_of(limit, FOR_EDIT)))
    return {"seconds": round(time.perf_counter() - began, 4), **row_of(job, board, played, better, causes)}


def row_of(job: CheckJob, board: chess.Board, played: Found, better: Found, causes: Sequence[Cause]) -> dict[str, Any]:
    """An error with its causes, what they claim on the board, and what the other engine says of them."""
    loss = better.value.expected_for(board.turn) - played.value.expected_for(board.turn)
    judge = OtherEngine(job.check, job.check_nodes, board, played, better) if job.check and causes else None
    return {
        "fen": board.fen(),
        "loss": round(loss, 4),
        "played": variation(board, played.shown.line),
        "better": variation(board, better.shown.line),
        "causes": [
            {
                "why": cause.why.name,
                "sentence": cause_words(cause),
                "claims": claims_of(cause),
                "checks": judge.checks(cause) if judge else [],
            }
            for cause in causes
        ],
    }


def seen(job: CheckJob, ply: Ply) -> tuple[str, str]:
    """Our mark, and whether the other engine with all its moves sees an error, too."""
    judge = OtherEngine(job.check, job.check_nodes, ply.board, ply.played, ply.best)
    loss = judge.expected(ply.board, ply.board.legal_moves) - judge.worse
    return ply.judgement.mark.word, SEEN[loss < INACCURACY_LOSS]


# What another engine says -------------------------------------------------------------------------------------------


class OtherEngine:
    """What another engine says of an error on a board: `best` and `worse` are expected after the two moves."""

    def __init__(self, command: tuple[str, ...], nodes: int, board: chess.Board, played: Found, better: Found) -> None:
        """`nodes`: those of each search. Raises OSError where the engine cannot be started."""
        self._engine, self._nodes = started(command), nodes
        self._board = board
        self._loss = better.value.expected_for(board.turn) - played.value.expected_for(board.turn)
        self.best, self.worse = self.expected(board, better.line[:1]), self.expected(board, played.line[:1])

    def expected(self, board: chess.Board, moves: Iterable[chess.Move]) -> float:
        """What the player may expect, from 0 to 1, of a position with these moves alone, by the rule of the site."""
        of_mover = expected(self._engine, self._nodes, board, self, list(moves))
        return of_mover if board.turn == self._board.turn else 1.0 - of_mover

    def checks(self, cause: Cause) -> list[dict[str, Any]]:
        """A verdict on each edit of a cause; without one, on half of the loss that we see."""
        seen, checks = self.best - self.worse, []
        edits = [("PASS", each.board, [*each.found.line[:1]]) for each in cause.evidence]
        # The name of each edit, and the position with the move that is left in it.
        for name, board, moves in edits or [("", self._board, [])]:
            value = self.expected(board, moves) if name else self.worse
            gone = value - self.best if cause.why is Why.MISSED_THREAT else self.best - value
            part = gone / max(seen if name else self._loss, LEAST_LOSS)
            verdict = VERDICTS[2 if seen < LEAST_LOSS else 0 if part >= CHECK_CONFIRMED else 1]
            values = [round(each, 4) for each in (self.best, self.worse, value)]
            checks.append({"edit": name, "verdict": verdict, "part": round(part, 3), "expected": values})
        return checks


# The report ----------------------------------------------------------------------------------------------------------


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def show_shares(title: str, columns: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
    """How often each name has which result, and the percentage of the first among the first two."""
    counts = Counter(pairs)
    for (_, column), count in list(counts.items()):
        counts["all", column] += count
    table = []
    for name in sorted({name for name, _ in counts}, key=lambda name: (name == "all", name)):
        row = [counts[name, column] for column in columns]
        table.append([name, *map(str, row), percent(row[0], sum(row[:2]))])
    console.standard_output().print(console.make_table(title, ["", *columns, "percent"], table))


def report(rows: Sequence[dict[str, Any]]) -> None:
    """Show the tables, and the claims that are false."""
    errors = [row for row in rows if "fen" in row]
    named = [(row, cause) for row in errors for cause in row["causes"]]
    groups = [(row, GROUPS[row["loss"] >= MISTAKE_LOSS]) for row in errors]
    show_shares("errors", COVERED, ((name, COVERED[not row["causes"]]) for row, name in groups))
    for group in GROUPS:
        whys = Counter(row["causes"][0]["why"] for row, name in groups if name == group and row["causes"])
        console.say(f"the first cause of {group}: {', '.join(f'{why} {count}' for why, count in whys.most_common())}")
    seconds = sorted(row["seconds"] for row in errors if "seconds" in row)
    if seconds:
        mean, most = sum(seconds) / len(seconds), seconds[int(0.95 * len(seconds))]
        console.say(f"time for the causes of a move: mean {mean:.3f} s, 95 % in {most:.3f} s")
    claims = [(row, cause, *claim) for row, cause in named for claim in cause["claims"]]
    show_shares("claims, on the board", TRUTH, ((name, TRUTH[not is_true]) for *_, name, is_true in claims))
    for row, cause, name, is_true in claims:
        if not is_true:
            console.say(f"not {name}: {row['fen']}: {cause['sentence']}")
    for title, is_edit in (("edits, by the other engine", True), ("losses, by the other engine", False)):
        checks = [
            (cause["why"], each) for _, cause in named for each in cause["checks"] if bool(each["edit"]) == is_edit
        ]
        show_shares(title, VERDICTS, ((f"{why} {each['edit']}", each["verdict"]) for why, each in checks))
    marks = sum((Counter(row["marks"]) for row in rows if "marks" in row), Counter[str]())
    table, words = [], (*ERRORS, "-")
    for site in words if marks else ():
        theirs, ours = ([marks[pair.format(site, each)] for each in words] for pair in ("{0} {1}", "{1} {0}"))
        right = marks[f"{site} {site}"]
        table.append([site, *map(str, theirs), percent(right, sum(ours)), percent(right, sum(theirs))])
    if table:
        show_shares("our marks, by the other engine", SEEN, (pair for row in rows for pair in row.get("seen", ())))
        head = ["mark of the site", *(f"{word} for us" for word in words), "precision", "recall"]
        console.standard_output().print(console.make_table("", head, table))


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line asks for; returns the exit code. Raises ProgramError and OSError."""
    words = parse(arguments)
    tasks = list(make_tasks(words))
    names = ("file", "half", "seed", "pgn", "nodes", "check", "check_nodes")
    settings = {name: str(getattr(words, name)) for name in names}
    settings |= {"program": "scripts/explain_bench.py", "engine": engine_digest()}
    done: dict[str, list[dict[str, Any]]] = {}

    def work() -> None:
        results = run_tasks(measure, tasks, workers=words.concurrency)
        with closing(results), console.show_progress("games", len(tasks)) as advance:
            for key, rows in results:
                done[key] = rows
                advance()

    code = console.run_to_end(work)
    rows = [{"game": task.key, **row} for task in tasks for row in done.get(task.key, [])]
    if rows:
        report(rows)
    if rows and words.json:
        console.write_json(words.json, {**settings, "rows": rows})
    return code


if __name__ == "__main__":
    run_program(main)
