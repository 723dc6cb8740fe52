"""tests.support.process: nothing waits without an end, and nothing that was started is left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support import PATIENCE_SECONDS, wait_until
from tests.support.process import EngineProcess

posix_only = pytest.mark.skipif(not hasattr(os, "killpg"), reason="no sessions here")


def python(program: str) -> EngineProcess:
    return EngineProcess([sys.executable, "-c", program])


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process_id}/stat")
    # Whoever has ended and waits for init to notice is not alive.
    return not status.exists() or status.read_text("latin-1").rpartition(")")[2].split()[0] != "Z"


def test_many_small_writes_to_a_process_that_does_not_read_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.process.READING_SECONDS", 0.2)
    with python("import time; time.sleep(600)") as engine:
        for _ in range(1000):
            engine.send_bytes(b"position startpos" * 100 + b"\n")
        assert engine.wait_for_exit(PATIENCE_SECONDS) == -9


@posix_only
def test_what_the_process_started_ends_with_it() -> None:
    child = "import time; time.sleep(600)"
    with python(f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid)") as engine:
        assert engine.wait_for_line("", 0, PATIENCE_SECONDS)
        child_id = int(engine.lines[0])
        assert is_alive(child_id)
    wait_until(lambda: not is_alive(child_id))
