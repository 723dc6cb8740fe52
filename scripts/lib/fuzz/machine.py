"""A state machine that talks to an engine: what hypothesis may do in which state, and what it must never see.

Invariants: what can be done next depends on what was said, never on what the engine has answered by then. Otherwise a
conversation could not be repeated and shrunk. Every machine ends its engine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from lib.engines.engine import EngineOption
from lib.engines.spec import EngineSpec
from lib.fuzz import lines
from lib.uci.conversation import Conversation, Heard, Send
from lib.uci.interview import Interview
from lib.uci.oracles import Patience, Violation

FLOOD_BYTES = 1 << 21
PAUSES_MS = (1, 5, 20)
TIMES_READY = 100


class Phase(Enum):
    """What an engine does, as far as what it was told says."""

    IDLE = auto()
    SEARCHING = auto()
    INFINITE = auto()
    PONDERING = auto()
    STOPPING = auto()


@dataclass
class Finding:
    """The shortest conversation so far that broke an oracle."""

    violation: Violation
    conversation: Conversation

    @property
    def size(self) -> tuple[int, int]:
        """The number of steps taken, and of bytes sent."""
        sent = [step for step in self.conversation.steps if isinstance(step, Send)]
        return (
            sum(not isinstance(step, Heard) for step in self.conversation.steps),
            sum(len(step.payload) for step in sent),
        )


@dataclass
class Assignment:
    """Which engine to talk to, how, and what has come of it. Shared by all machines of one run."""

    spec: EngineSpec
    patience: Patience = field(default_factory=Patience)
    without: Collection[str] = ()
    kinds: Collection[str] = tuple(lines.KINDS)
    options: list[EngineOption] = field(default_factory=list)
    on_conversation: Callable[[], None] = lambda: None
    conversations: int = 0
    finding: Finding | None = None

    def interview(self) -> Interview:
        """Start the engine; raises OSError."""
        return Interview(self.spec, self.patience, self.without)

    def note(self, violation: Violation, interview: Interview) -> None:
        """Keep the conversation if it is the shortest."""
        finding = Finding(violation, interview.conversation(str(violation)[:2000]))
        if self.finding is None or finding.size <= self.finding.size:
            self.finding = finding

    def is_wanted(self, violation: Violation) -> bool:
        """While one thing found is being shrunk, another one must not take its place."""
        return self.finding is None or self.finding.violation.oracle == violation.oracle


class UciMachine(RuleBasedStateMachine):
    """One conversation with one engine. `with_assignment` makes a class of them."""

    assignment: ClassVar[Assignment]

    def __init__(self) -> None:
        super().__init__()
        self.phase = Phase.IDLE
        # Whether what is being searched has an end of its own, once the opponent has moved.
        self.is_limited = False
        self.leaves_with_quit = True
        self.leaves_in_order = True
        self.interview = self.assignment.interview()

    def allows(self, kind: str) -> bool:
        """Whether lines of this kind are wanted."""
        return kind in self.assignment.kinds

    # How it begins and ends -----------------------------------------------------------------------------------------

    @initialize(polite=st.booleans(), with_quit=st.booleans(), in_order=st.booleans())
    def begin(self, polite: bool, with_quit: bool, in_order: bool) -> None:
        """The greeting; whoever skips it is odd. How it is going to end is settled here too."""
        self.leaves_with_quit, self.leaves_in_order = with_quit, in_order
        if not polite or not self.allows("odd"):
            self.say("uci")
            self.wait(Interview.wait_for_greeting)
        for name, value in self.assignment.spec.options:
            self.say(f"setoption name {name} value {value}")

    def teardown(self) -> None:
        """The end: whatever was said, the engine still plays, and leaves when told to. Raises the first violation.

        Only here: an answer may come sooner or later, and if that decided how many steps a conversation has,
        hypothesis could not repeat it.
        """
        try:
            # With an exception on its way, hypothesis has had enough of this conversation.
            if sys.exc_info()[0] is None:
                self.end()
        finally:
            self.interview.kill()
            self.assignment.conversations += 1
            self.assignment.on_conversation()

    def end(self) -> None:
        """Let the engine play a move, if it was meant to end in order, and leave."""
        if self.leaves_in_order:
            # First let it read all that was said: an answer that comes too early must come before `stop`.
            self.wait(Interview.ping)
            self.say("stop")
            self.wait(Interview.wait_for_best_move)
            self.wait(Interview.ping)
            for text in ("ucinewgame", "position startpos"):
                self.say(text)
            self.wait(Interview.ping)
            self.say("go depth 1")
            self.wait(Interview.wait_for_best_move)
        if not self.has_failed():
            self.interview.leave(with_quit=self.leaves_with_quit)
        for violation in self.wanted_violations():
            self.assignment.note(violation, self.interview)
            raise violation

    def wanted_violations(self) -> list[Violation]:
        """What has been found up to now and counts."""
        self.interview.listen()
        return [violation for violation in self.interview.violations if self.assignment.is_wanted(violation)]

    def has_failed(self) -> bool:
        """Whether there is nothing more to be learnt from this engine."""
        return bool(self.wanted_violations())

    def say(self, text: str) -> None:
        """Send a line."""
        self.send(f"{text}\n".encode())

    def send(self, data: bytes, times: int = 1) -> None:
        """Send bytes."""
        if not self.has_failed():
            self.interview.send(Send(data, times))

    def wait(self, what: Callable[[Interview], bool]) -> None:
        """Wait for answers."""
        if not self.has_failed():
            what(self.interview)

    # What UCI allows at any time ------------------------------------------------------------------------------------

    @rule()
    def ask_whether_ready(self) -> None:
        """`isready`, without waiting."""
        self.say("isready")

    @rule()
    def wait_until_ready(self) -> None:
        """`isready` and its answer."""
        self.wait(Interview.ping)

    @rule(on=st.booleans())
    def debug(self, on: bool) -> None:
        """`debug`, which may come while searching too."""
        self.say(f"debug {'on' if on else 'off'}")

    @rule(ms=st.sampled_from(PAUSES_MS))
    def rest(self, ms: int) -> None:
        """Give the engine time."""
        self.interview.rest(ms)

    # What UCI allows to an idle engine ------------------------------------------------------------------------------

    @precondition(lambda self: self.phase is Phase.IDLE or self.allows("overlap"))
    @rule(text=lines.sound_positions())
    def position(self, text: str) -> None:
        """A legal position."""
        self.say(text)

    @precondition(lambda self: self.phase is Phase.IDLE or self.allows("overlap"))
    @rule(limits=st.sampled_from(lines.SOUND_LIMITS))
    def go(self, limits: str) -> None:
        """A search that ends."""
        self.phase, self.is_limited = Phase.SEARCHING, True
        self.say(f"go {limits}")

    @precondition(lambda self: self.phase is Phase.IDLE or self.allows("overlap"))
    @rule(limits=st.sampled_from(lines.HELD_LIMITS))
    def go_and_hold(self, limits: str) -> None:
        """A search that does not end before it is told to."""
        self.phase = Phase.PONDERING if limits.startswith("ponder") else Phase.INFINITE
        self.is_limited = limits not in ("ponder", "infinite")
        self.say(f"go {limits}")

    @precondition(lambda self: self.phase is Phase.IDLE or self.allows("overlap"))
    @rule(data=st.data())
    def set_option(self, data: st.DataObject) -> None:
        """An option that was declared, and a value that it can have."""
        self.say(data.draw(lines.sound_options(self.assignment.options)))

    @precondition(lambda self: self.phase is Phase.IDLE or self.allows("overlap"))
    @rule(text=lines.sound_positions())
    def new_game(self, text: str) -> None:
        """`ucinewgame`, which is followed by `isready` and a position."""
        self.say("ucinewgame")
        self.wait(Interview.ping)
        self.say(text)

    # What UCI allows to a searching engine --------------------------------------------------------------------------

    @precondition(lambda self: self.phase in (Phase.SEARCHING, Phase.STOPPING))
    @rule()
    def wait_for_best_move(self) -> None:
        """The search ends by itself, or was told to end."""
        self.wait(Interview.wait_for_best_move)
        self.phase = Phase.IDLE

    @precondition(lambda self: self.phase is not Phase.IDLE or self.allows("odd"))
    @rule()
    def stop(self) -> None:
        """`stop`; an idle engine ignores it."""
        self.phase = Phase.IDLE if self.phase is Phase.IDLE else Phase.STOPPING
        self.say("stop")

    @precondition(lambda self: self.phase is Phase.PONDERING or self.allows("odd"))
    @rule()
    def ponderhit(self) -> None:
        """`ponderhit`; it is ignored unless the engine ponders."""
        if self.phase is Phase.PONDERING:
            self.phase = Phase.SEARCHING if self.is_limited else Phase.INFINITE
        self.say("ponderhit")

    # What is odd ----------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.allows("odd"))
    @rule(limits=st.sampled_from(lines.ODD_LIMITS))
    def go_oddly(self, limits: str) -> None:
        """Limits out of range, or none; whether the search ends by itself is anybody's guess."""
        if self.phase is Phase.IDLE or self.allows("overlap"):
            self.phase = Phase.INFINITE
            self.say(f"go {limits}".rstrip())

    @precondition(lambda self: self.allows("odd"))
    @rule(data=st.data())
    def set_option_oddly(self, data: st.DataObject) -> None:
        """An option that there is not, or a value that it cannot have."""
        text = data.draw(lines.odd_options(self.assignment.options))
        if self.phase is Phase.IDLE or self.allows("overlap"):
            self.say(text)

    @precondition(lambda self: self.allows("odd"))
    @rule(text=st.sampled_from(("isready", "debug on", "uci", "stop")), style=st.integers(0, 4))
    def dress_oddly(self, text: str, style: int) -> None:
        """Other blanks and line ends."""
        if text == "stop" and self.phase is not Phase.IDLE:
            self.phase = Phase.STOPPING
        self.send(lines.dressed(text, style))

    @precondition(lambda self: self.allows("odd"))
    @rule(text=st.sampled_from(("isready", "uci", "debug off")), cut=st.integers(1, 3))
    def pause_within_a_line(self, text: str, cut: int) -> None:
        """A line in two pieces."""
        self.send(text[:cut].encode())
        self.interview.rest(PAUSES_MS[0])
        self.send(f"{text[cut:]}\n".encode())

    @precondition(lambda self: self.allows("odd"))
    @rule()
    def ask_many_times(self) -> None:
        """Many `isready` in one piece."""
        self.send(b"isready\n", TIMES_READY)
        self.wait(Interview.wait_until_ready)

    @precondition(lambda self: self.allows("unknown-words"))
    @rule(text=st.sampled_from(("joho isready", "joho debug on", "debug joho on", "foo bar isready")))
    def unknown_words(self, text: str) -> None:
        """What is not known is skipped."""
        self.say(text)

    # What is hostile ------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.allows("damaged"))
    @rule(words=st.sampled_from(lines.REFUSED_POSITIONS))
    def refused_position(self, words: str) -> None:
        """A position that cannot be, or moves that cannot be played."""
        if self.phase is Phase.IDLE or self.allows("overlap"):
            self.say(f"position {words}".rstrip())

    @precondition(lambda self: self.allows("damaged"))
    @rule(text=lines.damaged_lines().filter(lines.is_unanswered))
    def damaged_line(self, text: str) -> None:
        """Known words in a senseless order."""
        if self.phase is Phase.IDLE or self.allows("overlap"):
            self.say(text)

    @precondition(lambda self: self.allows("bytes"))
    @rule(data=lines.hostile_bytes())
    def noise(self, data: bytes) -> None:
        """Anything at all."""
        self.send(data)

    @precondition(lambda self: self.allows("bytes"))
    @rule(with_end=st.booleans())
    def flood(self, with_end: bool) -> None:
        """A very long line; if it has no end, the next command is its end."""
        self.send(b"x" * 16, FLOOD_BYTES // 16)
        self.send(b"\n" if with_end else b" \n")


def with_assignment(assignment: Assignment) -> type[UciMachine]:
    """Machines for this assignment."""
    return type("AssignedUciMachine", (UciMachine,), {"assignment": assignment})
