"""What is measured of one engine in one round of the speed comparison. Called by speed.

What must stay true: rates and depths are counted in the processor time that the engine used, not in time that passed,
so that a busy machine does not change them; start-up and stop latency are times that passed, for those are felt.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import chess

from lib.engines.engine import Engine, EngineError, read_info
from lib.engines.spec import EngineSpec
from lib.perft.counters import EngineCounter
from lib.speed.cpu_time import session_cpu_seconds

# An engine that has to wait for the processor may take so many times its share.
PATIENCE_FACTOR = 20.0
PATIENCE_SECONDS = 10.0
# The shortest pause between two looks at the engine's clock.
SHORTEST_PAUSE_SECONDS = 0.0005
# A search is stopped after a random time in between: engines look up at fixed intervals.
STOP_AFTER_SECONDS = (0.005, 0.05)


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was stopped when its processor time was used up; `depth` is the last one that it completed."""

    nodes: int
    cpu_seconds: float
    depth: int

    @property
    def nodes_per_cpu_second(self) -> float:
        """The rate."""
        return self.nodes / self.cpu_seconds


def start_seconds(spec: EngineSpec) -> float:
    """From the start of the process to its `readyok`, with the options set. Raises EngineError."""
    with Engine(spec) as engine:
        return engine.start_seconds


def search(engine: Engine, board: chess.Board, cpu_seconds: float, threads: int = 1) -> Search:
    """Let the engine search this position, as a new game, for so much processor time. Raises EngineError."""
    engine.new_game()
    engine.set_position(board)
    session = engine.session
    before = session_cpu_seconds(session)
    began = engine.send("go infinite")
    deadline = began + PATIENCE_FACTOR * cpu_seconds + PATIENCE_SECONDS
    while (left := cpu_seconds - (session_cpu_seconds(session) - before)) > 0:
        if time.perf_counter() > deadline or engine.exit_code is not None:
            raise EngineError(f"{engine.name} does not use its processor time")
        # It cannot use more time than passes on each thread; so this never sleeps past the end.
        time.sleep(max(SHORTEST_PAUSE_SECONDS, left / threads))
    stopped = engine.send("stop")
    lines = engine.read_until("bestmove", PATIENCE_SECONDS)
    used = session_cpu_seconds(session) - before
    nodes = depth = 0
    for line in lines:
        info = read_info(line.text)
        if info is None:
            continue
        nodes = max(nodes, info.nodes or 0)
        if info.move and info.is_exact and line.arrived <= stopped:
            depth = max(depth, info.depth or 0)
    if not nodes:
        raise EngineError(f"{engine.name} does not tell how many nodes it has searched")
    return Search(nodes, used, depth)


def stop_seconds(engine: Engine, board: chess.Board, choice: random.Random) -> float:
    """The time from `stop`, at a random moment of a search, to `bestmove`. Raises EngineError."""
    engine.set_position(board)
    engine.send("go infinite")
    time.sleep(choice.uniform(*STOP_AFTER_SECONDS))
    stopped = engine.send("stop")
    return engine.read_until("bestmove", PATIENCE_SECONDS)[-1].arrived - stopped


def perft_cpu_seconds(spec: EngineSpec, depth: int) -> float:
    """The processor time of `go perft` from the start position. Raises EngineError, NoPerftError."""
    counter = EngineCounter(spec)
    try:
        session = counter.engine.session
        before = session_cpu_seconds(session)
        counter.count(chess.Board(chess960=True), depth)
        return session_cpu_seconds(session) - before
    finally:
        counter.close()
