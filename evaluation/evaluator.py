"""The static evaluation: terms, summed, tapered between middlegame and endgame, from the side to move's view.

The search calls it at almost every node. `evaluation.evaluate` and `explain` call it too.

Invariant: the score depends only on the pieces and the side to move (the pawn hash table only saves time). It is
symmetric: mirroring board and colours gives the same score. It stays strictly within ±STATIC_LIMIT, below every mate
score.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import ALL
from evaluation.base.constants import FULL_PHASE, FULL_SCALE, FULL_SHARE, STATIC_LIMIT, WON_KPK_CP
from evaluation.base.typed import i64, u64s
from evaluation.context import EvaluationContext
from evaluation.network.file import MAX_TERMS_CP
from evaluation.network.inference import Inference, NetworkWeights
from evaluation.terms import endgames, king, pawns, pieces, threats
from evaluation.terms.endgames import BLACK_WINS, DRAWN, WHITE_WINS, KpkBitbase, endgame_scale
from evaluation.weights import Weights

# To unpack a score (see `evaluation.weights`): half the range of the lower 32 bits, and their mask.
HALF: i64 = 1 << 31
MASK: i64 = (1 << 32) - 1

# The material hash table. The index is key * factor >> shift; an entry is key, packed score.
MATERIAL_ENTRIES = 1024
MATERIAL_SHIFT = 54
MATERIAL_FACTOR = 0x9E3779B97F4A7C15

# The pawn hash table. An entry is key, passed pawns, packed score, danger of both kings by pawns.
PAWN_ENTRIES = 8192


def middlegame_share(phase: int) -> int:
    """The share of the middlegame in a tapered score, in 256ths; the endgame has the rest."""
    return FULL_SHARE if phase > FULL_PHASE else phase * 32 // 3


class Evaluator:
    """The terms and their sum, made from an `evaluation.weights.Weights`. One search thread owns one.

    Every board must have one king a side.
    """

    context: EvaluationContext
    kpk: KpkBitbase
    network: Inference | None  # None when it is off
    material_hash = u64s(2 * MATERIAL_ENTRIES)
    pawn_hash = u64s(4 * PAWN_ENTRIES)

    def __init__(self, weights: Weights, network: NetworkWeights | None = None) -> None:
        """`network`: the network whose output is added; None: the terms alone."""
        self.network = None if network is None else Inference(network)
        self.context = EvaluationContext(weights)
        self.kpk = KpkBitbase()

    def evaluate(self, board: BaseBoard) -> int:
        """Centipawns from the side to move's view, strictly within ±STATIC_LIMIT.

        King and pawn against king is exact: a drawn one scores 0, a won one gets a bonus of WON_KPK_CP.
        """
        value = self.score_of_terms(self.taper(board, self.sum_of_terms(board)), self.kpk.result(board))
        score = value if board.turn else -value
        return score + self.network_score(board, score)

    def network_score(self, board: BaseBoard, terms_cp: int) -> int:
        """The network's part of the score, in centipawns, by the side to move; 0 without a network."""
        if self.network is None or terms_cp > MAX_TERMS_CP or terms_cp < -MAX_TERMS_CP:
            return 0
        return self.network.score(board)

    def is_known_draw(self, board: BaseBoard) -> bool:
        """Whether this is king and pawn against king, drawn with best play for this side to move. Cheap."""
        return self.kpk.result(board) == DRAWN

    def sum_of_terms(self, board: BaseBoard) -> i64:
        """The packed sum of all terms, White minus Black."""
        self.context.begin(board)
        board.update_king_tables()
        key = board.pawn_key
        index: int = 4 * (key & (PAWN_ENTRIES - 1))
        score: i64 = 0
        if self.pawn_hash[index] == key:
            self.context.passed_pawns = self.pawn_hash[index + 1]
            score = self.pawn_hash[index + 2]
            danger = self.pawn_hash[index + 3]
            self.context.pawn_danger[0] = danger & 0xFFFF
            self.context.pawn_danger[1] = danger >> 16
        else:
            for us in range(2):
                side = pawns.pawn_king_total(self.context, board, us) + king.pawn_king_total(self.context, board, us)
                score += side if us else -side
            self.pawn_hash[index] = key
            self.pawn_hash[index + 1] = self.context.passed_pawns
            self.pawn_hash[index + 2] = score
            self.pawn_hash[index + 3] = self.context.pawn_danger[0] | self.context.pawn_danger[1] << 16
        score += board.score
        score += self._material_total(board)
        for us in range(2):
            side = pieces.mobility_total(self.context, board, us)
            score += side if us else -side
        for us in range(2):
            side = pieces.total(self.context, board, us)
            if self.context.passed_pawns:
                side += pawns.total(self.context, board, us)
            side += king.total(self.context, board, us) + threats.total(self.context, board, us)
            side += endgames.mop_up(self.context, board, us)
            score += side if us else -side
        return score

    def _material_total(self, board: BaseBoard) -> i64:
        """The sum of the terms that depend on the numbers of pieces alone."""
        key = board.material_key
        index: int = 2 * (((key * MATERIAL_FACTOR) & ALL) >> MATERIAL_SHIFT)
        if self.material_hash[index] == key:
            return self.material_hash[index + 1]
        score: i64 = 0
        for us in range(2):
            side = pieces.material_total(self.context, board, us)
            score += side if us else -side
        self.material_hash[index] = key
        self.material_hash[index + 1] = score
        return score

    def taper(self, board: BaseBoard, packed: i64) -> int:
        """A packed sum as one score from White's view, without a limit, tapered by phase, with the endgame scaled."""
        middlegame: i64 = ((packed + HALF) & MASK) - HALF
        endgame: i64 = (packed + HALF) >> 32
        # The share of the middlegame is in 256ths, the scale in 64ths: 14 bits together. The absolute value is shifted,
        # so that rounding is symmetric.
        share = middlegame_share(board.phase)
        scale = endgame_scale(board, 1 if endgame > 0 else 0)
        value = middlegame * share * FULL_SCALE + endgame * (FULL_SHARE - share) * scale
        return value >> 14 if value > 0 else -(-value >> 14)

    def score_of_terms(self, tapered: int, kpk_result: int) -> int:
        """A tapered sum, with the result of king and pawn against king applied, strictly within ±STATIC_LIMIT."""
        if kpk_result == DRAWN:
            return 0
        bonus = WON_KPK_CP if kpk_result == WHITE_WINS else -WON_KPK_CP if kpk_result == BLACK_WINS else 0
        return max(1 - STATIC_LIMIT, min(tapered + bonus, STATIC_LIMIT - 1))
