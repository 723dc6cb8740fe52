"""Games read from PGN: their moves, times and comments, without what Secateur wrote into them before.

PGN may come from anywhere. A file is read as a stream, so its size does not matter. A game that is too long is cut.
Text that is no UTF-8 is read as Latin-1. What cannot be read is told in a sentence, and the next game is read.

Secateur's own annotations can be told from those of players. Its words stand behind an embedded command, as the PGN
standard has them: `[%secateur]`, or `[%secateur 2]` where it also gave the move NAG 2. They end at the next `[%` or
with the comment. A better line is a variation whose first move says `[%secateur line 5f3a01c2] better: +0.31`. The
number is made from its moves, so that a change shows.
"""

from __future__ import annotations

import io
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import BinaryIO

import chess
import chess.pgn

from uci_engine.board.game import PositionError, read_fen
from uci_engine.text import DASHES

# With the names that python-chess reads.
HEADER = re.compile(rb'\[([A-Za-z0-9][\w+#=:-]*)\s+"')
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
RESULT_AT_END = re.compile(rb"(?:1-0|0-1|1/2-1/2|\*)\s*$")
FIRST_MOVE = re.compile(rb"1\.(?!\.)")
BEFORE_FIRST_MOVE = re.compile(rb"(?<=\s)(?=1\.(?!\.))")
TOKEN = re.compile(
    r"""
    (?:^%|;).* | \{[^}]*\}? | \$\d{1,9} | [!?]{1,2} | [()]
    | (?P<word>[^\s{}();$!?]+(?:(?<=[18])\([NBRQnbrq]\)[^\s{}();$!?]*)?)  # with the brackets of e8(Q)
    """,
    re.VERBOSE | re.MULTILINE,
)
# A move, if there is one, between its number and what may stand behind it, even the result. `1/2` and `½` offer a draw.
# Nothing is tried twice, so that a long word takes no longer than its length.
WORD = re.compile(
    r"""
    (?:(?!0000)\d+[.\u2026]*+|[.\u2026]++)?
    (?:
        (?P<pawn>[a-h]?[1-8]?[-x]?[a-h][18])[=/(]?(?P<promoted>[NBRQnbrq])\)?
        | P?(?P<move>[NBRQK]?[a-h]?[1-8]?[-x]?[a-h][1-8]|O-O(?:-O)?|0-0(?:-0)?|--|Z0|0000|@@@@)
        | /2 | \u00bd
    )?
    (?P<signs>(?:[^\w*]|e\.?p|ch|mate|dbl|dis|TN|N|D)*+)
    (?P<result>1-0|0-1|1/2-1/2|\u00bd-\u00bd|0\.5-0\.5|\*)?
    """,
    re.VERBOSE,
)
# With checks and captures, draw offers and the selector of emoji: what is left out without a word.
SIGN = re.compile(r"[^\w]")
PLAIN_SIGNS = "-+=#/,.\u2026\ufe0f"
# Of a word that is no move, as it is shown.
MAX_WORD = 40
MAX_GAME_BYTES = 2**20
MAX_LINE_BYTES = 2**16
# Twice the length of the longest games. What is longer is no game that anybody played.
MAX_PLIES = 1200
# A year, for games by post.
MAX_SECONDS = 366 * 24 * 3600
# What programs write into comments: commands, and an engine's score, depth and time, as `+0.43/10 0.053s`.
COMMAND = re.compile(r"\[%[^][]*\]|[-+]?M?[\d.]{1,8}/\d{1,3} [\d.]{1,8}s\b")
ESCAPED = re.compile(r'\\(["\\])')
# The increment of a time control, in seconds.
CONTROL = re.compile(r"(?:\d+/)?\d{1,8}(?:\.\d+)?\+(?P<increment>\d{1,6}(?:\.\d+)?)")
# Clocks that show whole seconds seem to go back by as much.
CLOCK_ERROR = 2.0
SUFFIX = ".pgn"
# What Secateur has written: its name, words, perhaps with a NAG, and what the first move of a better line says.
OWN_ANNOTATOR = re.compile(rb'^\[Annotator ".*\bSecateur ', re.MULTILINE)
OWN_WORDS = re.compile(r"\[%secateur(?: ([1-6]))?\][^[]*+(?:\[(?!%)[^[]*+)*+")
OWN_LINE = re.compile(r"\[%secateur line ([0-9a-f]{8})\] better: \S+")


class PgnError(ValueError):
    """No games can be read. The text is one sentence for the user."""


class ReadGame(chess.pgn.Game):
    """A game as it was read. `notes`: sentences on what was not read as it is written.

    `refusal`: why it cannot be analysed, "" if it can.
    """

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(headers)
        self.notes: list[str] = []
        self.refusal = ""

    def header(self, name: str) -> str:
        r"""A header, "?" for none, without the backslashes of `\"` and `\\`, which python-chess leaves there."""
        return ESCAPED.sub(r"\1", self.headers.get(name, "?"))

    def first_position(self) -> chess.Board:
        """ValueError: it cannot be analysed."""
        if self.refusal:
            raise ValueError(self.refusal)
        return self.board()

    def played_moves(self) -> tuple[list[chess.pgn.ChildNode], list[str]]:
        """The moves that can be analysed, and remarks on those that cannot, and on what was read otherwise."""
        nodes: list[chess.pgn.ChildNode] = []
        remarks = [f"not all of the game can be read: {error}" for error in self.errors[:1]]
        for node in self.mainline():
            if not node.move:
                remarks = [f"the game has a null move after {len(nodes)} plies, and is analysed up to there"]
                break
            if len(nodes) == MAX_PLIES:
                remarks = [f"the game has more than {MAX_PLIES} plies, and is analysed up to there"]
                break
            nodes.append(node)
        return nodes, remarks + self.notes


class _Builder(chess.pgn.GameBuilder[ReadGame]):
    """Builds a game up to the first thing that is wrong with it, which is kept. Python-chess would also log it.

    A variation ends before its first illegal move. `problem` is the first of these.
    """

    problem: ValueError | None = None
    # How many variations deep an illegal move was met, 0 for none.
    _wrong_depth = 0

    def end_headers(self) -> chess.pgn.SkipType | None:
        """Repair the first position, as everywhere. Where none can be read, the moves are skipped."""
        headers = self.game.headers
        if is_unknown(headers.get("FEN", "")):
            headers.pop("FEN", None)
        try:
            variant = headers.variant()
            if variant is not chess.Board:
                raise ValueError(f"it is a game of {variant.uci_variant}, and this engine plays chess and Chess960")
            if "FEN" in headers:
                board, notes = read_fen(headers["FEN"], headers.is_chess960() or None)
                headers["FEN"] = board.fen()
                self.game.notes += notes
        except ValueError as error:
            is_position = isinstance(error, PositionError)
            self.game.refusal = f"its first position cannot be read: {error}" if is_position else str(error)
            self.handle_error(error)
            return chess.pgn.SKIP
        return None

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)

    def parse_san(self, board: chess.Board, san: str) -> chess.Move:
        if not self._wrong_depth:
            try:
                return super().parse_san(board, san)
            except ValueError as error:
                reason = "may be two moves" if isinstance(error, chess.AmbiguousMoveError) else "is no legal move"
                problem = ValueError(f"{board.fullmove_number}{'.' if board.turn else '...'}{san} {reason}")
                depth = len(self.variation_stack)
                if depth == 1:
                    raise problem from None
                self.problem = self.problem or problem
                self._wrong_depth = depth
                self._continuations = self.variation_stack[-1].variations
                self._right = len(self._continuations)
        # After an error in a variation, python-chess goes on with its board. Null moves stand there until it ends.
        return chess.Move.null()

    def visit_comment(self, comment: str) -> None:
        super().visit_comment(" ".join(comment.split()))

    def end_variation(self) -> None:
        if self._wrong_depth == len(self.variation_stack):
            del self._continuations[self._right :]
            self._wrong_depth = 0
        # The words of a variation without moves are no starting comment of the move behind it.
        super().end_variation()
        self.in_variation = True
        words, self.starting_comment = self.starting_comment, ""
        self.visit_comment(words)


def pgn_files(path: Path, written: Path) -> list[Path]:
    """The file, or the PGN files in the folder, by name. Raises PgnError.

    `written` is where annotated games are written: it is left out of a folder if Secateur has annotated all its games.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise PgnError(f"{path} is not a file" if path.exists() else f"there is no file {path}")
    inside = sorted(child for child in path.rglob("*") if child.suffix.lower() == SUFFIX and child.is_file())
    if not inside:
        raise PgnError(f"there is no {SUFFIX} file in {path}")
    return [child for child in inside if not (written.exists() and child.samefile(written) and _is_annotated(child))]


def _is_annotated(path: Path) -> bool:
    with path.open("rb") as file:
        return all(OWN_ANNOTATOR.search(text) for text in game_texts(file))


def game_texts(file: BinaryIO) -> Iterator[bytes]:
    """The games of a PGN file, each as its bytes.

    A game begins where headers follow something else, so that an unfinished comment or bracket ends with its game. It
    also begins where a header comes again, and where a first move follows a result. Blank lines are left out: they end
    a game for python-chess, and some programs write them between moves.
    """
    game: list[bytes] = []
    size = 0
    tags: set[bytes] = set()
    in_headers = in_comment = is_over = False
    for line in _lines(file):
        words = line.removeprefix(BOM_UTF8).lstrip()
        header = HEADER.match(words)
        is_header = header is not None
        is_first_move = is_over and FIRST_MOVE.match(words) is not None
        if game and ((header and (not in_headers or header[1] in tags)) or is_first_move):
            yield b"".join(game)
            game, size, tags, in_comment = [], 0, set(), False
        opened, closed = words.rfind(b"{"), words.rfind(b"}")
        in_comment = not is_header and (opened > closed or (in_comment and closed < 0))
        if words:
            is_over = not (is_header or in_comment) and RESULT_AT_END.search(words) is not None
        # Among headers there may be one that cannot be read, a blank line, or a comment.
        in_headers = is_header or (in_headers and words[:1] in b"[%;")
        if size < MAX_GAME_BYTES and not line.isspace():
            game.append(line)
            size += len(line)
            if header:
                tags.add(header[1])
    if game:
        yield b"".join(game)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a PGN file of any system. What has moves is also cut before each `1.`, where a game may begin."""
    text = io.TextIOWrapper(file, "latin-1")  # a letter for each byte
    try:
        while line := text.readline(MAX_LINE_BYTES).encode("latin-1"):
            is_moves = line.removeprefix(BOM_UTF8).lstrip()[:1] not in b"[%;"
            yield from BEFORE_FIRST_MOVE.split(line) if is_moves else [line]
    finally:
        text.detach()  # else it would close the file


def decoded(text: bytes) -> str:
    """The text, as UTF-8 if it is that, and as Latin-1 if not. What is no character of a text becomes a blank."""
    text = text.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError:
        words = text.decode("latin-1")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in words)


def _result(text: str) -> str:
    """One of RESULTS, however it is spelled; `*` for what is none."""
    result = "".join(text.translate(DASHES).split()).replace("\u00bd", "1/2").replace("0.5", "1/2").replace(":", "-")
    if result == "1/2":
        return "1/2-1/2"
    return result if result in RESULTS else "*"


def _tokens(text: str) -> tuple[list[str], str, str]:
    """The moves of a game and what belongs to them, up to the first word that is no move; and that word, "" for none.

    Python-chess skips what it does not know, and reads on in a position that the players did not have. Words in
    variations are left to it, and a word behind the result is none of the game. Signs that are no NAGs come last.
    """
    tokens: list[str] = []
    unknown: dict[str, None] = {}
    depth = 0
    has_moved = has_result = False
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "()":
            # Ahead of the first move there is nothing to vary.
            if not (has_moved if token == "(" else depth):
                continue
            depth += 1 if token == "(" else -1
        elif match["word"] and (word := WORD.fullmatch(token.translate(DASHES))):
            move = f"{word['pawn']}={word['promoted']}" if word["pawn"] else word["move"]
            has_moved |= move is not None
            # In a variation python-chess would take a result for a move.
            result = None if depth else word["result"]
            has_result |= result is not None
            unknown |= dict.fromkeys(sign for sign in SIGN.findall(word["signs"]) if sign not in PLAIN_SIGNS)
            tokens += filter(None, (move, result and _result(result)))
            continue
        elif match["word"] and not depth:
            return tokens, "" if has_result else token, "".join(unknown)
        tokens.append(token)
    # An unfinished variation is closed.
    return tokens + [")"] * depth, "", "".join(unknown)


def read_game(text: bytes) -> ReadGame:
    """The game of these bytes, without what Secateur wrote into it before. What is wrong with it is in its `errors`.

    Raises PgnError if there is no game at all.
    """
    lines = [line for line in map(str.strip, decoded(text).split("\n")) if line]
    headers = list(takewhile(lambda line: line[0] in "[%;", lines))
    tokens, no_move, unknown = _tokens("\n".join(lines[len(headers) :]))
    builder = _Builder(Game=ReadGame)
    try:
        # A line for each token: python-chess copies the rest of a line at each comment.
        game = chess.pgn.read_game(io.StringIO("\n".join(headers + tokens)), Visitor=lambda: builder)
    except Exception as error:  # a parser that was not made for hostile text
        raise PgnError(f"it cannot be read: {type(error).__name__}: {str(error)[:100]}") from None
    if game is None or not (game.variations or HEADER.search(text)):
        raise PgnError("it holds no game")
    if game.headers.get("Result") not in RESULTS[:-1]:
        results = [token for token in tokens if token in RESULTS[:-1]]
        game.headers["Result"] = results[0] if results else _result(game.headers.get("Result", "*"))
    if no_move and not game.errors:
        number = game.end().board().fullmove_number
        game.errors.append(ValueError(f"'{no_move[:MAX_WORD]}' at move {number} is no move"))
    if unknown:
        game.notes.append(f"signs that PGN does not have are left out: {unknown[:MAX_WORD]}")
    if builder.problem is not None:
        game.errors.append(ValueError(f"in a variation, {builder.problem}"))
    _forget_own(game)
    return game


def _forget_own(game: chess.pgn.Game) -> None:
    """Take out what Secateur has written into a game.

    A better line goes if nobody has changed it. One with other moves, comments, NAGs or variations is the player's from
    then on, and only Secateur's words on its first move go.
    """
    nodes: list[chess.pgn.GameNode] = [game]
    while nodes:
        node = nodes.pop()
        node.variations[1:] = [branch for branch in node.variations[1:] if not _is_own_line(branch)]
        nodes += node.variations
        if "[%secateur" in node.comment:
            node.nags.difference_update(map(int, filter(None, OWN_WORDS.findall(node.comment))))
            node.comment = " ".join(OWN_WORDS.sub(" ", OWN_LINE.sub(" ", node.comment)).split())


def _is_own_line(first: chess.pgn.ChildNode) -> bool:
    """Whether a variation is a better line as it was written."""
    own = OWN_LINE.fullmatch(first.comment)
    if own is None or first.nags or first.starting_comment or len(first.variations) > 1:
        return False
    rest = list(first.mainline())
    is_bare = not any(node.comment or node.nags or len(node.variations) > 1 for node in rest)
    return is_bare and checksum(node.move for node in (first, *rest)) == own[1]


def checksum(moves: Iterable[chess.Move]) -> str:
    """The number of a better line."""
    return f"{zlib.crc32(' '.join(move.uci() for move in moves).encode()):08x}"


def is_unknown(value: str) -> bool:
    """Whether a header says nothing."""
    return not value.strip("?- ")


# Comments and clocks -------------------------------------------------------------------------------------------------


def times_of(nodes: Sequence[chess.pgn.ChildNode], time_control: str) -> list[float | None]:
    """The seconds that each move took: as the PGN says, or as the clock and the time control show."""
    times: list[float | None] = [None] * len(nodes)
    for side in (0, 1):
        times[side::2] = _times_by_clock([_seconds(node.clock) for node in nodes[side::2]], time_control)
    given = [_seconds(node.emt) for node in nodes]
    return [by_clock if said is None else said for said, by_clock in zip(given, times, strict=True)]


def _times_by_clock(clocks: Sequence[float | None], time_control: str) -> list[float | None]:
    """The seconds of the moves of one side, by its clock after each, which gets the increment with each move.

    Where a clock goes back, a new period has begun, and the time of the move is not known.
    """
    control = CONTROL.match(time_control)
    increment = float(control["increment"]) if control else 0.0
    times: list[float | None] = [None] * len(clocks)
    for number, (before, after) in enumerate(pairwise(clocks), start=1):
        if before is not None and after is not None and before - after + increment >= -CLOCK_ERROR:
            times[number] = max(0.0, before - after + increment)
    return times


def _seconds(read: Callable[[], float | None]) -> float | None:
    """What a clock in a comment says. None for what no clock shows."""
    try:
        seconds = read()
    except (ValueError, OverflowError):  # too many digits for a number
        return None
    return seconds if seconds is not None and seconds <= MAX_SECONDS else None


def spoken(comment: str) -> str:
    """The words of a comment, without what programs have written."""
    return " ".join(COMMAND.sub(" ", comment).split())
