"""The reports of a search: `Info` while it runs and one `BestMove` at its end. `uci.protocol` formats them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uci_engine.score import MAX_PIECES, win_draw_loss

if TYPE_CHECKING:
    import chess

    from uci_engine.text import Message


@dataclass(frozen=True, slots=True)
class Info:
    """One report of a running search. Every field may be absent.

    `score` is the internal score (see `score.py`) from the view of the side to move at the root, and `pieces` the
    number of pieces there: what shows the score needs both. `show_wdl`: whether `wdl` is wanted, too. `hashfull` is in
    permille, `time_ms` in milliseconds, `nps` in nodes per second. `currmovenumber` counts from 1. `message` is for the
    user.
    """

    depth: int | None = None
    seldepth: int | None = None
    multipv: int | None = None
    score: int | None = None
    pieces: int = MAX_PIECES
    is_lower_bound: bool = False
    show_wdl: bool = False
    nodes: int | None = None
    nps: int | None = None
    hashfull: int | None = None
    tbhits: int | None = None
    time_ms: int | None = None
    pv: tuple[chess.Move, ...] = ()
    currmove: chess.Move | None = None
    currmovenumber: int | None = None
    message: Message | None = None

    @property
    def wdl(self) -> tuple[int, int, int] | None:
        """Expected wins, draws and losses in permille."""
        return win_draw_loss(self.score, self.pieces) if self.show_wdl and self.score is not None else None


@dataclass(frozen=True, slots=True)
class BestMove:
    """The answer to one `go`: a move, or None if no legal move is allowed.

    `error`: what ended the search, if it has failed.
    """

    move: chess.Move | None
    ponder: chess.Move | None = None
    error: Exception | None = None
