"""Openings from files of every accepted kind, which are bounded and may be damaged."""

from __future__ import annotations

import argparse
import gzip
import zipfile
from pathlib import Path

import chess
import pytest

from toolkit.errors import ProgramError
from toolkit.files import unpack_text
from toolkit.games.openings import Opening, OpeningBook, Order, add_arguments, openings_as_json, read_openings

PGN = """[Event "one"]
[Result "1/2-1/2"]

1. e4 e5 2. Nf3 { a comment
[%eval 0.2] over lines } Nc6 1/2-1/2

[Event "two"]
[Result "*"]

1. d4 (1. c4 c5) d5 2. c4 *

[Event "three"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
[Result "*"]

1. e4 *
"""
EPD = """rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - hmvc 0; id "start";
# a remark
4k3/8/8/8/8/8/4P3/4K3 w - -

4k3/8/8/8/8/8/4P3/4K3 b - - 5 60
4k3/8/8/8/8/8/4P3/4K3 b - - hmvc 6; fmvn 7;
"""


def read(path: Path, text: str, order: Order = "file", seed: int = 0) -> OpeningBook:
    path.write_text(text, "utf-8")
    return read_openings(path, order=order, seed=seed)


def test_pgn(tmp_path: Path) -> None:
    book = read(tmp_path / "some.pgn", PGN)
    assert len(book) == 3
    assert book.opening(0) == book.opening(3) == Opening(moves=("e2e4", "e7e5", "g1f3", "b8c6"))
    assert book.opening(1).moves == ("d2d4", "d7d5", "c2c4")
    assert book.opening(2) == Opening("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ("e2e4",))
    assert book.opening(0).board().ply() == 4


def test_epd_in_its_order_or_one_of_the_seed(tmp_path: Path) -> None:
    def fens(order: Order, seed: int = 0) -> list[str]:
        book = read(tmp_path / "some.epd", EPD, order, seed)
        return [book.opening(number).fen for number in range(len(book))]

    assert fens("file") == [
        chess.STARTING_FEN,
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/4P3/4K3 b - - 5 60",
        "4k3/8/8/8/8/8/4P3/4K3 b - - 6 7",
    ]
    orders = [fens("random", seed) for seed in (1, 1, 2, 3)]
    assert orders[0] == orders[1]
    assert len({*map(tuple, orders)}) > 1
    assert all(sorted(order) == sorted(fens("file")) for order in orders)


@pytest.mark.parametrize(
    "fields", ["w KQkq - 0 1", "W - e3 0 1;", "w \u2013 \u2013 0 1", "w", 'w - - hmvc 0; fmvn 1; id "x";']
)
def test_positions_are_repaired_as_everywhere(tmp_path: Path, fields: str) -> None:
    fen = f"4k3/8/8/8/8/8/4P3/4K3 {fields}"
    pgn = f'[FEN "{fen.partition(" hmvc")[0]}"]\n\n1. e4 *\n'
    assert read(tmp_path / "a.epd", fen).opening(0).fen == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert read(tmp_path / "a.pgn", pgn).opening(0) == Opening("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ("e2e4",))


def packed(path: Path, data: bytes) -> Path:
    """A file with these bytes, in an archive where its name says so."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"folder/{path.stem.upper()}", data)
            archive.writestr("readme.md", "nothing")
    else:
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["some.pgn.zip", "some.pgn.gz"])
def test_an_archive_is_read_and_named_when_it_is_damaged(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path / name, f"\ufeff{PGN}".encode())
    assert read_openings(path).opening(1).moves == ("d2d4", "d7d5", "c2c4")
    data = path.read_bytes()
    changed = data[:50] + bytes(255 - byte for byte in data[50:58]) + data[58:]
    for damaged in (b"junk", b"", data[: len(data) // 2], changed):
        path.write_bytes(damaged)
        with pytest.raises(ProgramError, match=name):
            read_openings(path)


@pytest.mark.parametrize("name", ["a.epd.zip", "a.epd.gz", "a.epd"])
def test_what_unpacks_to_more_than_the_bound_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = 1 << 20
    monkeypatch.setattr("toolkit.files.MAX_BYTES", bound)
    assert len(unpack_text(packed(tmp_path / name, b" " * bound), (".epd",))[1]) == bound
    with pytest.raises(ProgramError, match=name):
        unpack_text(packed(tmp_path / name, b" " * (bound + 1)), (".epd",))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.pgn", "", "no openings"),
        ("a.epd", "not a position", "opening 1"),
        ("a.epd", "k7/8/1QK5/8/8/8/8/8 b - -", "no playable position"),
        ("a.pgn", '[Event "x"]\n\n1. e4 e4 *\n', "opening 1"),
        ("a.epd", "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf -", "need --chess960"),
    ],
)
def test_what_is_no_opening_is_told(tmp_path: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(ProgramError, match=reason):
        read(tmp_path / name, text).opening(0)


def test_a_journal_knows_openings_by_what_is_in_the_file(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, "file")
    path, seen = tmp_path / "openings.epd", []
    for text in ("8/8/8/8/8/k7/p7/K7 w - -\n", "8/8/8/8/8/K7/P7/k7 w - -\n"):
        path.write_text(text, "utf-8")
        seen.append(openings_as_json(parser.parse_args(["--openings", str(path)])))
    assert seen[0]["file"] == seen[1]["file"] == "openings.epd"
    assert seen[0] != seen[1]
