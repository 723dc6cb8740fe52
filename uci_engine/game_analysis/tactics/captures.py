"""Why something can be taken or promoted: motifs in which the taken piece itself is attacked, pinned or trapped.

Each function gets a `Case` and returns its motif, or None where the motif is not there or does not decide.
"""

from __future__ import annotations

import chess

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.tactics.attacks import (
    KING_VALUE,
    best_capture,
    capture_gain,
    exchange,
    gain_of,
    is_trapped,
    king_of,
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

    def attacked(self) -> chess.SquareSet:
        """What the piece that moved attacks."""
        return self.after.attacks(self.move.to_square) & chess.SquareSet(self.after.occupied_co[not self.winner])

    def gain_on(self, square: chess.Square) -> int:
        """What the piece that moved could win there, as `capture_gain`."""
        return capture_gain(self.after, self.winner, square, chess.BB_SQUARES[self.move.to_square])

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
    for square in case.attacked():
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


def discovered_attack(case: Case) -> Motif | None:
    """A move opens the line of another piece, which then takes what it attacks: the move itself is a threat, too."""
    taker, target = case.taker, case.target
    is_opened = target in case.after.attacks(taker) and target not in case.before.attacks(taker)
    if taker == case.move.to_square or not is_opened or not is_forcing(case):
        return None
    return case.motif(Kind.DISCOVERED_ATTACK, taker, (target,))


def is_forcing(case: Case) -> bool:
    """Whether the move gives check, takes something, or threatens to take something with the piece that moved."""
    if case.after.is_check() or gain_of(case.before, case.move):
        return True
    return any(case.gain_on(square) >= 1 for square in case.attacked() if square != case.target)


def double_check(case: Case) -> Motif | None:
    """The piece that moved and one whose line it opened give check, so that only the king may move."""
    checkers = tuple(case.after.checkers())
    king = king_of(case.after, not case.winner)
    return case.motif(Kind.DOUBLE_CHECK, case.move.to_square, (king,), checkers) if len(checkers) > 1 else None


def discovered_check(case: Case) -> Motif | None:
    """A move opens the line of another piece to the king, and the piece that moved takes something: now, or next."""
    actor, checkers = case.move.to_square, tuple(case.after.checkers())
    if len(checkers) != 1 or checkers == (actor,) or case.before.is_castling(case.move):
        return None
    takes_next = case.taker == actor and case.target in case.after.attacks(actor)
    if case.ply < case.win.ply and not takes_next:
        return None
    return case.motif(Kind.DISCOVERED_CHECK, checkers[0], (case.target,))


def pin(case: Case) -> Motif | None:
    """A piece is attacked and taken, which may not leave its line: a king or something better stands behind it.

    A piece that is pinned to its king may also be taken elsewhere on the line.
    """
    board, square = case.after, case.target
    if capture_gain(board, case.winner, square) < 1 or board.piece_type_at(square) == chess.PAWN:
        return None
    for slider, back in pins_of(board, square):
        if square == case.win.square or board.piece_type_at(back) == chess.KING:
            return case.motif(Kind.PIN, slider, (square,), (back,))
    return None


def trapped(case: Case) -> Motif | None:
    """A piece is attacked, and wherever it goes it is taken at a profit; it is taken, there or elsewhere."""
    if not is_trapped(case.after, case.target):
        return None
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
    board = case.before
    backs = list(board.generate_legal_captures(to_mask=chess.BB_SQUARES[square]))
    at_once = [gain_of(board, back) - best_capture(board_after(board, [back]))[0] for back in backs]
    if not at_once or line.gain() <= line.balance(case.ply) - line.balance(0) + max(at_once):
        return None
    return case.motif(Kind.INTERMEZZO, case.move.to_square, (square,))


def underpromotion(case: Case) -> Motif | None:
    """A pawn promotes to less than a queen on the way to a win."""
    square = case.move.to_square
    is_less = case.move.promotion not in (None, chess.QUEEN)
    return case.motif(Kind.UNDERPROMOTION, square, (square,)) if is_less else None
