"""A journal: one JSON line for each finished part of a long run, so that a run that was killed can be continued.

Invariants: what `append` has returned from is on disk. A line that was torn by a kill is dropped. A journal is
continued only with the settings that it was begun with. Two runs cannot write the same journal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

if sys.platform != "win32":
    import fcntl

# How every journal begins. A file that begins otherwise is somebody else's and is never written to.
BEGINNING = b'{"settings":'


class JournalError(ValueError):
    """A journal cannot be begun or continued. The text is one sentence for the user."""


class Journal:
    """The journal of one run: its settings in the first line, then one entry a line. `entries` holds them all."""

    def __init__(self, path: Path, settings: Mapping[str, Any], resume: bool) -> None:
        """Begin a journal, or with `resume` continue the one that is there. Raises JournalError and OSError."""
        self.path = path
        self.entries: list[dict[str, Any]] = []
        # As the settings come back from a file: tuples have become lists.
        wanted: dict[str, Any] = json.loads(json.dumps(settings))
        self._file = _open_locked(path)
        try:
            end = self._read(wanted, resume)
            self._file.truncate(end)
            self._file.seek(end)
            if not end:
                self._write({"settings": wanted})
        except BaseException:
            self._file.close()
            raise

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry. It is on disk when this returns."""
        self.entries.append(entry)
        self._write(entry)

    def close(self, remove: bool = False) -> None:
        """Close the file, and remove it after a run that is complete or has done nothing."""
        self._file.close()
        if remove or not self.entries:
            self.path.unlink(missing_ok=True)

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, wanted: dict[str, Any], resume: bool) -> int:
        """Take the entries. Returns how many bytes of the file to keep, 0 for a journal that is begun anew."""
        beginning = self._file.read(len(BEGINNING))
        if not BEGINNING.startswith(beginning):
            raise JournalError(f"{self.path} is no journal")
        self._file.seek(0)
        lines = [line for line in self._file if line.endswith(b"\n")]
        if len(lines) > 1 and not resume:
            raise JournalError(f"{self.path} is of an unfinished run: continue it with --resume, or remove it")
        read = []
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                entry = None
            if not isinstance(entry, dict):
                raise JournalError(f"{self.path}, line {number} is no entry: remove the file")
            read.append(entry)
        self.entries = read[1:]
        if not self.entries:
            return 0
        found = read[0].get("settings")
        if found != wanted:
            raise JournalError(f"{self.path} was begun with other settings: {_difference(found, wanted)}")
        return sum(map(len, lines))


def _difference(found: Any, wanted: dict[str, Any]) -> str:
    """In what the settings of a journal differ from those of this run."""
    there = found if isinstance(found, dict) else {}
    different = [key for key in sorted({*there, *wanted}) if there.get(key) != wanted.get(key)]
    return "; ".join(f"{key}: {there.get(key)!r} there, {wanted.get(key)!r} here" for key in different)


def _open_locked(path: Path) -> BinaryIO:
    """The file, new or old, for reading and writing by this process alone. Raises JournalError and OSError."""
    file = path.open("r+b" if path.exists() else "w+b")
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Any other error is that of a file system without locks.
            if isinstance(error, BlockingIOError):
                file.close()
                raise JournalError(f"{path} is being written by another run") from None
    return file
