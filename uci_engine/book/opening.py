"""The opening of a game, as far as it is played from a book.

`engine` tells it of options and new games, and asks it before each search. What must stay true: nothing of a book is
read before `OwnBook` is set; whatever is wrong with a book is said in one sentence, and then the engine searches; and
the end of the book is announced once in a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess

from uci_engine.options import Options
from uci_engine.time_management.limits import Limits

if TYPE_CHECKING:
    from uci_engine.book.book import Book
    from uci_engine.book.repertoire import OpeningName

BOOK_OPTIONS = frozenset({"OwnBook", "BookFile", "BookDepth", "BookVariety", "UCI_AnalyseMode"})


@dataclass(frozen=True, slots=True)
class Advice:
    """What the book has to say: sentences for the user, and moves in UCI notation: none, one, or one and its reply."""

    sentences: tuple[str, ...] = ()
    line: tuple[str, ...] = ()


SILENCE = Advice()


class Opening:
    """The book in use, if any, and whether the game is still in it."""

    def __init__(self) -> None:
        self._book: Book | None = None
        # What was asked for, whether it could be opened or not; None without `OwnBook`.
        self._file: str | None = None
        self._deepest_ply = 0
        self._variety = 0
        self._analysing = False
        self.new_game()

    def new_game(self) -> None:
        """A game begins."""
        self._last_ply = -1
        self._announced = False
        # The opening so far: the boards that come here have lost the moves before the last capture or pawn move.
        self._name: OpeningName | None = None

    def configure(self, options: Options, changed: str) -> list[str]:
        """Take over the options of BOOK_OPTIONS as they are now, of which `changed` was just set.

        Returns a sentence when the book is refused. Naming the same file again tries it again.
        """
        self._deepest_ply = int(options["BookDepth"])
        self._variety = int(options["BookVariety"])
        self._analysing = bool(options["UCI_AnalyseMode"])
        wanted = str(options["BookFile"]) if options["OwnBook"] else None
        try_again = changed == "BookFile" and self._book is None
        if wanted == self._file and not try_again:
            return []
        self._close()
        self._file = wanted
        if wanted is None:
            return []
        from uci_engine.book.book import Book, BookError
        from uci_engine.book.repertoire import opening_names

        try:
            self._book = Book(wanted)
        except BookError as error:
            return [f"error: {error}; there will be no book moves"]
        # Read here, where nobody's clock is running.
        opening_names()
        return []

    def advise(self, board: chess.Board, limits: Limits) -> Advice:
        """What to play here, if the book knows and the `go` is one for a game. Never raises.

        Whoever says `infinite`, `mate` or `searchmoves`, or gives no limit at all, wants to see a search.
        """
        if self._book is None or self._analysing or _wants_a_search(limits):
            return SILENCE
        if board.ply() < self._last_ply:
            self.new_game()  # not every program says ucinewgame
        self._last_ply = board.ply()
        try:
            return self._look_up(self._book, board)
        except Exception as error:
            # Whatever a hostile file brings about must not cost the move.
            self._close()
            return Advice((f"error: {str(error) or type(error).__name__}; there will be no more book moves",))

    def _look_up(self, book: Book, board: chess.Board) -> Advice:
        import random

        from uci_engine.book.repertoire import opening_names

        self._name = opening_names().of(board) or self._name
        chosen = None
        if board.ply() < self._deepest_ply:
            chosen = book.choose(board, self._variety, random.Random())
        if chosen is None:
            return self._leave(board)
        self._name = chosen.opening or self._name
        after = board.copy()
        after.push(chosen.move)
        replies = book.moves(after)
        line = (board.uci(chosen.move), *(after.uci(reply) for reply, _ in replies[:1]))
        return Advice((f"book: {line[0]}, weight {chosen.weight} ({chosen.share:.0%}){self._named()}",), line)

    def _leave(self, board: chess.Board) -> Advice:
        if self._announced:
            return SILENCE
        self._announced = True
        after = f" after {board.ply()} plies" if board.ply() else ""
        return Advice((f"book: left{after}{self._named()}",))

    def _named(self) -> str:
        return f", {self._name}" if self._name else ""

    def _close(self) -> None:
        if self._book is not None:
            self._book.close()
        self._book = None


def _wants_a_search(limits: Limits) -> bool:
    ends = (limits.wtime_ms, limits.btime_ms, limits.movetime_ms, limits.depth, limits.nodes)
    return (
        limits.infinite
        or limits.mate is not None
        or limits.searchmoves is not None
        or all(end is None for end in ends)
    )
