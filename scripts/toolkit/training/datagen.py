"""Games of the engine against itself, in this process, and the training positions of them.

They begin with random moves, the positions or games of a file, or random endgames, in a stated mixture. Invariant: the
same sources, seed and number give the same opening.
"""

from __future__ import annotations

import random
import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np

from evaluation.network.file import default_network
from toolkit.errors import ProgramError
from toolkit.files import digest_of_files
from toolkit.games.adjudication import Rules
from toolkit.games.openings import DeadEndError, Opening, OpeningBook, random_opening, read_openings
from toolkit.training.positions import RECORD, RESULT_NAMES
from toolkit.training.stockfish_network import StockfishNetwork, read_network, scores_of_network
from uci_engine.core import load
from uci_engine.options import NETWORK_BY_DEFAULT
from uci_engine.search.thread_pool import ThreadPool

SOURCE_SYNTAX = (
    "'random plies=6-9 share=2', 'file=openings.epd plies=0-4 share=3', 'file=frc.epd chess960=yes', "
    "'file=games.pgn cut=10-80 share=1' (each game up to a random ply) or 'endgames pieces=4-8 share=1'"
)
# A random placement of pieces that is no legal position is tried again, so many times at most.
MAX_PLACEMENTS = 10_000
# Openings that lead nowhere, in a row, before the run ends.
MAX_DRAWS = 100
# Pieces of an endgame besides the kings, drawn with these weights.
ENDGAME_PIECES = {chess.PAWN: 8, chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 3, chess.QUEEN: 1}

NOT_PLAYED = "not played"


@dataclass(frozen=True)
class Source:
    """One part of the mixture.

    kind: "random", "file" or "endgames". plies: random plies behind the position, from the first number to the second.
    cut: a game of a file is followed up to a ply between these (None: to its end). chess960: of a file. pieces: on the
    board of an endgame. share: how often, against the other sources.
    """

    kind: str
    path: str | None = None
    plies: tuple[int, int] = (0, 0)
    cut: tuple[int, int] | None = None
    chess960: bool = False
    pieces: tuple[int, int] = (4, 8)
    share: int = 1

    def as_json(self) -> dict[str, Any]:
        """For journal and provenance. Raises OSError."""
        if self.path is None:
            return asdict(self)
        return {**asdict(self), "path": Path(self.path).name, "digest": digest_of_files([Path(self.path)])}

    def opening(self, chance: random.Random) -> Opening:
        """A random opening. Raises ProgramError, OSError."""
        if self.kind == "endgames":
            return random_opening(Opening(random_endgame(chance, *self.pieces).fen()), chance, *self.plies)
        if self.path is None:
            return random_opening(Opening(), chance, *self.plies)
        book = _book(self.path, self.chess960)
        opening = book.opening(chance.randrange(len(book)), chance.randint(*self.cut) if self.cut else None)
        return random_opening(opening, chance, *self.plies)


def parse_source(text: str) -> Source:
    """A Source from words like SOURCE_SYNTAX. Raises ProgramError."""
    try:
        first, *words = shlex.split(text)
    except ValueError as error:
        raise ProgramError(f"{text!r}: {error}") from None
    kind, _, path = first.partition("=")
    if kind not in ("random", "file", "endgames") or (kind == "file") != bool(path):
        raise ProgramError(f"{text!r} is no source: {SOURCE_SYNTAX}")
    source = Source(kind, path or None, plies=(6, 9) if kind == "random" else (0, 0))
    for word in words:
        key, _, value = word.partition("=")
        if key == "share" and value.isdecimal() and int(value):
            source = replace(source, share=int(value))
        elif key == "plies":
            source = replace(source, plies=_range(word, value))
        elif key == "cut" and kind == "file":
            source = replace(source, cut=_range(word, value))
        elif word == "chess960=yes" and kind == "file":
            source = replace(source, chess960=True)
        elif key == "pieces" and kind == "endgames":
            source = replace(source, pieces=_range(word, value))
        else:
            raise ProgramError(f"{text!r}: {word!r} is not understood; a source is {SOURCE_SYNTAX}")
    if not 3 <= source.pieces[0] <= source.pieces[1] <= 16:
        raise ProgramError(f"{text!r}: endgames have 3 to 16 pieces")
    return source


def choose_opening(sources: Sequence[Source], seed: int, number: int) -> Opening:
    """The opening of a game, by its number. Another is drawn where one leads nowhere. Raises ProgramError, OSError."""
    chance = random.Random(f"{seed} {number}")
    for _ in range(MAX_DRAWS):
        source = chance.choices(sources, [source.share for source in sources])[0]
        with suppress(DeadEndError):
            return source.opening(chance)
    raise ProgramError(f"no game can begin: {MAX_DRAWS} positions in a row have no legal moves, or are in check")


def random_endgame(chance: random.Random, fewest: int, most: int) -> chess.Board:
    """A legal position with so many pieces, kings included, at random squares.

    Both sides have the same pieces, but for a bishop instead of a knight. With an odd number one side has one more.
    """
    for _ in range(MAX_PLACEMENTS):
        count = chance.randint(fewest, most)
        types = chance.choices(list(ENDGAME_PIECES), list(ENDGAME_PIECES.values()), k=(count - 1) // 2)
        others = types[: count - 2 - len(types)]
        board = chess.Board(None)
        pieces = [chess.Piece(chess.KING, color) for color in chess.COLORS]
        pieces += [chess.Piece(piece_type, chess.WHITE) for piece_type in types]
        pieces += [chess.Piece(_similar(piece_type, chance), chess.BLACK) for piece_type in others]
        squares = chance.sample(chess.SQUARES, len(pieces))
        for square, piece in zip(squares, pieces, strict=True):
            board.set_piece_at(square, piece)
        board.turn = chance.random() < 0.5
        board = board.mirror() if chance.random() < 0.5 else board
        if board.is_valid() and not board.is_check() and any(board.legal_moves):
            return board
    raise ProgramError(f"no legal endgame of {fewest} to {most} pieces was found")


def _similar(piece_type: chess.PieceType, chance: random.Random) -> chess.PieceType:
    """The same piece, or the other minor piece half of the time."""
    if piece_type in (chess.KNIGHT, chess.BISHOP):
        return chance.choice((chess.KNIGHT, chess.BISHOP))
    return piece_type


def _range(word: str, value: str) -> tuple[int, int]:
    first, dash, last = value.partition("-")
    if not (first.isdecimal() and (last if dash else first).isdecimal()):
        raise ProgramError(f"{word!r} is not KEY=NUMBER or KEY=FIRST-LAST")
    low, high = int(first), int(last or first)
    if not low <= high <= 1000:
        raise ProgramError(f"{word!r}: the first is above the last, or the last above 1000")
    return low, high


@cache
def _book(path: str, chess960: bool) -> OpeningBook:
    return read_openings(Path(path), chess960=chess960)


@dataclass(frozen=True)
class Kept:
    """What is kept of a game.

    max_opening_cp: an opening whose first score is beyond this, for either side, is not played; 0 for no limit.
    ahead: up to so many positions ahead of each search, as it meets them, are kept besides its own, and have no scores.
    skipped_plies: nothing is kept of a game before this ply.
    """

    max_opening_cp: int = 0
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
        pool = ThreadPool(load(), hash_mib, default_network() if NETWORK_BY_DEFAULT else None)
        # As every kernel module, only after `load`.
        from uci_engine.search.self_play import SelfPlay
        from uci_engine.search.transposition_table import TranspositionTable

        self._searchers = (pool.main, pool.new_searcher(TranspositionTable(1)))
        self._game: Any = SelfPlay(*self._searchers)
        self._game.nodes = nodes

    def play(self, opening: Opening, rules: Rules, kept: Kept, seed: int) -> PlayedGame:
        """Play a game to its end. Positions in check are not kept. `seed`: of random moves off lines."""
        board = opening.board()
        for searcher in self._searchers:
            searcher.table.clear()
            searcher.position.set_board(board)
        # The scout's quiescence searches write no history.
        self._searchers[0].histories.clear()
        game = self._game
        for name in ("resign_moves", "resign_cp", "resign_both", "draw_from", "draw_moves", "draw_cp", "max_moves"):
            setattr(game, name, getattr(rules, name))
        game.max_opening_cp, game.ahead, game.skipped_plies = kept.max_opening_cp, kept.ahead, kept.skipped_plies
        game.play(board.ply(), seed)
        if game.result == len(RESULT_NAMES):
            return PlayedGame(None, b"")
        return PlayedGame(RESULT_NAMES[game.result], np.array(game.records(), "<u8").tobytes())


@cache
def self_player(nodes: int, hash_mib: int) -> SelfPlayer:
    """The one of this process, which does one task at a time."""
    return SelfPlayer(nodes, hash_mib)


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
        records["score_cp"] = scores_of_network(network_of(recipe.network), records)
    return {
        "first": batch.games.start,
        "end": batch.games.stop,
        "positions": bytes(positions),
        "results": dict(results),
    }


@cache
def network_of(path: Path) -> StockfishNetwork:
    return read_network(path)
