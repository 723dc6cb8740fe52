"""What the terms read: their weights, and what they share for one position."""

from __future__ import annotations

from evaluation.base_board import BaseBoard
from evaluation.bitboards import ALL, FILES, KING, KING_ATTACKS, PAWN, file_fill, forward
from evaluation.catalogue import ACCUMULATED, CATALOGUE
from evaluation.constants import KING_ATTACK_UNITS
from evaluation.typed import i64, i64s, ints, lsb, u64, u64s
from evaluation.weights import Weights


class EvaluationContext:
    """By colour: kings, attacks, and squares of interest; then each term's weights, packed. A search thread owns one.

    `begin` starts a position, and the terms add to it.

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

    # The units of `king_attack`, which are no weights.
    attacker_units = ints(6)
    safe_check_units = ints(6)
    unsafe_check_units = ints(6)
    no_shelter_units = ints(8)
    near_storm_units = ints(8)
    attacked_twice_units: int
    weak_square_units: int
    pinned_units: int
    flank_attack_units: int
    flank_defence_units: int
    no_queen_units: int

    # The weights, in the order of the catalogue, but for the tables of squares, which are long.
    doubled_pawn: i64
    doubled_isolated_pawn: i64
    isolated_pawn: i64
    isolated_pawn_open = i64s(4)
    backward_pawn = i64s(16)
    connected_pawn = i64s(8)
    connected_pawn_opposed = i64s(8)
    phalanx_pawn = i64s(8)
    doubly_supported_pawn = i64s(8)
    pawn_lever = i64s(8)
    blocked_pawn = i64s(8)
    pawn_island: i64
    passed_pawn = i64s(8)
    passed_pawn_own_king = i64s(8)
    passed_pawn_enemy_king = i64s(8)
    protected_passed_pawn = i64s(8)
    connected_passed_pawn = i64s(8)
    king_shelter = i64s(32)
    pawn_storm = i64s(8)
    pawn_storm_by_file = i64s(32)
    blocked_storm = i64s(8)
    king_pawn_distance = i64s(8)
    own_pair = i64s(14)
    enemy_pair = i64s(10)
    knight_mobility = i64s(9)
    bishop_mobility = i64s(14)
    rook_mobility = i64s(15)
    queen_mobility = i64s(28)
    bishop_pair: i64
    rook_open_file: i64
    rook_half_open_file: i64
    safe_mobility = i64s(2)
    space = i64s(2)
    outpost = i64s(16)
    reachable_outpost = i64s(2)
    minor_behind_pawn = i64s(2)
    bishop_pawns = i64s(45)
    bishop_enemy_pawns = i64s(9)
    passed_pawn_blocked = i64s(8)
    passed_pawn_free = i64s(8)
    passed_pawn_enemy_ahead = i64s(8)
    passed_pawn_path = i64s(32)
    rook_behind_passed_pawn = i64s(16)
    safe_check = i64s(4)
    king_attack = i64s(64)
    threat_by_pawn = i64s(10)
    threat_by_push = i64s(6)
    threat_by_minor = i64s(10)
    threat_by_rook = i64s(10)
    hanging: i64
    threat_by_king = i64s(5)
    restricted_square: i64
    queen_attackable = i64s(3)
    tempo: i64
    mop_up_edge: i64
    mop_up_near: i64
    mop_up_corner: i64
    pawn_pair = i64s(4096)
    pawn_against_pawn = i64s(4096)
    pawn_by_own_king = i64s(4096)
    pawn_by_enemy_king = i64s(4096)

    def __init__(self, weights: Weights) -> None:
        self.passed_pawns = 0
        for term in CATALOGUE:
            if term.group != ACCUMULATED:
                packed = weights.packed(term.name)
                setattr(self, term.name, packed if term.size > 1 else packed[0])
        for name, units in KING_ATTACK_UNITS.items():
            setattr(self, name, list(units) if len(units) > 1 else units[0])

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
