"""A journal: one JSON line for each finished part of a long run, so that a run that was killed can be continued.

Invariants: what `append` has returned from is on disk. A line that was torn by a kill is dropped. A journal is
continued only with the settings that it was begun with. Two runs cannot write the same journal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

from evaluation.files import locked
from toolkit.errors import ProgramError

# How every journal begins. A file that begins otherwise is somebody else's and is never written to.
BEGINNING = b'{"settings":'


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
        if path is None:
            if resume:
                raise ProgramError("--resume needs the --journal that was begun")
            return
        # As the settings come back from a file: tuples have become lists.
        wanted: dict[str, Any] = json.loads(json.dumps(settings))
        self._held = ExitStack()
        try:
            self._held.enter_context(locked(path.with_name(f".{path.name}.lock")))
        except BlockingIOError:
            raise ProgramError(f"{path} is being written by another run") from None
        try:
            self._file = self._held.enter_context(path.open("r+b" if path.exists() else "w+b"))
            end = self._read(path, self._file, wanted, resume)
            self._file.truncate(end)
            self._file.seek(end)
            if not end:
                self._write({"settings": wanted})
        except BaseException:
            self._held.close()
            raise

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
            self._write(entry)

    def close(self) -> None:
        """Nothing can be added after this. A journal without entries is removed."""
        if self._file is not None and self._path is not None:
            self._file.close()
            if not self.entries:
                self._path.unlink(missing_ok=True)
            self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _write(self, entry: Mapping[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, path: Path, file: BinaryIO, wanted: dict[str, Any], resume: bool) -> int:
        """Take the entries. Returns how many bytes of the file to keep, 0 for a journal that is begun anew."""
        beginning = file.read(len(BEGINNING))
        if not BEGINNING.startswith(beginning):
            raise ProgramError(f"{path} is no journal")
        file.seek(0)
        lines = [line for line in file if line.endswith(b"\n")]
        if len(lines) > 1 and not resume:
            raise ProgramError(f"{path} is of an earlier run: continue it with --resume, or remove it")
        read = []
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                entry = None
            if not isinstance(entry, dict):
                raise ProgramError(f"{path}, line {number} is no entry: remove the file")
            read.append(entry)
        self.entries = read[1:]
        if not self.entries:
            return 0
        found = read[0].get("settings")
        if found != wanted:
            raise ProgramError(f"{path} was begun with other settings: {'; '.join(_differences(found, wanted))}")
        return sum(map(len, lines))


def journal_beside(output: Path) -> Path:
    """The journal of a run that writes a file."""
    return output.with_name(output.name + ".journal")


def _differences(found: Any, wanted: Any, name: str = "") -> Iterator[str]:
    """In what the settings of a journal differ from those of this run, by the names that lead there."""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        found, wanted = dict(enumerate(found, 1)), dict(enumerate(wanted, 1))
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted({*found, *wanted}):
            yield from _differences(found.get(key), wanted.get(key), f"{name} {key}".lstrip())
    elif found != wanted:
        yield f"{name}: {found!r} there, {wanted!r} here"
