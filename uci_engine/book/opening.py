"""Book moves during a game.

Invariants: nothing of a book is read before `OwnBook` is set. A bad book gives one message, and the engine searches.
The end of the book is announced once a game.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import chess

from uci_engine.time_management.limits import Limits

if TYPE_CHECKING:
    from uci_engine.book.book import Book
    from uci_engine.book.opening_names import OpeningName


class BookSettings(NamedTuple):
    """The options of the book. `file`: empty for the built-in book; `depth`: in plies of the game."""

    own_book: bool
    file: str
    depth: int
    variety: int
    analyse_mode: bool


NO_BOOK = BookSettings(own_book=False, file="", depth=0, variety=0, analyse_mode=False)


@dataclass(frozen=True, slots=True)
class Advice:
    """Messages, and no move, a move, or a move and the reply, in UCI notation."""

    messages: tuple[str, ...] = ()
    line: tuple[str, ...] = ()


NO_ADVICE = Advice()


class Opening:
    """The book in use, if any, and whether the game is still in it."""

    def __init__(self) -> None:
        self._settings = NO_BOOK
        self._book: Book | None = None
        self.new_game()

    def new_game(self) -> None:
        """Start a new game."""
        self._last_ply = -1
        self._announced = False
        # Stored, because the boards passed here keep only the moves since the last irreversible one.
        self._name: OpeningName | None = None

    def configure(self, settings: BookSettings, *, file_named: bool = False) -> list[str]:
        """Take over new settings; returns a message if the book is refused.

        `file_named`: the user has just named the file, so one that was refused is tried again.
        """
        before, self._settings = self._settings, settings
        same_book = (before.own_book, before.file) == (settings.own_book, settings.file)
        if not settings.own_book:
            self._close()
            return []
        if same_book and not (file_named and self._book is None):
            return []
        self._close()
        from uci_engine.book.book import Book, BookError
        from uci_engine.book.opening_names import named_positions

        try:
            self._book = Book(settings.file)
        except BookError as error:
            return [f"error: {error}; there will be no book moves"]
        # Read now, while no clock is running.
        named_positions()
        return []

    def advise(self, board: chess.Board, limits: Limits) -> Advice:
        """What to play here, if the book has a move and `go` is for a game. Never raises.

        A `go` with `infinite`, `mate` or `searchmoves`, or without any limit, asks for a search.
        """
        if self._book is None or self._settings.analyse_mode or _wants_a_search(limits):
            return NO_ADVICE
        if board.ply() < self._last_ply:
            self.new_game()  # some programs do not send ucinewgame
        self._last_ply = board.ply()
        try:
            return self._look_up(self._book, board)
        except Exception as error:
            # A hostile file must not cost the move.
            self._close()
            return Advice((f"error: {str(error) or type(error).__name__}; there will be no more book moves",))

    def _look_up(self, book: Book, board: chess.Board) -> Advice:
        import random

        from uci_engine.book.opening_names import opening_of

        self._name = opening_of(board) or self._name
        chosen = None
        if board.ply() < self._settings.depth:
            chosen = book.choose(board, self._settings.variety, random.Random())
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
            return NO_ADVICE
        self._announced = True
        after = f" after {board.ply()} plies" if board.ply() else ""
        return Advice((f"book: left{after}{self._named()}",))

    def _named(self) -> str:
        """The name for a message, without the accents, which UCI cannot show."""
        letters = unicodedata.normalize("NFKD", str(self._name or "").replace("\u00f8", "o"))
        return letters and f", {letters.encode('ascii', 'ignore').decode()}"

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
