"""What the page asks for, checked; and what needs no engine: positions, games to load, games to save.

A request is JSON from a page that may be hostile. Everything in it has a bound, and what is wrong raises ValueError,
whose text is one sentence for the user. A position is always the game that led there: its first position and its moves.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import chess
import chess.pgn

from uci_engine import __version__
from uci_engine.board.game import Game
from uci_engine.game_analysis.boards import numbered
from uci_engine.game_analysis.html import position
from uci_engine.game_analysis.pgn import decoded, game_texts, read_game
from uci_engine.game_analysis.report import MAX_PLIES, played_moves
from uci_engine.text import quoted
from uci_engine.web_board.saved_games import GAME_ID, SavedGames

MAX_GAMES = 100
MAX_WORD = 200
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ENDS = {
    chess.Termination.CHECKMATE: "Checkmate",
    chess.Termination.STALEMATE: "Stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "Neither side can mate",
    chess.Termination.FIFTY_MOVES: "Fifty moves without a capture or a pawn move",
    chess.Termination.THREEFOLD_REPETITION: "The position was there three times",
}


class Request:
    """The fields of a request, by name. A field that is missing has its default."""

    def __init__(self, body: bytes) -> None:
        """ValueError: this is no JSON object."""
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError):
            raise ValueError("the request is no JSON") from None
        if not isinstance(fields, dict):
            raise ValueError("the request is no JSON object")
        self._fields: Mapping[str, Any] = fields

    def text(self, name: str, default: str = "", longest: int = MAX_WORD) -> str:
        value = self._fields.get(name, default)
        if not isinstance(value, str) or len(value) > longest:
            raise ValueError(f"{name} is no text of at most {longest} characters")
        return value

    def number(self, name: str, least: int, most: int) -> int | None:
        """A whole number within these bounds, None where there is none."""
        value = self._fields.get(name)
        if value is None:
            return None
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{name} is no whole number from {least} to {most}")
        return value

    def board(self) -> chess.Board:
        """The position, which remembers the moves since the first one."""
        moves = self._fields.get("moves", [])
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise ValueError("moves is no list of texts")
        if len(moves) > MAX_PLIES:
            raise ValueError(f"a game has at most {MAX_PLIES} moves of both sides here")
        game = Game()
        game.set(self.text("start", chess.STARTING_FEN), moves, self._fields.get("chess960") is True)
        assert game.board is not None
        return game.board

    def move(self, board: chess.Board) -> chess.Move:
        """The field `move`, which is legal on this board."""
        text = self.text("move")
        try:
            return board.parse_uci(text)
        except ValueError:
            raise ValueError(f"{quoted(text)} is no legal move here") from None


def positions(request: Request) -> dict[str, Any]:
    """The positions of a game, from the one with the number `first`."""
    board = request.board()
    first = request.number("first", 0, MAX_PLIES) or 0
    walk = board.root()
    shown = [] if first else [_shown(walk, "Start position.")]
    for ply, move in enumerate(board.move_stack, start=1):
        say = numbered(walk, move)
        walk.push(move)
        if ply >= first:
            shown.append(_shown(walk, say))
    return {"start": board.root().fen(), "positions": shown}


def _shown(board: chess.Board, say: str) -> dict[str, Any]:
    """A position with its legal moves as UCI and SAN, and the result where the game is over."""
    outcome = board.outcome()
    if outcome is None and (board.is_repetition(3) or board.is_fifty_moves()):
        kind = chess.Termination.THREEFOLD_REPETITION if board.is_repetition(3) else chess.Termination.FIFTY_MOVES
        outcome = chess.Outcome(kind, None)
    shown = position(board, say)
    shown |= {"turn": "white" if board.turn else "black", "number": board.fullmove_number}
    shown["legal"] = {board.uci(move): board.san(move) for move in board.legal_moves}
    if outcome is not None:
        winner = {True: "White wins", False: "Black wins", None: "the game is drawn"}[outcome.winner]
        shown |= {"result": outcome.result(), "say": f"{say}. {ENDS[outcome.termination]}: {winner}."}
    return shown


def load(request: Request, longest: int) -> dict[str, Any]:
    """The games of a PGN text: names, first position and moves of each, and what cannot be read of it."""
    text = request.text("pgn", longest=longest).encode("utf-8", "replace")
    games = []
    for number, part in enumerate(game_texts(io.BytesIO(text)), start=1):
        if number > MAX_GAMES:
            break
        games.append(_loaded(read_game(part)))
    if not games:
        raise ValueError("there is no game in this PGN")
    return {"games": games}


def _loaded(game: chess.pgn.Game) -> dict[str, Any]:
    board = game.board()
    if type(board).uci_variant != "chess":
        raise ValueError("this engine plays chess and Chess960 only")
    nodes, remarks = played_moves(game)
    names = " \u2013 ".join(game.headers.get(color, "?")[:MAX_WORD] for color in ("White", "Black"))
    # UCI writes castling by the king's target, and in Chess960 by the rook.
    moves = []
    for node in nodes:
        moves.append(board.uci(node.move))
        board.push(node.move)
    return {
        "names": f"{names}, {game.headers.get('Result', '*')[:MAX_WORD]}",
        "start": board.root().fen(),
        "chess960": board.chess960,
        "moves": moves,
        "remark": remarks[0][:MAX_WORD] if remarks else "",
    }


def save(request: Request, games: SavedGames) -> dict[str, Any]:
    """Write a game against the engine into the file of games. `elo` is that of the engine, None for full strength."""
    board = request.board()
    number, result = request.text("id"), request.text("result", "*")
    elo = request.number("elo", 0, 9999)
    if not re.fullmatch(GAME_ID, number) or result not in RESULTS:
        raise ValueError("this is no game to save")
    game = chess.pgn.Game.from_board(board)
    level = "" if elo is None else f" at {elo}"
    sides = ("Player", f"Secateur {__version__}{level}")
    white, black = sides if request.text("color", "white") == "white" else sides[::-1]
    game.headers.update(Event="Game against Secateur", White=white, Black=black, Result=result, GameId=number)
    return {"saved": str(games.save(number, str(game)))}


def file_text(path: Path, longest: int) -> str:
    """The text of a PGN file. ValueError: it cannot be read, or has more bytes."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    if len(text) > longest:
        raise ValueError(f"{path} has more than {longest >> 10} KiB, take fewer games")
    return decoded(text)
