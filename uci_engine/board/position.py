"""The bitboard position: legal moves, make, unmake, keys, static exchange evaluation (SEE), draws and repetitions.

The search uses it. `set_board` copies a `chess.Board`. `ChessPosition` has the same interface with python-chess
underneath; tests compare the two.

Moves are the numbers of `moves`. The generator writes them into the flat buffer `moves` from an offset and returns the
end, so each ply has its own part. Moves are strictly legal: checkers and pinned pieces limit the targets.

Invariant: the key is `moves.key_of` after every move, and `unmake` restores every field. The moves are exactly
python-chess's, each once, and the buffer never holds more than MOVE_ROOM.
"""

from __future__ import annotations

import chess

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
    LIGHT,
    LINE,
    NOT_A,
    NOT_H,
    PAWN,
    PAWN_ATTACKS,
    QUEEN,
    RANKS,
    RISING,
    ROOK,
    ROOK_PSEUDO_ATTACKS,
    ZOBRIST,
    ZOBRIST_CASTLING,
    ZOBRIST_EN_PASSANT,
    ZOBRIST_TURN,
    attacks_of,
    bishop_attacks,
    rook_attacks,
)
from evaluation.base.typed import i64, i64s, ints, lsb, nogil, u64, u64s, void
from uci_engine import score as scores
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
    encode,
    from_square,
    key_of,
    move_type,
    promotion,
    to_square,
)
from uci_engine.score import FIFTY_MOVES_PLIES

SEE_VALUES = ints(7, scores.SEE_VALUES)
# The bits of `castling_rights` of each side.
WHITE_CASTLING = 3
BLACK_CASTLING = 12
# The number of positions on the stack: room for the history that is kept and for the moves of a search.
STACK_SIZE = 1024
# Maximum length of the history kept for repetitions, in plies: half of the stack.
MAX_HISTORY = STACK_SIZE // 2
# For upcoming repetitions: the difference of two keys, and the reversible move between their positions. It is a cuckoo
# hash of the 3668 moves of knights, bishops, rooks, queens and kings on an empty board, one entry for both directions.
# Each is in one of two slots given by its key, so a lookup reads two words. The method is Marcel van Kervinck's (2013).
CUCKOO_SLOTS = 8192
CUCKOO_KEYS = u64s(CUCKOO_SLOTS)
CUCKOO_MOVES = ints(CUCKOO_SLOTS)


class Position(BaseBoard):
    """A board for the search. All fields are readable. Only the methods change them; a new evaluation also replaces
    `piece_square`.

    `castling_rights` has four bits: White's kingside 1 and queenside 2, Black's kingside 4 and queenside 8.
    `rook_squares` holds the rooks of these rights in the same order. `ep_square` is the en-passant square when the side
    to move has a legal capture there, else NO_SQUARE.
    """

    checkers: u64
    pinned: u64
    castling_rights: int
    ep_square: int
    rook_squares = ints(4)
    moves = ints(MOVE_ROOM)
    key: u64
    halfmove_clock: int
    reversible_plies: int  # plies since the last capture, pawn move or null move
    castling_mask = ints(64)  # castling rights that survive a move from or to the square
    keys = u64s(STACK_SIZE)
    undo_checkers = u64s(STACK_SIZE)
    undo_pinned = u64s(STACK_SIZE)
    undo_state = ints(STACK_SIZE)
    undo_reversible_plies = ints(STACK_SIZE)
    undo_score = i64s(STACK_SIZE)
    undo_phase = ints(STACK_SIZE)
    undo_pawn_key = u64s(STACK_SIZE)
    undo_material_key = u64s(STACK_SIZE)
    undo_black_king_table = ints(STACK_SIZE)
    undo_white_king_table = ints(STACK_SIZE)

    def __init__(self, piece_square: list[int]) -> None:
        """`piece_square`: see `Weights.piece_square`."""
        BaseBoard.__init__(self, piece_square)
        self.set_board(chess.Board())

    # Set up ------------------------------------------------------------------------------------------------------

    def set_board(self, board: chess.Board) -> None:
        """Set up from a validated `chess.Board`, with the moves since the last irreversible one."""
        history = min(board.halfmove_clock, len(board.move_stack), MAX_HISTORY)
        base = board.copy(stack=history)
        replay = []
        while base.move_stack and base.peek():
            replay.append(base.pop())
        self._set_base(base)
        for move in reversed(replay):
            self.make(encode(base, move))
            base.push(move)

    def _set_base(self, board: chess.Board) -> None:
        self.set_pieces(board)
        self._set_castling(board)
        self.ep_square = NO_SQUARE
        if board.ep_square is not None and board.has_legal_en_passant():
            self.ep_square = board.ep_square
        self.halfmove_clock = board.halfmove_clock
        self.reversible_plies = 0
        self.stack_index = 0
        self.key = key_of(board)
        self.keys[0] = self.key
        self._find_checkers()

    def _set_castling(self, board: chess.Board) -> None:
        """Set the castling rights and their rooks."""
        self.castling_rights = 0
        index: int
        for index in range(64):
            self.castling_mask[index] = 15
        for rook in chess.scan_forward(board.clean_castling_rights()):
            colour = chess.WHITE if board.occupied_co[chess.WHITE] & chess.BB_SQUARES[rook] else chess.BLACK
            king = chess.msb(board.kings & board.occupied_co[colour])
            index = 2 * (not colour) + (rook < king)
            self.castling_rights |= 1 << index
            self.rook_squares[index] = rook
            self.castling_mask[rook] &= 15 ^ (1 << index)
            self.castling_mask[king] &= 15 ^ (1 << index)

    # Make and unmake ---------------------------------------------------------------------------------------------

    def _find_checkers(self) -> void:
        """The enemy pieces that give check to the side to move, and its own pieces pinned to their king."""
        us = self.turn
        theirs = self.by_colour[us ^ 1]
        occupied = self.by_colour[us] | theirs
        king = lsb(self.by_type[KING] & self.by_colour[us])
        queens = self.by_type[QUEEN]
        checkers = theirs & (
            (KNIGHT_ATTACKS[king] & self.by_type[KNIGHT]) | (PAWN_ATTACKS[us * 64 + king] & self.by_type[PAWN])
        )
        pinned: u64 = 0
        snipers = theirs & (
            (BISHOP_PSEUDO_ATTACKS[king] & (self.by_type[BISHOP] | queens))
            | (ROOK_PSEUDO_ATTACKS[king] & (self.by_type[ROOK] | queens))
        )
        while snipers:
            sniper = lsb(snipers)
            snipers &= snipers - 1
            between = BETWEEN[king * 64 + sniper] & occupied
            if between == 0:
                checkers |= BB[sniper]
            elif between & (between - 1) == 0:
                pinned |= between & self.by_colour[us]
        self.checkers = checkers
        self.pinned = pinned

    def _push_state(self, captured: int) -> void:
        stack_index = self.stack_index
        clock = self.halfmove_clock << 16
        self.undo_state[stack_index] = self.castling_rights | (self.ep_square << 4) | (captured << 12) | clock
        self.undo_reversible_plies[stack_index] = self.reversible_plies
        self.undo_checkers[stack_index] = self.checkers
        self.undo_pinned[stack_index] = self.pinned
        self.undo_score[stack_index] = self.score
        self.undo_phase[stack_index] = self.phase
        self.undo_pawn_key[stack_index] = self.pawn_key
        self.undo_material_key[stack_index] = self.material_key
        self.undo_black_king_table[stack_index] = self.black_king_table
        self.undo_white_king_table[stack_index] = self.white_king_table
        self.stack_index = stack_index + 1

    def _pop_state(self) -> int:
        """Pop the undo state. Returns the captured piece, or 0."""
        stack_index = self.stack_index - 1
        state = self.undo_state[stack_index]
        self.castling_rights = state & 15
        self.ep_square = (state >> 4) & 127
        self.halfmove_clock = state >> 16
        self.reversible_plies = self.undo_reversible_plies[stack_index]
        self.key = self.keys[stack_index]
        self.checkers = self.undo_checkers[stack_index]
        self.pinned = self.undo_pinned[stack_index]
        self.score = self.undo_score[stack_index]
        self.phase = self.undo_phase[stack_index]
        self.pawn_key = self.undo_pawn_key[stack_index]
        self.material_key = self.undo_material_key[stack_index]
        self.black_king_table = self.undo_black_king_table[stack_index]
        self.white_king_table = self.undo_white_king_table[stack_index]
        self.stack_index = stack_index
        return (state >> 12) & 15

    def key_after(self, move: int) -> u64:
        """The key after a legal move, for prefetching: castling, promotion, en passant and lost rights are left out."""
        target = to_square(move)
        before = self.squares[from_square(move)] * 64
        captured = self.squares[target]
        key = self.key ^ ZOBRIST_TURN ^ ZOBRIST[before + from_square(move)] ^ ZOBRIST[before + target]
        return key ^ ZOBRIST[captured * 64 + target] if captured else key

    def make(self, move: int) -> void:
        """Make a legal move."""
        us = self.turn
        them = us ^ 1
        origin = from_square(move)
        target = to_square(move)
        piece = self.squares[origin]
        captured = 0
        captured_square = target
        if move_type(move) != CASTLING:
            if move_type(move) == EN_PASSANT:
                captured_square = target ^ 8
            captured = self.squares[captured_square]
        self._push_state(captured)
        key = self.key ^ ZOBRIST_TURN
        if self.ep_square != NO_SQUARE:
            key ^= ZOBRIST_EN_PASSANT[self.ep_square & 7]
            self.ep_square = NO_SQUARE
        self.halfmove_clock += 1
        self.reversible_plies += 1

        if captured:
            self.remove(captured, captured_square)
            key ^= ZOBRIST[captured * 64 + captured_square]
            self.halfmove_clock = 0
            self.reversible_plies = 0

        if move_type(move) == CASTLING:
            rook = 2 * ROOK + us
            king_target = castled_king(origin, target)
            rook_target = castled_rook(origin, target)
            change = ZOBRIST[piece * 64 + origin] ^ ZOBRIST[piece * 64 + king_target]
            key ^= change ^ ZOBRIST[rook * 64 + target] ^ ZOBRIST[rook * 64 + rook_target]
            self._move_castling(us, origin, target, king_target, rook_target)
        else:
            pieces = BB[origin] | BB[target]
            self.squares[origin] = 0
            self.squares[target] = piece
            self.by_type[piece >> 1] ^= pieces
            self.by_colour[us] ^= pieces
            key ^= ZOBRIST[piece * 64 + origin] ^ ZOBRIST[piece * 64 + target]
            self.shift(piece, origin, target)
            if piece >> 1 == PAWN:
                self.halfmove_clock = 0
                self.reversible_plies = 0
                if move_type(move) == PROMOTION:
                    promoted = (promotion(move) << 1) | us
                    self.remove(piece, target)
                    self.put(promoted, target)
                    key ^= ZOBRIST[piece * 64 + target] ^ ZOBRIST[promoted * 64 + target]
                elif (origin ^ target) == 16:
                    behind = (origin + target) >> 1
                    if PAWN_ATTACKS[us * 64 + behind] & self.by_type[PAWN] & self.by_colour[them]:
                        self.ep_square = behind

        lost = self.castling_rights & (15 ^ (self.castling_mask[origin] & self.castling_mask[target]))
        if lost:
            self.castling_rights ^= lost
            for index in range(4):
                if lost & 1:
                    key ^= ZOBRIST_CASTLING[index]
                lost >>= 1
        self.turn = them
        self._find_checkers()
        if self.ep_square != NO_SQUARE:
            # A capture that is not legal makes no other position.
            if self._en_passant_capturers():
                key ^= ZOBRIST_EN_PASSANT[self.ep_square & 7]
            else:
                self.ep_square = NO_SQUARE
        self.key = key
        self.keys[self.stack_index] = key

    def _move_castling(self, us: int, king: int, rook: int, king_target: int, rook_target: int) -> void:
        """Move king and rook between their squares, which may overlap in Chess960."""
        self.remove(2 * KING + us, king)
        self.remove(2 * ROOK + us, rook)
        self.put(2 * KING + us, king_target)
        self.put(2 * ROOK + us, rook_target)

    def unmake(self, move: int) -> void:
        us = self.turn ^ 1
        self.turn = us
        origin = from_square(move)
        target = to_square(move)
        if move_type(move) == CASTLING:
            self._move_castling(us, castled_king(origin, target), castled_rook(origin, target), origin, target)
            self._pop_state()
            return
        captured = self._pop_state()
        piece = self.squares[target]
        if move_type(move) == PROMOTION:
            self.by_type[piece >> 1] ^= BB[target]
            self.by_type[PAWN] ^= BB[target]
            piece = 2 * PAWN + us
        pieces = BB[origin] | BB[target]
        self.squares[origin] = piece
        self.squares[target] = 0
        self.by_type[piece >> 1] ^= pieces
        self.by_colour[us] ^= pieces
        if captured:
            if move_type(move) == EN_PASSANT:
                target ^= 8
            self.squares[target] = captured
            self.by_type[captured >> 1] ^= BB[target]
            self.by_colour[us ^ 1] ^= BB[target]

    def make_null(self) -> void:
        """Make a null move, never in check. Positions before it no longer count as repeated."""
        self._push_state(0)
        key = self.key ^ ZOBRIST_TURN
        if self.ep_square != NO_SQUARE:
            key ^= ZOBRIST_EN_PASSANT[self.ep_square & 7]
            self.ep_square = NO_SQUARE
        self.halfmove_clock += 1
        self.reversible_plies = 0
        self.turn ^= 1
        self.key = key
        self.keys[self.stack_index] = key
        self._find_checkers()

    def unmake_null(self) -> void:
        self.turn ^= 1
        self._pop_state()

    # Legal moves -------------------------------------------------------------------------------------------------

    def legal_moves(self, gen_type: int = NOISY | QUIET) -> list[int]:
        """The legal moves as a list, for callers in Python."""
        end = self.generate(gen_type, 0)
        return [self.moves[index] for index in range(end)]

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

    def _add_pawns(self, end: int, targets: u64, step: int) -> int:
        while targets:
            target = lsb(targets)
            targets &= targets - 1
            move = (target - step) | (target << 6)
            if BB[target] & (RANKS[0] | RANKS[7]):
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

        # 2. Castling. In check, other pieces than the king must evade.
        if gen_type & QUIET and self.castling_rights & (WHITE_CASTLING if us else BLACK_CASTLING):
            end = self._generate_castling(end)
        evading = self._evading(king)
        if evading == 0:
            return end
        wanted &= evading

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
        return self._generate_pawns(end, gen_type)

    def _evading(self, king: int) -> u64:
        """Where a piece ends the check, by capture or by blocking: everywhere without one, nowhere in double check."""
        checkers = self.checkers
        if checkers == 0:
            return ALL
        return 0 if checkers & (checkers - 1) else checkers | BETWEEN[king * 64 + lsb(checkers)]

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

    def _generate_pawns(self, end: int, gen_type: int) -> int:
        """All pawn moves, set-wise. A pinned pawn may push on its king's file and capture along its diagonal."""
        us = self.turn
        ours = self.by_colour[us]
        theirs = self.by_colour[us ^ 1]
        empty = ALL ^ (ours | theirs)
        pawns = self.by_type[PAWN] & ours
        king = lsb(self.by_type[KING] & ours)
        evading = self._evading(king)
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
            right = ((risers & NOT_H) << 9) & catch
            left = ((fallers & NOT_A) << 7) & catch
            forward = 8
            last = RANKS[7]
        else:
            singles = (pushers >> 8) & empty
            doubles = ((singles & RANKS[5]) >> 8) & empty & evading
            singles &= evading
            right = ((fallers & NOT_H) >> 7) & catch
            left = ((risers & NOT_A) >> 9) & catch
            forward = -8
            last = RANKS[0]
        if gen_type & NOISY:
            end = self._add_pawns(end, right, forward + 1)
            end = self._add_pawns(end, left, forward - 1)
            end = self._add_pawns(end, singles & last, forward)
            if self.ep_square != NO_SQUARE:
                capturers = self._en_passant_capturers()
                while capturers:
                    self.moves[end] = lsb(capturers) | (self.ep_square << 6) | (EN_PASSANT << 14)
                    end += 1
                    capturers &= capturers - 1
        if gen_type & QUIET:
            end = self._add_pawns(end, singles & (ALL ^ last), forward)
            end = self._add_pawns(end, doubles, forward + forward)
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
        """Castling, not in check: king and rook paths empty, king path and target not attacked."""
        if self.checkers:
            return end
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
        piece_type = piece >> 1
        if piece_type == PAWN or move >> 12:
            # Ask the generator.
            end = SCRATCH
            if piece_type == PAWN:
                end = self._generate_pawns(end, NOISY if self.is_noisy(move) else QUIET)
            elif piece_type == KING:
                end = self._generate_castling(end)
            for index in range(SCRATCH, end):
                if self.moves[index] == move:
                    return True
            return False
        ours = self.by_colour[us]
        occupied = ours | self.by_colour[us ^ 1]
        if ours & BB[target]:
            return False
        king = lsb(self.by_type[KING] & ours)
        if piece_type == KING:
            return KING_ATTACKS[king] & BB[target] != 0 and not self._attacked(target, us ^ 1, occupied ^ BB[king])
        if attacks_of(piece_type, origin, occupied) & self._evading(king) & BB[target] == 0:
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

    # Questions ---------------------------------------------------------------------------------------------------

    def see_at_least(self, move: int, threshold: int) -> bool:
        """Static exchange evaluation (SEE): whether a move wins at least `threshold` centipawns by captures on its
        to-square.

        Each side recaptures with its least valuable piece, and stops when that is better. Pins are ignored; castling
        wins nothing.
        """
        if move_type(move) == CASTLING:
            return threshold <= 0
        us = self.turn
        origin = from_square(move)
        target = to_square(move)
        occupied = ((self.by_colour[0] | self.by_colour[1]) ^ BB[origin]) | BB[target]
        at_risk = SEE_VALUES[self.squares[origin] >> 1]
        balance = SEE_VALUES[self.squares[target] >> 1] - threshold
        if move_type(move) == EN_PASSANT:
            balance += SEE_VALUES[PAWN]
            occupied ^= BB[target ^ 8]
        elif move_type(move) == PROMOTION:
            at_risk = SEE_VALUES[promotion(move)]
            balance += at_risk - SEE_VALUES[PAWN]
        if balance < 0:
            return False
        balance -= at_risk
        if balance >= 0:
            return True
        queens = self.by_type[QUEEN]
        diagonal = self.by_type[BISHOP] | queens
        straight = self.by_type[ROOK] | queens
        attackers = (
            (KNIGHT_ATTACKS[target] & self.by_type[KNIGHT])
            | (KING_ATTACKS[target] & self.by_type[KING])
            | (PAWN_ATTACKS[target] & self.by_type[PAWN] & self.by_colour[1])
            | (PAWN_ATTACKS[64 + target] & self.by_type[PAWN] & self.by_colour[0])
            | (bishop_attacks(target, occupied) & diagonal)
            | (rook_attacks(target, occupied) & straight)
        )
        side = us
        while True:
            # `side` has captured last and is ahead by balance + 1 at most. Does the other side gain by recapturing?
            side ^= 1
            attackers &= occupied
            mine = attackers & self.by_colour[side]
            if mine == 0:
                break
            attacker = PAWN
            while mine & self.by_type[attacker] == 0:
                attacker += 1
            if attacker == KING and attackers & self.by_colour[side ^ 1]:
                break
            balance = -balance - 1 - SEE_VALUES[attacker]
            if balance >= 0:
                side ^= 1
                break
            occupied ^= BB[lsb(mine & self.by_type[attacker])]
            if attacker in (PAWN, BISHOP, QUEEN):
                attackers |= bishop_attacks(target, occupied) & diagonal
            if attacker in (ROOK, QUEEN):
                attackers |= rook_attacks(target, occupied) & straight
        return side != us

    def is_insufficient_material(self) -> bool:
        """Whether nobody can ever mate: bare kings, one minor piece, or bishops on squares of one colour."""
        if self.by_type[PAWN] | self.by_type[ROOK] | self.by_type[QUEEN]:
            return False
        minors = self.by_type[KNIGHT] | self.by_type[BISHOP]
        if minors & (minors - 1) == 0:
            return True
        bishops = self.by_type[BISHOP]
        return self.by_type[KNIGHT] == 0 and (bishops & LIGHT == 0 or bishops & (ALL ^ LIGHT) == 0)

    def is_fifty_moves(self) -> bool:
        """Whether the position is drawn by the fifty-move rule. Checkmate has priority."""
        return self.halfmove_clock >= FIFTY_MOVES_PLIES and (
            self.checkers == 0 or self.generate(NOISY | QUIET, SCRATCH) > SCRATCH
        )

    def is_draw(self, ply: int) -> bool:
        """Whether the position, `ply` moves below the root, is drawn by a rule other than stalemate."""
        return self.is_fifty_moves() or self.is_insufficient_material() or self.is_repetition(ply)

    def is_repetition(self, ply: int) -> bool:
        """Whether it is a twofold repetition inside the search, or a threefold one with the game."""
        limit = min(self.reversible_plies, self.stack_index)
        seen_before = False
        distance = 4
        while distance <= limit:
            if self.keys[self.stack_index - distance] == self.key:
                if distance < ply or seen_before:
                    return True
                seen_before = True
            distance += 2
        return False

    def upcoming_repetition(self, ply: int) -> bool:
        """Whether one reversible move leads back to a position inside the search, less than `ply` moves ago."""
        limit = min(self.reversible_plies, self.stack_index, ply - 1)
        occupied = self.by_colour[0] | self.by_colour[1]
        distance = 3
        while distance <= limit:
            move = cuckoo_move(self.key ^ self.keys[self.stack_index - distance])
            # The move's number is that of its pair of squares. The piece stands on one of them, and must belong to the
            # side to move.
            ends = BB[from_square(move)] | BB[to_square(move)]
            if move and BETWEEN[move] & occupied == 0 and ends & self.by_colour[self.turn]:
                return True
            distance += 2
        return False

    def has_non_pawn_material(self) -> bool:
        """Whether the side to move has more than pawns and king; without that, zugzwang is likely."""
        return self.by_colour[self.turn] & (ALL ^ (self.by_type[PAWN] | self.by_type[KING])) != 0

    def count(self, depth: int) -> i64:
        """`perft` from here, without the GIL: for callers in Python. Overwrites the move buffer."""
        with nogil:
            nodes = self.perft(depth, 0)
        return nodes

    def perft(self, depth: int, start: int) -> i64:
        """The number of legal move sequences of `depth` plies, the last ply counted without being played."""
        if depth <= 0:
            return 1
        end = self.generate(NOISY | QUIET, start)
        if depth == 1:
            return end - start
        nodes: i64 = 0
        for index in range(start, end):
            move = self.moves[index]
            self.make(move)
            nodes += self.perft(depth - 1, end)
            self.unmake(move)
        return nodes


def cuckoo_move(difference: u64) -> int:
    """The encoded move, in either direction, whose key difference this is, or 0."""
    slot: int = difference & (CUCKOO_SLOTS - 1)
    if CUCKOO_KEYS[slot] == difference:
        return CUCKOO_MOVES[slot]
    slot = (difference >> 16) & (CUCKOO_SLOTS - 1)
    if CUCKOO_KEYS[slot] == difference:
        return CUCKOO_MOVES[slot]
    return 0


def _insert_cuckoo(difference: u64, move: int) -> void:
    """Put an entry into its first slot. A displaced entry moves to its other slot, and so on (cuckoo hashing)."""
    slot: int = difference & (CUCKOO_SLOTS - 1)
    while True:
        old_difference = CUCKOO_KEYS[slot]
        old_move = CUCKOO_MOVES[slot]
        CUCKOO_KEYS[slot] = difference
        CUCKOO_MOVES[slot] = move
        if old_move == 0:
            return
        first: int = old_difference & (CUCKOO_SLOTS - 1)
        slot = (old_difference >> 16) & (CUCKOO_SLOTS - 1) if slot == first else first
        difference = old_difference
        move = old_move


def _fill_cuckoo() -> void:
    """Enter every move of every piece."""
    for piece in range(4, 14):
        for origin in range(64):
            reached = attacks_of(piece >> 1, origin, 0)
            for target in range(origin + 1, 64):
                if reached & BB[target]:
                    change = ZOBRIST[piece * 64 + origin] ^ ZOBRIST[piece * 64 + target]
                    _insert_cuckoo(change ^ ZOBRIST_TURN, origin + 64 * target)


_fill_cuckoo()
