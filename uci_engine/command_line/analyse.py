"""`secateur analyse`: the games of PGN files annotated, with a page for each and an index."""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from chess.engine import Limit

from uci_engine.api.engine import Engine
from uci_engine.command_line.arguments import (
    Parser,
    UsageError,
    add_core,
    add_limit,
    engine_for,
    keyword_options,
    limit_of,
)
from uci_engine.command_line.console import Progress, show, warn
from uci_engine.game_analysis.game_search import limit_text
from uci_engine.game_analysis.html import GENERATOR, environment
from uci_engine.game_analysis.journal import Journal, JournalError
from uci_engine.game_analysis.page import failed_row, game_page, index_page, index_row
from uci_engine.game_analysis.pgn import PgnError, annotate, game_texts, pgn_files, read_game
from uci_engine.game_analysis.report import analyse_game
from uci_engine.processor import usable_processors

INTERRUPTED = 130
JOURNAL_FILE = "unfinished.journal"
PGN_FILE = "games.pgn"
INDEX_FILE = "index.html"
STDIN = "-"
DEFAULT_SECONDS = 0.2
# Of more games that cannot be analysed only the number is told.
MAX_PROBLEMS = 20

DESCRIPTION = """\
Analyse games: write annotated PGN, and a page for each game that shows the mistakes, what was better, and why.

The folder of the results gets games.pgn, a page for each game, and index.html where there are several. Every page is
one file that needs no network. Games of variants, and what is no game, are told and left out. The results of other
games are not replaced, unless --force is given. A file of games that is analysed is never replaced.
"""


class Source:
    """The games to analyse, file by file. `count`: how many there are; `digest` tells them from any others."""

    def __init__(self, names: Sequence[str]) -> None:
        """`names`: files, folders, or - for standard input. Raises PgnError and OSError."""
        self._files: list[Path | bytes] = []
        self._identities: set[tuple[int, int]] = set()
        for name in names:
            if name == STDIN:
                # Kept, because the games are counted first.
                self._files.append(sys.stdin.buffer.read())
                self._identities.add(_identity(os.fstat(sys.stdin.fileno())))
                continue
            for path in pgn_files([Path(name)]):
                self._files.append(path)
                self._identities.add(_identity(path.stat()))
        digest = hashlib.sha256()
        self.count = 0
        for number, text in self.texts():
            digest.update(text)
            self.count = number
        self.digest = digest.hexdigest()[:16]
        if not self.count:
            raise PgnError(f"{names[0]} holds no game" if len(names) == 1 else "there is no game in these files")

    def has_file(self, path: Path) -> bool:
        """Whether this is one of the files with the games, by this name or another, or a link to one."""
        return path.exists() and _identity(path.stat()) in self._identities

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """The games with their numbers, from 1."""
        return enumerate(self._all_texts(), start=1)

    def _all_texts(self) -> Iterator[bytes]:
        for file in self._files:
            with io.BytesIO(file) if isinstance(file, bytes) else file.open("rb") as opened:
                yield from game_texts(opened)


def run(words: Sequence[str], default_core: str) -> int:
    """Run the command. Returns the exit code."""
    options = _parser(default_core).parse_intermixed_args(words)
    if not options.no_pages:
        # Before the work: the library for pages may be missing.
        environment()
    limit = limit_of(options, DEFAULT_SECONDS)
    keywords = keyword_options(options, default_threads=min(2, usable_processors()))
    try:
        return _Run(Source(options.games), limit, keywords, options).run()
    except (PgnError, JournalError) as error:
        raise _refusal(str(error)) from None
    except OSError as error:
        name = f"{error.filename}: " if error.filename is not None else ""
        raise _refusal(f"{name}{error.strerror or error}") from None


class _Run:
    """One run. Invariant: of each game that has an entry in the journal the page is there."""

    def __init__(self, source: Source, limit: Limit, keywords: dict[str, Any], options: argparse.Namespace) -> None:
        self._source = source
        self._limit = limit
        self._keywords = keywords
        self._options = options
        first = options.games[0]
        default = "analysis" if first == STDIN else f"{Path(first).resolve().stem}-analysis"
        self._folder = folder = Path(options.output or default)
        self._index = folder / INDEX_FILE
        self._has_index = source.count > 1 and not options.no_pages
        self._check_outputs()
        self._made_folders = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "games": source.digest,
            "limit": limit_text(limit),
            "options": keywords,
            "pages": not options.no_pages,
        }
        self._journal = Journal(folder / JOURNAL_FILE, settings, options.resume)

    def _outputs(self) -> Iterator[Path]:
        yield self._folder / JOURNAL_FILE
        yield self._folder / PGN_FILE
        if not self._options.no_pages:
            for number in range(1, self._source.count + 1):
                yield self._folder / self._page(number)
        if self._has_index:
            yield self._index

    def _check_outputs(self) -> None:
        """Raises UsageError where the games to analyse, or without --force other results, would be replaced."""
        for path in self._outputs():
            if self._source.has_file(path):
                raise _refusal(f"{path} has games to analyse, and would be replaced: name another folder with --output")
        # Where there is a journal, the run that began it has made the rest, or was allowed to replace it.
        if self._options.force or (self._folder / JOURNAL_FILE).exists():
            return
        present = next((path for path in self._outputs() if os.path.lexists(path)), None)
        if present is not None:
            raise _refusal(f"{present} is there already: name another folder with --output, or replace with --force")

    def run(self) -> int:
        entries, count = self._journal.entries, self._source.count
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupted = False
        complete = False
        try:
            with Progress(count, len(entries)) as progress:
                try:
                    self._analyse(progress)
                except KeyboardInterrupt:
                    interrupted = True
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            entries.sort(key=lambda entry: entry["number"])
            analysed = self._write_results(entries)
            complete = not interrupted
        finally:
            # A run that has done nothing leaves nothing.
            self._journal.close(remove=complete)
            with suppress(OSError):  # a folder is not empty
                for folder in self._made_folders:
                    folder.rmdir()
            signal.signal(signal.SIGINT, before)
        # Told at the end, because they would break the bar.
        problems = [f"game {entry['number']}: {remark}" for entry in entries for remark in entry["remarks"]]
        for problem in problems[:MAX_PROBLEMS]:
            warn(printable(problem))
        if len(problems) > MAX_PROBLEMS:
            warn(f"and {len(problems) - MAX_PROBLEMS} more games with problems")
        if interrupted:
            warn(f"interrupted: {len(entries)} of {count} games are done, --resume goes on with the others")
            return INTERRUPTED
        if not analysed:
            warn("no game could be analysed")
            return 1
        show(f"{analysed} of {count} games analysed: {self._first_result()}")
        return 0

    def _analyse(self, progress: Progress) -> None:
        """Analyse the games that are not done yet."""
        done = {entry["number"] for entry in self._journal.entries}
        with engine_for(self._keywords, self._options.core) as engine:
            for number, text in self._source.texts():
                if number not in done:
                    self._journal.append(self._analysed(engine, number, text, progress))
                    progress.reach(len(self._journal.entries))

    def _analysed(self, engine: Engine, number: int, text: bytes, progress: Progress) -> dict[str, Any]:
        """Analyse a game, and write its page. Returns its entry in the journal."""
        names = "not a game"
        try:
            game = read_game(text)
            names = f"{game.headers.get('White', '?')} \u2013 {game.headers.get('Black', '?')}"
            engine.new_game()
            report = analyse_game(game, engine, self._limit, progress.add)
        except ValueError as error:
            return {
                "number": number,
                "pgn": "",
                "row": failed_row(number, names, str(error)),
                "remarks": [str(error)],
            }
        page = self._page(number)
        if not self._options.no_pages:
            self._write_page(page, game_page(report, INDEX_FILE if self._has_index else ""))
        row = index_row(report, number, page)
        return {"number": number, "pgn": annotate(game, report, GENERATOR), "row": row, "remarks": report.remarks}

    def _page(self, number: int) -> str:
        return f"game-{number:0{max(4, len(str(self._source.count)))}}.html"

    def _write_page(self, name: str, page: str) -> None:
        path = self._folder / name
        if os.path.lexists(path):
            # The index names another game for this page. Where this run has only one, no index takes its place.
            self._index.unlink(missing_ok=True)
        _replace(path, [page])

    def _write_results(self, entries: list[dict[str, Any]]) -> int:
        """Write the annotated games and the index, if there are any. Returns how many games were analysed."""
        pgns = [entry["pgn"] for entry in entries if entry["pgn"]]
        if pgns:
            _replace(self._folder / PGN_FILE, (f"{pgn}\n\n" for pgn in pgns))
            if self._has_index:
                _replace(self._index, [index_page([entry["row"] for entry in entries])])
        return len(pgns)

    def _first_result(self) -> Path:
        """What the user will want to open."""
        if self._options.no_pages:
            return self._folder / PGN_FILE
        return self._index if self._has_index else self._folder / self._page(1)


def _parser(default_core: str) -> Parser:
    parser = Parser("secateur analyse", DESCRIPTION)
    parser.add_argument("games", metavar="GAMES", nargs="+", help="PGN files, folders of them, or - for standard input")
    parser.add_argument("--output", metavar="FOLDER", help="where to write (default: the name of the games, -analysis)")
    add_limit(parser, f"{DEFAULT_SECONDS:g}")
    parser.add_argument("--resume", action="store_true", help="continue a run that was interrupted or killed")
    parser.add_argument("--force", action="store_true", help="replace results of other games, and remove their index")
    parser.add_argument("--no-pages", action="store_true", help="write annotated PGN only")
    add_core(parser, default_core)
    return parser


def printable(text: str) -> str:
    """The text with everything escaped that could steer a terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _refusal(text: str) -> UsageError:
    return UsageError(printable(f"secateur analyse: {text}"), exit_code=1)


def _identity(status: os.stat_result) -> tuple[int, int]:
    """What two names of one file have in common."""
    return status.st_dev, status.st_ino


def _replace(path: Path, parts: Iterable[str]) -> None:
    """Write a file: afterwards it is all new, or all old."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(parts)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
