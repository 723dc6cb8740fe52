"""What the terms of the evaluation share about one position: `begin` starts it, and terms add what they find."""

import cython

if not cython.compiled:
    from evaluation.bitboards import ALL, KING, KING_ATTACKS, PAWN, forward, lsb, pawn_attacks


class EvaluationContext:
    """By colour: kings, attacks, and squares of interest. One search thread owns one.

    `mobility_area`: squares a piece can use, all but those of its own king and pawns and those that enemy pawns attack.
    `king_zone`: the squares around the king and those one rank ahead. `attacked` and `attacked_by` grow as the mobility
    terms are called, `attack_units` too: how strongly that colour attacks the enemy king. `passed_pawns` is for both
    colours.
    """

    def __init__(self):
        self.passed_pawns = 0
        if not cython.compiled:
            self.king = [0, 0]
            self.pawn_attacks = [0, 0]
            self.mobility_area = [0, 0]
            self.king_zone = [0, 0]
            self.attacked = [0, 0]
            self.attacked_by = [0] * 16
            self.attack_units = [0, 0]

    def begin(self, board):
        """Note what does not depend on any term: kings and their zones, pawn attacks, mobility areas."""
        for us in range(2):
            pawns = board.by_type[PAWN] & board.by_colour[us]
            king = board.by_type[KING] & board.by_colour[us]
            square = lsb(king)
            around = KING_ATTACKS[square]
            attacks = pawn_attacks(pawns, us)
            self.king[us] = square
            self.king_zone[us] = around | forward(around, us)
            self.pawn_attacks[us] = attacks
            self.attacked[us] = attacks | around
            self.attack_units[us] = 0
            self.mobility_area[us] = ALL ^ (pawns | king)
        self.mobility_area[0] &= ~self.pawn_attacks[1]
        self.mobility_area[1] &= ~self.pawn_attacks[0]
        return 0
