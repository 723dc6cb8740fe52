"""One `go` command, as data: the record that goes from the parser to the search.

Invariant: a field is None exactly when its word was absent or unreadable. So a clock of 0 ms differs from no clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """What a `go` command asked for.

    Clocks and increments are milliseconds as sent and may be negative; `movestogo` is as sent. `depth` is in plies,
    `mate` in our own moves; they and `nodes` are at least 1. `movetime_ms` and `perft` (in plies) are at least 0.
    `searchmoves` holds the words as sent; the engine finds out which are legal. With `infinite` only `stop` ends the
    search, whatever the other limits are.

    `problems` are messages about words that were ignored or changed. UCI skips words that it does not know:
    `unknown_word` is the first of them, because the command line refuses it.
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
    problems: tuple[str, ...] = ()
    unknown_word: str | None = field(default=None, compare=False)

    @property
    def is_endless(self) -> bool:
        """Whether only `stop` ends it. One clock alone, whosever it is, is a bound: the search keeps to it."""
        bounds = (self.wtime_ms, self.btime_ms, self.movetime_ms, self.depth, self.nodes, self.mate, self.perft)
        return self.infinite or all(bound is None for bound in bounds)
