"""The games of a folder: its PGN files as a list, before them what the page has loaded, and the game that is opened.

A file is read anew only when it has changed. What it cannot be read for is left out: the list is for looking around.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from time import time_ns

from evaluation.files import reason_of
from uci_engine.board.pgn import game_texts, is_unknown, read_game, read_headers
from uci_engine.web_board.desk import Answer
from uci_engine.web_board.questions import MAX_WORD, Fields, loaded
from uci_engine.web_board.report import key_of

MAX_FILES = 200
MAX_FILE_BYTES = 64 << 20
# So many games are listed. One more is kept, to know that there are more.
MAX_GAMES = 100_000
MAX_FEN_BYTES = 200
# How many games are read before the progress is told.
STEP = 500
# What the list says of a game. Names are before it, and the result and the day behind them.
LISTED = ("Result", "Date", "Event", "ECO", "Opening")
NEEDED = ("White", "Black", *LISTED)

# The file, the number in it, the words of a game, and its key in the report.
Row = tuple[str, int, str, str]


class Library:
    """The PGN files of a folder, and the games that were loaded. May be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        # The rows of each file, with its time and size when they were read.
        self._rows: dict[Path, tuple[tuple[int, int], list[Row]]] = {}
        # The games of the last load, each with its row, and those of the last load of several, which are listed.
        self._opened: list[tuple[Row, bytes]] = []
        self._loaded: list[tuple[Row, bytes]] = []

    def load(self, given: BytesIO) -> Iterator[Answer]:
        """Keep games in PGN, or a position in FEN, until the next load. Several are listed until the next several.

        Tells the progress, from 0 to 1, and at the end the `file` of their rows, their `count`, and a `remark` on
        them. ValueError: there is no text.
        """
        fen = given.read(MAX_FEN_BYTES).strip().partition(b"\n")[0].strip()
        if fen.partition(b" ")[0].count(b"/") == 7:
            given = BytesIO(b'[SetUp "1"]\n[FEN "%b"]' % fen)
        given.seek(0)
        file, loaded = f"loaded {time_ns()}", list[tuple[Row, bytes]]()
        for text in islice(game_texts(given), MAX_GAMES + 1):
            loaded.append((_row(file, len(loaded), text), text))
            if len(loaded) % STEP == 0:
                yield {"done": given.tell() / len(given.getbuffer())}
        if not loaded:
            raise ValueError("this is neither a game in PGN nor a position in FEN")
        self._opened = loaded
        if len(loaded) > 1:
            self._loaded = loaded
        count = f"{len(loaded):,}" if len(loaded) <= MAX_GAMES else f"more than {MAX_GAMES:,}"
        remark = f"The first of {count} games. The list of games begins with them."
        yield {"file": file, "count": len(loaded), "remark": remark if len(loaded) > 1 else ""}

    def games(self, fields: Fields) -> Answer:
        """The games as rows: first so many that were `loaded`, then those of all files, the newest first."""
        rows = [row for row, _ in self._loaded]
        what = "The loaded games, and the" if rows else "The"
        for path in self._files():
            if len(rows) <= MAX_GAMES:
                with suppress(OSError):
                    rows += reversed(self._rows_of(path))
        more = f" There are more than the {MAX_GAMES:,} games that are listed." if len(rows) > MAX_GAMES else ""
        remark = f"{what} PGN files in {self._folder}, the newest first.{more}"
        return {"remark": remark, "loaded": len(self._loaded), "games": rows[:MAX_GAMES]}

    def open(self, fields: Fields) -> Answer:
        """The game with this `number` in a `file` of the list, and its `key`. ValueError: there is none."""
        try:
            text = self._text(fields.get("file", ""), max(fields.get("number", 0), 0))
        except OSError as error:
            raise ValueError(f"the game cannot be opened: {reason_of(error)}") from None
        if text is None:
            raise ValueError("this game is no longer there")
        return loaded(read_game(text)) | {"key": key_of(text)}

    def _text(self, file: str, number: int) -> bytes | None:
        for games in (self._opened, self._loaded):
            if games and games[0][0][0] == file:
                return games[number][1] if number < len(games) else None
        for path in self._files():
            if path.name == file:
                with path.open("rb") as lines:
                    return next(islice(game_texts(lines), number, None), None)
        return None

    def _files(self) -> Iterable[Path]:
        """The files, the newest first."""
        try:
            found = [path for path in self._folder.glob("*.pgn") if path.is_file()]
            found = [path for path in found if path.stat().st_size <= MAX_FILE_BYTES]
            return sorted(found, key=lambda path: -path.stat().st_mtime)[:MAX_FILES]
        except OSError:
            return []

    def _rows_of(self, path: Path) -> list[Row]:
        status = path.stat()
        state = (status.st_mtime_ns, status.st_size)
        known = self._rows.get(path)
        if known is None or known[0] != state:
            with path.open("rb") as lines:
                rows = (_row(path.name, number, text) for number, text in enumerate(game_texts(lines)))
                last = [*deque(rows, MAX_GAMES + 1)]
            known = self._rows[path] = (state, last)
        return known[1]


def _row(file: str, number: int, text: bytes) -> Row:
    """The row of a game, whose words are out of its headers."""
    game = read_headers(text, NEEDED)
    facts = [game.header(name).replace(".??", "") for name in LISTED]
    said = ", ".join([game.names, *(fact for fact in facts if not is_unknown(fact))])[: 2 * MAX_WORD]
    return file, number, said, key_of(text)
