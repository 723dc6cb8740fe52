# C types of evaluator.py.

cimport cython

from evaluation.accumulator cimport Accumulator
from evaluation.base_board cimport BaseBoard
from evaluation.bitboards cimport ALL, i64, u64
from evaluation.context cimport EvaluationContext
from evaluation.correction.correction cimport Correction
from evaluation.correction.shape cimport MAX_FEATURES_CP
from evaluation.correction.weights cimport CorrectionWeights
from evaluation.terms cimport (
    endgames, imbalance, king, minor_pieces, passed_pawns, pawn_pairs, pawns, pieces, tempo, threats,
)
from evaluation.terms.endgames cimport EndgameWeights, endgame_scale
from evaluation.terms.imbalance cimport ImbalanceWeights
from evaluation.terms.king cimport KingWeights
from evaluation.terms.kpk cimport BLACK_WINS, DRAWN, NO_RESULT, WHITE_WINS, KpkBitbase
from evaluation.terms.minor_pieces cimport MinorPieceWeights
from evaluation.terms.passed_pawns cimport PassedPawnWeights
from evaluation.terms.pawn_pairs cimport PawnPairWeights
from evaluation.terms.pawns cimport PawnWeights
from evaluation.terms.pieces cimport PieceWeights
from evaluation.terms.tempo cimport TempoWeights
from evaluation.terms.threats cimport ThreatWeights

cdef int STATIC_LIMIT
cdef int FULL_PHASE
cdef int FULL_SCALE
cdef int WON_KPK_CP
cdef i64 HALF
cdef i64 MASK
cdef int MATERIAL_ENTRIES
cdef int MATERIAL_SHIFT
cdef u64 MATERIAL_FACTOR
cdef int PAWN_ENTRIES

cdef int limited(int score) noexcept nogil

@cython.final
cdef class Evaluator:
    cdef readonly EvaluationContext context
    cdef readonly PawnWeights pawns
    cdef readonly PawnPairWeights pawn_pairs
    cdef readonly PassedPawnWeights passed_pawns
    cdef readonly ImbalanceWeights imbalance
    cdef readonly PieceWeights pieces
    cdef readonly MinorPieceWeights minor_pieces
    cdef readonly KingWeights king
    cdef readonly ThreatWeights threats
    cdef readonly EndgameWeights endgames
    cdef readonly TempoWeights tempo
    cdef readonly KpkBitbase kpk
    cdef readonly Correction correction     # None when it is off
    cdef readonly bint is_corrected
    cdef u64[2048] material_hash   # 2 * MATERIAL_ENTRIES
    cdef u64[32768] pawn_hash      # 4 * PAWN_ENTRIES

    cpdef int evaluate(self, BaseBoard board) noexcept nogil
    cpdef int correction_of(self, BaseBoard board, int features_cp) noexcept nogil
    cpdef bint is_known_draw(self, BaseBoard board) noexcept nogil
    cpdef i64 sum_of_terms(self, BaseBoard board, bint use_hash) noexcept nogil
    cdef i64 _pawn_king_total(self, BaseBoard board) noexcept nogil
    cdef i64 _imbalance_total(self, BaseBoard board, bint use_hash) noexcept nogil
    cdef u64 _packed_units(self) noexcept nogil
    cdef int _unpack_units(self, u64 units) noexcept nogil
    cpdef int taper(self, BaseBoard board, i64 packed) noexcept nogil
    cpdef int with_kpk_result(self, int white_score, int result) noexcept nogil
