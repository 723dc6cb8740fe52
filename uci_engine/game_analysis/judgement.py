"""Values and judgement: what a position is worth, what a search found, and what each move of a game cost.

The expected result is that between people: 1 for a win, 0.5 for a draw, 0 for a loss. A move is judged by the loss of
it, and not by centipawns: three pawns more or less decide nothing once a game is won. The marks are those of
lichess.org, also for mates that are allowed or missed, but where these decide nothing. Moves without an alternative are
not judged, and moves of the book only where they cost as much as a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import chess
from chess.engine import Cp, Mate, MateGiven, Score

from uci_engine.board.pgn import MOVE_NAGS
from uci_engine.book.book import built_in_book, name_of
from uci_engine.game_analysis.boards import is_obvious, is_sacrifice
from uci_engine.score import MAX_PIECES, TABLEBASE_BOUND, win_curve

# The rule of lichess.org, from games between people: the slope for a centipawn, and the greatest score that counts.
SITE_SLOPE = 0.00368208
MAX_SITE_CP = 1000
# The site's centipawns in one of the search: the ratio of the scores in its analysed games, whatever is on the board.
SITE_CP = 1.3
# Lines are shown at most this long.
MAX_LINE_PLIES = 10
# More than any score in centipawns.
MATE_CP = 100_000
# A line that draws expects half a point to within this much.
DRAWN_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Value:
    """A value from White's view: a score as it is shown, and the expected result, from 0 to 1."""

    score: Score
    expected: float

    def expected_for(self, color: chess.Color) -> float:
        return self.expected if color else 1.0 - self.expected

    def order_for(self, color: chess.Color) -> tuple[float, Score]:
        """What sorts values by how good they are for one side, also those that expect the same result."""
        return self.expected_for(color), self.score_for(color)

    def score_for(self, color: chess.Color) -> Score:
        return self.score if color else -self.score

    def cp_for(self, color: chess.Color) -> int:
        """The score of one side in centipawns, where a mate is more than any other."""
        return self.score_for(color).score(mate_score=MATE_CP)

    def mate_for(self, color: chess.Color) -> int | None:
        """The moves in which this side mates; None if it does not."""
        score = self.score_for(color)
        return score.mate() if score > Cp(0) else None

    def backed_up(self, mover: chess.Color) -> Value:
        """The value before a move of this side, out of the value after it: a mate by that side is one move longer."""
        mate = self.mate_for(mover)
        if mate is None:
            return self
        return Value(Mate(mate + 1 if mover else -mate - 1), self.expected)

    @property
    def is_tablebase(self) -> bool:
        cp = self.score.score()
        return cp is not None and abs(cp) >= TABLEBASE_BOUND

    @property
    def is_drawn(self) -> bool:
        """Whether a line of this value draws, or nearly."""
        return abs(self.expected - 0.5) < DRAWN_SHARE

    @property
    def text(self) -> str:
        """`+0.31`, `#-3` for a mate by Black in 3, `+TB` for a tablebase win of White."""
        if self.is_tablebase:
            return "+TB" if self.expected > 0.5 else "-TB"
        cp = self.score.score()
        if cp is None:
            return "#" if self.score == MateGiven else str(self.score).replace("+", "")
        return f"{cp / 100:+.2f}"

    @property
    def shown(self) -> str:
        """The text with a true minus sign, for pages and sentences."""
        return self.text.replace("-", "\u2212")


DRAWN = Value(Cp(0), 0.5)


def site_expected(cp: float) -> float:
    """The result that the site expects of a score in its centipawns."""
    return 1.0 / (1.0 + math.exp(-SITE_SLOPE * min(max(cp, -MAX_SITE_CP), MAX_SITE_CP)))


def value_of(score: Score, pieces: int = MAX_PIECES) -> Value:
    """The value of a shown score, from White's view. `pieces`: so many were on the board."""
    cp = score.score()
    if cp is None or abs(cp) >= TABLEBASE_BOUND:
        return Value(score, 1.0 if score > Cp(0) else 0.0)
    # What is shown is scaled by the number of pieces, and the site's scores are not.
    midpoint_cp, _ = win_curve(pieces)
    return Value(score, site_expected(SITE_CP * cp * midpoint_cp / 100))


def final_value(board: chess.Board, *, claims: bool = False) -> Value | None:
    """The value of a position without legal moves, or drawn whatever is played; None for any other.

    With `claims` also of one in which either side can claim a draw.
    """
    if board.is_checkmate():
        return Value(-MateGiven if board.turn else MateGiven, 0.0 if board.turn else 1.0)
    can_claim = claims and (board.is_repetition(3) or board.is_fifty_moves())
    return DRAWN if can_claim or board.is_stalemate() or board.is_insufficient_material() else None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found in one position. `line` begins with the best move, and is empty if there is none."""

    value: Value
    depth: int = 0
    line: tuple[chess.Move, ...] = ()

    @property
    def move(self) -> chess.Move | None:
        return self.line[0] if self.line else None

    @property
    def shown(self) -> Found:
        """The same with its line as long as lines are shown: to the end where it mates."""
        return self if self.value.score.is_mate() else replace(self, line=self.line[:MAX_LINE_PLIES])


# What a move cost -----------------------------------------------------------------------------------------------------

# The smallest loss of expected result for each mark: those of lichess.org. From an even position 0.05 is about 0.35
# pawns as they are shown, 0.10 about 0.7, and 0.15 about 1.05. An inaccuracy is marked from SURE_LOSS on: of those that
# cost less, another engine calls every second one no error.
INACCURACY_LOSS = 0.05
SURE_LOSS = 0.075
MISTAKE_LOSS = 0.10
BLUNDER_LOSS = 0.15
# Where one side expects this much before a move and after it, engines differ most. There an error costs more.
DECIDED, DECIDED_LOSS = 0.75, 0.125
# Who misses a mate in so many moves has not played without an error, even where the game stays won.
SHORT_MATE = 2
# A move is the only one when every other loses this much.
ONLY_MOVE_LOSS = 0.15
# Where even the second best move expects this much, the game is won, and no move deserves an exclamation mark.
WON = 0.90
# After a missed win the side expects at most this.
NO_WIN = 0.70
# The accuracy of a move in percent is 100 * exp(-ACCURACY_DECAY * loss).
ACCURACY_DECAY = 4.35
# The weight of a move in a decided position. In an even one it is 1.
LEAST_WEIGHT = 0.1
# The opening ends after so many plies, or when the pieces weigh less. In an endgame they weigh at most so much.
OPENING_PLIES = 24
LEAST_OPENING_WEIGHT = 20
MOST_ENDGAME_WEIGHT = 8


class Phase(Enum):
    OPENING = "opening"
    MIDDLEGAME = "middlegame"
    ENDGAME = "endgame"


class Mark(Enum):
    """What a move deserves. `nag` is its number in PGN, 0 for none."""

    BOOK = ("book", "")
    FORCED = ("forced", "")
    BEST = ("best", "")
    SOUND = ("sound", "")
    GOOD = ("good", "!")
    BRILLIANT = ("brilliant", "!!")
    INACCURACY = ("inaccuracy", "?!")
    MISTAKE = ("mistake", "?")
    BLUNDER = ("blunder", "??")

    def __init__(self, word: str, sign: str) -> None:
        self.word = word
        self.sign = sign
        self.nag = MOVE_NAGS.get(sign, 0)

    @property
    def is_error(self) -> bool:
        """Whether it is an inaccuracy, a mistake or a blunder."""
        return self in ERRORS

    @property
    def gravity(self) -> int:
        """How much it says: 0 for a mark without a sign, and the more for an error the worse it is."""
        return [*Mark].index(self) if self.sign else 0


LEAST_LOSSES = ((BLUNDER_LOSS, Mark.BLUNDER), (MISTAKE_LOSS, Mark.MISTAKE), (SURE_LOSS, Mark.INACCURACY))
ERRORS = (Mark.INACCURACY, Mark.MISTAKE, Mark.BLUNDER)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one move cost.

    `loss` is the loss of expected result, from 0 to 1. `accuracy` is in percent, and `weight` its weight in averages,
    0 for a move that is not judged: a good one of the book, or one without an alternative. `missed_win`: the move
    before was won, and after it that is gone. `missed_mate`: there was a short one.
    """

    mark: Mark
    loss: float
    accuracy: float = 100.0
    weight: float = 0.0
    missed_win: bool = False
    missed_mate: bool = False


def judge(
    board: chess.Board,
    best: Found,
    played: Found,
    others: Value | None = None,
    *,
    is_book: bool = False,
    loss: float | None = None,
) -> Judgement:
    """What a move on this board, the first of the line `played`, cost. `best`: the best move, which may be the same.

    `others`: what the best other move is worth, if that was searched. `loss`: by several looks, None for that of this.
    """
    color, is_best = board.turn, best.move in (None, played.move)
    before, after, mate = best.value.expected_for(color), played.value.expected_for(color), best.value.mate_for(color)
    if loss is None:
        loss = 0.0 if is_best else max(before - after, 0.0)
    if is_book and loss < MISTAKE_LOSS:
        return Judgement(Mark.BOOK, loss)
    if board.legal_moves.count() == 1:
        return Judgement(Mark.FORCED, loss)
    return Judgement(
        mark=_mark_of_best(board, played, others) if is_best else _mark_of_worse(best.value, played.value, color, loss),
        loss=loss,
        accuracy=100.0 * math.exp(-ACCURACY_DECAY * loss),
        weight=max(LEAST_WEIGHT, _openness(before), _openness(after)),
        missed_win=not is_best and before >= WON and after <= NO_WIN,
        missed_mate=not is_best and mate is not None and mate <= SHORT_MATE,
    )


def _mark_of_best(board: chess.Board, found: Found, others: Value | None) -> Mark:
    if others is None:
        return Mark.BEST
    expected, rival = found.value.expected_for(board.turn), others.expected_for(board.turn)
    # What only delays the loss of a lost game is no good move.
    if rival >= WON or expected - rival < ONLY_MOVE_LOSS or is_obvious(board, found.line[0]):
        return Mark.BEST
    return Mark.BRILLIANT if is_sacrifice(board, found.line) else Mark.GOOD


def _mark_of_worse(best: Value, played: Value, color: chess.Color, loss: float) -> Mark:
    """The mark by the loss. An error that misses or allows a mate is a blunder."""
    is_missed = best.mate_for(color) is not None and played.mate_for(color) is None
    is_allowed = played.mate_for(not color) is not None and best.mate_for(not color) is None
    if loss >= SURE_LOSS and (is_missed or is_allowed):
        return Mark.BLUNDER
    if loss < DECIDED_LOSS and max(played.expected_for(color), best.expected_for(not color)) >= DECIDED:
        return Mark.SOUND
    return next((mark for least, mark in LEAST_LOSSES if loss >= least), Mark.SOUND)


def is_book_move(board: chess.Board, after: chess.Board) -> bool:
    """Whether the position `after` a move on this board has a name as an opening, or the built-in book has the move."""
    return name_of(after) is not None or any(after.peek() == known for known, _ in built_in_book().moves(board))


def _openness(expected: float) -> float:
    """How open the result is: 1 at an even chance, 0 at a sure win or loss."""
    return 4.0 * expected * (1.0 - expected)


def accuracy_of(judgements: Sequence[Judgement]) -> str:
    """The accuracy of these moves in percent, as text: a dash if none was judged."""
    weight = sum(one.weight for one in judgements)
    # Only who has made no error has played without one.
    most = 99.0 if any(one.mark.is_error or one.missed_mate for one in judgements) else 100.0
    return f"{min(sum(one.accuracy * one.weight for one in judgements) / weight, most):.0f} %" if weight else "\u2013"


def phases_of(piece_weights: Iterable[int]) -> list[Phase]:
    """The phase of each position; none returns. `piece_weights`: minor pieces 1, rooks 2, queens 4, of both sides."""
    phases: list[Phase] = []
    now = Phase.OPENING
    for ply, weight in enumerate(piece_weights):
        if weight <= MOST_ENDGAME_WEIGHT:
            now = Phase.ENDGAME
        elif now is Phase.OPENING and (ply >= OPENING_PLIES or weight < LEAST_OPENING_WEIGHT):
            now = Phase.MIDDLEGAME
        phases.append(now)
    return phases
