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
# The files that take longest begin first: at the end no processor waits long for another.
LONGEST = ("test_browser", "test_build", "test_bench", "test_fit_policy", "test_analyse_command", "test_match")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


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


@pytest.fixture(scope="module")
def process_of_module() -> Iterator[UciProcess]:
    """One process for many tests, so that each costs milliseconds; audited and ended after them."""
    with UciProcess() as process:
        yield process


@pytest.fixture
def survivor(process_of_module: UciProcess) -> UciProcess:
    """A process that earlier tests of the module have used, and that must have survived them: idle, at the start
    position, with nothing left to read.
    """
    process_of_module.send("stop", "debug off", "ucinewgame", "position startpos")
    process_of_module.sync()
    return process_of_module
