"""A line of moves with what it wins for one side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from uci_engine.game_analysis.boards import board_after, material_balance, positions
from uci_engine.game_analysis.tactics.attacks import captured_square, exchange, gain_of, with_turn


@dataclass(frozen=True, slots=True)
class Win:
    """A capture or promotion at a profit: its ply, what it is worth in pawns with the exchange that follows, and the
    square of what is taken; of the promotion where nothing is.
    """

    ply: int
    worth: int
    square: chess.Square


class Line:
    """A line from a board, and the side that profits from it. Where that side may take something at the end, it does.

    `boards[i]` is the position before `moves[i]`, and the last one that after the line.
    """

    def __init__(self, board: chess.Board, moves: Sequence[chess.Move], winner: chess.Color) -> None:
        self.winner = winner
        self.moves = list(moves)
        self.boards = positions(board, moves)
        self._take_at_the_end()

    def _take_at_the_end(self) -> None:
        end = self.boards[-1]
        if end.turn != self.winner or len(self.moves) < 2 or self.result != "":
            return
        captures = [(exchange(end, move), move.uci(), move) for move in list(end.generate_legal_captures())]
        if captures and max(captures)[0] >= 1:
            self.moves.append(max(captures)[2])
            self.boards.append(board_after(end, self.moves[-1:]))

    @property
    def end(self) -> chess.Board:
        return self.boards[-1]

    @property
    def result(self) -> str:
        """How the line ends the game: `mate`, `stalemate`, `repetition`, `material`, or "" where it does not."""
        end = self.end
        if end.is_checkmate():
            return "mate"
        if end.is_stalemate():
            return "stalemate"
        if end.is_insufficient_material():
            return "material"
        return "repetition" if self.moves and end.is_repetition(2) else ""

    def own_plies(self) -> range:
        """The indices of the moves of the side that profits."""
        return range(0 if self.boards[0].turn == self.winner else 1, len(self.moves), 2)

    def balance(self, ply: int) -> int:
        """The material of the side that profits minus the other's before this move, in pawns."""
        return material_balance(self.boards[ply], self.winner)

    def gain(self) -> int:
        """What the line wins, in pawns, after the best capture of the side to move at its end."""
        end = with_turn(self.end, self.end.turn)
        best = max((exchange(end, move) for move in list(end.generate_legal_captures())), default=0)
        settled = self.balance(len(self.moves)) + max(0, best) * (1 if end.turn == self.winner else -1)
        return settled - self.balance(0)

    def wins(self) -> list[Win]:
        """The captures and promotions at a profit, most valuable first. An exchange on one square is one of them."""
        wins = []
        ply = 0
        while ply < len(self.moves):
            last = self._last_of_exchange(ply)
            own = [i for i in range(ply, last + 1) if i in self.own_plies() and gain_of(self.boards[i], self.moves[i])]
            if own:
                worth = self.balance(last + 1) - self.balance(ply)
                if last + 1 == len(self.moves):
                    worth = self._settled(ply)
                if worth >= 1:
                    best = own[0]
                    wins.append(Win(best, worth, captured_square(self.boards[best], self.moves[best])))
            ply = last + 1
        return sorted(wins, key=lambda win: (-win.worth, win.ply))

    def _settled(self, ply: int) -> int:
        """The worth of an exchange that begins at this ply and reaches the end, where the other side may take back."""
        end = self.end.copy(stack=False)
        square = self.moves[-1].to_square
        captures = end.generate_legal_captures(to_mask=chess.BB_SQUARES[square])
        best = max((exchange(end, move) for move in list(captures)), default=0)
        sign = 1 if end.turn == self.winner else -1
        return self.balance(len(self.moves)) + sign * max(0, best) - self.balance(ply)

    def _last_of_exchange(self, ply: int) -> int:
        """The last of the captures on one square that begin with this ply; the ply itself where it takes nothing."""
        last = ply
        if not gain_of(self.boards[ply], self.moves[ply]):
            return ply
        while last + 1 < len(self.moves):
            following = self.moves[last + 1]
            is_capture = self.boards[last + 1].is_capture(following)
            if not is_capture or following.to_square != self.moves[ply].to_square:
                break
            last += 1
        return last

    def where_was(self, square: chess.Square, after: int, before: int) -> chess.Square:
        """Where the piece stood before move `before` that stands on a square before move `after`, both indices."""
        for ply in range(after - 1, before - 1, -1):
            if self.moves[ply].to_square == square:
                square = self.moves[ply].from_square
        return square
