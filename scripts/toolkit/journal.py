"""A journal: one JSON line for each finished part of a long run, so that a run that was killed can be continued.

Invariants: what `append` has returned from is on disk. A line that was torn by a kill is dropped. A journal is
continued only with the settings that it was begun with. Two runs cannot write the same journal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

from evaluation.files import locked, replace_file
from toolkit.errors import ProgramError


class Journal:
    """The journal of one run: its settings in the first line, then one entry a line. `entries` holds them all."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any], *, resume: bool = False) -> None:
        """Begin a journal, or with `resume` continue it. None: keep nothing.

        Raises ProgramError when one with entries is there and `resume` is not asked for, when its settings are others,
        or when another run is writing it. Raises OSError when the file cannot be written.
        """
        self.entries: list[dict[str, Any]] = []
        self._path = path
        self._file: BinaryIO | None = None
        self._held = ExitStack()
        if path is None:
            if resume:
                raise ProgramError("--resume needs the --journal that was begun")
            return
        with ExitStack() as held:
            try:
                held.enter_context(locked(path.with_name(f".{path.name}.lock")))
            except BlockingIOError:
                raise ProgramError(f"{path} is being written by another run") from None
            # As the settings come back from a file: tuples have become lists.
            first = {"settings": json.loads(json.dumps(settings))}
            whole = self._read(path, first, resume) if path.exists() else 0
            if not self.entries:
                replace_file(path, _line(first))
                whole = path.stat().st_size
            held.callback(self._remove_if_empty)
            self._file = held.enter_context(path.open("r+b"))
            self._file.truncate(whole)
            self._file.seek(whole)
            self._held = held.pop_all()

    def replay(self, take: Callable[[dict[str, Any]], object]) -> None:
        """Hand each entry of the earlier run to a function. At one that it cannot take: closes, raises ProgramError."""
        for number, entry in enumerate(self.entries, start=2):
            try:
                take(entry)
            except (AttributeError, LookupError, TypeError, ValueError):
                self.close()
                raise ProgramError(f"{self._path}, line {number} is no entry of this run: remove the file") from None

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry; it is on disk when this returns."""
        if self._file is not None:
            self.entries.append(entry)
            self._file.write(_line(entry))
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Nothing can be added after this. A journal without entries is removed."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _remove_if_empty(self) -> None:
        if self._path is not None and not self.entries:
            self._path.unlink(missing_ok=True)

    def _read(self, path: Path, first: dict[str, Any], resume: bool) -> int:
        """Take the entries of whole lines, and return how many bytes these have. Raises ProgramError."""
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        read = []
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                entry = None
            if not isinstance(entry, dict):
                raise ProgramError(f"{path}, line {number} is no entry: remove the file")
            read.append(entry)
        if data and not (read and isinstance(read[0].get("settings"), dict)):
            raise ProgramError(f"{path} is no journal")
        self.entries = read[1:]
        if self.entries and not resume:
            raise ProgramError(f"{path} is of an earlier run: continue it with --resume, or remove it")
        if self.entries and read[0] != first:
            found, wanted = read[0]["settings"], first["settings"]
            changed = [key for key in sorted({*found, *wanted}) if found.get(key) != wanted.get(key)]
            raise ProgramError(f"{path} was begun with other settings: {', '.join(changed)}")
        return whole


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
