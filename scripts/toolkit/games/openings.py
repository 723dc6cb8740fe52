"""Openings for matches: read from PGN or EPD, plain or in a zip archive, in file order or shuffled.

Invariant: the same file, order and seed give the same openings. Only openings that are used are parsed, so that a large
file costs little.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import chess

from toolkit.errors import ProgramError
from toolkit.files import digest_of_files, unpack_text
from uci_engine.board.game import read_fen
from uci_engine.board.pgn import decoded, game_texts, read_game

Order = Literal["file", "random"]

SUFFIXES = (".pgn", ".epd", ".fen", ".txt")


@dataclass(frozen=True)
class Opening:
    """A position and the moves that lead on from it (UCI), as both engines get them."""

    fen: str = chess.STARTING_FEN
    moves: tuple[str, ...] = ()
    chess960: bool = False

    def board(self) -> chess.Board:
        """The position after the moves, with its history."""
        board = chess.Board(self.fen, chess960=self.chess960)
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
        return board


@dataclass(frozen=True)
class OpeningBook:
    """The openings of one file, numbered from zero; after the last the first comes again.

    texts: one game of PGN or one line each, with its number in the file, from 1.
    """

    texts: Sequence[tuple[int, str]]
    pgn: bool = False
    chess960: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def opening(self, number: int) -> Opening:
        """The opening with this number. Raises ProgramError for what is no legal chess, or has no legal moves."""
        place, text = self.texts[number % len(self.texts)]
        try:
            opening = self._from_game(text) if self.pgn else self._from_line(text)
            board = opening.board()
        except ValueError as error:
            raise ProgramError(f"opening {place}: {error}") from None
        if not board.is_valid() or not any(board.legal_moves):
            raise ProgramError(f"opening {place} leads to no playable position: {board.fen()}")
        return opening

    def _from_line(self, line: str) -> Opening:
        """EPD with its operations, or FEN."""
        board, _ = read_fen(line, self.chess960 or None)
        if board.chess960 and not self.chess960:
            raise ValueError("no such castling is possible; openings of Chess960 need --chess960")
        return Opening(board.fen(), (), self.chess960)

    def _from_game(self, text: str) -> Opening:
        game = read_game(text.encode())
        if game.errors:
            raise ValueError(str(game.errors[0]))
        board = game.board()
        moves = [move.uci() for move in game.mainline_moves()]
        return Opening(board.fen(), tuple(moves), self.chess960 or board.chess960)


def read_openings(path: Path, *, order: Order = "file", seed: int = 0, chess960: bool = False) -> OpeningBook:
    """The openings of a .pgn or .epd file (.fen and .txt count as .epd), or of one in a .zip or .gz.

    Raises ProgramError for what is none or holds none, OSError for what cannot be read.
    """
    name, text = unpack_text(path, SUFFIXES)
    pgn = name.endswith(".pgn")
    if pgn:
        texts = [decoded(game) for game in game_texts(text.encode().splitlines(keepends=True))]
    else:
        texts = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    if not texts:
        raise ProgramError(f"no openings in {path}")
    numbered = list(enumerate(texts, start=1))
    if order == "random":
        random.Random(seed).shuffle(numbered)
    return OpeningBook(numbered, pgn, chess960)


def add_arguments(parser: argparse.ArgumentParser, order: Order) -> None:
    """The options of a command line that choose openings. order: the usual one."""
    what = parser.add_argument_group("openings")
    what.add_argument("--openings", type=Path, metavar="FILE", help=".pgn or .epd, also in a .zip or .gz")
    what.add_argument("--order", choices=("file", "random"), default=order, help=f"({order})")
    what.add_argument("--seed", type=int, default=0, help="of what is random (0)")
    what.add_argument("--chess960", action="store_true", help="the openings are Fischer random chess")


def book_of(words: argparse.Namespace) -> OpeningBook:
    """The openings that a command line asks for; without a file the start position. Raises ProgramError and OSError."""
    if words.openings is None:
        return OpeningBook([(1, chess.STARTING_FEN)], chess960=words.chess960)
    return read_openings(words.openings, order=words.order, seed=words.seed, chess960=words.chess960)


def openings_as_json(words: argparse.Namespace) -> dict[str, Any]:
    """What a command line says of openings, for a journal. Raises OSError."""
    return {
        "file": None if words.openings is None else words.openings.name,
        "digest": None if words.openings is None else digest_of_files([words.openings]),
        **{name: getattr(words, name) for name in ("order", "seed", "chess960")},
    }
