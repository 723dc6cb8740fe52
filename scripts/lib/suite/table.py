"""The results of a test suite, summed up and shown. Called by suite; pure.

An answer is a dict as `suite.run.judge` makes it, with `position` and `engine`; one with `failure` solves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from rich.table import Table

from lib.console import make_table
from lib.suite.positions import Question

Answer = dict[str, Any]


def summarise(questions: Sequence[Question], answers: Sequence[Answer]) -> dict[str, Any]:
    """The sums of one engine's answers. Times in seconds, of the solved positions alone."""
    solved = [answer for answer in answers if answer.get("solved")]
    times = [answer["solution_seconds"] for answer in solved]
    spent = [answer["seconds"] for answer in answers if "seconds" in answer]
    return {
        "positions": len(answers),
        "solved": len(solved),
        "points": sum(answer.get("points", 0) for answer in answers),
        "most_points": sum(questions[answer["position"]].most_points for answer in answers),
        "mean_solution_seconds": round(fmean(times), 4) if times else None,
        "median_solution_seconds": round(median(times), 4) if times else None,
        "slowest_answer_seconds": max(spent, default=None),
        "failures": [f"{questions[a['position']].name}: {a['failure']}" for a in answers if "failure" in a],
        "unsolved": [questions[answer["position"]].name for answer in answers if not answer.get("solved")],
    }


def summary_table(title: str, names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> Table:
    """One row for each engine."""
    has_points = any(summary["most_points"] for summary in summaries)
    head = ["engine", "solved", "of", "percent", *(["points", "of"] if has_points else [])]
    head += ["mean s", "median s", "slowest s", "failures"]
    rows = []
    for name, summary in zip(names, summaries, strict=True):
        share = 100 * summary["solved"] / summary["positions"] if summary["positions"] else 0.0
        points = [str(summary["points"]), str(summary["most_points"])] if has_points else []
        times = [_seconds(summary[key]) for key in TIMES]
        rows.append([name, str(summary["solved"]), str(summary["positions"]), f"{share:.1f}", *points, *times])
        rows[-1].append(str(len(summary["failures"])))
    return make_table(title, head, rows)


TIMES = ("mean_solution_seconds", "median_solution_seconds", "slowest_answer_seconds")


def group_table(questions: Sequence[Question], names: Sequence[str], answers: Sequence[Answer]) -> Table | None:
    """Solved positions (or points, where there are any) by theme; None when there is one theme only."""
    groups: dict[str, list[int]] = {}
    for number, question in enumerate(questions):
        groups.setdefault(question.group, []).append(number)
    if not 1 < len(groups) < len(questions):
        return None
    has_points = all(question.points for question in questions)
    rows = []
    for group, numbers in groups.items():
        inside = set(numbers)
        cells = []
        for index in range(len(names)):
            own = [a for a in answers if a["engine"] == index and a["position"] in inside]
            cells.append(str(sum(a.get("points", 0) if has_points else bool(a.get("solved")) for a in own)))
        most = sum(questions[number].most_points for number in numbers) if has_points else len(numbers)
        rows.append([group, *cells, str(most)])
    return make_table("points by theme" if has_points else "solved by theme", ["theme", *names, "of"], rows)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
