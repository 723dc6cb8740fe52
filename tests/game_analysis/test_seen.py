"""Facts of a position: a table of what is seen and what is not, and the same from both sides of the board."""

from __future__ import annotations

import re

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.game_analysis.seen import Fact, Seen, facts_of, lasting_facts


def words_of(board: chess.Board, color: chess.Color = chess.WHITE) -> set[str]:
    return {fact.words for fact in facts_of(board, color)}


@pytest.mark.parametrize(
    ("fen", "seen", "unseen"),
    [
        ("4k3/p7/8/8/8/2P5/2P5/4K3 w - - 0 1", "pawns on the c-file are doubled", "passed pawn stands on a"),
        ("4k3/1p6/8/3P4/8/8/8/4K3 w - - 0 1", "passed pawn stands on d5", "doubled"),
        # A pawn behind it does not stop it.
        ("4k3/8/1p6/3P4/4p3/8/8/4K3 w - - 0 1", "passed pawn stands on d5", "doubled"),
        ("3q2k1/8/8/8/8/8/5P1P/3R2K1 w - - 0 1", "king on g1 has no pawn before it on the g-file", "h-file"),
        ("6k1/8/8/8/8/8/5P1P/3R2K1 w - - 0 1", "", "no pawn before it"),
        (
            "6k1/8/8/7q/8/5n2/5P2/6K1 w - - 0 1",
            "king on g1 is under fire from the knight on f3 and the queen on h5",
            "",
        ),
        ("4k3/pp3ppp/8/8/3PP3/8/PP3PPP/4K3 w - - 0 1", "pawns on d4 and e4 hold the centre", "doubled"),
        ("4k3/8/8/8/8/8/PP6/2B1KB2 w - - 0 1", "side has the bishop pair", "knight"),
        ("2b1kb2/8/8/8/8/8/PP6/2B1KB2 w - - 0 1", "", "side has the bishop pair"),
        ("7k/8/8/8/8/3B4/7P/6K1 w - - 0 1", "bishop does not guard h8, where the pawn promotes", "bishop pair"),
        ("7k/8/8/8/8/3B4/7P/6K1 b - - 0 1", "bishop does not guard h8, where the pawn promotes", "bishop pair"),
        # The other bishop, the other pawn, a pawn that is faster, more pawns, more pieces.
        ("7k/8/8/8/8/4B3/7P/6K1 w - - 0 1", "", "does not guard"),
        ("k7/8/8/8/8/3B4/P7/6K1 w - - 0 1", "", "does not guard"),
        ("k7/8/7P/8/8/3B4/8/6K1 w - - 0 1", "", "does not guard"),
        ("7k/8/8/8/8/3B4/6PP/6K1 w - - 0 1", "", "does not guard"),
        ("7k/8/8/8/8/3B4/7P/4R1K1 w - - 0 1", "", "does not guard"),
    ],
)
def test_what_is_seen(fen: str, seen: str, unseen: str) -> None:
    words = words_of(chess.Board(fen))
    assert not seen or seen in words
    assert not unseen or not any(unseen in each for each in words)


@given(st.lists(st.integers(0, 30), max_size=60), st.sampled_from(chess.COLORS))
def test_both_sides_are_seen_alike(choices: list[int], color: chess.Color) -> None:
    board = chess.Board()
    for choice in choices:
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if moves:
            board.push(moves[choice % len(moves)])

    def ranks_turned(words: str) -> str:
        turned = re.sub("(?<=[a-h])[1-8]", lambda found: str(9 - int(found[0])), words)
        # The attackers of a king come in the order of their squares.
        head, _, attackers = turned.partition(" is under fire from ")
        return head + "".join(sorted(re.findall("[a-h][1-8]", attackers)))

    here = {ranks_turned(ranks_turned(words)) for words in words_of(board, color)}
    there = {ranks_turned(words) for words in words_of(board.mirror(), not color)}
    assert here == there


def boards_of(fen: str, *words: str) -> list[chess.Board]:
    board = chess.Board(fen)
    boards = [board.copy()]
    for word in words:
        board.push_san(word)
        boards.append(board.copy())
    return boards


def lasting(boards: list[chess.Board], others: list[chess.Board]) -> dict[str, tuple[float, Fact, chess.Color, int]]:
    return {found[1].words: found for found in lasting_facts(Seen(boards), Seen(others))}


def test_what_lasts_in_one_line_alone_is_found() -> None:
    fen = "r4rk1/pp3ppp/2n5/8/1b6/2N5/PPP2PPP/R4RK1 b - - 0 1"
    taken = boards_of(fen, "Bxc3", "bxc3", "Rfd8", "Rfd1")
    kept = boards_of(fen, "Rfd8", "Rfd1", "Rd7", "h3")
    value, fact, color, ply = lasting(taken, kept)["pawns on the c-file are doubled"]
    assert (color, ply, fact.is_strength) == (chess.WHITE, 2, False)
    # After the first move the exchange goes on, so it does not count.
    assert value == pytest.approx(fact.weight)
    assert "pawns on the c-file are doubled" not in lasting(kept, taken)
    # What is gone at the end of the line is no difference.
    mended = boards_of(fen, "Bxc3", "bxc3", "Rfd8", "c4", "Nd4", "h3", "Nxc2")
    assert "pawns on the c-file are doubled" not in lasting(mended, kept)


def test_what_both_lines_bring_is_no_difference() -> None:
    fen = "r4rk1/pp3ppp/2n5/8/1b6/2N5/PPP2PPP/R4RK1 b - - 0 1"
    sooner = boards_of(fen, "Bxc3", "bxc3", "Rfd8", "Rfd1", "Kf8", "h3")
    later = boards_of(fen, "Rfd8", "Rfd1", "Kf8", "h3", "Bxc3", "bxc3")
    assert not lasting(sooner, later)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.lists(st.integers(0, 30), min_size=1, max_size=20))
def test_what_lasts_holds_on_the_board_that_is_named(one: list[int], other: list[int]) -> None:
    lines = []
    for choices in (one, other):
        boards = [chess.Board("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4")]
        for choice in choices:
            moves = sorted(boards[-1].legal_moves, key=chess.Move.uci)
            if moves:
                boards.append(boards[-1].copy())
                boards[-1].push(moves[choice % len(moves)])
        lines.append(boards)
    here, there = lines
    for value, fact, color, ply in lasting_facts(Seen(here), Seen(there)):
        assert fact in facts_of(here[ply], color)
        assert 0 < value <= fact.weight
