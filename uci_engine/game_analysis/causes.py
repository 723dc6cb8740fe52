"""Why a move is an error, or good: causes, each with the searches that confirm it.

A cause is what, if it were otherwise, would make the gain vanish. An edit changes one thing in a position: a move is
forbidden, or the turn handed over. A short search values it, and `share` says what part of the cost is gone. What the
moves do has its name from `tactics` and `positional`; `uci_engine.game_analysis.words` puts the record into
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import exchange, is_sacrifice, surplus
from uci_engine.game_analysis.judgement import INACCURACY_LOSS, MISTAKE_LOSS, ONLY_MOVE_LOSS
from uci_engine.game_analysis.positional import Feature, feature_of
from uci_engine.game_analysis.searches import EXTENSION, Finder, Searches, nothing_found
from uci_engine.game_analysis.tactics import DRAWS, Case, Kind, Line, Motif, deciding_motifs, motifs_of_win
from uci_engine.game_analysis.thresholds import CONFIRMED, LONGEST_MATE, MAX_DELAY, MAX_SIDE_COST, SOON
from uci_engine.game_analysis.values import DRAWN, Found, SearchedMove, Value


class Why(Enum):
    """The kind of a cause. The first word of each tells whose move it is about: the reply, or the better move."""

    ALLOWS_MATE = "allows mate"
    MISSES_MATE = "misses mate"
    DRAW = "draw"
    LOST_TABLEBASE = "lost by the tablebases"
    MISSED_TABLEBASE = "win of the tablebases missed"
    LOSS = "material lost"
    MISSED_GAIN = "gain missed"
    POSITION = "position"
    # Of good moves.
    TACTIC = "tactic"
    SACRIFICE = "sacrifice"
    ALL_OTHERS_WORSE = "only move"
    DEFENCE = "threat met"


class Edit(Enum):
    """What is otherwise in a position that is searched."""

    NO_REPLY = "without the reply"
    NO_BETTER = "without the better move"
    PASS = "with the turn handed over"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One edit, the position that it leads to, and what the search found there.

    `share` of NO_REPLY: the part of the cost that is gone without the reply. Of PASS and NO_BETTER: the part that comes
    back when the turn is handed over, or the better move forbidden.
    """

    edit: Edit
    board: chess.Board
    found: Found
    share: float

    @property
    def confirms(self) -> bool:
        return self.share >= CONFIRMED


def _confirming(*found: Evidence | None) -> tuple[Evidence, ...]:
    """The evidence that confirms a cause."""
    return tuple(each for each in found if each and each.confirms)


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause. `winner` profits by the moves of `line` up to the ply `end`, and `motifs` name what these do.

    `is_threat`: the reply was a threat before the move. `opened`: what the move did for the reply, None for nothing.
    `material`: what the winner has won, by piece type; empty for nothing, or where the moves shown are not all.
    `mate`: the moves to mate, 0 for no mate.
    `feature`: of POSITION what stands on the board at the end, on these `squares`.
    """

    why: Why
    winner: chess.Color
    line: Line
    motifs: tuple[Motif, ...] = ()
    end: int = 0
    material: tuple[int, ...] = ()
    mate: int = 0
    is_threat: bool = False
    opened: Motif | None = None
    feature: Feature | None = None
    squares: chess.SquareSet = field(default_factory=chess.SquareSet)
    evidence: tuple[Evidence, ...] = ()

    @property
    def first(self) -> int:
        """The ply of the winner's first move."""
        return self.line.own_plies().start

    @property
    def is_late(self) -> bool:
        """Whether it is a mere capture after other moves."""
        return self.motifs[0].kind is Kind.CAPTURE and self.motifs[0].ply > self.first

    @property
    def pawns(self) -> int:
        """What the moves shown win, in pawns."""
        return self.line.balance(self.end) - self.line.balance(0)


class Comparison:
    """The line of the move played and that of the better one, from the same board, and the searches of the edits.

    The opponent is the winner of the line `played`, the player that of `better`.
    """

    def __init__(self, board: chess.Board, played: Found, better: Found, find: Finder) -> None:
        self.board, self.find, self.color = board, find, board.turn
        self.played_value, self.better_value = played.value, better.value
        self.played = Line(board, played.shown.line, not self.color)
        self.better = Line(board, better.shown.line, self.color)
        self.cost = max(self._expected(better.value) - self._expected(played.value), 0.001)
        # In pawns, as they are shown.
        self.lost = (better.value.cp_for(self.color) - played.value.cp_for(self.color)) / 100

    def _expected(self, value: Value) -> float:
        return value.expected_for(self.color)

    def _searched(self, edit: Edit, board: chess.Board | None, moves: Sequence[chess.Move] | None) -> Evidence | None:
        """The edit with its search; None where there is nothing to search."""
        if board is None or moves == []:
            return None
        evidence = self._once(edit, board, moves)
        # What confirms is searched again, and deeper, because the transposition table is kept.
        return self._once(edit, board, moves) if evidence and evidence.confirms else evidence

    def _once(self, edit: Edit, board: chess.Board, moves: Sequence[chess.Move] | None) -> Evidence | None:
        found = self.find(board, moves)
        if not found.line:
            return None
        now = self._expected(found.value)
        is_better = edit is Edit.NO_REPLY
        gone = now - self._expected(self.played_value) if is_better else self._expected(self.better_value) - now
        return Evidence(edit, board, found, gone / self.cost)

    @cached_property
    def without_reply(self) -> Evidence | None:
        """The reply forbidden, and with a capture all others on its square."""
        board, reply = self.played.boards[1], self.played.moves[1]
        is_taken = board.is_capture(reply)
        others = [
            move for move in board.legal_moves if move != reply and not (is_taken and move.to_square == reply.to_square)
        ]
        return self._searched(Edit.NO_REPLY, board, others)

    @cached_property
    def without_better(self) -> Evidence | None:
        others = [move for move in self.board.legal_moves if move != self.better.moves[0]]
        return self._searched(Edit.NO_BETTER, self.board, others)

    @cached_property
    def reply_before(self) -> Evidence | None:
        """The reply before the move played, in place of it: did it threaten already?"""
        passed, reply = passed_board(self.board), self.played.moves[1]
        is_legal = passed is not None and passed.is_legal(reply)
        return self._searched(Edit.PASS, passed if is_legal else None, [reply])

    def other(self, line: Line) -> Line:
        return self.played if line is self.better else self.better

    def wins_alone(self, line: Line) -> list[Case]:
        """What one of the lines wins and the other does not: there the same piece is kept, or more is paid for it."""
        other = self.other(line)
        others = Line(self.board, other.moves[: other.searched], line.winner).wins()

        def falls_too(win: Case) -> bool:
            same = [other for other in others if other.origin == win.origin and other.ply < win.ply + SOON]
            return any(other.ply == win.ply or other.worth >= CONFIRMED * win.worth for other in same)

        return [win for win in line.wins() if win.ply < line.searched and not falls_too(win)]

    def gain(self, line: Line, win: Case) -> int:
        """What one of the lines wins to keep, in pawns, if it is more than in the other one, and half of that by `win`.

        In the end, or, where the search agrees that so much is lost, soon after the win. 0 for nothing.
        """
        for until in (line.searched, win.ply + 1 + SOON):
            kept = line.kept(until)
            alone = min(kept, kept + self.other(line).kept(until))
            is_agreed = until == line.searched or self.lost >= CONFIRMED * kept
            # Most of it is by this win, and neither comes back nor falls in the other line, too.
            if is_agreed and 1 <= alone <= 2 * win.worth <= 6 * kept <= 12 * alone:
                return kept
        return 0

    def is_avoided(self, line: Line, end: int) -> bool:
        """Whether the loser, by another answer before the ply `end` that is no error, loses nothing."""
        value = self.better_value if line is self.better else self.played_value
        for ply in range(line.own_plies().start + 1, end, 2):
            board = line.boards[ply]
            others = [move for move in board.legal_moves if move != line.moves[ply]]
            found = self.find(board, others) if others else Found(DRAWN)
            dearer = found.value.expected_for(line.winner) - value.expected_for(line.winner)
            is_as_good = found.line and dearer <= INACCURACY_LOSS
            answer = Line(board, found.shown.line, line.winner)
            if is_as_good and max(map(answer.balance, answer.settled)) <= line.balance(0):
                return True
        return False


def explained(
    searches: Searches, board: chess.Board, move: SearchedMove, limit: Limit
) -> tuple[Found, Found, tuple[Cause, ...]]:
    """The best move and the one played with their lines as they are shown, and why that is worse, or why it is good.

    `limit`: that of each search of an edit.
    """
    find = searches.finder(limit, EXTENSION)
    best, played = (searches.extended(board, found, EXTENSION) for found in (move.best, move.played))
    causes = merits_of(board, played, move.others, find) if move.is_best else causes_of(board, played, best, find)
    return best.shown, played.shown, causes


def passed_board(board: chess.Board) -> chess.Board | None:
    """The position with the turn handed over; None in check, or where the game would be over."""
    if board.is_check():
        return None
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    passed.clear_stack()
    return None if passed.is_game_over() else passed


def causes_of(board: chess.Board, played: Found, better: Found, find: Finder = nothing_found) -> tuple[Cause, ...]:
    """Why the line of the move played is worse than the better line, both from this board; () for no cause.

    The first decides. `find` searches the edits; without it nothing is confirmed but what the lines show.
    """
    lines = Comparison(board, played, better, find)
    forced = _forced(lines)
    if forced:
        return forced
    cause = _gain(lines, SOON) or _position(lines) or _gain(lines, MAX_DELAY)
    return (cause,) if cause else ()


def merits_of(
    board: chess.Board, played: Found, others: Value | None = None, find: Finder = nothing_found
) -> tuple[Cause, ...]:
    """Why a move, the first of its line, is good: its tactic, its rivals, the threat that it meets. () for nothing.

    `others`: what the best other move is worth, if that is known.
    """
    color = board.turn
    line = Line(board, played.shown.line, color)
    expected = played.value.expected_for(color)
    motifs = deciding_motifs(line)
    causes = []
    if motifs and (motifs[-1].kind not in DRAWS or played.value.is_drawn):
        causes.append(Cause(Why.TACTIC, color, line, motifs, motifs[-1].win_ply + 1))
    if is_sacrifice(board, played.line) and expected >= 0.5:
        causes.append(Cause(Why.SACRIFICE, color, line, end=len(line.moves)))
    if others is not None and expected - others.expected_for(color) >= ONLY_MOVE_LOSS:
        causes.append(Cause(Why.ALL_OTHERS_WORSE, color, line, end=1))
    passed = None if motifs or deciding_motifs(Line(board, played.line, not color)) else passed_board(board)
    found = Found(DRAWN) if passed is None else find(passed, None)
    lost = expected - found.value.expected_for(color)
    if passed is not None and found.line and lost >= MISTAKE_LOSS:
        threat = Line(passed, found.shown.line, not color)
        threats = deciding_motifs(threat)
        if threats and threats[0].ply == 0 and threats[-1].win_ply <= 2:
            evidence = Evidence(Edit.PASS, passed, found, 1.0)
            causes.append(Cause(Why.DEFENCE, color, threat, threats, threats[-1].win_ply + 1, evidence=(evidence,)))
    return tuple(causes)


# What is forced ------------------------------------------------------------------------------------------------------


def _forced(lines: Comparison) -> tuple[Cause, ...]:
    """Mates, draws and results of the tablebases."""
    causes: list[Cause] = []
    for line, value, mates, tablebase in (
        (lines.played, lines.played_value, Why.ALLOWS_MATE, Why.LOST_TABLEBASE),
        (lines.better, lines.better_value, Why.MISSES_MATE, Why.MISSED_TABLEBASE),
    ):
        winner, mate, length = line.winner, value.mate_for(line.winner), len(line.moves)
        motifs = deciding_motifs(line)
        is_drawing = bool(motifs) and motifs[-1].kind in DRAWS
        if mate is not None and mate <= LONGEST_MATE:
            named = motifs if line.end.is_checkmate() else ()
            threat, opened = _origin(lines, named) if line is lines.played and length > 1 else (False, None)
            causes.append(Cause(mates, winner, line, named, length, mate=mate, is_threat=threat, opened=opened))
        elif value.is_tablebase and value.expected_for(winner) > 0.5:
            causes.append(Cause(tablebase, winner, line, end=length))
        elif is_drawing and value.is_drawn and value.expected_for(winner) <= 0.5:
            return (Cause(Why.DRAW, winner, line, motifs, length),)
    return tuple(causes)


# Material ------------------------------------------------------------------------------------------------------------


def _gain(lines: Comparison, reach: int) -> Cause | None:
    """The greatest gain of material that only one of the lines has, with its first capture within so many plies."""
    gains = [cause for line in (lines.played, lines.better) if (cause := _material(lines, line, reach))]
    return min(gains, key=lambda cause: (cause.is_late, -cause.pawns, cause.end - cause.first), default=None)


def _material(lines: Comparison, line: Line, reach: int) -> Cause | None:
    """What one of the lines wins for its winner and the other does not, and by what; None for nothing with a name."""
    is_played = line is lines.played
    gain, motifs = _named_gain(lines, line, reach)
    # What names the gain, and its answer, have to be forced.
    if not motifs or lines.is_avoided(line, min(motifs[0].ply + 2, motifs[0].win_ply)):
        return None
    threat, opened = _origin(lines, motifs) if is_played else (False, None)
    told = max(motif.win_ply for motif in motifs) + 1
    end = line.billed(told, gain)
    before, after = line.boards[0], line.boards[end or told]
    return Cause(
        Why.LOSS if is_played else Why.MISSED_GAIN,
        line.winner,
        line,
        motifs,
        end or told,
        tuple(surplus(after, kind, line.winner) - surplus(before, kind, line.winner) for kind in chess.PIECE_TYPES)
        if end
        else (),
        is_threat=threat,
        opened=opened,
        evidence=_confirming(
            lines.without_reply if is_played else lines.without_better, lines.reply_before if threat else None
        ),
    )


def _named_gain(lines: Comparison, line: Line, reach: int) -> tuple[int, tuple[Motif, ...]]:
    """What a line wins, in pawns, and what names that; () for nothing. A mere capture has to come within `reach`."""
    is_missed, first = line is lines.better, line.own_plies().start
    for win in lines.wins_alone(line):
        gain = lines.gain(line, win)
        if not gain:
            continue
        motifs = motifs_of_win(win, plain=True)
        if motifs and motifs[0].ply < first + SOON:
            return gain, motifs
        move = win.move
        # What goes where it is taken is an offer; where that loses a piece, only the better move did not force it.
        has_come = win.ply > first and line.moves[win.ply - 1].to_square == win.square
        is_offer = has_come and (is_missed or win.worth == 1)
        board = line.boards[win.ply]
        if win.ply <= first + reach and board.is_capture(move) and not is_offer:
            return gain, (win.motif(Kind.CAPTURE, move.to_square, (win.square,)),)
    return 0, ()


def _origin(lines: Comparison, motifs: Sequence[Motif]) -> tuple[bool, Motif | None]:
    """Whether the reply was a threat before the move played, and what the move did for it if it was none.

    `motifs`: what happens then.
    """
    line, before = lines.played, lines.reply_before
    reply, after = line.moves[1], line.boards[1]
    if motifs and motifs[0].kind is Kind.CAPTURE and motifs[0].ply > 1:
        # What falls later than by the first move was there before.
        return False, opened_by(line, motifs[0].ply)
    opened = opened_by(line)
    if before is None or before.share <= 1 - CONFIRMED:
        return False, opened
    # A capture that wins more now is no old threat, nor what attacks or takes the piece that has moved.
    is_same = exchange(before.board, reply) >= exchange(after, reply) and not after.is_check()
    targets = {reply.to_square, *(at for motif in motifs for at in motif.targets)}
    return opened is None and before.confirms and is_same and line.moves[0].to_square not in targets, None


def opened_by(line: Line, ply: int = 1) -> Motif | None:
    """What the first move of a line does for its reply: it leaves a guard, cuts one off, or opens a line.

    `ply`: the reply, or a later capture of what stands there already.
    """
    before, after = line.boards[:2]
    move, reply = line.moves[0], line.moves[ply]
    square = reply.to_square
    if square == move.to_square or (ply > 1 and line.where_was(square, ply, 1) != square):
        return None

    def motif(kind: Kind, *others: chess.Square) -> Motif:
        return Motif(kind, 0, move, move.to_square, (square,), others)

    lost = before.attackers(before.turn, square) - after.attackers(before.turn, square)
    cut = [guard for guard in lost if chess.between(guard, square) & chess.BB_SQUARES[move.to_square]]
    if move.from_square in lost and move.to_square not in after.attackers(before.turn, square):
        return motif(Kind.UNGUARDED)
    if cut and cut[0] != move.from_square:
        return motif(Kind.CUT_OFF, cut[0])
    if ply == 1 and chess.between(reply.from_square, square) & chess.BB_SQUARES[move.from_square]:
        return motif(Kind.OPENED, reply.from_square)
    return None


# Position ------------------------------------------------------------------------------------------------------------


def _position(lines: Comparison) -> Cause | None:
    """The positional feature that makes most of the difference."""
    if lines.cost > MAX_SIDE_COST:
        return None
    line, found = lines.played, feature_of(lines.played, lines.better, lines.lost)
    if found is None:
        return None
    feature, squares, ply = found
    return Cause(Why.POSITION, line.winner, line, end=ply, feature=feature, squares=squares)
