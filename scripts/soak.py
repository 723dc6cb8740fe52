#!/usr/bin/env python3
"""Soak a UCI engine: game after game at a fast time control on a busy machine, with every output line checked.

    python scripts/soak.py [--engine 'cmd=PROGRAM tc=1+0.01 option.Hash=16'] [--engine …] [--games 100] [--load 2]

One engine plays itself, two play each other; without `--engine` the engine of these sources plays. Every violation of
an oracle is counted and named, and the whole conversation with that process is written to a file that
`fuzz.py --replay` repeats. With `--journal` a run that was ended can be continued. The exit code is 1 if anything was
found, 2 if the soak could not begin or go on, 130 if it was interrupted. What was played until then is always reported.
"""

from __future__ import annotations

from lib.program import INTERRUPTED, run_program

# isort: split

import argparse
import os
import shlex
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lib.console import complain, make_table, new_file, say, show_progress, standard_output, write_json
from lib.engines.spec import ENGINE_SYNTAX, own_engine, parse_engines
from lib.errors import ProgramError
from lib.journal import Journal
from lib.soak import JudgedEngine, SoakRules, load, play_game
from lib.uci import oracles
from lib.uci.conversation import save
from lib.uci.oracles import ORACLES, describe_oracles

DEFAULTS = "tc=1+0.01"
MAX_FILES = 50


class Soak:
    """Two players, and the games between them."""

    def __init__(
        self, players: Sequence[JudgedEngine], rules: SoakRules, seed: int, games_of_a_process: int, keep: Path
    ) -> None:
        self._players = players
        self._rules = rules
        self._seed = seed
        self._games_of_a_process = games_of_a_process
        self._keep = keep
        self._files = 0

    def play(self, number: int) -> dict[str, Any]:
        """Play the game of this number, from 1; returns its entry for the journal. Raises OSError."""
        white, black = self._players if number % 2 else self._players[::-1]
        began = time.monotonic()
        record = play_game(white, black, f"{self._seed}/{number}", self._rules)
        ends = number % self._games_of_a_process == 0
        violations = []
        for index, player in enumerate(self._players):
            if ends and not player.failed:
                # Either order to leave must be obeyed.
                player.leave(with_quit=(number // self._games_of_a_process + index) % 2 == 0)
            violations += self._collect(player, number)
            if ends or player.failed:
                player.forget()
        return {
            "game": number,
            "white": white.spec.name,
            "black": black.spec.name,
            "result": record.result,
            "ending": record.ending,
            "plies": len(record.moves),
            "seconds": round(time.monotonic() - began, 2),
            "engines": {player.spec.name: player.tally.as_json() for player in self._players},
            "violations": violations,
        }

    def end(self) -> list[dict[str, Any]]:
        """Let both engines leave; returns what was found wrong with that."""
        violations = []
        for player in self._players:
            player.leave(with_quit=True)
            violations += self._collect(player, 0)
            player.forget()
        return violations

    def kill(self) -> None:
        """End both processes, whatever they do."""
        for player in self._players:
            player.forget()

    def _collect(self, player: JudgedEngine, number: int) -> list[dict[str, Any]]:
        """The new violations of this player; the first of each oracle with a file of the conversation."""
        entries: list[dict[str, Any]] = []
        files: dict[str, str] = {}
        for violation in player.new_violations():
            if violation.oracle not in files and self._files < MAX_FILES:
                path = self._keep / f"game{number:05}-{violation.oracle}-{_file_name(player.spec.name)}.txt"
                save(player.conversation(f"{player.spec.name}, game {number}", str(violation)), path)
                files[violation.oracle] = str(path)
                self._files += 1
            entries.append(
                {
                    "oracle": violation.oracle,
                    "engine": player.spec.name,
                    "seen": violation.sentence,
                    "file": files.get(violation.oracle),
                }
            )
        return entries


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def summarize(entries: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each engine the figures of all its games; times in ms, memory in MiB, None where nothing was measured."""
    summary: dict[str, dict[str, Any]] = {}
    names = sorted({name for entry in entries for name in entry.get("engines", ())})
    violations = [violation for entry in entries for violation in entry["violations"]]
    for name in names:
        tallies = [entry["engines"][name] for entry in entries if name in entry.get("engines", ())]
        ready = [value for tally in tallies for value in tally["ready_ms"]]
        stop = [value for tally in tallies for value in tally["stop_ms"]]
        clocks = [tally["min_clock_ms"] for tally in tallies if tally["min_clock_ms"] is not None]
        memory = [tally["memory_mib"] for tally in tallies if tally["memory_mib"] is not None]
        summary[name] = {
            "games": len(tallies),
            "moves": sum(tally["moves"] for tally in tallies),
            "min_clock_ms": min(clocks, default=None),
            "ready_median_ms": statistics.median(ready) if ready else None,
            "ready_max_ms": max(ready, default=None),
            "stop_median_ms": statistics.median(stop) if stop else None,
            "stop_max_ms": max(stop, default=None),
            "memory_first_mib": memory[0] if memory else None,
            "memory_max_mib": max(memory, default=None),
            "violations": dict(Counter(each["oracle"] for each in violations if each["engine"] == name)),
        }
    return summary


def report(entries: Sequence[Mapping[str, Any]], busy: int) -> None:
    """The tables, on stdout."""
    console = standard_output()
    summary = summarize(entries)
    lines = [
        ("games", "games", ""),
        ("moves", "moves", ""),
        ("least left on the clock", "min_clock_ms", "ms"),
        ("readyok while searching, median", "ready_median_ms", "ms"),
        ("readyok while searching, slowest", "ready_max_ms", "ms"),
        ("stop to bestmove, median", "stop_median_ms", "ms"),
        ("stop to bestmove, slowest", "stop_max_ms", "ms"),
        ("memory, first game", "memory_first_mib", "MiB"),
        ("memory, most", "memory_max_mib", "MiB"),
    ]
    rows = [[label, *(_shown(summary[name][key], unit) for name in summary)] for label, key, unit in lines]
    counts = [figures["violations"] for figures in summary.values()]
    broken = [oracle for oracle in ORACLES if any(oracle in count for count in counts)]
    rows += [[f"broken: {oracle}", *(str(count.get(oracle, 0)) for count in counts)] for oracle in broken]
    console.print(make_table("", ("", *summary), rows))
    games = [entry for entry in entries if entry["game"]]
    endings = Counter(entry["ending"] for entry in games)
    counted = ", ".join(f"{count} by {ending}" for ending, count in endings.most_common())
    total = sum(sum(count.values()) for count in counts)
    say(f"{len(games)} games with {busy} busy processes beside them: {counted}")
    say(f"{total} violations")
    for entry in entries:
        for violation in entry["violations"]:
            if violation["file"]:
                say(f"{violation['file']}: {violation['oracle']}: {violation['seen'][:300]}")


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.1f} {unit}" if unit else str(value)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=describe_oracles(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--engine", action="append", default=[], metavar="SPEC", help=f"once or twice: {ENGINE_SYNTAX}")
    parser.add_argument("--each", default="", help=f"what engines do not say themselves (default: {DEFAULTS})")
    parser.add_argument("--games", type=int, help="how many games (default: 100, with --minutes any number)")
    parser.add_argument("--minutes", type=float, help="begin no game after so many minutes of play")
    busy = os.cpu_count() or 1
    parser.add_argument("--load", type=int, default=busy, help="busy processes (default: as processors, %(default)s)")
    parser.add_argument("--chess960", action="store_true", help="play Chess960")
    parser.add_argument("--restart", type=int, default=20, help="games of a process before it is ended (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="of openings and of what is done on the way (default: 1)")
    parser.add_argument("--margin-ms", type=float, default=0.0, metavar="MS", help="grace on the clock (default: 0)")
    parser.add_argument("--growth-mib", type=float, default=64.0, help="memory that may be added (default: 64)")
    parser.add_argument("--keep", type=Path, default=Path("soak_found"), help="folder for what is found")
    parser.add_argument("--journal", type=new_file, help="keep each finished game in this file")
    parser.add_argument("--resume", action="store_true", help="continue the journal")
    parser.add_argument("--json", type=new_file, help="write the result to this file")
    oracles.add_arguments(parser)
    words = parser.parse_args(arguments)
    if len(words.engine) > 2:
        parser.error("one engine or two")
    if words.games is None and words.minutes is None:
        words.games = 100
    if min(words.restart, words.games or 1) < 1:
        parser.error("--games and --restart must be 1 or more")
    return words


def make_players(words: argparse.Namespace) -> list[JudgedEngine]:
    """Two players for these arguments; raises ProgramError."""
    own = own_engine()
    texts = words.engine or [f"name={own.name} {shlex.join(['cmd=' + shlex.join(own.command)])} dir={own.directory}"]
    specs = parse_engines(texts * 2 if len(texts) == 1 else texts, words.each or DEFAULTS)
    patience = oracles.patience_of(words)
    rules = SoakRules(words.margin_ms, words.growth_mib, words.chess960)
    return [JudgedEngine(spec, patience, rules, words.without) for spec in specs]


def run(words: argparse.Namespace, entries: list[dict[str, Any]]) -> None:
    """Play, and add an entry for each game as it ends. Raises ProgramError and OSError."""
    players = make_players(words)
    rules = SoakRules(words.margin_ms, words.growth_mib, words.chess960)
    settings = {
        "tool": "soak",
        "engines": [player.spec.as_json() for player in players],
        "rules": asdict(rules),
        "seed": words.seed,
        "load": words.load,
        "restart": words.restart,
    }
    journal = Journal(words.journal, settings, resume=words.resume)
    entries += journal.entries
    games = sum(1 for entry in entries if entry["game"])
    seconds_left = float("inf") if words.minutes is None else words.minutes * 60 - sum(e["seconds"] for e in entries)
    soak = Soak(players, rules, words.seed, words.restart, words.keep)

    def add(entry: dict[str, Any]) -> None:
        entries.append(entry)
        journal.append(entry)

    # What comes from an engine is stamped by a thread of ours, which must not wait for another one.
    sys.setswitchinterval(0.0005)
    began = time.monotonic()
    try:
        with load(words.load), show_progress("games", words.games, games) as advance:
            while (words.games is None or games < words.games) and time.monotonic() - began < seconds_left:
                games += 1
                add(soak.play(games))
                advance(1, f"{sum(len(entry['violations']) for entry in entries)} violations")
            add({"game": 0, "seconds": 0.0, "violations": soak.end()})
    finally:
        soak.kill()
        journal.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    words = parse_arguments(arguments)
    entries: list[dict[str, Any]] = []
    code = 0
    try:
        run(words, entries)
    except KeyboardInterrupt:
        # The usual end of a long soak: what was seen until then is reported.
        complain("interrupted")
        code = INTERRUPTED
    except (ProgramError, OSError) as error:
        complain(error)
        code = 2
        if not entries:
            return code
    report(entries, words.load)
    if words.json:
        write_json(words.json, {"load": words.load, "engines": summarize(entries), "games": entries})
    return 1 if any(entry["violations"] for entry in entries) else code


if __name__ == "__main__":
    run_program(main)
