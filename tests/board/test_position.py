"""The boards of the search against python-chess: moves, keys, checks, unmake, SEE, draws, repetitions to come.

The installed core is tested in this process, the others by the same functions in processes of their own.
SECATEUR_RANDOM_GAMES=2000 plays so many random games instead of a few.
"""

from __future__ import annotations

import itertools
import os
import random
from functools import cache
from typing import Any

import chess
import chess.polyglot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.base.bitboards import slider_attacks
from tests.evaluation.test_evaluation import random_pieces
from tests.support.kernel import (
    ALL_CORES,
    board_after,
    core_or_skip,
    is_compiled,
    key_of,
    new_position,
    on_core,
    random_game,
    start_board,
    state_of,
)
from uci_engine.board import moves
from uci_engine.board.game import seen_twice
from uci_engine.board.moves import NOISY, QUIET
from uci_engine.board.position import cuckoo_move
from uci_engine.core import load

# The number of long random games to play; by default there are a few.
GAMES = int(os.environ.get("SECATEUR_RANDOM_GAMES", "0"))
GAME_PLIES = 160
VALUES = dict(zip(chess.PIECE_TYPES, (100, 300, 300, 500, 900, 0), strict=True))


@cache
def shared_position() -> Any:
    """One position for many boards."""
    return new_position()


# Random games ---------------------------------------------------------------------------------------------


def check_games(first: int, count: int, plies: int, chess960: bool) -> int:
    """Play random games and compare every ply with python-chess; returns the number of plies compared."""
    compared = 0
    position = new_position()
    for number in range(first, first + count):
        start = start_board(number, chess960)
        position.set_board(start)
        for board in random_game(number, start, plies):
            if board.move_stack:
                before = board.copy(stack=1)
                position.make(moves.encode(before, before.pop()))
            assert position.stack_index == len(board.move_stack)
            compare(position, board, thorough=compared % 29 == 0 or not board.move_stack)
            compared += 1
    return compared


def compare(position: Any, board: chess.Board, thorough: bool) -> None:
    """One position against python-chess's view of it."""
    where = board.fen()
    legal = {moves.encode(board, move): move for move in board.legal_moves}
    found = position.legal_moves()
    assert len(found) == len(legal), where
    assert set(found) == set(legal), where
    assert position.key == key_of(board), where
    assert position.checkers == board.checkers_mask(), where
    assert position.is_insufficient_material() == board.is_insufficient_material(), where
    before = state_of(position, False)
    for number in found:
        position.make(number)
        position.unmake(number)
    assert state_of(position, False) == before, where
    position.refresh()
    assert state_of(position, False) == before, where
    if thorough:
        compare_every_move(position, board, legal)
        compare_null_move(position, board)
        compare_from_scratch(position, board)


def compare_every_move(position: Any, board: chess.Board, legal: dict[int, chess.Move]) -> None:
    where = board.fen()
    # On a slow core, without promotions, captures en passant and castling.
    numbers = range(1 << (16 if is_compiled() else 12))
    assert {number for number in numbers if position.is_legal(number)} == legal.keys() & set(numbers), where
    for number, move in legal.items():
        # Castling comes in python-chess's own spelling of it.
        assert moves.decode(number, board.chess960) == board.parse_uci(board.uci(move)), where
        assert position.is_legal(number), (where, move)
        assert position.is_noisy(number) == (board.is_capture(move) or move.promotion is not None), (where, move)
        assert position.gives_check(number) == board.gives_check(move), (where, move)
        gain = see(board, move)
        for threshold in (gain - 1, gain, gain + 1, gain + 100, 0):
            assert position.see_at_least(number, threshold) == (gain >= threshold), (where, move, threshold)
        before = state_of(position, False)
        foreseen = position.key_after(number)
        rights = board.clean_castling_rights(), board.ep_square
        position.make(number)
        board.push(move)
        if rights == (board.clean_castling_rights(), None) and board.ep_square is None and not move.promotion:
            assert foreseen == position.key, (where, move)
        assert position.key == key_of(board), (where, move)
        assert state_of(position)[2] == pieces(board), (where, move)
        board.pop()
        position.unmake(number)
        assert state_of(position, False) == before, (where, move)
    captures = {number for number, move in legal.items() if board.is_capture(move) or move.promotion}
    assert sorted(position.legal_moves(NOISY)) == sorted(captures), where
    assert sorted(position.legal_moves(QUIET)) == sorted(legal.keys() - captures), where


def compare_null_move(position: Any, board: chess.Board) -> None:
    if board.is_check():
        return
    before = state_of(position)
    position.make_null()
    board.push(chess.Move.null())
    assert position.key == key_of(board)
    assert set(position.legal_moves()) == {moves.encode(board, move) for move in board.legal_moves}
    board.pop()
    position.unmake_null()
    assert state_of(position) == before


def compare_from_scratch(position: Any, board: chess.Board) -> None:
    """What was kept up to date move by move equals what is computed anew."""
    fresh = shared_position()
    fresh.set_board(board.copy(stack=False))
    by_type, by_colour, squares, state, sums = state_of(position)
    new_by_type, new_by_colour, new_squares, new_state, new_sums = state_of(fresh)
    assert (by_type, by_colour, squares, sums) == (new_by_type, new_by_colour, new_squares, new_sums), board.fen()
    # But for `reversible_plies` and `stack_index`, which are about the moves that led here.
    assert state[:4] == new_state[:4], board.fen()
    assert squares == pieces(board)
    # With the moves that led here the position is the same again, and knows of as many.
    fresh.set_board(board)
    assert state_of(fresh)[:3] == state_of(position)[:3]
    assert fresh.key == position.key
    assert fresh.stack_index <= board.halfmove_clock


def pieces(board: chess.Board) -> list[int]:
    """The codes of the kernel on the 64 squares."""
    pieces = [board.piece_at(square) for square in chess.SQUARES]
    return [2 * piece.piece_type + piece.color if piece else 0 for piece in pieces]


@pytest.mark.parametrize("chess960", [False, True])
def test_random_games_match_python_chess(chess960: bool) -> None:
    count = (GAMES + 1) // 2 or (20 if is_compiled() else 3)
    assert check_games(0, count, GAME_PLIES, chess960) > 40 * count


# Magic bitboards ----------------------------------------------------------------------------------------


def test_sliders_on_every_subset_of_their_masks() -> None:
    """Each entry of the magic tables that a position can reach: 107 648 of them."""
    for square in chess.SQUARES:
        for pieces, expected in chess.BB_DIAG_ATTACKS[square].items():
            assert slider_attacks(False, square, pieces) == expected
        for ranks, along_rank in chess.BB_RANK_ATTACKS[square].items():
            for files, along_file in chess.BB_FILE_ATTACKS[square].items():
                assert slider_attacks(True, square, ranks | files) == along_rank | along_file


# Any pieces anywhere -----------------------------------------------------------------------------------------


def _some_en_passant_square(board: chess.Board) -> chess.Square | None:
    """A square that an enemy pawn may just have passed, if there is one."""
    behind, step = (4, 8) if board.turn else (3, -8)
    for square in chess.SquareSet(board.pawns & board.occupied_co[not board.turn] & chess.BB_RANKS[behind]):
        if not (board.piece_at(square + step) or board.piece_at(square + 2 * step)):
            return square + step
    return None


@given(st.builds(random_pieces, st.integers(0, 10**9), st.integers(0, 6)))
def test_odd_boards_match_python_chess(board: chess.Board) -> None:
    if board.was_into_check():
        board.turn = not board.turn
    if board.was_into_check():
        return
    # En passant only after a check that a double step can give.
    board.ep_square = _some_en_passant_square(board)
    if board.status() & ~chess.STATUS_EMPTY:
        board.ep_square = None
    position = shared_position()
    position.set_board(board)
    compare(position, board, thorough=True)
    assert position.has_non_pawn_material() == bool(board.occupied_co[board.turn] & ~(board.pawns | board.kings))


# Exchanges ------------------------------------------------------------------------------------------------


def see(board: chess.Board, move: chess.Move) -> int:
    """What a move wins on its target in centipawns, played out on python-chess's board, without pins."""
    if board.is_castling(move):
        return 0
    scratch = chess.BaseBoard(board.board_fen())
    target = move.to_square
    mover = scratch.remove_piece_at(move.from_square)
    assert mover is not None
    if board.is_en_passant(move):
        scratch.remove_piece_at(chess.square(chess.square_file(target), chess.square_rank(move.from_square)))
        gain = VALUES[chess.PAWN]
    else:
        taken = scratch.piece_type_at(target)
        gain = VALUES[taken] if taken else 0
    arriving = move.promotion or mover.piece_type
    gain += VALUES[arriving] - VALUES[mover.piece_type]
    scratch.set_piece_at(target, chess.Piece(arriving, mover.color))
    return gain - best_recapture(scratch, target, not board.turn)


def best_recapture(board: chess.BaseBoard, target: chess.Square, side: chess.Color) -> int:
    """The most that `side` wins by taking on the target with its least valuable piece, or by leaving it."""
    attackers = [(board.piece_type_at(square) or 0, square) for square in board.attackers(side, target)]
    if not attackers:
        return 0
    piece_type, square = min(attackers)
    if piece_type == chess.KING and board.attackers(not side, target):
        return 0
    taken = board.piece_type_at(target)
    assert taken is not None
    after = board.copy()
    after.remove_piece_at(square)
    after.set_piece_at(target, chess.Piece(piece_type, side))
    return max(0, VALUES[taken] - best_recapture(after, target, not side))


# Draws ----------------------------------------------------------------------------------------------------


def play(position: Any, board: chess.Board, text: str) -> None:
    """Make moves on both."""
    for word in text.split():
        move = board.parse_uci(word)
        position.make(moves.encode(board, move))
        board.push(move)


CYCLE = "g1f3 g8f6 f3g1 f6g8"
ROOKS_OUT_AND_BACK = "a1b1 a8b8 b1a1 b8a8"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
# Endings in which positions come again.
REPEATING = (
    "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
    "8/p7/P7/3k4/8/8/8/K7 w - - 10 1",
    "8/b7/8/3k4/8/8/1q6/K1NR4 w - - 10 1",
)
ROOK_ENDING = "4k3/8/8/8/8/8/8/R3K3 w - - {} 90"


@pytest.mark.parametrize(
    ("fen", "game", "line", "drawn"),
    [
        # Bishops of one square colour are dead, of two not.
        ("2bk4/8/8/8/8/8/8/3K1B2 w - - 0 1", "", "", True),
        ("2bk4/8/8/8/8/8/8/2BK4 w - - 0 1", "", "", False),
        # The fifty-move rule, but mate goes before it, and a check with a way out does not.
        (ROOK_ENDING.format(99), "", "", False),
        (ROOK_ENDING.format(100), "", "", True),
        (ROOK_ENDING.format(150), "", "", True),
        (ROOK_ENDING.format(99), "", "a1a2", True),
        ("6k1/5ppp/8/8/8/8/8/R6K w - - 99 90", "", "a1a8", False),
        ("6k1/5pp1/8/8/8/8/8/R6K w - - 99 90", "", "a1a8", True),
        # Lost rights make another position. When two are gone it repeats.
        (CASTLING, "", ROOKS_OUT_AND_BACK, False),
        (CASTLING, "", f"{ROOKS_OUT_AND_BACK} {ROOKS_OUT_AND_BACK}", True),
        # A game longer than any buffer.
        (chess.STARTING_FEN, " ".join([CYCLE] * 300), "", True),
        (chess.STARTING_FEN, " ".join([CYCLE] * 300), CYCLE, True),
    ],
)
def test_draws(fen: str, game: str, line: str, drawn: bool) -> None:
    board = board_after(fen, game)
    position = new_position(board)
    play(position, board, line)
    assert position.is_draw(len(line.split())) == drawn


def test_a_null_move_breaks_a_repetition() -> None:
    board = chess.Board()
    position = new_position(board)
    play(position, board, "b1c3 b8c6")
    position.make_null()
    position.make_null()
    assert position.key == key_of(board)
    assert not position.is_draw(4)
    play(position, board, CYCLE)
    assert position.is_draw(8)


@pytest.mark.parametrize(
    ("fen", "played"),
    [
        # After the double push the only pawn that could capture en passant is pinned, or its king is in check.
        ("6k1/1p2p1rp/rP1pR3/2pP1pP1/p1P2P1P/R5K1/8/8 b - - 0 1", "h7h5 e6h6 g7h7 h6e6 h7g7 e6h6 g7h7 h6e6 h7g7"),
        ("8/8/8/8/4p3/8/R2P3k/K7 w - - 0 37", "d2d4 h2h3 a2a3 h3h2 a3a2 h2h1 a2a3 h1h2 a3a2"),
    ],
)
def test_an_illegal_capture_en_passant_makes_no_other_position(fen: str, played: str) -> None:
    board = board_after(fen, played)
    assert board.is_repetition(3)
    assert new_position(board).is_draw(0)
    before = board_after(fen, played.rpartition(" ")[0])
    assert key_of(board) in seen_twice(before)


def check_repetitions(games: int) -> int:
    """Repetitions, also those one move away, against the whole history, in endings that repeat; returns the draws."""
    draws = 0
    position = new_position()
    for number in range(games):
        generator = random.Random(number)
        board = chess.Board(REPEATING[number % len(REPEATING)])
        keys = [key_of(board)]
        root = generator.randrange(1, 40)
        position.set_board(board)
        for ply in range(1, 70):
            # Few moves to choose from, so that positions come again.
            legal = sorted(board.legal_moves, key=chess.Move.uci)[:3]
            if not legal:
                break
            move = generator.choice(legal)
            if board.is_zeroing(move):
                keys.clear()
            if ply > root:
                position.make(moves.encode(board, move))
            board.push(move)
            if ply <= root:
                position.set_board(board)
            key = key_of(board)
            # Below the root, the positions after it; and all since the last capture or pawn move.
            inside = keys[max(len(keys) - (ply - root - 1), 0) :] if ply > root else []
            drawn = key in inside or keys.count(key) >= 2 or board.is_insufficient_material()
            keys.append(key)
            assert position.is_draw(max(ply - root, 0)) == drawn, (number, ply, board.fen())
            if ply > root:
                quiet = [move for move in board.legal_moves if not board.is_zeroing(move)]
                is_near = any(key_of(board_after(board.fen(), move.uci())) in inside for move in quiet)
                assert position.upcoming_repetition(ply - root) == is_near, (number, ply, board.fen())
            draws += drawn
    return draws


def test_repetitions_are_those_counted_from_the_start() -> None:
    assert check_repetitions(80 if is_compiled() else 20) > 20


# Repetitions one move away --------------------------------------------------------------------------------


def test_every_reversible_move_is_found_by_the_difference_of_its_keys_and_nothing_else() -> None:
    found = 0
    for kind, color, origin in itertools.product(chess.PIECE_TYPES[1:], chess.COLORS, chess.SQUARES):
        board = chess.Board.empty()
        board.set_piece_at(origin, chess.Piece(kind, color))
        for target in board.attacks(origin):
            after = chess.Board.empty()
            after.turn = chess.BLACK
            after.set_piece_at(target, chess.Piece(kind, color))
            move = cuckoo_move(chess.polyglot.zobrist_hash(board) ^ chess.polyglot.zobrist_hash(after))
            assert {move & 63, move >> 6} == {origin, target}
            found += 1
    # Each of the 3668 entries serves both directions.
    assert found == 2 * 3668
    generator = random.Random(1)
    assert not any(cuckoo_move(generator.getrandbits(64)) for _ in range(10000))


def test_no_repetition_is_near_where_the_way_back_is_blocked() -> None:
    board = chess.Board("r3k3/8/8/8/N7/8/4K3/8 w - - 0 1")
    position = new_position(board)
    play(position, board, "a4c5 a8a1 c5a4")
    assert not position.upcoming_repetition(4)


# Other cores ----------------------------------------------------------------------------------------------


def check_core() -> list[bool]:
    """As much of each check as a slow core can do; whether it has found enough to compare."""
    return [
        check_games(1, 4, 60, False) > 100,
        check_games(1, 4, 60, True) > 100,
        check_repetitions(12) > 10,
    ]


@pytest.mark.parametrize("core", [name for name in ALL_CORES if name != load().name])
def test_the_other_cores(core: str) -> None:
    assert all(on_core(core_or_skip(core), __name__, "check_core"))
