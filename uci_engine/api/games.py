"""One game analysed from its text, in any process: what `secateur analyse` does for each game, here or on a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chess.engine import Limit

from uci_engine.api.engine import Engine
from uci_engine.game_analysis.html import GENERATOR
from uci_engine.game_analysis.page import IndexRow, game_page, index_row
from uci_engine.game_analysis.pgn import PgnError, annotate, read_game
from uci_engine.game_analysis.report import analyse_game, played_moves

# Most of it is used again by the position before.
DEFAULT_HASH_MIB = 64
INDEX_FILE = "index.html"


@dataclass(frozen=True, slots=True)
class GameTask:
    """A game to analyse. `text` is its PGN, `page` the name of its page ("" for none). All of it can be pickled.

    `options` are keywords of `Engine`.
    """

    number: int
    text: bytes
    page: str
    limit: Limit
    options: Mapping[str, Any]
    core: str = "auto"
    has_index: bool = False

    @property
    def digest(self) -> str:
        """What tells this game from another one with the same number."""
        return hashlib.sha256(self.text).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class GameResult:
    """An analysed game: annotated PGN, its page, its row in the index. `row.problem` says why there is nothing else."""

    pgn: str
    page: str
    row: dict[str, Any]
    remarks: tuple[str, ...] = ()


def new_engine(options: Mapping[str, Any], core: str = "auto") -> Engine:
    """An engine for analysis. ValueError: an option is wrong."""
    defaults: dict[str, Any] = {"hash": DEFAULT_HASH_MIB, "move_overhead": 0}
    return Engine(core=core, **(defaults | dict(options)))


def analyse_task(task: GameTask) -> GameResult:
    with new_engine(task.options, task.core) as engine:
        return analyse_with(engine, task)


def analyse_with(
    engine: Engine, task: GameTask, on_position: Callable[[float], None] = lambda share: None
) -> GameResult:
    """Analyse a game. `on_position` is told the share of the game that each position is."""
    try:
        game = read_game(task.text)
        share = 1.0 / (len(played_moves(game)[0]) + 1)
        engine.new_game()
        report = analyse_game(game, engine, task.limit, lambda: on_position(share))
    except (PgnError, ValueError) as error:
        return unanalysed(task, str(error))
    links = [("All games", INDEX_FILE)] if task.has_index else []
    page = game_page(report, links) if task.page else ""
    row = index_row(report, task.number, task.page)
    return GameResult(annotate(game, report, GENERATOR), page, asdict(row), report.remarks)


def unanalysed(task: GameTask, problem: str) -> GameResult:
    """The result of a game that cannot be analysed, for this reason."""
    try:
        headers = read_game(task.text).headers
        names = f"{headers.get('White', '?')} \u2013 {headers.get('Black', '?')}"
    except PgnError:
        names = "not a game"
    return GameResult("", "", asdict(IndexRow(task.number, white=names, problem=problem)), (problem,))
