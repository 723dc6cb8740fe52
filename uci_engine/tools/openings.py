"""Positions to begin games from, as OpenBench asks for them: `genfens`.

Invariant: the same words give the same positions, on any core.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import chess

from evaluation.files import read_start
from uci_engine.board.game import read_fen
from uci_engine.text import printable
from uci_engine.time_management import Limits
from uci_engine.tools.bench import IsStopped, OnLine, search

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine

# How many random moves lead to a position, and what it is worth at most by a search of these nodes.
PLIES = (8, 9)
MAX_CP = 300
NODES = 1000
# So many positions in a row that are worth more, or are over, and there is none to be had.
MAX_FAILURES = 1000
MAX_BOOK_BYTES = 1 << 30


def genfens(engine: UciEngine, words: Sequence[str], on_line: OnLine, is_stopped: IsStopped = lambda: False) -> None:
    """Report positions, a line for each: random moves from the start position, or from one of a book.

    `words`: `N seed S book None`, or the path of a file with a FEN in each line; what follows is ignored. ValueError:
    the book cannot be read, or leads to no position that is even enough.
    """
    count, draw, book = int(words[0]), random.Random(int(words[2])), words[4]
    text = b"" if book == "None" else read_start(book, MAX_BOOK_BYTES, ValueError)
    starts = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()] or [chess.STARTING_FEN]
    failures = 0
    while count > 0 and not is_stopped():
        board, _ = read_fen(draw.choice(starts), chess960=None)
        for _ in range(draw.choice(PLIES)):
            if moves := list(board.legal_moves):
                board.push(draw.choice(moves))
        engine.new_game()
        best, last = search(engine, board, Limits(nodes=NODES), is_stopped)
        if best.move is not None and abs(last.score or 0) <= MAX_CP:
            on_line(f"info string genfens {board.fen()}")
            count -= 1
            failures = 0
        elif (failures := failures + 1) == MAX_FAILURES:
            raise ValueError(f"{MAX_FAILURES} positions in a row from {printable(book)} are over or too uneven")
