"""Attack tables against python-chess, for the modules as installed and for the plain sources beside them."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import chess
import pytest

import evaluation.base
from evaluation.base import bitboards as installed


def plain_module() -> ModuleType:
    """bitboards.py run as Python, whether or not it is installed compiled."""
    path = Path(evaluation.base.__file__).with_name("bitboards.py")
    spec = spec_from_file_location("plain_bitboards", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAIN = plain_module()
BOTH_FORMS = pytest.mark.parametrize("module", [installed, PLAIN], ids=["installed", "plain"])


def attacks(piece_type: chess.PieceType, square: chess.Square, colour: chess.Color = chess.WHITE) -> int:
    """python-chess's answer on an empty board, through its public interface."""
    board = chess.Board(None)
    board.set_piece_at(square, chess.Piece(piece_type, colour))
    return int(board.attacks(square))


@BOTH_FORMS
def test_every_subset_of_every_slider_mask(module: ModuleType) -> None:
    """Each entry of the magic tables that a position can reach: 107 648 of them."""
    for square in chess.SQUARES:
        for pieces, expected in chess.BB_DIAG_ATTACKS[square].items():
            assert module.slider_attacks(False, square, pieces) == expected
        for ranks, along_rank in chess.BB_RANK_ATTACKS[square].items():
            for files, along_file in chess.BB_FILE_ATTACKS[square].items():
                assert module.slider_attacks(True, square, ranks | files) == along_rank | along_file


@pytest.mark.parametrize("colour", chess.COLORS)
def test_pawn_attacks(colour: chess.Color) -> None:
    for square in chess.SQUARES:
        expected = attacks(chess.PAWN, square, colour)
        assert PLAIN.PAWN_ATTACKS[64 * colour + square] == PLAIN.pawn_attacks(1 << square, int(colour)) == expected


def test_lines_through_a_square() -> None:
    for square in chess.SQUARES:
        assert PLAIN.BISHOP_PSEUDO_ATTACKS[square] == attacks(chess.BISHOP, square)
        assert PLAIN.ROOK_PSEUDO_ATTACKS[square] == attacks(chess.ROOK, square)
        assert PLAIN.RISING[square] & PLAIN.FALLING[square] == chess.BB_SQUARES[square]
        whole = PLAIN.BISHOP_PSEUDO_ATTACKS[square] | chess.BB_SQUARES[square]
        assert PLAIN.RISING[square] | PLAIN.FALLING[square] == whole
