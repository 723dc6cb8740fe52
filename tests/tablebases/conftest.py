"""Tables, read by the engine and by python-chess."""

from __future__ import annotations

from collections.abc import Iterator

import chess.syzygy
import pytest

from tests.support import TABLES
from tests.support.syzygy_samples import WORKSHOP, Probing


@pytest.fixture(scope="session")
def probing() -> Probing:
    return Probing(TABLES)


@pytest.fixture(scope="session")
def oracle() -> Iterator[chess.syzygy.Tablebase]:
    with chess.syzygy.open_tablebase(str(TABLES)) as opened:
        yield opened


@pytest.fixture(scope="session")
def workshop() -> Iterator[chess.syzygy.Tablebase]:
    """The larger tables, as python-chess reads them."""
    if not WORKSHOP:
        pytest.skip("the tables are not here")
    with chess.syzygy.Tablebase(max_fds=None) as opened:
        for folder in WORKSHOP:
            opened.add_directory(str(folder))
        yield opened
