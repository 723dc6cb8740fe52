"""The game that the GUI sent, move by move, and the positions that it has repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import chess
import chess.polyglot

from uci_engine.board.validation import PositionError, play, read_fen

MAX_GAME_PLIES = 20_000
"""Longest move list that is played out; the longest possible game under the 75-move rule is shorter."""


class Game:
    """The game that the GUI sent: the board now, with the moves since its first position.

    `board` is None when the last position was refused. A search works on a copy, because the next moves are played on
    this board.
    """

    def __init__(self) -> None:
        self.board: chess.Board | None = chess.Board()
        self._fen: str | None = None
        self._chess960 = False
        self._moves: tuple[str, ...] = ()

    def set(self, fen: str | None, moves: Sequence[str], chess960: bool) -> list[str]:
        """Set up `fen` and play `moves` (None: the start position).

        Moves that were played before are not played again. Returns messages about repairs to a FEN that was newly
        read. Raises PositionError, and then holds no position.
        """
        board, self.board = self.board, None
        played = len(self._moves)
        if len(moves) > MAX_GAME_PLIES:
            raise PositionError(f"{len(moves)} moves are more than the {MAX_GAME_PLIES} a game may have")
        notes: list[str] = []
        continues = (fen, chess960) == (self._fen, self._chess960) and tuple(moves[:played]) == self._moves
        if board is None or not continues:
            played = 0
            if fen is None:
                board = chess.Board(chess960=chess960)
            else:
                board, notes = read_fen(fen, chess960)
        play(board, moves[played:])
        self.board, self._fen, self._chess960, self._moves = board, fen, chess960, tuple(moves)
        return notes


def seen_twice(board: chess.Board) -> frozenset[int]:
    """The keys of positions that were on the board twice, the current one included, and can still be repeated."""
    back = board.copy(stack=board.halfmove_clock)
    seen = Counter([chess.polyglot.zobrist_hash(back)])
    while back.move_stack and back.halfmove_clock:
        back.pop()
        seen[chess.polyglot.zobrist_hash(back)] += 1
    return frozenset(key for key, times in seen.items() if times >= 2)


def display(board: chess.Board) -> str:
    """The position as text: board, FEN, key and checkers."""
    checkers = " ".join(chess.square_name(square) for square in board.checkers()) or "none"
    lines = [f"{8 - index}  {row}" for index, row in enumerate(str(board).split("\n"))]
    lines += ["   a b c d e f g h", f"FEN {board.fen()}", f"Key {chess.polyglot.zobrist_hash(board):016X}"]
    return "\n".join([*lines, f"Checkers {checkers}"])
