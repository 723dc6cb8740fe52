"""Games read from PGN: their moves, times and comments, without what Secateur wrote into them before.

PGN may come from anywhere: what cannot be read is told in a sentence, and the next game is read.

Secateur's own annotations can be told from those of players. Its words stand behind an embedded command, as the PGN
standard has them: `[%secateur]`, or `[%secateur 2]` where it also gave the move NAG 2. They end at the next `[%` or
with the comment. A better line is a variation whose first move says `[%secateur line 5f3a01c2] better: +0.31`. The
number is made from its moves, so that a change shows.
"""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

import chess
import chess.pgn

from uci_engine.board.game import PositionError, read_fen
from uci_engine.text import DASHES

HEADER = re.compile(rb'\[(?P<name>\w[\w+#=:-]*)\s+"')
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
RESULT_AT_END = re.compile(rb"(?:1-0|0-1|1/2-1/2|\*)\s*$")
FIRST_MOVE = re.compile(rb"1\.(?!\.)")
TOKEN = re.compile(
    r"(?:^%|;).*|(?P<comments>(?:\{[^}]*+\}?\s*)++)|\$(?P<nag>\d{1,3})|(?P<sign>[!?]{1,2})|[()]|(?P<word>\*|[^\s{}();$!?*]+)",
    re.MULTILINE,
)
BETWEEN_COMMENTS = re.compile(r"\}\s*\{")
# A move behind its number, and before its signs. What has neither letter nor digit is a sign alone.
WORD = re.compile(r"(?:(?!0000)\d+(?![-\d])\.*|\.+)?(?P<san>--|@@@@|.*?)(?:\W|e\.?p)*$")
# Of a word, so many letters are read.
MAX_WORD = 40
# The marks of PGN for a move.
MOVE_NAGS = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
MOVE_SIGNS = {nag: sign for sign, nag in MOVE_NAGS.items()}
MAX_GAME_BYTES = 2**20
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
# What Secateur has written: words, perhaps with a NAG, and what the first move of a better line says.
OWN_WORDS = re.compile(r"\[%secateur(?: ([1-6]))?\][^[]*+(?:\[(?!%)[^[]*+)*+")
OWN_LINE = re.compile(r"\[%secateur line ([0-9a-f]{8})\] better: \S+")


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

    def player(self, color: chess.Color) -> str:
        """The name of a player, `White` or `Black` if it is not known."""
        side = "White" if color else "Black"
        return side if is_unknown(self.header(side)) else self.header(side)

    @property
    def names(self) -> str:
        return f"{self.player(chess.WHITE)} \u2013 {self.player(chess.BLACK)}"

    def played_moves(self) -> tuple[list[chess.pgn.ChildNode], list[str]]:
        """The moves that can be analysed, and remarks on those that cannot, and on what was read otherwise.

        ValueError: the game cannot be analysed.
        """
        if self.refusal:
            raise ValueError(self.refusal)
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


def game_texts(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The games of a PGN file, each as its bytes, out of its lines with their ends.

    A game begins where headers follow something else or `Event` comes again, and where a first move follows a result.
    So an unfinished comment or bracket ends with its game. Blank lines are left out: they end a game for python-chess,
    and some programs write them between moves.
    """
    game = bytearray()
    in_headers = is_over = False
    for line in lines:
        if line.isspace():
            continue
        words = line.removeprefix(BOM_UTF8).lstrip()
        header = HEADER.match(words)
        is_new = header and (not in_headers or header["name"] == b"Event")
        if game and (is_new or (is_over and FIRST_MOVE.match(words))):
            yield bytes(game)
            game.clear()
        # Among headers there may be one that cannot be read, or a comment.
        in_headers = header is not None or (in_headers and words[:1] in b"[%;")
        is_over = not in_headers and RESULT_AT_END.search(words) is not None
        game += line[: MAX_GAME_BYTES - len(game)]
    if game:
        yield bytes(game)


def decoded(text: bytes) -> str:
    """The text, as UTF-8 if it is that, and as Latin-1 if not. What is no character of a text becomes a blank."""
    text = text.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError:
        words = text.decode("latin-1")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in words)


def read_headers(text: bytes, names: Collection[str]) -> ReadGame:
    """A game without its moves, with those of its headers that have these names.

    Other headers may have names that python-chess refuses.
    """
    game = ReadGame()
    for line in text.removeprefix(BOM_UTF8).splitlines():
        words = line.lstrip()
        header = HEADER.match(words)
        if header is None and words[:1] not in b"[%;":
            break
        if header is not None and (name := header["name"].decode()) in names:
            game.headers[name] = decoded(words[header.end() :]).rpartition('"')[0]
    return game


def read_game(text: bytes) -> ReadGame:
    """The game of these bytes, without what Secateur wrote into it before. What is wrong with it is in its `errors`.

    ValueError: there is no game at all.
    """
    lines = [line for line in map(str.strip, decoded(text).split("\n")) if line]
    headers = list(takewhile(lambda line: line[0] in "[%;", lines))
    builder = chess.pgn.GameBuilder(Game=ReadGame)
    builder.begin_game()
    game = builder.game
    for header in filter(None, map(chess.pgn.TAG_REGEX.match, headers)):
        game.headers[header[1]] = header[2]
    if game.headers["Result"] not in RESULTS:
        game.headers["Result"] = "*"
    try:
        _set_up(game)
    except ValueError as error:
        game.refusal = str(error)
        game.errors.append(error)
    else:
        _read_moves(builder, "\n".join(lines[len(headers) :]))
    if not (game.variations or HEADER.search(text)):
        raise ValueError("it holds no game")
    _forget_own(game)
    return game


def _set_up(game: ReadGame) -> None:
    """Repair the first position, as everywhere. ValueError: none can be read."""
    headers = game.headers
    variant = headers.variant()
    if variant is not chess.Board:
        raise ValueError(f"it is a game of {variant.uci_variant}, and this engine plays chess and Chess960")
    if is_unknown(headers.get("FEN", "")):
        headers.pop("FEN", None)
        return
    try:
        board, game.notes = read_fen(headers["FEN"], headers.is_chess960() or None)
    except PositionError as error:
        raise ValueError(f"its first position cannot be read: {error}") from None
    headers["FEN"] = board.fen()


def _read_moves(builder: chess.pgn.GameBuilder[ReadGame], text: str) -> None:
    """Read moves, comments, NAGs and variations, up to the result or to a word that is no legal move.

    A variation ends before such a word. Python-chess's own reader goes on behind it, in a position that nobody had.
    """
    game, notes = builder.game, list[str]()
    # That of each open variation; None for one that is passed over.
    boards: list[chess.Board | None] = [game.board()]
    for token in TOKEN.finditer(text):
        board = boards[-1]
        word = (token["word"] or "")[:MAX_WORD].translate(DASHES)
        san = WORD.sub(r"\g<san>", word, count=1)
        if token[0] == "(":
            inner = board.copy() if board is not None and board.move_stack else None
            boards.append(inner)
            if inner is not None:
                inner.pop()
                builder.begin_variation()
        elif token[0] == ")":
            if len(boards) > 1 and boards.pop() is not None:
                _end_variation(builder)
        elif board is None:
            continue
        elif token["comments"]:
            comments = BETWEEN_COMMENTS.sub(" ", token["comments"].strip()[1:]).removesuffix("}")
            builder.visit_comment(" ".join(comments.split()))
        elif token["nag"] or token["sign"]:
            builder.visit_nag(int(token["nag"]) if token["nag"] else MOVE_NAGS[token["sign"]])
        elif word in RESULTS:
            if len(boards) == 1:
                builder.visit_result(word)
                break
        elif san:
            try:
                move = board.parse_san(san)
            except ValueError:
                error = f"{board.fullmove_number}{'.' if board.turn else '...'}{san} is no legal move"
                if len(boards) == 1:
                    game.errors.append(ValueError(error))
                    break
                notes.append(f"a variation ends early: {error}")
                boards[-1] = None
                _end_variation(builder)
            else:
                builder.visit_move(board, move)
                board.push(move)
    game.notes += notes[:1]


def _end_variation(builder: chess.pgn.GameBuilder[ReadGame]) -> None:
    """The words of a variation without moves are no starting comment of the move behind it."""
    builder.end_variation()
    builder.in_variation = True
    words, builder.starting_comment = builder.starting_comment, ""
    builder.visit_comment(words)


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
    return not value.strip("?.- ")


# Comments and clocks -------------------------------------------------------------------------------------------------


def times_of(nodes: Sequence[chess.pgn.ChildNode], time_control: str) -> list[float | None]:
    """The seconds that each move took: as the PGN says, or as the clock and the time control show.

    A clock gets the increment with each move. Where it goes back, a new period has begun, and the time is not known.
    """
    control = CONTROL.match(time_control)
    increment = float(control["increment"]) if control else 0.0
    times = [seconds_of(node.emt) for node in nodes]
    clocks = [seconds_of(node.clock) for node in nodes]
    for ply, (before, after) in enumerate(zip(clocks, clocks[2:], strict=False), start=2):
        if times[ply] is None and before is not None and after is not None:
            spent = before - after + increment
            times[ply] = max(0.0, spent) if spent >= -CLOCK_ERROR else None
    return times


def seconds_of(read: Callable[[], float | None]) -> float | None:
    """What a clock in a comment says. None for what no clock shows."""
    try:
        seconds = read()
    except (ValueError, OverflowError):  # too many digits for a number
        return None
    return seconds if seconds is not None and seconds <= MAX_SECONDS else None


def spoken(comment: str) -> str:
    """The words of a comment, without what programs have written."""
    return " ".join(COMMAND.sub(" ", comment).split())
