"""The static evaluation: terms, summed, tapered between middlegame and endgame, from the side to move's view.

The search calls it at almost every node; `evaluation.evaluate` and `explain` call it too. Invariant: the result depends
on the pieces and the side to move alone (the pawn hash table only saves time), is the same with board and colours
turned round, and lies strictly within ±STATIC_LIMIT, below every mate score.
"""

import cython

from evaluation import constants

if not cython.compiled:
    from evaluation.bitboards import i64
    from evaluation.context import EvaluationContext
    from evaluation.terms import endgames, king, passed_pawns, pawns, pieces, threats
    from evaluation.terms.endgames import EndgameWeights, endgame_scale
    from evaluation.terms.king import KingWeights
    from evaluation.terms.kpk import BLACK_WINS, DRAWN, NO_VERDICT, WHITE_WINS, PawnEnding
    from evaluation.terms.passed_pawns import PassedPawnWeights
    from evaluation.terms.pawns import PawnWeights
    from evaluation.terms.pieces import PieceWeights
    from evaluation.terms.threats import ThreatWeights

STATIC_LIMIT = constants.STATIC_LIMIT
FULL_PHASE = constants.FULL_PHASE
FULL_SCALE = constants.FULL_SCALE
WON_KPK_CP = constants.WON_KPK_CP

# Half of what the lower half of a packed number can hold, and its mask.
HALF = 1 << 31
MASK = (1 << 32) - 1

# The pawn hash table: each entry takes four numbers: key, passed pawns, packed score, nothing.
PAWN_ENTRIES = 8192


class Evaluator:
    """The terms and their sum, made from an `evaluation.weights.Weights`. One search thread owns one.

    Each group of the catalogue has its weights in the field of its name. Every board has one king a side.
    """

    def __init__(self, weights):
        self.context = EvaluationContext()
        self.pawns = PawnWeights(weights)
        self.passed_pawns = PassedPawnWeights(weights)
        self.pieces = PieceWeights(weights)
        self.king = KingWeights(weights)
        self.threats = ThreatWeights(weights)
        self.endgames = EndgameWeights(weights)
        self.kpk = PawnEnding()
        if not cython.compiled:
            self.remembered = [0] * (4 * PAWN_ENTRIES)

    def parts(self):
        """The objects that it owns: for counting memory."""
        holders = (self.pawns, self.passed_pawns, self.pieces, self.king, self.threats, self.endgames)
        return (self.context, self.kpk, *holders)

    def evaluate(self, board):
        """Centipawns from the side to move's view, strictly within ±STATIC_LIMIT.

        0 for a king and pawn against king that is drawn; WON_KPK_CP on top of the sum for one that is won.
        """
        verdict = self.kpk.verdict(board) if board.accumulator.phase == 0 else NO_VERDICT
        if verdict == DRAWN:
            return 0
        value = self.taper(board, self.sum_of_terms(board, True))
        if verdict != NO_VERDICT:
            value = self.with_verdict(value, verdict)
        return value if board.turn else -value

    def is_known_draw(self, board):
        """Whether the position is known to be drawn, whoever is to move and whatever is played. Cheap to ask."""
        return board.accumulator.phase == 0 and self.kpk.verdict(board) == DRAWN

    def sum_of_terms(self, board, remember):
        """The packed sum of all terms, White minus Black. `remember`: use the pawn hash table.

        Without the table the weights may be changed between calls.
        """
        self.context.begin(board)
        key = board.accumulator.pawn_key
        slot: cython.int = 4 * (key & (PAWN_ENTRIES - 1))
        score: i64 = 0
        if remember and self.remembered[slot] == key:
            self.context.passed_pawns = self.remembered[slot + 1]
            score = self.remembered[slot + 2]
        else:
            score = self._structure(board)
            if remember:
                self.remembered[slot] = key
                self.remembered[slot + 1] = self.context.passed_pawns
                self.remembered[slot + 2] = score
        score += board.accumulator.score
        score += pieces.total(self.pieces, self.context, board)
        if self.context.passed_pawns:
            score += passed_pawns.total(self.passed_pawns, self.context, board)
        score += king.total(self.king, self.context, board)
        score += threats.total(self.threats, self.context, board)
        return score + endgames.total(self.endgames, self.context, board)

    def _structure(self, board):
        """The terms that depend on pawns and kings alone."""
        score = pawns.structure(self.pawns, self.context, board)
        score += passed_pawns.structure(self.passed_pawns, self.context, board)
        return score + king.structure(self.king, self.context, board)

    def taper(self, board, packed):
        """A packed sum as one number from White's view, by the material left and how drawish the endgame is."""
        middlegame: i64 = ((packed + HALF) & MASK) - HALF
        endgame: i64 = (packed + HALF) >> 32
        phase = board.accumulator.phase if board.accumulator.phase < FULL_PHASE else FULL_PHASE
        # Shares of the two are in 256ths, the scale in 64ths: 14 bits too many. They are taken off the
        # absolute value, so that rounding treats White and Black alike.
        share = phase * 32 // 3
        scale = endgame_scale(board, 1 if endgame > 0 else 0)
        value = middlegame * share * FULL_SCALE + endgame * (256 - share) * scale
        size: i64 = (value if value > 0 else -value) >> 14
        if size >= STATIC_LIMIT:
            size = STATIC_LIMIT - 1
        return size if value > 0 else -size

    def with_verdict(self, white_score, verdict):
        """A score from White's view, corrected by what is known of king and pawn against king."""
        if verdict == DRAWN:
            return 0
        bonus = WON_KPK_CP if verdict == WHITE_WINS else -WON_KPK_CP if verdict == BLACK_WINS else 0
        value = white_score + bonus
        if value >= STATIC_LIMIT:
            return STATIC_LIMIT - 1
        return 1 - STATIC_LIMIT if value <= -STATIC_LIMIT else value
