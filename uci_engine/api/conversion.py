"""Limits and reports in the types of python-chess.

Invariant: `info_dict` gives what python-chess reads from the UCI line of the same report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import chess
from chess.engine import INFO_PV, INFO_SCORE, Cp, InfoDict, Limit, Mate, PovScore, PovWdl, Score, Wdl

from uci_engine import score as scores
from uci_engine.search.info import Bound, Info
from uci_engine.text import MAX_INT
from uci_engine.time_management.allocation import UNLIMITED, allocate
from uci_engine.time_management.limits import Limits

# What the engine's reports and those of python-chess call by the same name.
SAME_NAMES = ("depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "currmovenumber", "string")


def limits_of(limit: Limit | None, board: chess.Board, root_moves: Iterable[chess.Move] | None) -> Limits:
    """What a `go` with this limit asks for; None asks for no bound. A number above MAX_INT counts as that, as in UCI.

    ValueError: a value of the limit, or a move, makes no sense. TypeError: an argument has a wrong type.
    """
    require("board", board, chess.Board)
    searchmoves = None if root_moves is None else _searchmoves(board, root_moves)
    if limit is None:
        return Limits(searchmoves=searchmoves)
    require("limit", limit, Limit)
    return Limits(
        wtime_ms=_milliseconds("white_clock", limit.white_clock),
        btime_ms=_milliseconds("black_clock", limit.black_clock),
        winc_ms=_milliseconds("white_inc", limit.white_inc),
        binc_ms=_milliseconds("black_inc", limit.black_inc),
        movestogo=_count("remaining_moves", limit.remaining_moves),
        depth=_count("depth", limit.depth),
        nodes=_count("nodes", limit.nodes),
        mate=_count("mate", limit.mate),
        movetime_ms=_milliseconds("time", limit.time),
        searchmoves=searchmoves,
    )


def require(name: str, value: object, kind: type) -> None:
    """TypeError unless the argument of this name has this type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__module__}.{kind.__name__}, not {type(value).__name__}")


def is_bounded(limits: Limits, turn: chess.Color) -> bool:
    """Whether a search with these limits ends by itself."""
    if any(bound is not None for bound in (limits.depth, limits.nodes, limits.mate)):
        return True
    return allocate(limits, turn, overhead_ms=0, ply=0) != UNLIMITED


def info_dict(info: Info, turn: chess.Color, selector: chess.engine.Info) -> InfoDict:
    """A report in python-chess's form. `turn`: the side to move at the root. `selector`: what is wanted of it."""
    result: InfoDict = {}
    if not selector:
        return result
    numbers = {name: getattr(info, name) for name in SAME_NAMES}
    result.update({name: value for name, value in numbers.items() if value is not None})  # type: ignore[typeddict-item]
    if info.score is not None and selector & INFO_SCORE:
        result["score"] = PovScore(score_of(info.score, info.pieces), turn)
        if info.bound is not Bound.EXACT:
            name = "lowerbound" if info.bound is Bound.LOWER else "upperbound"
            result[name] = True  # type: ignore[literal-required]
    if info.wdl is not None:
        result["wdl"] = PovWdl(Wdl(*info.wdl), turn)
    if info.time_ms is not None:
        result["time"] = info.time_ms / 1000
    if info.pv and selector & INFO_PV:
        result["pv"] = [chess.Move.from_uci(move) for move in info.pv]
    if info.currmove is not None:
        result["currmove"] = chess.Move.from_uci(info.currmove)
    return result


def score_of(score: int, pieces: int) -> Score:
    """An internal score as UCI shows it. `pieces`: on the board at the root."""
    kind, number = scores.to_uci(score, pieces).split()
    return Mate(int(number)) if kind == "mate" else Cp(int(number))


def _searchmoves(board: chess.Board, root_moves: Iterable[chess.Move]) -> tuple[str, ...]:
    require("root_moves", root_moves, Iterable)
    moves = list(root_moves)
    if not moves:
        raise ValueError("root_moves holds no move")
    for move in moves:
        require("a move of root_moves", move, chess.Move)
        if not board.is_legal(move):
            raise ValueError(f"root_moves holds {move.uci()}, which is not legal here")
    return tuple(move.uci() for move in moves)


def _milliseconds(name: str, seconds: float | None) -> int | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise ValueError(f"Limit.{name} must be a number of seconds, 0 or more, not {seconds!r}")
    return round(1000 * seconds) if seconds < MAX_INT / 1000 else MAX_INT


def _count(name: str, number: int | None) -> int | None:
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"Limit.{name} must be a whole number, 1 or more, not {number!r}")
    return min(number, MAX_INT)
