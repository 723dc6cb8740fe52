"""Repetitions one move away: the table of moves by difference of keys, and the question that the search asks."""

from __future__ import annotations

import random

import chess
import chess.polyglot

from tests.support.kernel import new_position, random_game, start_board
from uci_engine.board import moves
from uci_engine.core import load


def cuckoo_move(difference: int) -> int:
    return int(load().modules["uci_engine.board.position"].cuckoo_move(difference))


def test_every_reversible_move_is_found_by_its_difference() -> None:
    empty = chess.Board.empty()
    base = chess.polyglot.zobrist_hash(empty)
    found = 0
    for piece_type in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING):
        for colour in chess.COLORS:
            for origin in chess.SQUARES:
                board = chess.Board.empty()
                board.set_piece_at(origin, chess.Piece(piece_type, colour))
                before = chess.polyglot.zobrist_hash(board) ^ base
                for target in board.attacks(origin):
                    other = chess.Board.empty()
                    other.turn = chess.BLACK
                    other.set_piece_at(target, chess.Piece(piece_type, colour))
                    move = cuckoo_move(before ^ base ^ chess.polyglot.zobrist_hash(other))
                    assert {move & 63, move >> 6} == {origin, target}
                    found += 1
    # Each of the 3668 entries serves both directions.
    assert found == 2 * 3668


def test_other_differences_are_not_found() -> None:
    generator = random.Random(1)
    assert not any(cuckoo_move(generator.getrandbits(64)) for _ in range(10000))


def test_as_python_chess_finds_it_in_random_games() -> None:
    seen = 0
    for number in range(12):
        start = start_board(number, False)
        position = new_position(start)
        keys: list[int] = []
        previous: chess.Board | None = None
        for board in random_game(number, start, 80):
            if previous is not None:
                position.make(moves.encode(previous, board.peek()))
            keys.append(chess.polyglot.zobrist_hash(board))
            previous = board.copy()
            ply = len(keys) - 1
            # Positions inside the search: the root and whatever stood before do not count.
            inside = set(keys[1:])
            reachable = False
            for move in board.legal_moves:
                if board.is_zeroing(move) or board.is_castling(move):
                    continue
                if board.clean_castling_rights() != _rights(board, move):
                    continue
                board.push(move)
                reachable = reachable or chess.polyglot.zobrist_hash(board) in inside
                board.pop()
            assert position.upcoming_repetition(ply) is reachable, board.fen()
            seen += reachable
    assert seen > 0


def _rights(board: chess.Board, move: chess.Move) -> int:
    after = board.copy(stack=False)
    after.push(move)
    return int(after.clean_castling_rights())
