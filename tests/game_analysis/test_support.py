"""Why a move is good: the tactic that it begins, the threat that it meets, the only move."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import pytest
from chess.engine import Cp

from tests.support.moves import moves
from uci_engine.game_analysis.motifs import Kind
from uci_engine.game_analysis.reasons import support_for
from uci_engine.game_analysis.values import DRAWN, Found, Value, value_of

LOST = value_of(Cp(-600), 32)
# White threatens mate on f7.
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"


def test_a_tactic_supports_the_move_that_begins_it() -> None:
    board = chess.Board("4k3/1q6/8/8/4N3/8/8/4K3 w - - 0 1")
    support = support_for(board, Found(DRAWN, line=moves(board, "Nd6+", "Kd7", "Nxb7")))
    assert support is not None
    assert support.text == "1.Nd6+ forks the king on e8 and the queen on b7"
    assert [motif.kind for motif in support.motifs] == [Kind.FORK]


@pytest.mark.parametrize(("others", "words"), [(LOST, "Every other move is much worse"), (DRAWN, None), (None, None)])
def test_the_only_move_is_said_to_be_it(others: Value | None, words: str | None) -> None:
    board = chess.Board()
    support = support_for(board, Found(DRAWN, line=moves(board, "e4", "e5")), others)
    assert (support.text if support else None) == words


def test_a_threat_is_named_where_the_move_meets_it() -> None:
    board = chess.Board(SCHOLAR)
    seen: list[chess.Board] = []

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        seen.append(position)
        return Found(value_of(Cp(900), 32), line=moves(position, "Qxf7#"))

    support = support_for(board, Found(DRAWN, line=moves(board, "g6", "Qf3", "Nf6")), find=find)
    assert support is not None
    assert support.text == "It meets a threat: 4.Qxf7# is mate"
    assert [position.turn for position in seen] == [chess.WHITE]
    assert seen[0].is_valid()
    # The move does not meet it.
    assert support_for(board, Found(DRAWN, line=moves(board, "Nf6", "Qxf7#")), find=find) is None


def test_no_threat_is_looked_for_in_check_or_named_where_it_changes_nothing() -> None:
    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        assert not board.is_check()
        return Found(DRAWN, line=moves(position, "Qxf7#"))

    board = chess.Board("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1")
    assert board.is_check()
    assert support_for(board, Found(DRAWN, line=moves(board, "Kd1", "Re3")), find=find) is None
    board = chess.Board(SCHOLAR)
    assert support_for(board, Found(DRAWN, line=moves(board, "g6", "Qf3")), find=find) is None


def test_a_sacrifice_that_works_is_shown_with_its_line() -> None:
    board = chess.Board("1k6/3q4/8/3N4/8/8/5PPP/R5K1 w - - 0 1")
    line = moves(board, "Ra8+", "Kxa8", "Kf1", "Qxd5")
    support = support_for(board, Found(DRAWN, line=line))
    assert support is not None
    assert "The sacrifice works: 1.Ra8+ Kxa8 2.Kf1 Qxd5" in support.text
    # A sacrifice that loses is none that works.
    assert support_for(board, Found(LOST, line=line)) is None
