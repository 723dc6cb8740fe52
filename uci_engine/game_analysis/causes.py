"""Why a move is an error, or good: causes, each with the searches that confirm it.

An error is explained by what its line and the better one come to: mate, a draw, a result of the tablebases, or
material, and `tactics` names how it is won. Else the cause is what the reply or the better move takes or threatens,
found by handing the turn over, or a deed of `positional`. `words` puts the record into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import chess

from uci_engine.game_analysis import thresholds
from uci_engine.game_analysis.boards import (
    exchange,
    gain_of,
    is_gain,
    is_quiet,
    is_sacrifice,
    surplus,
    takes_at,
    takes_back,
)
from uci_engine.game_analysis.judgement import (
    DRAWN,
    MISTAKE_LOSS,
    ONLY_MOVE_LOSS,
    Found,
    Value,
    final_value,
)
from uci_engine.game_analysis.positional import DETECTORS, Deed
from uci_engine.game_analysis.searches import Finder
from uci_engine.game_analysis.tactics import (
    DRAWS,
    Case,
    Kind,
    Line,
    Motif,
    attack,
    capture,
    deciding_motifs,
    opened_by,
    quiet_moves,
)


class Why(Enum):
    """The kind of a cause, but for those of `Deed`."""

    ALLOWS_MATE = "allows mate"
    MISSES_MATE = "misses mate"
    DRAW = "draw"
    LOST_TABLEBASE = "lost by the tablebases"
    MISSED_TABLEBASE = "win of the tablebases missed"
    LOSS = "material lost"
    MISSED_GAIN = "gain missed"
    REPLY = "strong reply"
    MISSED_THREAT = "threat missed"
    # Of good moves.
    TACTIC = "tactic"
    SACRIFICE = "sacrifice"
    ALL_OTHERS_WORSE = "only move"
    DEFENCE = "threat met"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A position where the turn has been handed over, and what a search found there: what was threatened."""

    board: chess.Board
    found: Found


@dataclass(frozen=True, slots=True)
class Account:
    """What a line wins for its winner from the ply `begin` to the ply `end`: in pawns, below 0 for a loss, and by type.

    No less is kept in what follows, and not twice as much is won there.
    """

    line: Line
    begin: int
    end: int

    @property
    def gain(self) -> int:
        return self.line.balance(self.end) - self.line.balance(self.begin)

    @property
    def material(self) -> tuple[int, ...]:
        before, after, winner = self.line.boards[self.begin], self.line.boards[self.end], self.line.winner
        return tuple(surplus(after, kind, winner) - surplus(before, kind, winner) for kind in chess.PIECE_TYPES)


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause. `winner` profits by the moves of `line` up to the ply `end`, and `motifs` name what these do.

    `opened`: what the move did for the reply. `refused`: taking back what the winner's first move took, and the answer
    to it. `material`: what the winner has won, by piece type; `otherwise`: what the same side wins in the other line.
    `mate`: the moves to mate, 0 for no mate. `threat`: what the winner does if the turn is handed over after its move.
    """

    why: Why | Deed
    winner: chess.Color
    line: Line
    motifs: tuple[Motif, ...] = ()
    end: int = 0
    material: tuple[int, ...] = ()
    otherwise: tuple[int, ...] = ()
    refused: tuple[chess.Move, ...] = ()
    mate: int = 0
    threat: Account | None = None
    opened: Motif | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def is_threat(self) -> bool:
        """Whether the reply was a threat before the move, as a search has shown."""
        return bool(self.evidence) and self.why in (Why.LOSS, Why.ALLOWS_MATE)

    @property
    def first(self) -> int:
        """The ply of the winner's first move."""
        return self.line.own_plies().start


def account_of(line: Line, find: Finder, begin: int = 0) -> Account | None:
    """The account of a line, made longer where something is to be taken at its end; None where that never ends."""
    moves, end = [*line.moves], line.end.copy()
    while not is_quiet(end) and len(moves) < thresholds.LONGEST_LINE and (following := find(end, None).line):
        for move in following[: thresholds.LONGEST_LINE - len(moves)]:
            moves.append(move)
            end.push(move)
            if is_quiet(end):
                break
    line = Line(line.boards[0], moves, line.winner)
    quiet = [begin, *(ply for ply in range(begin + 1, len(line.moves) + 1) if is_quiet(line.boards[ply]))]
    gains = [line.balance(ply) - line.balance(begin) for ply in quiet]
    # What is won early is told if the end, with its best capture, keeps it.
    is_open = 2 * quiet[-1] < len(line.moves)
    if is_open:
        quiet.append(len(line.moves))
        gains.append(line.gain() + line.balance(0) - line.balance(begin))
    kept = [min(gains[index:]) for index in range(len(gains))]
    late = [gain for ply, gain in zip(quiet, gains, strict=True) if ply > max(begin, quiet[-1] - thresholds.SOON)]
    final = min(late, default=0)
    settled = zip(quiet, gains, kept, strict=True)
    at = next(ply for ply, gain, least in settled if gain == least and (2 * gain > final or gain == final))
    if is_open and at == quiet[-1]:
        return None
    # Quiet moves at the end show nothing.
    while at > begin and not gain_of(line.boards[at - 1], line.moves[at - 1]):
        at -= 1
    return Account(line, begin, at)


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

    def share(self, found: Found) -> float:
        """The part of the cost that something else that was found has."""
        return (self._expected(self.better_value) - self._expected(found.value)) / self.cost

    def reply_on(self, board: chess.Board) -> Evidence | None:
        """The reply in another position; None where it is no move."""
        reply = self.played_line.moves[1]
        found = self.find(board, [reply]) if board.is_legal(reply) else Found(DRAWN)
        return Evidence(board, found) if found.line else None

    def is_met(self) -> bool:
        """Whether the better move does not allow the reply, or leaves it without most of what it costs now."""
        board, reply = self.better_line.boards[1], self.played_line.moves[1]
        if not board.is_legal(reply):
            return True
        there = None if reply in self.better_line.moves[1:2] else self.reply_on(board)
        return there is not None and self.share(there.found) <= 1 - thresholds.CONFIRMED

    def is_decisive(self, line: Line) -> bool:
        """Whether the other replies cost less, or the moves beside the better one cost most of it, too."""
        ply = line.own_plies().start
        board = line.boards[ply]
        others = [move for move in board.legal_moves if move != line.moves[ply]]
        found = self.find(board, others) if others else Found(DRAWN)
        share = self.share(found)
        return bool(found.line) and (share < 1 if ply else share >= thresholds.CONFIRMED)

    def refused(self, line: Line) -> tuple[chess.Move, ...]:
        """Taking back what the winner's first move took, where the exchange would win nothing, and the answer to it."""
        first = line.own_plies().start
        board, move = line.boards[first + 1], line.moves[first]
        if not line.boards[first].is_capture(move) or exchange(line.boards[first], move) >= 1:
            return ()
        backs = list(board.generate_legal_captures(to_mask=chess.BB_SQUARES[move.to_square]))
        if not backs or line.is_taken_back(first):
            return ()
        found = self.find(board, backs)
        value = self.better_value if line.winner == self.color else self.played_value
        least_cp = value.cp_for(line.winner) + thresholds.AS_GOOD_CP
        is_worse = found.value.cp_for(line.winner) > least_cp
        return found.line[:2] if is_worse else ()


def passed_board(board: chess.Board) -> chess.Board | None:
    """The position with the turn handed over; None in check, or where the game would be over."""
    if board.is_check():
        return None
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    passed.clear_stack()
    return None if passed.is_game_over() else passed


def causes_of(board: chess.Board, played: Found, better: Found, find: Finder) -> tuple[Cause, ...]:
    """Why the line of the move played is worse than the better line, both from this board; () for no cause.

    The first decides. `find` searches the edits.
    """
    lines = Comparison(board, played, better, find)
    if forced := _forced(lines):
        return forced
    material = _material(lines)
    # What is won late and has no name is told only where no threat is found.
    is_near = any(cause.motifs or cause.end <= cause.first + thresholds.SOON for cause in material)
    threats = () if is_near else _threats(lines)
    return threats or material or _deeds(lines)


def merits_of(board: chess.Board, played: Found, others: Value | None, find: Finder) -> tuple[Cause, ...]:
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
    is_busy = motifs or deciding_motifs(Line(board, played.line, not color))
    found = None if is_busy else _threatened(board, not color, find)
    if found and expected - found[0].found.value.expected_for(color) >= MISTAKE_LOSS:
        evidence, account = found
        threats = deciding_motifs(account.line)
        if threats and threats[0].ply == 0 and threats[-1].win_ply <= 2:
            end = threats[-1].win_ply + 1
            causes.append(Cause(Why.DEFENCE, color, account.line, threats, end, evidence=(evidence,)))
    return tuple(causes)


def _forced(lines: Comparison) -> tuple[Cause, ...]:
    """Mates, draws and results of the tablebases."""
    causes: list[Cause] = []
    for line, value, mates, tablebase in (
        (lines.played_line, lines.played_value, Why.ALLOWS_MATE, Why.LOST_TABLEBASE),
        (lines.better_line, lines.better_value, Why.MISSES_MATE, Why.MISSED_TABLEBASE),
    ):
        winner, mate, length = line.winner, value.mate_for(line.winner), len(line.moves)
        motifs = deciding_motifs(line)
        drawing = motifs if motifs and motifs[-1].kind in DRAWS else ()
        is_drawing = drawing or final_value(line.end, claims=True) == DRAWN
        if mate is not None and mate <= thresholds.LONGEST_MATE:
            evidence, opened = _origin(lines, ()) if line is lines.played_line else ((), None)
            named = motifs if line.end.is_checkmate() else ()
            causes.append(Cause(mates, winner, line, named, length, mate=mate, opened=opened, evidence=evidence))
        elif value.is_tablebase and value.expected_for(winner) > 0.5:
            causes.append(Cause(tablebase, winner, line, end=length))
        elif is_drawing and value.is_drawn and value.expected_for(winner) <= 0.5:
            return (*causes, Cause(Why.DRAW, winner, line, drawing, length))
    return tuple(causes)


# Material ------------------------------------------------------------------------------------------------------------


def _material(lines: Comparison) -> tuple[Cause, ...]:
    """What one of the lines wins and the other does not; () where their accounts differ by less than a pawn.

    The searches have to say that the move costs as much, or nearly.
    """
    both = lines.played_line, lines.better_line
    # What both moves take for nothing is no difference.
    taken = {0 if line.is_taken_back(0) else gain_of(lines.board, line.moves[0]) for line in both}
    begin = 1 if len(taken) == 1 and taken != {0} else 0
    # What never settles is taken for level.
    played, better = (account_of(line, lines.find, begin) or Account(line, begin, begin) for line in both)
    difference = played.gain + better.gain
    if difference < 1 or lines.lost < thresholds.LEAST_SAID * difference:
        return ()
    sides = sorted([(played, better), (better, played)], key=lambda side: (-side[0].gain, side[0].end))
    causes = (_won(lines, *side) for side in sides if side[0].gain >= 1)
    return next(((cause,) for cause in causes if cause), ())


def _won(lines: Comparison, account: Account, other: Account) -> Cause | None:
    """What one line wins, named by what begins it; None where nothing forces it."""
    line, is_missed = account.line, account.line.winner == lines.color
    first = line.own_plies().start
    wins = [win for win in line.wins() if account.begin <= win.ply < account.end and not _is_in(win, other.line)]
    motifs = _motifs_of(line, wins, -other.gain)
    # Without a name it has to explain enough and to be near, a pawn or what an inaccuracy costs nearly at once.
    is_small = account.gain < 2 or lines.cost < MISTAKE_LOSS
    is_far = account.end > first + (thresholds.LONGEST_PAWN if is_small else thresholds.LONGEST_UNNAMED)
    is_little = account.gain < (1 - thresholds.CONFIRMED) * lines.lost
    # What the other line wins is told only if it lasts to the end of that line.
    is_lasting = other.end < len(other.line.moves) and other.line.balance(-1) == other.line.balance(other.end)
    otherwise = tuple(-count for count in other.material) if other.gain <= -1 and is_lasting else ()
    # What has just taken is taken back in any case.
    last = takes_at(lines.board)
    is_back = bool(wins) and all(line.prize(win.ply) == last for win in wins)
    if not motifs and (is_little or is_far or is_back):
        return None
    # What falls in both lines is told only of the move played, with what the better one has for it.
    if not wins and (is_missed or not otherwise):
        return None
    # What comes later is not the work of the reply alone.
    is_late = motifs[0].ply > first if motifs else account.end > first + thresholds.SOON
    cause = _told(lines, line, motifs, account.end, is_late=is_late)
    refused, move = lines.refused(line), line.moves[first]
    # Of a capture of what is guarded it has to be said why nothing takes back.
    if not motifs and account.end == first + 1 and not refused and exchange(line.boards[first], move) < 1:
        return None
    # Who gives some of it back later does so for something better.
    kept = line.balance(account.end) - line.balance(first)
    is_less = (
        is_missed and bool(motifs) and motifs[0].kind is Kind.CAPTURE and kept < exchange(line.boards[first], move)
    )
    if not is_less:
        cause = replace(cause, material=account.material, otherwise=otherwise)
    return replace(cause, refused=refused)


def _told(lines: Comparison, line: Line, motifs: tuple[Motif, ...], end: int, *, is_late: bool = False) -> Cause:
    """What a line wins, with what confirms it, and of a reply that is not late where it comes from."""
    is_missed = line.winner == lines.color
    evidence, opened = ((), None) if is_missed or is_late else _origin(lines, motifs)
    why = Why.MISSED_GAIN if is_missed else Why.LOSS
    return Cause(why, line.winner, line, motifs, end, opened=opened, evidence=evidence)


def _motifs_of(line: Line, wins: Sequence[Case], expected: int) -> tuple[Motif, ...]:
    """The motifs of these wins; () for nothing. `expected`: what the side wins in any case, in pawns."""
    first = line.own_plies().start
    motifs = deciding_motifs(line, expected)
    is_told = bool(motifs) and motifs[-1].win_ply in [win.ply for win in wins]
    # What begins or wins late is not its work.
    is_soon = is_told and motifs[0].ply < first + thresholds.SOON
    is_promotion = is_told and motifs[-1].kind is Kind.PROMOTION
    if is_promotion or (is_soon and motifs[-1].win_ply <= motifs[-1].ply + thresholds.SOON):
        return motifs
    named = [capture(win) for win in wins if win.ply == first]
    # What a move takes says more than what it attacks then.
    if not line.boards[first].is_capture(line.moves[first]):
        named += [attack(win.at(first)) for win in wins if win.ply <= first + thresholds.SOON]
    return tuple(filter(None, named))[:1]


def _is_in(win: Case, line: Line) -> bool:
    """Whether the same piece is taken at a profit, or the same pawn promotes, in this other line, too."""
    prize = win.line.prize(win.ply)
    return any(
        is_gain(line.boards[ply], line.moves[ply]) and line.prize(ply) == prize
        for ply in range(min(win.ply + thresholds.SOON, len(line.moves)))
        if line.boards[ply].turn == win.winner
    )


def _origin(lines: Comparison, motifs: Sequence[Motif]) -> tuple[tuple[Evidence, ...], Motif | None]:
    """The search that shows the reply as a threat before the move played, or what the move did for it."""
    line = lines.played_line
    if len(line.moves) < 2:
        return (), None
    passed = passed_board(lines.board)
    before = lines.reply_on(passed) if passed else None
    share = lines.share(before.found) if before else 0
    if before is None or share <= 1 - thresholds.CONFIRMED:
        return (), opened_by(line)
    # A capture that wins more now is no old threat, nor what takes the piece that has just moved.
    reply, after, to = line.moves[1], line.boards[1], line.moves[0].to_square
    is_same = exchange(before.board, reply) >= exchange(after, reply)
    is_new = to == reply.to_square or after.is_check() or any(to in motif.targets for motif in motifs)
    is_new |= any(line.prize(win.ply) == line.moves[0].from_square for win in line.wins()[:1])
    return (before,) if share >= thresholds.CONFIRMED and is_same and not is_new else (), None


# Captures and threats ------------------------------------------------------------------------------------------------


def _threats(lines: Comparison) -> tuple[Cause, ...]:
    """What the reply takes or threatens, where the better move takes the sting out of it, or else the better move."""
    line, other = lines.played_line, lines.better_line
    # What only takes back is nothing new.
    if len(line.moves) > 1 and not line.is_taken_back(0):
        cause = _taken(lines, line, other) or _threat(lines, line, other)
        if cause and lines.is_met() and (not cause.threat or lines.is_decisive(line)):
            return (cause,)
    missed = _taken(lines, other, line) or _threat(lines, other, line)
    if missed is None or missed.threat is None:
        return (missed,) if missed else ()
    # What the move played threatens, too, is not missed.
    played = _threatened(line.boards[1], lines.color, lines.find)
    if played:
        evidence, account = played
        is_less = missed.mate or account.gain < missed.threat.gain
        if evidence.found.value.mate_for(lines.color) is not None or not is_less:
            return ()
    return (missed,) if lines.is_decisive(other) else ()


def _taken(lines: Comparison, line: Line, other: Line) -> Cause | None:
    """What the first move of the winner takes at a profit and the other line keeps, whatever comes back later."""
    case = Case(line, line.own_plies().start, 0)
    before, move = case.before, case.move
    if not before.is_capture(move) or takes_back(before, move) or _is_in(case, other):
        return None
    refused = lines.refused(line)
    is_back = line.is_taken_back(case.ply) and line.balance(case.ply + 2) <= line.balance(case.ply)
    if is_back or (exchange(before, move) < 1 and not refused):
        return None
    motifs = (case.motif(Kind.CAPTURE, move.to_square, (case.square,)),)
    return replace(_told(lines, line, motifs, case.ply + 1), refused=refused)


def _threatened(after: chess.Board, winner: chess.Color, find: Finder) -> tuple[Evidence, Account] | None:
    """What this side, which has just moved, does if the turn is handed over, and what it comes to; None for nothing."""
    passed = passed_board(after)
    found = find(passed, None) if passed else Found(DRAWN)
    if passed is None or not found.line:
        return None
    line = Line(passed, found.shown.line, winner)
    if found.value.mate_for(winner) is None:
        account = account_of(line, find)
    else:
        account = Account(line, 0, len(line.moves)) if line.end.is_checkmate() else None
    return (Evidence(passed, found), account) if account else None


def _threat(lines: Comparison, line: Line, other: Line) -> Cause | None:
    """What the first move of the winner of a line threatens; None for too little, for a trade, and in both lines."""
    ply = line.own_plies().start
    before, move, after = line.boards[ply], line.moves[ply], line.boards[ply + 1]
    is_asked = not (takes_back(before, move) or before.is_check())
    found = _threatened(after, line.winner, lines.find) if is_asked else None
    if found is None:
        return None
    evidence, account = found
    # A longer threat is none, nor one that takes its time.
    if account.end > thresholds.LONGEST_UNNAMED or quiet_moves(account.line, account.end) > thresholds.MAX_QUIET:
        return None
    mate, taking = evidence.found.value.mate_for(line.winner), account.line.moves[0]
    # What the better move threatens is not missed where it comes after the move played, too.
    if ply == 0 and move in other.moves:
        return None
    least = max(thresholds.CONFIRMED * lines.lost, thresholds.LEAST_THREAT)
    # What is attacked goes away.
    is_attack = gain_of(after, taking) > 1 and taking.from_square == move.to_square
    if mate is None and (account.gain < least or before.is_capture(move) or is_attack):
        return None
    why = Why.REPLY if ply else Why.MISSED_THREAT
    return Cause(why, line.winner, line, (), ply + 1, threat=account, mate=mate or 0, evidence=(evidence,))


def _deeds(lines: Comparison) -> tuple[Cause, ...]:
    """What soon happens in one of the lines for the side that profits, and not in the other."""
    sides = lines.played_line, lines.better_line
    for deed, detect, is_missed in DETECTORS:
        line, other = sides[::-1] if is_missed else sides
        motif = detect(line)
        # A reply that others would do as well as is not the reason.
        is_told = motif and not detect(Line(lines.board, other.moves, line.winner))
        if motif and is_told and (deed is not Deed.PIECE_DRIVEN or lines.is_decisive(line)):
            return (Cause(deed, line.winner, line, (motif,), motif.ply + 1),)
    return ()
