"""The endgame tablebases on disk: Syzygy folders, opening, checking and dropping files.

Root ranking probes `Tablebases`; the search probes the prober that it fills. Invariants: no file is probed before its
header was checked. A bad file is left out with one message. Nothing is written.
"""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.files import open_plain_file, reason_of
from uci_engine.core import Core
from uci_engine.memory import hash_maximum_mib
from uci_engine.tablebases.syzygy_files import (
    DTZ_SUFFIX,
    MAX_DISTANCE_PLIES,
    WDL_SUFFIX,
    Material,
    Table,
    TableError,
    TableReader,
)
from uci_engine.text import Message, quoted

if TYPE_CHECKING:
    from uci_engine.board.position import Position
    from uci_engine.tablebases.syzygy import SyzygyProber

# Maximum bytes of tables to read into memory and to checksum, smallest first, and at most an eighth of the memory. It
# takes about 0.5 s compiled, and 1 s in plain Python. The rest is mapped.
COPIED_BYTES = 1 << 28
COPIED_BYTES_PLAIN = 1 << 21
# Maximum number of names in a message.
MAX_NAMES = 3

# Device, inode, size and time of change. Two are equal for the same file, unchanged.
Identity = tuple[int, int, int, int]


class Tablebases:
    """The tables in use. `wdl` and `dtz` hold the names of the Syzygy tables, such as "KRvK"."""

    def __init__(self, core: Core, prober: SyzygyProber, copied_bytes: int | None = None) -> None:
        """`prober`: the searcher's `SyzygyProber`, which gets the tables in use. `copied_bytes`: maximum bytes to copy,
        None for the core's default.
        """
        from uci_engine.tablebases.checksum import Checksum

        usual = COPIED_BYTES if core.name == "compiled" else COPIED_BYTES_PLAIN
        self._copied_bytes = usual if copied_bytes is None else copied_bytes
        self._checksum = Checksum()
        self.prober = prober
        self._mapped: dict[Path, Identity] = {}
        self.wdl: set[str] = set()
        self.dtz: set[str] = set()

    def probe_wdl(self, position: Position) -> int | None:
        """The WDL value of a core's position, 2 to -2 for the side to move; None if not in the tables."""
        value = self.prober.probe_wdl(position)
        return value if abs(value) <= 2 else None

    def probe_dtz(self, position: Position) -> int | None:
        """The DTZ as python-chess gives it: plies to the next capture, pawn move or mate, negative for a loss, beyond
        100 for a cursed win and a blessed loss; None if not in the tables.
        """
        plies = self.prober.probe_dtz(position)
        return plies if abs(plies) <= MAX_DISTANCE_PLIES else None

    def set_syzygy_path(self, text: str) -> list[Message]:
        """Use the Syzygy tables in these folders and no others; returns messages. The first file of a name is used."""
        from uci_engine.tablebases.syzygy import read_symbols

        found, problems = _files(text, (WDL_SUFFIX, DTZ_SUFFIX))
        loaded: list[tuple[bytes | mmap.mmap, Table]] = []
        self._mapped = {}
        to_copy = min(self._copied_bytes, hash_maximum_mib() << 18)
        # Opening what is no file will say why.
        sizes = {name: os.path.getsize(path) if os.path.isfile(path) else 0 for name, path in found.items()}
        for name, path in sorted(found.items(), key=lambda item: (sizes[item[0]], item[0])):
            try:
                data, identity_then = _contents(path, to_copy)
                table = TableReader(data, Material.of(path.stem), path.suffix, read_symbols).read()
                if identity_then is None:
                    to_copy -= len(data)
                    if not self._checksum.fits(bytes(data)):
                        raise TableError("its checksum is wrong, it is damaged")
                else:
                    self._mapped[path] = identity_then
                loaded.append((data, table))
            except (OSError, ValueError) as error:
                problems.append(f"{quoted(name)}: {reason_of(error)}")
        self.wdl = {table.material.name for _, table in loaded if not table.has_distances}
        self.dtz = {table.material.name for _, table in loaded if table.has_distances} & self.wdl
        self.prober.load([pair for pair in loaded if pair[1].material.name in self.wdl])
        if not text.strip():
            return []
        messages = [_not_used(problems)] if problems else []
        tables = f"{len(self.wdl)} WDL and {len(self.dtz)} DTZ tables of up to {self.prober.max_pieces} pieces"
        return [*messages, Message(f"SyzygyPath: {tables if self.wdl else 'no Syzygy tables there'}")]

    def drop(self, name: str) -> None:
        """Stop using the tables of this name, because they contradict each other or were changed."""
        if name in self.wdl:
            self.wdl.discard(name)
            self.dtz.discard(name)
            self.prober.drop(Material.of(name).counts)

    def drop_changed(self) -> list[Message]:
        """Stop using mapped tables whose file was changed: reading a shortened one would end the process.

        To be called before each search. A thousand files take some milliseconds. Returns messages.
        """
        changed = [path for path, identity_then in self._mapped.items() if _identity(path) != identity_then]
        for path in changed:
            self.drop(path.stem)
            del self._mapped[path]
        problems = [f"{quoted(path.name)}: it was changed on disk" for path in changed]
        return [_not_used(problems)] if problems else []


def _files(text: str, suffixes: tuple[str, ...]) -> tuple[dict[str, Path], list[str]]:
    """The files with these suffixes in the folders of a path, by name, and what is wrong with the folders."""
    found: dict[str, Path] = {}
    problems: list[str] = []
    # Separated by semicolons or the system's path separator.
    folders = [part.strip().strip('"') for part in text.replace(os.pathsep, ";").split(";")]
    for folder in filter(None, folders):
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.name.endswith(suffixes)]
        except (OSError, ValueError) as error:
            problems.append(f"{quoted(folder)}: {reason_of(error)}")
            continue
        for name in names:
            found.setdefault(name, Path(folder, name))
    return found, problems


def _contents(path: Path, room: int) -> tuple[bytes | mmap.mmap, Identity | None]:
    """The bytes of a file: a copy if `room` is enough, or else the file mapped, with its identity."""
    descriptor = open_plain_file(path)
    try:
        size = os.fstat(descriptor).st_size
        if size == 0:
            raise TableError("it is empty")
        if size <= room:
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(size), None
        if sys.version_info >= (3, 13) and sys.platform != "win32":
            # Without a descriptor for each of hundreds of files. Windows knows no such argument.
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ, trackfd=False), _identity(descriptor)
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), _identity(descriptor)
    finally:
        os.close(descriptor)


def _identity(file: Path | int) -> Identity | None:
    """The identity of a file, by its path or descriptor; None if there is none."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _not_used(problems: list[str]) -> Message:
    more = len(problems) - MAX_NAMES
    end = f" and {more} more" if more > 0 else ""
    return Message.error(f"SyzygyPath: not used: {'; '.join(problems[:MAX_NAMES])}{end}")
