"""What must hold in any conversation with any UCI engine, by name, and how long an engine may take.

Whatever is found wrong carries one of these names. So it can be counted and looked up, and left out for an engine that
is known to break the rule.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

ORACLES = {
    "clean-line": "a line is printable ASCII with single blanks, and none at its end",
    "info": "an info line is exactly as the UCI text has it",
    "score": "scores are possible: mates no longer than a game, centipawns below a mate's, wdl adds up to 1000",
    "best-move": "a bestmove line is exactly as the UCI text has it",
    "count": "uciok, readyok and bestmove come only when asked for, and as often",
    "held-back": "in go infinite and go ponder no bestmove comes before stop or ponderhit",
    "legal-move": "the move is legal",
    "legal-ponder": "the move to ponder on is legal after it",
    "legal-line": "every reported line can be played from the position",
    "last-line": "the move is the first one of the last best line",
    "line-first": "a line is reported before the move",
    "progress": "depth, nodes and time do not go back within a search",
    "stray": "nothing is said but what UCI knows, unless something odd was sent",
    "ready": "readyok comes at once, also while searching",
    "stop": "the move comes at once after stop",
    "answer": "what is due comes at all, and what is sent is read",
    "alive": "the process does not end by itself",
    "exit": "after quit, or the end of input, the process ends at once, with code 0",
    "stderr": "nothing is said on the error output",
    "clock": "the clock is never overrun",
    "growth": "memory, threads and open files do not grow from game to game",
}


# After so many games a process has touched what it needs, and should not need more.
SETTLING_GAMES = 2


class Violation(Exception):  # noqa: N818  (a finding, kept and counted; raised only where that ends a test)
    """An oracle that does not hold, and what was seen."""

    def __init__(self, oracle: str, sentence: str) -> None:
        if oracle not in ORACLES:
            raise ValueError(f"there is no oracle {oracle!r}")
        super().__init__(oracle, sentence)
        self.oracle = oracle
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.oracle}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Patience:
    """What an engine may take: ms for `isready` and `stop` and beyond its clock, seconds for leaving and for anything
    else, MiB of memory beyond what it had after SETTLING_GAMES.
    """

    ready_ms: float = 200.0
    stop_ms: float = 200.0
    clock_ms: float = 200.0
    exit_seconds: float = 1.0
    answer_seconds: float = 20.0
    growth_mib: float = 64.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a command line that make Patience, and `--without`."""
    parser.add_argument("--without", nargs="*", choices=list(ORACLES), default=[], help="oracles not to be asked")
    patience = Patience()
    parser.add_argument("--ready-ms", type=float, default=patience.ready_ms, help="%(default)g ms for readyok")
    parser.add_argument("--stop-ms", type=float, default=patience.stop_ms, help="%(default)g ms for stop")
    parser.add_argument("--clock-ms", type=float, default=patience.clock_ms, help="%(default)g ms beyond its clock")
    parser.add_argument("--exit-seconds", type=float, default=patience.exit_seconds, help="%(default)g s for quit")


def patience_of(words: argparse.Namespace) -> Patience:
    """The Patience that a command line asks for."""
    return Patience(words.ready_ms, words.stop_ms, words.clock_ms, words.exit_seconds)


def describe_oracles() -> str:
    """The table for a help text."""
    return "oracles:\n" + "\n".join(f"  {name:<13} {sentence}" for name, sentence in ORACLES.items())
