"""The search stack: what the search keeps of each ply on the way from the root to the current node.

One `SearchStack` belongs to one `Searcher`. The search, the move picker and the histories write it. Every field is a
flat array indexed by ply.
"""

from __future__ import annotations

from evaluation.base.bitboards import (
    BB,
    BISHOP,
    KING,
    KING_ATTACKS,
    KNIGHT,
    KNIGHT_ATTACKS,
    PAWN,
    PAWN_ATTACKS,
    QUEEN,
    ROOK,
    attacks_of,
    bishop_attacks,
    pawn_attacks,
    rook_attacks,
)
from evaluation.base.typed import ints, lsb, u64s, void
from uci_engine.board.moves import from_square, to_square
from uci_engine.board.position import Position
from uci_engine.score import MAX_PLY, NO_SCORE

# The histories read up to four plies back. The entries before the root are padding and never written.
PLIES_BACK = 4
# Maximum number of searched moves kept per node, for the malus.
MAX_SEARCHED = 96


class SearchStack:
    """The search stack over one position. Plies run from 0 (the root) to 127."""

    position: Position
    static_eval = ints(MAX_PLY)  # NO_SCORE in check
    move = ints(MAX_PLY)  # the move being searched, 0 for a null move
    is_quiet = ints(MAX_PLY)  # whether that move is quiet
    move_count = ints(MAX_PLY)  # its number in the order of the moves, from 1; not for a null move
    reduction = ints(MAX_PLY)  # by how many plies its search is reduced, 0 outside such a search
    moved_piece_to = ints(MAX_PLY + PLIES_BACK)  # [ply + PLIES_BACK]: piece type * 64 + to-square of that move
    attacked = u64s(MAX_PLY)  # squares that the side not to move attacks, see `find_threats`
    threats = u64s(8 * MAX_PLY)  # [ply * 8 + piece type]: squares attacked by enemy pieces of less value
    checks = u64s(8 * MAX_PLY)  # [ply * 8 + piece type]: squares where such a piece gives check, see `find_threats`
    excluded_move = ints(MAX_PLY)  # the TT move, during a singular search
    double_extensions = ints(MAX_PLY)  # number of them on the line to the move being searched
    cutoff_count = ints(MAX_PLY)  # number of cutoffs at this ply below the node two plies up
    killers = ints(2 * MAX_PLY)  # [ply * 2 + n]
    searched_count = ints(MAX_PLY)  # number of searched moves
    searched = ints(MAX_PLY * MAX_SEARCHED)  # [ply * MAX_SEARCHED + n]
    pv_length = ints(MAX_PLY)  # of the principal variation (PV) from this ply on
    pv_table = ints(MAX_PLY * MAX_PLY)  # [ply * MAX_PLY + n]

    def __init__(self, position: Position) -> None:
        self.position = position

    def clear(self) -> void:
        for ply in range(MAX_PLY):
            self.move[ply] = 0
            self.is_quiet[ply] = 0
            self.move_count[ply] = 0
            self.reduction[ply] = 0
            self.moved_piece_to[ply + PLIES_BACK] = 0
            self.excluded_move[ply] = 0
            self.double_extensions[ply] = 0
            self.cutoff_count[ply] = 0
            self.killers[2 * ply] = 0
            self.killers[2 * ply + 1] = 0

    def set_move(self, ply: int, move: int, is_quiet: bool) -> void:
        """Record a move that is about to be made."""
        self.move[ply] = move
        self.is_quiet[ply] = is_quiet
        piece = self.position.squares[from_square(move)]
        self.moved_piece_to[ply + PLIES_BACK] = ((piece >> 1) << 6) | to_square(move)

    def set_null_move(self, ply: int) -> void:
        self.move[ply] = 0
        self.is_quiet[ply] = 0
        self.moved_piece_to[ply + PLIES_BACK] = 0

    def find_threats(self, ply: int) -> void:
        """Set `attacked`, `threats` and `checks` of a ply for the position as it is."""
        us = self.position.turn
        theirs = self.position.by_colour[1 - us]
        occupied = theirs | self.position.by_colour[us]
        attacks = pawn_attacks(theirs & self.position.by_type[PAWN], 1 - us)
        for piece_type in range(KNIGHT, KING):
            self.threats[8 * ply + piece_type] = attacks
            pieces = theirs & self.position.by_type[piece_type]
            while pieces:
                attacks |= attacks_of(piece_type, lsb(pieces), occupied)
                pieces &= pieces - 1
        # A bishop is worth no more than a knight.
        self.threats[8 * ply + BISHOP] = self.threats[8 * ply + KNIGHT]
        king = lsb(theirs & self.position.by_type[KING])
        self.attacked[ply] = attacks | KING_ATTACKS[king]
        diagonal = bishop_attacks(king, occupied)
        straight = rook_attacks(king, occupied)
        self.checks[8 * ply + PAWN] = PAWN_ATTACKS[64 * (1 - us) + king]
        self.checks[8 * ply + KNIGHT] = KNIGHT_ATTACKS[king]
        self.checks[8 * ply + BISHOP] = diagonal
        self.checks[8 * ply + ROOK] = straight
        self.checks[8 * ply + QUEEN] = diagonal | straight

    def gives_check(self, ply: int, move: int) -> bool:
        """Whether a legal move of a ply gives check. Call `find_threats` before.

        A move of another type, or from a line to the king, may give check by another piece: the position has to look.
        """
        origin = from_square(move)
        if move >> 12 or self.checks[8 * ply + QUEEN] & BB[origin]:
            return self.position.gives_check(move)
        return self.checks[8 * ply + (self.position.squares[origin] >> 1)] & BB[to_square(move)] != 0

    def add_killer(self, ply: int, move: int) -> void:
        """Make a quiet move the first killer of a ply; the old first becomes the second."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move

    def begin_moves(self, ply: int) -> void:
        """Before the moves of a ply: none has been searched, and the killers of the next ply are from another part of
        the tree.
        """
        self.searched_count[ply] = 0
        self.killers[2 * ply + 2] = 0
        self.killers[2 * ply + 3] = 0

    def add_searched(self, ply: int, move: int) -> void:
        """Record a move of this ply that has been searched and did not fail high."""
        count = self.searched_count[ply]
        if count < MAX_SEARCHED:
            self.searched[ply * MAX_SEARCHED + count] = move
            self.searched_count[ply] = count + 1

    def update_pv(self, ply: int, move: int) -> void:
        """Set the PV of this ply to the move and the PV of the next ply."""
        base = ply * MAX_PLY
        length = self.pv_length[ply + 1]
        self.pv_table[base] = move
        for index in range(length):
            self.pv_table[base + 1 + index] = self.pv_table[base + MAX_PLY + index]
        self.pv_length[ply] = length + 1

    def is_improving(self, ply: int) -> bool:
        """Whether the static eval is higher than at this side's last move, or if that was in check at the one before.

        True where neither has one.
        """
        before = NO_SCORE
        if ply >= 2:
            before = self.static_eval[ply - 2]
        if ply >= 4 and before == NO_SCORE:
            before = self.static_eval[ply - 4]
        return self.static_eval[ply] > before

    def previous_to_square(self, ply: int) -> int:
        """The to-square of the move before a ply.

        0 (a1) after a null move and at the root, so quiescence then treats a capture on a1 as a recapture.
        """
        return self.moved_piece_to[ply + PLIES_BACK - 1] & 63
