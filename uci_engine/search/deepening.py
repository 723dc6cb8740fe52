"""Iterative deepening: one depth after another, aspiration windows, several lines, when to stop, what to report.

`team_search` and `bench` make a `Deepening` for each search and run it; the core searches one depth at a time. Written
once for both cores. What must stay true: the best move is always a legal move of the request, also when the search is
stopped before its first node; an interrupted iteration counts only as far as its moves were finished; and without a
clock the outcome depends on nothing but the request, the table and the histories.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import Core
from uci_engine.search.analysis import Scout
from uci_engine.search.info import Bound, Info
from uci_engine.search.parameters import MATING, NORMAL
from uci_engine.search.root_moves import Line, Window
from uci_engine.tablebases.root_ranking import Probing, RootRanking
from uci_engine.time_management.allocation import TIME_DEFAULTS, TimeParameters
from uci_engine.time_management.clock import Clock

DEEPEST = scores.DEEPEST
ASPIRATION_DEPTH = 4
# Bounds of a window that failed are worth a line only in a long search.
REPORT_BOUNDS_AFTER_MS = 3000.0
# What `go mate` looks at before it proves anything, so that there is a sensible move whatever comes out.
MATE_PREVIEW_DEPTH = 6
# A losing capture sorts behind everything that stays sound, in the order before the first search.
UNSOUND_CP = 1000


def new_searcher(core: Core, hash_mib: int, values: dict[str, int] | None = None) -> Any:
    """A searcher of this core with the default weights and a table of its own. Raises MemoryError."""
    return new_searcher_on(core.table_class(hash_mib), core, values)


def new_searcher_on(table: Any, core: Core, values: dict[str, int] | None = None) -> Any:
    """A searcher with the default weights on a table that it may share with others. Raises MemoryError."""
    from evaluation.weights import default_weights

    weights = default_weights()
    evaluator = core.modules["evaluation.evaluator"].Evaluator(weights)
    position = core.position_class(weights.piece_square())
    return core.searcher_class(position, evaluator, table, values)


@dataclass(frozen=True, slots=True)
class Request:
    """What to search: a board with its history, the root moves allowed (None: all), limits, and how to tell of it.

    A ranking that has tablebase_ranks has one for every allowed move: better ones are searched before worse, and a
    line's score is then what the tablebases say, unless the search has found a mate. `analysing`: root moves are
    scouted.
    """

    board: chess.Board
    root_moves: Sequence[chess.Move] | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    lines: int = 1
    show_wdl: bool = False
    ranking: RootRanking = field(default_factory=RootRanking)
    probing: Probing = field(default_factory=Probing)
    time_parameters: TimeParameters = TIME_DEFAULTS
    analysing: bool = False

    def set_probing(self, searcher: Any) -> None:
        """Have a searcher ask the tablebases as this request allows, and as far as its ranking has not told all."""
        most_pieces = 0 if self.ranking.complete else self.probing.most_pieces
        searcher.set_probing(most_pieces, self.probing.depth, self.probing.fifty_moves)


@dataclass(frozen=True, slots=True)
class _Finished:
    """A finished depth: for how many the best move has stayed, how far the score fell, the move's share of nodes."""

    depth: int = 0
    stable_for: int = 0
    score_drop_cp: int = 0
    effort: float = 0.0


class Deepening:
    """One search from the first iteration to the last. `run` blocks; `stop` may be called from any thread."""

    def __init__(
        self,
        searcher: Any,
        request: Request,
        clock: Clock,
        on_info: Callable[[Info], None],
        others: Sequence[Any] = (),
        on_depth: Callable[[int], None] = lambda depth: None,
        alone: bool = True,
    ) -> None:
        """Sets the searcher up at the request's position; it must not be running. The request has a legal move.

        The counts of `others`, searchers that run beside this one, are reported with its own; more of them may come
        while it runs. `on_depth` is called before each depth. `alone`: nobody else lets the scout look.
        """
        self._searcher = searcher
        self._request = request
        self._clock = clock
        self._on_info = on_info
        self._others = others
        self._on_depth = on_depth
        self._alone = alone
        self._stop_wanted = False
        # The depth that is being searched; the last one finished, and what tells whether it was enough.
        self._depth = 0
        self._finished = _Finished()
        self._window_cp = searcher.aspiration_window_cp
        board = request.board
        searcher.position.set_board(board)
        searcher.begin(request.nodes or 0, NORMAL)
        request.set_probing(searcher)
        ranks = request.ranking.tablebase_ranks
        self._tablebase_ranks = {moves.encode(board, move): rank for move, rank in ranks.items()}
        allowed = board.legal_moves if request.root_moves is None else request.root_moves
        self._root = self._first_order([moves.encode(board, move) for move in allowed])
        # Searches never mix ranks: how far the moves go that stand no worse than each. (The best rank stands first.)
        order = [-self._rank(move) for move in self._root]
        self._rank_ends = [bisect_right(order, rank) for rank in order]
        searcher.set_root(self._root)
        self._lines = [Line([move]) for move in self._root[: max(1, request.lines)]]
        # Of several lines each has a window of its own as it is, and a mate is proved by trying everything.
        # Whoever has to mind a clock cannot spare the nodes.
        is_scouted = (
            request.analysing
            and request.lines == 1
            and request.mate is None
            and not clock.may_end_early
            and self._rank_ends[0] > 1
        )
        self.scout = Scout(board, self._root[: self._rank_ends[0]]) if is_scouted else None
        # A scout is using the searcher.
        self._looking_elsewhere = False

    def stop(self) -> None:
        """End the search soon."""
        self._stop_wanted = True
        self._searcher.stop()

    @property
    def best(self) -> chess.Move:
        """The best move so far; always legal."""
        return self._move(self._lines[0].moves[0])

    @property
    def ponder(self) -> chess.Move | None:
        """The reply expected to the best move, if there is one. Not while `run` is running."""
        line = self._lines[0].moves
        reply = line[1] if len(line) > 1 else self._searcher.expected_reply(line[0])
        return self._move(reply) if reply else None

    @property
    def score(self) -> int:
        """The best line's score, from the view of the side to move at the root."""
        return self._shown(self._lines[0])[0]

    @property
    def line(self) -> Line:
        """The best line so far."""
        return self._lines[0]

    def adopt(self, line: Line) -> None:
        """Answer with the best line of another search of the same request. Not while `run` is running."""
        self._lines[0] = line

    def adopt_find(self) -> None:
        """Answer with what a scout has found, if it is clearly better. Not while `run` is running."""
        if self.scout is not None:
            self.scout.challenge(self._lines[0])
            self.adopt(self.scout.find() or self.scout.last_find() or self._lines[0])

    @property
    def nodes(self) -> int:
        """Positions looked at so far, by this search alone."""
        return int(self._searcher.nodes)

    @property
    def all_nodes(self) -> int:
        """Positions looked at so far, by this search and the others beside it."""
        return self.nodes + sum(int(other.nodes) for other in self._others)

    @property
    def candidates(self) -> list[int]:
        """The root's moves of the best rank, in the order found so far."""
        moves: list[int] = self._searcher.root()
        return moves[: self._rank_ends[0]]

    def run(self) -> None:
        """Search until the request is fulfilled, the clock says enough, or `stop`."""
        self._searcher.table.new_search()
        if self._request.mate is not None:
            self._prove_mate(self._request.mate)
        else:
            self._deepen(min(self._request.depth or DEEPEST, DEEPEST))

    def report_current_move(self) -> None:
        """Say which root move is being searched. Called while `run` runs, from another thread."""
        number = self._searcher.current_number
        if number and not self._looking_elsewhere:
            move = self._move(self._searcher.current_move)
            self._on_info(Info(depth=self._depth, currmove=self._text(move), currmovenumber=number))

    def report(self, line_number: int = 1) -> None:
        """Report a line as it stands now, with the nodes and the time of now."""
        line = self._lines[line_number - 1]
        searcher = self._searcher
        elapsed_ms = max(self._clock.elapsed_ms(), 0.0)
        known = line.depth > 0
        nodes = self.all_nodes
        table_hits = searcher.table_hits + sum(other.table_hits for other in self._others)
        score, bound = self._shown(line)
        self._on_info(
            Info(
                depth=line.depth,
                seldepth=line.seldepth if known else None,
                multipv=line_number,
                score=score if known else searcher.evaluate(),
                bound=bound,
                wdl=scores.win_draw_loss(score) if known and self._request.show_wdl else None,
                nodes=nodes,
                nps=int(nodes * 1000 / max(elapsed_ms, 0.001)),
                hashfull=searcher.table.hashfull(),
                tbhits=table_hits + self._request.ranking.hits,
                time_ms=int(elapsed_ms),
                pv=tuple(self._text(self._move(move)) for move in line.moves),
            )
        )

    # Iterations ----------------------------------------------------------------------------------------------------

    def _deepen(self, depth_limit: int) -> None:
        stable_for = 0
        for depth in range(1, depth_limit + 1):
            self._depth = depth
            self._on_depth(depth)
            before = self._lines
            finished = self._iterate(depth)
            if self.scout is not None:
                self.scout.challenge(self._lines[0])
            if not finished:
                # Lines that have another place now; the first is told of at the end, when the move is chosen.
                for number, line in enumerate(self._lines[1:], start=2):
                    if line is not before[number - 1]:
                        self.report(number)
                return
            for number in range(1, len(self._lines) + 1):
                self.report(number)
            stable_for = stable_for + 1 if self._lines[0].moves[0] == before[0].moves[0] else 0
            drop_cp = before[0].score - self._lines[0].score
            self._finished = _Finished(depth, stable_for, drop_cp, self._searcher.best_share / 1000)
            if self._stop_wanted or self._searcher.stopped or self.is_enough():
                return
            if self.scout is not None and depth < depth_limit:
                self._ask(self.scout)

    def _iterate(self, depth: int) -> bool:
        """Search one depth for every line wanted; False when it was interrupted."""
        before, self._lines = self._lines, list(self._lines)
        finished = True
        number = 0
        while finished and number < len(self._lines):
            finished = self._search_line(depth, number)
            number += 1
        # Lines of this depth first, by rank and score; after an interruption older lines fill up what is missing.
        done = (line for line in self._lines if line.depth == depth)
        new = sorted(done, key=lambda line: (self._rank(line.moves[0]), line.score), reverse=True)
        taken = {line.moves[0] for line in new}
        self._lines = (new + [line for line in before if line.moves[0] not in taken])[: len(before)]
        return finished

    def _search_line(self, depth: int, number: int) -> bool:
        """Search for the best root move that no better line of this depth has; False when interrupted.

        The window is narrow around the last score, and is opened on the side where it fails.
        """
        searcher = self._searcher
        last = self._lines[number]
        window = Window(last, self._window_cp, depth >= ASPIRATION_DEPTH)
        while True:
            score = searcher.search_root(depth, window.alpha, window.beta, number, self._rank_ends[number])
            if searcher.root_done and score > window.alpha:
                bound = Bound.LOWER if score >= window.beta else Bound.EXACT
                self._lines[number] = Line(searcher.line(), score, depth, searcher.seldepth, bound)
            if searcher.stopped:
                return False
            if window.holds(score):
                return True
            if score >= window.beta and self._clock.elapsed_ms() > REPORT_BOUNDS_AFTER_MS:
                self.report(number + 1)
            window.widen(score)

    def _ask(self, scout: Scout) -> None:
        """What a scout has found is the best line from now on, and so comes first in the next depth."""
        searcher = self._searcher
        order = searcher.root()
        if self._alone:
            self._looking_elsewhere = True
            scout.look(searcher, scout.due(searcher.nodes))
            self._looking_elsewhere = False
        find = scout.find()
        if find is not None:
            self._lines[0] = find
            self.report()
            order.remove(find.moves[0])
            order.insert(0, find.moves[0])
        searcher.set_root(order)

    def is_enough(self) -> bool:
        """Whether the last depth and the clock say that the move may be played. May be called from any thread."""
        last = self._finished
        if last.depth == 0 or not self._clock.may_end_early:
            return False
        best = self._lines[0]
        if len(self._lines) == self._rank_ends[0] == 1:
            return True
        if scores.is_mate(best.score) and last.depth > 2 * abs(scores.mate_in_moves(best.score)) + 2:
            return True
        share = self._request.time_parameters.share(last.depth, last.stable_for, last.score_drop_cp, last.effort)
        return self._clock.soft_reached(share)

    def _first_order(self, numbers: list[int]) -> list[int]:
        """Root moves before anything was searched: the table's move, then by the static score after each."""
        searcher = self._searcher
        position = searcher.position
        known = searcher.table.probe(position.key) & 0xFFFF

        def promise(move: int) -> tuple[int, bool, int, int]:
            sound = position.see_at_least(move, 0)
            position.make(move)
            value = -searcher.evaluate() - (0 if sound else UNSOUND_CP)
            position.unmake(move)
            return self._rank(move), move == known, value, move

        return sorted(numbers, key=promise, reverse=True)

    # Tablebases ----------------------------------------------------------------------------------------------------

    def _rank(self, move: int) -> int:
        """A root move's rank in the tablebases; without them, all are equal."""
        return self._tablebase_ranks[move].rank if move in self._tablebase_ranks else 0

    def _shown(self, line: Line) -> tuple[int, Bound]:
        """The score of a line, and what it bounds."""
        tablebase_rank = self._tablebase_ranks.get(line.moves[0])
        if tablebase_rank is None or tablebase_rank.score is None or not line.depth or scores.is_mate(line.score):
            return line.score, line.bound
        return tablebase_rank.score, Bound.EXACT

    # Mates ---------------------------------------------------------------------------------------------------------

    def _prove_mate(self, most_moves: int) -> None:
        """Prove or refute a mate in at most so many moves, the shortest first, by trying every answer."""
        self._deepen(min(MATE_PREVIEW_DEPTH, 2 * most_moves))
        searcher = self._searcher
        searcher.set_profile(MATING)
        for count in range(1, min(most_moves, DEEPEST // 2) + 1):
            depth = 2 * count - 1
            score = searcher.search_root(depth, scores.MATE - 2 * count, scores.INFINITE, 0)
            if searcher.root_done and score >= scores.MATE - depth:
                self._lines = [Line(searcher.line(), score, depth, searcher.seldepth)]
                self.report()
                return
            if searcher.stopped:
                return
        self._on_info(Info(string=f"there is no mate in {most_moves}"))

    def _move(self, number: int) -> chess.Move:
        return moves.decode(number, self._request.board.chess960)

    @staticmethod
    def _text(move: chess.Move) -> str:
        return move.uci()
