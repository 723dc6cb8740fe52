"""The journal of a long analysis: one JSON line for each finished game, so that a run that was killed can be continued.

Invariants: what `append` has returned from is on disk. A line that was torn by a kill is dropped. A journal is
continued only with the settings that it was begun with. Two runs cannot write the same journal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

if sys.platform != "win32":
    import fcntl

BEGINNING = b'{"settings":'


class JournalError(ValueError):
    """A journal cannot be begun or continued. The text is one sentence for the user."""


class Journal:
    """The journal of one run. `entries` says where in the file the entry of each game is, by the game's number."""

    def __init__(self, path: Path, settings: Mapping[str, Any], resume: bool) -> None:
        """Begin a journal, or with `resume` continue the one that is there. Raises JournalError and OSError."""
        self.path = path
        self.entries: dict[int, int] = {}
        # As the settings come back from a file: tuples have become lists.
        wanted = json.loads(json.dumps(settings))
        self._file = open_locked(path)
        try:
            end = self._read(wanted, resume)
            self._file.truncate(end)
            self._file.seek(end)
            if not end:
                self._write({"settings": wanted})
        except BaseException:
            self._file.close()
            raise

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add the entry of a game, which has its `number`. It is on disk when this returns."""
        self._file.seek(0, os.SEEK_END)
        self.entries[int(entry["number"])] = self._file.tell()
        self._write(entry)

    def drop(self, number: int) -> None:
        """Drop the entry of a game, for a later run, too."""
        del self.entries[number]
        self._file.seek(0, os.SEEK_END)
        self._write({"number": number, "dropped": True})

    def entry(self, number: int) -> dict[str, Any]:
        """The entry of a game."""
        self._file.seek(self.entries[number])
        entry: dict[str, Any] = json.loads(self._file.readline())
        return entry

    def in_order(self) -> Iterator[dict[str, Any]]:
        """All entries, by the numbers of their games."""
        for number in sorted(self.entries):
            yield self.entry(number)

    def close(self, remove: bool = False) -> None:
        """Close the file, and remove it after a run that is complete."""
        self._file.close()
        if remove:
            self.path.unlink(missing_ok=True)

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, wanted: Mapping[str, Any], resume: bool) -> int:
        """Take the entries. Returns how many bytes of the file to keep."""
        beginning = self._file.read(len(BEGINNING))
        if not BEGINNING.startswith(beginning):
            raise JournalError(f"{self.path} is no journal")
        self._file.seek(0)
        end = 0
        while (line := self._file.readline()).endswith(b"\n"):
            try:
                entry = json.loads(line)
                if end == 0:
                    settings = entry["settings"]
                elif entry.get("dropped"):
                    self.entries.pop(int(entry["number"]), None)
                else:
                    self.entries[int(entry["number"])] = end
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise JournalError(f"{self.path} is damaged: remove it") from None
            end += len(line)
        if not self.entries:
            return 0
        if not resume:
            raise JournalError(
                f"{self.path.parent} holds an unfinished analysis: continue it with --resume, or remove {self.path}"
            )
        if settings != wanted:
            raise JournalError(f"{self.path} was begun with other settings: {settings}, and not {wanted}")
        return end


def open_locked(path: Path) -> BinaryIO:
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
