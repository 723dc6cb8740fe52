"""The endgame tablebases on disk: Syzygy and Gaviota folders, opened, checked and dropped again.

`engine` holds one `Tablebases` and hands it the paths of the options; `ranking` probes it at the root, and the search
through the prober it fills. What must stay true: a file is a hostile thing, so nobody probes one whose header was not
checked first; what is wrong is left out with one sentence and never ends anything; nothing is written.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uci_engine.core import Core
from uci_engine.files import Identity, identity, open_plain_file
from uci_engine.memory import hash_maximum_mib
from uci_engine.tablebases.syzygy_files import (
    CHECKSUM_BYTES,
    DTZ_SUFFIX,
    MOST_PLIES,
    WDL_SUFFIX,
    Material,
    Table,
    TableError,
    read_table,
)
from uci_engine.text import quoted

if TYPE_CHECKING:
    from chess.gaviota import PythonTablebase

# So many bytes of tables, the smallest files first, are copied into memory, where nobody can change them; the rest is
# mapped. Never more than an eighth of the memory.
COPIED_BYTES = 1 << 28
# So many bytes of them are read from end to end for their checksums: half a second's work, and in plain Python a whole
# one's.
CHECKED_BYTES = {"compiled": 1 << 28}
CHECKED_BYTES_PLAIN = 1 << 21
# How long a mapped file is trusted to be what it was.
TRUSTED_SECONDS = 1.0
# Names in a sentence; the rest is counted.
MOST_NAMES = 3


class Tablebases:
    """What there is to probe. `wdl` and `dtz` hold the names of the Syzygy tables in use, such as "KRvK"."""

    def __init__(
        self, core: Core, prober: Any, checked_bytes: int | None = None, copied_bytes: int = COPIED_BYTES
    ) -> None:
        """`prober`: the `SyzygyProber` of the searcher, which is kept loaded with the tables in use. `checked_bytes`:
        how much may be read for checksums, None for the core's usual. `copied_bytes`: how much may be copied."""
        usual = CHECKED_BYTES.get(core.name, CHECKED_BYTES_PLAIN)
        self._checked_bytes = usual if checked_bytes is None else checked_bytes
        self._copied_bytes = copied_bytes
        checksum = core.modules["uci_engine.tablebases.checksum"]
        self._checksum = checksum.Checksum()
        self._largest_checked = checksum.LARGEST
        self._prober = prober
        self._read_symbols = core.modules["uci_engine.tablebases.syzygy_tables"].SymbolReader().read
        self._mapped: dict[Path, Identity] = {}
        self._trusted_until = 0.0
        self.gaviota: PythonTablebase | None = None
        self.wdl: set[str] = set()
        self.dtz: set[str] = set()

    @property
    def largest(self) -> int:
        """The most pieces that a Syzygy table in use has; 0 without tables."""
        return int(self._prober.largest)

    def probe_wdl(self, position: Any) -> int | None:
        """2 to -2 for the side to move of a core's position, None if no table tells."""
        value = self._prober.probe_wdl(position)
        return value if abs(value) <= 2 else None

    def probe_dtz(self, position: Any) -> int | None:
        """Plies to the next capture, pawn move or mate, negative for a loss, beyond 100 if the fifty-move rule spoils
        it; None if no table tells. As python-chess says it."""
        plies = self._prober.probe_dtz(position)
        return plies if abs(plies) <= MOST_PLIES else None

    def close(self) -> None:
        """Let go of every file."""
        self.set_syzygy_path("")
        self.set_gaviota_path("")

    # Syzygy --------------------------------------------------------------------------------------------------------

    def set_syzygy_path(self, text: str) -> list[str]:
        """Use the Syzygy tables in these folders and no others; returns sentences. Of equal names the first counts."""
        found, problems = _files(text, (WDL_SUFFIX, DTZ_SUFFIX))
        loaded: list[tuple[bytes | mmap.mmap, Table]] = []
        self._mapped = {}
        to_check = self._checked_bytes
        to_copy = min(self._copied_bytes, hash_maximum_mib() << 18)
        for name, path in sorted(found.items(), key=lambda item: (_size(item[1]), item[0])):
            try:
                data, identity_then = _contents(path, to_copy)
                to_copy -= len(data)
                table = read_table(data, *os.path.splitext(name), self._read_symbols)
                to_check -= len(data)
                if to_check >= 0:
                    self._check(data)
            except (OSError, ValueError) as error:
                problems.append(f"{_shown(name)}: {_reason(error)}")
                continue
            loaded.append((data, table))
            if identity_then is not None:
                self._mapped[path] = identity_then
        self.wdl = {table.material.name for _, table in loaded if not table.has_distances}
        self.dtz = {table.material.name for _, table in loaded if table.has_distances} & self.wdl
        self._prober.load([pair for pair in loaded if pair[1].material.name in self.wdl])
        return self._told(text, problems)

    def _check(self, data: bytes | mmap.mmap) -> None:
        size = len(data) - CHECKSUM_BYTES
        if size <= self._largest_checked and self._checksum.of(data, size) != data[size:]:
            raise TableError("its checksum is wrong, it is damaged")

    def drop(self, name: str) -> None:
        """Stop using the tables of this name: they contradict themselves or others, or are not what was opened."""
        if name in self.wdl:
            self.wdl.discard(name)
            self.dtz.discard(name)
            self._prober.drop(Material.of(name).counts)

    def drop_changed(self) -> list[str]:
        """Stop using mapped tables whose file changed: reading one that was cut short would end the process.

        To be called before each search; looks at the files once in TRUSTED_SECONDS. Returns sentences.
        """
        now = time.monotonic()
        if not self._mapped or now < self._trusted_until:
            return []
        self._trusted_until = now + TRUSTED_SECONDS
        changed = [path for path, identity_then in self._mapped.items() if _identity_now(path) != identity_then]
        for path in changed:
            self.drop(path.stem)
            del self._mapped[path]
        problems = [f"{_shown(path.name)}: it was changed on disk" for path in changed]
        return [_not_used("SyzygyPath", problems)] if problems else []

    def _told(self, text: str, problems: list[str]) -> list[str]:
        if not text.strip():
            return []
        sentences = [_not_used("SyzygyPath", problems)] if problems else []
        if not self.wdl:
            return [*sentences, "SyzygyPath: no Syzygy tables there"]
        pieces = f"of up to {self.largest} pieces"
        sentences.append(f"SyzygyPath: {len(self.wdl)} WDL and {len(self.dtz)} DTZ tables {pieces}")
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
        from uci_engine.tablebases.gaviota import SUFFIX, ReadOnlyTables

        found, problems = _files(text, (SUFFIX,))
        tables = ReadOnlyTables()
        for name, path in sorted(found.items()):
            try:
                tables.add_file(path)
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


def _size(path: Path) -> int:
    """The size of a file; 0 if there is no knowing, for the opening will tell why."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _contents(path: Path, room: int) -> tuple[bytes | mmap.mmap, Identity | None]:
    """What a file holds: a copy if there is room for so many bytes, else the file mapped, and what it is then."""
    descriptor = open_plain_file(path)
    try:
        status = os.fstat(descriptor)
        if status.st_size == 0:
            raise TableError("it is empty")
        if status.st_size <= room:
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(status.st_size), None
        if sys.version_info >= (3, 13):
            # Without a descriptor of its own for each of hundreds of files.
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ, trackfd=False), identity(status)
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), identity(status)
    finally:
        os.close(descriptor)


def _identity_now(path: Path) -> Identity | None:
    try:
        return identity(path.stat())
    except OSError:
        return None


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
