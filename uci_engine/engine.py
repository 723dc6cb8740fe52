"""The engine without its protocol: options, the game so far, and one search at a time in a thread of its own.

`uci`, the command line and anything else that wants a move use it. What must stay true: every `go` is answered by
exactly one `on_best_move`, its move legal by python-chess; nothing but `stop` and `ponderhit` touches a running search;
and `engine` alone holds an answer back while pondering or in `infinite`, so that no early end of a search can leak it.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Sequence

import chess
import chess.polyglot

from uci_engine import __version__
from uci_engine import score as scores
from uci_engine.clock import Clock, Watch
from uci_engine.core import load, moves
from uci_engine.deepening import Deepening, Request, new_searcher
from uci_engine.game import Game, PositionError, legal_among
from uci_engine.limits import Limits
from uci_engine.opening import BOOK_OPTIONS, Opening
from uci_engine.options import Options
from uci_engine.ranking import Probing, Ranking, Rules, rank
from uci_engine.report import BestMove, Info
from uci_engine.tablebases import Tablebases
from uci_engine.terminal import print_failure
from uci_engine.time_control import UNLIMITED, grant

# After these, what the table holds is unwanted or no longer true.
FORGETTING_OPTIONS = frozenset({"Clear Hash", "SyzygyPath", "SyzygyProbeLimit", "Syzygy50MoveRule"})

OnInfo = Callable[[Info], None]
OnBestMove = Callable[[BestMove], None]

# How soon a thread that waits for the GIL gets it: the answer to `stop` passes through three of them, and in plain
# Python the search itself holds it.
SWITCH_SECONDS = 0.001
# Perft counts subtrees of this depth in one go, between looks at the stop flag.
PERFT_STEP = {"compiled": 4}
PERFT_STEP_PLAIN = 2


class Engine:
    """A chess engine. Its methods are called from one thread; the callbacks of a search come from the search's own."""

    def __init__(self, core: str = "auto") -> None:
        """`core`: see `uci_engine.core.load`, whose errors it raises."""
        self.core = load(core)
        self.name = f"Secateur {__version__}"
        if self.core.name != "compiled":
            self.name += f" ({self.core.name} core)"
        sys.setswitchinterval(SWITCH_SECONDS)
        self.options = Options()
        self._game = Game()
        self._opening = Opening()
        self._searcher = new_searcher(self.core, int(self.options["Hash"]))
        self._tablebases = Tablebases(self.core, self._searcher.prober)
        self._watch = Watch()
        self._task: _Task | None = None
        # What exists now exists for good: the collector need not look at it again.
        gc.collect()
        gc.freeze()

    # While no search runs ------------------------------------------------------------------------------------------

    def set_option(self, name: str | None, value: str | None) -> list[str]:
        """Set an option from the texts of `setoption`; returns sentences for the user, if there is anything to say."""
        old_hash = self.options["Hash"]
        change = self.options.set(name, value)
        if isinstance(change, str):
            return [f"error: {change}"]
        sentences = [change.message] if change.message else []
        if change.name == "Hash" and change.value != old_hash:
            try:
                self._searcher.table.resize(int(change.value))
            except MemoryError:
                self.options.restore("Hash", old_hash)
                sentences.append(f"error: there is no memory for {change.value} MiB of hash, it stays at {old_hash}")
        elif change.name == "Threads" and change.value != 1:
            sentences.append(f"this version searches with one thread, not with {change.value}")
        elif change.name == "SyzygyPath":
            sentences += self._tablebases.set_syzygy_path(str(change.value))
        elif change.name == "GaviotaTbPath":
            sentences += self._tablebases.set_gaviota_path(str(change.value))
        elif change.name in BOOK_OPTIONS:
            sentences += self._opening.configure(self.options)
        if change.name in FORGETTING_OPTIONS:
            self._searcher.table.clear()
        return sentences

    def new_game(self) -> None:
        """Forget the last game: table, histories and position."""
        self._searcher.table.clear()
        self._searcher.forget()
        self._game = Game()
        self._opening.new_game()

    def set_position(self, fen: str | None, moves: Sequence[str]) -> list[str]:
        """Set up a position (`fen` None: the start) and play moves; returns sentences.

        What cannot be used is refused with one sentence that starts "error: ", and then no position is held.
        """
        try:
            return self._game.set(fen, moves, bool(self.options["UCI_Chess960"]))
        except PositionError as error:
            return [f"error: {error}"]

    def flip(self) -> list[str]:
        """Turn the position round: the same game with colours exchanged."""
        board = self._game.board
        if board is None:
            return ["error: there is no position to flip"]
        return self.set_position(board.mirror().fen(en_passant="fen"), ())

    def display_text(self) -> str:
        """The position for people: board, FEN, key, checkers."""
        board = self._game.board
        if board is None:
            return "no position"
        key = chess.polyglot.zobrist_hash(board)
        checkers = " ".join(chess.square_name(square) for square in board.checkers()) or "none"
        rows = str(board).split("\n")
        lines = [f"{8 - number}  {row}" for number, row in enumerate(rows)]
        return "\n".join(
            [*lines, "   a b c d e f g h", f"FEN {board.fen()}", f"Key {key:016X}", f"Checkers {checkers}"]
        )

    def evaluation_text(self) -> str:
        """The static evaluation of the position, term by term."""
        from evaluation.explain import explain, format_explanation

        board = self._game.board
        if board is None:
            return "no position"
        return format_explanation(explain(board))

    def close(self) -> None:
        """End a running search, if any, and the engine's threads."""
        self.stop()
        self.wait()
        self._watch.close()
        self._tablebases.close()

    # Searching -----------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether a search runs, or waits with its answer."""
        return self._task is not None and self._task.is_alive()

    def go(self, limits: Limits, received_at: float, on_info: OnInfo, on_best_move: OnBestMove) -> None:
        """Start to think; returns at once. `received_at`: when the line was read, by `time.perf_counter()`.

        `on_info` and `on_best_move` are called from the search's thread, `on_best_move` once and last. Raises
        RuntimeError when a search is running.
        """
        self._start(_Search(self, limits, received_at, on_info, on_best_move))

    def perft(self, depth: int, on_line: Callable[[str], None], on_done: Callable[[], None]) -> None:
        """Count move sequences, a line for each root move; returns at once, like `go`. `stop` ends it early."""
        self._start(_Perft(self, depth, on_line, on_done))

    def stop(self) -> None:
        """End the running search soon, with its answer. Harmless when there is none."""
        if self._task is not None:
            self._task.stop()

    def ponderhit(self, received_at: float) -> None:
        """The expected move was played: the search goes on, from now on against the clock. Harmless otherwise."""
        if self._task is not None:
            self._task.ponderhit(received_at)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the end of the running search; false if it takes longer."""
        if self._task is not None:
            self._task.join(timeout_seconds)
        return not self.searching

    def _start(self, task: _Task) -> None:
        if self.searching:
            raise RuntimeError("a search is running")
        self._task = task
        task.start()


class _Task(threading.Thread):
    """Something the engine does in a thread of its own, and that can be stopped."""

    def __init__(self, engine: Engine, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._searcher = engine._searcher
        board = engine._game.board
        # Older moves cannot repeat, and long games take long to copy.
        self._board = None if board is None else board.copy(stack=board.halfmove_clock)
        self._stop_event = threading.Event()

    def stop(self) -> None:
        self._stop_event.set()

    def ponderhit(self, received_at: float) -> None:
        """Only a search can ponder."""


class _Search(_Task):
    """The thread of one `go`."""

    def __init__(
        self, engine: Engine, limits: Limits, received_at: float, on_info: OnInfo, on_best_move: OnBestMove
    ) -> None:
        super().__init__(engine, "search")
        self._opening = engine._opening
        self._watch = engine._watch
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._lines = int(engine.options["MultiPV"])
        self._show_wdl = bool(engine.options["UCI_ShowWDL"])
        self._tablebases = engine._tablebases
        self._probing = Probing.by(engine.options)
        self._deepening: Deepening | None = None
        # Guards what `stop` and `ponderhit` touch: they may come while the search is being set up.
        self._lock = threading.Lock()
        self._budget = UNLIMITED
        if self._board is not None:
            overhead_ms = int(engine.options["Move Overhead"])
            self._budget = grant(limits, self._board.turn, overhead_ms, self._board.ply())
        self._pondering = limits.ponder
        self._clock = Clock(received_at, UNLIMITED if limits.ponder else self._budget)
        # The answer may go out: set by `stop`, and by `ponderhit` for a search that has come to its end.
        self._released = threading.Event()
        if not (limits.infinite or limits.ponder):
            self._released.set()

    def stop(self) -> None:
        super().stop()
        with self._lock:
            if self._deepening is not None:
                self._deepening.stop()
        self._released.set()

    def ponderhit(self, received_at: float) -> None:
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            self._clock.grant(self._budget, received_at)
        self._watch.clock_changed()
        if not self._limits.infinite:
            self._released.set()

    def run(self) -> None:
        gc.disable()
        answer = BestMove(None)
        try:
            answer = self._think()
        except Exception as error:
            # The conversation must go on: any legal move is better than none.
            print_failure(error)
            self._on_info(Info(string=f"error: {type(error).__name__} in the search: {error}"))
            answer = BestMove(self._any_move())
            self._released.wait()
        finally:
            gc.enable()
            self._on_best_move(answer)

    def _think(self) -> BestMove:
        allowed, problems = self._allowed_moves()
        for sentence in problems:
            self._on_info(Info(string=sentence))
        if self._board is None or not allowed:
            if self._board is not None and not any(self._board.legal_moves):
                score = -scores.MATE if self._board.is_checkmate() else scores.DRAW
                self._on_info(Info(depth=0, score=score))
            self._released.wait()
            return BestMove(None)
        if from_book := self._book_move(self._board):
            self._released.wait()
            return from_book
        limits = self._limits
        ranking = Ranking()
        if limits.mate is None:
            rules = Rules.within(self._probing, self._clock, self._stop_event.is_set)
            ranking = rank(self._tablebases, self._searcher.position, self._board, allowed, rules)
            for sentence in ranking.notes:
                self._on_info(Info(string=sentence))
        request = Request(
            board=self._board,
            root_moves=allowed,
            depth=None if limits.infinite else limits.depth,
            nodes=None if limits.infinite else limits.nodes,
            mate=None if limits.infinite else limits.mate,
            lines=self._lines,
            show_wdl=self._show_wdl,
            ranking=ranking,
            probing=self._probing,
        )
        deepening = Deepening(self._searcher, request, self._clock, self._on_info)
        with self._lock:
            self._deepening = deepening
            if self._stop_event.is_set():
                deepening.stop()
        self._watch.begin(self._clock, deepening.stop, deepening.report_current_move)
        try:
            deepening.run()
            self._released.wait()
        finally:
            self._watch.end()
        deepening.report()
        reply = deepening.ponder
        return BestMove(deepening.best.uci(), reply.uci() if reply else None)

    def _book_move(self, board: chess.Board) -> BestMove | None:
        """What the opening book says, reported like the result of a search; None when that is nothing."""
        advice = self._opening.advise(board, self._limits)
        for sentence in advice.sentences:
            self._on_info(Info(string=sentence))
        if not advice.line:
            return None
        self._searcher.position.set_board(board)
        score = self._searcher.evaluate()
        elapsed_ms = int(max(self._clock.elapsed_ms(), 0.0))
        self._on_info(Info(depth=1, score=score, nodes=0, time_ms=elapsed_ms, pv=advice.line))
        return BestMove(*advice.line)

    def _any_move(self) -> str | None:
        """A legal move, the best known, for a search that failed."""
        if self._deepening is not None:
            return self._deepening.best.uci()
        moves_left = list(self._board.legal_moves) if self._board is not None else []
        return moves_left[0].uci() if moves_left else None

    def _allowed_moves(self) -> tuple[list[chess.Move], list[str]]:
        """The legal moves that `searchmoves` allows, and sentences about words that are none."""
        if self._board is None:
            return [], ["error: there is no position to search"]
        if self._limits.searchmoves is None:
            return list(self._board.legal_moves), []
        return legal_among(self._board, self._limits.searchmoves)


class _Perft(_Task):
    """The thread of one `go perft`."""

    def __init__(self, engine: Engine, depth: int, on_line: Callable[[str], None], on_done: Callable[[], None]) -> None:
        super().__init__(engine, "perft")
        self._depth = depth
        self._on_line = on_line
        self._on_done = on_done
        self._step = PERFT_STEP.get(engine.core.name, PERFT_STEP_PLAIN)

    def run(self) -> None:
        try:
            self._divide()
        except Exception as error:
            print_failure(error)
            self._on_line(f"info string error: {type(error).__name__} in perft: {error}")
        finally:
            self._on_done()

    def _divide(self) -> None:
        if self._board is None:
            self._on_line("info string error: there is no position")
            return
        position = self._searcher.position
        position.set_board(self._board)
        total = 1 if self._depth == 0 else 0
        for move in position.legal_moves() if self._depth > 0 else []:
            position.make(move)
            nodes = self._count(self._depth - 1)
            position.unmake(move)
            if self._stop_event.is_set():
                self._on_line("info string perft was stopped")
                return
            total += nodes
            self._on_line(f"{moves.decode(move, self._board.chess960).uci()}: {nodes}")
        self._on_line(f"\nNodes searched: {total}")

    def _count(self, depth: int) -> int:
        position = self._searcher.position
        if self._stop_event.is_set():
            return 0
        if depth <= self._step:
            return int(position.count(depth))
        nodes = 0
        for move in position.legal_moves():
            position.make(move)
            nodes += self._count(depth - 1)
            position.unmake(move)
        return nodes
