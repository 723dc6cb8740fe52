"""Random conversations with the real program, every line of it judged.

The machine knows the position of every `go`, because commands that wait are executed in their order. It sends sound
lines, odd ones and hostile ones, and never sleeps: it waits for answers, or goes on at once. What is drawn does not
depend on when an answer comes, so that a failure can be shrunk: there are no preconditions, and it is raised last.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import chess
import chess.engine
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.support import PATIENCE_SECONDS, TABLES
from tests.support.kernel import STARTS
from tests.support.uci_process import InfoLine, UciProcess, play, read_best_move, read_info, read_option

EXAMPLES = 150 if os.environ.get("SECATEUR_NEW_EXAMPLES") == "1" else 10
STEPS = 25

POSITIONS = (
    *STARTS[:4],
    "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "8/8/8/4k3/8/4K3/8/8 w - - 99 80",
    "4k3/P6P/8/8/8/8/p6p/4K3 b - - 4 60",
    # In part repaired.
    "2b1kbnQ/rpq1pp1p/2n3p1/8/8/2P5/PP3PPP/RN2KBNR b KQk - 0 9",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e3 0 1",
    "k7/8/8/r2pPK2/8/8/8/8 w - d6 0 1",
    "4k3/8/8/8/8/8/4P3/4K3 w - - 100000000000000000000 99999999999",
    "4k3/8/8/8/4r3/5n2/8/b3K2q w - - 0 1",
    "4k3/8/8/8/8/8/4R3/4K3 b - - 100 80",
    # Stalemate and mate.
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
)
REFUSED_POSITIONS = (
    *("", "fen", "sideways", "startpos e2e4", "startpos moves 0000", "startpos moves e7e8q e2e4"),
    *("fen 8/8/8/8/8/8/8/8 w - - 0 1", "fen P7/8/8/8/8/8/8/kKp5 w - - 0 1", "fen " + "k" * 100_000),
    "fen QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/8/8/8/8/k6K w - - 0 1",
)
# Searches that end by themselves and soon.
SHORT = (
    *("depth 1", "depth 2", "nodes 1", "nodes 100", "movetime 1", "movetime 20", "mate 1", "depth 2 nodes 50"),
    *("wtime 50 btime 50", "wtime 90 btime 30 movestogo 1", "winc 1 wtime 40 binc 1 btime 40 movestogo 10"),
    # Odd, and clear enough.
    *("depth 0", "depth -3", "depth", "depth one", "nodes 0", "movetime 0", "movetime -5", "movestogo 5", "mate 0"),
    *("wtime 0 btime 0", "wtime -50 btime -50", "wtime 1e3 btime 20 wtime 5", "movestogo 0 wtime 50 btime 50"),
    *("foo wtime 30 bar btime 30", "searchmoves"),
)
LONG = ("", "mate 99", "depth 99999999999999999999", "nodes 999999999999999999", "wtime 9000000 btime 9000000")
ANY_LIMITS = st.sampled_from(SHORT + LONG)
HOLDING = ("infinite", "ponder")

# Options by which answers are judged are set only to what they can be. A log could be written anywhere.
JUDGED_BY = {
    "Threads": "1",
    "UCI_Chess960": "false",
    "UCI_ShowWDL": "false",
    "UCI_LimitStrength": "false",
    "Skill Level": "20",
}
SET_ELSEWHERE = ("UCI_Chess960", "Debug Log File")
COSTLY = ("Hash", "Threads")
COSTLY_LIMIT = 4
ODD_VALUES = ("", "x", "-99999999999999999999", "1.5", "no/such", "a  b", ".", "x" * 5000, "\u00e4\u265a", "c:\\t;d:")
ODD_OPTIONS = (
    *("", "name", "value 3", "name value", "name Style value Risky", "name name x", "name Hash", "name Hash value"),
    *("name Clear Hash value x", "name Hash value much", "NAME hash VALUE 2", "name Hash value 0"),
)
COMMAND = re.compile(
    r"\b(uci|debug|isready|setoption|register|ucinewgame|position|go|stop|ponderhit|quit|d|help|eval|bench)\b"
)
STRANGE_LINES = (
    b"x" * 1_000_000,
    b"UCI",
    b"xboard\nprotover 2",
    b"\x1b[A",
    b"info depth 1\nbestmove e2e4",
    b"\xed\xa0\x80",
)
NONSENSE = st.one_of(
    st.text(max_size=50).map(str.encode), st.binary(max_size=50), st.sampled_from(STRANGE_LINES)
).filter(lambda data: not any(COMMAND.search(data.decode(code, "replace")) for code in ("utf-8", "latin-1")))


@dataclass
class Search:
    """A `go` without its answer, and what has been heard of it."""

    board: chess.Board | None
    # None: all moves.
    searchmoves: list[str] | None
    # Which words hold its move back; since when none does.
    held_by: set[str]
    # Whether it does not end before long by itself.
    is_long: bool
    options: dict[str, str]
    released_at: float = 0.0
    last_pv: list[str] | None = None
    reached: dict[str, int] = field(default_factory=dict)

    def release(self, *words: str) -> None:
        """To be called before the command is sent that releases it."""
        if self.held_by and not self.held_by.difference(words):
            self.released_at = time.perf_counter()
        self.held_by.difference_update(words)

    def stop(self) -> None:
        self.release(*HOLDING)
        self.is_long = False

    @property
    def ends(self) -> bool:
        return not self.held_by and not self.is_long

    @property
    def allowed(self) -> list[str]:
        """The moves that can be the answer."""
        legal = [] if self.board is None else [self.board.uci(move) for move in self.board.legal_moves]
        return [word for word in legal if self.searchmoves is None or word in self.searchmoves]

    def judge_info(self, info: InfoLine) -> None:
        assert self.board is not None
        if info.currmove is not None:
            assert info.currmove in self.allowed
        if info.pv is None:
            return
        play(self.board, info.pv)
        assert info.pv[0] in self.allowed
        assert info.score is not None
        assert (info.wdl is not None) == (self.options["UCI_ShowWDL"] == "true")
        if info.wdl is not None:
            win, _, loss = info.wdl
            assert (win - loss) * info.score[1] >= 0
        is_strong = self.options["UCI_LimitStrength"] == "false" and self.options["Skill Level"] == "20"
        if info.numbers.get("multipv", 1) > 1:
            assert self.last_pv is not None
            assert info.pv[0] != self.last_pv[0] or not is_strong
            return
        self.last_pv = info.pv
        # The line that several threads vote for, or that a weak player chooses, may be less deep.
        for name in ("depth", "nodes", "time") if is_strong and self.options["Threads"] == "1" else ("time",):
            assert info.numbers.get(name, 0) >= self.reached.get(name, 0)
            self.reached[name] = info.numbers.get(name, 0)

    def judge_answer(self, line: str, arrived_at: float) -> None:
        best, reply = read_best_move(line)
        assert not self.held_by, f"{line} before it was asked for"
        assert arrived_at >= self.released_at, f"{line} before it was asked for"
        if best == "(none)":
            assert not self.allowed
            return
        assert best in self.allowed
        assert self.last_pv is not None
        assert self.last_pv[0] == best
        assert self.board is not None
        play(self.board, [best] if reply is None else [best, reply])


class Conversations(RuleBasedStateMachine):
    """One conversation: a process, and what it owes us."""

    core: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.process = UciProcess(core=self.core)
        self.board: chess.Board | None = chess.Board()
        self.searches: list[Search] = []
        self.due = {"uciok": 0, "readyok": 0}
        self.judged = 0
        self.declared: list[chess.engine.Option] = []
        self.options = dict(JUDGED_BY)
        self.asked_for_text = False
        # How it will be ended; whether that has begun.
        self.ending = ""
        self.is_over = False
        self.failure: Exception | None = None

    def say(self, line: str) -> None:
        self.process.send(line)

    def set_option(self, name: str, value: str) -> None:
        self.say(f"setoption name {name} value {value}")
        if name in self.options:
            self.options[name] = value

    def wait(self, is_done: Callable[[], bool]) -> None:
        while self.failure is None and not is_done():
            if not self.process.wait_for_line(self.judged, PATIENCE_SECONDS):
                self.failure = AssertionError(f"nothing comes, and due are {self.due} and {self.searches}")
            self.listen()

    @invariant()
    def listen(self) -> None:
        """Judge what has come, up to the first failure."""
        try:
            while self.failure is None and self.judged < len(self.process.arrivals):
                self.judge(self.process.lines[self.judged], self.process.arrivals[self.judged])
                self.judged += 1
            assert self.process.errors == ""
            assert self.is_over or self.process.process.poll() is None
        except (AssertionError, ValueError) as error:
            self.failure = self.failure or error

    def judge(self, line: str, arrived_at: float) -> None:
        assert line.isascii(), repr(line)
        assert line == line.rstrip(), repr(line)
        word = line.split(" ")[0]
        if word == "info":
            info = read_info(line)
            assert len(info.string or "") < 300
            if info.pv is not None or info.currmove is not None:
                assert self.searches, line
                self.searches[0].judge_info(info)
        elif word == "bestmove":
            assert self.searches, line
            self.searches.pop(0).judge_answer(line, arrived_at)
        elif line in self.due:
            self.due[line] -= 1
            assert self.due[line] >= 0
        elif word in ("id", "option"):
            assert self.due["uciok"]
            declared = [read_option(line)] if word == "option" else []
            if not self.ending:
                self.declared += declared
        else:
            assert self.asked_for_text, line

    @initialize(
        threads=st.sampled_from("14"),
        switched_on=st.sets(st.sampled_from(("UCI_ShowWDL", "OwnBook", "UCI_LimitStrength"))),
        ending=st.sampled_from(("quit", "end of input", "stop")),
    )
    def begin(self, threads: str, switched_on: set[str], ending: str) -> None:
        self.greet()
        self.wait(lambda: not self.due["uciok"])
        assert self.declared
        self.ending = ending
        self.set_option("Threads", threads)
        for name in sorted(switched_on):
            self.set_option(name, "true")

    def teardown(self) -> None:
        try:
            if self.failure is None and self.ending:
                self.end()
        finally:
            self.process.kill()
        if self.failure is not None:
            raise self.failure

    def end(self) -> None:
        """Whatever was said, it still plays, and leaves when told to."""
        if self.ending == "stop":
            self.stop()
            self.position(chess.STARTING_FEN, [], False)
            self.go("depth 1", None)
            self.wait(lambda: not self.searches)
        elif self.searches and self.searches[-1].is_long and not self.searches[-1].held_by:
            # The end of the input does not end it.
            self.stop()
        self.is_over = True
        for search in self.searches:
            search.stop()
        if self.ending == "end of input":
            self.process.close_input()
        else:
            self.say("quit")
        code = self.process.wait_for_exit()
        self.listen()
        if self.failure is None:
            assert code == 0
            assert not self.searches
            assert not any(self.due.values())

    # At any time ----------------------------------------------------------------------------------------------------

    @rule()
    def greet(self) -> None:
        self.due["uciok"] += 1
        self.say("uci")

    @rule(times=st.sampled_from((1, 1, 100)))
    def ask(self, times: int) -> None:
        self.due["readyok"] += times
        self.process.send(*["isready"] * times)

    @rule()
    def hear_all(self) -> None:
        self.ask(1)
        self.wait(lambda: not any(self.due.values()))

    @rule(line=st.sampled_from(("debug on", "debug off", "debug", "register later")))
    def remark(self, line: str) -> None:
        self.say(line)

    @rule(line=st.sampled_from(("d", "eval", "help")))
    def ask_for_text(self, line: str) -> None:
        self.asked_for_text = True
        self.say(line)

    @rule(data=NONSENSE)
    def talk_nonsense(self, data: bytes) -> None:
        self.process.send_bytes(data + b"\n")

    @rule()
    def stop(self) -> None:
        for search in self.searches:
            search.stop()
        self.say("stop")

    @rule()
    def ponderhit(self) -> None:
        if self.searches:
            self.searches[-1].release("ponder")
        self.say("ponderhit")

    # Waits for the end of a search ----------------------------------------------------------------------------------

    @rule()
    def new_game(self) -> None:
        self.board = chess.Board()
        self.say("ucinewgame")

    @rule(
        fen=st.sampled_from(POSITIONS) | st.integers(0, 959).map(lambda n: chess.Board.from_chess960_pos(n).fen()),
        choices=st.lists(st.integers(0, 99), max_size=8),
        chess960=st.booleans(),
    )
    def position(self, fen: str, choices: list[int], chess960: bool) -> None:
        board = chess.Board(fen, chess960=True)
        board.chess960 = chess960 or board.has_chess960_castling_rights()
        chess960_value = str(board.chess960).lower()
        if self.options["UCI_Chess960"] != chess960_value:
            self.set_option("UCI_Chess960", chess960_value)
        moves = []
        for choice in choices:
            if legal := list(board.legal_moves):
                moves.append(board.uci(legal[choice % len(legal)]))
                board.push(legal[choice % len(legal)])
        self.board = board
        start = "startpos" if fen == chess.STARTING_FEN else f"fen {fen}"
        self.say(" ".join(["position", start, *(["moves", *moves] if moves else [])]))

    @rule(words=st.sampled_from(REFUSED_POSITIONS))
    def refused_position(self, words: str) -> None:
        self.board = None
        self.say(f"position {words}")

    @rule(data=st.data())
    def sound_option(self, data: st.DataObject) -> None:
        option = data.draw(st.sampled_from([each for each in self.declared if each.name not in SET_ELSEWHERE]))
        match option.type:
            case "button":
                self.say(f"setoption name {option.name}")
            case "check":
                self.set_option(option.name, data.draw(st.sampled_from(("true", "false"))))
            case "spin":
                highest = COSTLY_LIMIT if option.name in COSTLY else option.max
                self.set_option(option.name, str(data.draw(st.sampled_from((option.min, highest)))))
            case "string":
                values = ("<empty>", str(TABLES)) if option.name == "SyzygyPath" else ("<empty>",)
                self.set_option(option.name, data.draw(st.sampled_from(values)))

    @rule(data=st.data())
    def odd_option(self, data: st.DataObject) -> None:
        names = [each.name for each in self.declared if each.name not in (*SET_ELSEWHERE, *JUDGED_BY)]
        values = st.builds("name {} value {}".format, st.sampled_from(names), st.sampled_from(ODD_VALUES))
        self.say(f"setoption {data.draw(st.sampled_from(ODD_OPTIONS) | values)}")

    @rule(limits=ANY_LIMITS, searchmoves=st.none() | st.lists(st.sampled_from(("e2e4", "a2a3", "e1d1", "zz", "0000"))))
    def go(self, limits: str, searchmoves: list[str] | None) -> None:
        # `searchmoves` without a move is no limit, and is no list either.
        words = [] if not searchmoves else ["searchmoves", *searchmoves]
        self.begin_search(" ".join(["go", *limits.split(), *words]), searchmoves or None, limits in LONG)

    @rule(limits=ANY_LIMITS, words=st.sampled_from(("infinite", "ponder", "ponder infinite")))
    def go_and_hold(self, limits: str, words: str) -> None:
        self.begin_search(f"go {words} {limits}", None, limits in LONG or "infinite" in words, words)

    def begin_search(self, line: str, searchmoves: list[str] | None, is_long: bool, held_by: str = "") -> None:
        for search in self.searches:
            search.stop()
        board = None if self.board is None else self.board.copy(stack=False)
        held = set(held_by.split())
        self.searches.append(Search(board, searchmoves, held, is_long, dict(self.options)))
        self.say(line)

    # During a search ------------------------------------------------------------------------------------------------

    @rule()
    def wait_for_answer(self) -> None:
        if self.searches and self.searches[-1].ends:
            self.wait(lambda: not self.searches)

    @rule()
    def wait_for_report(self) -> None:
        if self.searches and self.searches[-1].allowed:
            last = self.searches[-1]
            self.wait(lambda: last.last_pv is not None)


class ConversationsOnPythonChess(Conversations):
    core = "python-chess"


TestConversations = Conversations.TestCase
TestConversations.settings = settings(max_examples=EXAMPLES, stateful_step_count=STEPS)
TestConversationsOnPythonChess = pytest.mark.slow(ConversationsOnPythonChess.TestCase)
TestConversationsOnPythonChess.settings = settings(max_examples=EXAMPLES // 3, stateful_step_count=STEPS)
