"""A line of moves, with what it wins for one side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import chess

from uci_engine.game_analysis.boards import (
    best_capture,
    board_after,
    captured_square,
    gain_of,
    material_balance,
    numbered,
    positions,
)

# The same move so many plies later in the other line is another matter.
SAME_WITHIN = 3


@dataclass(frozen=True, slots=True)
class Win:
    """A capture or promotion at a profit: its ply, what it is worth in pawns with the exchange that follows, and the
    square of what is taken; of the promotion where nothing is.
    """

    ply: int
    worth: int
    square: chess.Square


class Line:
    """A line from a board, and the side that profits from it.

    Where that side may draw by a check or take something at the end, it does. `boards[i]` is the position
    before `moves[i]`, and the last one that after the line. `searched`: its moves without one that was added.
    """

    def __init__(self, board: chess.Board, moves: Sequence[chess.Move], winner: chess.Color) -> None:
        self.winner = winner
        self.moves = list(moves)
        self.boards = positions(board, moves)
        self.searched = len(moves)
        end = self.end
        if len(self.moves) < 2 or end.is_game_over() or end.is_repetition(2):
            return
        best = self._repeating_move() or (best_capture(end)[1] if end.turn == self.winner else None)
        if best is not None:
            self.moves.append(best)
            self.boards.append(board_after(end, [best]))

    def _repeating_move(self) -> chess.Move | None:
        """A check of the side that is behind, or an answer to one, by which a position of the line comes again."""
        end = self.end
        is_own = end.turn == self.winner
        if self.balance(len(self.moves)) >= 0 or not (is_own or end.is_check()):
            return None
        earlier = {board._transposition_key() for board in self.boards}
        moves = [move for move in end.legal_moves if not is_own or end.gives_check(move)]
        return next((move for move in moves if board_after(end, [move])._transposition_key() in earlier), None)

    @property
    def end(self) -> chess.Board:
        return self.boards[-1]

    def name(self, ply: int) -> str:
        """A move of the line, numbered."""
        return numbered(self.boards[ply], self.moves[ply])

    def own_plies(self) -> range:
        """The indices of the moves of the side that profits."""
        return range(0 if self.boards[0].turn == self.winner else 1, len(self.moves), 2)

    def is_taken_back(self, ply: int) -> bool:
        """Whether the next move of the line takes what has just moved."""
        return [reply.to_square for reply in self.moves[ply + 1 : ply + 2]] == [self.moves[ply].to_square]

    def takes_as_soon(self, other: Line, ply: int, square: chess.Square) -> bool:
        """Whether this line takes what another one takes on a square at this ply, about as soon, and keeps it."""
        plies = range(min(ply + SAME_WITHIN, len(self.moves)))
        same = [at for at in plies if self.boards[at].piece_at(square) == other.boards[ply].piece_at(square)]
        return any(self.moves[at].to_square == square and not self.is_taken_back(at) for at in same)

    def quiet_plies(self, first: int, end: int) -> list[int]:
        """The indices of its moves from `first` to before `end` that neither give or answer check nor take anything."""
        own = [ply for ply in self.own_plies() if first <= ply < end and not self.boards[ply].is_check()]
        return [i for i in own if not (self.boards[i + 1].is_check() or self.boards[i].is_capture(self.moves[i]))]

    def balance(self, ply: int) -> int:
        """The material of the side that profits minus the other's before this move, in pawns."""
        return material_balance(self.boards[ply], self.winner)

    def gain(self) -> int:
        """What the line wins, in pawns, after the best capture of the side to move at its end."""
        return self._settled(chess.BB_ALL) - self.balance(0)

    @cached_property
    def settled(self) -> int:
        """The ply by which to count what the line wins: late in it, with no capture that wins anything.

        Of such plies in its last third, sorted by the winner's balance, it is that at the lower quartile.
        """
        end = self.searched
        plies = range(max(2 * end // 3, 1), end + 1)
        settled = [ply for ply in plies if best_capture(self.boards[ply])[1] is None]
        return sorted(settled or [end], key=self.balance)[len(settled) // 4]

    def wins(self) -> list[Win]:
        """The captures and promotions at a profit, most valuable first. An exchange on one square is one of them."""
        wins = []
        ply = 0
        while ply < len(self.moves):
            following, square = ply + 1, self.moves[ply].to_square
            if gain_of(self.boards[ply], self.moves[ply]):
                while following < len(self.moves) and self.moves[following].to_square == square:
                    following += 1
            own = [i for i in range(ply, following) if i in self.own_plies() and gain_of(self.boards[i], self.moves[i])]
            is_last = following == len(self.moves)
            after = self._settled(chess.BB_SQUARES[self.moves[-1].to_square]) if is_last else self.balance(following)
            worth = after - self.balance(ply)
            if own and worth >= 1:
                wins.append(Win(own[0], worth, captured_square(self.boards[own[0]], self.moves[own[0]])))
            ply = following
        return sorted(wins, key=lambda win: (-win.worth, win.ply))

    def _settled(self, squares: chess.Bitboard) -> int:
        """The balance at the end, where the side to move may still take something on these squares."""
        gain, _ = best_capture(self.end, squares)
        return self.balance(len(self.moves)) + gain * (1 if self.end.turn == self.winner else -1)

    def where_was(self, square: chess.Square, after: int, before: int) -> chess.Square:
        """Where the piece stood before move `before` that stands on a square before move `after`, both indices."""
        for ply in range(after - 1, before - 1, -1):
            if self.moves[ply].to_square == square:
                square = self.moves[ply].from_square
        return square
