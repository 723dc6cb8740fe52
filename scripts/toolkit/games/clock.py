"""The clock of one engine in a game, and how far it may be overstepped.

Invariants: a clock pays for its own engine's time alone. `go` never shows more time than there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import chess.engine

from toolkit.engines.spec import TimeControl


@dataclass(frozen=True)
class Patience:
    """How much is put up with.

    margin_ms: how far a clock may be overstepped. movetime_ms: how far a fixed time for a move may be, which is no
    clock, and which engines take for a goal. hang_seconds: how long after that an engine is waited for until it is
    killed. search_seconds: how long a search without any time limit may take. ready_seconds: how long an engine may
    take for a new game.
    """

    margin_ms: float = 0.0
    movetime_ms: float = 200.0
    hang_seconds: float = 5.0
    search_seconds: float = 300.0
    ready_seconds: float = 30.0


class Clock:
    """The clock of one engine."""

    def __init__(self, control: TimeControl, patience: Patience) -> None:
        self._control = control
        self._patience = patience
        self._moves_made = 0
        self.remaining_seconds = control.base_seconds

    @property
    def moves_to_go(self) -> int | None:
        """Moves until more time comes; None when none will."""
        moves = self._control.moves
        return None if moves is None else moves - self._moves_made % moves

    @property
    def allowed_seconds(self) -> float | None:
        """What the next move may take; None for any time."""
        # Beside a clock a time for the move is only advice.
        return self._control.movetime_seconds if self.remaining_seconds is None else self.remaining_seconds

    @property
    def grace_seconds(self) -> float:
        """How much more the next move may take before the game is lost."""
        margin_ms = self._patience.margin_ms
        if self.remaining_seconds is None:
            margin_ms = max(margin_ms, self._patience.movetime_ms)
        return margin_ms / 1000.0

    @property
    def deadline_seconds(self) -> float:
        """When to stop waiting for an answer."""
        allowed = self.allowed_seconds
        if allowed is None:
            return self._patience.search_seconds
        return allowed + self.grace_seconds + self._patience.hang_seconds

    def is_lost(self, seconds: float) -> bool:
        """Whether a move that takes so long loses on time."""
        allowed = self.allowed_seconds
        if allowed is None:
            return False
        return seconds > allowed + self.grace_seconds

    def spend(self, seconds: float) -> None:
        """Take the time of a move off, and add what the move earns."""
        self._moves_made += 1
        if self.remaining_seconds is None or self._control.base_seconds is None:
            return
        self.remaining_seconds = max(0.0, self.remaining_seconds - seconds) + self._control.increment_seconds
        if self._control.moves is not None and self._moves_made % self._control.moves == 0:
            self.remaining_seconds += self._control.base_seconds


def limit_for(
    color: chess.Color, clocks: tuple[Clock, Clock], controls: tuple[TimeControl, TimeControl]
) -> chess.engine.Limit:
    """What `go` says; pairs are (Black's, White's).

    An opponent without a clock is shown with the mover's: some engines want both.
    """
    own, clock = controls[color], clocks[color]
    limit = own.fixed_limit()
    if clock.remaining_seconds is None:
        return limit
    times: list[float] = []
    increments: list[float] = []
    for side in (chess.BLACK, chess.WHITE):
        has_clock = clocks[side].remaining_seconds is not None
        shown = clocks[side] if has_clock else clock
        # Whole milliseconds, never more than there are.
        times.append(int((shown.remaining_seconds or 0.0) * 1000.0) / 1000.0)
        increments.append((controls[side] if has_clock else own).increment_seconds)
    limit.black_clock, limit.white_clock = times
    limit.black_inc, limit.white_inc = increments
    limit.remaining_moves = clock.moves_to_go
    return limit
