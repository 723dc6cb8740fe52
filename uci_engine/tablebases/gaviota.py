"""Gaviota tables through python-chess: opened for reading only, and checked before they are probed.

To import python-chess's module takes a tenth of a second, so `tablebases` imports this one only for a path. The values
have no checksum: root ranking compares them with each other.

Invariants: no file is probed whose index leads outside of it or does not fit its name. No block is unpacked that claims
to be larger than a block can be. Nothing is written.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any, BinaryIO

import chess.gaviota

from evaluation.files import open_plain_file

SUFFIX = ".gtb.cp4"
HEADER_BYTES = 40
# The positions in a block, a byte each, with one side to move.
BLOCK_POSITIONS = 1 << 14
MAX_BLOCK_BYTES = 1 << 16
# A block begins with two bytes and the header of its LZMA stream: one byte, four for the size of the dictionary, eight
# for the size of the contents.
DICTIONARY_PLACE = 3
CONTENTS_PLACE = 7
BLOCK_HEADER_BYTES = 15
MAX_DICTIONARY_BYTES = 1 << 20


class ReadOnlyTables(chess.gaviota.PythonTablebase):
    """Opens the files for reading only, where python-chess opens them for writing too."""

    def add_file(self, path: Path) -> None:
        """Use a file; raises ValueError if it is no table, OSError if it cannot be read."""
        key = path.name.removesuffix(SUFFIX)
        if key not in chess.gaviota.EGKEY:
            raise ValueError("its name is not the name of a table")
        with os.fdopen(open_plain_file(path), "rb") as stream:
            check_index(stream, chess.gaviota.EGKEY[key].maxindex)
        self.available_tables[key] = str(path)

    def _open_tablebase(self, req: Any) -> BinaryIO:
        key = req.egkey
        if key not in self.streams:
            stream = open(self.available_tables[key], "rb")  # noqa: SIM115  (closed by `close`)
            self.streams[key] = stream
            self.egtb_loadindexes(key, stream)
        return self.streams[key]

    def egtb_block_park(self, egkey: str, block: int, stream: BinaryIO) -> int:
        """Check a block before it is read: raises ValueError for one that could fill the memory when unpacked."""
        place = super().egtb_block_park(egkey, block, stream)
        header = stream.read(BLOCK_HEADER_BYTES)
        dictionary_bytes = int.from_bytes(header[DICTIONARY_PLACE:CONTENTS_PLACE], "little")
        contents_bytes = int.from_bytes(header[CONTENTS_PLACE:], "little")
        if dictionary_bytes > MAX_DICTIONARY_BYTES or contents_bytes > BLOCK_POSITIONS:
            raise ValueError("a block is larger than blocks are")
        stream.seek(place)
        return place


def check_index(stream: BinaryIO, positions: int) -> None:
    """Raise ValueError unless the index leads to the blocks of these positions for each side, which fill the file."""
    size = os.fstat(stream.fileno()).st_size
    start = int.from_bytes(stream.read(HEADER_BYTES)[32:36], "little")
    if not HEADER_BYTES + 8 <= start <= size or start % 4:
        raise ValueError("its header is impossible")
    index = stream.read(start - HEADER_BYTES)
    places = [int.from_bytes(index[place : place + 4], "little") for place in range(0, len(index), 4)]
    steps = [later - earlier for earlier, later in itertools.pairwise(places)]
    if len(steps) != 2 * -(-positions // BLOCK_POSITIONS):
        raise ValueError("it has not the blocks of what its name says")
    if places[0] != start or places[-1] != size or not all(0 < step <= MAX_BLOCK_BYTES for step in steps):
        raise ValueError("its index is impossible")
