#!/usr/bin/env python3
"""Run EPD test suites on engines and count the solved positions.

    suite.py wac.epd --engine 'cmd=secateur' --engine 'cmd=stockfish' --each movetime=1 [--json wac.json]

A position is solved when the final move fits its bm, am and dm; points in c0 are added up as well. The time to solution
is the time of the last change to a correct best move. With --journal a run that was killed goes on by --resume.
Exit code: 0 when all engines answered all positions, 1 when some failed, 2 when the suite or an engine cannot be used.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import hashlib
import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from lib.console import (
    add_run_arguments,
    at_least_one,
    complain,
    make_table,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engines
from lib.errors import ProgramError
from lib.journal import Journal
from lib.pool import Task, run_tasks
from lib.suite import Batch, Question, ask_batch, group_table, read_questions, summarise, summary_table
from lib.trial import try_engines

# So much of every engine's time goes into one batch: starting the engines then costs little, a killed run too.
BATCH_SECONDS = 10.0
POSITIONS_EACH = 20
MAX_POSITIONS_EACH = 50
# More unsolved positions than these are left to the JSON.
MAX_LISTED = 40


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Count what engines solve of EPD test suites, side by side.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="EPD with bm, am, dm, or points in c0")
    parser.add_argument("--engine", action="append", required=True, metavar="SPEC", help=ENGINE_SYNTAX)
    parser.add_argument("--each", default="", metavar="SPEC", help="what holds for all: movetime=1, nodes=9999")
    parser.add_argument("--positions", type=at_least_one, metavar="N", help="only the first N")
    parser.add_argument("--patience", type=float, default=600.0, metavar="SECONDS", help="where movetime= is not given")
    add_run_arguments(parser)
    return parser.parse_args(words)


def read_engines(asked: argparse.Namespace) -> list[EngineSpec]:
    """The engines; on this machine each is started once, to be sure of it. Raises ProgramError."""
    engines = parse_engines(asked.engine, asked.each)
    for spec in engines:
        control = spec.control
        if control.base_seconds is not None:
            raise ProgramError(f"{spec.name}: a test position has no clock; give movetime=, nodes= or depth=")
        if (control.movetime_seconds, control.nodes, control.depth) == (None, None, None):
            raise ProgramError(f"{spec.name} needs movetime=, nodes= or depth= (--each gives it to all)")
    if asked.cluster is None:
        try_engines(engines)
    return engines


def make_batches(questions: list[Question], engines: list[EngineSpec], patience_seconds: float) -> Iterator[Task]:
    """The work in portions that depend on nothing but the questions and the engines."""
    slowest = max((spec.control.movetime_seconds or 0.0 for spec in engines), default=0.0)
    size = min(MAX_POSITIONS_EACH, math.ceil(BATCH_SECONDS / slowest)) if slowest else POSITIONS_EACH
    numbered = list(enumerate(questions))
    for first in range(0, len(numbered), size):
        batch = Batch(tuple(numbered[first : first + size]), tuple(engines), patience_seconds)
        yield Task(str(first), batch)


def open_journal(asked: argparse.Namespace, questions: list[Question], engines: list[EngineSpec]) -> Journal:
    """The journal of this run. Raises ProgramError and OSError."""
    digest = hashlib.sha256("\n".join(map(repr, questions_as_lists(questions))).encode()).hexdigest()
    settings = {"questions": digest, "engines": [spec.as_json() for spec in engines], "patience": asked.patience}
    return Journal(asked.journal, settings, resume=asked.resume)


def ask_all(
    asked: argparse.Namespace,
    questions: list[Question],
    engines: list[EngineSpec],
    journal: Journal,
    answers: list[dict[str, Any]],
    failures: list[str],
) -> None:
    """Ask what is left; add to the answers as they come, and a sentence for each batch that failed.

    Raises ProgramError.
    """
    done = {entry["batch"] for entry in journal.entries}
    answers += [answer for entry in journal.entries for answer in entry["answers"]]
    tasks = (task for task in make_batches(questions, engines, asked.patience) if task.key not in done)
    solved = [sum(bool(a.get("solved")) for a in answers if a["engine"] == i) for i in range(len(engines))]
    results = run_tasks(ask_batch, tasks, workers=asked.concurrency, cluster=asked.cluster)
    with closing(results), show_progress("suite", len(questions) * len(engines), len(answers)) as advance:
        for result in results:
            if result.error is not None:
                failures.append(f"positions from {int(result.key) + 1} on: {result.complaint}")
                continue
            journal.append({"batch": result.key, "answers": result.value})
            answers += result.value
            for answer in result.value:
                solved[answer["engine"]] += bool(answer.get("solved"))
            text = ", ".join(f"{spec.name} {count}" for spec, count in zip(engines, solved, strict=True))
            advance(len(result.value), f"solved: {text}")


def questions_as_lists(questions: list[Question]) -> list[list[Any]]:
    """The questions with their sets in order, so that equal ones look equal."""
    return [[q.name, q.fen, sorted(q.best), sorted(q.avoid), q.mate_moves, q.points] for q in questions]


def report(
    asked: argparse.Namespace, questions: list[Question], engines: list[EngineSpec], answers: list[dict[str, Any]]
) -> bool:
    """Show the tables and write the JSON; returns whether no engine failed."""
    names = [spec.name for spec in engines]
    own = [[answer for answer in answers if answer["engine"] == index] for index in range(len(engines))]
    summaries = [summarise(questions, some) for some in own]
    output = standard_output()
    limits = sorted({str(spec.control) for spec in engines})
    title = f"{', '.join(path.name for path in asked.files)}, {' and '.join(limits)} each"
    output.print(summary_table(title, names, summaries))
    if themes := group_table(questions, names, answers):
        output.print(themes)
    for name, summary in zip(names, summaries, strict=True):
        if 0 < len(summary["unsolved"]) <= MAX_LISTED:
            say(f"{name} did not solve {', '.join(summary['unsolved'])}")
        if summary["failures"]:
            rows = [[failure] for failure in summary["failures"]]
            output.print(make_table(f"failures of {name}", ["what happened"], rows))
    if asked.json:
        write_json(
            asked.json,
            {
                "tool": "suite",
                "files": [path.name for path in asked.files],
                "engines": [{**spec.as_json(), **summary} for spec, summary in zip(engines, summaries, strict=True)],
                "questions": [{"id": question.name, "fen": question.fen} for question in questions],
                "answers": answers,
            },
        )
    return not any(summary["failures"] for summary in summaries)


def main(words: list[str] | None = None) -> int:
    """Run the suites named on the command line; returns the exit code."""
    asked = parse(words)
    try:
        questions = [question for path in asked.files for question in read_questions(path)][: asked.positions]
        engines = read_engines(asked)
        journal = open_journal(asked, questions, engines)
    except (OSError, ProgramError) as error:
        complain(error)
        return 2
    answers: list[dict[str, Any]] = []
    failures: list[str] = []
    code = run_to_end(lambda: ask_all(asked, questions, engines, journal, answers, failures), journal.close)
    answers.sort(key=lambda answer: (answer["position"], answer["engine"]))
    if answers and not report(asked, questions, engines, answers):
        code = code or 1
    for failure in failures:
        complain(failure)
    return code or (1 if failures else 0)


if __name__ == "__main__":
    run_program(main)
