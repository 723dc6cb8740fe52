"""What the tests of boards and search share: positions, random games, a searcher, and other cores.

A process runs one core for ever, so `on_core` calls a function of a test module in a process of its own,
where another core has been loaded first, and brings its result back through JSON.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from functools import cache
from typing import Any

import chess
import chess.polyglot
import pytest

from evaluation import set_up
from evaluation.weights import default_weights
from tests.support import ROOT, SCRIPTS, run_python
from uci_engine import score as scores
from uci_engine.core import load, missing_modules
from uci_engine.search.info import Info
from uci_engine.search.manager import SearchManager, SearchOptions
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.tablebases.root_ranking import RootRanking
from uci_engine.time_management import Clock, Limits

IS_BUILT = not missing_modules()
IS_BUILD_REQUIRED = os.environ.get("SECATEUR_REQUIRE_COMPILER") == "1"
ALL_CORES = ("compiled", "python-chess", "interpreted")
CALL = """
import importlib, json, sys
from uci_engine.core import load
core, module, function, arguments = json.loads(sys.stdin.read())
load(core)
result = getattr(importlib.import_module(module), function)(*arguments)
print(json.dumps(result))
"""

# Castling, en passant, pins, promotions, endings: positions that together can do everything.
STARTS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "8/8/4kb2/8/2NB4/8/4K3/8 w - - 90 80",
)

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
# The queen is given for a pawn, and then quiet moves are mate.
QUEEN_SACRIFICE = "r3r1k1/pp1q1pp1/4b1p1/3p2B1/3Q1R2/8/PPP3PP/4R1K1 w - - 0 1"


def core_or_skip(name: str) -> str:
    """The name of a core for a test; the compiled one may be missing where no build is demanded."""
    if name == "compiled" and not IS_BUILT and not IS_BUILD_REQUIRED:
        pytest.skip("nothing is compiled here")
    return name


def is_compiled() -> bool:
    """Whether this process runs the compiled core: thousands of positions are cheap then, else dozens."""
    return load().name == "compiled"


def on_core(core: str, module: str, function: str, *arguments: Any) -> Any:
    """Call `function` of a test module with JSON-able arguments on another core; what it raises fails the test."""
    call = json.dumps([core, module, function, arguments])
    done = run_python("-c", CALL, data=call, PYTHONPATH=os.pathsep.join([str(ROOT), str(SCRIPTS)]))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def on_all_cores(module: str, function: str, *arguments: Any) -> dict[str, Any]:
    """The same on all cores at the same time, by core. The compiled one may be missing where no build is demanded."""
    cores = [core for core in ALL_CORES if core != "compiled" or IS_BUILT or IS_BUILD_REQUIRED]
    with ThreadPoolExecutor() as pool:
        results = pool.map(lambda core: on_core(core, module, function, *arguments), cores)
        return dict(zip(cores, results, strict=True))


def new_position(board: chess.Board | None = None) -> Any:
    """A position of the core that this process runs."""
    position = load().position_class(default_weights().piece_square)
    position.set_board(board or chess.Board())
    return position


@cache
def _evaluator() -> Any:
    return set_up(chess.Board())[0]


def state_of(position: Any, is_scored: bool = True) -> tuple[Any, ...]:
    """All fields that `unmake` must restore. After a king's move the score waits for an evaluation: `is_scored`."""
    if is_scored:
        _evaluator().evaluate(position)
    return (
        list(position.by_type[1:7]),
        list(position.by_colour),
        position.pieces(),
        (
            *(position.turn, position.castling_rights, position.ep_square),
            *(position.halfmove_clock, position.reversible_plies, position.stack_index),
        ),
        (
            *(position.key, position.checkers, position.pinned),
            *(position.score, position.phase, position.pawn_key, position.material_key),
        ),
    )


@cache
def one_thread(of: str = "the game") -> ThreadPool:
    """One pool of each name for many tests; `search` empties it first."""
    return ThreadPool(load(), 4)


def searcher() -> Any:
    return one_thread().main


def start_board(number: int, chess960: bool) -> chess.Board:
    """The start of a random game: a Chess960 array, another for each number, or one of STARTS."""
    if chess960:
        return chess.Board.from_chess960_pos(number * 389 % 960)
    return chess.Board(STARTS[number % len(STARTS)])


def key_of(board: chess.Board) -> int:
    """The key that a `Position` should have: the Polyglot key of the FEN with legal captures en passant only."""
    return chess.polyglot.zobrist_hash(chess.Board(board.fen(en_passant="legal"), chess960=board.chess960))


def board_after(fen: str, text: str, chess960: bool = False) -> chess.Board:
    """A position and moves in UCI notation, played."""
    board = chess.Board(fen, chess960=chess960)
    for word in text.split():
        board.push_uci(word)
    return board


def random_game(seed: int, board: chess.Board, plies: int) -> Iterator[chess.Board]:
    """The same board, before the first and after each of at most so many random moves.

    Captures, promotions, castling and double steps are preferred a little: random moves alone are dull.
    """
    generator = random.Random(seed)
    yield board
    for _ in range(plies):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            return
        lively = [
            move
            for move in legal
            if board.is_capture(move)
            or move.promotion
            or board.is_castling(move)
            or (board.piece_type_at(move.from_square) == chess.PAWN and abs(move.to_square - move.from_square) == 16)
        ]
        board.push(generator.choice(lively if lively and generator.random() < 0.25 else legal))
        yield board


LIMITS = {field.name for field in fields(Limits)}


class Outcome:
    """What a search found, by its last report, and the reports before that one."""

    def __init__(self, manager: SearchManager, infos: list[Info]) -> None:
        self.manager = manager
        self.best, self.ponder = manager.best, manager.ponder
        manager.report()
        *self.infos, last = infos
        self.last = last
        self.score = last.score or 0
        self.nodes = manager.nodes

    @property
    def sentences(self) -> list[str]:
        return [str(info.message) for info in self.infos if info.message is not None]


def search(board: chess.Board, root_moves: list[chess.Move] | None = None, **asked: Any) -> Outcome:
    """Run one search, which takes what `prepare` takes, and check what holds for every one."""
    manager, infos = prepare(board, root_moves, **asked)
    before = board.fen()
    manager.run()
    outcome = Outcome(manager, infos)
    assert board.fen() == before
    assert outcome.best in (board.legal_moves if root_moves is None else root_moves)
    assert first_move(outcome.last) == outcome.best
    assert outcome.nodes <= (asked.get("nodes") or outcome.nodes)
    after = board.copy(stack=False)
    after.push(outcome.best)
    assert outcome.ponder is None or outcome.ponder in after.legal_moves
    for info in (*outcome.infos, outcome.last):
        after_line(board, info)
        assert (info.seldepth or 0) <= scores.MAX_PLY
    shown = {info.multipv: first_move(info) for info in (*outcome.infos, outcome.last) if info.pv}
    assert len(set(shown.values())) == len(shown)
    return outcome


def prepare(
    board: chess.Board,
    root_moves: list[chess.Move] | None = None,
    *,
    on_info: Callable[[Info], None] | None = None,
    clock: Clock | None = None,
    ranking: RootRanking | None = None,
    fresh: bool = True,
    pool: ThreadPool | None = None,
    **asked: Any,
) -> tuple[SearchManager, list[Info]]:
    """A search about to run, and the list of what it will say, unless `on_info` is told.

    It searches all root moves, without a clock, in one thread and with empty table and histories, unless told
    otherwise. `asked`: fields of `Limits` and `SearchOptions`.
    """
    pool, people = pool or one_thread(), one_thread("people")
    people.clear()
    people.main.begin(0)
    if fresh:
        pool.clear()
    infos: list[Info] = []
    manager = SearchManager(
        pool,
        board,
        Limits(**{name: value for name, value in asked.items() if name in LIMITS}),
        clock or Clock(time.perf_counter()),
        on_info or infos.append,
        SearchOptions(**{name: value for name, value in asked.items() if name not in LIMITS}),
        list(board.legal_moves) if root_moves is None else root_moves,
        ranking or RootRanking(),
        people.main,
    )
    return manager, infos


def without_times(infos: Iterable[Info]) -> list[dict[str, str]]:
    """What a search says, but for times, and so without bounds, which are reported by the clock."""
    exact = [asdict(info) for info in infos if not info.is_lower_bound]
    return [{name: str(value) for name, value in info.items() if name not in ("time_ms", "nps")} for info in exact]


def first_move(info: Info) -> chess.Move:
    return info.pv[0]


def after_line(board: chess.Board, info: Info) -> chess.Board:
    """The board at the end of a reported line, which must be legal."""
    after = board.copy(stack=False)
    for move in info.pv:
        assert move in after.legal_moves
        after.push(move)
    return after
