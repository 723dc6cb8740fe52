"""Conversations as text files: what was said to an engine and what it answered, to keep, read and repeat.

`fuzz.py` writes one for whatever it finds, and repeats it with `--replay`. One step to a line:

    # anything                      about the conversation
    > go depth 1                    this line is sent
    | go dep                        these bytes are sent and no line end; escapes as in Python: \\n \\x00 \\xe4 \\\\
    * 1000 abc\\n                    so many times these bytes, in one piece
    < bestmove e2e4                 this was heard
    ~ 20                            nothing is sent for so many ms
    $                               the end of the input

Whoever repeats it waits for every `uciok`, `readyok` and `bestmove` that was heard before the next step is taken.
Invariant: `read(write(conversation))` is the same conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.errors import ProgramError

ANSWERS = ("uciok", "readyok", "bestmove")
MAX_FLOOD_BYTES = 1 << 26
# A pause between two lines, where a conversation breaks nothing when it is said in one breath.
SLOW_MS = 20


@dataclass(frozen=True, slots=True)
class Send:
    """These bytes, `times` times over."""

    data: bytes
    times: int = 1

    @property
    def payload(self) -> bytes:
        return self.data * self.times


@dataclass(frozen=True, slots=True)
class Heard:
    """A line from the engine."""

    line: str

    @property
    def is_answer(self) -> bool:
        return self.line.startswith(ANSWERS)


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so long."""

    ms: int


@dataclass(frozen=True, slots=True)
class End:
    """The end of the input."""


Step = Send | Heard | Pause | End


@dataclass(frozen=True)
class Conversation:
    """Steps in order; `about` is free text, a line each."""

    steps: tuple[Step, ...]
    about: tuple[str, ...] = ()


def line(text: str) -> Send:
    """The step that sends this line."""
    return Send(f"{text}\n".encode())


def write(conversation: Conversation) -> str:
    """The conversation as text."""
    about = [f"# {text}".rstrip() for text in conversation.about]
    return "\n".join([*about, *map(_write_step, conversation.steps), ""])


def read(text: str) -> Conversation:
    """The conversation in this text; raises ProgramError."""
    about: list[str] = []
    steps: list[Step] = []
    # Only at LF: what an engine said may hold any other character that splitlines cuts at.
    for number, row in enumerate(text.split("\n"), 1):
        if row.startswith("#"):
            about.append(row[1:].strip())
        elif row:
            try:
                steps.append(_read_step(row))
            except (ValueError, UnicodeError) as error:
                raise ProgramError(f"line {number}: {row[:80]!r}: {error}") from None
    return Conversation(tuple(steps), tuple(about))


def load(path: Path) -> Conversation:
    """Read a file; raises ProgramError with its name, and OSError."""
    try:
        return read(path.read_text("ascii"))
    except ValueError as error:
        raise ProgramError(f"{path}: {error}") from None


def save(conversation: Conversation, path: Path) -> None:
    """Write a file, and its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write(conversation), "ascii", newline="\n")


def shrink(conversation: Conversation, breaks: Callable[[Conversation], bool]) -> Conversation | None:
    """The conversation without the steps that do not matter; None if it breaks nothing when it is repeated as it is.

    Of what was heard the answers are kept where the next step has to wait for them.
    """
    about = conversation.about

    def still_breaks(steps: Sequence[Step]) -> bool:
        return breaks(Conversation(tuple(steps), about))

    # Without the chatter: the next step waits for answers alone.
    steps: list[Step] = [step for step in conversation.steps if not isinstance(step, Heard) or step.is_answer]
    if not still_breaks(steps):
        # Said in one breath, perhaps something came too late to be noticed.
        steps = [part for step in steps for part in ((step, Pause(SLOW_MS)) if isinstance(step, Send) else (step,))]
        if not still_breaks(steps):
            return None
    waiting_for_nothing: list[Step] = [step for step in steps if not isinstance(step, Heard)]
    if still_breaks(waiting_for_nothing):
        steps = waiting_for_nothing
    size = max(1, len(steps) // 2)
    while True:
        start = 0
        while start < len(steps):
            shorter = steps[:start] + steps[start + size :]
            if shorter and still_breaks(shorter):
                steps = shorter
            else:
                start += size
        if size == 1:
            return Conversation(tuple(steps), about)
        size //= 2


def _write_step(step: Step) -> str:
    match step:
        case Send(data, 1):
            text = data[:-1].decode("latin-1")
            plain = data.endswith(b"\n") and text.isascii() and text.isprintable() and text == text.strip()
            return f"> {text}".rstrip() if plain else f"| {_escape(data)}"
        case Send(data, times):
            return f"* {times} {_escape(data)}"
        case Heard(text):
            return f"< {_escape(text.encode('latin-1', 'replace'))}"
        case Pause(ms):
            return f"~ {ms}"
        case End():
            return "$"


def _read_step(row: str) -> Step:
    mark, _, rest = row.partition(" ")
    match mark:
        case ">":
            return line(rest)
        case "|":
            return Send(_unescape(rest))
        case "*":
            times, _, data = rest.partition(" ")
            flood = Send(_unescape(data), int(times))
            if not 0 <= len(flood.data) * flood.times <= MAX_FLOOD_BYTES:
                raise ValueError("too large")
            return flood
        case "<":
            return Heard(_unescape(rest).decode("latin-1"))
        case "~":
            return Pause(int(rest))
        case "$":
            return End()
    raise ValueError("a step begins with one of # > | * < ~ $")


def _escape(data: bytes) -> str:
    text = data.decode("latin-1").encode("unicode_escape").decode("ascii")
    # A blank at the end of a line would not survive an editor.
    return re.sub(r" $", r"\\x20", text)


def _unescape(text: str) -> bytes:
    return text.encode("ascii").decode("unicode_escape").encode("latin-1")
