"""A pair of games: one opening, played twice with colours reversed. What the workers of a match do.

Called in worker processes through `pool.run_tasks`, for `match`. What must stay true: a job and its result can be
pickled; a pair is played whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lib.engines.room import EngineRoom, engine_room
from lib.engines.spec import EngineSpec
from lib.games.adjudication import Rules
from lib.games.clock import Patience
from lib.games.game import Game
from lib.games.openings import Opening


@dataclass(frozen=True)
class PairJob:
    """One task: `first` plays White in the first game.

    number: of the pair in the match, from 1, for the PGN's Round. keep_engines: leave them running for the next job.
    """

    first: EngineSpec
    second: EngineSpec
    opening: Opening
    number: int
    event: str
    rules: Rules
    patience: Patience
    keep_engines: bool = True


def play_pair(job: PairJob) -> list[dict[str, Any]]:
    """The two games, as GameRecord.as_json has them, each with its PGN. Raises LaunchError."""
    with engine_room(job.keep_engines) as room:
        return room.run(_play_pair(room, job))


async def _play_pair(room: EngineRoom, job: PairJob) -> list[dict[str, Any]]:
    results = []
    tables = room.tables(job.rules.tables)
    for game_number, (white, black) in enumerate(((job.first, job.second), (job.second, job.first)), start=1):
        game = Game(await room.engine(white), await room.engine(black), job.opening, job.rules, job.patience, tables)
        record = await game.play()
        if record.fault is not None:
            await room.dismiss(white if record.guilty == white.name else black)
        pgn = record.pgn(job.event, f"{job.number}.{game_number}")
        results.append({**record.as_json(), "pgn": pgn})
    return results
