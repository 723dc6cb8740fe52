"""Facts of a position: a table of what is seen and what is not, and the same from both sides of the board."""

from __future__ import annotations

import re

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.game_analysis.changes import Change
from uci_engine.game_analysis.seen import facts_of, remarks


def words_of(board: chess.Board, color: chess.Color = chess.WHITE) -> set[str]:
    return {fact.words for fact in facts_of(board, color)}


@pytest.mark.parametrize(
    ("fen", "seen", "unseen"),
    [
        ("4k3/p7/8/8/8/2P5/2P5/4K3 w - - 0 1", "pawns on the c-file are doubled", "passed pawn stands on a"),
        ("4k3/1p6/8/3P4/8/8/8/4K3 w - - 0 1", "passed pawn stands on d5", "doubled"),
        ("4k3/2p5/8/3P4/4K3/8/8/8 w - - 0 1", "pawn on d5 is isolated", "passed"),
        ("4k3/8/8/3P4/4K3/8/8/8 w - - 0 1", "king on e4 supports the passed pawn on d5", "isolated pawn"),
        ("r2qk2r/pp3ppp/8/8/8/8/PPP2PPP/3RK2R w Kkq - 0 1", "rook stands on the open d-file", "rook has broken in"),
        ("4k3/p2R2pp/8/8/8/8/6PP/6K1 w - - 0 1", "rook has broken in on d7", "open d-file"),
        ("4k3/pp3ppp/8/4N3/8/8/PP3PPP/4K3 w - - 0 1", "", "cannot be driven away"),
        ("4k3/pp4pp/8/4N3/8/8/PP3PPP/4K3 w - - 0 1", "knight on e5 cannot be driven away by a pawn", "edge"),
        ("6k1/6pp/8/N7/8/8/6PP/6K1 w - - 0 1", "knight on a5 stands on the edge", "in play"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "knight on b1 is not in play", "castle"),
        ("6k1/8/8/8/8/1P6/B1P5/6K1 w - - 0 1", "bishop on a2 has only one square", "no square"),
        ("3q2k1/8/8/8/8/8/5P1P/3R2K1 w - - 0 1", "king on g1 has no pawn before it on the g-file", "h-file"),
        ("6k1/8/8/8/8/8/5P1P/3R2K1 w - - 0 1", "", "no pawn before it"),
        (
            "6k1/8/8/7q/8/5n2/5P2/6K1 w - - 0 1",
            "king on g1 is under fire from the knight on f3 and the queen on h5",
            "",
        ),
        ("4k3/8/8/8/4r3/8/4N3/4K3 w - - 0 1", "knight on e2 is pinned", "rook"),
        ("4k3/8/8/3p4/4N3/8/8/4K3 b - - 0 1", "knight on e4 is under attack", "pinned"),
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


def test_what_is_worse_is_said_of_the_side_that_has_it() -> None:
    better = chess.Board("r4rk1/pp3ppp/2n5/8/8/2N5/PPP2PPP/R4RK1 w - - 0 1")
    played = chess.Board("r4rk1/pp3ppp/8/8/8/2P5/P1P2PPP/R4RK1 w - - 0 1")
    doubled = [Change("doubled pawns", chess.WHITE, -30)]
    assert remarks(doubled, better, played, chess.WHITE, 1)[0] == ["your pawns on the c-file are doubled"]
    assert remarks(doubled, better, played, chess.BLACK, 1) == ([], [], "")
    gone = [Change("doubled pawns", chess.WHITE, 30)]
    assert remarks(gone, played, better, chess.BLACK, 1)[1] == ["White's pawns on the c-file are doubled"]
    queens = chess.Board("q5k1/8/8/8/8/8/8/Q5K1 w - - 0 1")
    assert remarks([], queens, chess.Board("6k1/8/8/8/8/8/8/6K1 w - - 0 1"), chess.WHITE, 1)[0] == [
        "the queens are exchanged"
    ]
    # An attack that gains is a king that is less safe.
    exposed = chess.Board("6k1/8/8/7q/8/5n2/5P2/6K1 w - - 0 1")
    safe = chess.Board("6k1/8/8/7q/8/8/5PPP/6K1 w - - 0 1")
    for change in (Change("king's shelter", chess.WHITE, -30), Change("attack on the king", chess.BLACK, -30)):
        here, _, _ = remarks([change], safe, exposed, chess.WHITE, 1)
        assert here == ["your king on g1 is under fire from the knight on f3 and the queen on h5"]
    slower = [Change("rooks' mobility", chess.WHITE, -30)]
    assert remarks(slower, safe, safe, chess.WHITE, 20) == ([], [], "your pieces are less active")
    assert remarks(slower, safe, safe, chess.WHITE, 40) == ([], [], "")
