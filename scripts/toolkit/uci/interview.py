"""An engine that is questioned: its process, the judge of what it says, and the record of the conversation.

Invariants: whatever is sent goes through here and into the record, so that the record repeats the conversation. Every
line that was heard is judged, in order, with the time at which it came.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from toolkit.engines.process import PIPE_BYTES, EngineProcess
from toolkit.engines.spec import EngineSpec
from toolkit.uci.conversation import Conversation, End, Heard, Pause, Send, Step, line
from toolkit.uci.judge import Judge
from toolkit.uci.oracles import SETTLING_GAMES, Patience, Violation

# Shorter silences are no part of what was said.
MIN_PAUSE_MS = 2
# Nobody says so much at once and means it.
READ_BYTES = 1 << 16
# A judge who has found so much wrong need not go on.
MAX_VIOLATIONS = 50
MAX_NEW_THREADS = 4
MAX_NEW_FILES = 8


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process holds at one moment: resident memory in MiB, threads, open files."""

    memory_mib: float
    threads: int
    files: int


def usage_of(process_id: int) -> Usage | None:
    """What this process holds; None where the system does not tell (other than Linux), or once it has ended."""
    folder = Path("/proc", str(process_id))
    try:
        pages = int((folder / "statm").read_text().split()[1])
        threads = sum(1 for _ in (folder / "task").iterdir())
        files = sum(1 for _ in (folder / "fd").iterdir())
    except (OSError, IndexError, ValueError):
        return None
    return Usage(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, threads, files)


class Interview:
    """One process, from its start to its end. Violations are kept in `violations`, oldest first."""

    def __init__(
        self,
        spec: EngineSpec,
        patience: Patience | None = None,
        without: Collection[str] = (),
    ) -> None:
        """Start it; raises OSError. `without`: oracles that are not asked."""
        self.patience = patience or Patience()
        self.judge = Judge(self.patience)
        self.pipe = EngineProcess(spec.command, spec.directory)
        self.violations: list[Violation] = []
        # How many `uciok`, `readyok` and `bestmove` were heard.
        self.answers = 0
        self._without = frozenset(without)
        self._record: list[Step] = []
        self._judged = 0
        self._unfinished = b""
        self._ending = False
        self._quiet_since = time.perf_counter()
        # Since the last `setoption`, which may change what the process needs.
        self._games = 0
        self._settled: Usage | None = None
        # Whether `ucinewgame` was sent, and `isready` after it: its answer says that the new game has begun.
        self._is_new_game = self._is_asked = False

    # Talking --------------------------------------------------------------------------------------------------------

    def say(self, text: str) -> float:
        """Send a line; returns the time just before."""
        return self.send(line(text))

    def send(self, step: Send) -> float:
        """Send bytes, whole lines or parts of lines; returns the time just before."""
        self.listen()
        self._note_silence()
        self._record.append(step)
        at = time.perf_counter()
        # A flood makes a senseless word of the line that it stands in; that is all there is to know of it.
        seen = step.payload if len(step.payload) <= READ_BYTES else b"?"
        *complete, self._unfinished = re.split(b"[\r\n]", self._unfinished + seen)
        for row in complete:
            self._ending = self._ending or row.split()[:1] == [b"quit"]
            self.judge.sent(row.decode("utf-8", "replace"), at)
            if b"setoption" in row:
                self._games = 0
            self._is_asked = self._is_asked or (self._is_new_game and row.split()[:1] == [b"isready"])
            self._is_new_game = self._is_new_game or row.split()[:1] == [b"ucinewgame"]
        if len(step.payload) > PIPE_BYTES:
            self.judge.sent_much()
        was_alive = self.pipe.process.poll() is None
        self._quiet_since = self.pipe.send_bytes(step.payload)
        if was_alive and len(step.payload) > PIPE_BYTES and self.pipe.process.poll() is not None and not self._ending:
            self.accuse("answer", f"the process ended while it was sent {len(step.payload)} bytes")
        return at

    def rest(self, ms: int) -> None:
        """Send nothing for so long."""
        time.sleep(ms / 1000)

    def listen(self) -> None:
        """Judge what has been heard up to now."""
        pipe = self.pipe
        # The reader adds a line before its time of arrival: what has a time is complete.
        for i in range(self._judged, len(pipe.arrivals)):
            heard = Heard(pipe.lines[i])
            self._record.append(heard)
            self.answers += heard.is_answer
            self._quiet_since = max(self._quiet_since, pipe.arrivals[i])
            for violation in self.judge.heard(pipe.lines[i], pipe.arrivals[i]):
                self._add(violation)
            self._judged += 1
            if self._is_asked and not self.judge.ready_due:
                self._is_new_game = self._is_asked = False
                self._check_growth()
        if pipe.ended and not self._ending and len(pipe.arrivals) == self._judged:
            self._ending = True
            code = pipe.wait_for_exit(self.patience.exit_seconds)
            state = "closed its output" if code is None else f"ended with code {code}"
            self.accuse("alive", f"the process {state}; stderr: {pipe.errors[-1000:]!r}")

    def wait_for_greeting(self) -> bool:
        """Wait until no `uciok` is due."""
        return self._wait(lambda: self.judge.greetings_due == 0, "uciok")

    def wait_until_ready(self) -> bool:
        """Wait until no `readyok` is due."""
        return self._wait(lambda: not self.judge.ready_due, "readyok")

    def wait_for_best_move(self) -> bool:
        """Wait until every `go` is answered."""
        return self._wait(lambda: self.judge.is_idle, "bestmove")

    def ping(self) -> bool:
        """`isready`, and its answer; whether that came."""
        self.say("isready")
        return self.wait_until_ready()

    def wait_for_answers(self, count: int) -> bool:
        """Wait until so many answers were heard in all, or none is due."""
        return self._wait(lambda: self.answers >= count or self._nothing_is_due(), "")

    def _nothing_is_due(self) -> bool:
        return self.judge.is_idle and not self.judge.ready_due and not self.judge.greetings_due

    def _wait(self, done: Callable[[], bool], word: str) -> bool:
        deadline = time.monotonic() + self.patience.answer_seconds
        self.listen()
        while not done():
            remaining = deadline - time.monotonic()
            if self.pipe.ended or remaining <= 0:
                self.listen()
                if not done():
                    self.accuse("answer", f"no {word or 'answer'} within {self.patience.answer_seconds:g} s")
                break
            # Judging takes time, and a clock may be running: nothing is judged before the answer is there.
            self.pipe.wait_for_line(word, self._judged, remaining)
            self.listen()
        return done()

    def _check_growth(self) -> None:
        """Compare what the process holds with what it held after the first games."""
        now = usage_of(self.pipe.process.pid)
        if now is None:
            return
        self._games += 1
        if self._games <= SETTLING_GAMES:
            self._settled = now
        before = self._settled
        if before is not None and (
            now.memory_mib > before.memory_mib + self.patience.growth_mib
            or now.threads > before.threads + MAX_NEW_THREADS
            or now.files > before.files + MAX_NEW_FILES
        ):
            self.accuse("growth", f"{before} after {SETTLING_GAMES} games, {now} after {self._games}")
            self._settled = None

    # The end --------------------------------------------------------------------------------------------------------

    def leave(self, with_quit: bool = True) -> None:
        """`quit`, or the end of the input; then judge how the process ends. Nothing can be sent afterwards."""
        self.listen()
        if self.pipe.ended:
            return
        self._ending = True
        at = time.perf_counter()
        self.judge.sent_end(at)
        if with_quit:
            self.say("quit")
        else:
            self._note_silence()
            self._record.append(End())
            self.pipe.close_input()
        self.check_exit(at, "quit" if with_quit else "the end of the input")

    def check_exit(self, since: float, reason: str) -> None:
        """Judge the end of a process that was told to end at this time."""
        code = self.pipe.wait_for_exit(self.patience.exit_seconds)
        took = time.perf_counter() - since
        if code is None:
            code = self.pipe.wait_for_exit(self.patience.answer_seconds)
            self.accuse("exit", f"still running {self.patience.exit_seconds:g} s after {reason}")
        elif code != 0:
            self.accuse("exit", f"code {code} after {reason}, {took:.2f} s")
        self.listen()
        if self.pipe.errors:
            self.accuse("stderr", repr(self.pipe.errors[-1000:]))

    def kill(self) -> None:
        """End the process whatever it does."""
        self.pipe.kill()

    # The record -----------------------------------------------------------------------------------------------------

    def conversation(self, *about: str) -> Conversation:
        """All that was said so far."""
        return Conversation(tuple(self._record), about)

    def accuse(self, oracle: str, sentence: str) -> None:
        """Add a violation."""
        self._add(Violation(oracle, sentence))

    def _add(self, violation: Violation) -> None:
        if violation.oracle not in self._without and len(self.violations) < MAX_VIOLATIONS:
            self.violations.append(violation)

    def _note_silence(self) -> None:
        silence_ms = round((time.perf_counter() - self._quiet_since) * 1000)
        if silence_ms >= MIN_PAUSE_MS:
            self._record.append(Pause(silence_ms))


def repeat(conversation: Conversation, interview: Interview) -> None:
    """Say the same again, with the same pauses, each step after as many answers as came before it the first time.

    A conversation that does not end by itself is ended with `stop`, `isready` and `quit`.
    """
    answers = 0
    for step in conversation.steps:
        if isinstance(step, Heard):
            answers += step.is_answer
            continue
        if not interview.wait_for_answers(answers) or interview.pipe.ended:
            break
        if isinstance(step, Pause):
            interview.rest(step.ms)
        elif isinstance(step, End):
            interview.leave(with_quit=False)
            return
        elif step.payload.split() == [b"quit"]:
            interview.leave()
            return
        else:
            interview.send(step)
    interview.listen()
    if not interview.pipe.ended and interview.ping():
        # Only now: what came too early has come before it was asked for.
        if not interview.judge.is_idle:
            interview.say("stop")
            interview.wait_for_best_move()
        interview.leave()
