"""Compare our Syzygy prober with python-chess's, on random positions of every table in some folders.

    python scripts/compare_syzygy.py FOLDER... [--positions 1000000] [--core compiled] [--seed 1]

Positions are legal, of both colours, without castling rights; where pawns of both sides stand, often with en passant.
Prints the number of positions, of differences (each shown) and the time of both, measured on a sample with the files
in memory. The exit code is 1 if any differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import chess
import chess.syzygy

from uci_engine.core import CORES, load
from uci_engine.deepening import new_searcher
from uci_engine.tablebases import Tablebases

SAMPLE = 2000
REPEATS = 20


def random_board(name: str, choice: random.Random) -> chess.Board:
    """A legal position of a table's men, either side having them; with en passant where that can be had."""
    while True:
        board = chess.Board(None)
        white_first = choice.random() < 0.5
        for side, letters in enumerate(name.split("v")):
            for letter in letters:
                kind = chess.PIECE_SYMBOLS.index(letter.lower())
                square = choice.randrange(8, 56) if kind == chess.PAWN else choice.randrange(64)
                board.set_piece_at(square, chess.Piece(kind, white_first ^ bool(side)))
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


def seconds_each(
    boards: list[chess.Board], prepare: Callable[[chess.Board], Any], probe: Callable[[Any], object]
) -> float:
    """The mean time of a probe of what `prepare` makes of a board, over several probes of each."""
    total = 0.0
    for board in boards:
        prepared = prepare(board)
        probe(prepared)
        before = time.perf_counter()
        for _ in range(REPEATS):
            probe(prepared)
        total += time.perf_counter() - before
    return total / (REPEATS * len(boards))


def compare(folders: list[str], positions: int, core_name: str, seed: int) -> int:
    """Print the comparison; returns the number of differences."""
    core = load(core_name)
    searcher = new_searcher(core, 1)
    tables = Tablebases(core, searcher.prober)
    print(*tables.set_syzygy_path(";".join(folders)), sep="\n")
    names = sorted(tables.wdl)
    oracle = chess.syzygy.Tablebase(max_fds=None)
    for folder in folders:
        oracle.add_directory(folder)
    position, choice = searcher.position, random.Random(seed)
    sample: list[chess.Board] = []
    results: Counter[int] = Counter()
    en_passant = different = 0
    for number in range(positions):
        board = random_board(names[number % len(names)], choice)
        expected = oracle.probe_wdl(board)
        position.set_board(board)
        found = tables.probe_wdl(position)
        if number < SAMPLE:
            sample.append(board)
        results[expected] += 1
        en_passant += board.has_legal_en_passant()
        if found != expected:
            different += 1
            print(f"{board.fen()}: python-chess {expected}, ours {found}")
    print(f"{len(names)} tables, {positions} positions, {en_passant} with en passant, {different} different")
    print(f"results {dict(sorted(results.items()))}")

    def set_up(board: chess.Board) -> Any:
        position.set_board(board)
        return position

    theirs = 1e6 * seconds_each(sample, chess.Board.copy, oracle.probe_wdl)
    ours = 1e6 * seconds_each(sample, set_up, searcher.prober.probe_wdl)
    print(f"python-chess {theirs:.1f} us, ours {ours:.2f} us called from Python: {theirs / ours:.0f} times faster")
    return different


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--positions", type=int, default=1_000_000)
    parser.add_argument("--core", choices=CORES, default="auto")
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    return 1 if compare(words.folders, words.positions, words.core, words.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
