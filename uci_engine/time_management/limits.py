"""The words of one `go` command, as data.

`protocol` fills it in, `engine`, `time_control` and `deepening` read it. What must stay true: a field is None
exactly when its word was absent or unreadable, so a clock of 0 ms is told apart from no clock at all. Nothing
is decided here; deciding is the business of the readers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a `go` command asked for.

    Clocks and increments are milliseconds as sent and may be negative. `depth` is in plies (at least 1),
    `nodes` at least 1, `mate` in moves of our own (at least 1), `movetime_ms` at least 0, `perft` in plies
    (at least 0), `movestogo` as sent. `searchmoves` holds the raw words; whether they are legal is for the
    engine to find out.
    """

    wtime_ms: int | None = None
    btime_ms: int | None = None
    winc_ms: int | None = None
    binc_ms: int | None = None
    movestogo: int | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime_ms: int | None = None
    perft: int | None = None
    searchmoves: tuple[str, ...] | None = None
    infinite: bool = False
    ponder: bool = False
