"""Why something can be taken or promoted: motifs in which the taken piece itself is attacked, pinned or trapped.

Each function gets a `Case` and returns its motif, or None where the motif is not there or does not decide.
"""

from __future__ import annotations

import chess

from uci_engine.game_analysis.boards import PIECE_VALUES
from uci_engine.game_analysis.tactics.attacks import (
    KING_VALUE,
    capture_by,
    capture_gain,
    exchange,
    gain_of,
    is_trapped,
    king_of,
    mating_move,
    pins_of,
    takes_back,
    value_at,
)
from uci_engine.game_analysis.tactics.line import Line, Win
from uci_engine.game_analysis.tactics.motif import Kind, Motif, Squares


class Case:
    """Something that a line wins, and one of the moves up to it by which it may have come to that.

    `before` and `after` are the positions around that move. `target` is where the piece that is taken stands after it,
    `taker` where the piece stands that takes.
    """

    def __init__(self, line: Line, win: Win, ply: int) -> None:
        self.line, self.win, self.ply = line, win, ply
        self.winner = line.winner
        self.move, self.capture = line.moves[ply], line.moves[win.ply]
        self.before, self.after = line.boards[ply], line.boards[ply + 1]
        self.target = line.where_was(win.square, win.ply, ply + 1)
        self.taker = line.where_was(self.capture.from_square, win.ply, ply + 1)

    @property
    def reply(self) -> chess.Move:
        return self.line.moves[self.ply + 1]

    def is_cause(self) -> bool:
        """Whether this is double check, or a piece is taken that could not be taken before, or at less profit."""
        if len(self.after.checkers()) > 1:
            return True
        square = self.line.where_was(self.win.square, self.win.ply, self.ply)
        # In check nothing else could be taken before.
        is_new = not self.before.is_check() or self.target in self.after.attacks(self.move.to_square)
        has_victim = self.after.color_at(self.target) == (not self.winner)
        return has_victim and is_new and capture_gain(self.before, self.winner, square) < self.win.worth

    def motif(self, kind: Kind, actor: chess.Square, targets: Squares, others: Squares = ()) -> Motif:
        return Motif(kind, self.ply, self.move, actor, targets, others, self.win.ply)


# What is taken now ---------------------------------------------------------------------------------------------------


def x_ray(case: Case) -> Motif | None:
    """After two captures on one square a piece takes there that attacked it through the piece that took last."""
    following = case.line.moves[case.ply + 1 : case.ply + 3]
    if len(following) < 2:
        return None
    answer, again = following
    is_one_square = case.move.to_square == answer.to_square == again.to_square
    is_through = chess.between(again.from_square, again.to_square) & chess.BB_SQUARES[answer.from_square]
    if not (is_one_square and is_through):
        return None
    return case.motif(Kind.X_RAY, again.from_square, (again.to_square,), (answer.from_square,))


def hanging(case: Case) -> Motif | None:
    """A piece can be taken at once: it has no guard, too few, or is worth more than what takes it.

    Where it has just taken something itself, that was guarded. A pawn that is taken in passing may have guards.
    """
    line, square, actor = case.line, case.win.square, case.capture.to_square
    if actor != square or case.ply > line.own_plies()[0] or not case.before.is_capture(case.capture):
        return None
    if exchange(case.before, case.capture) < 1 or (not case.ply and takes_back(case.before, case.capture)):
        return None
    if case.ply == 1 and line.moves[0].to_square == square and line.boards[0].is_capture(line.moves[0]):
        is_why = exchange(line.boards[0], line.moves[0]) < 0
        return case.motif(Kind.GUARDED, actor, (square,)) if is_why else None
    is_guarded = bool(case.after.attackers(not case.winner, square))
    return case.motif(Kind.UNDERDEFENDED if is_guarded else Kind.HANGING, actor, (square,))


# What a move before has made possible --------------------------------------------------------------------------------


def fork(case: Case) -> Motif | None:
    """The piece that moved attacks two pieces or more at once, and takes one of them when another was saved.

    A king counts, and every piece that it could take at a profit; a pawn only where it is what is taken.
    """
    actor, after = case.move.to_square, case.after
    attacked = []
    for square in after.attacks(actor) & chess.SquareSet(after.occupied_co[not case.winner]):
        is_king = after.piece_type_at(square) == chess.KING
        if is_king or capture_by(after, actor, square) >= (1 if square == case.target else 2):
            attacked.append(square)
    if case.taker != actor or case.target not in attacked or len(attacked) < 2:
        return None
    return case.motif(Kind.FORK, actor, tuple(sorted(attacked, key=lambda square: -value_at(after, square))))


def double_attack(case: Case) -> Motif | None:
    """The move threatens mate and attacks a piece. The mate is prevented, and the piece is taken."""
    is_old = case.win.square in case.before.attacks(case.line.where_was(case.taker, case.ply + 1, case.ply))
    if is_old or case.target not in case.after.attacks(case.taker) or mating_move(case.before, case.winner):
        return None
    if mating_move(case.after, case.winner) is None:
        return None
    return case.motif(Kind.DOUBLE_ATTACK, case.taker, (case.target,))


def skewer(case: Case) -> Motif | None:
    """A piece attacks another on a line, that one leaves it, and the one behind is taken, which is worth no more."""
    actor, board = case.move.to_square, case.after
    front, back = case.reply.from_square, case.target
    is_line = front in board.attacks(actor) and chess.between(actor, back) & chess.BB_SQUARES[front]
    if case.taker != actor or not is_line:
        return None
    value = value_at(board, front)
    if value < value_at(board, back) or (value < KING_VALUE and capture_by(board, actor, front) < 1):
        return None
    return case.motif(Kind.SKEWER, actor, (front, back))


def discovered_attack(case: Case) -> Motif | None:
    """A move opens the line of another piece, which then takes what it attacks: the move itself is a threat, too."""
    taker, target = case.taker, case.target
    is_opened = target in case.after.attacks(taker) and target not in case.before.attacks(taker)
    if taker == case.move.to_square or not is_opened or not is_forcing(case):
        return None
    return case.motif(Kind.DISCOVERED_ATTACK, taker, (target,))


def is_forcing(case: Case) -> bool:
    """Whether the move gives check, takes something, or threatens to take something with the piece that moved."""
    after, actor = case.after, case.move.to_square
    if after.is_check() or gain_of(case.before, case.move):
        return True
    attacked = after.attacks(actor) & chess.SquareSet(after.occupied_co[not case.winner])
    return any(capture_by(after, actor, square) >= 1 for square in attacked if square != case.target)


def discovered_check(case: Case) -> Motif | None:
    """A move opens the line of another piece to the king, and the piece that moved takes something: now, or next.

    Where it gives check itself, too, only the king may move, and that is enough.
    """
    actor, checkers = case.move.to_square, tuple(case.after.checkers())
    if checkers in ((), (actor,)) or case.before.is_castling(case.move):
        return None
    if len(checkers) > 1:
        return case.motif(Kind.DOUBLE_CHECK, actor, (king_of(case.after, not case.winner),), checkers)
    takes_next = case.taker == actor and case.target in case.after.attacks(actor)
    if case.ply < case.win.ply and not takes_next:
        return None
    return case.motif(Kind.DISCOVERED_CHECK, checkers[0], (case.target,))


def pin(case: Case) -> Motif | None:
    """A piece may not leave its line, because a king or something better stands behind it; it is attacked and taken."""
    board, square, last = case.after, case.win.square, case.line.boards[case.win.ply]
    is_attacked = case.target == square and capture_gain(board, case.winner, square) >= 1
    if not is_attacked or board.piece_type_at(square) == chess.PAWN:
        return None
    for slider, back in pins_of(board, square):
        free = board.copy(stack=False)
        free.remove_piece_at(slider)
        can_leave = any(move.from_square == square for move in free.generate_pseudo_legal_moves())
        # Where what stood behind has gone, a piece may still be lost by the pin, but not a mere pawn.
        is_held = case.win.worth > 1 or last.piece_at(back) == board.piece_at(back)
        if can_leave and is_held and not is_trapped(free, square):
            return case.motif(Kind.PIN, slider, (square,), (back,))
    return None


def trapped(case: Case) -> Motif | None:
    """A piece is attacked, and wherever it goes it is taken at a profit; it is taken, there or elsewhere.

    Where it may not leave its line before the king, that is a pin.
    """
    if not is_trapped(case.after, case.target):
        return None
    king = king_of(case.after, not case.winner)
    slider = next((slider for slider, back in pins_of(case.after, case.target) if back == king), None)
    if slider is not None:
        return case.motif(Kind.PIN, slider, (case.target,), (king,))
    return case.motif(Kind.TRAPPED, case.taker, (case.target,))


def intermezzo(case: Case) -> Motif | None:
    """Instead of taking back at once, a move comes in between that must be answered; then the piece is taken."""
    line, square = case.line, case.win.square
    earlier = case.ply - 1
    if case.win.ply != case.ply + 2 or earlier < 0 or case.target != square:
        return None
    taking = line.moves[earlier]
    if taking.to_square != square or not gain_of(line.boards[earlier], taking) or not is_forcing(case):
        return None
    at_once = capture_gain(case.before, case.winner, square)
    if at_once < -PIECE_VALUES[chess.QUEEN] or line.gain() <= line.balance(case.ply) - line.balance(0) + at_once:
        return None
    return case.motif(Kind.INTERMEZZO, case.move.to_square, (square,))
