"""`go mate`: proofs and refutations, held to an AND/OR search over python-chess's own board."""

from __future__ import annotations

import chess
import pytest

from tests.support.kernel import Outcome, after_line, board_after, is_compiled, search
from uci_engine import score as scores

# FEN, length in moves, and all the first moves that do it. The longest takes `mates_in` some seconds.
MATES = {
    "back rank": ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", 1, {"a1a8"}),
    "smothered": ("6rk/6pp/8/6N1/8/8/8/7K w - - 0 1", 1, {"g5f7"}),
    "Black mates": ("7k/8/8/8/8/6pp/r7/7K b - - 0 1", 1, {"a2a1"}),
    "the rook gives itself up": ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, {"a1a6"}),
    "a knight is made": ("rn6/kpP5/p7/8/8/8/8/4K3 w - - 0 1", 1, {"c7c8n"}),
    "two rooks": ("7k/8/8/8/8/1R6/R7/7K w - - 0 1", 2, {"b3g3", "b3b7", "a2a7", "a2g2"}),
    "rook and king": ("8/8/8/8/8/2k5/7r/K7 b - - 0 1", 2, {"c3b3"}),
    "quiet second move": ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3, {"f6a6"}),
    "pawn": ("7k/5K2/6P1/8/8/8/8/8 w - - 0 1", 3, {"g6g7"}),
    "four moves": ("4k2K/6Q1/8/8/8/8/8/8 w - - 0 1", 4, {"g7c7"}),
}
NO_MATES = [
    (chess.STARTING_FEN, 2),
    ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 3),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 4 4", 2),
    # The queen's nearest squares stalemate or only check.
    ("7k/8/8/6K1/8/8/8/5Q2 w - - 0 1", 1),
    # The mates of two moves from above, but the fifty-move rule comes first.
    ("7k/8/8/8/8/1R6/R7/7K w - - 98 90", 2),
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 99 90", 2),
]


def is_decided(board: chess.Board, plies: int) -> bool:
    """Whether the side to move mates (odd) or is mated (even) in at most so many plies, by trying everything."""
    legal = list(board.legal_moves)
    is_attacker = plies % 2 == 1
    if not legal:
        return not is_attacker and board.is_check()
    if plies <= 0 or board.halfmove_clock >= 100 or board.is_repetition(3):
        return False
    for move in legal:
        if plies == 1 and not board.gives_check(move):
            continue
        board.push(move)
        decided = is_decided(board, plies - 1)
        board.pop()
        if decided == is_attacker:
            return decided
    return not is_attacker


def mates_in(board: chess.Board, count: int) -> bool:
    """Whether the side to move can force mate in at most so many moves."""
    return is_decided(board, 2 * count - 1)


def is_refuted(outcome: Outcome, count: int) -> bool:
    """Whether a search says, as its last word, that there is no mate in so many moves."""
    refuted = any(str(count) in sentence for sentence in outcome.sentences)
    assert refuted == bool(outcome.sentences)
    return refuted


@pytest.mark.parametrize("name", MATES)
def test_a_mate_is_proved_and_a_shorter_one_refuted(name: str) -> None:
    fen, count, firsts = MATES[name]
    board = chess.Board(fen)
    for asked in (count, count + 1):
        outcome = search(board, mate=asked)
        assert outcome.score == scores.MATE - (2 * count - 1)
        assert outcome.best.uci() in firsts
        assert after_line(board, outcome.last).is_checkmate()
        assert outcome.sentences == []
    if count > 1:
        assert is_refuted(search(board, mate=count - 1), count - 1)
    # What the search says is so, by another program.
    if count < 4:
        assert mates_in(board, count)
        assert not mates_in(board, count - 1)
        assert all(is_decided(board_after(fen, word), 2 * count - 2) for word in firsts)


@pytest.mark.parametrize(("fen", "count"), NO_MATES)
def test_what_is_no_mate_is_refuted(fen: str, count: int) -> None:
    board = chess.Board(fen)
    assert not mates_in(board, count)
    assert is_refuted(search(board, mate=count), count)


def test_a_mate_is_sought_within_the_depth_and_the_moves_asked_for() -> None:
    bare_kings = chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1")
    assert is_refuted(search(bare_kings, mate=1000), scores.MAX_DEPTH // 2)
    fen, count, firsts = MATES["four moves"]
    assert is_refuted(search(chess.Board(fen), mate=1000, depth=2 * count - 2), count - 1)
    assert search(chess.Board(fen), mate=1000, depth=2 * count - 1).best.uci() in firsts
    back_rank = chess.Board(MATES["back rank"][0])
    assert is_refuted(search(back_rank, [chess.Move.from_uci("a1a7")], mate=1), 1)


def test_proofs_from_one_game_do_not_mislead_the_next() -> None:
    # The table is kept: what was proved for one side, and for one number of moves, stays true for the others.
    for fen, count, firsts in MATES.values():
        board = chess.Board(fen)
        outcome = search(board, mate=count, fresh=False)
        assert outcome.best.uci() in firsts
        for again in (board, board.mirror()):
            assert search(again, mate=count, fresh=False).score == outcome.score


def test_what_was_found_at_another_halfmove_clock_does_not_mislead() -> None:
    fen, count, firsts = MATES["four moves"]
    board = chess.Board(fen)
    board.halfmove_clock = 94
    assert is_refuted(search(board, mate=count), count)
    board.halfmove_clock = 0
    assert search(board, mate=count, fresh=False).best.uci() in firsts
    # The latest clock from which the mate comes in time: its last ply may bring the clock to 100.
    in_time = 100 - (2 * count - 1)
    assert search(board, mate=count).score == scores.MATE - (2 * count - 1)
    for clock in range(in_time - 2, 100):
        board.halfmove_clock = clock
        assert is_refuted(search(board, mate=count, fresh=False), count) == (clock > in_time)


def test_a_position_of_the_game_that_comes_for_the_third_time_is_a_draw() -> None:
    repeated = board_after("K6k/8/8/1R6/8/6R1/8/4n3 b - - 0 1", "h8h7 g3f3 h7h8 f3g3 h8h7 g3f3 h7h8")
    alone = repeated.copy(stack=False)
    assert not mates_in(repeated, 2)
    assert mates_in(repeated, 3)
    assert mates_in(alone, 2)
    # What was found without the game does not mislead the search with it, nor the other way round.
    for board, count, fresh in ((repeated, 2, False), (alone, 2, False), (repeated, 2, False), (repeated, 3, True)):
        assert is_refuted(search(board, mate=count, fresh=fresh), count) == (board is repeated and count == 2)
    assert not is_refuted(search(alone, mate=2, fresh=False), 2)


@pytest.mark.parametrize("name", ["quiet second move", "four moves"])
def test_an_interrupted_proof_claims_nothing_false(name: str) -> None:
    fen, count, _ = MATES[name]
    board = chess.Board(fen)
    whole = search(board, mate=count).nodes
    for nodes in range(1, whole, max(whole // (60 if is_compiled() else 6), 1)):
        outcome = search(board, nodes=nodes, mate=count)
        assert outcome.sentences == []
        assert not scores.is_mate(outcome.score) or scores.mate_in_moves(outcome.score) >= count


@pytest.mark.skipif(not is_compiled(), reason="10 000 nodes a position")
def test_the_line_of_a_mate_reaches_it() -> None:
    mates = 0
    for fen in (
        "8/5p2/2N1k2R/1K6/4N1P1/8/8/8 b - - 0 1",
        "6K1/2p1k1N1/1pP1N2p/1pp1P3/6p1/B7/3P4/8 w - - 0 1",
        "3B4/7p/6pP/6Pk/1p2R2p/3K1b1P/1P3p2/5B2 b - - 0 1",
        "4K3/3N4/4kB2/1P6/4P3/8/5P2/8 b - - 0 1",
        "8/8/8/5N2/5Np1/6P1/5K1k/8 b - - 0 1",
        "K1N1b3/p1R5/k2p2n1/1p3rB1/1P6/p4P2/5n1p/2N5 b - - 0 1",
        "8/1p6/8/5K2/1P4P1/8/R7/4k3 b - - 0 1",
    ):
        board = chess.Board(fen)
        outcome = search(board, nodes=10_000)
        if scores.is_mate(outcome.score):
            mates += 1
            assert len(outcome.last.pv) == scores.MATE - abs(outcome.score)
            assert after_line(board, outcome.last).is_checkmate()
    assert mates > 3
