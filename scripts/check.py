#!/usr/bin/env python3
"""Checks that need another build, many minutes or files: memory faults, races, false mates, searches that differ.

    python scripts/check.py memory races mates repeat builds games
    python scripts/check.py --short memory mates repeat builds
    python scripts/check.py perft --counts standard.epd fischer.epd --depth 5

A finding is one line, and the exit code is 1 if there is any. Builds and logs are kept in build/checks. The
sanitizers need gcc and Linux, `games` needs fastchess.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import chess

from evaluation.weights import default_weights
from toolkit.console import note, run_program, say, show_progress
from toolkit.engines.client import Engine, Info, read_info
from toolkit.engines.spec import EngineSpec, own_engine
from toolkit.errors import ProgramError
from toolkit.files import read_text
from uci_engine.board.game import read_fen
from uci_engine.core import load
from uci_engine.tools.bench import POSITIONS

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "checks"
MATES = ROOT.parent / "shared" / "data" / "suites" / "mates1000.epd"
OWN_MATES = ROOT / "scripts" / "toolkit" / "mates.epd"
SEARCH_SECONDS = 600.0

BUILDS = {
    "memory": {"SECATEUR_SANITIZE": "1"},
    "races": {"SECATEUR_SANITIZE": "thread"},
    "portable": {"SECATEUR_PORTABLE": "1"},
}
SANITIZERS = {"memory": "libasan.so", "races": "libtsan.so"}
NOT_COPIED = (".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", ".selfplay")
# Python frees little at its end, and an engine that is refused a table too large for the memory goes on.
SANITIZER_OPTIONS = "detect_leaks=0:allocator_may_return_null=1:print_stacktrace=1"
REPORTED = re.compile(r"SUMMARY: (.+)|.*?(\S+: runtime error: .+)")

EVALUATION_TESTS = ("evaluation/test_network.py", "evaluation/test_weights.py")
MEMORY_TESTS = ("board", "book", "policy", "search", "tablebases", "uci", *EVALUATION_TESTS)
SHORT_MEMORY_TESTS = ("board", "tablebases", "search/test_search.py", "uci/test_random_conversations.py")
RACE_TESTS = ("search/test_thread_pool.py", "test_engine.py", "uci")
# A portable build holds two kernels. This runs the one for processors without AVX2.
WITHOUT_AVX2 = """
from uci_engine import core
core.has_fast_instructions = lambda: False
from uci_engine.__main__ import program
program()
"""


class Build:
    """A copy of these sources, compiled in another way. `python` runs it; a sanitizer writes its reports to files."""

    def __init__(self, name: str) -> None:
        """Compile what has changed. Raises ProgramError."""
        self.folder = WORK / name
        self.python = self.folder / "python"
        self._reports = self.folder / "reports"
        shutil.copytree(ROOT, self.folder, ignore=shutil.ignore_patterns(*NOT_COPIED, "*.so"), dirs_exist_ok=True)
        note(f"building {self.folder}")
        log = self.folder / "build.log"
        if run([sys.executable, "setup.py", "build_ext", "--inplace"], log, self.folder, BUILDS[name]):
            raise ProgramError(f"the build failed, see {log}")
        shutil.rmtree(self._reports, ignore_errors=True)
        self._reports.mkdir()
        settings = {"PYTHONPATH": str(self.folder), "PYTHONMALLOC": "malloc"}
        if name in SANITIZERS:
            command = ["gcc", f"-print-file-name={SANITIZERS[name]}"]
            settings["LD_PRELOAD"] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            for sanitizer in ("ASAN", "TSAN", "UBSAN"):
                settings[f"{sanitizer}_OPTIONS"] = f"{SANITIZER_OPTIONS}:log_path={self._reports / sanitizer}"
        exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in settings.items())
        self.python.write_text(f'#!/bin/sh\n{exports}exec {shlex.quote(sys.executable)} "$@"\n', "utf-8")
        self.python.chmod(0o755)

    @property
    def engine(self) -> EngineSpec:
        # Python looks for a module in the folder where it runs, before all others.
        return EngineSpec(self.folder.name, (str(self.python), "-m", "uci_engine"), str(self.folder))

    def reports(self) -> Iterator[str]:
        """What the sanitizers have reported, each fault once, and where to read more."""
        seen = set()
        for path in sorted(self._reports.iterdir()):
            for match in map(REPORTED.match, path.read_text("utf-8", errors="replace").splitlines()):
                sentence = match and (match[1] or match[2])
                if sentence and sentence not in seen:
                    seen.add(sentence)
                    yield f"{sentence} ({path})"


def run(command: Sequence[str], log: Path, folder: Path = ROOT, settings: dict[str, str] | None = None) -> int:
    """Run a command with its output in a file; returns its exit code."""
    with log.open("wb") as output:
        environment = {**os.environ, **(settings or {})}
        return subprocess.run(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode


# Sanitizers ----------------------------------------------------------------------------------------------------------


def memory(words: argparse.Namespace) -> Iterator[str]:
    """Tests of board, search, tables, files and conversations under ASan and UBSan."""
    build = Build("memory")
    yield from test_faults(build, SHORT_MEMORY_TESTS if words.short else MEMORY_TESTS)
    yield from build.reports()


def test_faults(build: Build, names: Sequence[str]) -> Iterator[str]:
    """The tests that fail in a build."""
    log = build.folder / "tests.log"
    tests = [f"tests/{name}" for name in names]
    # Plain Python gains nothing from the sanitizers, and is slow under them. A bot's limit of memory is too small.
    left_out = "not (other_cores or node_identity or PythonChess or lichess_bot)"
    options = ["-q", "-m", "not slow and not timing", "-k", left_out]
    if run([str(build.python), "-m", "pytest", *options, *tests], log, build.folder):
        lines = log.read_text("utf-8", errors="replace").splitlines()
        yield from [line for line in lines if line.startswith(("FAILED ", "ERROR "))] or [f"{lines[-1]} ({log})"]


def races(words: argparse.Namespace) -> Iterator[str]:
    """ThreadSanitizer over the tests of threads and conversations, and with four threads and tablebases."""
    build = Build("races")
    yield from test_faults(build, RACE_TESTS)
    tables = str(build.folder / "tests" / "support" / "tables")
    spec = replace(build.engine, options=(("Threads", "4"), ("SyzygyPath", tables)))
    with Engine(spec) as running:
        for fen in POSITIONS:
            search(running, chess.Board(fen), 100_000)
    yield from build.reports()


# Searches ------------------------------------------------------------------------------------------------------------


def mates(words: argparse.Namespace) -> Iterator[str]:
    """Mate positions at 100 000 nodes: no mate is false or too short, every line is legal, and a mate's reaches it."""
    positions = read_mates(words)
    for threads in (1, 4):
        yield from search_mates(own_engine(), positions, threads)


def read_mates(words: argparse.Namespace) -> list[tuple[chess.Board, int]]:
    """Positions of a suite in EPD with the length of their mate in moves, negative if the side to move is mated."""
    path = words.suite or (MATES if MATES.is_file() else OWN_MATES)
    positions = []
    for line in read_text(path).splitlines():
        board = chess.Board()
        length = board.set_epd(line).get("dm")
        if not isinstance(length, int):
            raise ProgramError(f"{path} has a position without dm: {line[:100]}")
        positions.append((board, length))
    return positions[: 40 if words.short else None]


def search_mates(spec: EngineSpec, positions: list[tuple[chess.Board, int]], threads: int) -> Iterator[str]:
    """What is wrong with the answers of an engine."""
    spec = replace(spec, options=(("Threads", str(threads)),))
    found = 0
    with Engine(spec) as engine, show_progress(f"mates, {threads} threads", len(positions)) as advance:
        for board, length in positions:
            infos = search(engine, board, 100_000)
            found += infos[-1].mate is not None
            faults = list(mate_faults(board, length, infos))
            if faults:
                yield f"{threads} threads, {board.fen()}: in {len(faults)} reports, the last: {faults[-1]}"
            advance()
    say(f"mates: {threads} threads found {found} of {len(positions)}")


def search(engine: Engine, board: chess.Board, nodes: int) -> list[Info]:
    """The reports of a search with lines of moves, in a new game."""
    engine.new_game()
    engine.set_position(board)
    engine.send(f"go nodes {nodes}")
    infos = [read_info(line.text) for line in engine.read_until("bestmove", SEARCH_SECONDS)]
    return [info for info in infos if info is not None and info.pv]


def mate_faults(board: chess.Board, length: int, infos: list[Info]) -> Iterator[str]:
    """What is wrong with reports of a position with a mate of this length."""
    for info in infos:
        end = board.copy(stack=False)
        try:
            for word in info.pv:
                end.push_uci(word)
        except ValueError:
            yield f"an illegal move in {' '.join(info.pv)}"
            continue
        moves = info.mate
        if moves is None or not info.is_exact:
            continue
        if moves * length <= 0 or abs(moves) < abs(length):
            yield f"mate {moves} is reported, and the mate takes {length}"
        elif not end.is_checkmate() or len(info.pv) != (2 * moves - 1 if moves > 0 else -2 * moves):
            yield f"the line of mate {moves} is no such mate: {' '.join(info.pv)}"


def repeat(words: argparse.Namespace) -> Iterator[str]:
    """After `ucinewgame` the same search again, of 20 budgets: the same reports."""
    budgets = [int(100 * 1.5**step) for step in range(20)]
    cases = [(chess.Board(fen), nodes) for fen in POSITIONS[: 3 if words.short else None] for nodes in budgets]
    with Engine(own_engine()) as engine:
        first, second = ([search(engine, *case) for case in cases] for _ in range(2))
        for (board, nodes), *reports in zip(cases, first, second, strict=True):
            if reports[0] != reports[1]:
                yield f"{board.fen()}, nodes {nodes}: {reports[0][-1]}, then {reports[1][-1]}"


def perft(words: argparse.Namespace) -> Iterator[str]:
    """Counts of moves in EPD (`FEN ;D1 20 ;D2 400`), of standard chess or Chess960, up to a depth: the same here."""
    position, right = load().position_class(default_weights().piece_square), 0
    for path in words.counts:
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            epd, *texts = line.split(";")
            try:
                # Positions of standard chess obey the rules of Chess960, too.
                position.set_board(read_fen(epd, chess960=True)[0])
                counts = {int(depth.removeprefix("D")): int(count) for depth, count in map(str.split, texts)}
            except ValueError as error:
                raise ProgramError(f"{path.name}:{number}: {error}") from error
            for depth, expected in sorted(counts.items()):
                found = position.count(depth) if depth <= words.depth else expected
                right += found == expected and depth <= words.depth
                if found != expected:
                    yield f"{path.name}:{number}: depth {depth} gives {found}, not {expected}"
    say(f"perft: {right} counts right")
    if not right:
        yield "no count is right"


def builds(words: argparse.Namespace) -> Iterator[str]:
    """The benchmark of every build: the same number of nodes."""
    portable = Build("portable").engine
    specs = {
        "this build": own_engine("compiled"),
        "portable": portable,
        "portable, without AVX2": replace(portable, command=(portable.command[0], "-c", WITHOUT_AVX2)),
        "ASan and UBSan": Build("memory").engine,
    }

    def count(spec: EngineSpec) -> str:
        command = [*spec.command, "bench"]
        output = subprocess.run(command, cwd=spec.directory, capture_output=True, text=True, check=True).stdout
        return next(line for line in output.splitlines() if line.startswith("nodes "))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        totals = dict(zip(specs, pool.map(count, specs.values()), strict=True))
    say(f"builds: {totals}")
    yield from (f"{name}: {total}" for name, total in totals.items() if total != totals["this build"])


# Games ---------------------------------------------------------------------------------------------------------------


def games(words: argparse.Namespace) -> Iterator[str]:
    """Twenty games at 4 s + 0.04 s of the build with ASan and UBSan in fastchess."""
    if shutil.which(words.fastchess) is None:
        raise ProgramError(f"there is no program {words.fastchess}: name it with --fastchess")
    build = Build("memory")
    openings, log, pgn = (build.folder / f"games.{suffix}" for suffix in ("epd", "log", "pgn"))
    openings.write_text("\n".join(POSITIONS[:10]) + "\n")
    for path in (log, pgn):
        path.unlink(missing_ok=True)
    program, *arguments = build.engine.command
    engine = (f"cmd={program}", f"args={shlex.join(arguments)}")
    command = [words.fastchess, "-engine", "name=one", *engine, "-engine", "name=two", *engine]
    command += ["-each", "tc=4+0.04", "option.Hash=16", "-openings", f"file={openings}", "format=epd"]
    command += ["-rounds", "1" if words.short else "10", "-repeat"]
    command += ["-concurrency", str(os.cpu_count()), "-startup-ms", "60000"]
    command += ["-log", f"file={log}", "level=warn", "-pgnout", f"file={pgn}"]
    code = run(command, build.folder / "fastchess.log", build.folder)
    if code or not pgn.exists():
        yield f"fastchess ended with exit code {code}, see {build.folder / 'fastchess.log'}"
        return
    yield from filter(None, log.read_text("utf-8", errors="replace").splitlines() if log.exists() else [])
    ends = re.findall(r'\[Termination "([^"]*)"\]', pgn.read_text("utf-8", errors="replace"))
    say(f"games: {len(ends)} played")
    yield from (f"a game ended by {end}" for end in ends if end not in ("normal", "adjudication"))
    yield from build.reports()


CHECKS: dict[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    check.__name__: check for check in (games, memory, races, mates, repeat, perft, builds)
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks of the command line; returns the exit code. Raises ProgramError and OSError."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checks", nargs="+", choices=list(CHECKS), metavar="CHECK", help=", ".join(CHECKS))
    parser.add_argument("--short", action="store_true", help="fewer positions, tests and games")
    parser.add_argument("--suite", type=Path, help=f"mate positions in EPD with dm ({MATES.name}, or a few of ours)")
    parser.add_argument("--counts", nargs="+", type=Path, default=[], metavar="FILE", help="of perft, in EPD")
    parser.add_argument("--depth", type=int, default=99, help="of perft, at most")
    parser.add_argument("--fastchess", default="fastchess", metavar="PROGRAM", help="for games (%(default)s)")
    words = parser.parse_args(arguments)
    count = 0
    for name in words.checks:
        note(f"{name}: {CHECKS[name].__doc__}")
        for finding in CHECKS[name](words):
            say(f"{name}: {finding}")
            count += 1
    say(f"{', '.join(words.checks)}: {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    run_program(main)
