"""What several tests share, and where things are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SUPPORT = Path(__file__).parent
ROOT = SUPPORT.parents[1]
SCRIPTS = ROOT / "scripts"
TABLES = SUPPORT / "tables"
FAKE_ENGINE = SUPPORT / "fake_engine.py"
# For programs that are to run this checkout.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
# Far more than is needed: it ends a test that would hang, it measures nothing.
PATIENCE_SECONDS = 60.0


def run_python(
    *arguments: object, folder: Path = ROOT, data: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run Python on this checkout, with this on standard input, and with these environment variables."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**ENVIRONMENT, **settings},
        input=data,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def wait_until(condition: Callable[[], object], failure: str = "it did not happen") -> None:
    """Return when the condition holds; AssertionError when it does not come to that."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.01)
