"""Tables, random positions and damaged copies for the tests of the tablebases."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess

from tests.support import ROOT, TABLES
from uci_engine.core import Core, load
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.tablebases.root_ranking import RootRanker, RootRanking
from uci_engine.tablebases.syzygy_files import CHECKSUM_BYTES, LINE_BYTES
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.time_management import Clock

# All tables of three and four pieces and a few of five, where they are; the tests pass without.
WORKSHOP = list(filter(Path.is_dir, (ROOT.parent / "shared" / "data" / name for name in ("syzygy", "syzygy5"))))
WORKSHOP_PATH = os.pathsep.join(map(str, WORKSHOP))
NAMES = sorted(path.stem for path in TABLES.glob("*.rtbw"))


class Probing:
    """A searcher of the core that runs here, with tables to probe."""

    def __init__(self, path: str | Path, copied_bytes: int | None = None) -> None:
        self.core: Core = load()
        self.searcher: Any = ThreadPool(self.core, 1).main
        self.position: Any = self.searcher.position
        self.tables = Tablebases(self.core, self.searcher.prober, copied_bytes)
        self.sentences = [str(message) for message in self.tables.set_syzygy_path(str(path))]

    def value(self, board: chess.Board) -> int | None:
        self.position.set_board(board)
        return self.tables.probe_wdl(self.position)

    def distance(self, board: chess.Board) -> int | None:
        self.position.set_board(board)
        return self.tables.probe_dtz(self.position)

    def ranked(
        self,
        board: chess.Board,
        allowed: list[chess.Move] | None = None,
        probe_limit: int = 7,
        fifty_moves: bool = True,
        clock: Clock | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> RootRanking:
        """The ranking of all moves or of some, by default without a clock."""
        ranker = RootRanker(self.tables, self.position, board, fifty_moves, clock or Clock(0), stopped)
        return ranker.rank(allowed or list(board.legal_moves), probe_limit)

    def read_symbols(self, pattern: bytes) -> Any:
        return self.core.modules["uci_engine.tablebases.syzygy"].SymbolReader().read(pattern)


def random_board(name: str, choice: random.Random) -> chess.Board:
    """A legal position of a table's pieces, either side having them; with en passant where that can be had."""
    while True:
        board = chess.Board(None)
        white_first = choice.random() < 0.5
        for side, letters in enumerate(name.split("v")):
            for letter in letters:
                piece_type = chess.PIECE_SYMBOLS.index(letter.lower())
                square = choice.randrange(8, 56) if piece_type == chess.PAWN else choice.randrange(64)
                board.set_piece_at(square, chess.Piece(piece_type, white_first ^ bool(side)))
        if chess.popcount(board.occupied) != len(name) - 1:
            continue
        board.turn = choice.random() < 0.5
        if all(board.pieces(chess.PAWN, colour) for colour in chess.COLORS) and choice.random() < 0.5:
            add_en_passant(board, choice)
        if board.is_valid():
            return board


def add_en_passant(board: chess.Board, choice: random.Random) -> None:
    """Move two pawns side by side, as if one had just passed the other."""
    ours, theirs = (min(board.pieces(chess.PAWN, colour)) for colour in (board.turn, not board.turn))
    rank, behind = (4, 8) if board.turn else (3, -8)
    file = choice.randrange(7)
    first, second = choice.sample([8 * rank + file, 8 * rank + file + 1], 2)
    if not all(square in (ours, theirs) or not board.piece_type_at(square) for square in (first, second)):
        return
    board.remove_piece_at(ours)
    board.remove_piece_at(theirs)
    board.set_piece_at(first, chess.Piece(chess.PAWN, board.turn))
    board.set_piece_at(second, chess.Piece(chess.PAWN, not board.turn))
    if not board.piece_type_at(second + behind) and not board.piece_type_at(second + 2 * behind):
        board.ep_square = second + behind


def random_boards(name: str, count: int, seed: int = 1) -> Iterator[chess.Board]:
    choice = random.Random(f"{name} {seed}")
    for _ in range(count):
        yield random_board(name, choice)


def copy_tables(folder: Path, *names: str) -> Path:
    """A folder with copies of the tests' tables, of these names or all."""
    folder.mkdir(exist_ok=True)
    for path in TABLES.glob("*.rtb?"):
        if not names or path.stem in names:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def flip_bytes(data: bytes, choice: random.Random, count: int) -> bytes:
    damaged = bytearray(data)
    for _ in range(count):
        damaged[choice.randrange(len(damaged))] ^= choice.randrange(1, 256)
    return bytes(damaged)


def slow_table(blocks: int, index_bits: int) -> bytes:
    """KRvK.rtbw with a sound header, whose index leads to the last of many blocks of one value.

    A lookup with Black to move goes back over 2 ** (index_bits - 1) blocks, or all of them.
    """
    # As in the true table up to White to move, who always wins; then Black's section: flags, sizes of a block (1 byte)
    # and of a stretch, no padding, the number of blocks, a code of one bit, and its two symbols, both the value 0.
    header = (TABLES / "KRvK.rtbw").read_bytes()[:12] + bytes([0, 0, index_bits, 0]) + blocks.to_bytes(4, "little")
    header += bytes([1, 1, 0, 0, 2, 0]) + bytes([0x00, 0xF0, 0xFF]) * 2
    body = header + (blocks - 1).to_bytes(4, "little") + bytes(2) + bytes(2 * blocks)
    body += bytes(-len(body) % LINE_BYTES) + bytes(blocks)
    return body + bytes(-len(body) % LINE_BYTES) + bytes(CHECKSUM_BYTES)
