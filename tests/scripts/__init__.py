"""Tests of scripts/, and how they describe the engine of tests/support/fake_engine.py."""

from __future__ import annotations

import sys

from tests.support import FAKE_ENGINE
from toolkit.engines.spec import EngineSpec, TimeControl


def fake_command(mode: object = "good", first_bad_move: int = 1) -> str:
    """Its `cmd=`."""
    return f"cmd='{sys.executable} {FAKE_ENGINE} {mode} {first_bad_move}'"


def fake(
    mode: str = "good", *options: tuple[str, str], first_bad_move: int = 1, control: TimeControl | None = None
) -> EngineSpec:
    """An engine with the name of its mode."""
    command = (sys.executable, str(FAKE_ENGINE), mode, str(first_bad_move))
    return EngineSpec(mode, command, None, control or TimeControl(depth=1), options)
