"""The Syzygy prober: result of a position and distance to the next capture or pawn move, at compiled speed.

`search` calls `probe_wdl` after captures and pawn moves, `ranking` both probes at the root; `tablebases` fills it with
tables. What must stay true: the answers are those of `chess.syzygy.Tablebase`, whose `probe_wdl` and `probe_dtz` mean
the same; and the position is left as it was.

A table may hold anything where a capture is best, and knows nothing of en passant: what `syzygy_tables` finds in it is
joined here with what the rules allow, `_resolve` and `_en_passant`.
"""

import cython

from uci_engine.tablebases import syzygy_files

if not cython.compiled:
    from evaluation.bitboards import PAWN, popcount
    from uci_engine.board.moves import EN_PASSANT, NO_SQUARE, NOISY, QUIET, SCRATCH, from_square, move_type, to_square
    from uci_engine.tablebases.syzygy_tables import OTHER_SIDE, SyzygyTables

# Values from the side to move's view; 1 and -1 are a win and a loss that the fifty-move rule makes a draw.
LOSS = -2
DRAW = 0
WIN = 2
# Instead of a value, and for `_en_passant` also when there is no such capture.
FAILED = -3
NONE = -4
# Instead of a distance: greater than any.
UNKNOWN = syzygy_files.MOST_PLIES + 1
# The distance for each value, from LOSS to WIN, where the next ply is the capture or pawn move: 100 more if spoilt.
NEXT_PLY = [-1, -101, 0, 101, 1]


class SyzygyProber:
    """Tables to probe: one prober for each search. Lists moves in the position's scratch room, which is enough for
    those of seven pieces along any line that is probed."""

    def __init__(self):
        self.tables = SyzygyTables()
        self.largest = 0

    # Called by `tablebases`, while no search runs ------------------------------------------------------------------

    def load(self, tables):
        """Probe these and no others from now on: pairs of a file's bytes and its `syzygy_files.Table`."""
        self.tables.load(tables)
        self.largest = self.tables.largest

    def share(self, other):
        """Probe the tables of another prober, as they are now, and no others: for a search beside its own."""
        self.tables.share(other.tables)
        self.largest = other.largest
        return 0

    def drop(self, counts):
        """Forget the tables of these pieces, the counts of a `Material`: something is wrong with them."""
        self.tables.drop(counts)

    # Results -------------------------------------------------------------------------------------------------------

    def probe_wdl(self, position):
        """2, 1, 0, -1, -2 (win, spoilt win, draw, spoilt loss, loss) for the side to move, or FAILED.

        As if the halfmove clock were 0.
        """
        if self._is_too_large(position):
            return FAILED
        return self._value(position, SCRATCH)

    def _is_too_large(self, position):
        return position.castling or popcount(position.by_colour[0] | position.by_colour[1]) > self.largest

    def _value(self, position, start):
        """The value of a position. Moves are listed from `start` on, here and below."""
        value = self._resolve(position, LOSS, WIN, start)
        if value == FAILED or position.en_passant == NO_SQUARE:
            return value
        passing = self._en_passant(position, start)
        if passing == FAILED:
            return FAILED
        return passing if self._is_passing_best(position, passing, value, start) else value

    def _resolve(self, position, alpha, beta, start):
        """The value with captures played out, en passant left aside."""
        best = self._best_capture(position, alpha, beta, start)
        if best == FAILED or best >= beta:
            return best
        held = self._held(position)
        if held == FAILED:
            return FAILED
        return held if held > best else best

    def _held(self, position):
        """The value that the table holds."""
        result = self.tables.result(position)
        return result + LOSS if result >= 0 else FAILED

    def _best_capture(self, position, alpha, beta, start):
        """The value of the best capture, en passant left aside; `alpha` if that is more.

        A missing table does no harm where another capture is good enough, whatever their order.
        """
        best: cython.int = alpha
        failed: cython.bint = False
        end: cython.int = position.generate(NOISY, start)
        for index in range(start, end):
            move = position.moves[index]
            if position.squares[to_square(move)] == 0:
                continue
            position.make(move)
            value = self._resolve(position, -beta, -best, end)
            position.unmake(move)
            if value == FAILED:
                failed = True
            elif -value > best:
                best = -value
                if best >= beta:
                    return best
        return FAILED if failed else best

    def _en_passant(self, position, start):
        """The value of the best capture en passant; NONE if there is none."""
        best: cython.int = NONE
        end: cython.int = position.generate(NOISY, start)
        for index in range(start, end):
            move = position.moves[index]
            if move_type(move) != EN_PASSANT:
                continue
            position.make(move)
            after = self._resolve(position, LOSS, WIN, end)
            position.unmake(move)
            if after == FAILED:
                return FAILED
            if -after > best:
                best = -after
        return best

    def _is_passing_best(self, position, passing, value, start):
        """Whether a capture en passant decides, next to all else that is worth `value`.

        Being a capture it makes the distance short, so of two wins it is the better one, and of two losses the worse.
        """
        if passing == NONE:
            return False
        if passing > value or (passing == value and value >= DRAW):
            return True
        if value != DRAW:
            return False
        # Without en passant it would be stalemate, if there are no other moves.
        end: cython.int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            if move_type(position.moves[index]) != EN_PASSANT:
                return False
        return True

    # Distances -----------------------------------------------------------------------------------------------------

    def probe_dtz(self, position):
        """Plies to the next capture, pawn move or mate, positive for a win, negative for a loss, 0 for a draw; UNKNOWN.

        Where the fifty-move rule spoils the result it is beyond 100 either way, by 100 more than the plies if only a
        later phase is to blame. It may be one ply off where that does no harm, as the files are. Halfmove clock as 0.
        """
        if self._is_too_large(position):
            return UNKNOWN
        return self._distance(position, SCRATCH)

    def _distance(self, position, start):
        captured = self._best_capture(position, LOSS, WIN, start)
        if captured == FAILED:
            return UNKNOWN
        value: cython.int = captured
        if captured < WIN:
            held = self._held(position)
            if held == FAILED:
                return UNKNOWN
            if held > value:
                value = held
        if position.en_passant != NO_SQUARE:
            passing = self._en_passant(position, start)
            if passing == FAILED:
                return UNKNOWN
            if self._is_passing_best(position, passing, value, start):
                return NEXT_PLY[passing - LOSS]
        if value == DRAW:
            return 0
        if value > DRAW:
            if captured == value:
                return NEXT_PLY[value - LOSS]
            best = self._best_pawn_move(position, value, start)
            if best == FAILED:
                return UNKNOWN
            if best == value:
                return NEXT_PLY[value - LOSS]
        plies = self.tables.distance(position, value - LOSS)
        if plies >= 0:
            return NEXT_PLY[value - LOSS] + (plies if value > DRAW else -plies)
        if plies == OTHER_SIDE:
            return self._search(position, value, start)
        return UNKNOWN

    def _best_pawn_move(self, position, enough, start):
        """The value of the best pawn move that captures nothing, or of one that is good enough; LOSS without one."""
        best: cython.int = LOSS
        failed: cython.bint = False
        if position.by_type[PAWN] & position.by_colour[position.turn] == 0:
            return best
        end: cython.int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            move = position.moves[index]
            if not self._is_pawn_move(position, move) or self._is_capture(position, move):
                continue
            position.make(move)
            value = self._value(position, end)
            position.unmake(move)
            if value == FAILED:
                failed = True
            elif -value > best:
                best = -value
                if best >= enough:
                    return best
        return FAILED if failed else best

    def _search(self, position, value, start):
        """The distance of a position whose table has only those of the other side to move: one move on, it tells.

        Captures and pawn moves are known not to win where this is called for a win.
        """
        best: cython.int = UNKNOWN if value > DRAW else NEXT_PLY[value - LOSS]
        end: cython.int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            move = position.moves[index]
            if self._is_pawn_move(position, move) or self._is_capture(position, move):
                continue
            position.make(move)
            # No deeper than this: the same pieces, with the other side to move.
            after = self._distance(position, end)
            is_mate: cython.bint = False
            if after == -1 and position.checkers:
                is_mate = position.generate(NOISY | QUIET, end) == end
            position.unmake(move)
            if after == UNKNOWN:
                return UNKNOWN
            plies: cython.int = UNKNOWN
            if value < DRAW:
                plies = -1 - after
            elif after < 0:
                plies = 1 if is_mate else 1 - after
            if plies < best:
                best = plies
        return best

    def _is_pawn_move(self, position, move):
        return position.squares[from_square(move)] >> 1 == PAWN

    def _is_capture(self, position, move):
        return position.squares[to_square(move)] != 0 or move_type(move) == EN_PASSANT
