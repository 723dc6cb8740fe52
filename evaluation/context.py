"""The input of the terms: their weights, and findings about one position that several of them need."""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    ALL,
    KING,
    KING_ATTACKS,
    PAWN,
    file_fill,
    forward,
    pawn_attacks,
    pawn_double_attacks,
)
from evaluation.base.typed import i64, i64s, ints, lsb, u64, u64s, void
from evaluation.catalogue import ACCUMULATED, CATALOGUE
from evaluation.weights import Weights


class EvaluationContext:
    """Shared findings, most of them by colour; then each term's weights, packed. A search thread owns one.

    `begin` starts a position, and the terms add to it.
    """

    king = ints(2)
    pawn_attacks = u64s(2)
    # All squares but the own king and pawns, and the attacks of enemy pawns.
    mobility_area = u64s(2)
    # The squares around the king, and one rank ahead of them.
    king_zone = u64s(2)
    # All squares on files with a pawn of that colour.
    pawn_files = u64s(2)

    # The terms of mobility add to these. The last counts the pieces that attack the zone of the enemy king.
    attacked = u64s(2)
    attacked_twice = u64s(2)
    attacked_by = u64s(16)  # [8 * colour + piece type], knights to queens
    king_attackers = ints(16)  # [8 * colour + piece type], knights to queens

    # Terms of pawns and kings fill these, or the pawn hash table does.
    passed_pawns: u64  # of both colours
    pawn_danger = ints(2)  # units for the pawns missing around that colour's king, and for enemy pawns near it

    # The weights, in the order of the catalogue, with the long tables of squares last.
    doubled_pawn = i64s(2)
    isolated_pawn = i64s(5)
    backward_pawn = i64s(16)
    connected_pawn = i64s(16)
    phalanx_pawn = i64s(8)
    doubly_supported_pawn = i64s(8)
    pawn_lever = i64s(8)
    blocked_pawn = i64s(8)
    pawn_island: i64
    passed_pawn = i64s(32)
    passed_pawn_kings = i64s(16)
    king_shelter = i64s(32)
    pawn_storm = i64s(64)
    king_pawn_distance = i64s(8)
    own_pair = i64s(14)
    enemy_pair = i64s(10)
    knight_mobility = i64s(9)
    bishop_mobility = i64s(14)
    rook_mobility = i64s(15)
    queen_mobility = i64s(28)
    bishop_pair: i64
    rook_open_file = i64s(2)
    safe_mobility = i64s(2)
    space = i64s(2)
    outpost = i64s(16)
    reachable_outpost = i64s(2)
    minor_behind_pawn = i64s(2)
    bishop_pawns = i64s(45)
    bishop_enemy_pawns = i64s(9)
    passed_pawn_blocked = i64s(16)
    passed_pawn_path = i64s(40)
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
    mop_up = i64s(3)
    pawn_pair = i64s(4096)
    pawn_against_pawn = i64s(4096)
    pawn_by_own_king = i64s(4096)
    pawn_by_enemy_king = i64s(4096)

    def __init__(self, weights: Weights) -> None:
        self.passed_pawns = 0
        for term in CATALOGUE:
            if term.group != ACCUMULATED:
                packed = weights.packed[term.name]
                setattr(self, term.name, packed if term.size > 1 else packed[0])

    def begin(self, board: BaseBoard) -> void:
        """Start a position: fill in kings, king zones, pawn sets and mobility areas, and clear what terms add to."""
        self.passed_pawns = 0
        for us in range(2):
            pawns = board.by_type[PAWN] & board.by_colour[us]
            king = board.by_type[KING] & board.by_colour[us]
            square = lsb(king)
            around = KING_ATTACKS[square]
            attacks = pawn_attacks(pawns, us)
            self.king[us] = square
            self.king_zone[us] = around | forward(around, us)
            self.pawn_attacks[us] = attacks
            self.pawn_files[us] = file_fill(pawns)
            self.attacked[us] = attacks | around
            self.attacked_twice[us] = pawn_double_attacks(pawns, us) | attacks & around
            self.mobility_area[us] = ALL ^ (pawns | king)
        self.mobility_area[0] &= ~self.pawn_attacks[1]
        self.mobility_area[1] &= ~self.pawn_attacks[0]
