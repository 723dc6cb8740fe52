"""The names of openings, and how UCI shows them."""

from __future__ import annotations

import chess
import pytest

from uci_engine.book.book import WITHOUT_ACCENTS, Opening, named_positions, opening_of
from uci_engine.time_management import Limits


@pytest.mark.parametrize(
    ("moves", "eco", "beginning"),
    [
        ("e4 c5", "B20", "Sicilian Defense"),
        ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90", "Sicilian Defense: Najdorf Variation"),
        ("e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 d4", "C67", "Ruy Lopez: Berlin Defense"),
        ("d4 Nf6 c4 g6 Nc3 d5", "D80", "Grünfeld Defense"),
        ("c4 Nf6 d4 e6 Nc3 Bb4", "E20", "Nimzo-Indian Defense"),
        ("Nf3 d5 c4", "A09", "Réti Opening"),
    ],
)
def test_names_of_well_known_positions(moves: str, eco: str, beginning: str) -> None:
    board = chess.Board()
    for move in moves.split():
        board.push_san(move)
    opening = opening_of(board)
    assert opening is not None
    assert opening.eco == eco
    assert opening.name.startswith(beginning)


def test_a_position_without_a_name_has_that_of_the_one_before() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    board.push_san("Kd2")
    assert opening_of(board) is None
    board = chess.Board()
    told = []
    for move in ("e4", "c5", "h3", "h6"):
        board.push_san(move)
        told.append(str(opening_of(board)))
    assert told == ["B00 King's Pawn Game", "B20 Sicilian Defense", "B20 Sicilian Defense", "B20 Sicilian Defense"]
    assert len(board.move_stack) == 4


@pytest.mark.parametrize(
    ("moves", "name"),
    [
        ("Nf3 d5 c4", "A09 Reti Opening"),
        ("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Bc5", "C78 Ruy Lopez: Morphy Defense, Moller"),
        ("Na3 Na6 Nb1 Nb8", "A00"),
    ],
)
def test_a_message_has_the_name_in_ascii(moves: str, name: str) -> None:
    opening = Opening()
    opening.open("")
    board = chess.Board()
    for move in moves.split():
        board.push_san(move)
    (message,) = opening.advise(board, Limits(movetime_ms=1), depth=0, variety=0).messages
    assert message.isascii()
    assert name in message


def test_all_names_can_be_written_in_ascii() -> None:
    assert all(str(name).translate(WITHOUT_ACCENTS).isascii() for name in named_positions().values())
