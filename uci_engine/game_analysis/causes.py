"""Why a move is an error, or good: causes, each with the searches that confirm it.

A cause is what, if it were otherwise, would make the gain vanish. An edit changes one thing in a position: a move is
forbidden, or the turn handed over. A short search values it, and `share` says what part of the cost is gone. What the
moves do has its name from `tactics` and `positional`; `uci_engine.game_analysis.words` puts the record into
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import (
    exchange,
    gain_of,
    is_sacrifice,
    king_of,
    surplus,
    takes_back,
)
from uci_engine.game_analysis.judgement import (
    DRAWN,
    INACCURACY_LOSS,
    MISTAKE_LOSS,
    ONLY_MOVE_LOSS,
    Found,
    SearchedMove,
    Value,
)
from uci_engine.game_analysis.positional import FoundFeature, feature_of
from uci_engine.game_analysis.searches import EXTENSION, Finder, Searches, nothing_found
from uci_engine.game_analysis.tactics import (
    ACTIVE,
    DRAWS,
    Case,
    Kind,
    Line,
    Motif,
    deciding_motifs,
    deed_of,
    is_by,
    is_double,
    is_weighty,
    opened_by,
    tempo_of,
)
from uci_engine.game_analysis.thresholds import (
    AS_GOOD_CP,
    CONFIRMED,
    LONGEST_MATE,
    MAX_DELAY,
    MAX_SIDE_COST,
    SOON,
)

# What names a gain of material that it begins.
NAMES_GAIN = (Kind.CAPTURE, Kind.ATTACK, Kind.PIN, Kind.MATE_THREAT, Kind.PROMOTION)


class Why(Enum):
    """The kind of a cause. The first word of each tells whose move it is about: the reply, or the better move."""

    ALLOWS_MATE = "allows mate"
    MISSES_MATE = "misses mate"
    DRAW = "draw"
    LOST_TABLEBASE = "lost by the tablebases"
    MISSED_TABLEBASE = "win of the tablebases missed"
    LOSS = "material lost"
    MISSED_GAIN = "gain missed"
    REPLY = "strong reply"
    LOST_TEMPO = "tempo lost"
    ONLY_MOVE = "only move missed"
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
    `feature`: of POSITION what stands on the board at the end.
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
    feature: FoundFeature | None = None
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
    """The move played and the better one, each with its line from the same board, and the searches of the edits.

    In `played_line` the opponent profits, in `better_line` who is to move.
    """

    def __init__(self, board: chess.Board, played: Found, better: Found, find: Finder) -> None:
        self.board, self.find, self.color = board, find, board.turn
        self.played_value, self.better_value = played.value, better.value
        self.played_line = Line(board, played.shown.line, not self.color)
        self.better_line = Line(board, better.shown.line, self.color)
        self.cost = max(self._expected(self.better_value) - self._expected(self.played_value), 0.001)
        # In pawns, as they are shown.
        self.lost = (self.better_value.cp_for(self.color) - self.played_value.cp_for(self.color)) / 100

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
        now, played, better = map(self._expected, (found.value, self.played_value, self.better_value))
        gone = now - played if edit is Edit.NO_REPLY else better - now
        return Evidence(edit, board, found, gone / self.cost)

    @cached_property
    def without_reply(self) -> Evidence | None:
        """The reply forbidden, and with a capture all others on its square."""
        board, reply = self.played_line.boards[1], self.played_line.moves[1]
        is_taken = board.is_capture(reply)
        others = [
            move for move in board.legal_moves if move != reply and not (is_taken and move.to_square == reply.to_square)
        ]
        return self._searched(Edit.NO_REPLY, board, others)

    @cached_property
    def without_better(self) -> Evidence | None:
        others = [move for move in self.board.legal_moves if move != self.better_line.moves[0]]
        return self._searched(Edit.NO_BETTER, self.board, others)

    @cached_property
    def reply_before(self) -> Evidence | None:
        """The reply before the move played, in place of it: did it threaten already?"""
        passed, reply = passed_board(self.board), self.played_line.moves[1]
        is_legal = passed is not None and passed.is_legal(reply)
        return self._searched(Edit.PASS, passed if is_legal else None, [reply])

    def other(self, line: Line) -> Line:
        return self.played_line if line is self.better_line else self.better_line

    def wins_alone(self, line: Line) -> list[Case]:
        """What one of the lines wins and the other does not: there the same piece is kept, or more is paid for it."""
        other = self.other(line)
        same = Line(self.board, other.moves[: other.searched], line.winner)
        origins = [(win, same.where_was(win.square, win.ply, 0)) for win in same.wins()]

        def is_alike(win: Case, twin: Case) -> bool:
            return twin.ply == win.ply or (twin.ply < win.ply + SOON and twin.worth >= CONFIRMED * win.worth)

        return [
            win
            for win in line.wins()
            if win.ply < line.searched
            and not any(
                is_alike(win, twin) for twin, origin in origins if origin == line.where_was(win.square, win.ply, 0)
            )
        ]

    def is_avoided(self, line: Line, end: int) -> bool:
        """Whether the loser, by another answer before the ply `end` that is no error, loses nothing."""
        value = self.better_value if line is self.better_line else self.played_value
        for ply in range(line.own_plies().start + 1, end, 2):
            board = line.boards[ply]
            others = [move for move in board.legal_moves if move != line.moves[ply]]
            found = self.find(board, others) if others else Found(DRAWN)
            dearer = found.value.expected_for(line.winner) - value.expected_for(line.winner)
            is_as_good = found.line and dearer <= max(INACCURACY_LOSS, (1 - CONFIRMED) * self.cost)
            if is_as_good and Line(board, found.shown.line, line.winner).most() <= line.balance(0):
                return True
        return False

    def is_met(self, reply: chess.Move) -> bool:
        """Whether the better move meets this reply: it is not legal, does something else, or is worse than another."""
        board = self.better_line.boards[1]
        if reply in self.better_line.moves[1:2]:
            return False
        if not board.is_legal(reply):
            return True
        does, did = (
            deed_of(Line(self.board, [line.moves[0], reply], not self.color), 1)
            for line in (self.played_line, self.better_line)
        )
        # It does not do the same then.
        if does is not None and (did is None or not {*does.targets} <= {*did.targets}):
            return True
        found = self.find(board, [reply])
        return not found.line or found.value.cp_for(self.color) > self.better_value.cp_for(self.color) + AS_GOOD_CP


# What the other side misses where it does not play the reply that would have refuted an error.
MISSES = {Why.LOSS: Why.MISSED_GAIN, Why.REPLY: Why.ONLY_MOVE, Why.ALLOWS_MATE: Why.MISSES_MATE}


def missed_refutation(before: Sequence[Cause], board: chess.Board, better: Found) -> tuple[Cause, ...]:
    """Why a move is an error that lets the error before it pass: what that one allowed; () for nothing of the kind.

    `before`: the causes of the move that led to this board.
    """
    for cause in before[:1]:
        if cause.why in MISSES and cause.winner == board.turn and cause.line.moves[1:2] == list(better.line[:1]):
            line = Line(board, cause.line.moves[1 : cause.line.searched], cause.winner)
            motifs = tuple(replace(motif, ply=motif.ply - 1, win_ply=motif.win_ply - 1) for motif in cause.motifs)
            evidence = tuple(each for each in cause.evidence if each.edit is Edit.NO_REPLY)
            return (
                Cause(
                    MISSES[cause.why],
                    cause.winner,
                    line,
                    motifs,
                    cause.end - 1,
                    cause.material,
                    cause.mate,
                    evidence=evidence,
                ),
            )
    return ()


def explained(
    searches: Searches, board: chess.Board, move: SearchedMove, limit: Limit, before: Sequence[Cause] = ()
) -> tuple[Found, Found, tuple[Cause, ...]]:
    """The best move and the one played with their lines as they are shown, and why that is worse, or why it is good.

    `limit`: that of each search of an edit. `before`: the causes of the move before, if that was an error.
    """
    find = searches.finder(limit, EXTENSION)
    best, played = (searches.extended(board, found, EXTENSION) for found in (move.best, move.played))
    if move.is_best:
        causes = merits_of(board, played, move.others, find)
    else:
        causes = causes_of(board, played, best, find) or missed_refutation(before, board, best)
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
    if any(cause.why is not Why.MISSES_MATE for cause in forced):
        return forced
    main = None
    # What a missed mate takes on its way is no gain beside it.
    if not forced:
        kinds = (_reply, _lost_tempo, _position)
        others = (find_cause(lines) for find_cause in kinds)
        main = _gain(lines, SOON) or next(filter(None, others), None) or _gain(lines, MAX_DELAY)
    return (main, *forced) if main else forced


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
    if lines.played_line.boards[1].is_stalemate():
        move, king = lines.played_line.moves[0], king_of(lines.played_line.end, not lines.color)
        motif = Motif(Kind.STALEMATE, 0, move, move.to_square, (king,))
        return (Cause(Why.DRAW, not lines.color, lines.played_line, (motif,), 1),)
    for line, value, mates, tablebase in (
        (lines.played_line, lines.played_value, Why.ALLOWS_MATE, Why.LOST_TABLEBASE),
        (lines.better_line, lines.better_value, Why.MISSES_MATE, Why.MISSED_TABLEBASE),
    ):
        winner, mate, length = line.winner, value.mate_for(line.winner), len(line.moves)
        motifs = deciding_motifs(line)
        is_drawing = bool(motifs) and motifs[-1].kind in DRAWS
        if mate is not None and mate <= LONGEST_MATE:
            threat, opened = _origin(lines) if line is lines.played_line and length > 1 else (False, None)
            named = motifs if line.end.is_checkmate() else ()
            causes.append(Cause(mates, winner, line, named, length, mate=mate, is_threat=threat, opened=opened))
        elif value.is_tablebase and value.expected_for(winner) > 0.5:
            causes.append(Cause(tablebase, winner, line, end=length))
        elif is_drawing and value.is_drawn and value.expected_for(winner) <= 0.5:
            return (Cause(Why.DRAW, winner, line, motifs, length),)
    return tuple(causes)


# Material ------------------------------------------------------------------------------------------------------------


def _gain(lines: Comparison, reach: int) -> Cause | None:
    """The greatest gain of material that only one of the lines has, with its first capture within so many plies."""
    gains = [cause for line in (lines.played_line, lines.better_line) if (cause := _material(lines, line, reach))]
    return min(gains, key=lambda cause: (cause.is_late, -cause.pawns, cause.end - cause.first), default=None)


def _material(lines: Comparison, line: Line, reach: int) -> Cause | None:
    """What one of the lines wins for its winner and the other does not, and by what; None for nothing with a name."""
    is_missed, first = line is lines.better_line, line.own_plies().start
    if (lines.better_value if is_missed else lines.played_value).mate_for(line.winner) is not None:
        # Who is mated has lost more.
        return None
    motifs = _motifs_of_gain(lines, line, lines.wins_alone(line), reach)
    if not motifs:
        return None
    end = max(motif.win_ply for motif in motifs) + 1
    while line.is_taken_back(end - 1):
        end += 1
    at = _counted_ply(lines, line, end)
    # No more is said to be won than the moves show.
    shown = min(end, at, key=line.balance)
    if line.balance(shown) - line.balance(0) < 1:
        return None
    # What names the gain, and its answer, have to be forced.
    if lines.is_avoided(line, min(motifs[0].ply + 2, motifs[0].win_ply)):
        return None
    evidence = lines.without_better if is_missed else lines.without_reply
    threat, opened = (False, None) if is_missed else _origin(lines)
    if not is_missed and motifs[0].ply > first and motifs[0].kind is Kind.CAPTURE:
        # What falls later than by the first move was there before.
        threat, ply = False, motifs[-1].ply
        opened = opened_by(line, lines.color, ply)
    before, after = line.boards[0], line.boards[shown]
    material = tuple(
        surplus(after, kind, line.winner) - surplus(before, kind, line.winner) for kind in chess.PIECE_TYPES
    )
    return Cause(
        Why.MISSED_GAIN if is_missed else Why.LOSS,
        line.winner,
        line,
        motifs,
        end,
        # Where much more falls later, the moves shown are not the bill.
        material if line.balance(at) - line.balance(shown) < 2 else (),
        # What takes the piece that has just moved was no threat before.
        is_threat=threat and all(lines.played_line.moves[0].to_square not in motif.targets for motif in motifs),
        opened=opened,
        evidence=_confirming(evidence, lines.reply_before if threat else None),
    )


def _counted_ply(lines: Comparison, line: Line, end: int) -> int:
    """The ply at which to count what a line has won by the ply `end` and the other has not.

    Late in the lines, or soon after the gain where the search agrees that so much is lost; 0, where nothing is won yet,
    if the line keeps nothing.
    """
    other = lines.other(line)
    late, soon = line.settled, min(end + SOON, line.searched)
    if min(line.balance(late) - line.balance(0), line.balance(late) + other.balance(other.settled)) >= 1:
        return late
    own, of_other = (
        min(each.balance(ply) for ply in (min(soon, each.searched), min(soon, each.searched) - 1))
        for each in (line, other)
    )
    is_agreed = lines.lost >= CONFIRMED * (line.balance(end) - line.balance(0))
    return soon if min(own - line.balance(0), own + of_other) >= 1 and is_agreed else 0


def _motifs_of_gain(lines: Comparison, line: Line, wins: list[Case], reach: int) -> tuple[Motif, ...]:
    """What names the gain of a line; () for nothing. `wins`: what it alone wins, a mere capture within `reach`."""
    if not wins:
        return ()
    is_missed, first = line is lines.better_line, line.own_plies().start
    taken = sum(gain_of(lines.board, move) for move in lines.played_line.moves[:1])
    motifs = deciding_motifs(line, taken if is_missed else -taken)
    plies = [win.ply for win in wins]
    is_soon = bool(motifs) and motifs[0].ply < first + SOON and motifs[-1].win_ply in plies
    if is_soon and not _is_alike(lines, motifs[0], line):
        # A piece that has just come to where it is taken was no guard.
        is_new = motifs[0].ply == 1 and motifs[0].move.to_square == line.moves[0].to_square
        if motifs[0].kind is not Kind.REMOVED_GUARD or not is_new:
            return motifs
    deed = deed_of(line, first)
    if deed and deed.kind in NAMES_GAIN and not _is_alike(lines, deed, line):
        by_deed = [win.ply for win in wins if is_by(line, deed, win)]
        if by_deed:
            return (replace(deed, win_ply=min(by_deed)),)
    # The capture that wins it, where that comes soon.
    for win in sorted(wins, key=lambda win: win.ply)[:1]:
        move = line.moves[win.ply]
        # What goes where it is taken is an offer; where that loses a piece, only the better move did not force it.
        has_come = win.ply > first and line.moves[win.ply - 1].to_square == win.square
        is_offer = has_come and (is_missed or win.worth == 1)
        is_in_both = is_missed and move in lines.played_line.moves[: win.ply + 1]
        if win.ply <= first + reach and not is_offer and not is_in_both and line.boards[win.ply].is_capture(move):
            return (Motif(Kind.CAPTURE, win.ply, move, move.to_square, (win.square,), (), win.ply),)
    return ()


def _is_alike(lines: Comparison, motif: Motif, line: Line) -> bool:
    """Whether the other line has the same move as early, or its first move attacks the same pieces."""
    other, after = lines.other(line), line.boards[motif.ply + 1]
    again = [ply for ply in range(1, min(motif.ply + 1, len(other.moves))) if other.moves[ply] == motif.move]
    boards = [other.boards[ply + 1] for ply in again if not other.is_taken_back(ply)]
    if any(all(board.piece_at(at) == after.piece_at(at) for at in motif.targets) for board in boards):
        return True
    own = deed_of(lines.played_line, 0) if line is lines.better_line and motif.ply == 0 else None
    return own is not None and not {*own.targets}.isdisjoint(motif.targets)


# The reply -----------------------------------------------------------------------------------------------------------


def _reply(lines: Comparison) -> Cause | None:
    """The reply that refutes the move alone, or that was a threat before it, if it does something by itself."""
    line = lines.played_line
    if len(line.moves) < 2 or takes_back(line.boards[1], line.moves[1]):
        return None
    threat, opened = _origin(lines)
    deed, without = _deed_or_motif(line, 1), lines.without_reply
    if deed is None or not is_weighty(line, deed) or not lines.is_met(line.moves[1]):
        return None
    # What falls in both lines is no difference.
    if deed.kind is Kind.CAPTURE and all(win.ply > 1 for win in lines.wins_alone(line)):
        return None
    # An attack on two pieces needs less.
    least = 1 - CONFIRMED if is_double(line, deed) else CONFIRMED
    if not threat and (without is None or without.share < least):
        return None
    evidence = _confirming(without, lines.reply_before)
    return Cause(Why.REPLY, line.winner, line, (deed,), 2, is_threat=threat, opened=opened, evidence=evidence)


def _deed_or_motif(line: Line, ply: int) -> Motif | None:
    """What a move does by itself, or by what it begins to win something."""
    deed = deed_of(line, ply)
    if deed and deed.kind in ACTIVE and deed.kind is not Kind.ATTACK:
        return deed
    return next((motif for motif in deciding_motifs(line) if motif.ply == ply), deed)


def _origin(lines: Comparison) -> tuple[bool, Motif | None]:
    """Whether the reply was a threat before the move played, and what the move did for it if it was none."""
    line, before = lines.played_line, lines.reply_before
    reply, after = line.moves[1], line.boards[1]
    if before is None or before.share <= 1 - CONFIRMED:
        return False, opened_by(line, lines.color)
    # A capture that wins more now is no old threat.
    is_same = exchange(before.board, reply) >= exchange(after, reply)
    is_new = reply.to_square == line.moves[0].to_square or after.is_check()
    now, then = deed_of(line, 1), deed_of(Line(before.board, [reply], line.winner), 0)
    # It threatened the same.
    is_same &= now is None or (then is not None and (now.kind, now.targets) == (then.kind, then.targets))
    return before.confirms and is_same and not is_new, None


# Time and position --------------------------------------------------------------------------------------------------


def _lost_tempo(lines: Comparison) -> Cause | None:
    """A piece is driven away, or goes soon where it came from or where the better move puts it at once."""
    line, better = lines.played_line, lines.better_line
    moved, first = line.moves[0], better.moves[0]
    soon = enumerate(line.moves[1 : 2 * SOON], start=1)
    next_there = next((ply for ply, move in soon if moved.to_square in (move.from_square, move.to_square)), 0)
    again = next_there if next_there % 2 == 0 else 0
    piece = lines.board.piece_type_at(moved.from_square)
    is_even = line.balance(again + 1) - line.balance(0) < 1
    # A piece that moves again after the better move, too, has lost nothing by that.
    stays = not any(first.to_square == move.from_square for move in better.moves[2 : SOON + 1 : 2])
    if not again or not is_even or not stays or lines.cost > MAX_SIDE_COST:
        return None
    if piece in (chess.PAWN, chess.KING) or line.boards[again].is_check():
        return None
    attack = tempo_of(line, 1) if again == 2 else None
    is_driven = attack is not None and attack.targets == (moved.to_square,)
    if is_driven and line.moves[1] == better.moves[1]:
        return None
    goals = [moved.from_square, *([first.to_square] if first.from_square == moved.from_square else [])]
    if attack is None or not is_driven:
        attack = Motif(Kind.RETREAT, again, line.moves[again], moved.to_square, (moved.to_square,))
    goes_back = line.moves[again].to_square in goals and not line.boards[again].is_capture(line.moves[again])
    return Cause(Why.LOST_TEMPO, line.winner, line, (attack,), again + 1) if is_driven or goes_back else None


def _position(lines: Comparison) -> Cause | None:
    """The positional feature that makes most of the difference."""
    if lines.cost > MAX_SIDE_COST:
        return None
    line, found = lines.played_line, feature_of(lines.played_line, lines.better_line, lines.lost)
    return None if found is None else Cause(Why.POSITION, line.winner, line, end=found.ply, feature=found)
