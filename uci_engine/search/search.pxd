# C types of search.py.

cimport cython

from evaluation.bitboards cimport PAWN, i64, popcount, u64
from evaluation.evaluator cimport Evaluator
from uci_engine.board.moves cimport EN_PASSANT, PROMOTION, move_type, to_square
from uci_engine.board.position cimport Position
from uci_engine.search.correction_history cimport CorrectionHistory
from uci_engine.search.history cimport Histories
from uci_engine.search.move_picker cimport MovePicker
from uci_engine.search.stack cimport PLIES, SearchStack
from uci_engine.search.transposition_table cimport (
    EXACT, LOWER, TranspositionTable, UPPER, entry_bound, entry_depth, entry_eval, entry_move, entry_score,
)
from uci_engine.tablebases.syzygy cimport FAILED, SyzygyProber

cdef int MATE, INFINITE, NO_SCORE, STATIC_LIMIT, TABLEBASE_WIN, TABLEBASE_BOUND
cdef int MAX_PLY, LAST_PLY
cdef int EXTENSION_LIMIT_FACTOR, LMR_CUTOFF_LIMIT
cdef int[7] SEE_VALUES
cdef int FIFTY_MOVE_DAMPING, TT_HALFMOVE_LIMIT, TABLEBASE_DEPTH_BONUS, NULL_MOVE_VERIFICATION_PERCENT
cdef int POLL_MASK

@cython.final
cdef class Searcher:
    cdef readonly Position position
    cdef public Evaluator evaluator          # replaced by `factory.replace_weights`, between searches
    cdef readonly TranspositionTable table
    cdef readonly SearchStack stack
    cdef readonly Histories histories
    cdef readonly MovePicker picker
    cdef readonly CorrectionHistory correction_history
    cdef readonly SyzygyProber prober

    # Request
    cdef i64 node_limit
    cdef int root_count
    cdef int root_end
    cdef bint all_root_moves             # whether they are all legal moves
    cdef int probe_limit
    cdef int probe_depth
    cdef bint fifty_moves
    cdef readonly int[2] draw_score               # for the side to move at even and at odd plies
    cdef int[256] root_moves

    # Results, readable while the search runs
    cdef readonly volatile i64 nodes
    cdef readonly i64 tb_hits
    cdef readonly int seldepth
    cdef readonly int root_moves_done
    cdef readonly int effort_permille        # share of the last depth's nodes below the best root move, in permille
    cdef readonly volatile int current_move
    cdef readonly volatile int current_move_number
    cdef readonly bint stopped
    cdef readonly volatile int stop_requested

    cdef int[128] pv_length
    cdef int[16384] pv_table            # [ply * PLIES + n]
    cdef int extension_limit_ply        # no extension and no do-deeper search from this ply on
    cdef int null_move_min_ply          # steps 9 to 12 are off at lower plies (null move verification)
    cdef int probcut_move
    cdef int[4096] reductions           # [depth * 64 + move count]

    # The parameters of parameters.py, in the same order, set by name
    cdef public int aspiration_window_cp
    cdef public int use_tt
    cdef public int use_quiescence
    cdef public int use_early_draws
    cdef public int correction_history_weight
    cdef public int reverse_futility_depth
    cdef public int reverse_futility_margin_cp
    cdef public int null_move_depth
    cdef public int null_move_reduction
    cdef public int null_move_divisor
    cdef public int null_move_eval_divisor_cp
    cdef public int null_move_max_eval_reduction
    cdef public int null_move_verification_depth
    cdef public int probcut_depth
    cdef public int probcut_margin_cp
    cdef public int probcut_reduction
    cdef public int small_probcut_margin_cp
    cdef public int small_probcut_depth_margin
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
    cdef public int singular_margin_cp
    cdef public int singular_depth_margin
    cdef public int double_extension_margin_cp
    cdef public int double_extension_limit
    cdef public int lmr_depth
    cdef public int lmr_count
    cdef public int lmr_base
    cdef public int lmr_divisor
    cdef public int lmr_history
    cdef public int lmr_cut_node
    cdef public int lmr_gives_check
    cdef public int lmr_noisy_tt_move
    cdef public int lmr_cutoff_count
    cdef public int do_deeper_margin_cp
    cdef public int quiescence_futility_margin_cp
    cdef public int quiescence_capture_limit
    cdef public int history_bonus
    cdef public int history_bonus_limit
    cdef public int history_bonus_margin_cp
    cdef public int tt_cutoff_bonus
    cdef public int fail_low_bonus
    cdef public int eval_diff_history_bonus
    cdef public int eval_diff_history_limit

    cdef int _root(self, int depth, int alpha, int beta, int first) noexcept nogil
    cdef int _search(self, int depth, int alpha, int beta, int ply, bint cut_node) noexcept nogil
    cdef int _set_best_root_move(self, int index, int first) noexcept nogil
    cdef int _make(self, int move, int ply, bint quiet) noexcept nogil
    cdef int _search_move(
        self, int depth, int reduction, int do_deeper_score, int alpha, int beta, int ply,
        bint is_first, bint pv_node, bint cut_node
    ) noexcept nogil
    cdef int _late_move_reduction(
        self, int reduction, int new_depth, int history, bint pv_node, bint improving, bint cut_node
    ) noexcept nogil
    cdef int _reduction(self, int depth, int move_count) noexcept nogil
    cdef int _probcut(
        self, int depth, int probcut_beta, int ply, int tt_move, int static_eval, bint cut_node
    ) noexcept nogil
    cdef int _corrected(self, int raw_eval, int correction) noexcept nogil
    cdef int _quiescence(self, int alpha, int beta, int ply) noexcept nogil
    cdef int _leaf(self, int ply) noexcept nogil
    cdef bint _enter_node(self, int ply) noexcept nogil
    cdef int _update_pv(self, int ply, int move) noexcept nogil
    cdef int _history_bonus(self, int depth, int above_beta_cp) noexcept nogil
    cdef int _update_after_tt_cutoff(self, int ply, int tt_move, int depth) noexcept nogil
    cdef int _probe(self, int depth) noexcept nogil
    cdef int _tablebase_score(self, int wdl, int ply) noexcept nogil
    cdef int _store(self, int ply, int move, int score, int raw_eval, int depth, int bound) noexcept nogil
    cpdef int score_to_tt(self, int score, int ply) noexcept nogil
    cpdef int score_from_tt(self, int score, int ply) noexcept nogil
