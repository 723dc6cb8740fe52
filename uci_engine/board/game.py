"""Positions and games from outside: read, checked and played.

A FEN is normalised as text, parsed, rejected or repaired. Normalising changes only the text. Repairing drops invalid
castling rights and en-passant squares. Neither moves a piece. Everything else raises `PositionError`.

Invariant: the compiled core can hold every board that `read_fen` returns: one king each, no more pieces than a game can
produce, pawns on ranks 2 to 7, clocks within bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import chess

from evaluation import check
from uci_engine.board.moves import key_of
from uci_engine.text import DASHES, MAX_MESSAGES, Message, quoted

MAX_GAME_PLIES = 20_000
"""Longest move list that is played out; the longest possible game under the 75-move rule is shorter."""

MAX_HALFMOVE_CLOCK = 150
"""The 75-move rule ends every game at this clock, so a greater value means the same."""

MAX_FULLMOVE_NUMBER = 9999

RECENT_MOVES = 4
"""So many of the last moves tell how people go on, see `uci_engine.policy`."""

# A FEN is at most 71 characters of board and a few dozen of the rest.
_MAX_FEN_LENGTH = 160

_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
# Marks a promoted piece in crazyhouse; chess has no use for it.
_PROMOTED_MARK = "~"
_AS_TYPED = DASHES | str.maketrans(dict.fromkeys(_QUOTES + _PROMOTED_MARK, ""))
# The operations of EPD for the halfmove clock and the move number.
_CLOCK_OPERATIONS = ("hmvc", "fmvn")

# How many pieces a side has that are not promoted.
_AT_THE_START = ((chess.QUEEN, 1), (chess.ROOK, 2), (chess.BISHOP, 2), (chess.KNIGHT, 2))
_REASONS = {
    chess.STATUS_EMPTY: "the board is empty",
    chess.STATUS_NO_WHITE_KING: "White has no king",
    chess.STATUS_NO_BLACK_KING: "Black has no king",
    chess.STATUS_TOO_MANY_KINGS: "there are more than two kings",
    chess.STATUS_TOO_MANY_WHITE_PIECES: "White has more than 16 pieces",
    chess.STATUS_TOO_MANY_BLACK_PIECES: "Black has more than 16 pieces",
    chess.STATUS_TOO_MANY_WHITE_PAWNS: "White has more than 8 pawns",
    chess.STATUS_TOO_MANY_BLACK_PAWNS: "Black has more than 8 pawns",
    chess.STATUS_PAWNS_ON_BACKRANK: "a pawn stands on the first or last rank",
    chess.STATUS_OPPOSITE_CHECK: "the side not to move is in check",
}


class PositionError(ValueError):
    """A position or a move list cannot be used; the text tells the user why."""


class Game:
    """The game that the GUI sent: the board now, with the moves since its first position.

    `board` is None when the last position was refused. A search works on a copy, because the next moves are played on
    this board.
    """

    def __init__(self) -> None:
        self.board: chess.Board | None = chess.Board()
        self._fen: str | None = None
        self._chess960 = False
        self._moves: tuple[str, ...] = ()

    @property
    def position(self) -> chess.Board:
        """The board. PositionError: there is none."""
        if self.board is None:
            raise PositionError("there is no position")
        return self.board

    def set(self, fen: str | None, moves: Sequence[str], chess960: bool) -> list[str]:
        """Set up `fen` and play `moves` (None: the start position).

        Moves that were played before are not played again. Returns messages about repairs to a FEN that was newly
        read. Raises PositionError, and then holds no position.
        """
        board, self.board = self.board, None
        played = len(self._moves)
        if len(moves) > MAX_GAME_PLIES:
            raise PositionError(f"{len(moves)} moves are more than the {MAX_GAME_PLIES} a game may have")
        notes: list[str] = []
        continues = (fen, chess960) == (self._fen, self._chess960) and tuple(moves[:played]) == self._moves
        if board is None or not continues:
            played = 0
            if fen is None:
                board = chess.Board(chess960=chess960)
            else:
                board, notes = read_fen(fen, chess960)
        play(board, moves[played:])
        self.board, self._fen, self._chess960, self._moves = board, fen, chess960, tuple(moves)
        return notes


def seen_twice(board: chess.Board) -> frozenset[int]:
    """The keys of positions that were on the board twice, the current one included, and can still be repeated."""
    back = board.copy(stack=board.halfmove_clock)
    seen = Counter([key_of(back)])
    while back.move_stack and back.halfmove_clock:
        back.pop()
        seen[key_of(back)] += 1
    return frozenset(key for key, times in seen.items() if times >= 2)


def display(board: chess.Board) -> str:
    """The position as text: board, FEN, key and checkers."""
    checkers = " ".join(chess.square_name(square) for square in board.checkers()) or "none"
    lines = [f"{8 - index}  {row}" for index, row in enumerate(str(board).split("\n"))]
    lines += ["   a b c d e f g h", f"FEN {board.fen()}", f"Key {key_of(board):016X}"]
    return "\n".join([*lines, f"Checkers {checkers}"])


# Reading -------------------------------------------------------------------------------------------------------------


def normalise_fen(text: str) -> str:
    """Normalise a FEN: six fields, ASCII dashes, no quotation marks, castling letters in order.

    Missing fields at the end are filled in: White to move, no castling, no en passant, clocks 0 and 1. Anything after
    the last valid field is dropped. Text that is not a FEN is still returned. Never raises.
    """
    words = text.translate(_AS_TYPED).split()
    if not words:
        return ""
    fields = [words[0]]
    fields.append(words[1].lower() if len(words) > 1 else "w")
    fields.append(_normalise_castling(words[2]) if len(words) > 2 else "-")
    fields.append(words[3].lower() if len(words) > 3 else "-")
    clocks = ["0", "1"]
    rest = [word.rstrip(";") for word in words[4:]]
    for i, word in enumerate(rest[:2]):
        if not _is_clock(word):  # the operations of an EPD line begin here, or something unknown
            break
        clocks[i] = word
    for name, word in pairwise(rest):
        if name in _CLOCK_OPERATIONS and _is_clock(word):
            clocks[_CLOCK_OPERATIONS.index(name)] = word
    return " ".join(fields + clocks)


def read_fen(text: str, chess960: bool | None) -> tuple[chess.Board, list[str]]:
    """Read a FEN (also X-FEN and Shredder-FEN) into a board without moves on its stack.

    `chess960`: None to read it as Chess960 where that needs fewer repairs. Returns the board and messages about
    repairs. Raises PositionError.
    """
    if chess960 is None:
        return min(read_fen(text, False), read_fen(text, True), key=lambda read: len(read[1]))
    fen = normalise_fen(text)
    if not fen:
        raise PositionError("the position is empty")
    if not fen.isascii() or len(fen) > _MAX_FEN_LENGTH:
        raise PositionError(f"{quoted(text)} is not a FEN")
    notes: list[str] = []
    as_written = " ".join(text.split())
    if fen not in (as_written, f"{as_written} 0 1"):
        notes.append(f"the position is read as {fen}")

    try:
        board = chess.Board(fen, chess960=chess960)
    except ValueError as error:
        # The message repeats the whole text after a colon.
        reason = str(error).partition(": ")[0]
        raise PositionError(f"{quoted(text)} is not a FEN: {reason}") from None
    _reject(board)
    # The number of letters counts, because python-chess silently drops some rights.
    castling = fen.split()[2]
    notes += _repair(board, castling, len(castling.strip("-")))
    return board, notes


def checked(board: chess.Board) -> tuple[chess.Board, list[str]]:
    """A copy of a board, for a search, with the moves on its stack that `moves_kept` says.

    Repaired and refused as by `read_fen`. Returns the copy and messages about repairs. A null move is not a move of a
    game: then the copy has no stack. ValueError, also PositionError: the fields of the board are those of no position,
    or its stack does not lead to it.
    """
    check(board)
    given = board.copy(stack=min(moves_kept(board), MAX_HALFMOVE_CLOCK))
    if not all(given.move_stack):
        given.clear_stack()
    _reject(given)
    rights = chess.popcount(given.castling_rights)
    game = given.root()
    check(game)
    for move in given.move_stack:
        if not game.is_legal(move):
            raise PositionError(f"the move {move.uci()} in the game before the position is not legal")
        game.push(move)
    if (game.turn, game.board_fen(promoted=True)) != (given.turn, given.board_fen(promoted=True)):
        raise PositionError("the moves of the board do not lead to its position")
    game.halfmove_clock, game.fullmove_number = given.halfmove_clock, given.fullmove_number
    return game, _repair(game, f"on {rights} squares", rights)


def moves_kept(board: chess.Board) -> int:
    """How many of the last moves matter: those since the last capture or pawn move, whose positions may come again,
    and RECENT_MOVES. To copy all would take time.
    """
    return max(board.halfmove_clock, RECENT_MOVES)


def play(board: chess.Board, moves: Sequence[str]) -> None:
    """Play moves in UCI notation on the board, which keeps them on its stack.

    Castling may be written as the king's move or as king takes rook, whatever `board.chess960` says. Raises
    PositionError at the first move that is not legal; the moves before it have then been played.
    """
    for number, text in enumerate(moves, start=1):
        move = _legal_move(board, text)
        if move is None:
            raise PositionError(f"move {number} of the list, {quoted(text)}, is not legal")
        board.push(move)


def legal_move(board: chess.Board, move: chess.Move | str) -> chess.Move:
    """The legal move that this is, or that this text means, in UCI notation or in SAN. PositionError: there is none."""
    text = move if isinstance(move, str) else move.uci()
    found = _legal_move(board, text)
    if found is None:
        with suppress(ValueError):
            found = board.parse_san(text)
    if not found:
        raise PositionError(f"{quoted(text)} is no legal move here")
    return found


def any_move(board: chess.Board | None) -> chess.Move | None:
    """A legal move, if there is one, for a search that has failed: any move is better than none."""
    return None if board is None else next(iter(board.legal_moves), None)


def parse_searchmoves(board: chess.Board, words: Sequence[str]) -> tuple[list[chess.Move], list[Message]]:
    """The legal moves among the words of `searchmoves`, each once, and messages about the other words."""
    found = {word: _legal_move(board, word) for word in dict.fromkeys(words)}
    wrong = [word for word, move in found.items() if move is None]
    problems = [Message.error(f"searchmoves: {quoted(word)} is not a legal move") for word in wrong[:MAX_MESSAGES]]
    return list(dict.fromkeys(filter(None, found.values()))), problems


def _normalise_castling(word: str) -> str:
    letters = [letter for letter in dict.fromkeys(word) if letter != "-"]
    # python-chess wants White's letters first and takes either order within a side.
    return "".join(sorted(letters, key=str.islower)) or "-"


def _is_clock(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def _reject(board: chess.Board) -> None:
    status = board.status()
    for flag, reason in _REASONS.items():
        if status & flag:
            raise PositionError(f"impossible position: {reason}")
    for color in chess.COLORS:
        promoted = sum(max(0, len(board.pieces(kind, color)) - count) for kind, count in _AT_THE_START)
        if promoted > 8 - len(board.pieces(chess.PAWN, color)):
            side = chess.COLOR_NAMES[color].capitalize()
            raise PositionError(f"impossible position: {side} has more promoted pieces than missing pawns")


def _repair(board: chess.Board, castling: str, rights: int) -> list[str]:
    """Drop the castling rights and the en-passant square that are impossible. `castling`: as it was written, `rights`
    in number. Bound the clocks.
    """
    notes: list[str] = []
    # Beyond its bounds no rule tells one number from another, and many programs write move number 0 for 1: no messages.
    board.halfmove_clock = min(board.halfmove_clock, MAX_HALFMOVE_CLOCK)
    board.fullmove_number = min(max(board.fullmove_number, 1), MAX_FULLMOVE_NUMBER)
    usable = board.clean_castling_rights()
    if rights != chess.popcount(usable):
        rules = "Chess960" if board.chess960 else "standard chess"
        board.castling_rights = usable
        left = board.castling_xfen()
        notes.append(f"castling rights {castling} become {left}: kings and rooks are not in place for {rules}")
    # An impossible check is accepted. But then the last move was not a double push.
    impossible_check = board.status() & (chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK)
    if impossible_check:
        notes.append("no legal move can have given this check")
    if board.ep_square is not None:
        if impossible_check or board.status() & chess.STATUS_INVALID_EP_SQUARE:
            square = chess.square_name(board.ep_square)
            notes.append(f"en passant on {square} is dropped: no pawn has just passed it")
            board.ep_square = None
        elif not board.has_legal_en_passant():
            # Many programs set the square after every double push: no message.
            board.ep_square = None
    return notes


def _legal_move(board: chess.Board, text: str) -> chess.Move | None:
    try:
        # Some programs write the promotion piece as a capital letter.
        move = board.parse_uci(text[:4] + text[4:].lower())
    except ValueError:
        return None
    # python-chess ignores a promotion letter after a castling move.
    if not move or (len(text) == 5 and move.promotion is None):
        return None
    return move
