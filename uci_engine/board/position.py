"""The bitboard position: moves made and taken back, keys, exchanges and draws, at compiled speed.

`search` and `ordering` play on it; `deepening` sets it up from a `chess.Board`. What must stay true: its legal moves
are python-chess's (see `generator`), its key is python-chess's Polyglot key after every move, and `unmake` restores
every field. `ChessPosition` has the same face with python-chess underneath; tests play the two against each other.
"""

import chess
import chess.polyglot
import cython

from uci_engine.board import moves as move_numbers

if not cython.compiled:
    from evaluation.bitboards import (
        ALL,
        BB,
        BETWEEN,
        BISHOP,
        BISHOP_PSEUDO_ATTACKS,
        KING,
        KING_ATTACKS,
        KNIGHT,
        KNIGHT_ATTACKS,
        LIGHT,
        PAWN,
        PAWN_ATTACKS,
        QUEEN,
        ROOK,
        ROOK_PSEUDO_ATTACKS,
        ZOBRIST,
        ZOBRIST_CASTLING,
        ZOBRIST_EN_PASSANT,
        ZOBRIST_TURN,
        bishop_attacks,
        i64,
        lsb,
        rook_attacks,
        u64,
    )
    from uci_engine.board.movegen import MoveGenerator
    from uci_engine.board.moves import CASTLING as IS_CASTLING
    from uci_engine.board.moves import EN_PASSANT as IS_EN_PASSANT
    from uci_engine.board.moves import NO_SQUARE, NOISY, QUIET, SCRATCH
    from uci_engine.board.moves import PROMOTION as IS_PROMOTION
    from uci_engine.board.upcoming_repetition import cuckoo_move

# Exchange values by piece type, in centipawns: the plain 1 3 3 5 9, because an exchange is about pieces, not squares.
SEE_VALUES = [0, 100, 300, 300, 500, 900, 0]
# Longest history of plies_from_null plies kept for repetitions, and the room for moves made in a search on top of it.
LONGEST_HISTORY = 512
STACK_SIZE = 1024


class Position(MoveGenerator):
    """A board for the search. All fields are readable; only the methods change them."""

    def __init__(self, piece_square):
        """`piece_square`: the packed weights that `Accumulator` wants."""
        MoveGenerator.__init__(self, piece_square)
        if not cython.compiled:
            self.kept_rights = [0] * 64
            self.keys = [0] * STACK_SIZE
            self.undo_checkers = [0] * STACK_SIZE
            self.undo_pinned = [0] * STACK_SIZE
            self.undo_state = [0] * STACK_SIZE
            self.undo_plies_from_null = [0] * STACK_SIZE
        self.set_board(chess.Board())

    # Set up ------------------------------------------------------------------------------------------------------

    def set_board(self, board):
        """Take over a validated `chess.Board` with as much of its history as can still repeat."""
        history = min(board.halfmove_clock, len(board.move_stack), LONGEST_HISTORY)
        base = board.copy(stack=history)
        replay = []
        while base.move_stack and base.peek():
            replay.append(base.pop())
        self._set_base(base)
        for move in reversed(replay):
            self.make(move_numbers.encode(base, move))
            base.push(move)

    def _set_base(self, board):
        self.set_pieces(board)
        self.castling = 0
        index: cython.int
        for index in range(64):
            self.kept_rights[index] = 15
        rights = board.clean_castling_rights()
        for index in range(4):
            colour = index < 2
            short = index % 2 == 0
            held = board.has_kingside_castling_rights(colour) if short else board.has_queenside_castling_rights(colour)
            if held:
                rooks = rights & board.occupied_co[colour]
                rook = chess.msb(rooks) if short else chess.lsb(rooks)
                right = 1 << index
                self.castling |= right
                self.rook_squares[index] = rook
                self.kept_rights[rook] &= 15 ^ right
                self.kept_rights[board.king(colour)] &= 15 ^ right
        self.en_passant = NO_SQUARE
        if board.ep_square is not None:
            capturers = board.pawns & board.occupied_co[board.turn]
            if capturers & chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square]:
                self.en_passant = board.ep_square
        self.halfmove = board.halfmove_clock
        self.plies_from_null = 0
        self.stack_index = 0
        self.key = chess.polyglot.zobrist_hash(board)
        self.keys[0] = self.key
        self._find_checkers()

    def sets(self):
        """Every field that a make and an unmake must leave as it was, as one tuple: for the tests."""
        kept = self.accumulator
        return (
            [self.by_type[kind] for kind in range(1, 7)],
            [self.by_colour[0], self.by_colour[1]],
            self.pieces(),
            (self.turn, self.castling, self.en_passant, self.halfmove, self.plies_from_null, self.stack_index),
            (self.key, self.checkers, self.pinned, kept.score, kept.phase, kept.pawn_key),
        )

    # Make and unmake ---------------------------------------------------------------------------------------------

    def _find_checkers(self):
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
        return 0

    def _save(self, captured):
        stack_index = self.stack_index
        self.undo_state[stack_index] = self.castling | (self.en_passant << 4) | (captured << 12) | (self.halfmove << 16)
        self.undo_plies_from_null[stack_index] = self.plies_from_null
        self.undo_checkers[stack_index] = self.checkers
        self.undo_pinned[stack_index] = self.pinned
        self.accumulator.save(stack_index)
        self.stack_index = stack_index + 1
        return 0

    def _restore(self):
        """Take back everything but the pieces; returns the code of the piece that was captured."""
        stack_index = self.stack_index - 1
        self.stack_index = stack_index
        state = self.undo_state[stack_index]
        self.castling = state & 15
        self.en_passant = (state >> 4) & 127
        self.halfmove = state >> 16
        self.plies_from_null = self.undo_plies_from_null[stack_index]
        self.key = self.keys[stack_index]
        self.checkers = self.undo_checkers[stack_index]
        self.pinned = self.undo_pinned[stack_index]
        self.accumulator.restore(stack_index)
        self.turn ^= 1
        return (state >> 12) & 15

    def key_after(self, move):
        """The key that a legal move leads to, but for castling, promotion, en passant and rights: to fetch ahead."""
        target = (move >> 6) & 63
        before = self.squares[move & 63] * 64
        captured = self.squares[target]
        key = self.key ^ ZOBRIST_TURN ^ ZOBRIST[before + (move & 63)] ^ ZOBRIST[before + target]
        return key ^ ZOBRIST[captured * 64 + target] if captured else key

    def make(self, move):
        """Play a legal move."""
        us = self.turn
        them = us ^ 1
        origin = move & 63
        target = (move >> 6) & 63
        kind = move >> 14
        code = self.squares[origin]
        captured = 0
        captured_square = target
        if kind != IS_CASTLING:
            if kind == IS_EN_PASSANT:
                captured_square = target ^ 8
            captured = self.squares[captured_square]
        self._save(captured)
        key = self.key ^ ZOBRIST_TURN
        if self.en_passant != NO_SQUARE:
            key ^= ZOBRIST_EN_PASSANT[self.en_passant & 7]
            self.en_passant = NO_SQUARE
        self.halfmove += 1
        self.plies_from_null += 1

        if captured:
            pieces = BB[captured_square]
            self.squares[captured_square] = 0
            self.by_type[captured >> 1] ^= pieces
            self.by_colour[them] ^= pieces
            key ^= ZOBRIST[captured * 64 + captured_square]
            self.accumulator.remove(captured, captured_square)
            self.halfmove = 0
            self.plies_from_null = 0

        if kind == IS_CASTLING:
            rook_code = 8 | us
            home = origin & 56
            king_target = home + (6 if target > origin else 2)
            rook_target = home + (5 if target > origin else 3)
            change = ZOBRIST[code * 64 + origin] ^ ZOBRIST[code * 64 + king_target]
            key ^= change ^ ZOBRIST[rook_code * 64 + target] ^ ZOBRIST[rook_code * 64 + rook_target]
            self.accumulator.move(code, origin, king_target)
            self.accumulator.move(rook_code, target, rook_target)
            self._move_castling(origin, target, False)
        else:
            pieces = BB[origin] | BB[target]
            self.squares[origin] = 0
            self.squares[target] = code
            self.by_type[code >> 1] ^= pieces
            self.by_colour[us] ^= pieces
            key ^= ZOBRIST[code * 64 + origin] ^ ZOBRIST[code * 64 + target]
            self.accumulator.move(code, origin, target)
            if code < 4:
                self.halfmove = 0
                self.plies_from_null = 0
                if kind == IS_PROMOTION:
                    promoted = ((((move >> 12) & 3) + 2) << 1) | us
                    self.squares[target] = promoted
                    self.by_type[PAWN] ^= BB[target]
                    self.by_type[promoted >> 1] ^= BB[target]
                    key ^= ZOBRIST[code * 64 + target] ^ ZOBRIST[promoted * 64 + target]
                    self.accumulator.remove(code, target)
                    self.accumulator.put(promoted, target)
                elif (origin ^ target) == 16:
                    behind = (origin + target) >> 1
                    if PAWN_ATTACKS[us * 64 + behind] & self.by_type[PAWN] & self.by_colour[them]:
                        self.en_passant = behind
                        key ^= ZOBRIST_EN_PASSANT[behind & 7]

        lost = self.castling & (15 ^ (self.kept_rights[origin] & self.kept_rights[target]))
        if lost:
            self.castling ^= lost
            for index in range(4):
                if lost & 1:
                    key ^= ZOBRIST_CASTLING[index]
                lost >>= 1
        self.turn = them
        self.key = key
        self.keys[self.stack_index] = key
        self._find_checkers()
        return 0

    def _move_castling(self, origin, target, back):
        """King and rook to their castled squares, or back; the squares may overlap in Chess960."""
        us = self.turn
        home = origin & 56
        king_target = home + (6 if target > origin else 2)
        rook_target = home + (5 if target > origin else 3)
        if back:
            self.squares[king_target] = self.squares[rook_target] = 0
            self.squares[origin] = 12 | us
            self.squares[target] = 8 | us
        else:
            self.squares[origin] = self.squares[target] = 0
            self.squares[king_target] = 12 | us
            self.squares[rook_target] = 8 | us
        kings = BB[origin] ^ BB[king_target]
        rooks = BB[target] ^ BB[rook_target]
        self.by_type[KING] ^= kings
        self.by_type[ROOK] ^= rooks
        self.by_colour[us] ^= kings ^ rooks
        return 0

    def unmake(self, move):
        """Take back the last move made."""
        captured = self._restore()
        us = self.turn
        origin = move & 63
        target = (move >> 6) & 63
        kind = move >> 14
        if kind == IS_CASTLING:
            self._move_castling(origin, target, True)
            return 0
        code = self.squares[target]
        if kind == IS_PROMOTION:
            self.by_type[code >> 1] ^= BB[target]
            self.by_type[PAWN] ^= BB[target]
            code = 2 | us
        pieces = BB[origin] | BB[target]
        self.squares[origin] = code
        self.squares[target] = 0
        self.by_type[code >> 1] ^= pieces
        self.by_colour[us] ^= pieces
        if captured:
            if kind == IS_EN_PASSANT:
                target ^= 8
            self.squares[target] = captured
            self.by_type[captured >> 1] ^= BB[target]
            self.by_colour[us ^ 1] ^= BB[target]
        return 0

    def make_null(self):
        """Pass. Never in check; positions before it no longer count as repeated."""
        self._save(0)
        key = self.key ^ ZOBRIST_TURN
        if self.en_passant != NO_SQUARE:
            key ^= ZOBRIST_EN_PASSANT[self.en_passant & 7]
            self.en_passant = NO_SQUARE
        self.halfmove += 1
        self.plies_from_null = 0
        self.turn ^= 1
        self.key = key
        self.keys[self.stack_index] = key
        self._find_checkers()
        return 0

    def unmake_null(self):
        """Take back a pass."""
        self._restore()
        return 0

    # Questions ---------------------------------------------------------------------------------------------------

    def see_at_least(self, move, threshold):
        """Whether the exchanges on a move's target come to at least `threshold` centipawns for the mover.

        Static exchange evaluation: each side recaptures with its least valuable piece and may stop when that is better.
        Pins are not looked at; castling counts as nothing won.
        """
        kind = move >> 14
        if kind == IS_CASTLING:
            return threshold <= 0
        us = self.turn
        origin = move & 63
        target = (move >> 6) & 63
        occupied = ((self.by_colour[0] | self.by_colour[1]) ^ BB[origin]) | BB[target]
        at_risk = SEE_VALUES[self.squares[origin] >> 1]
        balance = SEE_VALUES[self.squares[target] >> 1] - threshold
        if kind == IS_EN_PASSANT:
            balance += SEE_VALUES[1]
            occupied ^= BB[target ^ 8]
        elif kind == IS_PROMOTION:
            at_risk = SEE_VALUES[((move >> 12) & 3) + 2]
            balance += at_risk - SEE_VALUES[1]
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
            # `side` has just moved to the target and has balance + 1 or less; can the other side profit by taking?
            side ^= 1
            attackers &= occupied
            mine = attackers & self.by_colour[side]
            if mine == 0:
                break
            attacker = 1
            while mine & self.by_type[attacker] == 0:
                attacker += 1
            if attacker == KING and attackers & self.by_colour[side ^ 1]:
                break
            balance = -balance - 1 - SEE_VALUES[attacker]
            if balance >= 0:
                side ^= 1
                break
            occupied ^= BB[lsb(mine & self.by_type[attacker])]
            if attacker == PAWN or attacker == BISHOP or attacker == QUEEN:
                attackers |= bishop_attacks(target, occupied) & diagonal
            if attacker == ROOK or attacker == QUEEN:
                attackers |= rook_attacks(target, occupied) & straight
        return side != us

    def has_insufficient_material(self):
        """Whether no sequence of legal moves can mate: bare kings, one minor piece, or bishops of one square colour."""
        if self.by_type[PAWN] | self.by_type[ROOK] | self.by_type[QUEEN]:
            return False
        minors = self.by_type[KNIGHT] | self.by_type[BISHOP]
        if minors & (minors - 1) == 0:
            return True
        bishops = self.by_type[BISHOP]
        return self.by_type[KNIGHT] == 0 and (bishops & LIGHT == 0 or bishops & (ALL ^ LIGHT) == 0)

    def is_exhausted(self):
        """Whether the position is drawn by the fifty-move rule, which mate goes before, or by lack of material."""
        if self.halfmove >= 100 and (self.checkers == 0 or self.generate(NOISY | QUIET, SCRATCH) > SCRATCH):
            return True
        return self.has_insufficient_material()

    def is_draw(self, ply):
        """Whether the position is exhausted or repeated, `ply` moves from the root.

        One repetition inside the search is enough; of a position on the board before, it takes two.
        """
        if self.is_exhausted():
            return True
        limit = self.plies_from_null if self.plies_from_null < self.stack_index else self.stack_index
        seen_before = False
        distance = 4
        while distance <= limit:
            if self.keys[self.stack_index - distance] == self.key:
                if distance < ply or seen_before:
                    return True
                seen_before = True
            distance += 2
        return False

    def upcoming_repetition(self, ply):
        """Whether one reversible move of the side to move leads back to a position inside the search, less than `ply`
        moves ago: then a draw is at hand.
        """
        limit = self.plies_from_null if self.plies_from_null < self.stack_index else self.stack_index
        if limit >= ply:
            limit = ply - 1
        occupied = self.by_colour[0] | self.by_colour[1]
        distance = 3
        while distance <= limit:
            move = cuckoo_move(self.key ^ self.keys[self.stack_index - distance])
            if move and BETWEEN[move] & occupied == 0:
                # The piece stands on one of the two squares: it must be ours.
                if (BB[move & 63] | BB[move >> 6]) & self.by_colour[self.turn]:
                    return True
            distance += 2
        return False

    def has_non_pawn_material(self):
        """Whether the side to move has more than pawns and king: without that, passing may be the best move."""
        return self.by_colour[self.turn] & (ALL ^ (self.by_type[PAWN] | self.by_type[KING])) != 0

    def count(self, depth):
        """`perft` from here, without the GIL: for callers in Python. Overwrites the move buffer."""
        plies: cython.int = depth
        with cython.nogil:
            nodes = self.perft(plies, 0)
        return nodes

    def perft(self, depth, start):
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
