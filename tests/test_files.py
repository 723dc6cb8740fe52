"""Files of users. Weights, networks and books that are no good: each is refused by the exception of its reader, in one
sentence. Those of the tables are in tests/tablebases/. How files are written.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import chess
import chess.polyglot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.files import locked, replace_file, replaced
from evaluation.network.file import (
    HIDDEN_BIAS_LIMIT,
    INPUTS,
    MAGIC,
    MAX_OUTPUT_BIAS,
    OUTPUT_BUCKETS,
    OUTPUT_LIMIT,
    UNITS,
    Network,
    NetworkError,
)
from evaluation.weights import MAX_BYTES, Weights, WeightsError, default_weights
from tests.support import ENVIRONMENT, PATIENCE_SECONDS
from tests.support.networks import pack, random_network
from toolkit.training.model import weights_text
from uci_engine.book.book import MAX_BOOK_BYTES, Book

TEXT = weights_text(default_weights())
NETWORK = random_network(2)
DATA = NETWORK.pack()


def book_entry(weight: int, key: int = chess.polyglot.zobrist_hash(chess.Board())) -> bytes:
    """An entry of the start position with the move e2e4."""
    return struct.pack(">QHHI", key, chess.E2 << 6 | chess.E4, weight, 0)


BOOK = book_entry(3) + book_entry(1)
READERS: dict[str, tuple[Callable[[str], object], type[ValueError]]] = {
    "weights": (Weights.load, WeightsError),
    "network": (Network.load, NetworkError),
    "book": (Book.load, ValueError),
}


def weight(name: str, phase: str, value: str) -> bytes:
    """The default weights with one phase of one weight replaced."""
    pattern = rf"(\[{name}\]\n(?:middlegame = [^\n]*\n)?{phase} = )[^\n]*\n"
    text, count = re.subn(pattern, rf"\g<1>{value}\n", TEXT)
    assert count == 1
    return text.encode()


def network(place: int, value: bytes) -> bytes:
    """The network with other bytes at a place, and the checksum that fits it."""
    data = DATA[:place] + value + DATA[place + len(value) : -4]
    return data + struct.pack("<I", zlib.crc32(data))


BIAS = len(MAGIC) + 16 + INPUTS * UNITS
OUTPUT = BIAS + 2 * UNITS
OUTPUT_BIAS = OUTPUT + 4 * OUTPUT_BUCKETS * UNITS
# The reader and what is wrong; the bytes, and some words of the reason.
BAD = {
    "weights: empty": (b"", "material is missing"),
    "weights: no text": (b"\xff\xfe\x00", "not TOML"),
    "weights: one phase": (b"[material]\nmiddlegame = [1]", "needs a middlegame and an endgame"),
    "weights: unknown": (TEXT.encode() + b"\n[surprise]\nmiddlegame = 1\nendgame = 1\n", "named 'surprise'"),
    "weights: twice": (TEXT.encode() + b"\n[tempo]\nmiddlegame = 1\nendgame = 1\n", "not TOML"),
    "weights: a truth": (weight("tempo", "middlegame", "true"), "whole numbers"),
    "weights: too great": (weight("tempo", "endgame", "1001"), "whole numbers"),
    "weights: far too small": (weight("tempo", "endgame", "-" + "9" * 40), "whole numbers"),
    "weights: a list": (weight("tempo", "endgame", "[1]"), "whole numbers"),
    "weights: a list of four": (weight("safe_check", "endgame", "[1, 2, 3, 4]"), "1 endgame numbers, not 4"),
    "weights: one less": (weight("safe_check", "endgame", "'1 2 3'"), "3 endgame numbers, not 4"),
    "weights: none": (weight("safe_check", "endgame", "''"), "0 endgame numbers, not 4"),
    "weights: material": (weight("material", "middlegame", "'100 320 330 500 900'"), "must be 100, 300, 300"),
    "weights: huge": (b"#" * (MAX_BYTES + 1), "longer than"),
    "weights: a line end in a name": (b'"a\\nb" = 1\n', "needs a middlegame"),
    "weights: deep": (b"a = " + b"[" * 20_000, "not TOML"),
    "weights: many keys": (b"".join(b"a%d.b.c = 1\n" % number for number in range(30_000)), "needs a middlegame"),
    "weights: a name of many dots": (b"a" + b".a" * 200_000 + b" = 1\n", "dots"),
    "weights: a heading of many dots": (b"[a" + b" . a" * 100_000 + b"]\nb = 1\n", "dots"),
    "weights: dots behind a sign of equality": (b'"="' + b".a" * 200_000 + b" = 1\n", "dots"),
    "network: empty": (b"", "not a network"),
    "network: another version": (network(24, struct.pack("<I", 2)), "version"),
    "network: another shape": (network(32, struct.pack("<I", 2**32 - 1)), "not a network"),
    "network: one byte short": (DATA[:-1], "fewer"),
    "network: endless": (DATA * 2, "more"),
    "network: damaged": (DATA[:5000] + bytes([DATA[5000] ^ 1]) + DATA[5001:], "damaged"),
    "network: a large bias": (network(BIAS + 2, pack([HIDDEN_BIAS_LIMIT])), "bias of the hidden layer"),
    "network: a large weight": (network(OUTPUT + 6, pack([OUTPUT_LIMIT])), "weight of the output"),
    "network: a large sum": (network(OUTPUT_BIAS + 4, struct.pack("<i", -MAX_OUTPUT_BIAS - 1)), "biases"),
    "book: empty": (b"", "is empty"),
    "book: one byte short": (BOOK[:-1], "31 bytes"),
    "book: unsorted": (book_entry(1, key=2**64 - 1) + BOOK, "sorted"),
    "book: without weights": (book_entry(0), "weight"),
}


def refusal(kind: str, path: Path) -> str:
    """The sentence with which a reader refuses a file."""
    read, error = READERS[kind]
    with pytest.raises(error) as caught:
        read(str(path))
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert len(sentence) < 500
    return sentence


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_is_refused_with_its_reason(fault: str, tmp_path: Path) -> None:
    data, reason = BAD[fault]
    (tmp_path / "bad").write_bytes(data)
    started = time.perf_counter()
    assert reason in refusal(fault.partition(":")[0], tmp_path / "bad")
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it is not a plain file"),
        ("pipe", "it is not a plain file"),
        ("missing", "No such file"),
        ("nul\0byte", "embedded null"),
        ("x" * 5000, ""),
    ],
)
def test_what_is_no_file_is_refused(kind: str, name: str, reason: str, tmp_path: Path) -> None:
    if name == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("named pipes as POSIX has them")
        os.mkfifo(tmp_path / "pipe")
    assert f" cannot be read: {reason}" in refusal(kind, tmp_path / name)


def test_a_book_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_BOOK_BYTES + 16)  # a hole: takes no room on the disk
    assert "is too large" in refusal("book", tmp_path / "large")


def test_numbers_of_the_wrong_size_are_no_network() -> None:
    for hidden_bias, output_bias in ((b"\0\0", NETWORK.output_bias), (NETWORK.hidden_bias, ())):
        with pytest.raises(NetworkError):
            Network(NETWORK.hidden, hidden_bias, NETWORK.output, output_bias)


# Any bytes --------------------------------------------------------------------------------------------------------

GOOD = {"weights": TEXT.encode(), "network": DATA, "book": BOOK}
CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=8) | st.sampled_from([b"'", b" 7", b"\n["])))


@pytest.mark.parametrize("kind", READERS)
@given(changes=CHANGES, length=st.none() | st.integers(0, 400))
def test_changed_bytes_are_read_or_refused(
    kind: str, changes: list[tuple[int, bytes]], length: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = bytearray(GOOD[kind])
    for place, new in changes:
        start = place % len(changed)
        changed[start : start + len(new)] = new
    data = bytes(changed[:length])
    path = tmp_path_factory.getbasetemp() / kind
    path.write_bytes(network(0, data[:-4]) if kind == "network" else data)
    read, error = READERS[kind]
    with suppress(error):
        found = read(str(path))
        if isinstance(found, Network):
            assert found.pack() == path.read_bytes()
        elif isinstance(found, Weights):
            assert len(found.piece_square) > 64
        else:
            assert isinstance(found, Book)
            assert all(move in chess.Board().legal_moves for move, _ in found.moves(chess.Board()))


# Written: replaced as a whole, and by one process at a time ---------------------------------------------------------

HOLDER = """\
import sys
from pathlib import Path
from evaluation.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes, and links need more rights")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_replaced_file_keeps_its_mode_and_a_link_to_it(tmp_path: Path, mode: int) -> None:
    path, link = tmp_path / "file", tmp_path / "folder" / "link"
    path.write_bytes(b"old")
    path.chmod(mode)
    link.parent.mkdir()
    link.symlink_to("../file")
    with replaced(link) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        temporary = next(each for each in tmp_path.iterdir() if each.name.startswith(".file"))
        assert temporary.stat().st_mode & ~mode & 0o777 == 0
    assert link.is_symlink()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)
    (tmp_path / "other").touch()
    replace_file(tmp_path / "another", b"new")
    assert (tmp_path / "another").stat().st_mode == (tmp_path / "other").stat().st_mode


def fail(path: Path) -> None:
    with replaced(path) as file:
        file.write(b"half")
        raise ZeroDivisionError


def test_a_file_stays_when_its_replacement_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        fail(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def take(path: Path, patience_seconds: float = 0.0) -> bool:
    with locked(path, patience_seconds):
        return path.exists()


def test_a_lock_is_held_by_one_process_and_freed_by_its_death(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            take(path)
        process.kill()
    assert take(path, PATIENCE_SECONDS)
    assert not path.exists()
