"""One move between two positions: from the difference of their keys alone, the reversible move that leads across.

`position` asks when it looks for a repetition that is one move away. What must stay true: a move is found exactly when
a knight, bishop, rook, queen or king, on an empty board, makes that difference by moving between two squares; both
directions of a move are one entry.

The table is a cuckoo hash of the 3668 such moves: each stands in one of two slots that its difference names, so a
look-up reads two words. The method was published by Marcel van Kervinck (2013).
"""

import cython

if not cython.compiled:
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
        u64,
    )

    SLOTS = 8192
    CUCKOO_KEYS = [0] * SLOTS
    CUCKOO_MOVES = [0] * SLOTS


def cuckoo_move(difference):
    """The move that makes a difference, as origin + 64 * target (either of its directions), or 0 if there is none."""
    slot: cython.int = difference & (SLOTS - 1)
    if CUCKOO_KEYS[slot] == difference:
        return CUCKOO_MOVES[slot]
    slot = (difference >> 16) & (SLOTS - 1)
    if CUCKOO_KEYS[slot] == difference:
        return CUCKOO_MOVES[slot]
    return 0


def _insert(difference, move):
    """Put an entry into its first slot; whatever was there moves to its other slot, and so on."""
    slot: cython.int = difference & (SLOTS - 1)
    while True:
        old_difference = CUCKOO_KEYS[slot]
        old_move = CUCKOO_MOVES[slot]
        CUCKOO_KEYS[slot] = difference
        CUCKOO_MOVES[slot] = move
        if old_move == 0:
            return 0
        first: cython.int = old_difference & (SLOTS - 1)
        slot = (old_difference >> 16) & (SLOTS - 1) if slot == first else first
        difference = old_difference
        move = old_move


def _fill():
    """Enter every move of every piece; returns how many there are."""
    entered = 0
    for code in range(4, 14):
        kind = code >> 1
        for origin in range(64):
            reached: u64 = 0
            if kind == KNIGHT:
                reached = KNIGHT_ATTACKS[origin]
            elif kind == KING:
                reached = KING_ATTACKS[origin]
            if kind == BISHOP or kind == QUEEN:
                reached |= BISHOP_PSEUDO_ATTACKS[origin]
            if kind == ROOK or kind == QUEEN:
                reached |= ROOK_PSEUDO_ATTACKS[origin]
            for target in range(origin + 1, 64):
                if reached & BB[target]:
                    change = ZOBRIST[code * 64 + origin] ^ ZOBRIST[code * 64 + target]
                    _insert(change ^ ZOBRIST_TURN, origin + 64 * target)
                    entered += 1
    return entered


_fill()
