"""The tables of three pieces, read by the engine and by python-chess."""

from __future__ import annotations

from collections.abc import Iterator

import chess.syzygy
import pytest

from tests.support import TABLES
from tests.support.syzygy_samples import Probing


@pytest.fixture(scope="session")
def probing() -> Probing:
    return Probing(TABLES)


@pytest.fixture(scope="session")
def oracle() -> Iterator[chess.syzygy.Tablebase]:
    with chess.syzygy.open_tablebase(str(TABLES)) as opened:
        yield opened
