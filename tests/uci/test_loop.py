"""The order in which commands are executed, tried on an engine that only pretends to think.

The pretender ends a search when it is stopped, or right away when `go` has a depth. Either way the news of it
queues up behind the lines that have been sent already: for these, the search is still running.
"""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Callable, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, cast
from unittest import mock

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.board.game import Game
from uci_engine.options import Options
from uci_engine.search.info import BestMove
from uci_engine.text import Message
from uci_engine.time_management import Limits
from uci_engine.uci import loop as uci
from uci_engine.uci.loop import STUCK_SECONDS, Event, Inbox, Mark, Writer
from uci_engine.uci.protocol import Word, parse

if TYPE_CHECKING:
    from uci_engine.engine import OnBestMove, UciEngine


NO_MOVE = "bestmove (none)"


class Pretender:
    """Looks like a UciEngine to the dispatcher, keeps a log, and insists on being idle when it should be."""

    id = MappingProxyType({"name": "Pretender"})
    core = SimpleNamespace(is_fallback=False)
    problem = ""
    is_endless = False

    def __init__(self) -> None:
        self.options = Options()
        self.log: list[str] = []
        self._answer: Callable[[], None] | None = None

    def note(self, text: str, needs_idle: bool = True) -> None:
        assert not (needs_idle and self._answer), f"{text} during a search"
        self.log.append(text)

    def new_game(self) -> None:
        self.note("new game")

    def set_option(self, name: str | None, text: str | None) -> list[Message]:
        self.note(f"option {name} {text}")
        return []

    def set_position(self, fen: str | None, moves: Sequence[str], chess960: bool) -> list[str]:
        self.note(f"position {fen} {' '.join(moves)}".strip())
        return []

    def go(self, board: object, limits: Limits, received_at: float, on_info: object, on_best_move: OnBestMove) -> None:
        self.note("go")
        if limits.nodes == 13:
            raise ZeroDivisionError("unlucky\nnumber")
        self._answer = lambda: on_best_move(BestMove(None))
        if limits.depth is not None:
            self.stop()

    def start(self, work: Callable[[Callable[[], bool]], None]) -> None:
        self.note("perft")
        work(lambda: False)

    def stop(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            self.note("stop")
            answer()

    def ponderhit(self, received_at: float) -> None:
        self.note("ponderhit", needs_idle=False)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        return True

    def explain_evaluation(self, board: chess.Board) -> str:
        raise MemoryError

    def close(self) -> None:
        self.note("close")


class PatientInbox(Inbox):
    """Sends `quit` once all that has been sent before, and all that came of it, has been dealt with."""

    def get(self, block: bool = True, timeout: float | None = None) -> Event:
        try:
            return super().get(block=False)
        except queue.Empty:
            return Event(0.0, parse("quit"))


class Conversation:
    """Lines sent to a dispatcher with a Pretender behind it, all at once, and what came of them."""

    def __init__(self, *lines: str, hurry: bool = False) -> None:
        """`hurry`: the `quit` is sent at once, too."""
        self.engine = Pretender()
        output = io.BytesIO()
        inbox = Inbox() if hurry else PatientInbox()
        with (
            mock.patch.object(Options, "set", self.engine.set_option),
            mock.patch.object(Game, "set", self.engine.set_position),
            mock.patch("uci_engine.tools.perft.perft"),
        ):
            dispatcher = uci.Dispatcher(cast("UciEngine", self.engine), inbox, Writer(output), Game())
            for line in (*lines, "quit") if hurry else lines:
                inbox.put(Event(0.0, parse(line), line))
            dispatcher.serve()
        self.lines = output.getvalue().decode().splitlines()
        self.log = self.engine.log

    @property
    def answers(self) -> list[str]:
        """What was said, without `info`."""
        return [line for line in self.lines if not line.startswith("info")]


def test_uci_debug_and_nonsense_are_answered_during_a_search() -> None:
    talk = Conversation("go infinite", "uci", "debug on", "blah", "register later", "help", "stop")
    assert talk.answers[0] == "id name Pretender"
    assert talk.answers.index("uciok") < talk.answers.index(NO_MOVE)
    assert any("blah" in line for line in talk.lines[: talk.lines.index(NO_MOVE)])


SET = ", setoption name A value b"


@pytest.mark.parametrize(
    ("lines", "log", "answers"),
    [
        # What needs an idle engine waits, and does not hold up `stop`.
        (f"go infinite{SET}, ucinewgame, isready, stop", "go, stop, option A b, new game", f"readyok, {NO_MOVE}"),
        ("go infinite, position startpos, isready, stop", "go, stop, position None", f"readyok, {NO_MOVE}"),
        # A `stop` behind a waiting `go` is meant for that `go`.
        ("go infinite, go infinite, stop, go depth 1", "go, stop, go, stop, go, stop", ", ".join([NO_MOVE] * 3)),
        # When the second search starts, the command that waits behind it does not hide the `stop` behind that.
        (
            "go infinite, go ponder, ucinewgame, ponderhit, stop",
            "go, stop, go, ponderhit, stop, new game",
            ", ".join([NO_MOVE] * 2),
        ),
        # Many waiting commands stop the search.
        (
            f"go infinite{SET * uci.WAITING_LIMIT}, isready",
            "go, stop" + ", option A b" * uci.WAITING_LIMIT,
            f"{NO_MOVE}, readyok",
        ),
        (
            f"go infinite{SET * (uci.WAITING_LIMIT - 1)}, isready",
            "go, stop" + ", option A b" * (uci.WAITING_LIMIT - 1),
            f"readyok, {NO_MOVE}",
        ),
    ],
    ids=range(6),
)
def test_the_order_of_execution(lines: str, log: str, answers: str) -> None:
    talk = Conversation(*lines.split(", "))
    assert ", ".join(talk.log) == f"{log}, close"
    assert ", ".join(talk.answers) == answers


def test_debug_mode_tells_what_is_put_off() -> None:
    talk = Conversation("debug on", "stop", "go infinite", "ucinewgame", "debug off", "ponderhit")
    texts = [line for line in talk.lines if line.startswith("info string")]
    assert len(texts) == 3
    assert "ucinewgame" in texts[1]


def test_a_failing_command_is_reported_and_survived(capfd: pytest.CaptureFixture[str]) -> None:
    talk = Conversation("eval", "isready")
    assert talk.lines[0].startswith("info string error: MemoryError")
    assert talk.answers == ["readyok"]
    assert "Traceback" in capfd.readouterr().err


def test_a_go_that_fails_is_answered_with_a_legal_move_if_there_is_one(capfd: pytest.CaptureFixture[str]) -> None:
    talk = Conversation("go nodes 13", "position sideways", "go nodes 13")
    assert talk.lines[0] == "info string error: ZeroDivisionError: unlucky number"
    assert "Traceback" in capfd.readouterr().err
    # A position that cannot be read is not held, nor is the one before.
    legal, none = talk.answers
    assert chess.Move.from_uci(legal.removeprefix("bestmove ")) in chess.Board().legal_moves
    assert none == NO_MOVE


def test_the_reader_pauses_when_it_is_too_far_ahead() -> None:
    inbox = Inbox()
    extra = 3

    def read() -> None:
        for _ in range(uci.UNREAD_LIMIT + extra):
            inbox.receive(Event(0.0, parse("isready")))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    for _ in range(uci.UNREAD_LIMIT):
        inbox.get()
    thread.join(timeout=0.05)
    assert thread.is_alive()
    for _ in range(extra):
        inbox.task_done()
        inbox.get()
    thread.join(timeout=30)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("data", "last"), [(b"ucinewgame\n", Mark.END_OF_INPUT), (b"ucinewgame\nquit\nisready\n", Word.QUIT)]
)
def test_only_quit_hurries_what_was_read_before(data: bytes, last: Mark | Word) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    inbox = Inbox()
    inbox.closed.set()
    uci.read(read_end, inbox, Writer(io.BytesIO()))
    os.close(read_end)
    events = [inbox.get() for _ in range(inbox.qsize())]
    assert [event.what for event in events[:2]] == [Word.NEW_GAME, last]
    assert inbox.must_end == (last is Word.QUIT)


def test_after_quit_the_process_ends_once_no_more_commands_are_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = Inbox()
    seconds_waited = []

    def wait(seconds: float) -> bool:
        seconds_waited.append(seconds)
        if len(seconds_waited) < 3:
            inbox.task_done()
        return False

    monkeypatch.setattr(inbox.closed, "wait", wait)
    monkeypatch.setattr("os._exit", mock.Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        inbox.quit("quit")
    assert seconds_waited == [STUCK_SECONDS] * 3


LINES = (
    "go infinite",
    "go depth 1",
    "go ponder",
    "go perft 1",
    "stop",
    "ponderhit",
    "isready",
    "position startpos",
    "ucinewgame",
    "setoption name A value b",
    "nonsense",
)


@given(st.lists(st.sampled_from(LINES), max_size=40), st.booleans())
def test_any_conversation(lines: list[str], hurry: bool) -> None:
    talk = Conversation(*lines, hurry=hurry)
    goes = [line for line in lines if line.startswith("go") and "perft" not in line]
    assert talk.answers.count(NO_MOVE) == len(goes)
    assert talk.answers.count("readyok") == lines.count("isready")
    # The Pretender's own complaints, about orders at the wrong time, would appear as errors.
    assert not any("error" in line for line in talk.lines if "unknown command 'nonsense'" not in line)
    # What has to wait is never overtaken by what also has to.
    names = {"position": "position None", "ucinewgame": "new game", "setoption": "option A b", "go": "go"}
    expected = ["perft" if "perft" in line else names[word] for line in lines if (word := line.split()[0]) in names]
    assert [entry for entry in talk.log if entry not in ("stop", "ponderhit", "close")] == expected
