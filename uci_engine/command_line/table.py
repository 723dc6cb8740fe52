"""`secateur go` on a terminal: a row for each depth, with scores and moves as people write them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import chess

from uci_engine.score import to_uci
from uci_engine.search.info import BestMove, Bound, Info

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine
    from uci_engine.time_management.limits import Limits

HEADING = f"{'Depth':>5} {'Score':>8} {'Nodes':>12} {'Time':>9}  Line"
# The shortest wait after which an interrupt is noticed on every system.
WAIT_SECONDS = 0.1
_BOUNDS = {Bound.EXACT: "", Bound.LOWER: ">=", Bound.UPPER: "<="}
_OPPOSITE = {Bound.EXACT: Bound.EXACT, Bound.LOWER: Bound.UPPER, Bound.UPPER: Bound.LOWER}


class Table:
    """The rows of one search. The engine calls it from the search's thread."""

    def __init__(self, board: chess.Board, columns: int, on_line: Callable[[str], None]) -> None:
        """`columns`: the width of the terminal; longer lines are cut."""
        self._board = board
        self._columns = columns
        self._on_line = on_line
        self._shown: set[str] = set()
        self._summary = ""

    def begin(self) -> None:
        scale = "Scores from White's view, +1.00: an even chance to win. Ctrl-C ends the search."
        self._on_line(f"{self._board.fen()}\n{scale}\n\n{HEADING}")

    def on_info(self, info: Info) -> None:
        """Show a message, or a row for a line of moves."""
        if info.string is not None:
            self._on_line(info.string)
        if info.score is None or info.nodes is None or info.time_ms is None:
            return
        self._summary = f"{info.nodes} nodes in {info.time_ms / 1000:.2f} s, {info.nps or 0} nodes per second"
        score = score_text(info.score, info.pieces, info.bound, self._board.turn)
        line = _san_line(self._board, info.pv)
        row = f"{info.depth or 0:5} {score:>8} {info.nodes:12} {info.time_ms / 1000:7.2f} s  {line}"
        # The best line is reported once more at the end.
        if (key := f"{info.depth} {score} {line}") not in self._shown:
            self._on_line(row[: self._columns])
        self._shown.add(key)

    def on_best_move(self, best: BestMove) -> None:
        if best.move is None:
            self._on_line("There is no legal move.")
            return
        line = [best.move] if best.ponder is None else [best.move, best.ponder]
        san = _san_line(self._board, line[:1])
        reply = f", expected reply {best.ponder}" if best.ponder else ""
        self._on_line(f"\n{self._summary}\nBest move: {san} ({best.move}){reply}")


def score_text(score: int, pieces: int, bound: Bound, white_to_move: bool) -> str:
    """A score of the side to move in pawns from White's view: `+0.31`, or `#-3` for a mate by Black in 3.

    `score` is internal, and `pieces` the number on the board.
    """
    kind, value = to_uci(score, pieces).split()
    sign = 1 if white_to_move else -1
    number = sign * int(value)
    text = f"#{number}" if kind == "mate" else f"{number / 100:+.2f}"
    return _BOUNDS[bound if white_to_move else _OPPOSITE[bound]] + text


def search(engine: UciEngine, limits: Limits, on_line: Callable[[str], None]) -> None:
    """Search the engine's position and show the table. Ctrl-C ends the search."""
    import signal

    assert engine.board is not None
    table = Table(engine.board.copy(), shutil.get_terminal_size().columns, on_line)
    table.begin()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        engine.go(limits, time.perf_counter(), table.on_info, table.on_best_move)
        try:
            while not engine.wait(WAIT_SECONDS):
                pass
        except KeyboardInterrupt:
            engine.stop()
            engine.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _san_line(board: chess.Board, line: Sequence[str]) -> str:
    after = board.copy(stack=False)
    return board.variation_san([after.push_uci(move) for move in line])
