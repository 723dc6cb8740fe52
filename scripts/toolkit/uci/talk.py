"""A random conversation with an engine: what a client may do in which state, and what it should not.

Invariant: the same seed says the same, whatever the engine answers, but for the moves of games.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from enum import Enum, auto
from functools import partial

import chess

from toolkit.engines.engine import EngineOption, position_line
from toolkit.uci import lines
from toolkit.uci.conversation import Send
from toolkit.uci.interview import Interview
from toolkit.uci.judge import first_illegal

FLOOD_BYTES = 1 << 21
PAUSES_MS = (1, 5, 20)
TIMES_READY = 100
# Of a game: time and increment of each side, the most games in a row, and the most plies of one.
CLOCKS_MS = ((200, 5), (500, 10), (1000, 10))
MAX_GAMES = 6
MAX_PLIES = 60
OPENING_PLIES = 8
# For how long a search is left alone before `stop` or `ponderhit`.
PROBE_MS = (2, 60)


class Phase(Enum):
    """What an engine does, as far as what it was told says."""

    IDLE = auto()
    SEARCHING = auto()
    INFINITE = auto()
    PONDERING = auto()
    STOPPING = auto()


class Talk:
    """One conversation. What is wrong with the answers is kept in the interview."""

    def __init__(
        self,
        interview: Interview,
        chance: random.Random,
        kinds: Collection[str] = tuple(lines.KINDS),
        options: Collection[EngineOption] = (),
    ) -> None:
        """kinds: of `lines.KINDS`, beside what is well-formed. options: those that the engine has."""
        self.interview = interview
        self._chance = chance
        self._kinds = frozenset(kinds)
        self._options = list(options)
        self._phase = Phase.IDLE
        # Whether what is being searched has an end of its own, once the opponent has moved.
        self._is_limited = False

    def hold(self, setoptions: Collection[tuple[str, str]], steps: int) -> None:
        """The greeting, up to so many steps, and the end. Ends early once something was found."""
        chance = self._chance
        # Whoever skips the greeting is odd.
        if "odd" not in self._kinds or chance.random() < 0.5:
            self._say("uci")
            self._wait(Interview.wait_for_greeting)
        for name, value in setoptions:
            self._say(f"setoption name {name} value {value}")
        for _ in range(chance.randint(1, steps)):
            chance.choice(self._possible())()
            if self._has_failed():
                return
        self._end()

    def _possible(self) -> list[Callable[[], None]]:
        """What may be done next."""
        phase, kinds = self._phase, self._kinds
        is_free = phase is Phase.IDLE or "overlap" in kinds
        found: list[Callable[[], None]] = [self._ask, partial(self._wait, Interview.ping), self._debug, self._rest]
        if is_free:
            found += [self._position, self._go, self._go_and_hold, self._new_game]
        if is_free and "options" in kinds:
            found += [self._set_option]
        if phase in (Phase.SEARCHING, Phase.STOPPING):
            found += [self._wait_for_best_move]
        if phase is not Phase.IDLE or "odd" in kinds:
            found += [self._stop]
        if phase is Phase.PONDERING or "odd" in kinds:
            found += [self._ponderhit]
        if phase is Phase.IDLE and "games" in kinds:
            found += [self._play_games]
        if "odd" in kinds:
            found += [self._dress_oddly, self._pause_within_a_line, self._ask_many_times]
        if "odd" in kinds and is_free:
            found += [self._go_oddly, self._set_option_oddly]
        if "unknown-words" in kinds:
            found += [self._unknown_words]
        if "damaged" in kinds and is_free:
            found += [self._refused_position, self._damaged_line, self._damaged_go]
        if "bytes" in kinds:
            found += [self._noise, self._flood]
        return found

    def _end(self) -> None:
        """Whatever was said, the engine still plays, and leaves when told to."""
        if self._chance.random() < 0.5:
            # First let it read all that was said: an answer that comes too early must come before `stop`.
            self._wait(Interview.ping)
            self._say("stop")
            self._wait(Interview.wait_for_best_move)
            self._new_game()
            self._wait(Interview.ping)
            self._say("go depth 1")
            self._wait(Interview.wait_for_best_move)
        if not self._has_failed():
            self.interview.leave(with_quit=self._chance.random() < 0.5)

    def _has_failed(self) -> bool:
        """Whether there is nothing more to be learnt from this engine."""
        self.interview.listen()
        return bool(self.interview.violations)

    def _say(self, text: str) -> float:
        return self._send(f"{text}\n".encode())

    def _send(self, data: bytes, times: int = 1) -> float:
        """Returns the time just before; nothing is sent to an engine that has failed."""
        return 0.0 if self._has_failed() else self.interview.send(Send(data, times))

    def _wait(self, what: Callable[[Interview], bool]) -> None:
        if not self._has_failed():
            what(self.interview)

    # What UCI allows at any time ------------------------------------------------------------------------------------

    def _ask(self) -> None:
        self._say("isready")

    def _debug(self) -> None:
        self._say(self._chance.choice(("debug on", "debug off")))

    def _rest(self) -> None:
        self.interview.rest(self._chance.choice(PAUSES_MS))

    # What UCI allows to an idle engine ------------------------------------------------------------------------------

    def _position(self) -> None:
        self._say(lines.sound_position(self._chance))

    def _go(self) -> None:
        self._phase, self._is_limited = Phase.SEARCHING, True
        self._say(f"go {self._chance.choice(lines.SOUND_LIMITS)}")

    def _go_and_hold(self) -> None:
        """A search that does not end before it is told to."""
        limits = self._chance.choice(lines.HELD_LIMITS)
        self._phase = Phase.PONDERING if limits.startswith("ponder") else Phase.INFINITE
        self._is_limited = limits not in ("ponder", "infinite")
        self._say(f"go {limits}")

    def _set_option(self) -> None:
        self._say(lines.sound_option(self._chance, self._options))

    def _new_game(self) -> None:
        """`ucinewgame`, which is followed by `isready` and a position."""
        self._say("ucinewgame")
        self._wait(Interview.ping)
        self._position()

    # What UCI allows to a searching engine --------------------------------------------------------------------------

    def _wait_for_best_move(self) -> None:
        """The search ends by itself, or was told to end."""
        self._wait(Interview.wait_for_best_move)
        self._phase = Phase.IDLE

    def _stop(self) -> None:
        """An idle engine ignores it."""
        self._phase = Phase.IDLE if self._phase is Phase.IDLE else Phase.STOPPING
        self._say("stop")

    def _ponderhit(self) -> None:
        """It is ignored unless the engine ponders."""
        if self._phase is Phase.PONDERING:
            self._phase = Phase.SEARCHING if self._is_limited else Phase.INFINITE
        self._say("ponderhit")

    # Games ----------------------------------------------------------------------------------------------------------

    def _play_games(self) -> None:
        """Some games in a row of the engine against itself."""
        # The moves decide how much is drawn; what comes after the games must not depend on it.
        chance = random.Random(self._chance.random())
        is_chess960 = chance.random() < 0.25 and any(option.name == "UCI_Chess960" for option in self._options)
        if is_chess960:
            self._say("setoption name UCI_Chess960 value true")
        for _ in range(chance.randint(1, MAX_GAMES)):
            board = chess.Board.from_chess960_pos(chance.randrange(960)) if is_chess960 else chess.Board()
            board.chess960 = is_chess960
            self._play_game(board, chance)
        if is_chess960:
            self._say("setoption name UCI_Chess960 value false")
        self._position()

    def _play_game(self, board: chess.Board, chance: random.Random) -> None:
        for _ in range(OPENING_PLIES):
            board.push(chance.choice(list(board.legal_moves)))
            if board.is_game_over():
                board.pop()
        self._say("ucinewgame")
        self._wait(Interview.ping)
        base_ms, increment_ms = chance.choice(CLOCKS_MS)
        clocks_ms = [float(base_ms)] * 2
        for _ in range(chance.randint(2, MAX_PLIES)):
            move = None if board.is_game_over() else self._ask_move(board, chance, clocks_ms, increment_ms)
            if move is None or first_illegal(board, [move], play=True) is not None:
                return

    def _ask_move(
        self, board: chess.Board, chance: random.Random, clocks_ms: list[float], increment_ms: int
    ) -> str | None:
        """Ask for a move in a way that is chosen at random, and let the clock run. None for an engine that failed."""
        white_ms, black_ms = (max(1, round(clocks_ms[colour])) for colour in (chess.WHITE, chess.BLACK))
        limits = f"wtime {white_ms} btime {black_ms} winc {increment_ms} binc {increment_ms}"
        way = chance.choices(("plain", "isready", "infinite", "ponder"), (64, 20, 8, 8))[0]
        self._say(position_line(board))
        if way == "infinite":
            self._say("go infinite")
            self.interview.rest(chance.randint(*PROBE_MS))
            self._say("stop")
            self._wait(Interview.wait_for_best_move)
        since = self._say(f"go ponder {limits}" if way == "ponder" else f"go {limits}")
        if way == "ponder":
            self.interview.rest(chance.randint(*PROBE_MS))
            since = self._say("ponderhit")
        elif way == "isready":
            self._say("isready")
        self._wait(Interview.wait_for_best_move)
        judge = self.interview.judge
        if self._has_failed() or judge.last_best is None:
            return None
        clocks_ms[board.turn] += increment_ms - (judge.last_best_at - since) * 1000
        return judge.last_best.move

    # What is odd ----------------------------------------------------------------------------------------------------

    def _go_oddly(self) -> None:
        """Limits out of range, or none; whether the search ends by itself is anybody's guess."""
        self._phase = Phase.INFINITE
        self._say(f"go {self._chance.choice(lines.ODD_LIMITS)}".rstrip())

    def _set_option_oddly(self) -> None:
        """An option that there is not, or a value that it cannot have."""
        self._say(lines.odd_option(self._chance, self._options))

    def _dress_oddly(self) -> None:
        """Other blanks and line ends."""
        text = self._chance.choice(("isready", "debug on", "uci", "stop"))
        if text == "stop" and self._phase is not Phase.IDLE:
            self._phase = Phase.STOPPING
        self._send(lines.dressed(text, self._chance.randrange(5)))

    def _pause_within_a_line(self) -> None:
        text, cut = self._chance.choice(("isready", "uci", "debug off")), self._chance.randint(1, 3)
        self._send(text[:cut].encode())
        self.interview.rest(PAUSES_MS[0])
        self._send(f"{text[cut:]}\n".encode())

    def _ask_many_times(self) -> None:
        """Many `isready` in one piece."""
        self._send(b"isready\n", TIMES_READY)
        self._wait(Interview.wait_until_ready)

    def _unknown_words(self) -> None:
        """What is not known is skipped."""
        self._say(self._chance.choice(("joho isready", "joho debug on", "debug joho on", "foo bar isready")))

    # What is hostile ------------------------------------------------------------------------------------------------

    def _refused_position(self) -> None:
        """A position that cannot be, or moves that cannot be played."""
        self._say(f"position {self._chance.choice(lines.REFUSED_POSITIONS)}".rstrip())

    def _damaged_line(self) -> None:
        self._say(lines.damaged_line(self._chance))

    def _damaged_go(self) -> None:
        """Known words after `go` in a senseless order."""
        self._phase = Phase.INFINITE
        self._say(f"go {lines.damaged_limits(self._chance)}")

    def _noise(self) -> None:
        self._send(lines.noise(self._chance))

    def _flood(self) -> None:
        """A very long line; if it has no end, the next command is its end."""
        self._send(b"x" * 16, FLOOD_BYTES // 16)
        self._send(self._chance.choice((b"\n", b" \n")))
