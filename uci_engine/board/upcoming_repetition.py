"""Upcoming repetitions: from the difference of two keys, the reversible move that leads from one position to the other.

`Position.upcoming_repetition` looks up whether a repetition is one move away. The table is a cuckoo hash of the 3668
moves of knights, bishops, rooks, queens and kings on an empty board, one entry for both directions. Each entry is in
one of two slots given by its key, so a lookup reads two words. Marcel van Kervinck published the method (2013).
"""

from __future__ import annotations

from evaluation.bitboards import (
    BB,
    BISHOP,
    BISHOP_PSEUDO_ATTACKS,
    KING,
    KING_ATTACKS,
    KNIGHT,
    KNIGHT_ATTACKS,
    QUEEN,
    ROOK,
    ROOK_PSEUDO_ATTACKS,
    ZOBRIST,
    ZOBRIST_TURN,
)
from evaluation.typed import ints, u64, u64s

SLOTS = 8192
CUCKOO_KEYS = u64s(SLOTS)
CUCKOO_MOVES = ints(SLOTS)


def cuckoo_move(difference: u64) -> int:
    """The encoded move, in either direction, whose key difference this is, or 0."""
    slot: int = difference & (SLOTS - 1)
    if CUCKOO_KEYS[slot] == difference:
        return CUCKOO_MOVES[slot]
    slot = (difference >> 16) & (SLOTS - 1)
    if CUCKOO_KEYS[slot] == difference:
        return CUCKOO_MOVES[slot]
    return 0


def _insert(difference: u64, move: int) -> int:
    """Put an entry into its first slot. A displaced entry moves to its other slot, and so on (cuckoo hashing)."""
    slot: int = difference & (SLOTS - 1)
    while True:
        old_difference = CUCKOO_KEYS[slot]
        old_move = CUCKOO_MOVES[slot]
        CUCKOO_KEYS[slot] = difference
        CUCKOO_MOVES[slot] = move
        if old_move == 0:
            return 0
        first: int = old_difference & (SLOTS - 1)
        slot = (old_difference >> 16) & (SLOTS - 1) if slot == first else first
        difference = old_difference
        move = old_move


def _fill() -> int:
    """Enter every move of every piece; returns the number of entries."""
    entered = 0
    for piece in range(4, 14):
        piece_type = piece >> 1
        for origin in range(64):
            reached: u64 = 0
            if piece_type == KNIGHT:
                reached = KNIGHT_ATTACKS[origin]
            elif piece_type == KING:
                reached = KING_ATTACKS[origin]
            if piece_type in (BISHOP, QUEEN):
                reached |= BISHOP_PSEUDO_ATTACKS[origin]
            if piece_type in (ROOK, QUEEN):
                reached |= ROOK_PSEUDO_ATTACKS[origin]
            for target in range(origin + 1, 64):
                if reached & BB[target]:
                    change = ZOBRIST[piece * 64 + origin] ^ ZOBRIST[piece * 64 + target]
                    _insert(change ^ ZOBRIST_TURN, origin + 64 * target)
                    entered += 1
    return entered


_fill()
