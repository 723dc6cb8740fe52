"""The debug log: which lines it holds, what it may write to, and that nothing else suffers from it."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.support.uci_process import UciProcess
from uci_engine.uci.debug_log import HEADING, DebugLog
from uci_engine.uci.loop import Writer

RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[(?P<process>\d+)\] (?P<mark>>>|<<|--) (?P<line>.*)")


def records(path: Path) -> list[tuple[str, str]]:
    """Mark and line of each record. Everything else must be a heading."""
    found = []
    for text in path.read_text("utf-8").splitlines():
        match = RECORD.fullmatch(text)
        if match is None:
            assert text.startswith(HEADING), text
        else:
            found.append((match["mark"], match["line"]))
    return found


def option(path: object) -> str:
    return f"setoption name Debug Log File value {path}"


# The real program ---------------------------------------------------------------------------------------------------


def test_every_line_is_noted_at_once_and_in_its_order(tmp_path: Path, either_engine: UciProcess) -> None:
    path = tmp_path / "with  two blanks.log"
    # In one write: the reader is far ahead when the log is opened.
    either_engine.send(option(path), "isready", "position startpos moves e2e4", "go depth 2")
    either_engine.wait_for("bestmove")
    either_engine.send("nonsense", "d")
    either_engine.sync()
    noted = records(path)
    assert [line for mark, line in noted if mark == ">>"] == either_engine.sent[1:-1]
    assert [line for mark, line in noted if mark == "<<"] == either_engine.lines
    for question, answer in (("isready", "readyok"), ("go depth 2", "bestmove"), ("d", "8  r")):
        asked = noted.index((">>", question))
        assert any(mark == "<<" and line.startswith(answer) for mark, line in noted[asked:])
    if os.name == "posix":
        # Only the owner can read it.
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_file_and_none(tmp_path: Path, engine: UciProcess) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    engine.send(option(first), "isready", option(second), "isready", option("<empty>"), "isready")
    for _ in range(3):
        engine.wait_for("readyok")
    assert [line for _, line in records(first)] == ["isready", "readyok", option(second)]
    assert [line for _, line in records(second)] == ["isready", "readyok", option("<empty>")]
    open_files = Path(f"/proc/{engine.process.pid}/fd")
    if open_files.is_dir():
        assert not {str(first), str(second)} & {os.readlink(file) for file in open_files.iterdir()}


def test_a_log_is_continued_and_may_be_shared(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for _ in range(2):
        with UciProcess() as one, UciProcess() as other:
            for engine in (one, other):
                engine.send(option(path))
                engine.sync()
    assert records(path).count((">>", "isready")) == 4
    assert path.read_text().count(HEADING) == 4
    processes = {match["process"] for match in map(RECORD.fullmatch, path.read_text().splitlines()) if match}
    assert len(processes) == 4


def bad_places(folder: Path) -> list[str]:
    (folder / "games.pgn").write_text("1. e4 e5 *\n")
    places = [str(folder), str(folder / "no" / "such"), str(folder / "games.pgn"), str(folder / ("x" * 5000))]
    if os.name == "posix":
        os.mkfifo(folder / "pipe")
        places += [str(folder / "pipe"), "/dev/full", "/dev/zero", "/dev/stdout"]
    if sys.platform == "linux":
        # A log there would rename the process.
        places += ["/proc/self/comm", "/proc/self/mem"]
    return places


def test_a_bad_place_is_refused_in_one_sentence(tmp_path: Path, engine: UciProcess) -> None:
    path = tmp_path / "log"
    engine.send(option(path))
    engine.sync()
    for place in bad_places(tmp_path):
        engine.send(option(place))
        (message,) = engine.sync()
        assert message.startswith("info string error: option Debug Log File cannot be ")
        assert len(message) < 300
    assert (tmp_path / "games.pgn").read_text() == "1. e4 e5 *\n"
    engine.search("go depth 2")
    # The log before is still the log.
    engine.quit()
    assert (">>", "go depth 2") in records(path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process")
def test_a_full_disc_is_told_once_and_play_goes_on(tmp_path: Path, engine: UciProcess) -> None:
    import resource

    path = tmp_path / "log"
    engine.send(option(path))
    engine.sync()
    limit = path.stat().st_size + 500
    resource.prlimit(engine.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
    engine.send("position startpos", "go depth 4")
    engine.wait_for("bestmove")
    for _ in range(3):
        engine.search("go depth 3")
        engine.sync()
    told = [line for line in engine.lines if "debug log" in line]
    assert len(told) == 1
    assert told[0].endswith(": File too large")
    assert path.stat().st_size <= limit
    # A second try says so again.
    engine.send(option(path))
    (message,) = engine.sync()
    assert message.startswith("info string error: option Debug Log File cannot be ")


# The log alone ------------------------------------------------------------------------------------------------------


def test_a_record_has_the_time_of_reading_and_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = Writer(io.BytesIO())
    writer.set_log(DebugLog(str(path)))
    earliest = time.time() - 90
    writer.note_received("d\x1b[31m\u009b\0 \u00e4\ud800", time.perf_counter() - 90)
    writer.set_log(None)
    assert records(path) == [(">>", "d\\x1b[31m\\x9b\\x00 \u00e4?")]
    _, record = path.read_text("utf-8").splitlines()
    shown = datetime.strptime(record[:23], "%Y-%m-%d %H:%M:%S.%f").timestamp()
    assert -0.01 < shown - earliest < 60


def test_a_command_is_noted_while_nobody_reads_the_output(tmp_path: Path) -> None:
    """`stop` and `ponderhit` are noted before they are executed."""
    begun, may_end = threading.Event(), threading.Event()

    class Blocked(io.BytesIO):
        def write(self, data: object) -> int:
            begun.set()
            may_end.wait()
            return 0

    writer = Writer(Blocked())
    writer.set_log(DebugLog(str(tmp_path / "log")))
    search = threading.Thread(target=writer.write, args=("info depth 1",), daemon=True)
    search.start()
    begun.wait()
    command = threading.Thread(target=writer.note_received, args=("stop", time.perf_counter()), daemon=True)
    command.start()
    command.join(5)
    is_noted = not command.is_alive()
    may_end.set()
    search.join()
    assert is_noted
    writer.set_log(None)
    assert [line for _, line in records(tmp_path / "log")] == ["info depth 1", "stop"]
