"""toolkit.files: archives and files from outside are bounded, and whatever is wrong with them is one sentence."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from toolkit.errors import ProgramError
from toolkit.files import unpack_text
from toolkit.games.openings import read_openings

SUFFIXES = (".pgn", ".epd")


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("toolkit.files.MAX_BYTES", 1 << 20)
    return 1 << 20


def bomb(path: Path, size: int) -> Path:
    """A file, packed as its name says, that holds so many bytes."""
    data = b"4k3/8/8/8/8/8/4P3/4K3 w - -\n" * (size // 28 + 1)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.epd", data[:size])
    else:
        path.write_bytes(gzip.compress(data[:size]) if path.suffix == ".gz" else data[:size])
    return path


@pytest.mark.parametrize("name", ["a.epd.zip", "a.epd.gz", "a.epd"])
def test_what_unpacks_to_more_than_the_bound_is_refused(name: str, bound: int, tmp_path: Path) -> None:
    assert len(unpack_text(bomb(tmp_path / name, bound), SUFFIXES)[1]) == bound
    with pytest.raises(ProgramError, match=rf"{name} holds more than 1 MiB"):
        unpack_text(bomb(tmp_path / name, bound + 1), SUFFIXES)


@pytest.mark.parametrize("name", ["a.epd.zip", "a.epd.gz"])
@pytest.mark.parametrize("damage", ["junk", "empty", "torn", "changed"])
def test_a_damaged_archive_is_named(name: str, damage: str, tmp_path: Path) -> None:
    path = bomb(tmp_path / name, 5000)
    data = path.read_bytes()
    changed = data[:50] + bytes(255 - byte for byte in data[50:58]) + data[58:]
    path.write_bytes({"junk": b"junk", "empty": b"", "torn": data[: len(data) // 2], "changed": changed}[damage])
    with pytest.raises(ProgramError, match=r"no sound|no openings"):
        read_openings(path)
