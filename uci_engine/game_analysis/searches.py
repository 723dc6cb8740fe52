"""What the engine is asked: single searches within one limit, and the searches of a whole game.

A game is searched from its last position to its first, and then again where the errors are. The transposition table is
kept, so what a later position has shown reaches the moves before it. Most of the effort for a move goes into a search
of the position. A little goes into a search of the other moves, where the move played may be the only one. The rest is
for second looks at the errors, from the last to the first: the positions before and after them are searched again.

Invariant: a mate is stated only where searches proved it. For the side that mates one move is enough. The other side is
mated only where all its moves were searched, and not because the move that it played allows a mate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import chess
from chess.engine import InfoDict, Limit

from uci_engine.game_analysis.boards import board_after, is_obvious
from uci_engine.game_analysis.judgement import (
    DRAWN,
    MAX_LINE_PLIES,
    WON,
    Found,
    SearchedMove,
    Value,
    final_value,
    value_of,
)

# A shorter line of an error is made longer by so many short searches, so that it shows the reason.
LEAST_LINE_PLIES = 6
MAX_EXTENSIONS = 3
EXTENSION = Limit(nodes=2000)
# The shares of the effort for a move: for the search of the position, and for that of all moves but the one played.
MAIN_SHARE = 0.7
OTHERS_SHARE = 0.1
# A loss that is or may become an error gets a second look. Each of its searches takes between these shares: with less
# a search would not come deeper than the first one.
SUSPICION = 0.05
LEAST_SECOND_SHARE = 1.0
MOST_SECOND_SHARE = 3.0


class Analyser(Protocol):
    """What searches: `uci_engine.api.Engine`, or a double of it in tests."""

    def analyse(
        self, board: chess.Board, limit: Limit, *, game: object = ..., root_moves: Any = ..., multipv: Any = ...
    ) -> Any:
        """Search a position, and return the last report, or with `multipv` one for each line."""

    def probe_tablebases(self, board: chess.Board) -> int | None:
        """The result by the tablebases, 2 (win) to -2 (loss) for the side to move; None if not in them."""

    def human(self, board: chess.Board, rating: float) -> dict[chess.Move, float]:
        """How likely people of a rating are to play each legal move; none of promotions to less than a queen."""


def found_by(board: chess.Board, info: InfoDict) -> Found:
    """The result that the last report of the search of a position gives.

    A search that was cut before its first report knows nothing: its result is a draw, without a line.
    """
    if "score" not in info:
        return Found(DRAWN)
    value = value_of(info["score"].white(), chess.popcount(board.occupied))
    return Found(value, info.get("depth", 0), info.get("nodes", 0), tuple(info.get("pv", ())))


# Finds the best line of a position, of all or of some moves; an empty line where no search is left.
Finder = Callable[[chess.Board, Sequence[chess.Move] | None], Found]


def nothing_found(board: chess.Board, moves: Sequence[chess.Move] | None) -> Found:
    """The finder that searches nothing."""
    return Found(DRAWN)


class Searches:
    """The searches of one question, which share a limit and what they learn.

    `nodes` counts those of all searches. A search for which nothing is left has the depth of 1.
    """

    def __init__(self, analyser: Analyser, limit: Limit | None = None) -> None:
        """`limit`: the time or the nodes for all of them, or the depth of each; None is no limit."""
        self._analyser = analyser
        self.human = analyser.human
        self._limit = limit or Limit()
        self._began = time.perf_counter()
        self.nodes = 0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def left(self) -> Limit | None:
        """The limit that gives a search all that is left, None if nothing is. A depth is for each search."""
        whole = self._limit
        seconds = None if whole.time is None else whole.time - self.seconds
        nodes = None if whole.nodes is None else whole.nodes - self.nodes
        if any(value is not None and value <= 0 for value in (seconds, nodes)):
            return None
        return Limit(time=seconds, nodes=nodes, depth=whole.depth)

    def find(self, board: chess.Board, limit: Limit, moves: Sequence[chess.Move] | None = None) -> Found:
        """The best line of a position, of all or of some moves, within what is left."""
        info = self._analyser.analyse(board, self._within(limit), game=self, root_moves=moves)
        self.nodes += info.get("nodes", 0)
        return found_by(board, info)

    def best_lines(self, board: chess.Board, limit: Limit, count: int) -> list[Found]:
        """The lines of so many moves, best first; fewer where the search was cut."""
        infos = self._analyser.analyse(board, self._within(limit), game=self, multipv=count)
        # With MultiPV the first line counts the nodes of the whole search.
        self.nodes += infos[0].get("nodes", 0) if infos else 0
        return [found_by(board, info) for info in infos]

    def _within(self, limit: Limit) -> Limit:
        left = self.left()
        if left is None:
            return Limit(depth=1)
        return replace(
            limit,
            time=min((each for each in (limit.time, left.time) if each is not None), default=None),
            nodes=min((each for each in (limit.nodes, left.nodes) if each is not None), default=None),
        )

    def extended(self, board: chess.Board, found: Found, limit: Limit) -> Found:
        """The same with its line made longer by short searches, if it is too short to show anything."""
        line = found.line
        for _ in range(MAX_EXTENSIONS):
            end = board_after(board, line)
            if len(line) >= LEAST_LINE_PLIES or not line or final_value(end, claims=True) is not None:
                break
            line += self.find(end, limit).line[: MAX_LINE_PLIES - len(line)]
        return replace(found, line=line)

    def finder(self, limit: Limit, extension: Limit) -> Finder:
        """Searches of this limit, whose lines are `extended`. They find nothing where nothing is left."""

        def find(board: chess.Board, moves: Sequence[chess.Move] | None) -> Found:
            if self.left() is None:
                return Found(DRAWN)
            return self.extended(board, self.find(board, limit, moves), extension)

        return find

    def tablebase_verdict(self, board: chess.Board) -> str:
        """What the tablebases say of a position, "" where they say nothing."""
        result = None if final_value(board) is not None else self._analyser.probe_tablebases(board)
        if result is None:
            return ""
        if result == 0:
            return "draw"
        winner = "White" if (result > 0) == board.turn else "Black"
        return f"{winner} wins" if abs(result) == 2 else f"draw by the fifty-move rule ({winner} would win)"


def share_of(limit: Limit, share: float) -> Limit:
    """The limit of a search that takes this share of a time or of nodes. A depth is not shared."""
    return Limit(
        time=None if limit.time is None else limit.time * share,
        nodes=None if limit.nodes is None else max(1, round(limit.nodes * share)),
        depth=limit.depth,
    )


def limit_text(limit: Limit) -> str:
    """The limit for each move of a game, which has one of a time, nodes and a depth, in words."""
    if limit.time is not None:
        return f"{limit.time:g} s a move"
    return f"{limit.nodes} nodes a move" if limit.nodes is not None else f"depth {limit.depth}"


# The searches of a game ----------------------------------------------------------------------------------------------


def search_game(
    analyser: Analyser,
    boards: Sequence[chess.Board],
    moves: Sequence[chess.Move],
    limit: Limit,
    on_position: Callable[[float], None] = lambda share: None,
) -> tuple[list[Found], list[SearchedMove]]:
    """Search every position of a game. Returns what was found in each, and for each move.

    `boards`: the `positions` of the moves. `limit`: the effort for each move, a time, nodes or a depth.
    `on_position` is told after each position what share of them it is. ValueError: the engine refuses one.
    """
    game = _Game(analyser, boards, moves, limit)
    game.search_backwards(on_position)
    if limit.depth is None:
        game.look_again()
    return game.found, [game.searched(index) for index in range(len(moves))]


class _Game:
    """The searches of a game. `found` has what is known of each position, the most reliable."""

    def __init__(
        self, analyser: Analyser, boards: Sequence[chess.Board], moves: Sequence[chess.Move], limit: Limit
    ) -> None:
        self._searches = Searches(analyser)
        self._limit = limit
        self._moves = moves
        self._boards = boards
        self.found = [Found(DRAWN)] * len(boards)
        # By the last search of all moves of each position. `found` may come from a deeper search of a later position,
        # and have a smaller value.
        self._own = [Found(DRAWN)] * len(boards)
        self._others: dict[int, Value] = {}
        # What the searches have not taken yet, in efforts for a move.
        self._left_over = 0.0

    def search_backwards(self, on_position: Callable[[float], None]) -> None:
        for index in range(len(self._moves), -1, -1):
            self._left_over += 1
            self._look_at(index, MAIN_SHARE)
            if index < len(self._moves):
                self._take_from_next(index)
                if self.searched(index).is_best and self._may_be_only_move(index):
                    others = self._search_others(index, self._moves[index])
                    if others is not None:
                        self._others[index] = others.value
            on_position(1 / len(self._boards))

    def look_again(self) -> None:
        """Search the worst errors once more, as many as what is left over reaches for, from the last to the first."""
        affordable = round(self._left_over / (2 * LEAST_SECOND_SHARE))
        worst = sorted(range(len(self._moves)), key=self._loss, reverse=True)[:affordable]
        suspects = sorted(index for index in worst if self._loss(index) >= SUSPICION)
        while suspects:
            share = min(self._left_over / (2 * len(suspects)), MOST_SECOND_SHARE)
            index = suspects.pop()
            self._look_at(index, share)
            self._look_at(index + 1, share)
            # What was found reaches the positions before it.
            for before in range(min(index + 1, len(self._moves) - 1), -1, -1):
                self._take_from_next(before)

    def _look_at(self, index: int, share: float) -> None:
        """Search a position, and keep what is found if it is not less deep than what was found before."""
        found, own = self._search(index, share), self._own[index]
        if found.depth >= own.depth:
            self.found[index] = self._own[index] = found

    def searched(self, index: int) -> SearchedMove:
        return SearchedMove(self.found[index], self._played(index), self._others.get(index))

    def _played(self, index: int) -> Found:
        after = self.found[index + 1]
        value = after.value.backed_up(self._boards[index].turn)
        return Found(value, after.depth + 1, after.nodes, (self._moves[index], *after.line))

    def _loss(self, index: int) -> float:
        return self.searched(index).loss_for(self._boards[index].turn)

    def _take_from_next(self, index: int) -> None:
        """Give the value after the move played to the position before it, if that is its best move.

        If that move allows a mate, the other moves decide what the position is worth. They are searched, unless a
        search of all moves has shown a mate.
        """
        board, here, played = self._boards[index], self.found[index], self._played(index)
        mover = board.turn
        is_better = played.value.order_for(mover) >= here.value.order_for(mover)
        if here == played or not (is_better or here.move in (None, self._moves[index])):
            return
        if played.value.mate_for(not mover) is not None and board.legal_moves.count() > 1:
            if self._own[index].value.mate_for(not mover) is None:
                others = self._search_others(index, self._moves[index])
                if others is None:
                    return
                self.found[index] = self._own[index] = others
            if played.value.order_for(mover) < self._own[index].value.order_for(mover):
                return
        self.found[index] = played

    def _search_others(self, index: int, move: chess.Move) -> Found | None:
        """Search all moves but this one. None if nothing is left over for it, or nothing came of it."""
        if self._left_over < OTHERS_SHARE:
            return None
        allowed = [other for other in self._boards[index].legal_moves if other != move]
        others = self._search(index, OTHERS_SHARE, allowed)
        return others if others.line else None

    def _search(self, index: int, share: float, root_moves: list[chess.Move] | None = None) -> Found:
        self._left_over -= share
        board = self._boards[index]
        # A draw that a game goes on after was not claimed.
        value = final_value(board, claims=index == len(self._moves))
        if value is not None:
            return Found(value)
        # Of the moves before, only those that can be repeated matter. To replay all of them for each search takes time.
        root = board.copy(stack=board.halfmove_clock)
        return self._searches.find(root, share_of(self._limit, share), root_moves)

    def _may_be_only_move(self, index: int) -> bool:
        """Whether it is worth knowing what the other moves are worth: the game is open, the move not obvious."""
        board, move, value = self._boards[index], self._moves[index], self.found[index].value
        expected = value.expected_for(board.turn)
        if expected <= 1 - WON or value.mate_for(board.turn) == 1 or board.legal_moves.count() < 2:
            return False
        return not is_obvious(board, move)
