"""The moves of a game out of its text, with comments, NAGs and variations.

Python-chess leaves out what it does not know, and reads on in a position that the players did not have. Here a line
ends before the first word that is neither a move that can be played nor something that files hold beside moves. Time
and memory grow with the length of the text, and no faster.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self

import chess
import chess.pgn

from uci_engine.game_analysis.judgement import MARK_NAGS

# The last two may be a result or the offer of one.
RESULTS = {"1-0": "1-0", "0-1": "0-1", "1/2-1/2": "1/2-1/2", "*": "*", "½-½": "1/2-1/2", "1/2": "", "½": ""}
SIGN_NAGS = {sign: nag for nag, sign in MARK_NAGS.items()}
# A longer word is no move.
MAX_WORD = 40
# Variations in variations.
MAX_DEPTH = 1000
TOKEN = re.compile(
    r"""
    ^%.*                                                        # a line that PGN leaves to programs
    | ;(?P<rest>.*)
    | \{(?P<comment>[^}]*)
    | \$(?P<nag>\d{1,9})
    | (?P<sign>[!?]{1,2})
    | (?P<bracket>[()])
    | (?P<word>[^\s{}();$!?]+(?:\([NBRQnbrq]\)[^\s{}();$!?]*)?)  # with the brackets of e8(Q)
    """,
    re.VERBOSE | re.MULTILINE,
)
WORD = re.compile(
    r"""
    (?:(?!0000)\d+[.\u2026]*|[.\u2026]+)?
    (?:
        (?P<pawn>[a-h]?[1-8]?[-x]?[a-h][18])[=/]?\(?(?P<promoted>[NBRQnbrq])\)?
        | P?(?P<move>[NBRQK]?[a-h]?[1-8]?[-x]?[a-h][1-8]|O-O(?:-O)?|0-0(?:-0)?|--|Z0|0000|@@@@)
    )?
    (?:[-+=#/,\u00b1\u2213\u221e\u2a72\u2a71\u25a1\u25cb]|e\.?p\.?|ch\.?|mate\.?|dbl\.?|dis\.?|TN|N|D)*
    """,
    re.VERBOSE,
)


@dataclass(slots=True)
class _Line:
    """The main line or a variation, read as far as `node`, where the board stands.

    A variation that has not begun stands at the position before it. `words` are comments that no move has yet. A line
    that is `over` cannot be read further; `skipped` counts the brackets that are open in the rest of it.
    """

    board: chess.Board
    node: chess.pgn.GameNode
    has_begun: bool
    words: list[str] = field(default_factory=list)
    over: bool = False
    skipped: int = 0

    def branch(self) -> Self:
        """A variation that begins with another move than the last one of this line."""
        board = self.board.copy()
        if not self.has_begun or self.node.parent is None:
            return type(self)(board, self.node, has_begun=False)
        board.pop()
        return type(self)(board, self.node.parent, has_begun=False)

    def play(self, move: chess.Move) -> None:
        """Go on with a move. Words ahead of the first move of a variation are its starting comment."""
        if self.has_begun:
            self.settle()
        self.node = self.node.add_variation(move, starting_comment=" ".join(self.words))
        self.words.clear()
        self.board.push(move)
        self.has_begun = True

    def settle(self) -> None:
        """Give the words to the last move, or ahead of all moves to the game."""
        self.node.comment = " ".join(self.words)
        self.words.clear()


def read_moves(game: chess.pgn.Game, text: str) -> None:
    """Read the moves of a game that has its headers. In its `errors`, a sentence says where a line cannot be read.

    That of the main line comes first. ValueError: the first position cannot be read.
    """
    _Reader(game).read(text)


class _Reader:
    """Reads one game. `_outer` are the lines that the present one is a variation of."""

    def __init__(self, game: chess.pgn.Game) -> None:
        self._game = game
        self._line = _Line(game.board(), game, has_begun=True)
        self._outer: list[_Line] = []
        self._has_result = False

    def read(self, text: str) -> None:
        for match in TOKEN.finditer(text):
            kind = match.lastgroup
            token = match[kind] if kind else ""
            line = self._line
            if kind == "bracket":
                self._open() if token == "(" else self._close()
            elif line.over:
                # The rest of the main line is lost.
                if not self._outer:
                    break
            elif kind == "word":
                self._read_word(token)
            elif kind in ("comment", "rest"):
                line.words += token.replace("}", "").split()
            elif kind in ("nag", "sign") and line.has_begun:
                line.node.nags.add(int(token) if kind == "nag" else SIGN_NAGS[token])
        while self._outer:
            self._close(even_if_skipping=True)
        self._line.settle()

    def _open(self) -> None:
        if self._line.over:
            self._line.skipped += 1
        elif self._outer or self._game.variations:
            self._outer.append(self._line)
            self._line = self._line.branch()
            if len(self._outer) > MAX_DEPTH:
                self._end(f"it is in {MAX_DEPTH} others")

    def _close(self, even_if_skipping: bool = False) -> None:
        line = self._line
        if line.skipped and not even_if_skipping:
            line.skipped -= 1
        elif self._outer:
            self._line = self._outer.pop()
            if line.has_begun:
                line.settle()
            else:
                self._line.words += line.words

    def _read_word(self, word: str) -> None:
        if word not in RESULTS:
            self._read_move(word)
        elif RESULTS[word] and not self._outer:
            self._has_result = True
            if self._game.headers.get("Result", "*") == "*":
                self._game.headers["Result"] = RESULTS[word]

    def _read_move(self, word: str) -> None:
        match = WORD.fullmatch(word) if len(word) <= MAX_WORD else None
        if match is None:
            self._end(f"'{word[:MAX_WORD]}' at move {self._line.board.fullmove_number} is no move")
            return
        san = f"{match['pawn']}={match['promoted'].upper()}" if match["pawn"] else match["move"]
        if san is None:
            return
        try:
            self._line.play(self._line.board.parse_san(san))
        except ValueError as error:
            problem = "is ambiguous" if isinstance(error, chess.AmbiguousMoveError) else "is not legal"
            self._end(f"{san} at move {self._line.board.fullmove_number} {problem}")

    def _end(self, problem: str) -> None:
        """End the line. What stands behind the result of the game is no part of it, and is not told."""
        self._line.over = True
        if self._outer:
            self._game.errors.append(ValueError(f"a variation cannot be read to its end: {problem}"))
        elif not self._has_result:
            self._game.errors.insert(0, ValueError(f"the game cannot be read to its end: {problem}"))
