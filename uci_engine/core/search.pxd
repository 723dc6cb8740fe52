# C types of search.py.

cimport cython

from evaluation.bitboards cimport PAWN, i64, popcount, u64
from evaluation.evaluator cimport Evaluator
from uci_engine.core.kpk cimport PawnEnding
from uci_engine.core.ordering cimport MovePicker
from uci_engine.core.position cimport Position
from uci_engine.core.syzygy cimport FAILED, SyzygyProber
from uci_engine.core.table cimport DEPTH_OFFSET, EXACT, LOWER, TranspositionTable, UPPER

cdef int MATE, MATE_BOUND, INFINITE, NO_SCORE, MAX_PLY, LAST_PLY
cdef int TABLEBASE_WIN, TABLEBASE_BOUND, PROBE_BONUS_PLIES, WON_PAWN_ENDING_CP
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
    cdef readonly PawnEnding pawn_ending

    # What the search was asked
    cdef int profile
    cdef i64 node_limit
    cdef int root_count
    cdef int root_end
    cdef int probe_limit
    cdef int probe_depth
    cdef bint fifty_moves
    cdef int[256] root_moves

    # What it says, readable while it runs
    cdef readonly i64 nodes
    cdef readonly i64 table_hits
    cdef readonly int seldepth
    cdef readonly int root_best         # number of root moves in the last search whose score is known
    cdef readonly int root_done
    cdef readonly int current_move
    cdef readonly int current_number
    cdef readonly bint stopped
    cdef int stop_wanted

    cdef int[128] static_scores
    cdef int[128] pv_length
    cdef int[16384] pv                  # [ply * 128 + n]
    cdef int[8192] quiets_tried         # [ply * 64 + n]
    cdef int[4096] reductions           # [depth * 64 + move number]

    cdef readonly int aspiration_window_cp  # for `deepening`
    cdef int reverse_futility_depth
    cdef int reverse_futility_margin_cp
    cdef int null_move_depth
    cdef int null_move_reduction
    cdef int null_move_divisor
    cdef int null_move_margin_cp
    cdef int late_move_depth
    cdef int late_move_count
    cdef int late_move_history
    cdef int internal_depth
    cdef int history_bonus
    cdef int history_bonus_limit

    cdef int _root(self, int depth, int alpha, int beta, int first) noexcept nogil
    cdef int _search(self, int depth, int alpha, int beta, int ply, bint may_pass) noexcept nogil
    cdef int _quiescence(self, int alpha, int beta, int ply) noexcept nogil
    cdef int _leaf(self, int ply) noexcept nogil
    cdef int _reduction(self, int depth, int number) noexcept nogil
    cdef int _evaluate(self) noexcept nogil
    cdef int _pawn_ending(self) noexcept nogil
    cdef int _probe(self, int depth) noexcept nogil
    cdef int _tablebase_score(self, int wdl, int ply) noexcept nogil
    cdef bint _enter(self, int ply) noexcept nogil
    cdef int _keep_line(self, int ply, int move) noexcept nogil
    cdef int _learn(self, int depth, int ply, int move, int tried) noexcept nogil
    cdef int _to_table(self, int score, int ply) noexcept nogil
    cdef int _from_table(self, int score, int ply) noexcept nogil
