"""A journal: one JSON line for each finished unit of a long run, so that a killed run can be continued.

Invariants: what `append` has returned from is on disk. A line that was torn by a kill is dropped. A journal is
continued only with the settings it was begun with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from lib.errors import ProgramError


class Journal:
    """The journal of one run: its settings in the first line, then one entry a line."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any], *, resume: bool = False) -> None:
        """Begin a journal, or with `resume` continue it; `entries` then holds what is in it. None: keep nothing.

        Raises ProgramError when there is one and `resume` is not asked for, or when its settings are others.
        """
        self.entries: list[dict[str, Any]] = []
        self._file: BinaryIO | None = None
        if path is None:
            if resume:
                raise ProgramError("--resume needs the --journal that was begun")
            return
        # As they come back from a file: tuples have become lists.
        wanted: dict[str, Any] = json.loads(json.dumps(settings))
        good_bytes = 0
        if path.exists() and path.stat().st_size:
            if not resume:
                raise ProgramError(f"{path} exists: continue it with --resume, or remove it")
            good_bytes = self._read(path, wanted)
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.truncate(good_bytes)
        self._file.seek(good_bytes)
        if not good_bytes:
            self.append({"settings": wanted})

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an entry; it is on disk when this returns."""
        if self._file is not None:
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Nothing can be added after this."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, path: Path, wanted: dict[str, Any]) -> int:
        """Take the entries; returns how many bytes of the file are whole lines."""
        good_bytes = 0
        with path.open("rb") as file:
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(line)
                except ValueError:
                    raise ProgramError(f"{path}, line {number + 1}: no JSON") from None
                if number == 0:
                    _compare(path, entry, wanted)
                else:
                    self.entries.append(entry)
                good_bytes += len(line)
        return good_bytes


def _compare(path: Path, entry: Any, wanted: dict[str, Any]) -> None:
    """Raises ProgramError if a first line does not hold these settings."""
    found = entry.get("settings") if isinstance(entry, dict) else None
    if not isinstance(found, dict):
        raise ProgramError(f"{path} is no journal")
    keys = sorted({*found, *wanted})
    different = [key for key in keys if found.get(key) != wanted.get(key)]
    if different:
        details = "; ".join(f"{key}: {found.get(key)!r} there, {wanted.get(key)!r} here" for key in different)
        raise ProgramError(f"{path} was begun with other settings: {details}")
