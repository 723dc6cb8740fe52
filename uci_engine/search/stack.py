"""The search stack: what the search keeps of each ply on the way from the root to the current node.

One `SearchStack` belongs to one `Searcher`. The search, the move picker and the histories write it; the correction
history reads it. Every field is a flat array indexed by ply.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from evaluation.bitboards import (
        BISHOP,
        KING,
        KING_ATTACKS,
        KNIGHT,
        KNIGHT_ATTACKS,
        PAWN,
        QUEEN,
        ROOK,
        bishop_attacks,
        lsb,
        pawn_attacks,
        rook_attacks,
    )
    from uci_engine.board.moves import from_square, to_square

    PLIES = 128
    # Continuation history reads up to four plies back. The entries before the root are padding and never written.
    PLIES_BACK = 4
    # Maximum number of searched moves kept per node, for the malus.
    MAX_QUIETS = 64
    MAX_CAPTURES = 32


class SearchStack:
    """The search stack over one position. Plies run from 0 (the root) to 127."""

    def __init__(self, position):
        self.position = position
        if not cython.compiled:
            self.static_eval = [0] * PLIES
            self.move = [0] * PLIES
            self.is_quiet = [0] * PLIES
            self.moved_piece_to = [0] * (PLIES + PLIES_BACK)
            self.attacked = [0] * PLIES
            self.threats = [0] * (8 * PLIES)
            self.excluded_move = [0] * PLIES
            self.double_extensions = [0] * PLIES
            self.cutoff_count = [0] * PLIES
            self.killers = [0] * (2 * PLIES)
            self.quiet_count = [0] * PLIES
            self.capture_count = [0] * PLIES
            self.quiets_searched = [0] * (PLIES * MAX_QUIETS)
            self.captures_searched = [0] * (PLIES * MAX_CAPTURES)

    def clear(self) -> cython.int:
        """Reset for a new search."""
        for ply in range(PLIES):
            self.move[ply] = 0
            self.is_quiet[ply] = 0
            self.moved_piece_to[ply + PLIES_BACK] = 0
            self.excluded_move[ply] = 0
            self.double_extensions[ply] = 0
            self.cutoff_count[ply] = 0
            self.clear_killers(ply)
        return 0

    def set_move(self, ply: cython.int, move: cython.int, is_quiet: cython.bint) -> cython.int:
        """Record a move that is about to be made."""
        self.move[ply] = move
        self.is_quiet[ply] = is_quiet
        piece = self.position.squares[from_square(move)]
        self.moved_piece_to[ply + PLIES_BACK] = ((piece >> 1) << 6) | to_square(move)
        return 0

    def set_null_move(self, ply: cython.int) -> cython.int:
        """Record a null move that is about to be made."""
        self.move[ply] = 0
        self.is_quiet[ply] = 0
        self.moved_piece_to[ply + PLIES_BACK] = 0
        return 0

    def find_threats(self, ply: cython.int) -> cython.int:
        """Set `attacked` and `threats` of a ply for the position as it is."""
        us = self.position.turn
        theirs = self.position.by_colour[1 - us]
        occupied = theirs | self.position.by_colour[us]
        attacks = pawn_attacks(theirs & self.position.by_type[PAWN], 1 - us)
        self.threats[8 * ply + KNIGHT] = attacks
        self.threats[8 * ply + BISHOP] = attacks
        pieces = theirs & self.position.by_type[KNIGHT]
        while pieces:
            attacks |= KNIGHT_ATTACKS[lsb(pieces)]
            pieces &= pieces - 1
        pieces = theirs & self.position.by_type[BISHOP]
        while pieces:
            attacks |= bishop_attacks(lsb(pieces), occupied)
            pieces &= pieces - 1
        self.threats[8 * ply + ROOK] = attacks
        pieces = theirs & self.position.by_type[ROOK]
        while pieces:
            attacks |= rook_attacks(lsb(pieces), occupied)
            pieces &= pieces - 1
        self.threats[8 * ply + QUEEN] = attacks
        pieces = theirs & self.position.by_type[QUEEN]
        while pieces:
            square = lsb(pieces)
            attacks |= bishop_attacks(square, occupied) | rook_attacks(square, occupied)
            pieces &= pieces - 1
        self.attacked[ply] = attacks | KING_ATTACKS[lsb(theirs & self.position.by_type[KING])]
        return 0

    def add_killer(self, ply: cython.int, move: cython.int) -> cython.int:
        """Make a quiet move the first killer of a ply; the old first becomes the second."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move
        return 0

    def clear_killers(self, ply: cython.int) -> cython.int:
        """Clear the killers of a ply, because they come from another part of the tree."""
        self.killers[2 * ply] = 0
        self.killers[2 * ply + 1] = 0
        return 0

    def add_searched(self, ply: cython.int, move: cython.int, quiet: cython.bint) -> cython.int:
        """Record a move of this ply that has been searched and did not fail high."""
        if quiet:
            count = self.quiet_count[ply]
            if count < MAX_QUIETS:
                self.quiets_searched[ply * MAX_QUIETS + count] = move
                self.quiet_count[ply] = count + 1
        else:
            count = self.capture_count[ply]
            if count < MAX_CAPTURES:
                self.captures_searched[ply * MAX_CAPTURES + count] = move
                self.capture_count[ply] = count + 1
        return 0

    def previous_to_square(self, ply: cython.int) -> cython.int:
        """The to-square of the move before a ply.

        0 (a1) after a null move and at the root, so quiescence then treats a capture on a1 as a recapture.
        """
        return self.moved_piece_to[ply + PLIES_BACK - 1] & 63

    def last_two_moves(self, ply: cython.int) -> cython.int:
        """The last two moves before a ply (piece type and to-square) packed into 18 bits."""
        return (self.moved_piece_to[ply + PLIES_BACK - 1] << 9) | self.moved_piece_to[ply + PLIES_BACK - 2]
