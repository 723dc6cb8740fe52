#!/usr/bin/env python3
"""Fuzz a UCI engine: random UCI sessions checked against the protocol and minimised.

    python scripts/fuzz.py [--engine 'cmd=PROGRAM option.Hash=4'] [--examples 200] [--seed 1] [--minutes 10]
    python scripts/fuzz.py --replay fuzz_found/held-back.txt [--engine …]

Each session has its own process. When one of them breaks a rule, hypothesis minimises it, and the shortest
one is written as a text file that `--replay` repeats. That oracle then counts as known, and the search for others goes
on. Without `--engine` the engine of these sources is tested. The exit code is 1 if anything was found.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from lib.console import complain, make_table, new_file, say, show_progress, standard_output, write_json
from lib.engines.engine import EngineOption
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, own_engine, parse_engine
from lib.errors import ProgramError
from lib.fuzz.lines import KINDS
from lib.fuzz.machine import Assignment, Finding, with_assignment
from lib.uci import oracles
from lib.uci.conversation import Conversation, load, save, shrink
from lib.uci.interview import Interview, repeat
from lib.uci.oracles import Patience, Violation, describe_oracles

STEPS = 25
# With --minutes: conversations under one seed, before the next one is taken.
EXAMPLES_OF_A_ROUND = 100


@dataclass(frozen=True)
class Round:
    """What one seed has shown; `repeats`: what was found shows again when the same is said."""

    seed: int
    conversations: int
    finding: Finding | None
    repeats: bool


def assignment_for(spec: EngineSpec, patience: Patience, without: Sequence[str] = ()) -> Assignment:
    """How to talk to this engine. Its options are asked for: raises OSError and Violation."""
    assignment = Assignment(spec, patience, without)
    interview = assignment.interview()
    try:
        interview.say("uci")
        if not interview.wait_for_greeting():
            raise interview.violations[0] if interview.violations else Violation("answer", "no uciok")
    finally:
        interview.kill()
    assignment.options = [option for option in map(EngineOption.read, interview.judge.options) if option is not None]
    return assignment


def fuzz(assignment: Assignment, seed_number: int, examples: int, steps: int = STEPS) -> Round:
    """Hold so many conversations; more, while what was found is being shrunk."""
    machine = seed(seed_number)(with_assignment(assignment))
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    before = assignment.conversations
    # Flaky: it was seen, and not again when the same was said; perhaps a matter of time. What was said is kept.
    with contextlib.suppress(Violation, Flaky):
        run_state_machine_as_test(machine, settings=chosen)
    finding = assignment.finding
    repeats = False
    if finding is not None:
        oracle = finding.violation.oracle

        def breaks(conversation: Conversation) -> bool:
            return oracle in {violation.oracle for violation in replay(conversation, assignment).violations}

        shorter = shrink(finding.conversation, breaks)
        repeats = shorter is not None
        finding = replace(finding, conversation=shorter or finding.conversation)
    return Round(seed_number, assignment.conversations - before, finding, repeats)


def fuzz_all(assignment: Assignment, seed_number: int, examples: int, steps: int, until: float) -> Iterator[Round]:
    """Rounds until a whole one finds nothing; after that, with `until` (by time.monotonic) ahead, the next seeds."""
    known = set(assignment.without)
    while True:
        assignment.without = sorted(known)
        assignment.finding = None
        result = fuzz(assignment, seed_number, examples, steps)
        yield result
        if result.finding is not None:
            known.add(result.finding.violation.oracle)
        else:
            seed_number += 1
        if time.monotonic() >= until and (until or result.finding is None):
            return


def replay(conversation: Conversation, assignment: Assignment) -> Interview:
    """Say the same again; the interview holds what is wrong with the answers."""
    interview = assignment.interview()
    try:
        repeat(conversation, interview)
    finally:
        interview.kill()
    return interview


def store(finding: Finding, folder: Path, name: str, engine: str, result: Round) -> Path:
    """Write what was found; returns the file."""
    again = "" if result.repeats else "; seen once, and not again when the same was said"
    about = (f"{engine}, seed {result.seed}{again}", *finding.conversation.about)
    number, path = 1, folder / f"{name}.txt"
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}.txt"
    save(replace(finding.conversation, about=about), path)
    return path


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    kinds = "kinds of lines, beside what is well-formed:\n" + "\n".join(f"  {k:<13} {v}" for k, v in KINDS.items())
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=f"{kinds}\n\n{describe_oracles()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--engine", metavar="SPEC", help=f"{ENGINE_SYNTAX}; default: the engine of these sources")
    parser.add_argument("--seed", type=int, default=1, help="of the first round (default: 1)")
    parser.add_argument("--examples", type=int, default=200, help="conversations (default: 200)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"most steps of a conversation (default: {STEPS})")
    parser.add_argument("--minutes", type=float, default=0.0, help="go on with the next seeds until this time is over")
    parser.add_argument("--lines", nargs="*", choices=list(KINDS), default=list(KINDS), help="default: all kinds")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_found"), help="folder for what is found")
    parser.add_argument("--json", type=new_file, help="write the result to this file")
    parser.add_argument("--replay", nargs="+", type=Path, metavar="FILE", help="repeat these conversations instead")
    oracles.add_arguments(parser)
    return parser.parse_args(arguments)


@contextmanager
def folder_for(spec: EngineSpec) -> Iterator[EngineSpec]:
    """The engine, in a folder of its own if it has none: who knows what it writes when it is told nonsense."""
    if spec.directory is not None:
        yield spec
    else:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            command = tuple(str(Path(word).resolve()) if Path(word).is_file() else word for word in spec.command)
            yield replace(spec, directory=folder, command=command)


def run_replays(paths: Sequence[Path], assignment: Assignment) -> list[list[str]]:
    """A row for each violation that a kept conversation shows now."""
    rows = []
    for path in paths:
        found = replay(load(path), assignment).violations
        rows += [[violation.oracle, violation.sentence[:300], str(path)] for violation in found]
    return rows


def run_rounds(assignment: Assignment, words: argparse.Namespace, engine: str) -> tuple[list[list[str]], int]:
    """A row for each finding, as `run_replays` has them, and how many conversations were held."""
    rows: list[list[str]] = []
    total = 0
    examples = min(words.examples, EXAMPLES_OF_A_ROUND) if words.minutes else words.examples
    until = time.monotonic() + words.minutes * 60 if words.minutes else 0.0
    with show_progress("conversations", None if words.minutes else examples) as advance:
        assignment.on_conversation = lambda: advance(
            1, f"{len(rows)} found" + (", shrinking one" if assignment.finding else "")
        )
        for result in fuzz_all(assignment, words.seed, examples, words.steps, until):
            total += result.conversations
            if result.finding is not None:
                violation = result.finding.violation
                path = store(result.finding, words.keep, violation.oracle, engine, result)
                rows.append([violation.oracle, violation.sentence[:300], str(path)])
    return rows, total


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    words = parse_arguments(arguments)
    patience = oracles.patience_of(words)
    began = time.monotonic()
    try:
        spec = own_engine() if words.engine is None else parse_engine(words.engine)
        engine = spec.name
        with folder_for(spec) as placed:
            assignment = assignment_for(placed, patience, words.without)
            assignment.kinds = words.lines
            if words.replay:
                rows, total = run_replays(words.replay, assignment), len(words.replay)
            else:
                rows, total = run_rounds(assignment, words, engine)
    except (ProgramError, OSError, Violation) as error:
        complain(error)
        return 2
    seconds = time.monotonic() - began
    if rows:
        standard_output().print(make_table("", ("oracle", "what was seen", "file"), rows))
    say(f"{engine}: {total} conversations in {seconds:.0f} s, {len(rows)} violations")
    if words.json:
        findings = [dict(zip(("oracle", "seen", "file"), row, strict=True)) for row in rows]
        result = {"engine": engine, "seed": words.seed, "conversations": total, "seconds": seconds, "found": findings}
        write_json(words.json, result)
    return 1 if rows else 0


if __name__ == "__main__":
    run_program(main)
