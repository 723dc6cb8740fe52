"""All that is known of one analysed game: what the page and the annotated PGN show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import chess
import chess.pgn
from chess.engine import Limit

from uci_engine.board.game import PositionError, read_fen
from uci_engine.book.book import Book, OpeningName, name_of
from uci_engine.game_analysis.boards import board_after, numbered, phase_weight, positions
from uci_engine.game_analysis.game_search import limit_text, search_game, share_of
from uci_engine.game_analysis.judgement import MARK_NAGS, Judgement, Mark, Phase, Summary, judge, phases_of
from uci_engine.game_analysis.reasons import Reason, reason_for
from uci_engine.game_analysis.support import support_for
from uci_engine.game_analysis.values import MAX_LINE_PLIES, Analyser, Found, SearchedMove, Value, final_value, found_by

# A shorter line of an error is made longer by short searches, so that it shows the reason.
LEAST_LINE_PLIES = 6
EXTENSION = Limit(nodes=2000)
# The effort for each search that looks for a threat or confirms a reason.
FOR_REASON = 0.2
MAX_EXTENSIONS = 3
# Twice the length of the longest games. What is longer is no game that anybody played.
MAX_PLIES = 1200
# A year, for games by post.
MAX_SECONDS = 366 * 24 * 3600
# No named position and no line of the built-in book is later.
LAST_THEORY_PLY = 60
# What programs write into comments: commands, and an engine's score, depth and time, as `+0.43/10 0.053s`.
COMMAND = re.compile(r"\[%[^][]*\]|[-+]?M?[\d.]{1,8}/\d{1,3} [\d.]{1,8}s\b")
ESCAPED = re.compile(r'\\(["\\])')
# Of a time control: the moves of a period, its seconds, and the increment.
PERIOD = re.compile(r"(?P<moves>\d+/)?(?P<seconds>\d{1,8}(?:\.\d+)?)(?:\+(?P<increment>\d{1,6}(?:\.\d+)?))?")
# Clocks that show whole seconds seem to go back by as much.
CLOCK_ERROR = 2.0


class ReadGame(chess.pgn.Game):
    """A game with `notes`: sentences on what was not read as it is written."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(headers)
        self.notes: list[str] = []


@dataclass(frozen=True, slots=True)
class Ply:
    """One move of the game, the one with this index.

    `board` is that before it. `best` and `played` are the best move and this one, each with its line as it is shown.
    `value` and `depth` are those of the position after it. `reason` is why it is an error, or why it is good where it
    has an exclamation mark. `spent`: the seconds that it took. `verdict`: what the tablebases say of the position after
    it. `notes`: sentences on the end of the book, and on a new verdict. `sign` and `words` are those of the player or
    an annotator, from the PGN. The three texts are "" for nothing.
    """

    index: int
    board: chess.Board
    move: chess.Move
    phase: Phase
    value: Value
    depth: int
    judgement: Judgement
    best: Found
    played: Found
    reason: Reason | None
    spent: float | None
    verdict: str
    notes: tuple[str, ...]
    sign: str
    words: str

    @property
    def name(self) -> str:
        return numbered(self.board, self.move)

    @property
    def player(self) -> str:
        return "White" if self.board.turn else "Black"

    @property
    def value_text(self) -> str:
        """What it is worth, "" for a mate on the board, which its name says."""
        return "" if self.value.score.mate() == 0 else self.value.text

    @property
    def change(self) -> str:
        """What it cost: the value of the best move, its own, and the loss of expected result."""
        return f"{self.best.value.text} \u2192 {self.value.text}, \u2212{100 * self.judgement.loss:.0f} %"

    @property
    def why(self) -> str:
        """Why it is an error or good, and what it missed, in sentences; "" for nothing.

        Of an error it says at least what is better.
        """
        reason, missed_mate = self.reason, self.judgement.missed_mate
        sentences = []
        if reason is not None:
            sentences.append(f"{reason.text}.")
        elif self.judgement.mark.is_error:
            sentences.append(f"Better is {numbered(self.board, self.best.line[0])}.")
        if self.judgement.missed_win:
            sentences.append("A win is gone.")
        if missed_mate is not None and "misses mate" not in " ".join(sentences):
            sentences.append(f"A mate in {missed_mate} is missed.")
        return " ".join(sentences)

    @property
    def remarks(self) -> list[str]:
        """All that is to be said of it beside its value, `why` first, each as a paragraph."""
        return [*filter(None, [self.why]), *self.notes, *([f"\u201c{self.words}\u201d"] if self.words else [])]

    @property
    def lines(self) -> list[tuple[str, Found]]:
        """The lines of an error, each with its title."""
        return [
            (f"Better: {numbered(self.board, self.best.line[0])}", self.best),
            (f"Played: {self.name}", self.played),
        ]


@dataclass(frozen=True, slots=True)
class GameReport:
    """One analysed game. `boards` are its `positions`, `value` is what the first is worth, `words` a comment on it."""

    headers: dict[str, str]
    boards: list[chess.Board]
    value: Value
    plies: tuple[Ply, ...]
    opening: OpeningName | None
    effort: str
    remarks: tuple[str, ...]
    words: str

    def summary(self, color: chess.Color, phase: Phase | None = None) -> Summary:
        """The moves of one player, in one phase or in the whole game."""
        return Summary.of(
            [ply.judgement for ply in self.plies if ply.board.turn == color and phase in (None, ply.phase)]
        )

    @property
    def errors(self) -> list[Ply]:
        """The inaccuracies, mistakes and blunders."""
        return [ply for ply in self.plies if ply.judgement.mark.is_error]

    @property
    def result(self) -> str:
        return self.headers.get("Result", "*")

    @property
    def names(self) -> str:
        return f"{self.player(chess.WHITE)} \u2013 {self.player(chess.BLACK)}"

    def player(self, color: chess.Color) -> str:
        """The name of a player, `White` or `Black` if it is not known."""
        side = "White" if color else "Black"
        name = self.headers.get(side, "")
        return name if name.strip("? ") else side


def shown_header(game: chess.pgn.Game, name: str) -> str:
    r"""A header of a game, "?" for none, without the backslashes of `\"` and `\\`, which python-chess leaves there."""
    return ESCAPED.sub(r"\1", game.headers.get(name, "?"))


def first_position(game: ReadGame) -> chess.Board:
    """ValueError: it cannot be analysed."""
    variant = game.headers.variant()
    if variant is not chess.Board:
        raise ValueError(f"it is a game of {variant.uci_variant}, and this engine plays chess and Chess960")
    try:
        return read_fen(game.headers.get("FEN", chess.STARTING_FEN), game.headers.is_chess960() or None)[0]
    except PositionError as error:
        raise ValueError(f"its first position cannot be read: {error}") from None


def played_moves(game: ReadGame) -> tuple[list[chess.pgn.ChildNode], list[str]]:
    """The moves of a game that can be analysed, and remarks on those that cannot, and on what was read otherwise."""
    nodes: list[chess.pgn.ChildNode] = []
    remarks = [f"not all of the game can be read: {error}" for error in game.errors[:1]]
    for node in game.mainline():
        if not node.move:
            remarks = [f"the game has a null move after {len(nodes)} plies, and is analysed up to there"]
            break
        if len(nodes) == MAX_PLIES:
            remarks = [f"the game has more than {MAX_PLIES} plies, and is analysed up to there"]
            break
        nodes.append(node)
    return nodes, remarks + game.notes


def analyse_game(
    game: ReadGame,
    analyser: Analyser,
    limit: Limit,
    on_position: Callable[[float], None] = lambda share: None,
) -> GameReport:
    """Analyse the main line of a game. The other arguments are those of `search_game`.

    ValueError: the first position cannot be analysed.
    """
    start = first_position(game)
    nodes, remarks = played_moves(game)
    times = _times(nodes, game.headers.get("TimeControl", ""))
    moves = [node.move for node in nodes]
    boards = positions(start, moves)
    found, searched = search_game(analyser, boards, moves, limit, on_position)
    opening, theory_plies = _opening_of(boards, moves)
    phases = phases_of(map(phase_weight, boards))
    plies: list[Ply] = []
    for index, (node, move) in enumerate(zip(nodes, searched, strict=True)):
        board = boards[index]
        judgement = judge(board, move, index < theory_plies)
        best, played, reason = _explained(analyser, board, move, judgement.mark, limit)
        verdict = tablebase_verdict(analyser, boards[index + 1])
        notes = [f"End of the book: {opening}."] if opening and index + 1 == theory_plies else []
        if verdict and verdict != (plies[-1].verdict if plies else ""):
            notes.append(f"The tablebases say: {verdict}.")
        signs = node.nags & MARK_NAGS.keys()
        plies.append(
            Ply(
                index=index,
                board=board,
                move=node.move,
                phase=phases[index],
                value=found[index + 1].value,
                depth=found[index + 1].depth,
                judgement=judgement,
                best=best,
                played=played,
                reason=reason,
                spent=times[index],
                verdict=verdict,
                notes=tuple(notes),
                sign=MARK_NAGS[min(signs)] if signs else "",
                words=_spoken(f"{node.starting_comment} {node.comment}"),
            )
        )
    return GameReport(
        headers={name: shown_header(game, name) for name in game.headers},
        boards=boards,
        value=found[0].value,
        plies=tuple(plies),
        opening=opening,
        effort=limit_text(limit),
        remarks=tuple(remarks),
        words=_spoken(game.comment),
    )


def _explained(
    analyser: Analyser, board: chess.Board, move: SearchedMove, mark: Mark, limit: Limit
) -> tuple[Found, Found, Reason | None]:
    """The best move and the one played with their lines, and why that is an error, or why it is good."""
    if mark.is_error:
        best, played = extended(analyser, board, move.best), extended(analyser, board, move.played)

        def find(position: chess.Board, moves: Sequence[chess.Move] | None = None) -> Found:
            found = found_by(analyser.analyse(position, share_of(limit, FOR_REASON), root_moves=moves), position)
            return extended(analyser, position, found)

        return best.shown, played.shown, reason_for(board, played, best, find)
    is_good = mark in (Mark.GOOD, Mark.BRILLIANT)
    return move.best.shown, move.played.shown, support_for(board, move.played.shown) if is_good else None


def _opening_of(boards: Sequence[chess.Board], moves: Sequence[chess.Move]) -> tuple[OpeningName | None, int]:
    """The opening of a game, and the plies up to the last position that has a name or that a book move reaches.

    A game from another position than the usual one has no opening, unless its first position has a name.
    """
    name = name_of(boards[0])
    if boards[0].fen() != chess.STARTING_FEN and name is None:
        return None, 0
    plies = 0
    book = Book()
    for ply, (before, move) in enumerate(zip(boards, moves[:LAST_THEORY_PLY], strict=False), start=1):
        here = name_of(boards[ply])
        name = here or name
        if here is not None or any(move == known for known, _ in book.moves(before)):
            plies = ply
    return name, plies


def _times(nodes: Sequence[chess.pgn.ChildNode], time_control: str) -> list[float | None]:
    """The seconds that each move took: as the PGN says, or as the clock and the time control show."""
    times: list[float | None] = [None] * len(nodes)
    for side in (0, 1):
        times[side::2] = _times_by_clock([_seconds(node.clock) for node in nodes[side::2]], time_control)
    given = [_seconds(node.emt) for node in nodes]
    return [by_clock if said is None else said for said, by_clock in zip(given, times, strict=True)]


def _times_by_clock(clocks: Sequence[float | None], time_control: str) -> list[float | None]:
    """The seconds of the moves of one side, by its clock after each.

    The clock gets the increment with each move. Not all clocks get the time of the next period at the move that ends
    one, so it counts where the clock goes back.
    """
    read = [PERIOD.fullmatch(period) for period in time_control.split(":")]
    periods = [(float(period["seconds"]), float(period["increment"] or 0)) for period in read if period is not None]
    if read[-1] is not None and read[-1]["moves"]:
        # The last period comes again and again.
        periods += periods[-1:] * len(clocks)
    _, increment = periods[0] if periods else (0.0, 0.0)
    times: list[float | None] = [None] * len(clocks)
    for number, (before, after) in enumerate(pairwise(clocks), start=1):
        if before is None or after is None:
            continue
        spent = before - after + increment
        if spent < -CLOCK_ERROR and len(periods) > 1:
            del periods[0]
            seconds, increment = periods[0]
            spent += seconds
        times[number] = max(0.0, spent)
    return times


def _seconds(read: Callable[[], float | None]) -> float | None:
    """What a clock in a comment says. None for what no clock shows."""
    try:
        seconds = read()
    except (ValueError, OverflowError):  # too many digits for a number
        return None
    return seconds if seconds is not None and seconds <= MAX_SECONDS else None


def _spoken(comment: str) -> str:
    return " ".join(COMMAND.sub(" ", comment).split())


def extended(analyser: Analyser, board: chess.Board, found: Found, limit: Limit = EXTENSION) -> Found:
    """The same with its line made longer by short searches, if it is too short to show anything."""
    line = found.line
    for _ in range(MAX_EXTENSIONS):
        end = board_after(board, line)
        if len(line) >= LEAST_LINE_PLIES or not line or final_value(end, claims=True) is not None:
            break
        line += found_by(analyser.analyse(end, limit), end).line[: MAX_LINE_PLIES - len(line)]
    return replace(found, line=line)


def tablebase_verdict(analyser: Analyser, board: chess.Board) -> str:
    """What the tablebases say of a position, "" where they say nothing."""
    result = None if final_value(board) is not None else analyser.probe_tablebases(board)
    if result is None:
        return ""
    if result == 0:
        return "draw"
    winner = "White" if (result > 0) == board.turn else "Black"
    return f"{winner} wins" if abs(result) == 2 else f"draw by the fifty-move rule ({winner} would win)"
