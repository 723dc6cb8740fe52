"""The journal of a program: that of `secateur analyse`, or none where the user names no file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from toolkit.errors import ProgramError
from uci_engine.game_analysis import journal


class Journal:
    """The journal of one run. `entries` holds what is in it."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any], *, resume: bool = False) -> None:
        """Begin a journal, or with `resume` continue it. None: keep nothing.

        Raises ProgramError when one with entries is there and `resume` is not asked for, when its settings are others,
        or when another run is writing it. Raises OSError when the file cannot be written.
        """
        self.entries: list[dict[str, Any]] = []
        self._journal: journal.Journal | None = None
        if path is None:
            if resume:
                raise ProgramError("--resume needs the --journal that was begun")
            return
        try:
            self._journal = journal.Journal(path, settings, resume)
        except journal.JournalError as error:
            raise ProgramError(str(error)) from None
        self.entries += self._journal.entries

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry; it is on disk when this returns."""
        if self._journal is not None:
            self._journal.append(entry)

    def close(self) -> None:
        """Nothing can be added after this. A journal without entries is removed."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
