"""Tactics: a line of moves, what it wins, and the motif by which it wins, mates or draws, by the rules of chess alone.

`deciding_motifs` chooses among what the detectors find. A detector gets a `Case` or a `Line` and returns its motif, or
None where the motif is not there or does not decide. `opened_by` says what a move does for its reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

import chess

from uci_engine.board.pieces import captured_square
from uci_engine.game_analysis.boards import (
    KING_VALUE,
    best_capture,
    board_after,
    capture_gain,
    exchange,
    gain_of,
    is_gain,
    king_of,
    material_balance,
    numbered,
    pins_of,
    positions,
    takes_back,
    value_at,
)
from uci_engine.game_analysis.thresholds import MAX_QUIET


class Line:
    """A line from a board, and the side that profits from it.

    `boards[i]` is the position before `moves[i]`, and the last one that after the line.
    """

    def __init__(self, board: chess.Board, moves: Sequence[chess.Move], winner: chess.Color) -> None:
        self.winner = winner
        self.moves = list(moves)
        self.boards = positions(board, moves)

    @property
    def end(self) -> chess.Board:
        return self.boards[-1]

    def name(self, ply: int) -> str:
        """A move of the line, numbered."""
        return numbered(self.boards[ply], self.moves[ply])

    def own_plies(self) -> range:
        """The indices of the moves of the side that profits."""
        return range(0 if self.boards[0].turn == self.winner else 1, len(self.moves), 2)

    def is_taken_back(self, ply: int) -> bool:
        """Whether the next move of the line takes what has just moved."""
        return [reply.to_square for reply in self.moves[ply + 1 : ply + 2]] == [self.moves[ply].to_square]

    def balance(self, ply: int) -> int:
        """The material of the side that profits minus the other's before this move, in pawns."""
        return material_balance(self.boards[ply], self.winner)

    def gain(self) -> int:
        """What the line wins, in pawns, after the best capture of the side to move at its end."""
        sign = 1 if self.end.turn == self.winner else -1
        return self.balance(-1) + best_capture(self.end) * sign - self.balance(0)

    def wins(self) -> list[Case]:
        """The captures and promotions at a profit, most valuable first. An exchange on one square is one of them."""
        wins = []
        for _, group in groupby(range(len(self.moves)), lambda ply: self.moves[ply].to_square):
            plies = list(group)
            own = [i for i in plies if i in self.own_plies() and gain_of(self.boards[i], self.moves[i])]
            worth = self.balance(plies[-1] + 1) - self.balance(plies[0])
            if own and worth >= 1:
                wins.append(Case(self, own[0], worth))
        return sorted(wins, key=lambda case: (-case.worth, case.ply))

    def prize(self, ply: int) -> chess.Square:
        """Where at the beginning stood what a move takes, or the pawn that it promotes."""
        move = self.moves[ply]
        return self.where_was(move.from_square if move.promotion else captured_square(self.boards[ply], move), ply, 0)

    def where_was(self, square: chess.Square, after: int, before: int) -> chess.Square:
        """Where the piece stood before move `before` that stands on a square before move `after`, both indices."""
        for ply in range(after - 1, before - 1, -1):
            if self.moves[ply].to_square == square:
                square = self.moves[ply].from_square
        return square


# What a motif is --------------------------------------------------------------------------------------------------


class Kind(Enum):
    """The field's word for each motif. The comment says what `targets` and `others` of such a `Motif` are."""

    FORK = "fork"  # what is attacked by `actor`
    PIN = "pin"  # the pinned piece; what is behind it
    PINNED_GUARD = "pinned guard"  # what is taken; the pinned guard, and what is behind that
    SKEWER = "skewer"  # the piece in front and the one behind
    DISCOVERED_ATTACK = "discovered attack"  # what the piece on `actor` attacks, now that the move opened its line
    DISCOVERED_CHECK = "discovered check"  # what is taken under cover of the check, or where it mates
    DOUBLE_CHECK = "double check"  # the king; the two that give check
    TRAPPED = "trapped piece"  # the piece without a safe square
    REMOVED_GUARD = "removing the defender"  # what was guarded; where its guard is taken
    OVERLOADED = "overloaded piece"  # what was guarded, both; where the guard stood
    DEFLECTION = "deflection"  # what was guarded; where the guard stood
    ATTRACTION = "attraction"  # where the piece is drawn to; where it comes from
    INTERFERENCE = "interference"  # what was guarded; the guard that `actor` cuts off, which may be the answer
    CLEARANCE = "clearance"  # the square that is left; `win_ply`: the move that goes there
    BACK_RANK_MATE = "back-rank mate"  # the king, as in all mates
    SMOTHERED_MATE = "smothered mate"
    MATE = "mate"
    PERPETUAL_CHECK = "perpetual check"  # the king
    STALEMATE = "stalemate"  # the king without a move
    PROMOTION = "promotion"  # where the pawn promotes
    # What a move does by itself.
    CAPTURE = "capture"  # what it takes at a profit
    ATTACK = "attack"  # what the piece that moved could take next
    DEED = "deed"  # what it is about: the words are those of the cause
    # What a move does for the reply. Of these `targets` is where the reply goes.
    UNGUARDED = "lost guard"
    OPENED = "opened line"  # ; where the reply comes from

    @property
    def is_mate(self) -> bool:
        return self.name.endswith("MATE") and self is not Kind.STALEMATE


DRAWS = (Kind.PERPETUAL_CHECK, Kind.STALEMATE)


Squares = tuple[chess.Square, ...]


@dataclass(frozen=True, slots=True)
class Motif:
    """A motif in a line. `ply` is the index of the move that makes it, `move` that move.

    Squares are those of the position after the move. A guard that leaves or is taken has the square where it stood.
    `actor` is the piece that profits, `targets` and `others` are described with each `Kind`. `win_ply` is the ply at
    which it wins something: a capture, a promotion, the mate or the draw.
    """

    kind: Kind
    ply: int
    move: chess.Move
    actor: chess.Square
    targets: Squares
    others: Squares = ()
    win_ply: int = 0


class Case:
    """Something that a line wins, and one of the moves up to it by which it may have come to that.

    `win_ply` is the one at which it takes or promotes, `worth` what that is worth in pawns with the exchange after it.
    `square` is that of what is taken; of the promotion where nothing is. `before` and `after` are the positions around
    the move. `target` is where the piece that is taken stands after it, `taker` where the piece stands that takes.
    """

    def __init__(self, line: Line, win_ply: int, worth: int, ply: int | None = None) -> None:
        """Without `ply` the move is the one that wins."""
        self.line, self.win_ply, self.worth = line, win_ply, worth
        self.ply = win_ply if ply is None else ply
        self.winner = line.winner
        self.move, self.capture = line.moves[self.ply], line.moves[win_ply]
        self.before, self.after = line.boards[self.ply], line.boards[self.ply + 1]
        self.square = captured_square(line.boards[win_ply], self.capture)
        self.target = line.where_was(self.square, win_ply, self.ply + 1)
        self.taker = line.where_was(self.capture.from_square, win_ply, self.ply + 1)

    def at(self, ply: int) -> Case:
        """The same with another move up to it."""
        return Case(self.line, self.win_ply, self.worth, ply)

    @property
    def reply(self) -> chess.Move:
        return self.line.moves[self.ply + 1]

    def is_new(self) -> bool:
        """Whether the piece that takes it could not do so before, or at less profit."""
        square, taker = (
            self.line.where_was(each, self.win_ply, self.ply) for each in (self.square, self.capture.from_square)
        )
        return capture_gain(self.before, self.winner, square, chess.BB_SQUARES[taker]) < self.worth

    def gain_on(self, square: chess.Square) -> int:
        """What the piece that moved could win there, as `capture_gain`."""
        return capture_gain(self.after, self.winner, square, chess.BB_SQUARES[self.move.to_square])

    def motif(self, kind: Kind, actor: chess.Square, targets: Squares, others: Squares = ()) -> Motif:
        return Motif(kind, self.ply, self.move, actor, targets, others, self.win_ply)


def capture(case: Case) -> Motif | None:
    """The first move of its side takes a piece at a profit, and does not take back."""
    is_capture = case.before.is_capture(case.move)
    is_told = is_capture and case.ply == case.line.own_plies().start and is_gain(case.before, case.move)
    return case.motif(Kind.CAPTURE, case.move.to_square, (case.square,)) if is_told else None


def attack(case: Case) -> Motif | None:
    """The piece that moved attacks what is taken. What takes it could not do so before, or at less profit."""
    is_told = case.gain_on(case.target) >= 1 and case.is_new()
    return case.motif(Kind.ATTACK, case.move.to_square, (case.target,)) if is_told else None


# What a move before has made possible --------------------------------------------------------------------------------


def fork(case: Case) -> Motif | None:
    """The piece that moved attacks two pieces or more at once, and takes one of them when another was saved.

    A king counts, and every piece that it could take at a profit; a pawn only where it is what is taken.
    """
    actor, after = case.move.to_square, case.after
    attacked = []
    for square in after.attacks(actor) & after.occupied_co[not case.winner]:
        is_king = after.piece_type_at(square) == chess.KING
        if is_king or case.gain_on(square) >= (1 if square == case.target else 2):
            attacked.append(square)
    # What is attacked may also take the forking piece, and be taken there.
    is_taker = case.taker == actor or (case.reply.from_square, case.reply.to_square) == (case.target, actor)
    if not is_taker or case.target not in attacked or len(attacked) < 2:
        return None
    return case.motif(Kind.FORK, actor, tuple(sorted(attacked, key=lambda square: -value_at(after, square))))


def skewer(case: Case) -> Motif | None:
    """A piece attacks another on a line, that one leaves it, and the one behind is taken, which is worth no more."""
    actor, board = case.move.to_square, case.after
    front, back = case.reply.from_square, case.target
    is_line = front in board.attacks(actor) and chess.between(actor, back) & chess.BB_SQUARES[front]
    if case.taker != actor or not is_line:
        return None
    value = value_at(board, front)
    if value < value_at(board, back) or (value < KING_VALUE and case.gain_on(front) < 1):
        return None
    return case.motif(Kind.SKEWER, actor, (front, back))


def discovery(case: Case) -> Motif | None:
    """A move opens the line of another piece: for double check, for check while it takes something, or an attack."""
    actor, taker, checkers = case.move.to_square, case.taker, tuple(case.after.checkers())
    if len(checkers) > 1:
        return case.motif(Kind.DOUBLE_CHECK, actor, (king_of(case.after, not case.winner),), checkers)
    if checkers and checkers != (actor,) and not case.before.is_castling(case.move):
        return case.motif(Kind.DISCOVERED_CHECK, checkers[0], (case.target,))
    is_opened = case.target in case.after.attacks(taker) and case.target not in case.before.attacks(taker)
    if taker != actor and is_opened and not _is_mate(case):
        return case.motif(Kind.DISCOVERED_ATTACK, taker, (case.target,))
    return None


def pin(case: Case) -> Motif | None:
    """A piece is attacked and taken, which may not leave its line: a king or something better stands behind it."""
    board, square = case.after, case.target
    if capture_gain(board, case.winner, square) < 1 or board.piece_type_at(square) == chess.PAWN:
        return None
    return next((case.motif(Kind.PIN, slider, (square,), (back,)) for slider, back in pins_of(board, square)), None)


def trapped(case: Case) -> Motif | None:
    """A piece is attacked, and wherever it goes it is taken at a profit; it is taken, there or elsewhere.

    A pawn or king is never trapped, and no piece while its king is in check.
    """
    board, square = case.after, case.target
    is_piece = board.piece_type_at(square) not in (None, chess.PAWN, chess.KING)
    if not is_piece or board.is_check() or capture_gain(board, case.winner, square) < 2:
        return None
    for move in board.generate_legal_moves(chess.BB_SQUARES[square]):
        lost = capture_gain(board_after(board, [move]), case.winner, move.to_square)
        if lost - gain_of(board, move) < 1:
            return None
    return case.motif(Kind.TRAPPED, case.taker, (case.target,))


def promotion(case: Case) -> Motif | None:
    square = case.move.to_square
    return case.motif(Kind.PROMOTION, square, (square,)) if case.move.promotion else None


# Guards that do not guard: pinned, taken, overloaded, drawn away, cut off; and pieces drawn into a trap --------------


def _is_mate(case: Case) -> bool:
    return case.line.boards[case.win_ply + 1].is_checkmate()


def _recaptures(case: Case) -> list[chess.Move]:
    """The moves that take back what has just moved."""
    return list(case.after.generate_legal_captures(to_mask=chess.BB_SQUARES[case.move.to_square]))


def pinned_guard(case: Case) -> Motif | None:
    """The only guard of what is taken is pinned and may not take back."""
    board, square = case.before, case.capture.to_square
    able = {move.from_square for move in _recaptures(case)}
    for guard in board.attackers(not case.winner, square):
        for slider, back in pins_of(board, guard) if able <= {guard} else ():
            if not chess.ray(slider, guard) & chess.BB_SQUARES[square]:
                return case.motif(Kind.PINNED_GUARD, slider, (square,), (guard, back))
    return None


def lost_guard(case: Case) -> Motif | None:
    """The move or its answer takes, draws away or cuts off a guard; what it guarded is taken, or mate follows."""
    to, square, last = case.move.to_square, case.capture.to_square, case.line.boards[case.win_ply]
    for guard in case.before.attackers(not case.winner, square):
        if guard == to and not takes_back(case.before, case.move):
            return case.motif(Kind.REMOVED_GUARD, to, (square,), (guard,))
        if guard == case.reply.from_square and _is_drawn_away(case):
            # A check forces the guard away. Taking back, it fails at its other task.
            if case.reply.to_square == to and gain_of(case.before, case.move) and not case.after.is_check():
                return case.motif(Kind.OVERLOADED, to, (to, square), (guard,))
            return case.motif(Kind.DEFLECTION, to, (square,), (guard,))
        # What answers a check may cut a guard off, too, if something is taken then.
        is_answer = case.after.is_check() and guard != case.reply.from_square and last.is_capture(case.capture)
        for cut in (to, case.reply.to_square) if is_answer else (to,):
            if chess.between(guard, square) & chess.BB_SQUARES[cut]:
                return case.motif(Kind.INTERFERENCE, cut, (square,), (guard,))
    return None


def _is_drawn_away(case: Case) -> bool:
    """Whether the guard alone can take an offer, or answers a check, and no longer sees what it guarded.

    A guard that moves to the guarded square still guards it. A king that a mate hunts is no guard.
    """
    reply, square = case.reply, case.capture.to_square
    takers = {move.from_square for move in _recaptures(case)}
    is_forced = takers == {reply.from_square} if reply.to_square == case.move.to_square else case.after.is_check()
    is_hunted = _is_mate(case) and case.after.piece_type_at(reply.from_square) == chess.KING
    still_sees = square == reply.to_square or square in case.line.boards[case.ply + 2].attacks(reply.to_square)
    return is_forced and not is_hunted and not still_sees


def attraction(case: Case) -> Motif | None:
    """A piece is offered, and what takes it is checked, attacked or taken where it now stands."""
    line, square = case.line, case.move.to_square
    if case.ply + 2 >= len(line.moves) or case.reply.to_square != square or exchange(case.before, case.move) >= 0:
        return None
    drawn = case.after.piece_type_at(case.reply.from_square)
    following, after = line.moves[case.ply + 2], line.boards[case.ply + 3]
    if drawn == chess.KING:
        profits = after.is_check()
    else:
        profits = line.where_was(case.square, case.win_ply, case.ply + 2) == square
    if not profits or drawn not in (chess.KING, chess.QUEEN, chess.ROOK):
        return None
    return case.motif(Kind.ATTRACTION, following.to_square, (square,), (case.reply.from_square,))


def clearance(case: Case) -> Motif | None:
    """A piece leaves a square, and the next move puts another one there, or mates beyond it.

    A piece that trades itself or wins something, or that goes on along the line, has another aim.
    """
    square, to = case.move.from_square, case.move.to_square
    if case.before.is_capture(case.move) and exchange(case.before, case.move) >= 0:
        return None
    for move in case.line.moves[case.ply + 2 : case.ply + 3]:
        way = chess.SquareSet.between(move.from_square, move.to_square) | {move.to_square}
        is_cleared = square == move.to_square or case.line.boards[case.ply + 3].is_checkmate()
        if is_cleared and square in way and to not in way | {move.from_square}:
            return Motif(Kind.CLEARANCE, case.ply, case.move, square, (square,), (), case.ply + 2)
    return None


def perpetual_check(line: Line) -> Motif | None:
    """The line ends with checks of one side, and a position comes again, or does by one more move."""
    own = line.own_plies()
    begin = max((ply + 2 for ply in own if not line.boards[ply + 1].is_check()), default=own.start)
    more = [move for move in line.end.legal_moves if line.end.turn != line.winner or line.end.gives_check(move)]
    boards = line.boards + [board_after(line.end, [move]) for move in more if line.balance(-1) < 0]
    if begin + 4 > len(line.boards) or not any(board.is_repetition(2) for board in boards[begin + 4 :]):
        return None
    move, king = line.moves[begin], king_of(line.boards[begin + 1], not line.winner)
    return Motif(Kind.PERPETUAL_CHECK, begin, move, move.to_square, (king,), (), len(line.moves) - 1)


def stalemate(line: Line) -> Motif | None:
    """The side that is worse is stalemated at the end, or draws by giving away its last piece that can move."""
    if not line.end.is_stalemate() or line.end.turn != line.winner:
        return None
    king, ply = king_of(line.end, line.winner), max(len(line.moves) - 2, 0)
    return Motif(Kind.STALEMATE, ply, line.moves[ply], king, (king,), (), len(line.moves) - 1)


def mate_of(board: chess.Board) -> Kind:
    """The name of the mate on this board, `Kind.MATE` for one without a name of its own."""
    king = king_of(board, board.turn)
    around, home = chess.BB_KING_ATTACKS[king], chess.BB_RANKS[chess.square_rank(king)]
    own = around & board.occupied_co[board.turn]
    checker, *others = board.checkers()
    kind = board.piece_type_at(checker)
    if kind == chess.KNIGHT and own == around and not others:
        return Kind.SMOTHERED_MATE
    is_along = home & chess.BB_BACKRANKS & chess.BB_SQUARES[checker] and kind in (chess.ROOK, chess.QUEEN)
    # The king's own pieces block at least all but one way forward.
    return Kind.BACK_RANK_MATE if is_along and not others and chess.popcount(own & ~home) >= 2 else Kind.MATE


# The motif that decides a line ---------------------------------------------------------------------------------------


Detector = Callable[[Case], Motif | None]
# For the move that takes, in the order in which they are asked.
AT_ONCE: tuple[Detector, ...] = (promotion, discovery, pinned_guard, capture)
# For a move before it.
PREPARED: tuple[Detector, ...] = (discovery, skewer, fork, pin, trapped, lost_guard)
# For a mate: why it could not be met.
OF_MATE: tuple[Detector, ...] = (discovery, attraction, clearance, lost_guard)


def deciding_motifs(line: Line, expected: int = 0) -> tuple[Motif, ...]:
    """The motifs by which the side that profits mates, wins something or draws; none where no motif explains it.

    At most two, in the order of their moves: a second one has prepared the first. `expected`: what that side wins
    anyway, in pawns, below 0 where it has lost something before.
    """
    if not line.moves:
        return ()
    if line.end.is_checkmate():
        return _of_mate(line) if line.end.turn != line.winner else ()
    drawing = stalemate(line) or perpetual_check(line)
    if drawing:
        return (drawing,)
    if line.gain() - expected < 1:
        return ()
    for motifs in filter(None, map(_of_win, line.wins())):
        last = motifs[-1]
        # With more quiet moves up to the win it is no combination. A promotion needs none.
        if quiet_moves(line, last.win_ply, without=last.ply) <= MAX_QUIET or line.moves[last.win_ply].promotion:
            return motifs
    return ()


def quiet_moves(line: Line, end: int, without: int | None = None) -> int:
    """How many moves of the side that profits are quiet, up to the ply `end` and but for one.

    A quiet move neither gives or answers check nor takes anything.
    """
    own = [ply for ply in line.own_plies() if ply < end and ply != without]
    quiet = [ply for ply in own if not (line.boards[ply].is_check() or line.boards[ply + 1].is_check())]
    return sum(not line.boards[ply].is_capture(line.moves[ply]) for ply in quiet)


def _of_mate(line: Line) -> tuple[Motif, ...]:
    """The name of the mate, and what made it possible."""
    # Each own move as if it had won, the mating move first.
    moves = [Case(line, ply, 0) for ply in reversed(line.own_plies())]
    case, kind = moves[0], mate_of(line.end)
    if kind is Kind.MATE and (named := discovery(case)):
        return (named,)
    helper = _first(OF_MATE, _before(case)) or _first([pinned_guard], moves)
    mate = case.motif(kind, case.square, (king_of(line.end, not line.winner),))
    return (helper, mate) if helper else (mate,)


def _before(case: Case) -> list[Case]:
    """The moves before something is won, the last move first."""
    return [case.at(ply) for ply in reversed(case.line.own_plies()) if ply < case.win_ply]


def _first(detectors: Sequence[Detector], cases: Iterable[Case]) -> Motif | None:
    """The first that any of these detectors finds in the first of these cases in which one does."""
    return next((motif for case in cases for detector in detectors if (motif := detector(case))), None)


def _of_win(case: Case) -> tuple[Motif, ...]:
    """What explains something that is won, and what prepared it."""
    before = _before(case)
    found = _first(AT_ONCE, [case]) or _first(PREPARED, [each for each in before if each.is_new()])
    found = found or _first([attraction], before)
    if found is None:
        return ()
    earlier = [case.at(found.ply - 2)] if found.ply >= 2 else []
    prepared = _first([attraction, clearance], earlier)
    return (prepared, found) if prepared else (found,)


def opened_by(line: Line) -> Motif | None:
    """What the first move of a line does for the reply: a guard left, or a line opened."""
    case, reply = Case(line, 1, 0, 0), line.moves[1]
    here, there, end = case.move.from_square, case.move.to_square, reply.to_square
    if end != there and end in case.before.attacks(here) and end not in case.after.attacks(there):
        return case.motif(Kind.UNGUARDED, there, (end,))
    if end != there and chess.between(reply.from_square, end) & chess.BB_SQUARES[here]:
        return case.motif(Kind.OPENED, there, (end,), (reply.from_square,))
    return None
