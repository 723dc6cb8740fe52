"""Endings of Syzygy tables: random positions, and a referee that plays the other side of them perfectly.

Invariant: the same name and generator give the same positions, so that a difference can be looked at again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.engine
import chess.syzygy

from toolkit.engines.answer import Answer
from toolkit.engines.spec import EngineSpec
from toolkit.games.adjudication import Rules
from toolkit.games.clock import Patience
from toolkit.games.game import Game, Player
from toolkit.games.openings import Opening
from toolkit.games.record import GameRecord

MAX_MOVES = 150
MAX_PIECES = 4
# Nobody loses on time here.
PATIENCE = Patience(margin_ms=60_000.0, movetime_ms=60_000.0)
WIN, DRAW = 2, 0


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


class Referee:
    """The tables as python-chess reads them: they choose positions, and play the side of the opponent."""

    spec = EngineSpec("referee", ())

    def __init__(self, folders: Sequence[Path], seed: int) -> None:
        self.tables = chess.syzygy.Tablebase(max_fds=None)
        for folder in folders:
            self.tables.add_directory(str(folder))
        self.names = sorted(name for name in self.tables.wdl if len(name) - 1 <= MAX_PIECES)
        self.choice = random.Random(seed)

    def position(self, value: int) -> chess.Board:
        """A random position in which the side to move has this result, and not a bare king against a bare king."""
        while True:
            board = random_board(self.choice.choice(self.names), self.choice)
            board.ep_square = None
            playable = any(board.legal_moves) and not board.is_insufficient_material()
            if playable and self.tables.probe_wdl(board) == value:
                return board

    def new_game(self, seconds: float) -> None:
        """It is always ready."""

    def play(self, board: chess.Board, limit: chess.engine.Limit, seconds: float) -> Answer:
        """In a lost position the move that loses last, otherwise any move that does not lose."""
        move = self._defend(board) if self.tables.probe_wdl(board) < 0 else self._try_to_win(board)
        return Answer(move, f"bestmove {move}", 0.0)

    def _defend(self, board: chess.Board) -> chess.Move:
        """A shorter way to a capture that still loses counts as short."""

        def delay(move: chess.Move) -> tuple[int, int]:
            board.push(move)
            zeroing = board.halfmove_clock == 0
            distance = 1 if zeroing else 1 + abs(self.tables.probe_dtz(board))
            board.pop()
            return distance, self.choice.randrange(1000)

        return max(board.legal_moves, key=delay)

    def _try_to_win(self, board: chess.Board) -> chess.Move:
        sound = []
        for move in board.legal_moves:
            board.push(move)
            if self.tables.probe_wdl(board) <= 0:
                sound.append(move)
            board.pop()
        return self.choice.choice(sound)


def play_out(engine: Player, referee: Referee, board: chess.Board) -> GameRecord:
    """Play to the end, with the engine to move."""
    white: Player = engine if board.turn == chess.WHITE else referee
    black: Player = referee if board.turn == chess.WHITE else engine
    return Game(white, black, Opening(board.fen()), Rules(max_moves=MAX_MOVES), PATIENCE).play()


def ending_of(record: GameRecord, white: bool) -> str:
    """`won`, `lost` or `drawn`, from the engine's side; a forfeit is told as such."""
    if record.fault is not None:
        return record.fault
    if record.result == "1/2-1/2":
        return "drawn"
    return "won" if (record.result == "1-0") == white else "lost"
