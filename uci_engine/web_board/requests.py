"""What the page asks for, checked; and what needs no engine: positions, and games to load.

A request is JSON from a page that may be hostile. Whatever is wrong with it raises ValueError, whose text is one
sentence for the user. A position is always the game that led there: its first position and its moves.
"""

from __future__ import annotations

import io
import json
from typing import TypeVar

import chess

from uci_engine.board.game import play, read_fen
from uci_engine.game_analysis.boards import last_move
from uci_engine.game_analysis.pages import position
from uci_engine.game_analysis.pgn import MAX_PLIES, ReadGame, game_texts, read_game
from uci_engine.web_board.desk import Answer

# Of a name or a remark, so many characters are shown.
MAX_WORD = 200
# How a game ends, by the first that is true.
ENDS = (
    (chess.Board.is_checkmate, "Checkmate"),
    (chess.Board.is_stalemate, "Stalemate"),
    (chess.Board.is_insufficient_material, "Neither side can mate"),
    (chess.Board.is_repetition, "The position was there three times"),
    (chess.Board.is_fifty_moves, "Fifty moves without a capture or a pawn move"),
)

T = TypeVar("T")


class Fields:
    """The fields of a request, by name."""

    def __init__(self, body: bytes) -> None:
        """ValueError: this is no JSON object."""
        try:
            self._fields: dict[str, object] = {**json.loads(body)}
        except (TypeError, ValueError, RecursionError):
            raise ValueError("the request is no JSON object") from None

    def get(self, name: str, default: T) -> T:
        """A field, which has the type of its default. ValueError: it has another one."""
        value = self._fields.get(name, default)
        if type(value) is not type(default):
            raise ValueError(f"{name} is no {type(default).__name__}")
        return value

    def board(self) -> chess.Board:
        """The position, which remembers the moves since the first one."""
        given: list[object] = self.get("moves", [])
        moves = [move for move in given if isinstance(move, str)]
        if len(given) > MAX_PLIES or len(moves) < len(given):
            raise ValueError(f"a game here has at most {MAX_PLIES} moves of both sides, each a text")
        board, _ = read_fen(self.get("start", chess.STARTING_FEN), chess960=None)
        play(board, moves)
        return board


def positions(fields: Fields) -> Answer:
    """The positions of a game, from the one with the number `first`."""
    board, first = fields.board(), fields.get("first", 0)
    shown = [_shown(board)]
    while len(board.move_stack) > max(first, 0):
        board.pop()
        shown.append(_shown(board))
    return {"positions": shown[::-1]}


def _shown(board: chess.Board) -> Answer:
    """A position with its legal moves as UCI and SAN, and the result where the game is over."""
    name = last_move(board) if board.move_stack else "Start position"
    legal = {board.uci(move): board.san(move) for move in board.legal_moves}
    shown = position(board, f"{name}.") | {"turn": chess.COLOR_NAMES[board.turn], "legal": legal}
    for is_end, words in ENDS:
        if is_end(board):
            win = ("0-1", 0.0, "Black wins") if board.turn else ("1-0", 1.0, "White wins")
            result, share, verdict = win if board.is_checkmate() else ("1/2-1/2", 0.5, "the game is drawn")
            return shown | {"result": result, "share": share, "say": f"{name}. {words}: {verdict}."}
    return shown


def load(fields: Fields) -> Answer:
    """The games of a PGN text, and in `remark` what is wrong with those that cannot be loaded."""
    games, problems = [], []
    for text in game_texts(io.BytesIO(fields.get("pgn", "").encode("utf-8", "replace"))):
        try:
            games.append(_loaded(read_game(text)))
        except ValueError as error:
            problems.append(str(error)[:MAX_WORD])
    if not games:
        raise ValueError(problems[0] if problems else "there is no game in this PGN")
    all_games = len(games) + len(problems)
    remark = f"{len(problems)} of {all_games} games cannot be loaded: {problems[0]}" if problems else ""
    return {"games": games, "remark": remark}


def _loaded(game: ReadGame) -> Answer:
    """A game: names, first position, moves, and in `remark` why it is not as it is written. ValueError: it has no
    position to begin with.
    """
    board = game.first_position()
    nodes, remarks = game.played_moves()
    white, black, result = (game.header(name)[:MAX_WORD] for name in ("White", "Black", "Result"))
    return {
        "title": f"{white} \u2013 {black}, {result}",
        "start": board.fen(),
        "moves": [node.move.uci() for node in nodes],
        "remark": remarks[0][:MAX_WORD] if remarks else "",
    }
