# C types of search.py.

cimport cython

from evaluation.bitboards cimport PAWN, i64, popcount, u64
from evaluation.evaluator cimport Evaluator
from uci_engine.search.correction_history cimport CorrectionHistory
from uci_engine.board.moves cimport EN_PASSANT, PROMOTION, move_type, to_square
from uci_engine.search.move_picker cimport MovePicker
from uci_engine.board.position cimport SEE_VALUES, Position
from uci_engine.tablebases.syzygy cimport FAILED, SyzygyProber
from uci_engine.search.transposition_table cimport (
    EXACT, LOWER, TranspositionTable, UPPER, entry_bound, entry_depth, entry_move, entry_score, entry_eval,
)

cdef int STATIC_LIMIT
cdef int MATE, INFINITE, NO_SCORE, MAX_PLY, LAST_PLY
cdef int TABLEBASE_WIN, TABLEBASE_BOUND, PROBE_BONUS_PLIES
cdef int NORMAL, PLAIN, MATING
cdef u64 MATING_SALT
cdef int POLL_MASK

@cython.final
cdef class Searcher:
    cdef readonly Position position
    cdef readonly Evaluator evaluator
    cdef readonly TranspositionTable table
    cdef readonly MovePicker picker
    cdef readonly SyzygyProber prober
    cdef readonly CorrectionHistory correction_history

    # What the search was asked
    cdef int profile
    cdef i64 node_limit
    cdef int root_count
    cdef int root_end
    cdef bint root_is_whole             # whether all legal moves are searched
    cdef int probe_limit
    cdef int probe_depth
    cdef bint fifty_moves
    cdef int[256] root_moves

    # What it says, readable while it runs
    cdef readonly i64 nodes
    cdef readonly i64 table_hits
    cdef readonly int seldepth
    cdef readonly int root_done
    cdef readonly int best_share        # nodes below the best root move in the last search of the root, in permille
    cdef readonly int current_move
    cdef readonly int current_number
    cdef readonly bint stopped
    cdef readonly int stop_wanted

    cdef int[128] static_scores
    cdef int[128] excluded              # by ply: the move left out of a singular search
    cdef int[128] quiet_made            # by ply: the move made there, 0 for a capture, promotion or pass
    cdef int[128] doubled               # by ply: double extensions on the way here
    cdef int[128] pv_length
    cdef int[16384] pv                  # [ply * 128 + n]
    cdef int[8192] quiets_tried         # [ply * 64 + n]
    cdef int[4096] noisy_tried          # [ply * 32 + n]
    cdef int root_depth
    cdef int null_move_ply              # passing is tried again from this ply on
    cdef int probcut_move
    cdef int[4096] reductions           # [depth * 64 + move number]

    # The parameters of parameters.py, set by name
    cdef public int aspiration_window_cp
    cdef public int correction_weight
    cdef public int reverse_futility_depth
    cdef public int reverse_futility_margin_cp
    cdef public int null_move_depth
    cdef public int null_move_reduction
    cdef public int null_move_divisor
    cdef public int null_move_margin_cp
    cdef public int null_move_verification_depth
    cdef public int probcut_depth
    cdef public int probcut_margin_cp
    cdef public int iir_depth
    cdef public int lmp_depth
    cdef public int lmp_base
    cdef public int futility_depth
    cdef public int futility_base_cp
    cdef public int futility_margin_cp
    cdef public int history_pruning_depth
    cdef public int history_pruning_margin
    cdef public int see_pruning_depth
    cdef public int see_quiet_margin_cp
    cdef public int see_noisy_margin_cp
    cdef public int singular_depth
    cdef public int singular_margin
    cdef public int double_extension_margin_cp
    cdef public int lmr_depth
    cdef public int lmr_count
    cdef public int lmr_base
    cdef public int lmr_divisor
    cdef public int lmr_history
    cdef public int lmr_cut
    cdef public int lmr_check
    cdef public int do_deeper_margin_cp
    cdef public int quiescence_margin_cp
    cdef public int history_bonus
    cdef public int history_bonus_limit
    cdef public int history_bonus_margin_cp
    cdef public int tt_cutoff_bonus
    cdef public int eval_diff_history_bonus
    cdef public int eval_diff_history_limit
    cdef public int small_probcut_margin_cp
    cdef public int quiescence_count

    cdef int _root(self, int depth, int alpha, int beta, int first) noexcept nogil
    cdef int _search(self, int depth, int alpha, int beta, int ply, bint cut_node) noexcept nogil
    cdef int _quiescence(self, int alpha, int beta, int ply) noexcept nogil
    cdef int _probcut(self, int depth, int target, int ply, int tt_move, int static, bint cut_node) noexcept nogil
    cdef int _known_error(self, int ply) noexcept nogil
    cdef int _corrected(self, int raw, int error) noexcept nogil
    cdef int _leaf(self, int ply) noexcept nogil
    cdef int _reduction(self, int depth, int number) noexcept nogil
    cdef int _probe(self, int depth) noexcept nogil
    cdef int _tablebase_score(self, int wdl, int ply) noexcept nogil
    cdef bint _enter(self, int ply) noexcept nogil
    cdef int _keep_line(self, int ply, int move) noexcept nogil
    cdef int _learn(self, int depth, int ply, int move, bint quiet, int quiets, int noisies) noexcept nogil
    cpdef int to_table(self, int score, int ply) noexcept nogil
    cpdef int from_table(self, int score, int ply) noexcept nogil
