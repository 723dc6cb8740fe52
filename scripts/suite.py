#!/usr/bin/env python3
"""Run EPD test suites on engines and count the solved positions.

    python scripts/suite.py wac.epd --engine 'cmd=secateur' --engine 'cmd=stockfish' --each movetime=1 [--json wac.json]

A position is solved when the final move fits its bm, am and dm; points in c0 are added up as well. The time to solution
is the time of the last change to a correct best move. Exit code: 0 when all engines answered all positions, 1 when some
failed, 2 when the suite or an engine cannot be used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

from toolkit.console import (
    add_run_arguments,
    make_table,
    run_program,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from toolkit.engines.client import identified
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engines, require_limits
from toolkit.errors import ProgramError
from toolkit.pool import Task, run_tasks
from toolkit.questions import Batch, Question, ask_batch, read_questions

# Of each position, by its number, the answer of each engine.
Answers = dict[int, list[dict[str, Any]]]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="EPD with bm, am or dm; c0: points")
    parser.add_argument("--engine", action="append", required=True, metavar="SPEC", help=ENGINE_SYNTAX)
    parser.add_argument("--each", default="", metavar="SPEC", help="what holds for all: movetime=1, nodes=9999")
    parser.add_argument("--patience", type=float, default=600.0, metavar="SECONDS", help="where movetime= is not given")
    add_run_arguments(parser, journal="")
    return parser.parse_args(arguments)


def read_engines(words: argparse.Namespace) -> list[EngineSpec]:
    """The engines; each is started once, to be sure of it. Raises ProgramError."""
    engines = parse_engines(words.engine, words.each)
    for spec in engines:
        if spec.control.base_seconds is not None:
            raise ProgramError(f"{spec.name}: a test position has no clock; give movetime=, nodes= or depth=")
    require_limits(engines)
    return list(identified(engines))


def ask_all(
    words: argparse.Namespace, questions: Sequence[Question], engines: Sequence[EngineSpec], answers: Answers
) -> None:
    """Ask all questions, and add to the answers as they come. Raises ProgramError."""
    tasks = (
        Task(str(number), Batch(question, tuple(engines), words.patience)) for number, question in enumerate(questions)
    )
    results = run_tasks(ask_batch, tasks, workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("suite", len(questions)) as advance:
        for number, found in results:
            answers[int(number)] = found
            solved = (sum(bool(answer.get("solved")) for answer in own) for own in zip(*answers.values(), strict=True))
            text = ", ".join(f"{spec.name} {count}" for spec, count in zip(engines, solved, strict=True))
            advance(1, f"solved: {text}")


def summarise(questions: Sequence[Question], answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The sums of one engine's answers to these questions. Times in seconds, those to a solution of the solved ones."""
    named = [(question.name, answer) for question, answer in zip(questions, answers, strict=True)]
    times = [answer["solution_seconds"] for answer in answers if answer.get("solved")]
    return {
        "positions": len(answers),
        "solved": len(times),
        "points": sum(answer.get("points", 0) for answer in answers),
        "max_points": sum(question.max_points for question in questions),
        "median_solution_seconds": round(median(times), 4) if times else None,
        "slowest_answer_seconds": max((answer["seconds"] for answer in answers if "seconds" in answer), default=None),
        "failures": [f"{name}: {answer['failure']}" for name, answer in named if "failure" in answer],
        "unsolved": [name for name, answer in named if not answer.get("solved")],
        "answers": [{"id": name, **answer} for name, answer in named],
    }


def summary_table(title: str, names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> Table:
    """One row for each engine."""
    rows = []
    for name, summary in zip(names, summaries, strict=True):
        share = 100 * summary["solved"] / summary["positions"]
        points = f"{summary['points']} of {summary['max_points']}" if summary["max_points"] else "-"
        times = (summary[f"{kind}_seconds"] for kind in ("median_solution", "slowest_answer"))
        seconds = ("-" if time is None else f"{time:.3f}" for time in times)
        counts = (str(summary["solved"]), str(summary["positions"]), f"{share:.1f}", points)
        rows.append([name, *counts, *seconds, str(len(summary["failures"]))])
    return make_table(title, ["engine", "solved", "of", "percent", "points", "median s", "slowest s", "failures"], rows)


def report(
    words: argparse.Namespace, questions: Sequence[Question], engines: Sequence[EngineSpec], answers: Answers
) -> bool:
    """Show the tables and write the JSON; returns whether no engine failed."""
    asked = [questions[number] for number in sorted(answers)]
    by_engine = zip(*(answers[number] for number in sorted(answers)), strict=True)
    summaries = [summarise(asked, own) for own in by_engine]
    names = [spec.name for spec in engines]
    limits = sorted({str(spec.control) for spec in engines})
    title = f"{', '.join(path.name for path in words.files)}, {' and '.join(limits)} each"
    standard_output().print(summary_table(title, names, summaries))
    for name, summary in zip(names, summaries, strict=True):
        if summary["unsolved"]:
            say(f"{name} did not solve {', '.join(summary['unsolved'])}")
        for failure in summary["failures"]:
            say(f"{name}: {failure}")
    if words.json:
        found = [{**spec.as_json(), **summary} for spec, summary in zip(engines, summaries, strict=True)]
        write_json(words.json, {"files": [path.name for path in words.files], "engines": found})
    return not any(summary["failures"] for summary in summaries)


def main(arguments: list[str] | None = None) -> int:
    """Run the suites named on the command line; returns the exit code. Raises ProgramError and OSError."""
    words = parse(arguments)
    questions = [question for path in words.files for question in read_questions(path)]
    engines = read_engines(words)
    answers: Answers = {}
    code = run_to_end(lambda: ask_all(words, questions, engines, answers))
    if answers and not report(words, questions, engines, answers):
        code = code or 1
    return code


if __name__ == "__main__":
    run_program(main)
