"""The games of a folder: its PGN files as a list, and the one that is opened.

A file is read anew only when it has changed. What it cannot be read for is left out: the list is for looking around.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from evaluation.files import reason_of
from uci_engine.game_analysis.facts import MAX_WORD, key_of
from uci_engine.game_analysis.pgn import HEADER, ReadGame, decoded, game_texts, is_unknown, read_game
from uci_engine.web_board.desk import Answer
from uci_engine.web_board.questions import Fields, loaded

MAX_FILES = 200
MAX_FILE_BYTES = 64 << 20
MAX_GAMES = 100_000
# What the list says of a game. Names are before it, and the result and the day behind them.
LISTED = ("Result", "Date", "Event", "ECO", "Opening")
NEEDED = ("White", "Black", *LISTED)

# The file, the number in it, the words of a game, and its key in the report.
Row = tuple[str, int, str, str]


class Library:
    """The PGN files of a folder. May be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        # The rows of each file, with its time and size when they were read.
        self._rows: dict[Path, tuple[tuple[int, int], list[Row]]] = {}

    def games(self, fields: Fields) -> Answer:
        """The games of all files, the last ones first, each as its row."""
        rows: list[Row] = []
        for path in self._files():
            if len(rows) < MAX_GAMES:
                with suppress(OSError):
                    rows += reversed(self._rows_of(path))
        more = f" The newest {MAX_GAMES:,} games are listed." if len(rows) > MAX_GAMES else ""
        return {"remark": f"The PGN files in {self._folder}.{more}", "games": rows[:MAX_GAMES]}

    def open(self, fields: Fields) -> Answer:
        """The game with this `number` in a `file` of the list. ValueError: there is none."""
        name, number = fields.get("file", ""), max(fields.get("number", 0), 0)
        path = next((path for path in self._files() if path.name == name), None)
        if path is None:
            raise ValueError("this game is no longer there")
        try:
            with path.open("rb") as lines:
                text = next(islice(game_texts(lines), number, None), b"")
        except OSError as error:
            raise ValueError(f"the game cannot be opened: {reason_of(error)}") from None
        return {"games": [loaded(read_game(text))], "remark": ""}

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
                texts = enumerate(game_texts(lines))
                rows = [(path.name, number, _words(text), key_of(text)) for number, text in texts]
            known = self._rows[path] = (state, rows)
        return known[1]


def _words(text: bytes) -> str:
    """What the list says of a game, out of its headers."""
    game = ReadGame()
    for line in text.removeprefix(BOM_UTF8).splitlines():
        words = line.lstrip()
        header = HEADER.match(words)
        if header is None and words[:1] not in b"[%;":
            break
        # Other headers may have names that python-chess refuses.
        if header is not None and (name := header["name"].decode()) in NEEDED:
            game.headers[name] = decoded(words[header.end() :]).rpartition('"')[0]
    facts = [game.header(name).replace(".??", "") for name in LISTED]
    return ", ".join([game.names, *(fact for fact in facts if not is_unknown(fact))])[: 2 * MAX_WORD]
