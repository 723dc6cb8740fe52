"""Games out of PGN files that may come from anywhere, one by one and within bounds.

A file is read as a stream, so that its size does not matter. A game that is too long is cut. Text that is no UTF-8 is
read as Latin-1. What cannot be read is told in a sentence, and the next game is read.
"""

from __future__ import annotations

import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

import chess
import chess.pgn

from uci_engine.game_analysis.own_words import forget

# With the names that python-chess reads.
HEADER = re.compile(rb'\[[A-Za-z0-9][\w+#=:-]*\s+"')
RESULTS = ("1-0", "0-1", "1/2-1/2", "\u00bd-\u00bd", "*")
TOKEN = re.compile(
    r"""
    (?:^%|;).* | \{[^}]*\}? | \$\d{1,9} | [!?]{1,2} | [()]
    | (?P<word>[^\s{}();$!?]+(?:(?<=[18])\([NBRQnbrq]\)[^\s{}();$!?]*)?)  # with the brackets of e8(Q)
    """,
    re.VERBOSE | re.MULTILINE,
)
# A move, if there is one, between its number and what may stand behind it. `1/2` and `½` offer a draw.
WORD = re.compile(
    r"""
    (?:(?!0000)\d+[.\u2026]*|[.\u2026]+)?
    (?:
        (?P<pawn>[a-h]?[1-8]?[-x]?[a-h][18])[=/(]?(?P<promoted>[NBRQnbrq])\)?
        | P?(?P<move>[NBRQK]?[a-h]?[1-8]?[-x]?[a-h][1-8]|O-O(?:-O)?|0-0(?:-0)?|--|Z0|0000|@@@@)
        | /2 | \u00bd
    )?
    (?:[-+=#/,\u00b1\u2213\u221e\u2a72\u2a71\u25a1\u25cb]|e\.?p\.?|ch\.?|mate\.?|dbl\.?|dis\.?|TN|N|D)*
    """,
    re.VERBOSE,
)
# Of a word that is no move, as it is shown.
MAX_WORD = 40
MAX_GAME_BYTES = 2**20
MAX_LINE_BYTES = 2**16
SUFFIX = ".pgn"


class PgnError(ValueError):
    """No games can be read. The text is one sentence for the user."""


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a game up to the first thing that is wrong with it, which is kept. Python-chess would also log it."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        # After a variation with an error, python-chess goes on with the board of the variation.
        return chess.pgn.SKIP if self.game.errors else None

    def visit_comment(self, comment: str) -> None:
        super().visit_comment(" ".join(comment.split()))

    def end_variation(self) -> None:
        # The words of a variation without moves are no starting comment of the move behind it.
        super().end_variation()
        self.in_variation = True
        words, self.starting_comment = self.starting_comment, ""
        self.visit_comment(words)


def pgn_files(paths: list[Path]) -> list[Path]:
    """The files, and the PGN files of the folders among them, by name. Raises PgnError."""
    files = []
    for path in paths:
        if path.is_dir():
            inside = sorted(child for child in path.rglob("*") if child.suffix.lower() == SUFFIX and child.is_file())
            if not inside:
                raise PgnError(f"there is no {SUFFIX} file in {path}")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise PgnError(f"{path} is not a file" if path.exists() else f"there is no file {path}")
    return files


def game_texts(file: BinaryIO) -> Iterator[bytes]:
    """The games of a PGN file, each as its bytes.

    A game begins where headers follow something else, so that an unfinished comment or bracket ends with its game.
    Blank lines are left out: they end a game for python-chess, and some programs write them between moves.
    """
    game: list[bytes] = []
    size = 0
    in_headers = False
    while line := file.readline(MAX_LINE_BYTES):
        words = line.removeprefix(BOM_UTF8).lstrip()
        is_header = HEADER.match(words) is not None
        if is_header and not in_headers and game:
            yield b"".join(game)
            game, size = [], 0
        # Among headers there may be one that cannot be read, a blank line, or a comment.
        in_headers = is_header or (in_headers and words[:1] in b"[%;")
        if size < MAX_GAME_BYTES and not line.isspace():
            game.append(line)
            size += len(line)
    if game:
        yield b"".join(game)


def decoded(text: bytes) -> str:
    """The text, as UTF-8 if it is that, and as Latin-1 if not. What is no character of a text becomes a blank."""
    text = text.removeprefix(BOM_UTF8)
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError:
        words = text.decode("latin-1")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in words)


def _tokens(text: str) -> tuple[list[str], str]:
    """The moves of a game and what belongs to them, up to the first word that is no move; and that word, "" for none.

    Python-chess skips what it does not know, and reads on in a position that the players did not have. Words in
    variations are left to it, and a word behind the result is none of the game.
    """
    tokens: list[str] = []
    depth = 0
    has_moved = has_result = False
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "()":
            # Ahead of the first move there is nothing to vary.
            if not (has_moved if token == "(" else depth):
                continue
            depth += 1 if token == "(" else -1
        elif token in RESULTS:
            # In a variation python-chess would take it for a move.
            if depth:
                continue
            has_result = True
        elif match["word"] and (word := WORD.fullmatch(token)):
            token = f"{word['pawn']}={word['promoted']}" if word["pawn"] else word["move"]
            if token is None:
                continue
            has_moved = True
        elif match["word"] and not depth:
            return tokens, "" if has_result else token
        tokens.append(token)
    return tokens, ""


def read_game(text: bytes) -> chess.pgn.Game:
    """The game of these bytes, without what Secateur wrote into it before. What is wrong with it is in its `errors`.

    Raises PgnError if there is no game at all.
    """
    lines = [line for line in map(str.strip, decoded(text).split("\n")) if line]
    headers = list(takewhile(lambda line: line[0] in "[%;", lines))
    tokens, no_move = _tokens("\n".join(lines[len(headers) :]))
    try:
        # A line for each token: python-chess copies the rest of a line at each comment.
        game = chess.pgn.read_game(io.StringIO("\n".join(headers + tokens)), Visitor=_QuietBuilder)
    except Exception as error:  # a parser that was not made for hostile text
        raise PgnError(f"it cannot be read: {type(error).__name__}: {str(error)[:100]}") from None
    if game is None or not (game.variations or HEADER.search(text)):
        raise PgnError("it holds no game")
    if no_move and not game.errors:
        number = game.end().board().fullmove_number
        game.errors.append(ValueError(f"'{no_move[:MAX_WORD]}' at move {number} is no move"))
    forget(game)
    return game
