"""`Engine`: the engine for Python programs, in their own process.

It has the methods of `chess.engine.SimpleEngine`, with python-chess's own types. What differs: there is no other
process; options are keywords; `play` has reports in `info`; it does not ponder.

An engine does one search at a time. A second call waits for the first, in whatever thread, but an analysis that runs in
the background is stopped for it, as in python-chess. For searches at the same time, use several engines. The compiled
search holds no GIL, so they run in parallel, beside other Python code. From asyncio, call the methods in a thread:
`await asyncio.to_thread(engine.play, board, limit)`.
"""

from __future__ import annotations

from typing import Any, Unpack, overload

import chess
from chess.engine import Cp, InfoDict, Limit, PlayResult, PovScore

from evaluation.network.file import Network
from evaluation.scoring import check, set_up
from evaluation.weights import Weights
from uci_engine.api.analysis import Analysis
from uci_engine.api.session import Asked, Session, limits_of
from uci_engine.game_analysis.move_report import MoveComparison, MoveExplanation
from uci_engine.game_analysis.move_search import compare_moves, explain_move
from uci_engine.static_evaluation import Explanation


class Engine(Session):
    """A chess engine in this process.

    >>> import chess
    >>> from chess.engine import Limit
    >>> from uci_engine import Engine
    >>> with Engine(hash=32) as engine:
    ...     result = engine.play(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), Limit(depth=4))
    >>> result.move
    Move.from_uci('a1a8')

    All methods may be called from any thread. Close the engine, or use it as a context manager: it has threads of its
    own, and the memory of `hash`. Problems that do not stop it are logged, by the logger `uci_engine`.

    A wrong value raises ValueError, also that of an option, of a field of a `Limit` or of a board that is of a variant
    or whose fields do not agree. A number that no search reaches, such as 2**70 nodes, sets no bound. A closed engine
    raises `chess.engine.EngineTerminatedError`, and a fault in the search `chess.engine.EngineError`. An engine cannot
    be copied or pickled: TypeError.

    After a fork the engine stays with the parent. In the child its methods raise `chess.engine.EngineTerminatedError`,
    and `close` does nothing. A new engine made there works, if no engine of the parent was being made or searching
    at the fork. The start method "spawn" of `multiprocessing` has no such condition.
    """

    _evaluator: tuple[Weights, Network | None, Any, Any] | None = None

    # Searching -----------------------------------------------------------------------------------------------------

    def play(self, board: chess.Board, limit: Limit, **asked: Unpack[Asked]) -> PlayResult:
        """Find a move. The board is not changed.

        >>> with Engine() as engine:
        ...     result = engine.play(chess.Board(), Limit(time=0.05))
        ...     result.move in chess.Board().legal_moves
        True

        `limit` must end the search by itself: it has a time, a depth, nodes, a mate or a clock. The times are seconds;
        Move Overhead is reserved of each. `game`: any object; when it differs from the one before, the engine begins a
        new game. `info`: what the result's `info` shall hold, by default all. `root_moves`: only these are considered.

        When the game is over, the move of the result is None.
        """
        search = self._begin(board, limit, **asked)
        best = self._answer(search)
        return PlayResult(best.move, best.ponder, search.info)

    @overload
    def analyse(self, board: chess.Board, limit: Limit, *, multipv: None = ..., **asked: Unpack[Asked]) -> InfoDict: ...

    @overload
    def analyse(self, board: chess.Board, limit: Limit, *, multipv: int, **asked: Unpack[Asked]) -> list[InfoDict]: ...

    def analyse(
        self, board: chess.Board, limit: Limit, *, multipv: int | None = None, **asked: Unpack[Asked]
    ) -> InfoDict | list[InfoDict]:
        """Analyse a position. Returns what was reported last, or with `multipv` a list of that many lines, best first.

        >>> with Engine() as engine:
        ...     info = engine.analyse(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), Limit(depth=4))
        ...     print(info["score"].white(), info["pv"][0])
        #+1 a1a8

        The other arguments are those of `play`.
        """
        search = self._begin(board, limit, multipv=multipv, analyses=True, **asked)
        self._answer(search)
        return search.info if multipv is None else search.multipv

    def analysis(
        self, board: chess.Board, limit: Limit | None = None, *, multipv: int | None = None, **asked: Unpack[Asked]
    ) -> Analysis:
        """Start an analysis in the background, and return at once. Without a limit it runs until it is stopped.

        It also ends when there is nothing more to search: at the maximum depth, or when the game is over.

        >>> with Engine() as engine, engine.analysis(chess.Board()) as analysis:
        ...     for info in analysis:
        ...         if info.get("depth", 0) >= 3:
        ...             break
        ...     analysis.info["pv"][0] in chess.Board().legal_moves
        True

        The next search of this engine stops it, and so does the end of the engine: keep that in a variable. The other
        arguments are those of `analyse`.
        """
        return self._begin(board, limit, multipv=multipv, analyses=True, in_background=True, **asked)

    # The static evaluation -----------------------------------------------------------------------------------------

    def evaluate(self, board: chess.Board) -> PovScore:
        """The static evaluation of a position. Only the pieces and the side to move count.

        It is in the centipawns of the weights, as the `score` of `explain`, whose `normalised_score` is on the scale of
        `analyse`.

        >>> with Engine() as engine:
        ...     engine.evaluate(chess.Board()) == engine.explain(chess.Board()).score
        True

        ValueError unless there is one king and at most 16 pieces a side, and no pawn on the first or last rank.
        """
        with self._condition:
            self._require_open()
            check(board)
            weights, network = self._inner.weights, self._inner.network
            if self._evaluator is None or self._evaluator[0] is not weights or self._evaluator[1] is not network:
                self._evaluator = (weights, network, *set_up(board, weights, network))
            _, _, evaluator, base_board = self._evaluator
            base_board.set_pieces(board)
            return PovScore(Cp(evaluator.evaluate(base_board)), board.turn)

    @overload
    def explain(self, board: chess.Board) -> Explanation: ...

    @overload
    def explain(self, board: chess.Board, move: chess.Move, limit: Limit | None = ...) -> MoveExplanation: ...

    def explain(
        self, board: chess.Board, move: chess.Move | None = None, limit: Limit | None = None
    ) -> Explanation | MoveExplanation:
        """The static evaluation, term by term; or with a move, why that is good or bad.

        The terms add up to the `score` of the explanation, which is that of `evaluate`.

        >>> with Engine() as engine:
        ...     explanation = engine.explain(chess.Board())
        >>> explanation["material"]
        0
        >>> sum(term.difference_cp for term in explanation) == explanation.score.white().score()
        True

        A move is explained by searches, as `secateur explain --move` does: what refutes or supports it, and what is
        better. `limit` has a time, nodes or a depth, and is for all searches together (a depth for each); None is one
        second. `str` of the result is text, and a notebook shows that beside the board.

        >>> with Engine() as engine:
        ...     engine.explain(chess.Board(), chess.Move.from_uci("f2f3"), Limit(depth=6)).is_best
        False

        ValueError: as for `evaluate`, or the move is not legal.
        """
        if move is not None:
            check(board)
            if not board.is_legal(move):
                raise ValueError(f"{move.uci()} is not legal here")
            return explain_move(self, board, move, _bounds(board, limit))
        with self._condition:
            self._require_open()
            return self._inner.explain(board)

    def compare_moves(self, board: chess.Board, limit: Limit | None = None) -> MoveComparison:
        """All legal moves with value, depth and line, best first, as `secateur explain` shows them.

        `limit` has a time, nodes or a depth for a search with a line for each move; None is one second.

        >>> with Engine() as engine:
        ...     comparison = engine.compare_moves(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), Limit(depth=4))
        >>> comparison.moves[0].move, comparison.moves[0].value.text
        (Move.from_uci('a1a8'), '#1')
        """
        check(board)
        return compare_moves(self, board, _bounds(board, limit))

    def probe_tablebases(self, board: chess.Board) -> int | None:
        """What the Syzygy tables of the option `syzygy_path` say of a position, for the side to move.

        2 is a win, 1 a win that the fifty-move rule prevents, 0 a draw, -1 a loss that it prevents, -2 a loss. None if
        the position is not in the tables.

        >>> with Engine() as engine:
        ...     print(engine.probe_tablebases(chess.Board("8/8/8/8/8/8/8/KQ5k w - - 0 1")))
        None

        A search that runs is waited for. ValueError: as for `evaluate`.
        """
        check(board)
        with self._condition:
            self._wait_for_turn()
            return self._inner.probe_wdl(board)


def _bounds(board: chess.Board, limit: Limit | None) -> Limit:
    """The time, nodes and depth of a limit. ValueError: as `limits_of`, or there is none of them."""
    if limit is None:
        return Limit(time=1.0)
    limits = limits_of(limit, board, None)
    if limits.movetime_ms is None and limits.nodes is None and limits.depth is None:
        raise ValueError("the limit needs a time, nodes or a depth")
    return Limit(time=limit.time, nodes=limit.nodes, depth=limit.depth)
