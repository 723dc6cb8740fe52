"""A journal: one JSON line for each finished unit of a long run, so that a killed run can be continued.

Invariants: what `append` has returned from is on disk. A line that was torn by a kill is dropped. A journal is
continued only with the settings it was begun with. A run that finished nothing leaves no journal that blocks the next
one, and two runs cannot write the same journal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from lib.errors import ProgramError
from uci_engine.game_analysis.journal import JournalError, open_locked

# How every journal begins. A file that begins otherwise is somebody else's and is never written to.
BEGINNING = b'{"settings":'


class Journal:
    """The journal of one run: its settings in the first line, then one entry a line."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any], *, resume: bool = False) -> None:
        """Begin a journal, or with `resume` continue it; `entries` then holds what is in it. None: keep nothing.

        Raises ProgramError when one with entries is there and `resume` is not asked for, when its settings are others,
        or when another run is writing it. Raises OSError when the file cannot be written.
        """
        self.entries: list[dict[str, Any]] = []
        self._is_empty = True
        self._file: BinaryIO | None = None
        if path is None:
            if resume:
                raise ProgramError("--resume needs the --journal that was begun")
            return
        # As they come back from a file: tuples have become lists.
        wanted: dict[str, Any] = json.loads(json.dumps(settings))
        self._path = path
        try:
            self._file = open_locked(path)
        except JournalError as error:
            raise ProgramError(str(error)) from None
        try:
            good_bytes = self._read(wanted, resume)
            self._file.truncate(good_bytes)
            self._file.seek(good_bytes)
            if not good_bytes:
                self._write({"settings": wanted})
        except BaseException:
            self._file.close()
            raise

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an entry; it is on disk when this returns."""
        self._is_empty = False
        if self._file is not None:
            self._write(entry)

    def close(self) -> None:
        """Nothing can be added after this. A journal without entries is removed."""
        if self._file is None or self._file.closed:
            return
        # Windows cannot remove an open file. There it stays, and blocks nobody.
        if self._is_empty and sys.platform != "win32":
            self._path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, entry: Mapping[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, wanted: dict[str, Any], resume: bool) -> int:
        """Take the entries; returns how many bytes of the file to keep, 0 for a journal that is begun anew."""
        assert self._file is not None
        path, good_bytes = self._path, 0
        beginning = self._file.read(len(BEGINNING))
        if not BEGINNING.startswith(beginning):
            raise ProgramError(f"{path} is no journal")
        self._file.seek(0)
        for number, line in enumerate(self._file):
            if not line.endswith(b"\n"):
                break
            if number == 1 and not resume:
                raise ProgramError(f"{path} exists: continue it with --resume, or remove it")
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                raise ProgramError(f"{path}, line {number + 1}: no JSON") from None
            if number == 0:
                settings = entry.get("settings")
            elif isinstance(entry, dict):
                self.entries.append(entry)
            else:
                raise ProgramError(f"{path}, line {number + 1}: no entry of a journal")
            good_bytes += len(line)
        if not self.entries:
            return 0
        self._is_empty = False
        _compare(path, settings, wanted)
        return good_bytes


def _compare(path: Path, found: Any, wanted: dict[str, Any]) -> None:
    """Raises ProgramError if the settings that were found are not these."""
    if not isinstance(found, dict):
        raise ProgramError(f"{path} is no journal")
    keys = sorted({*found, *wanted})
    different = [key for key in keys if found.get(key) != wanted.get(key)]
    if different:
        details = "; ".join(f"{key}: {found.get(key)!r} there, {wanted.get(key)!r} here" for key in different)
        raise ProgramError(f"{path} was begun with other settings: {details}")
