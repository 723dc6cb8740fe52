"""Fixtures for the tests that talk to the program as a chess program would."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.uci_process import UciProcess
from uci_engine.core import load

# A property fails the same way for everybody, and never because the machine was busy. At night CI tries new examples.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("new examples", deadline=None, print_blob=True)
settings.load_profile("new examples" if os.environ.get("SECATEUR_NEW_EXAMPLES") == "1" else "steady")

# A shell's background job ignores SIGINT, and so would all programs that the tests start in order to interrupt them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CORES = ("installed", "python-chess")


@pytest.fixture(params=CORES)
def core(request: pytest.FixtureRequest) -> str | None:
    """For tests that matter on both cores: what to set SECATEUR_CORE to; None for what is installed."""
    if request.param == "installed":
        return None
    if load().name == request.param:
        pytest.skip("the python-chess core is the installed one")
    return str(request.param)


@pytest.fixture
def engine() -> Iterator[UciProcess]:
    """A fresh process, audited and ended after the test."""
    with UciProcess() as process:
        yield process


@pytest.fixture
def either_engine(core: str | None) -> Iterator[UciProcess]:
    """A fresh process on each of the cores, audited and ended after the test."""
    with UciProcess(core=core) as process:
        yield process


class Survivor:
    """One process for many tests, so that each costs milliseconds; replaced if a test has killed it."""

    def __init__(self) -> None:
        self._process: UciProcess | None = None

    def get(self) -> UciProcess:
        """The process, idle, at the start position, with nothing left to read."""
        if self._process is None or self._process.process.poll() is not None:
            if self._process is not None:
                self._process.kill()
            self._process = UciProcess()
        self._process.send("stop", "debug off", "ucinewgame", "position startpos")
        self._process.sync()
        return self._process

    def close(self) -> None:
        """End the process and audit all that it has said."""
        if self._process is not None:
            with self._process:
                self._process = None


@pytest.fixture(scope="module")
def survivor_of_module() -> Iterator[Survivor]:
    survivor = Survivor()
    yield survivor
    survivor.close()


@pytest.fixture
def survivor(survivor_of_module: Survivor) -> UciProcess:
    """A process that earlier tests of the module have used, and that must have survived them."""
    return survivor_of_module.get()
