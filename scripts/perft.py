#!/usr/bin/env python3
"""Compare perft counts with those in files.

    perft.py FILE... [--depth 5] [--max-nodes N] [--core compiled | --engine 'cmd=stockfish'] [--concurrency 2]

Standard chess and Chess960, in the two formats that `lib.perft` describes. Where a count is wrong, python-chess's own
counts lead to the first move that differs. Exit code: 0 when all counts are right, 1 when some are wrong or there are
none, 2 when a file or the engine cannot be used.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from lib.console import at_least_one, complain, make_table, new_file, say, show_progress, standard_output, write_json
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, own_engine, parse_engine
from lib.errors import ProgramError
from lib.journal import Journal
from lib.perft import Case, EngineCounter, PythonChessCounter, read_cases
from lib.pool import Task, run_tasks
from lib.trial import try_engines
from uci_engine.core import CORES

Counter = PythonChessCounter | EngineCounter

# Few enough tasks to make the start of an engine cheap, enough of them to share the work evenly.
TASKS_EACH = 8
MAX_CASES = 50
# What python-chess counts in some ten seconds.
MAX_ORACLE_NODES = 3_000_000


@dataclass(frozen=True)
class Batch:
    """Positions for one worker, and the engine that counts them."""

    cases: tuple[Case, ...]
    engine: EngineSpec


def count_batch(batch: Batch) -> list[dict[str, Any]]:
    """Count every position to every depth it has a number for; called in the workers. Raises EngineError."""
    with closing(EngineCounter(batch.engine)) as counter:
        return [count_case(counter, case) for case in batch.cases]


def count_case(counter: Counter, case: Case) -> dict[str, Any]:
    """What was found in one position, ready for JSON."""
    board = case.board()
    began = time.perf_counter()
    found = {depth: counter.count(board, depth) for depth in sorted(case.counts)}
    seconds = time.perf_counter() - began
    wrong = [depth for depth, count in found.items() if count != case.counts[depth]]
    return {
        "where": case.where,
        "counter": counter.name,
        "epd": case.epd,
        "counts": [{"depth": depth, "expected": case.counts[depth], "found": found[depth]} for depth in found],
        "seconds": round(seconds, 6),
        "difference": first_difference(counter, board, wrong[0]) if wrong else None,
    }


def first_difference(counter: Counter, board: chess.Board, depth: int) -> str:
    """Where the counter departs from python-chess, within `depth` plies: a sentence. The board is left as it was."""
    oracle = PythonChessCounter()
    for plies in range(1, depth + 1):
        expected = oracle.count(board, plies)
        if counter.count(board, plies) != expected:
            return _descend(counter, oracle, board.copy(stack=False), plies)
        if expected > MAX_ORACLE_NODES and plies < depth:
            return f"python-chess agrees to depth {plies}, and deeper it would take too long"
    return f"python-chess counts {expected} at depth {depth} too: the number in the file is wrong"


def _descend(counter: Counter, oracle: PythonChessCounter, board: chess.Board, depth: int) -> str:
    line: list[str] = []
    while depth > 0:
        found, expected = counter.divide(board, depth), oracle.divide(board, depth)
        after = f"after {' '.join(line)}" if line else "in this position"
        if missing := sorted(expected.keys() - found.keys()):
            return f"{after}, {missing[0]} is legal and not counted ({board.fen()})"
        if illegal := sorted(found.keys() - expected.keys()):
            return f"{after}, {illegal[0]} is counted and not legal ({board.fen()})"
        different = [move for move in expected if found[move] != expected[move]]
        if not different:
            return f"{after}, the counts of the single moves are right though their sum was wrong ({board.fen()})"
        line.append(different[0])
        board.push_uci(different[0])
        depth -= 1
    return f"after {' '.join(line)}, a position is not counted as one ({board.fen()})"


def read_files(asked: argparse.Namespace) -> list[Case]:
    """The positions of all files, with the counts that are asked for. Raises OSError and ProgramError."""
    cases = []
    for path in asked.files:
        for case in read_cases(path):
            case.counts = {
                depth: count
                for depth, count in case.counts.items()
                if (asked.depth is None or depth <= asked.depth)
                and (asked.max_nodes is None or count <= asked.max_nodes)
            }
            cases.append(case)
    return cases


def run(asked: argparse.Namespace, cases: list[Case], engine: EngineSpec) -> Iterator[dict[str, Any]]:
    """The findings as they come, first those of the journal. Raises ProgramError."""
    settings = {
        "files": [path.name for path in asked.files],
        "positions": [[case.epd, case.counts] for case in cases],
        "engine": engine.as_json(),
    }
    with Journal(asked.journal, settings, resume=asked.resume) as journal:
        yield from journal.entries
        done = {finding["where"] for finding in journal.entries}
        left = [case for case in cases if case.where not in done]
        size = min(MAX_CASES, 1 + len(left) // (TASKS_EACH * asked.concurrency))
        batches = (Batch(tuple(left[i : i + size]), engine) for i in range(0, len(left), size))
        tasks = (Task(batch.cases[0].where, batch) for batch in batches)
        with closing(run_tasks(count_batch, tasks, workers=asked.concurrency)) as results:
            for result in results:
                for finding in result.value_or_raise():
                    journal.append(finding)
                    yield finding


def report(findings: list[dict[str, Any]], asked: argparse.Namespace) -> bool:
    """Show the table and write the JSON; returns whether all is right."""
    who = findings[0]["counter"] if findings else "nobody"
    rows, all_right = [], True
    for path in asked.files:
        own = [finding for finding in findings if finding["where"].rpartition(":")[0] == path.name]
        counts = [count for finding in own for count in finding["counts"]]
        right = sum(count["found"] == count["expected"] for count in counts)
        sequences = sum(count["found"] for count in counts)
        seconds = sum(finding["seconds"] for finding in own)
        all_right = all_right and bool(counts) and right == len(counts)
        positions = sum(bool(finding["counts"]) for finding in own)
        numbers = (positions, right, len(counts) - right)
        rows.append((path.name, *map(str, numbers), f"{sequences:,}".replace(",", " "), f"{seconds:.1f}"))
    head = ("file", "positions", "counts right", "wrong", "sequences", "seconds")
    standard_output().print(make_table(f"Counted by {who}", head, rows))
    if asked.json:
        write_json(asked.json, {"tool": "perft", "counter": who, "all_right": all_right, "positions": findings})
    return all_right


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare counts of move sequences with those in files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="EPD with ;D1 20 ;D2 400, or blocks")
    parser.add_argument("--depth", type=int, help="leave out counts of greater depth")
    parser.add_argument("--max-nodes", type=int, metavar="N", help="leave out counts greater than this")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--core", choices=CORES, default="auto", help="count with our own engine (the default)")
    who.add_argument("--engine", metavar="SPEC", help=f"or with an engine that knows `go perft`: {ENGINE_SYNTAX}")
    parser.add_argument("--concurrency", type=at_least_one, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the findings there too")
    parser.add_argument("--journal", type=new_file, metavar="FILE", help="note every finding there")
    parser.add_argument("--resume", action="store_true", help="continue what the journal holds")
    asked = parser.parse_args(words)
    if len({path.name for path in asked.files}) != len(asked.files):
        parser.error("two files have the same name")
    return asked


def main(words: list[str] | None = None) -> int:
    """Run the suites named on the command line; returns the exit code."""
    asked = parse(words)
    try:
        engine = parse_engine(asked.engine) if asked.engine else own_engine(asked.core)
        cases = read_files(asked)
        try_engines([engine])
        findings = []
        with show_progress("perft", len(cases)) as advance:
            for finding in run(asked, cases, engine):
                findings.append(finding)
                for count in finding["counts"]:
                    if count["found"] != count["expected"]:
                        sentence = "{where}: depth {depth} gives {found}, not {expected}: {epd}"
                        say(sentence.format_map({**finding, **count}))
                if finding["difference"]:
                    say(f"  {finding['difference']}")
                advance()
    except (OSError, ProgramError) as error:
        complain(error)
        return 2
    order = {case.where: number for number, case in enumerate(cases)}
    findings.sort(key=lambda finding: order[finding["where"]])
    return 0 if report(findings, asked) else 1


if __name__ == "__main__":
    run_program(main)
