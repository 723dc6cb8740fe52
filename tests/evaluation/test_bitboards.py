"""The magic bitboards against python-chess. The random games of `tests.board` meet the other tables."""

from __future__ import annotations

import chess

from evaluation.base.bitboards import slider_attacks


def test_every_subset_of_every_slider_mask() -> None:
    """Each entry of the magic tables that a position can reach: 107 648 of them."""
    for square in chess.SQUARES:
        for pieces, expected in chess.BB_DIAG_ATTACKS[square].items():
            assert slider_attacks(False, square, pieces) == expected
        for ranks, along_rank in chess.BB_RANK_ATTACKS[square].items():
            for files, along_file in chess.BB_FILE_ATTACKS[square].items():
                assert slider_attacks(True, square, ranks | files) == along_rank | along_file
