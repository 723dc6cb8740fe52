"""What the engine is asked: single searches within one limit, and the verdicts on moves, of a game or of one question.

Verdicts are where moves are judged. A move that seems to be an error is looked at again, twice, each time longer; it is
one only where both say so, and costs what they find in the mean. One that seems to be the only good one is looked at
once more.

Invariant: a mate is stated only where searches proved it. For the side that mates one move is enough. The other side is
mated only where all its moves were searched, and not because the move that it played allows a mate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import chess
from chess.engine import InfoDict, Limit

from uci_engine.game_analysis.boards import board_after, is_obvious
from uci_engine.game_analysis.judgement import (
    DRAWN,
    MAX_LINE_PLIES,
    MISTAKE_LOSS,
    WON,
    Found,
    Judgement,
    Value,
    final_value,
    is_book_move,
    judge,
    value_of,
)

# A shorter line of an error is made longer by so many short searches, so that it shows the reason.
LEAST_LINE_PLIES = 6
MAX_EXTENSIONS = 3
EXTENSION = Limit(nodes=2000)
# The effort for a move of a game, where nothing else is said: about 0.2 s on one thread. It is in nodes, so that
# every machine finds the same marks.
MOVE_EFFORT = Limit(nodes=180_000)
# The share of it for each search of a first look, and how many times as long the searches of the looks after it are.
FIRST_SHARE = 0.25
AGAIN = (2, 8)
# The share for each search of an edit.
FOR_EDIT = 0.2
# The other moves of one that may be the only one get this part of a search.
OTHERS_SHARE = 0.25
# A loss that is or may become an error gets another look.
SUSPICION = 0.03


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
    return Found(value, info.get("depth", 0), tuple(info.get("pv", ())))


# Finds the best line of a position, of all or of some moves; an empty line where no search is left.
Finder = Callable[[chess.Board, Sequence[chess.Move] | None], Found]


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
        self._game = object()
        self.nodes = 0

    def forget(self) -> None:
        """Begin the next search with an empty table."""
        self._game = object()

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
        info = self._analyser.analyse(board, self._within(limit), game=self._game, root_moves=moves)
        self.nodes += info.get("nodes", 0)
        return found_by(board, info)

    def best_lines(self, board: chess.Board, limit: Limit, count: int) -> list[Found]:
        """The lines of so many moves, best first; fewer where the search was cut."""
        infos = self._analyser.analyse(board, self._within(limit), game=self._game, multipv=count)
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

    def extended(self, board: chess.Board, found: Found) -> Found:
        """The same with a longer line, by short searches while some are left, if it is too short to show anything."""
        line = found.line
        for _ in range(MAX_EXTENSIONS):
            end = board_after(board, line)
            is_long = len(line) >= LEAST_LINE_PLIES or final_value(end, claims=True) is not None
            if is_long or not line or self.left() is None:
                break
            line += self.find(end, EXTENSION).line[: MAX_LINE_PLIES - len(line)]
        return replace(found, line=line)

    def finder(self, limit: Limit) -> Finder:
        """Searches of this limit, whose lines are `extended`. They find nothing where nothing is left."""

        def find(board: chess.Board, moves: Sequence[chess.Move] | None) -> Found:
            if self.left() is None:
                return Found(DRAWN)
            return self.extended(board, self.find(board, limit, moves))

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


# Verdicts -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a look at a move has found, and what it makes of the move. Values are from White's view.

    `best` is the best move with its line, `played` the one played with what follows it, `after` what was found in the
    position after it. `others`: the best of the other moves, where the move played is the best and that was searched.
    """

    best: Found
    played: Found
    after: Found
    others: Value | None
    judgement: Judgement


class Verdicts:
    """Moves judged: the same verdict for whoever asks, with a game or a question, whatever was searched before.

    Each search begins with an empty table. A look at a move searches the position before it and the one after it.
    """

    def __init__(self, searches: Searches, limit: Limit) -> None:
        """`limit`: the effort for a move of a game."""
        self.searches = searches
        self.for_edit = share_of(limit, FOR_EDIT)
        self._first = share_of(limit, FIRST_SHARE)
        self._found: dict[tuple[object, ...], Found] = {}

    def of(self, board: chess.Board, move: chess.Move, *, is_last: bool, thorough: bool = False) -> Verdict:
        """What the looks at a move come to. `is_last`: it ends the game, in a draw if that can be claimed.

        With `thorough` a move without a mark has the last look, too, which gives it none.
        """
        verdict = self._look(board, move, 1, is_last)
        if verdict.judgement.mark.sign or verdict.judgement.loss >= SUSPICION:
            verdict = self._look(board, move, AGAIN[0], is_last)
        mark = verdict.judgement.mark
        if mark.is_error or (thorough and not mark.sign):
            last = self._look(board, move, AGAIN[1], is_last)
            if mark.is_error and last.judgement.mark.is_error:
                # Each counts by its length. The milder one alone would miss many a blunder.
                weighted = (times * look.judgement.loss for times, look in zip(AGAIN, (verdict, last), strict=True))
                return replace(last, judgement=judge(board, last.best, last.played, loss=sum(weighted) / sum(AGAIN)))
            verdict = min(last, verdict, key=lambda look: look.judgement.mark.gravity)
        return verdict

    def _look(self, board: chess.Board, move: chess.Move, times: float, is_last: bool) -> Verdict:
        color, here = board.turn, self.find(board, times)
        moved = board_after(board, [move])
        after = self.find(moved, times, is_end=is_last)
        value = after.value.backed_up(color)
        played = Found(value, after.depth + 1, (move, *after.line))
        rival = here
        if here.move in (None, move):
            loss = here.value.expected_for(color) - value.expected_for(color)
            is_mated = value.mate_for(not color) is not None and here.value.mate_for(not color) is None
            # The search of the position has not seen what the move allows.
            is_overlooked = is_mated or loss >= MISTAKE_LOSS
            share = 1 if is_overlooked else OTHERS_SHARE
            # A move may be the only one while the game is open, if it is not obvious.
            is_open = value.expected_for(color) > 1 - WON and value.mate_for(color) != 1
            is_asked = is_overlooked or (is_open and not is_obvious(board, move))
            rival = self.find(board, share * times, without=move) if is_asked else Found(DRAWN)
        is_best = not rival.line or value.order_for(color) >= rival.value.order_for(color)
        best, others = played if is_best else rival, rival.value if is_best and rival.line else None
        judgement = judge(board, best, played, others, is_book=is_book_move(board, moved))
        return Verdict(best=best, played=played, after=after, others=others, judgement=judgement)

    def find(
        self, board: chess.Board, times: float = 1, *, without: chess.Move | None = None, is_end: bool = False
    ) -> Found:
        """What a search of so many times the first limit finds, of all moves but one; no line where there is none.

        `is_end`: the game ends here. A draw that a game goes on after was not claimed.
        """
        value, moves = final_value(board, claims=is_end), [move for move in board.legal_moves if move != without]
        if value is not None or not moves:
            return Found(value or DRAWN)
        # Of the moves before, only those that can be repeated matter. To replay all of them for each search takes time.
        root = board.copy(stack=board.halfmove_clock)
        limit = share_of(self._first, times)
        key = (root.root().fen(), *root.move_stack, str(limit), without)
        if key not in self._found:
            self.searches.forget()
            self._found[key] = self.searches.find(root, limit, moves if without else None)
        return self._found[key]
