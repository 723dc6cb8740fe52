"""The endgame tablebases on disk: Syzygy and Gaviota folders, opened, checked and dropped again.

`engine` holds one `Tablebases` and hands it the paths of the options; `ranking` probes it at the root, and the search
through the prober it fills. What must stay true: a file is a hostile thing, so nobody probes one whose header was not
checked first; what is wrong is left out with one sentence and never ends anything; nothing is written.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess.syzygy

from uci_engine.core import Core
from uci_engine.core.syzygy_files import CHECKSUM_BYTES, DTZ_SUFFIX, WDL_SUFFIX, Material, Table, TableError, read_table
from uci_engine.protocol import quoted

if TYPE_CHECKING:
    from chess.gaviota import PythonTablebase

# So many bytes of tables, the smallest files first, are read from end to end for their checksums: half a second's work,
# and in plain Python a whole one's.
CHECKED_BYTES = {"compiled": 1 << 28}
CHECKED_BYTES_PLAIN = 1 << 21
# Names in a sentence; the rest is counted.
MOST_NAMES = 3


class Tablebases:
    """What there is to probe. `wdl` and `dtz` hold the names of the Syzygy tables in use, such as "KRvK"."""

    def __init__(self, core: Core, prober: Any, checked_bytes: int | None = None) -> None:
        """`prober`: the `SyzygyProber` of the searcher, which is kept loaded with the tables in use. `checked_bytes`:
        how much may be read for checksums, None for the core's usual."""
        usual = CHECKED_BYTES.get(core.name, CHECKED_BYTES_PLAIN)
        self._checked_bytes = usual if checked_bytes is None else checked_bytes
        checksum = core.modules["uci_engine.core.checksum"]
        self._checksum = checksum.Checksum()
        self._largest_checked = checksum.LARGEST
        self._prober = prober
        self._read_symbols = core.modules["uci_engine.core.syzygy"].SymbolReader().read
        self.syzygy = chess.syzygy.Tablebase()
        self.gaviota: PythonTablebase | None = None
        self.wdl: set[str] = set()
        self.dtz: set[str] = set()

    @property
    def largest(self) -> int:
        """The most men that a Syzygy table in use has; 0 without tables."""
        return int(self._prober.largest)

    def probe_wdl(self, position: Any) -> int | None:
        """2 to -2 for the side to move of a core's position, None if no table tells."""
        value = self._prober.probe_wdl(position)
        return value if abs(value) <= 2 else None

    def close(self) -> None:
        """Let go of every file."""
        self.set_syzygy_path("")
        self.set_gaviota_path("")

    # Syzygy --------------------------------------------------------------------------------------------------------

    def set_syzygy_path(self, text: str) -> list[str]:
        """Use the Syzygy tables in these folders and no others; returns sentences. Of equal names the first counts."""
        self.syzygy.close()
        self.syzygy = chess.syzygy.Tablebase()
        self.wdl, self.dtz = set(), set()
        found, problems = _files(text, (WDL_SUFFIX, DTZ_SUFFIX))
        loaded: list[tuple[mmap.mmap, Table]] = []
        to_check = self._checked_bytes
        for name, path in sorted(found.items(), key=lambda item: (_size(item[1]), item[0])):
            stem, suffix = os.path.splitext(name)
            try:
                data = _mapped(path)
                table = read_table(data, stem, suffix, self._read_symbols)
                to_check -= len(data)
                if to_check >= 0:
                    self._check(data)
            except (OSError, ValueError) as error:
                problems.append(f"{_shown(name)}: {_reason(error)}")
                continue
            if suffix == WDL_SUFFIX:
                loaded.append((data, table))
                self.wdl.add(stem)
            else:
                data.close()
                self.dtz.add(stem)
        self.dtz &= self.wdl
        self._prober.load(loaded)
        for name, path in found.items():
            stem, suffix = os.path.splitext(name)
            if stem in (self.wdl if suffix == WDL_SUFFIX else self.dtz):
                self.syzygy.add_file(str(path))
        return self._told(text, problems)

    def _check(self, data: mmap.mmap) -> None:
        size = len(data) - CHECKSUM_BYTES
        if size <= self._largest_checked and self._checksum.of(data, size) != data[size:]:
            raise TableError("its checksum is wrong, it is damaged")

    def drop(self, name: str) -> None:
        """Stop using a table, because it contradicts itself or another."""
        if name in self.wdl:
            self.wdl.discard(name)
            self.dtz.discard(name)
            self._prober.drop(Material.of(name).counts)

    def _told(self, text: str, problems: list[str]) -> list[str]:
        if not text.strip():
            return []
        sentences = [_not_used("SyzygyPath", problems)] if problems else []
        if not self.wdl:
            return [*sentences, "SyzygyPath: no Syzygy tables there"]
        men = f"of up to {self.largest} men"
        sentences.append(f"SyzygyPath: {len(self.wdl)} WDL and {len(self.dtz)} DTZ tables {men}")
        lone = sorted(self.wdl - self.dtz)
        if lone:
            sentences.append(f"SyzygyPath: no DTZ file for {_named(lone)}: how to win there is left to the search")
        return sentences

    # Gaviota -------------------------------------------------------------------------------------------------------

    def set_gaviota_path(self, text: str) -> list[str]:
        """Use the Gaviota tables (compression scheme 4) in these folders and no others; returns sentences."""
        if self.gaviota is not None:
            self.gaviota.close()
            self.gaviota = None
        if not text.strip():
            return []
        # Only now: python-chess works out large tables when this is imported.
        from uci_engine.gaviota import SUFFIX, ReadOnlyTables

        found, problems = _files(text, (SUFFIX,))
        tables = ReadOnlyTables()
        for name, path in sorted(found.items()):
            try:
                tables.add_file(path, open_plain_file)
            except (OSError, ValueError) as error:
                problems.append(f"{_shown(name)}: {_reason(error)}")
        sentences = [_not_used("GaviotaTbPath", problems)] if problems else []
        if not tables.available_tables:
            return [*sentences, "GaviotaTbPath: no Gaviota tables there"]
        self.gaviota = tables
        return [*sentences, f"GaviotaTbPath: {len(tables.available_tables)} tables"]

    def drop_gaviota(self) -> None:
        """Stop using the Gaviota tables: they contradict themselves, or cannot be read."""
        self.set_gaviota_path("")


def _files(text: str, suffixes: tuple[str, ...]) -> tuple[dict[str, Path], list[str]]:
    """The files in the folders of a path whose names end so, by name, and what is wrong with the folders."""
    found: dict[str, Path] = {}
    problems: list[str] = []
    for folder in _folders(text):
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.name.endswith(suffixes)]
        except (OSError, ValueError) as error:
            problems.append(f"{quoted(folder)}: {_reason(error)}")
            continue
        for name in names:
            found.setdefault(name, Path(folder, name))
    return found, problems


def _folders(text: str) -> Iterator[str]:
    """The folders of a path; they stand between semicolons or between the system's own separators."""
    for part in text.replace(os.pathsep, ";").split(";"):
        folder = part.strip().strip('"')
        if folder:
            yield folder


def open_plain_file(path: Path) -> int:
    """A descriptor of a plain file, and of nothing that could block or never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise TableError("it is not a plain file")
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags)


def _size(path: Path) -> int:
    """The size of a file; 0 if there is no knowing, for the opening will tell why."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _mapped(path: Path) -> mmap.mmap:
    descriptor = open_plain_file(path)
    try:
        if os.fstat(descriptor).st_size == 0:
            raise TableError("it is empty")
        if sys.version_info >= (3, 13):
            # Without a descriptor of its own for each of hundreds of files.
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ, trackfd=False)
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _shown(name: str) -> str:
    return name if name.isascii() and name.isprintable() else quoted(name)


def _reason(error: OSError | ValueError) -> str:
    """Why a file or folder cannot be used, in the system's words or in ours."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error)


def _not_used(option: str, problems: list[str]) -> str:
    return f"error: {option}: not used: {_named(problems, '; ')}"


def _named(names: list[str], separator: str = ", ") -> str:
    more = len(names) - MOST_NAMES
    return separator.join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
