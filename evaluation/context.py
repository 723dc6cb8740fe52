"""Shared data of the terms for one position. `begin` computes pawn attacks and areas; the terms add attacks and passed
pawns.
"""

from __future__ import annotations

from evaluation.base_board import BaseBoard
from evaluation.bitboards import ALL, FILES, KING, KING_ATTACKS, PAWN, file_fill, forward
from evaluation.typed import ints, lsb, u64, u64s


class EvaluationContext:
    """By colour: kings, attacks, and squares of interest. One search thread owns one.

    `mobility_area`: squares a piece can use, all but those of its own king and pawns and those that enemy pawns attack.
    `pawn_files`: all squares on files with a pawn of that colour.
    `king_zone`: the squares around the king and those one rank ahead. The mobility terms add to `attacked`,
    `attacked_twice`, `attacked_by`, `attack_units` and `king_attackers`. `attack_units` is how strongly that colour
    attacks the enemy king. `king_attackers` counts its pieces that attack the enemy king's zone, by type.

    `passed_pawns` is one set for both colours. `shelter_units` says how much the pawns around that colour's king are
    missing, `storm_units` how near enemy pawns are. `pawns_on_colour` counts that colour's pawns on dark and on light
    squares, `rammed_pawns` those on the files c to f that an enemy pawn blocks. `passed_pawn`, `king_shelter`,
    `pawn_storm` and `blocked_pawn` fill them, or the pawn hash table does. `pawn_storm` leaves the ranks that it has
    found in `storm_ranks`, for the terms after it.
    """

    king = ints(2)
    pawn_attacks = u64s(2)
    mobility_area = u64s(2)
    king_zone = u64s(2)
    pawn_files = u64s(2)
    attacked = u64s(2)
    attacked_by = u64s(16)  # [8 * colour + piece type], knights to queens
    attacked_twice = u64s(2)
    attack_units = ints(2)
    king_attackers = ints(16)  # [8 * colour + piece type], knights to queens
    pawns_on_colour = ints(4)  # [2 * colour + 1 for light squares]
    rammed_pawns = ints(2)
    storm_ranks = ints(6)  # [3 * colour + number of the file]
    shelter_units = ints(2)
    storm_units = ints(2)
    passed_pawns: u64

    def __init__(self) -> None:
        self.passed_pawns = 0

    def begin(self, board: BaseBoard) -> int:
        """Start a position: fill in kings, king zones, pawn sets and mobility areas, and clear what terms add to."""
        self.passed_pawns = 0
        for us in range(2):
            pawns = board.by_type[PAWN] & board.by_colour[us]
            king = board.by_type[KING] & board.by_colour[us]
            square = lsb(king)
            around = KING_ATTACKS[square]
            ahead = forward(pawns, us)
            leftward = (ahead & ~FILES[0]) >> 1
            rightward = (ahead & ~FILES[7]) << 1
            attacks = leftward | rightward
            self.king[us] = square
            self.king_zone[us] = around | forward(around, us)
            self.pawn_attacks[us] = attacks
            self.pawn_files[us] = file_fill(pawns)
            self.attacked[us] = attacks | around
            self.attacked_twice[us] = leftward & rightward | attacks & around
            self.attack_units[us] = 0
            self.mobility_area[us] = ALL ^ (pawns | king)
        self.mobility_area[0] &= ~self.pawn_attacks[1]
        self.mobility_area[1] &= ~self.pawn_attacks[0]
        return 0
