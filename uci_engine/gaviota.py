"""Gaviota tables through python-chess: opened for reading only, and checked before they are probed.

`tablebases` imports this when a path is set, and not before, because python-chess's module takes a tenth of a second to
import. What must stay true: a file whose index leads outside of it is never probed; nothing is written.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import chess.gaviota

SUFFIX = ".gtb.cp4"
HEADER_BYTES = 40
# Blocks hold 16 384 positions of two bytes before they are compressed.
MOST_BLOCK_BYTES = 1 << 16


class ReadOnlyTables(chess.gaviota.PythonTablebase):
    """python-chess opens these files for writing too, which other people's files refuse."""

    def add_file(self, path: Path, open_file: Callable[[Path], int]) -> None:
        """Use a file, which `open_file` opens; raises ValueError if it is no table, OSError if it cannot be read."""
        key = path.name.removesuffix(SUFFIX)
        if key not in chess.gaviota.EGKEY:
            raise ValueError("its name is not the name of a table")
        with os.fdopen(open_file(path), "rb") as stream:
            check_index(stream)
        self.available_tables[key] = str(path)

    def _open_tablebase(self, req: Any) -> BinaryIO:
        key = req.egkey
        if key not in self.streams:
            stream = open(self.available_tables[key], "rb")  # noqa: SIM115  (closed by `close`)
            self.streams[key] = stream
            self.egtb_loadindexes(key, stream)
        return self.streams[key]


def check_index(stream: BinaryIO) -> None:
    """The index must lead to blocks of sensible size that fill the file; raises ValueError."""
    size = os.fstat(stream.fileno()).st_size
    start = int.from_bytes(stream.read(HEADER_BYTES)[32:36], "little")
    if not HEADER_BYTES + 8 <= start <= size or start % 4:
        raise ValueError("its header is impossible")
    index = stream.read(start - HEADER_BYTES)
    places = [int.from_bytes(index[place : place + 4], "little") for place in range(0, len(index), 4)]
    steps = [later - earlier for earlier, later in itertools.pairwise(places)]
    if places[0] != start or places[-1] != size or not all(0 < step <= MOST_BLOCK_BYTES for step in steps):
        raise ValueError("its index is impossible")
