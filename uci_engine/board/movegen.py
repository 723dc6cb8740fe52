"""The legal move generator: legal moves, and whether a move captures or gives check.

`Position` extends it with making moves. Moves are the numbers of `moves`. The generator writes them into the flat
buffer `moves` from an offset and returns the end, so each ply has its own part. Moves are strictly legal: checkers and
pinned pieces limit the targets.

Invariant: the moves are exactly python-chess's, each once, and the buffer never holds more than MOVE_ROOM.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    ALL,
    BB,
    BETWEEN,
    BISHOP,
    BISHOP_PSEUDO_ATTACKS,
    FALLING,
    FILES,
    KING,
    KING_ATTACKS,
    KNIGHT,
    KNIGHT_ATTACKS,
    LINE,
    PAWN,
    PAWN_ATTACKS,
    QUEEN,
    RANKS,
    RISING,
    ROOK,
    ROOK_PSEUDO_ATTACKS,
    bishop_attacks,
    rook_attacks,
)
from evaluation.base.typed import inline, ints, lsb, u64
from uci_engine.board.moves import (
    CASTLING,
    EN_PASSANT,
    MOVE_ROOM,
    NO_SQUARE,
    NOISY,
    PROMOTION,
    QUIET,
    SCRATCH,
    castled_king,
    castled_rook,
    from_square,
    move_type,
    promotion,
    to_square,
)


@inline
def attacks_of(piece_type: int, square: int, occupied: u64) -> u64:
    """The squares that a piece other than a pawn attacks."""
    if piece_type == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if piece_type == KING:
        return KING_ATTACKS[square]
    attacks: u64 = 0
    if piece_type != ROOK:
        attacks = bishop_attacks(square, occupied)
    if piece_type != BISHOP:
        attacks |= rook_attacks(square, occupied)
    return attacks


class MoveGenerator(BaseBoard):
    """The pieces, with castling rights, en-passant square, checkers and pinned pieces.

    `Position` keeps the fields beyond `BaseBoard`'s. `castling_rights` has four bits: White's kingside 1 and queenside
    2, Black's kingside 4 and queenside 8. `rook_squares` holds the rooks of these rights in the same order. `ep_square`
    is the en-passant square when the side to move has a legal capture there, else NO_SQUARE.
    """

    checkers: u64
    pinned: u64
    castling_rights: int
    ep_square: int
    rook_squares = ints(4)
    moves = ints(MOVE_ROOM)

    def legal_moves(self, gen_type: int = NOISY | QUIET) -> list[int]:
        """The legal moves as a list, for callers in Python."""
        end = self.generate(gen_type, 0)
        return [self.moves[index] for index in range(end)]

    def classify(self, move: int) -> tuple[bool, bool | None, bool | None]:
        """`(is_legal, is_noisy, gives_check)` for Python callers; the last two are None if illegal."""
        if not self.is_legal(move):
            return False, None, None
        return True, self.is_noisy(move), self.gives_check(move)

    def _attacked(self, square: int, by: int, occupied: u64) -> bool:
        """Whether colour `by` attacks a square with this occupancy."""
        queens = self.by_type[QUEEN]
        theirs = self.by_colour[by]
        if theirs & (
            (KNIGHT_ATTACKS[square] & self.by_type[KNIGHT])
            | (PAWN_ATTACKS[(by ^ 1) * 64 + square] & self.by_type[PAWN])
            | (KING_ATTACKS[square] & self.by_type[KING])
        ):
            return True
        diagonal = theirs & (self.by_type[BISHOP] | queens)
        if diagonal & BISHOP_PSEUDO_ATTACKS[square] and bishop_attacks(square, occupied) & diagonal:
            return True
        straight = theirs & (self.by_type[ROOK] | queens)
        return straight & ROOK_PSEUDO_ATTACKS[square] != 0 and rook_attacks(square, occupied) & straight != 0

    def _add_from(self, end: int, origin: int, targets: u64) -> int:
        while targets:
            self.moves[end] = origin | (lsb(targets) << 6)
            end += 1
            targets &= targets - 1
        return end

    def _add_pawns(self, end: int, targets: u64, step: int, promoting: bool) -> int:
        while targets:
            target = lsb(targets)
            targets &= targets - 1
            move = (target - step) | (target << 6)
            if promoting:
                move |= PROMOTION << 14
                self.moves[end] = move | (3 << 12)
                self.moves[end + 1] = move | (2 << 12)
                self.moves[end + 2] = move | (1 << 12)
                self.moves[end + 3] = move
                end += 4
            else:
                self.moves[end] = move
                end += 1
        return end

    def generate(self, gen_type: int, start: int) -> int:
        """Write the legal moves of `gen_type` (NOISY, QUIET or both) to `moves` from `start`; returns the end."""
        us = self.turn
        ours = self.by_colour[us]
        theirs = self.by_colour[us ^ 1]
        occupied = ours | theirs
        wanted: u64 = 0
        if gen_type & NOISY:
            wanted |= theirs
        if gen_type & QUIET:
            wanted |= ALL ^ occupied
        king = lsb(self.by_type[KING] & ours)

        # 1. The king.
        end = self._generate_king_steps(start, king, KING_ATTACKS[king] & wanted)

        # 2. In check, other pieces must capture the checker or block; in double check only the king moves.
        checkers = self.checkers
        evading: u64 = ALL
        if checkers:
            if checkers & (checkers - 1):
                return end
            evading = checkers | BETWEEN[king * 64 + lsb(checkers)]
            wanted &= evading
        elif gen_type & QUIET and self.castling_rights & (3 if us else 12):
            end = self._generate_castling(end)

        # 3. Pieces. A pinned piece stays on its line.
        pinned = self.pinned
        for piece_type in range(KNIGHT, KING):
            pieces = self.by_type[piece_type] & ours
            while pieces:
                origin = lsb(pieces)
                pieces &= pieces - 1
                targets = attacks_of(piece_type, origin, occupied) & wanted
                if pinned & BB[origin]:
                    targets &= LINE[king * 64 + origin]
                end = self._add_from(end, origin, targets)

        # 4. Pawns.
        return self._generate_pawns(end, gen_type, evading)

    def _generate_king_steps(self, end: int, king: int, targets: u64) -> int:
        """King moves to squares not attacked with the king removed from the board."""
        occupied = (self.by_colour[0] | self.by_colour[1]) ^ BB[king]
        while targets:
            target = lsb(targets)
            targets &= targets - 1
            if not self._attacked(target, self.turn ^ 1, occupied):
                self.moves[end] = king | (target << 6)
                end += 1
        return end

    def _generate_pawns(self, end: int, gen_type: int, evading: u64) -> int:
        """All pawn moves, set-wise. A pinned pawn may push on its king's file and capture along its diagonal."""
        us = self.turn
        ours = self.by_colour[us]
        theirs = self.by_colour[us ^ 1]
        empty = ALL ^ (ours | theirs)
        pawns = self.by_type[PAWN] & ours
        king = lsb(self.by_type[KING] & ours)
        free = ALL ^ self.pinned
        pushers = pawns & (free | FILES[king & 7])
        risers = pawns & (free | RISING[king])
        fallers = pawns & (free | FALLING[king])
        catch = theirs & evading
        if us:
            singles = (pushers << 8) & empty
            doubles = ((singles & RANKS[2]) << 8) & empty & evading
            singles &= evading
            # White captures to the right run along a rising diagonal (a1-h8), to the left along a falling one.
            right = ((risers & (ALL ^ FILES[7])) << 9) & catch
            left = ((fallers & (ALL ^ FILES[0])) << 7) & catch
            forward = 8
            last = RANKS[7]
        else:
            singles = (pushers >> 8) & empty
            doubles = ((singles & RANKS[5]) >> 8) & empty & evading
            singles &= evading
            right = ((fallers & (ALL ^ FILES[7])) >> 7) & catch
            left = ((risers & (ALL ^ FILES[0])) >> 9) & catch
            forward = -8
            last = RANKS[0]
        if gen_type & NOISY:
            if (singles | right | left) & last:
                end = self._add_pawns(end, right & last, forward + 1, True)
                end = self._add_pawns(end, left & last, forward - 1, True)
                end = self._add_pawns(end, singles & last, forward, True)
            end = self._add_pawns(end, right & (ALL ^ last), forward + 1, False)
            end = self._add_pawns(end, left & (ALL ^ last), forward - 1, False)
            if self.ep_square != NO_SQUARE:
                capturers = self._en_passant_capturers()
                while capturers:
                    self.moves[end] = lsb(capturers) | (self.ep_square << 6) | (EN_PASSANT << 14)
                    end += 1
                    capturers &= capturers - 1
        if gen_type & QUIET:
            end = self._add_pawns(end, singles & (ALL ^ last), forward, False)
            end = self._add_pawns(end, doubles, forward + forward, False)
        return end

    def _en_passant_capturers(self) -> u64:
        """The pawns that may capture on `ep_square`.

        En passant removes two pieces from a rank, so test each capture for check with the occupancy after it.
        """
        us = self.turn
        them = us ^ 1
        target = self.ep_square
        captured = BB[target ^ 8]
        king = lsb(self.by_type[KING] & self.by_colour[us])
        # Only the captured pawn can be a checker that does not slide.
        stepping = self.by_type[KNIGHT] | self.by_type[PAWN]
        if self.checkers & stepping & (ALL ^ captured):
            return 0
        queens = self.by_type[QUEEN]
        diagonal = self.by_colour[them] & (self.by_type[BISHOP] | queens)
        straight = self.by_colour[them] & (self.by_type[ROOK] | queens)
        found: u64 = 0
        capturers = PAWN_ATTACKS[them * 64 + target] & self.by_type[PAWN] & self.by_colour[us]
        while capturers:
            origin = lsb(capturers)
            capturers &= capturers - 1
            occupied = (self.by_colour[0] | self.by_colour[1]) ^ captured ^ BB[origin] ^ BB[target]
            if bishop_attacks(king, occupied) & diagonal == 0 and rook_attacks(king, occupied) & straight == 0:
                found |= BB[origin]
        return found

    def _generate_castling(self, end: int) -> int:
        """Castling, called when not in check: king and rook paths empty, king path and target not attacked."""
        us = self.turn
        them = us ^ 1
        occupied = self.by_colour[0] | self.by_colour[1]
        king = lsb(self.by_type[KING] & self.by_colour[us])
        for side in range(2):
            index = side + 2 * them
            if self.castling_rights & (1 << index) == 0:
                continue
            rook = self.rook_squares[index]
            king_target = castled_king(king, rook)
            rook_target = castled_rook(king, rook)
            others = occupied ^ BB[king] ^ BB[rook]
            way = BETWEEN[king * 64 + king_target] | BB[king_target]
            if others & (way | BETWEEN[rook * 64 + rook_target] | BB[rook_target]):
                continue
            way &= ALL ^ BB[king_target]
            safe = True
            while way:
                if self._attacked(lsb(way), them, occupied ^ BB[king]):
                    safe = False
                    break
                way &= way - 1
            if safe and not self._attacked(king_target, them, others | BB[rook_target]):
                self.moves[end] = king | (rook << 6) | (CASTLING << 14)
                end += 1
        return end

    def is_noisy(self, move: int) -> bool:
        """Whether a move captures or promotes: a NOISY move of `generate`."""
        return (self.squares[to_square(move)] != 0 and move_type(move) != CASTLING) or (
            move_type(move) == PROMOTION or move_type(move) == EN_PASSANT
        )

    def is_legal(self, move: int) -> bool:
        """Whether any 16-bit number, such as a TT move or a killer, is a legal move here."""
        us = self.turn
        origin = from_square(move)
        target = to_square(move)
        piece = self.squares[origin]
        if move == 0 or piece == 0 or piece & 1 != us:
            return False
        if move >> 12:
            # Promotions, en passant and castling are rare: ask the generator.
            end = self.generate(NOISY | QUIET, SCRATCH)
            for index in range(SCRATCH, end):
                if self.moves[index] == move:
                    return True
            return False
        ours = self.by_colour[us]
        occupied = ours | self.by_colour[us ^ 1]
        if ours & BB[target]:
            return False
        king = lsb(self.by_type[KING] & ours)
        piece_type = piece >> 1
        if piece_type == KING:
            return KING_ATTACKS[king] & BB[target] != 0 and not self._attacked(target, us ^ 1, occupied ^ BB[king])
        if piece_type == PAWN:
            if BB[target] & (RANKS[0] | RANKS[7]):
                return False
            if PAWN_ATTACKS[us * 64 + origin] & BB[target]:
                if occupied & BB[target] == 0:
                    return False
            else:
                step = target - origin if us else origin - target
                if occupied & BB[target] or (step != 8 and step != 16):
                    return False
                if step == 16 and ((origin >> 3) != (1 if us else 6) or occupied & BB[(origin + target) >> 1]):
                    return False
        elif attacks_of(piece_type, origin, occupied) & BB[target] == 0:
            return False
        checkers = self.checkers
        if checkers & (checkers - 1):
            return False
        if checkers and (checkers | BETWEEN[king * 64 + lsb(checkers)]) & BB[target] == 0:
            return False
        return self.pinned & BB[origin] == 0 or LINE[king * 64 + origin] & BB[target] != 0

    def gives_check(self, move: int) -> bool:
        us = self.turn
        them = us ^ 1
        origin = from_square(move)
        target = to_square(move)
        king = lsb(self.by_type[KING] & self.by_colour[them])
        occupied = (self.by_colour[0] | self.by_colour[1]) ^ BB[origin]
        mover = self.squares[origin] >> 1
        queens = self.by_type[QUEEN]
        diagonal = (self.by_type[BISHOP] | queens) & self.by_colour[us] & (ALL ^ BB[origin])
        straight = (self.by_type[ROOK] | queens) & self.by_colour[us] & (ALL ^ BB[origin])
        if move_type(move) == CASTLING:
            occupied ^= BB[target]
            straight &= ALL ^ BB[target]
            rook_target = castled_rook(origin, target)
            occupied |= BB[castled_king(origin, target)] | BB[rook_target]
            straight |= BB[rook_target]
        else:
            occupied |= BB[target]
            if move_type(move) == EN_PASSANT:
                occupied ^= BB[target ^ 8]
            elif move_type(move) == PROMOTION:
                mover = promotion(move)
            if mover == PAWN:
                if PAWN_ATTACKS[us * 64 + target] & BB[king]:
                    return True
            elif mover == KNIGHT:
                if KNIGHT_ATTACKS[target] & BB[king]:
                    return True
            else:
                if mover in (BISHOP, QUEEN):
                    diagonal |= BB[target]
                if mover in (ROOK, QUEEN):
                    straight |= BB[target]
        if diagonal & BISHOP_PSEUDO_ATTACKS[king] and bishop_attacks(king, occupied) & diagonal:
            return True
        return straight & ROOK_PSEUDO_ATTACKS[king] != 0 and rook_attacks(king, occupied) & straight != 0
