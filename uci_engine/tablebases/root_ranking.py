"""Root ranking: root moves ranked by the tablebases, once per `go`.

With Syzygy, a move ranks by WDL and then by DTZ. The win with the shortest distance to a capture, a pawn move or mate
ranks first. But a move that gives a piece away is a capture, and so counts as progress. Where such a move would rank
first, wins that are safe under the fifty-move rule rank equal, and the search chooses, unless a position has been
repeated. Of lost
moves the one with the longest DTZ ranks first.

Invariants: moves of different result never have equal rank. Tables that contradict each other, or fail, are dropped
with one message, and the search runs without them. Ranking respects its time limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import chess
import chess.syzygy

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.board.game import seen_twice
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.text import Message
from uci_engine.time_management import Clock

if TYPE_CHECKING:
    from uci_engine.board.position import Position

# Ranks: a win is WON minus its plies, a loss the negative of that, a draw 0. WON is far above any distance.
WON = 1 << 18
FIFTY_MOVES_PLIES = scores.FIFTY_MOVES_PLIES
# The maximum distance that scores distinguish.
MAX_SCORED_PLIES = scores.TABLEBASE_WIN - scores.TABLEBASE_BOUND
# Ranking may take this share of the hard limit, and never more than MAX_SECONDS. It always gets MIN_SECONDS, even after
# a stop: the compiled core needs less, so it knows the result on the shortest clock. If the time is too little for
# DTZ, moves are ranked by WDL.
TIME_SHARE = 0.5
MAX_SECONDS = 2.0
MIN_SECONDS = 0.05
# Some tables store DTZ in moves, so a DTZ may be one ply too small.
ROUNDING_PLIES = 1
WIN = 2  # as WDL


@dataclass(frozen=True, slots=True)
class TablebaseRank:
    """The rank of a root move: greater is better, and the search chooses among equals. `score`: to report, if known."""

    rank: int
    score: int | None


@dataclass(frozen=True, slots=True)
class RootRanking:
    """All allowed root moves with their ranks, or none; and messages for the user.

    `complete`: the search need not probe the tables. `hits`: the number of probes.
    """

    tablebase_ranks: Mapping[chess.Move, TablebaseRank] = field(default_factory=dict)
    complete: bool = False
    hits: int = 0
    messages: tuple[Message, ...] = ()


class ContradictionError(Exception):
    """Two tables, or two entries of one table, contradict each other."""


@dataclass(slots=True)
class RootRanker:
    """The ranking of the moves of a board. `position` is a scratch position. `stopped`: whether to end early."""

    tables: Tablebases
    position: Position
    board: chess.Board
    fifty_moves: bool
    clock: Clock
    stopped: Callable[[], bool]
    began_at: float = field(init=False)

    def rank(self, allowed: Sequence[chess.Move], probe_limit: int) -> RootRanking:
        """Rank the allowed moves of a board of at most `probe_limit` pieces."""
        self.began_at = time.perf_counter()
        messages = tuple(self.tables.drop_changed())
        pieces, most = chess.popcount(self.board.occupied), min(probe_limit, self.tables.prober.max_pieces)
        if self.board.castling_rights or pieces > most or len(allowed) < 2:
            return RootRanking(messages=messages)
        name = chess.syzygy.normalize_tablename(chess.syzygy.calc_key(self.board))
        try:
            return replace(self._ranked(allowed, name), messages=messages)
        except ContradictionError as error:
            self.tables.drop(name)
            return RootRanking(messages=(*messages, Message.error(f"Syzygy table {name} is used no more: {error}")))

    def _out_of_time(self) -> bool:
        # Reads the clock each time, because `ponderhit` changes it.
        seconds = time.perf_counter() - self.began_at
        is_over = seconds > MAX_SECONDS or self.stopped() or self.clock.hard_reached(TIME_SHARE)
        return is_over and seconds > MIN_SECONDS

    def _ranked(self, allowed: Sequence[chess.Move], name: str) -> RootRanking:
        """The ranking by the table of this name."""
        self.position.set_board(self.board)
        value = self.tables.probe_wdl(self.position)
        if value is None:
            return RootRanking()
        values: dict[chess.Move, int] = {}
        for move in self.board.legal_moves:
            if self._out_of_time():
                return RootRanking()
            with self._after_move(self.board, move):
                after = self.tables.probe_wdl(self.position)
            if after is None:
                return RootRanking()
            values[move] = -after
        hits = 1 + len(values)
        best = max(values.values())
        # A cursed win may become a win one move later, where the distance is shorter. Only the sign must be the same.
        if _sign(best) != _sign(value) or abs(best) < abs(value):
            raise ContradictionError("the WDL of a position differs from that of its best move")
        values = {move: values[move] for move in allowed}
        best = max(values.values())
        distances: Mapping[chess.Move, int] = {}
        search_chooses = False
        if best == 0:
            distances = {move: 0 for move, its_value in values.items() if its_value == 0}
        elif name in self.tables.dtz:
            repeated = seen_twice(self.board)
            distances = self._distances(values, repeated)
            hits += len(distances) + 1
            search_chooses = bool(distances) and best > 0 and not repeated and self._has_piece_to_spare()
        ranks: dict[chess.Move, TablebaseRank] = {}
        for move, its_value in values.items():
            if move in distances:
                clock = self.board.halfmove_clock
                ranks[move] = _tablebase_rank(distances[move], clock, self.fifty_moves, search_chooses)
            else:
                # A worse result, or no DTZ: rank by WDL only, and let the search choose.
                ranks[move] = TablebaseRank(its_value * WON if its_value >= 0 else (its_value - 2) * WON, None)
        return RootRanking(ranks, complete=bool(distances), hits=hits)

    def _distances(self, values: Mapping[chess.Move, int], repeated: frozenset[int]) -> Mapping[chess.Move, int]:
        """The DTZ of the moves with the best sign, negative for losses, 0 for a draw by repetition. Out of time: none.

        `repeated`: see `seen_twice`.
        """
        sign = _sign(max(values.values()))
        here = None if self._out_of_time() else self.tables.probe_dtz(self.position)
        if here is None:
            return {}
        found: dict[chess.Move, int] = {}
        for move in values:
            if _sign(values[move]) != sign:
                continue
            if self._out_of_time():
                return {}
            with self._after_move(self.board, move):
                if self.position.halfmove_clock == 0:
                    found[move] = chess.syzygy.WDL_TO_DTZ[values[move] + 2]
                elif repeated and self._repeats(move, repeated, sign):
                    found[move] = 0
                elif self.position.checkers and not self.position.legal_moves():
                    found[move] = 1
                else:
                    after = self.tables.probe_dtz(self.position)
                    if after is None:
                        return {}
                    found[move] = sign - after
        whole = len(values) == self.board.legal_moves.count() and 0 not in found.values()
        if whole and abs(min(found.values()) - here) > ROUNDING_PLIES:
            raise ContradictionError("the distance of a position differs from that of its best move")
        return found

    @contextmanager
    def _after_move(self, board: chess.Board, move: chess.Move) -> Iterator[None]:
        """Make the move of a board in the position, and unmake it at the end of the context."""
        number = moves.encode(board, move)
        self.position.make(number)
        try:
            yield
        finally:
            self.position.unmake(number)

    def _has_piece_to_spare(self) -> bool:
        """Whether the side to move wins without one of its pieces, too; False out of time. Changes the position."""
        board = self.board
        for square in chess.scan_forward(board.occupied_co[board.turn] & ~board.kings):
            fewer = board.copy(stack=False)
            fewer.remove_piece_at(square)
            if fewer.is_valid() and not self._out_of_time():
                self.position.set_board(fewer)
                if self.tables.probe_wdl(self.position) == WIN:
                    return True
        return False

    def _repeats(self, move: chess.Move, repeated: frozenset[int], sign: int) -> bool:
        """Whether a move, made in the position, repeats one for the third time, or lets the losing side do so."""
        if self.position.key in repeated or sign < 0:
            return self.position.key in repeated
        after = self.board.copy(stack=False)
        after.push(move)
        for reply in after.legal_moves:
            with self._after_move(after, reply):
                third = self.position.key in repeated
            if third:
                return True
        return False


def _tablebase_rank(distance: int, clock: int, fifty_moves: bool, search_chooses: bool) -> TablebaseRank:
    """The rank of a move by its DTZ, at halfmove clock `clock`. `search_chooses`: among wins that are safe."""
    plies = abs(distance) + clock
    if distance == 0:
        return TablebaseRank(0, scores.DRAW)
    cursed = fifty_moves and plies > FIFTY_MOVES_PLIES
    score = 1 if cursed else scores.TABLEBASE_WIN - min(plies, MAX_SCORED_PLIES)
    if distance < 0:
        return TablebaseRank(plies - WON, -score)
    is_safe = plies + ROUNDING_PLIES <= FIFTY_MOVES_PLIES
    return TablebaseRank(WON if is_safe and search_chooses else WON - plies, score)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
