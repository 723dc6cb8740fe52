"""The Syzygy prober: WDL (win, draw or loss) and DTZ (distance to zeroing the halfmove clock), at compiled speed.

A stored value is arbitrary where a capture is best, and ignores en passant. So `_value` plays out both, beside what
`syzygy_tables` finds in the table.

Invariants: the results equal those of `probe_wdl` and `probe_dtz` of `chess.syzygy.Tablebase`. The position is left as
it was.
"""

from __future__ import annotations

from evaluation.base.bitboards import PAWN
from evaluation.base.typed import inline, ints, popcount
from uci_engine.board.moves import EN_PASSANT, NO_SQUARE, NOISY, QUIET, SCRATCH, from_square, move_type, to_square
from uci_engine.board.position import Position
from uci_engine.tablebases import syzygy_files
from uci_engine.tablebases.syzygy_tables import OTHER_SIDE, SyzygyTables

# Values for the side to move. 1 is a cursed win and -1 a blessed loss: the fifty-move rule makes both a draw.
LOSS = -2
DRAW = 0
WIN = 2
# FAILED: not in the tables. NONE: no capture en passant.
FAILED = -3
NONE = -4
# Not in the tables. Greater than any DTZ.
UNKNOWN = syzygy_files.MAX_DISTANCE_PLIES + 1
# The DTZ for each value, from LOSS to WIN, where the next ply is a capture or pawn move; 100 more for 1 and -1.
NEXT_PLY = ints(5, [-1, -101, 0, 101, 1])
# Kinds of moves. Captures en passant and pawn moves are not among the captures.
CAPTURE, CAPTURE_EN_PASSANT, PAWN_MOVE, OTHER_MOVE = range(4)


@inline
def kind_of(position: Position, move: int) -> int:
    """The kind of a move. There are no castling moves in the tables."""
    if position.squares[to_square(move)]:
        return CAPTURE
    if position.squares[from_square(move)] >> 1 != PAWN:
        return OTHER_MOVE
    return CAPTURE_EN_PASSANT if move_type(move) == EN_PASSANT else PAWN_MOVE


class SyzygyProber:
    """Tables to probe: one prober for each search. It generates moves into the scratch part of the move buffer, which
    is large enough for seven pieces.
    """

    tables: SyzygyTables

    def __init__(self) -> None:
        self.tables = SyzygyTables()

    # Results -------------------------------------------------------------------------------------------------------

    def probe_wdl(self, position: Position) -> int:
        """The WDL value for the side to move at halfmove clock 0, or FAILED.

        2, 1, 0, -1, -2: win, cursed win, draw, blessed loss, loss.
        """
        if self._is_too_large(position):
            return FAILED
        return self._value(position, LOSS, WIN, SCRATCH)

    def _is_too_large(self, position: Position) -> bool:
        pieces = position.by_colour[0] | position.by_colour[1]
        return position.castling_rights != 0 or popcount(pieces) > self.tables.max_pieces

    def _value(self, position: Position, alpha: int, beta: int, start: int) -> int:
        """The value of a position, or `alpha` if that is more. Moves are generated from offset `start`."""
        value: int = self._best(position, CAPTURE, alpha, beta, start)
        if value == FAILED or value >= beta:
            return value
        stored = self._stored_value(position)
        if stored == FAILED:
            return FAILED
        if stored > value:
            value = stored
        if position.ep_square == NO_SQUARE:
            return value
        en_passant = self._best(position, CAPTURE_EN_PASSANT, NONE, WIN, start)
        if en_passant == FAILED:
            return FAILED
        return en_passant if self._is_en_passant_best(position, en_passant, value, start) else value

    def _stored_value(self, position: Position) -> int:
        result = self.tables.result(position)
        return result + LOSS if result >= 0 else FAILED

    def _best(self, position: Position, kind: int, alpha: int, beta: int, start: int) -> int:
        """The value of the best move of a kind, or of one that gives `beta`; `alpha` if that is more.

        A missing table is ignored if another move gives `beta`.
        """
        best: int = alpha
        failed: bool = False
        end: int = position.generate(NOISY | QUIET if kind == PAWN_MOVE else NOISY, start)
        for index in range(start, end):
            move = position.moves[index]
            if kind_of(position, move) != kind:
                continue
            position.make(move)
            value = self._value(position, -beta, -best, end)
            position.unmake(move)
            if value == FAILED:
                failed = True
            elif -value > best:
                best = -value
                if best >= beta:
                    return best
        return FAILED if failed else best

    def _is_en_passant_best(self, position: Position, en_passant: int, value: int, start: int) -> bool:
        """Whether a capture en passant is the best move. `value`: of the best other move.

        A capture resets the halfmove clock. So at equal values it is the better move, unless both lose.
        """
        if en_passant == NONE:
            return False
        if en_passant > value or (en_passant == value and value >= DRAW):
            return True
        if value != DRAW:
            return False
        # Without en passant it would be stalemate, if there are no other moves.
        end: int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            if move_type(position.moves[index]) != EN_PASSANT:
                return False
        return True

    # Distances -----------------------------------------------------------------------------------------------------

    def probe_dtz(self, position: Position) -> int:
        """The DTZ at halfmove clock 0: plies to the next capture, pawn move or mate, or UNKNOWN.

        Positive for a win, negative for a loss, 0 for a draw. Beyond 100 for a cursed win and a blessed loss: by 100
        more than the plies if the rule ends the game only after the next capture or pawn move. It may be one ply off
        where that changes no result, as in the files.
        """
        if self._is_too_large(position):
            return UNKNOWN
        return self._distance(position, SCRATCH)

    def _distance(self, position: Position, start: int) -> int:
        captured = self._best(position, CAPTURE, LOSS, WIN, start)
        if captured == FAILED:
            return UNKNOWN
        value: int = captured
        if captured < WIN:
            stored = self._stored_value(position)
            if stored == FAILED:
                return UNKNOWN
            if stored > value:
                value = stored
        if position.ep_square != NO_SQUARE:
            en_passant = self._best(position, CAPTURE_EN_PASSANT, NONE, WIN, start)
            if en_passant == FAILED:
                return UNKNOWN
            if self._is_en_passant_best(position, en_passant, value, start):
                return NEXT_PLY[en_passant - LOSS]
        if value == DRAW:
            return 0
        if value > DRAW:
            if captured == value:
                return NEXT_PLY[value - LOSS]
            best = self._best(position, PAWN_MOVE, LOSS, value, start)
            if best == FAILED:
                return UNKNOWN
            if best == value:
                return NEXT_PLY[value - LOSS]
        plies = self.tables.distance(position, value - LOSS)
        if plies >= 0:
            return NEXT_PLY[value - LOSS] + (plies if value > DRAW else -plies)
        if plies == OTHER_SIDE:
            return self._distance_from_replies(position, value, start)
        return UNKNOWN

    def _distance_from_replies(self, position: Position, value: int, start: int) -> int:
        """The DTZ from the positions after each move, where the table has only the other side to move.

        For a win, captures and pawn moves are known not to win.
        """
        best: int = UNKNOWN if value > DRAW else NEXT_PLY[value - LOSS]
        end: int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            move = position.moves[index]
            if kind_of(position, move) != OTHER_MOVE:
                continue
            position.make(move)
            # This goes no deeper: the table has these pieces with the other side to move.
            after = self._distance(position, end)
            is_mate: bool = False
            if after == -1 and position.checkers:
                is_mate = position.generate(NOISY | QUIET, end) == end
            position.unmake(move)
            if after == UNKNOWN:
                return UNKNOWN
            plies: int = UNKNOWN
            if value < DRAW:
                plies = -1 - after
            elif after < 0:
                plies = 1 if is_mate else 1 - after
            if plies < best:
                best = plies
        return best
