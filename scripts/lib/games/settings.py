"""A pair of games between two settings of one engine: what the workers of `tune_search` and `factorial_test` do.

Called in worker processes through `pool.run_tasks`, by `settings_run`. What must stay true: a job and its result can be
pickled; the two settings meet with both colours, and nothing but the settings tells them apart; a pair with a forfeit
says so.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import chess.engine

from lib.engines.playing import launch
from lib.engines.room import EngineRoom, engine_room
from lib.engines.spec import EngineSpec
from lib.games.adjudication import Rules
from lib.games.clock import Patience
from lib.games.game import Game
from lib.games.openings import Opening
from lib.pairing import Pairing


@dataclass(frozen=True)
class SettingsJob:
    """One task: an opening twice, colours reversed, between two settings of an engine."""

    engine: EngineSpec
    pairing: Pairing
    opening: Opening
    rules: Rules
    patience: Patience
    keep_engines: bool


def play_settings_pair(job: SettingsJob) -> dict[str, Any]:
    """`result`, games that `plus` won less those it lost; the `directions`; `faults`, as sentences.

    Raises LaunchError.
    """
    with engine_room(job.keep_engines) as room:
        return room.run(_play_settings_pair(room, job))


async def _play_settings_pair(room: EngineRoom, job: SettingsJob) -> dict[str, Any]:
    result = 0.0
    faults: list[str] = []
    sides = {"plus": job.pairing.plus, "minus": job.pairing.minus}
    for white, black in (("plus", "minus"), ("minus", "plus")):
        # Two engines of one description are told apart by their names.
        specs = {side: replace(job.engine, name=f"{job.engine.name} {side}") for side in sides}
        engines = {side: await room.engine(specs[side]) for side in sides}
        for side, values in sides.items():
            await engines[side].configure(dict(values))
        tables = room.tables(job.rules.tables)
        record = await Game(engines[white], engines[black], job.opening, job.rules, job.patience, tables).play()
        if record.fault is not None:
            faults.append(f"{record.fault}: {record.detail}")
            for spec in specs.values():
                await room.dismiss(spec)
        points = record.white_points
        result += 2 * (points if white == "plus" else 1 - points) - 1
    return {"result": result, "directions": job.pairing.directions, "faults": faults}


def find_numbers(engine: EngineSpec) -> dict[str, chess.engine.Option]:
    """The engine's options that are whole numbers, by name; what `engine` sets is the default. Raises LaunchError."""
    chosen = {name.lower(): value for name, value in engine.options}
    return {
        name: replace(option, default=chosen.get(name.lower(), option.default))
        for name, option in asyncio.run(_options(engine)).items()
        if option.type == "spin"
    }


async def _options(engine: EngineSpec) -> dict[str, chess.engine.Option]:
    running = await launch(engine)
    try:
        return dict(running.options)
    finally:
        await running.close()
