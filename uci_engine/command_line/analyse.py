"""`secateur analyse`: the games of PGN files annotated, with a page for each and an index."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from chess.engine import Limit

from uci_engine.api.cluster import GivenUp, run_on_cluster
from uci_engine.api.games import (
    INDEX_FILE,
    GameResult,
    GameTask,
    analyse_task,
    analyse_with,
    unanalysed,
)
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
from uci_engine.game_analysis.html import MissingLibraryError, environment
from uci_engine.game_analysis.journal import Journal, JournalError
from uci_engine.game_analysis.page import index_page
from uci_engine.game_analysis.pgn import PgnError, game_texts, pgn_files
from uci_engine.processor import usable_processors

INTERRUPTED = 130
JOURNAL_FILE = "unfinished.journal"
PGN_FILE = "games.pgn"
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
    """The games to analyse, file by file. `count` is how many there are."""

    def __init__(self, names: Sequence[str]) -> None:
        """`names`: files, folders, or - for standard input. Raises PgnError and OSError."""
        self._stdin: BinaryIO | None = None
        self._files: list[Path | BinaryIO] = []
        self._identities: set[tuple[int, int]] = set()
        try:
            for name in names:
                if name != STDIN:
                    files = pgn_files([Path(name)])
                    self._files += files
                    self._identities.update(_identity(path.stat()) for path in files)
                elif self._stdin is None:
                    # Read to its end, because the games are counted first.
                    self._stdin = tempfile.TemporaryFile()  # noqa: SIM115 `close` closes it
                    self._files.append(self._stdin)
                    shutil.copyfileobj(sys.stdin.buffer, self._stdin)
                    self._identities.add(_identity(os.fstat(sys.stdin.fileno())))
            self.count = sum(1 for _ in self.texts())
            if not self.count:
                raise PgnError(f"{names[0]} holds no game" if len(names) == 1 else "there is no game in these files")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._stdin is not None:
            self._stdin.close()

    def has_file(self, path: Path) -> bool:
        """Whether this is one of the files with the games, by this name or another, or a link to one."""
        return path.exists() and _identity(path.stat()) in self._identities

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """The games with their numbers, from 1."""
        return enumerate(self._all_texts(), start=1)

    def _all_texts(self) -> Iterator[bytes]:
        for source in self._files:
            if isinstance(source, Path):
                with source.open("rb") as file:
                    yield from game_texts(file)
            else:
                source.seek(0)
                yield from game_texts(source)


def run(words: Sequence[str], default_core: str) -> int:
    """Run the command. Returns the exit code."""
    options = _parser(default_core).parse_intermixed_args(words)
    if not options.no_pages:
        try:
            environment()
        except MissingLibraryError as error:
            raise UsageError(f"{error}, or use --no-pages") from None
    limit = limit_of(options, DEFAULT_SECONDS)
    keywords = keyword_options(options, default_threads=1 if options.cluster else min(2, usable_processors()))
    try:
        with closing(Source(options.games)) as source:
            first = options.games[0]
            default = "analysis" if first == STDIN else f"{Path(first).resolve().stem}-analysis"
            return _Run(source, Path(options.output or default), limit, keywords, options).run()
    except (PgnError, JournalError) as error:
        raise _refusal(str(error)) from None
    except OSError as error:
        name = f"{error.filename}: " if error.filename is not None else ""
        raise _refusal(f"{name}{error.strerror or error}") from None


def entries_by_number(entries: Iterable[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The entries of a journal by the numbers of their games, without those that were dropped. Raises JournalError."""
    found: dict[int, dict[str, Any]] = {}
    try:
        for entry in entries:
            found[entry["number"]] = entry
            if entry.get("dropped"):
                del found[entry["number"]]
    except (KeyError, TypeError):
        raise JournalError(f"{JOURNAL_FILE} is no journal of an analysis: remove it") from None
    return found


class _Run:
    def __init__(
        self, source: Source, folder: Path, limit: Limit, keywords: dict[str, Any], options: argparse.Namespace
    ) -> None:
        self._source = source
        self._folder = folder
        self._limit = limit
        self._keywords = keywords
        self._options = options
        self._problems: list[str] = []
        self._digits = max(4, len(str(source.count)))
        self._check_outputs()
        self._made_folders = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"effort": limit_text(limit), "options": keywords, "pages": not options.no_pages}
        self._journal = Journal(folder / JOURNAL_FILE, settings, options.resume)
        # The entries of the journal by the numbers of the games that are done.
        self._done = entries_by_number(self._journal.entries)
        self._drop_other_games()

    def _outputs(self) -> Iterator[Path]:
        yield self._folder / JOURNAL_FILE
        yield self._folder / PGN_FILE
        if not self._options.no_pages:
            for number in range(1, self._source.count + 1):
                yield self._folder / self._page(number)
            if self._source.count > 1:
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
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupted = False
        complete = False
        try:
            with Progress(self._source.count, len(self._done)) as progress:
                try:
                    self._analyse(progress)
                except KeyboardInterrupt:
                    interrupted = True
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            analysed = self._write_results()
            complete = not interrupted
        finally:
            # A run that has done nothing leaves nothing.
            self._journal.close(remove=complete or not self._done)
            for folder in self._made_folders:
                if any(folder.iterdir()):
                    break
                folder.rmdir()
            signal.signal(signal.SIGINT, before)
        # Told at the end, because they would break the bar.
        for problem in self._problems[:MAX_PROBLEMS]:
            warn(printable(problem))
        if len(self._problems) > MAX_PROBLEMS:
            warn(f"and {len(self._problems) - MAX_PROBLEMS} more games with problems")
        if interrupted:
            done = f"{len(self._done)} of {self._source.count} games are done"
            warn(f"interrupted: {done}, --resume goes on with the others")
            return INTERRUPTED
        if not analysed:
            warn("no game could be analysed")
            return 1
        show(f"{analysed} of {self._source.count} games analysed: {self._first_result()}")
        return 0

    def _analyse(self, progress: Progress) -> None:
        tasks = (task for task in self._tasks() if task.number not in self._done)
        if self._options.cluster:
            for task, result in run_on_cluster(analyse_task, tasks, self._options.cluster):
                self._keep(task, unanalysed(task, result.reason) if isinstance(result, GivenUp) else result)
                progress.reach(len(self._done))
            return
        with engine_for(self._keywords, self._options.core) as engine:
            for task in tasks:
                self._keep(task, analyse_with(engine, task, progress.add))
                progress.reach(len(self._done))

    def _drop_other_games(self) -> None:
        """Drop what the journal has of games that are no longer there, or are changed, with their pages."""
        if not self._done:
            return
        digests = {task.number: task.digest for task in self._tasks() if task.number in self._done}
        # Pages of several games link to an index, which a game alone does not have.
        is_alone = self._source.count == 1 and any(number > 1 for number in self._done)
        for number, entry in list(self._done.items()):
            if digests.get(number) != entry["digest"] or is_alone:
                self._journal.append({"number": number, "dropped": True})
                del self._done[number]
                page = Path(entry["row"].get("page", "")).name
                if page:
                    (self._folder / page).unlink(missing_ok=True)
        if is_alone:
            self._index.unlink(missing_ok=True)

    def _tasks(self) -> Iterator[GameTask]:
        for number, text in self._source.texts():
            page = "" if self._options.no_pages else self._page(number)
            has_index = self._source.count > 1
            yield GameTask(number, text, page, self._limit, self._keywords, self._options.core, has_index)

    def _page(self, number: int) -> str:
        return f"game-{number:0{self._digits}}.html"

    @property
    def _index(self) -> Path:
        return self._folder / INDEX_FILE

    def _keep(self, task: GameTask, result: GameResult) -> None:
        """Write the page, then the entry of the journal, so that what the journal has is there."""
        if result.page:
            path = self._folder / task.page
            if os.path.lexists(path):
                # The index names another game for this page. Where this run has only one, no index takes its place.
                self._index.unlink(missing_ok=True)
            _replace(path, [result.page])
        entry = {"number": task.number, "digest": task.digest, "pgn": result.pgn, "row": result.row}
        # Before it is written: an interrupt may come between the two.
        self._done[task.number] = entry
        self._journal.append(entry)
        self._problems += [f"game {task.number}: {remark}" for remark in result.remarks]

    def _write_results(self) -> int:
        """Write the annotated games and the index, if there are any. Returns how many games were analysed."""
        entries = [entry for _, entry in sorted(self._done.items())]
        rows = [entry["row"] for entry in entries]
        analysed = sum(not row["problem"] for row in rows)
        if not analysed:
            return 0
        _replace(self._folder / PGN_FILE, (f"{entry['pgn']}\n\n" for entry in entries if entry["pgn"]))
        if not self._options.no_pages and self._source.count > 1:
            _replace(self._index, [index_page(rows)])
        return analysed

    def _first_result(self) -> Path:
        """What the user will want to open."""
        if self._options.no_pages:
            return self._folder / PGN_FILE
        return self._index if self._source.count > 1 else self._folder / self._page(1)


def _parser(default_core: str) -> Parser:
    parser = Parser("secateur analyse", DESCRIPTION)
    parser.add_argument("games", metavar="GAMES", nargs="+", help="PGN files, folders of them, or - for standard input")
    parser.add_argument("--output", metavar="FOLDER", help="where to write (default: the name of the games, -analysis)")
    add_limit(parser, f"{DEFAULT_SECONDS:g}")
    parser.add_argument("--resume", action="store_true", help="continue a run that was interrupted or killed")
    parser.add_argument(
        "--force", action="store_true", help="replace results of other games, and remove their index"
    )
    parser.add_argument("--no-pages", action="store_true", help="write annotated PGN only")
    parser.add_argument("--cluster", metavar="ADDRESS", help="analyse on this Dask cluster, for example tcp://host:8786")
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
