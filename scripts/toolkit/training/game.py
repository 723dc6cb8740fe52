"""Games of the engine against itself, in this process, and the training positions of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.network.file import default_network
from toolkit.games.adjudication import Rules
from toolkit.games.openings import Opening
from toolkit.training.labels import stockfish_scores
from toolkit.training.positions import FIRST, RECORD, RECORD_BYTES, RESULT_NAMES
from toolkit.training.sources import Source, choose_opening
from toolkit.training.stockfish_network import StockfishNetwork, read_network
from uci_engine.core import load
from uci_engine.options import NETWORK_BY_DEFAULT
from uci_engine.search.thread_pool import new_network_weights, new_searcher, new_worker

NOT_PLAYED = "not played"


@dataclass(frozen=True)
class Kept:
    """What is kept of a game.

    max_opening_cp: an opening whose first score is beyond this, for either side, is not played; 0 for no limit.
    max_positions: drawn from those of the game; 0 for all. ahead: up to so many positions ahead of each search, as it
    meets them, are kept besides its own, and have no scores. skipped_plies: nothing is kept of a game before this ply.
    """

    max_opening_cp: int = 0
    max_positions: int = 0
    ahead: int = 0
    skipped_plies: int = 0


@dataclass(frozen=True)
class PlayedGame:
    """records: one after another, see `toolkit.training.positions`. result: None if the opening was too unequal."""

    result: str | None
    records: bytes


class SelfPlayer:
    """The engine with a fixed number of nodes a move, for both sides of a game; see `uci_engine.search.self_play`."""

    def __init__(self, nodes: int, hash_mib: int) -> None:
        core = load()
        network_weights = new_network_weights(default_network() if NETWORK_BY_DEFAULT else None)
        searcher = new_searcher(core, core.table_class(hash_mib), network_weights=network_weights)
        scout = new_searcher(core, core.table_class(1), network_weights=network_weights)
        self._searchers = (searcher, scout)
        self._game: Any = core.modules["uci_engine.search.self_play"].SelfPlay(new_worker(searcher), scout)
        self._game.nodes = nodes

    def play(self, opening: Opening, rules: Rules, kept: Kept, seed: int) -> PlayedGame:
        """Play a game to its end. Positions in check are not kept. `seed`: of what `kept` leaves to chance."""
        board = opening.board()
        for searcher in self._searchers:
            searcher.table.clear()
            searcher.position.set_board(board)
        # The scout's quiescence searches write no history.
        self._searchers[0].clear()
        game = self._game
        for name in ("resign_moves", "resign_cp", "resign_both", "draw_from", "draw_moves", "draw_cp", "max_moves"):
            setattr(game, name, getattr(rules, name))
        game.max_opening_cp, game.ahead, game.skipped_plies = kept.max_opening_cp, kept.ahead, kept.skipped_plies
        game.play(board.ply(), seed)
        if game.result == len(RESULT_NAMES):
            return PlayedGame(None, b"")
        records = np.array(game.records(), "<u8").tobytes()
        return PlayedGame(RESULT_NAMES[game.result], chosen(records, kept.max_positions, seed))


def chosen(records: bytes, count: int, seed: int) -> bytes:
    """So many records of a game, drawn at random, in their order; 0 for all."""
    if not count or len(records) <= count * RECORD_BYTES:
        return records
    positions = np.frombuffer(records, RECORD)
    drawn = positions[np.sort(np.random.default_rng(seed).choice(len(positions), count, replace=False))]
    drawn["flags"][0] |= FIRST
    return drawn.tobytes()


@cache
def self_player(nodes: int, hash_mib: int) -> SelfPlayer:
    """The one of this process, which does one task at a time."""
    return SelfPlayer(nodes, hash_mib)


def engine_facts() -> dict[str, Any]:
    """What the provenance says of the engine: its version and core."""
    from uci_engine import __version__

    return {"engine": "Secateur", "version": __version__, "core": load().name}


@dataclass(frozen=True)
class Recipe:
    """How games are begun and played, and what is kept of them.

    nodes: of each search. network: of Stockfish 15, for the scores; None: those of the searches, if any.
    """

    sources: tuple[Source, ...]
    nodes: int
    hash_mib: int
    seed: int
    rules: Rules
    kept: Kept
    network: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """For journal and provenance, without the scores. Raises OSError."""
        facts = {name: value for name, value in asdict(self).items() if name != "network"}
        return {**facts, "sources": [source.as_json() for source in self.sources]}


@dataclass(frozen=True)
class Batch:
    """One task: games with these numbers."""

    recipe: Recipe
    games: range


def play_batch(batch: Batch) -> dict[str, Any]:
    """What the workers do: the first game and the one after the last; `positions`, packed; counts of `results`.

    Raises ProgramError, OSError.
    """
    recipe = batch.recipe
    player = self_player(recipe.nodes, recipe.hash_mib)
    positions = bytearray()
    results: Counter[str] = Counter()
    for number in batch.games:
        opening = choose_opening(recipe.sources, recipe.seed, number)
        seed = random.Random(f"{recipe.seed} {number} positions").getrandbits(32)
        game = player.play(opening, recipe.rules, recipe.kept, seed)
        results[game.result or NOT_PLAYED] += 1
        positions += game.records
    if recipe.network is not None:
        records = np.frombuffer(positions, RECORD)
        records["score_cp"] = stockfish_scores(network_of(recipe.network), records)
    return {
        "first": batch.games.start,
        "end": batch.games.stop,
        "positions": bytes(positions),
        "results": dict(results),
    }


@cache
def network_of(path: Path) -> StockfishNetwork:
    return read_network(path)
