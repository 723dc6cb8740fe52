#!/usr/bin/env python3
"""Fuzz a UCI engine: random conversations and games, every line judged; what shows a fault is minimised.

    python scripts/fuzz.py [--engine 'cmd=PROGRAM option.Hash=4'] [--conversations 200] [--seed 1] [--minutes 10]
    python scripts/fuzz.py --lines games --load 2 --clock-ms 0 --minutes 60
    python scripts/fuzz.py --replay fuzz_found/held-back.txt [--engine …]

Each conversation has its own process. When one of them breaks a rule, the steps that do not matter are left out, and
the rest is written as a text file that `--replay` repeats. That oracle then counts as known, and the search for others
goes on. The second command is a soak: games at a fast clock on a busy machine. Without `--engine` the engine of these
sources is tested. The exit code is 1 if anything was found, 2 if the engine cannot be used, 130 after an interrupt.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.console import (
    INTERRUPTED,
    at_least_one,
    complain,
    make_table,
    new_file,
    run_program,
    say,
    show_progress,
    standard_output,
    write_json,
)
from toolkit.engines.engine import EngineOption
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, own_engine, parse_engine
from toolkit.errors import ProgramError
from toolkit.uci import oracles
from toolkit.uci.conversation import Conversation, load, save, shrink
from toolkit.uci.interview import Interview, repeat
from toolkit.uci.lines import KINDS
from toolkit.uci.oracles import Patience, Violation, describe_oracles
from toolkit.uci.talk import Talk

STEPS = 25
MAX_SEEN = 300
# Looks up now and then whether its parent, whose number it is given, is still there: a killed parent cannot end it.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))\n"


@dataclass
class Finding:
    """What broke a rule. repeats: whether it is seen again when the same is said; None before that was tried."""

    violation: Violation
    conversation: Conversation
    repeats: bool | None = None


@dataclass
class Fuzzer:
    """Talks to an engine, and counts. without: oracles that are not asked. kinds: of `lines.KINDS`."""

    spec: EngineSpec
    patience: Patience = field(default_factory=Patience)
    without: Collection[str] = ()
    kinds: Collection[str] = tuple(KINDS)
    steps: int = STEPS
    options: list[EngineOption] = field(default_factory=list)
    conversations: int = 0
    # The slowest answers that were in order, in ms.
    ready_ms: float = 0.0
    stop_ms: float = 0.0

    def ask_options(self) -> None:
        """Raises OSError for an engine that cannot be started, and Violation for one that does not greet."""
        interview = Interview(self.spec, self.patience, self.without)
        try:
            interview.say("uci")
            if not interview.wait_for_greeting():
                raise interview.violations[0] if interview.violations else Violation("answer", "no uciok")
        finally:
            interview.kill()
        self.options = [option for option in map(EngineOption.read, interview.judge.options) if option is not None]

    def talk(self, seed: str) -> Finding | None:
        """Hold the conversation of this seed. Raises OSError."""
        interview = Interview(self.spec, self.patience, self.without)
        try:
            Talk(interview, random.Random(seed), self.kinds, self.options).hold(self.spec.options, self.steps)
        finally:
            interview.kill()
        self.conversations += 1
        self.ready_ms = max(self.ready_ms, *interview.judge.ready_ms, 0.0)
        self.stop_ms = max(self.stop_ms, *interview.judge.stop_ms, 0.0)
        if not interview.violations:
            return None
        violation = interview.violations[0]
        about = (f"{self.spec.name}, seed {seed}", str(violation)[:2000])
        return Finding(violation, interview.conversation(*about))

    def minimised(self, finding: Finding) -> Finding:
        """The same without what does not matter, if it repeats. Raises OSError."""
        oracle = finding.violation.oracle

        def breaks(conversation: Conversation) -> bool:
            return oracle in {each.oracle for each in self.replay(conversation).violations}

        shorter = shrink(finding.conversation, breaks)
        return Finding(finding.violation, shorter or finding.conversation, shorter is not None)

    def replay(self, conversation: Conversation) -> Interview:
        """Say the same again; the interview holds what is wrong with the answers. Raises OSError."""
        interview = Interview(self.spec, self.patience, self.without)
        try:
            repeat(conversation, interview)
        finally:
            interview.kill()
        return interview


def store(finding: Finding, folder: Path) -> Path:
    """Write what was found; returns the file."""
    name = finding.violation.oracle
    number, path = 1, folder / f"{name}.txt"
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}.txt"
    about = finding.conversation.about if finding.repeats else (*finding.conversation.about, "seen once, not again")
    save(replace(finding.conversation, about=about), path)
    return path


@contextmanager
def load_of(processes: int) -> Iterator[None]:
    """Keep so many processes busy while the block runs. None of them outlives this program."""
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    busy = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@contextmanager
def folder_for(spec: EngineSpec) -> Iterator[EngineSpec]:
    """The engine, in a folder of its own if it has none: who knows what it writes when it is told nonsense."""
    if spec.directory is not None:
        yield spec
    else:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            command = tuple(str(Path(word).absolute()) if Path(word).is_file() else word for word in spec.command)
            yield replace(spec, directory=folder, command=command)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    kinds = "kinds of lines, beside what is well-formed:\n" + "\n".join(f"  {k:<13} {v}" for k, v in KINDS.items())
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=f"{kinds}\n\n{describe_oracles()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--engine", metavar="SPEC", help=f"{ENGINE_SYNTAX}; default: the engine of these sources")
    parser.add_argument("--seed", type=int, default=1, help="(1)")
    parser.add_argument("--conversations", type=at_least_one, metavar="N", help="(200, with --minutes any number)")
    parser.add_argument("--minutes", type=float, help="begin no conversation after so many minutes")
    parser.add_argument("--steps", type=at_least_one, default=STEPS, help=f"most steps of a conversation ({STEPS})")
    parser.add_argument("--lines", nargs="*", choices=list(KINDS), default=list(KINDS), help="(all kinds)")
    parser.add_argument("--load", type=int, default=0, metavar="N", help="processes that keep the machine busy (0)")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_found"), help="folder for what is found")
    parser.add_argument("--json", type=new_file, help="write the result to this file")
    parser.add_argument("--replay", nargs="+", type=Path, metavar="FILE", help="repeat these conversations instead")
    oracles.add_arguments(parser)
    words = parser.parse_args(arguments)
    if words.minutes is None and words.conversations is None:
        words.conversations = 200
    return words


def run_replays(paths: Sequence[Path], fuzzer: Fuzzer) -> Iterator[tuple[Violation, Path]]:
    """Each violation that a kept conversation shows now. Raises ProgramError, OSError."""
    for path in paths:
        fuzzer.conversations += 1
        yield from ((violation, path) for violation in fuzzer.replay(load(path)).violations)


def run_fuzzer(fuzzer: Fuzzer, words: argparse.Namespace) -> Iterator[tuple[Violation, Path]]:
    """Each violation that is found, and its file. Raises OSError."""
    until = float("inf") if words.minutes is None else time.monotonic() + words.minutes * 60
    most = float("inf") if words.conversations is None else words.conversations

    # What comes from an engine is stamped by a thread of ours, which must not wait for another one.
    sys.setswitchinterval(0.0005)
    found = 0
    with load_of(words.load), show_progress("conversations", words.conversations) as advance:
        while fuzzer.conversations < most and time.monotonic() < until:
            finding = fuzzer.talk(f"{words.seed} {fuzzer.conversations + 1}")
            if finding is not None:
                found += 1
                yield finding.violation, store(fuzzer.minimised(finding), words.keep)
                # It is known from now on.
                fuzzer.without = [*fuzzer.without, finding.violation.oracle]
            advance(1, f"{found} found")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    words = parse_arguments(arguments)
    began = time.monotonic()
    found: list[tuple[Violation, Path]] = []
    code = 0
    try:
        spec = own_engine() if words.engine is None else parse_engine(words.engine)
        with folder_for(spec) as placed:
            fuzzer = Fuzzer(placed, oracles.patience_of(words), words.without, words.lines, words.steps)
            fuzzer.ask_options()
            try:
                found.extend(run_replays(words.replay, fuzzer) if words.replay else run_fuzzer(fuzzer, words))
            except KeyboardInterrupt:
                # The usual end of a long run: what was seen until then is reported.
                complain("interrupted")
                code = INTERRUPTED
    except (ProgramError, OSError, Violation) as error:
        complain(error)
        return 2
    seconds = time.monotonic() - began
    rows = [[each.oracle, each.sentence[:MAX_SEEN], str(path)] for each, path in found]
    if rows:
        standard_output().print(make_table("", ("oracle", "what was seen", "file"), rows))
    say(f"{spec.name}: {fuzzer.conversations} conversations in {seconds:.0f} s, {len(rows)} violations")
    say(f"slowest readyok {fuzzer.ready_ms:.0f} ms, slowest bestmove after stop {fuzzer.stop_ms:.0f} ms")
    if words.json:
        facts = {"engine": spec.name, "seed": words.seed, "conversations": fuzzer.conversations, "seconds": seconds}
        slowest = {"ready_ms": fuzzer.ready_ms, "stop_ms": fuzzer.stop_ms}
        findings = [dict(zip(("oracle", "seen", "file"), row, strict=True)) for row in rows]
        write_json(words.json, {**facts, **slowest, "found": findings})
    return 1 if rows else code


if __name__ == "__main__":
    run_program(main)
