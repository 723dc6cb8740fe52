"""`secateur analyse`: the games of PGN files annotated, with a page for each and an index."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import signal
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

import chess

from evaluation.files import locked, replace_file
from uci_engine.api import Engine
from uci_engine.board.pgn import ReadGame, game_texts, is_unknown, read_game, read_headers
from uci_engine.command_line.arguments import Parser, UsageError, add_analysis, analysis_engine, number
from uci_engine.command_line.console import INTERRUPTED, Progress, result_of, show, warn
from uci_engine.game_analysis.analysed_game import AnalysedGame, analyse_game, annotate
from uci_engine.game_analysis.pages import GENERATOR, environment, game_page, index_row, render
from uci_engine.game_analysis.searches import MOVE_EFFORT, limit_text
from uci_engine.options import usable_processors
from uci_engine.text import printable
from uci_engine.web_board.report import Report, facts_of, key_of

JOURNAL_FILE = "unfinished.journal"
LOCK_FILE = "unfinished.lock"
PGN_FILE = "games.pgn"
INDEX_FILE = "index.html"
STDIN = "-"
MAX_BYTES = 2**28
SIDES = ("White", "Black")
# Of the players so many are named.
MAX_NAMED = 12

DESCRIPTION = """\
Analyse games: write annotated PGN, and a page for each game that shows the mistakes, what was better, and why.

The folder of the results gets games.pgn, a page for each game that has moves, index.html where there are several
games, and what secateur board needs for its report over all games. Every page is one file that needs no network. Games
of variants, and text that is no game, are left out, with a message. The results of other games are not replaced, unless
--force is given. Files of games are never replaced, results never analysed. With a depth or a number of nodes the same
game always has the same marks.
"""
# A game that is done, as JSON has it.
Entry = dict[str, Any]


def _files(names: Sequence[str]) -> Iterator[BinaryIO]:
    """The files with the games, each open in its turn. `names`: files, folders, or - for standard input.

    Of a folder its PGN files, by name. Raises UsageError and OSError.
    """
    for name in names:
        path = Path(name)
        paths = sorted(path.glob("*.[pP][gG][nN]")) if path.is_dir() else [path]
        if not paths:
            raise _refusal(f"there is no .pgn file in {path}")
        if name == STDIN and sys.stdin is None:
            raise _refusal("standard input is closed")
        for each in paths:
            with nullcontext(sys.stdin.buffer) if name == STDIN else each.open("rb") as file:
                yield file


def _read_games(names: Sequence[str]) -> tuple[list[bytes], list[os.stat_result]]:
    """All games, and the state of each of their files. Raises UsageError and OSError."""
    texts: list[bytes] = []
    statuses = []
    left = MAX_BYTES
    for file in _files(names):
        text = file.read(left + 1)
        left -= len(text)
        if left < 0:
            raise _refusal(f"the games have more than {MAX_BYTES >> 20} MiB: take fewer")
        statuses.append(os.fstat(file.fileno()))
        texts += game_texts(text.splitlines(keepends=True))
    if not texts:
        raise _refusal(f"{names[0]} holds no game" if len(names) == 1 else "there is no game in these files")
    return texts, statuses


def run(words: Sequence[str], core: str) -> int:
    """Run the command. Returns the exit code."""
    options = _parser(core).parse_intermixed_args(words)
    if not options.no_pages:
        # Before the work: the library for pages may be missing.
        environment()
    try:
        this = _Run(options)
        with this.alone():
            return this.run()
    except OSError as error:
        name = f"{error.filename}: " if error.filename is not None else ""
        raise _refusal(f"{name}{error.strerror or error}") from None


class _Run:
    """One run. The page of a game is written before its line of the journal, so every game there has its page."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        first = options.games[0]
        default = "analysis" if first == STDIN else f"{Path(first).resolve().stem}-analysis"
        self._folder = Path(options.output or default)
        self._journal = self._folder / JOURNAL_FILE
        self._pgn = self._folder / PGN_FILE
        self._index = self._folder / INDEX_FILE
        # All are read before the first is analysed.
        self._texts, self._read = _read_games(options.games)
        if options.player:
            _require_player(options.player, self._texts)
        count = 0 if options.no_pages else len(self._texts)
        self._pages = [self._folder / f"game-{number:04}.html" for number in range(1, count + 1)]
        self._has_index = len(self._pages) > 1
        self._settings = {
            "games": hashlib.sha256(b"".join(self._texts)).hexdigest()[:16],
            "limit": limit_text(options.limit),
            "options": [str(options.rating), str(options.player), str(options.hash), *options.option],
            "pages": not options.no_pages,
        }
        self._entries: list[Entry] = []
        # Of the games that are analysed at the same time, one at a time writes.
        self._lock = threading.Lock()
        self._engines = queue.SimpleQueue[Engine]()
        self._is_interrupted = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """The folder of the results, for one run at a time. It is removed at the end if it is new and empty."""
        had_folder = self._folder.exists()
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with locked(self._folder / LOCK_FILE):
                yield
        except BlockingIOError:
            raise _refusal(f"another run is writing to {self._folder}: name another folder with --output") from None
        finally:
            if not had_folder:
                with suppress(OSError):  # it is not empty
                    self._folder.rmdir()

    def _check_outputs(self) -> None:
        """Raises UsageError where the games to analyse, or without --force other results, would be replaced."""
        outputs = [self._journal, self._pgn, *self._pages, *([self._index] if self._has_index else [])]
        # Where there is a journal, the run that began it has made the rest, or was allowed to replace it.
        may_replace = self._options.force or self._journal.exists()
        for path in outputs:
            # By this name or another, or by a link.
            if path.exists() and any(os.path.samestat(path.stat(), status) for status in self._read):
                raise _refusal(f"{path} has games to analyse, and would be replaced: name another folder with --output")
            if os.path.lexists(path) and not may_replace:
                raise _refusal(f"{path} is there already: replace it with --force, or name a folder with --output")

    def _unfinished(self) -> list[Entry]:
        """The games that the run which --resume continues has done, as in the journal. Raises UsageError."""
        text = self._journal.read_bytes() if self._journal.exists() else b""
        if not text:
            return []
        if not self._options.resume:
            raise _refusal(f"{self._journal} is of an unfinished run: continue it with --resume, or remove it")
        # A line that was torn by a kill is dropped.
        end = text.rfind(b"\n") + 1
        try:
            settings, *entries = map(_unsealed, text[:end].splitlines())
            is_whole = len({entry["number"] for entry in entries}) == len(entries)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_whole = False
        if not is_whole:
            raise _refusal(f"{self._journal} cannot be read: remove it")
        if settings != self._settings:
            raise _refusal(f"{self._journal} was begun with other games, limit, options or pages")
        os.truncate(self._journal, end)
        return entries

    def run(self) -> int:
        self._check_outputs()
        self._entries = self._unfinished()
        before = signal.signal(signal.SIGINT, _interrupt)
        try:
            with Progress(len(self._texts), len(self._entries)) as progress:
                self._analyse_games(progress)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._entries.sort(key=lambda entry: entry["number"])
            analysed = self._write_results()
            if not self._is_interrupted:
                self._journal.unlink(missing_ok=True)
        finally:
            signal.signal(signal.SIGINT, before)
        # Told at the end, because they would break the bar.
        for entry in self._entries:
            for remark in entry["remarks"]:
                warn(printable(f"game {entry['number']}: {remark}"))
        share = f"{analysed} of {len(self._texts)} games"
        if self._is_interrupted:
            warn(f"interrupted: {share} are done, --resume goes on with the others")
            return INTERRUPTED
        if not analysed:
            warn("no game could be analysed")
            return 1
        # What the user will want to open.
        result = self._index if self._has_index else self._folder / (self._entries[0].get("page") or PGN_FILE)
        show(printable(f"{share} analysed: {result}"))
        return 0

    def _analyse_games(self, progress: Progress) -> None:
        """Analyse what is left, so many games at a time, each by an engine of one thread. The search holds no GIL."""
        done = {entry["number"] for entry in self._entries}
        left = [(number, text) for number, text in enumerate(self._texts, start=1) if number not in done]
        count = min(self._options.threads, len(left))
        one = argparse.Namespace(**vars(self._options) | {"option": [*self._options.option, "Threads=1"]})
        with ExitStack() as stack:
            pool = ThreadPoolExecutor(max(count, 1))
            stack.callback(pool.shutdown, cancel_futures=True)
            try:
                for _ in range(count):
                    self._engines.put(stack.enter_context(analysis_engine(one)))
                for future in [pool.submit(self._analyse_game, *each, progress) for each in left]:
                    result_of(future)
            except BaseException as error:
                # The engines are closed now, and what their last search found is not kept.
                self._is_interrupted = True
                if not isinstance(error, KeyboardInterrupt):
                    raise

    def _analyse_game(self, number: int, text: bytes, progress: Progress) -> None:
        names = "not a game"
        engine = self._engines.get()
        try:
            game = read_game(text)
            names = game.names
            side = _side_of(self._options.player, game)
            analysed = analyse_game(game, engine, self._options.limit, progress.add, self._options.rating, side)
        except ValueError as error:
            with self._lock:
                self._entries.append({"number": number, "names": names, "pgn": "", "remarks": [str(error)]})
            progress.add(1)
            return
        finally:
            self._engines.put(engine)
        with self._lock:
            if not self._is_interrupted:
                self._keep(number, text, analysed)

    def _keep(self, number: int, text: bytes, analysed: AnalysedGame) -> None:
        """Write the page of a game, and then its line of the journal."""
        # A game without moves has none.
        page = self._pages[number - 1] if self._pages and analysed.plies else None
        if page is not None:
            replace_file(page, game_page(analysed, INDEX_FILE if self._has_index else "").encode())
        row = index_row(analysed, page.name if page is not None else "")
        pgn = annotate(analysed, GENERATOR)
        known = {"key": key_of(text), "facts": facts_of(analysed)}
        entry = {"number": number, "pgn": pgn, "remarks": analysed.remarks, **row, **known}
        with self._journal.open("a", encoding="ascii") as file:
            if not file.tell():
                print(_sealed(self._settings), file=file)
            print(_sealed(entry), file=file)
        self._entries.append(entry)

    def _write_results(self) -> int:
        """Write the annotated games and the index, if there are any. Returns how many games were analysed."""
        pgns = [entry["pgn"] for entry in self._entries if entry["pgn"]]
        if not pgns:
            return 0
        replace_file(self._pgn, "".join(f"{pgn}\n\n" for pgn in pgns).encode())
        # The journal of a run that an earlier version began has none.
        facts = {entry["key"]: entry["facts"] for entry in self._entries if "facts" in entry}
        try:
            Report(self._folder).add(facts)
        except ValueError as error:
            warn(printable(f"secateur analyse: {error}"))
        if self._has_index:
            replace_file(self._index, render("index.html.j2", {}, rows=self._entries).encode())
        elif self._options.force and self._pages:
            # It names another game for the page of this one.
            self._index.unlink(missing_ok=True)
        return len(pgns)


def _parser(core: str) -> Parser:
    parser = Parser("secateur analyse", DESCRIPTION, conflict_handler="resolve")
    parser.add_argument("games", metavar="GAMES", nargs="+", help="PGN files, folders of them, or - for standard input")
    parser.add_argument("--output", metavar="FOLDER", help="where to write (default for NAME.pgn: NAME-analysis)")
    add_analysis(parser, core, MOVE_EFFORT, "a move, on average")
    text = "games at a time, each on one thread (default: two, where there are as many processors)"
    parser.add_argument("--threads", metavar="N", type=number(1, 512), default=min(2, usable_processors()), help=text)
    text = "show the mistakes of this player alone, where one has this name"
    parser.add_argument("--player", metavar="NAME", default="", help=text)
    parser.add_argument("--resume", action="store_true", help="continue a run that was interrupted or killed")
    parser.add_argument("--force", action="store_true", help="replace results of other games, and remove their index")
    parser.add_argument("--no-pages", action="store_true", help="write annotated PGN only")
    return parser


def _interrupt(number: int, frame: FrameType | None) -> None:
    """What Ctrl-C does first. The next ones do nothing: what is done is being written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _require_player(player: str, texts: Sequence[bytes]) -> None:
    """Raises UsageError where nobody in these games has this name. It tells the names, the likeliest ones first."""
    games = [read_headers(text, SIDES) for text in texts]
    names = Counter(game.header(side) for game in games for side in SIDES if not is_unknown(game.header(side)))
    if player.casefold() not in map(str.casefold, names):
        sorted_names = sorted(names, key=lambda name: (player.casefold() not in name.casefold(), -names[name]))
        more = f" and {len(names) - MAX_NAMED} others" if len(names) > MAX_NAMED else ""
        there = f"the players are {'; '.join(sorted_names[:MAX_NAMED])}{more}" if names else "they name no players"
        raise _refusal(f"nobody in these games is called {player}: {there}")


def _side_of(player: str, game: ReadGame) -> chess.Color | None:
    """The side of a player, by the name; None for neither, and without a name."""
    names = {game.header(chess.COLOR_NAMES[color].capitalize()).casefold(): color for color in chess.COLORS}
    return names.get(player.casefold()) if player else None


def _sealed(data: Entry) -> str:
    """A line of the journal: JSON behind its checksum, by which a torn or changed line is known."""
    text = json.dumps(data)
    return f"{zlib.crc32(text.encode()):08x} {text}"


def _unsealed(line: bytes) -> Entry:
    """ValueError: it is none that `_sealed` has made."""
    data: Entry = json.loads(line.partition(b" ")[2])
    if _sealed(data).encode() != line:
        raise ValueError
    return data


def _refusal(text: str) -> UsageError:
    return UsageError(printable(f"secateur analyse: {text}"), exit_code=1)
