"""The search: principal variation search (PVS) with quiescence search, over either board.

`Searcher.search_window` searches one depth with one aspiration window. The search manager calls it for the main
searcher, and reports between windows; `Searcher.run` is iterative deepening for the other threads, self-play and tools.
`_search` searches one node, in numbered steps, and `_quiescence` continues at the horizon. Scores are in centipawns
from the side to move's view, on the scale of `uci_engine.score`. The parameters are in `parameters`.

Invariant: `run` never takes the GIL, so many threads cannot delay the UCI thread.
Invariant: node count, score, best move and principal variation depend only on the position with its history, the
limits, the options, parameters and weights, the transposition table (TT) and the histories, so every core searches the
same tree. A stopped search restores the board.

"Gains n ± e" at a step: the Elo lost when the step is switched off, with the 95 % error. Steps whose gain is within its
error show none. scripts/EXPERIMENTS.md has all of them, with their conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evaluation.base.bitboards import PAWN
from evaluation.base.typed import compiled, i64, i64s, ints, nogil, popcount, shared_i64, shared_int, u64, void
from evaluation.evaluator import Evaluator
from uci_engine.board.moves import EN_PASSANT, MAX_MOVES, PROMOTION, move_type, to_square
from uci_engine.board.position import SEE_VALUES, Position
from uci_engine.score import INFINITE, MATE, MATE_BOUND, MAX_PLY, NO_SCORE, STATIC_LIMIT, TABLEBASE_BOUND, TABLEBASE_WIN
from uci_engine.search.history import Histories
from uci_engine.search.move_picker import MovePicker
from uci_engine.search.parameters import PARAMETERS, Tunables
from uci_engine.search.stack import SearchStack
from uci_engine.search.transposition_table import (
    EXACT,
    LOWER,
    UPPER,
    TranspositionTable,
    entry_bound,
    entry_depth,
    entry_eval,
    entry_move,
    entry_score,
)
from uci_engine.tablebases.syzygy import FAILED, SyzygyProber

# Maximum ply of the search. Here a node returns its eval, because the arrays of move picker and PV end here.
LAST_PLY = MAX_PLY - 2
# The stop flag is read every POLL_MASK + 1 nodes: about every 0.2 ms compiled, every few milliseconds in plain Python.
POLL_MASK = 511 if compiled else 31

# The static eval goes towards 0 by the halfmove clock / 2 ** this of it, because a win has less and less time.
FIFTY_MOVE_DAMPING = 8
# From this halfmove clock on, no TT score causes a cutoff, because the fifty-move rule may spoil a win.
TT_HALFMOVE_LIMIT = 90
# A tablebase result holds at every depth. It is stored as if searched this many plies deeper than the node.
TABLEBASE_DEPTH_BONUS = 6
# Null move verification switches steps 9 to 12 off for this percentage of (depth - reduction) plies.
NULL_MOVE_VERIFICATION_PERCENT = 75
# Hindsight: what the previous move has lost by the static evals, for one ply less.
HINDSIGHT_MARGIN_CP = 100
# TT entries that hold only a raw eval: below every depth that is searched.
EVAL_DEPTH = -2
# In an analysis SEE pruning spares a check that loses no more than this for each ply of depth.
ANALYSIS_CHECK_MARGIN_CP = 200
# LMR reduces more after more cutoffs than this at the next ply.
LMR_CUTOFF_LIMIT = 3
# No extensions and no do-deeper searches from ply EXTENSION_LIMIT_FACTOR * root depth on.
EXTENSION_LIMIT_FACTOR = 2

# Aspiration windows: at lower depth the window is full, because the last score is too unstable.
ASPIRATION_DEPTH = 4
# A window that fails with a half width of this or more opens completely.
MAX_ASPIRATION_WINDOW_CP = 400


class Searcher(Tunables):
    """One search over one position, by one thread. Another thread may read its fields while it runs, and call `stop`.

    The last result is in `pv()`, `score`, `depth`, ... Depth 0 means that there is none. Call `begin` before each
    search. `nodes` counts every node entered below the root, twice where a search enters the same ply again.

    Threads share `stop_requested`, `nodes`, `tb_hits`, `current_move` and `current_move_number` without a lock. They
    are volatile in C, so every access is one load or store of an aligned word, which no compiler drops, repeats or
    moves out of a loop. More is not needed, because none of them guards other data: a stop may be seen late, and a
    report may show an old number. The exact counts are read when the search has finished. A stop ends the search
    within POLL_MASK + 1 nodes.
    """

    position: Position
    evaluator: Evaluator  # replaced by `ThreadPool.set_evaluation`, between searches
    table: TranspositionTable
    stack: SearchStack
    histories: Histories
    picker: MovePicker
    prober: SyzygyProber

    # Request
    node_limit: i64
    root_count: int
    root_end: int
    root_first: int  # the index of the first root move to search: the number of the line of MultiPV
    all_root_moves: bool  # whether they are all legal moves
    probe_limit: int  # the maximum number of pieces for a probe of the tablebases; 0: never
    probe_depth: int  # the minimum depth for positions with exactly so many pieces
    fifty_moves: bool  # whether a cursed win is a draw
    spares_checks: bool  # whether SEE pruning lets a check lose more (step 19)
    contempt_cp: int  # how much worse than 0 a draw is for the side to move at the root, and better for the other
    root_moves = ints(MAX_MOVES)

    # The window in search
    alpha: int
    beta: int
    half_window: int
    failed_high: bool
    finished: bool

    # The last result
    has_result: bool  # of this line and depth
    depth: int
    score: int  # the next window opens around it
    seldepth: int
    is_lower_bound: bool
    result_length: int
    result_pv = ints(MAX_PLY)

    # Of the window, readable while the search runs
    nodes: shared_i64
    tb_hits: shared_i64
    deepest_ply: int
    root_moves_done: int
    effort_permille: int  # share of the last depth's nodes below the best root move, in permille
    current_move: shared_int
    current_move_number: shared_int
    stopped: bool
    stop_requested: shared_int

    # For the search itself
    extension_limit_ply: int  # no extension and no do-deeper search from this ply on
    null_move_min_ply: int  # steps 9 to 12 are off at lower plies (null move verification)
    raw_eval: int  # from which `_static_eval` made its last result
    correction: int  # with which it did
    reductions = ints(4096)  # [depth * 64 + move count], in 1024ths of a ply
    root_nodes = i64s(MAX_MOVES)  # nodes below each root move, in all windows of this line and depth

    def __init__(
        self, position: Position, evaluator: Evaluator, table: TranspositionTable, values: Mapping[str, int]
    ) -> None:
        """`values`: search parameters that differ from the defaults of `parameters`, by name."""
        self.position = position
        self.evaluator = evaluator
        self.table = table
        self.stack = SearchStack(position)
        self.histories = Histories(position, self.stack)
        self.picker = MovePicker(position, self.stack, self.histories)
        self.prober = SyzygyProber()
        self.probe_limit = 0
        self.probe_depth = 1
        self.fifty_moves = True
        self.contempt_cp = 0
        self.spares_checks = False
        self.configure(values)
        self.begin(0)

    def configure(self, values: Mapping[str, int]) -> None:
        """Set search parameters by name, all others to their defaults. The values are in their ranges."""
        chosen = {each.name: each.value for each in PARAMETERS} | dict(values)
        for name, value in chosen.items():
            setattr(self, name, value)
        logarithms = [math.log(max(count, 1)) for count in range(64)]
        base = chosen["lmr_base"] / 100
        factor = 100 / chosen["lmr_divisor"]
        for depth in range(1, 64):
            for move_count in range(1, 64):
                reduction = base + factor * logarithms[depth] * logarithms[move_count]
                self.reductions[depth * 64 + move_count] = int(1024 * reduction)

    # Before and after a search -----------------------------------------------------------------------------------

    def begin(self, node_limit: i64) -> void:
        """Clear the last result, the counters and the stop flag. `node_limit`: of the search, 0 for no limit."""
        self.node_limit = node_limit if node_limit > 0 else 1 << 62
        self.nodes = 0
        self.tb_hits = 0
        self.deepest_ply = 0
        self.current_move = 0
        self.current_move_number = 0
        self.stopped = False
        self.stop_requested = 0
        self.null_move_min_ply = 0
        self.stack.clear()
        self.clear_result()

    def clear_result(self) -> void:
        """Clear the last result, and the line in search."""
        self.root_first = 0
        self.depth = 0
        self.score = -INFINITE
        self.seldepth = 0
        self.is_lower_bound = False
        self.result_length = 0

    def stop(self) -> None:
        """Ask a running search to stop soon. The request holds until `begin`."""
        self.stop_requested = 1

    def set_root(self, moves: Sequence[int]) -> None:
        """Set the root moves: legal, distinct, best first, at most MAX_MOVES."""
        self.root_count = len(moves)
        self.all_root_moves = len(moves) == len(self.position.legal_moves())
        index: int
        for index in range(self.root_count):
            self.root_moves[index] = moves[index]

    def set_all_root_moves(self) -> int:
        """Set all legal moves as root moves, in the order of the move picker, and return their number."""
        self.picker.begin(0, self.tt_move(), False)
        self.root_count = 0
        move = self.picker.next(0)
        while move:
            self.root_moves[self.root_count] = move
            self.root_count += 1
            move = self.picker.next(0)
        self.all_root_moves = True
        return self.root_count

    def root_order(self) -> list[int]:
        return [self.root_moves[index] for index in range(self.root_count)]

    def pv(self) -> list[int]:
        """The principal variation (PV) of the last result. It begins with the best root move."""
        return [self.result_pv[index] for index in range(self.result_length)]

    def evaluate(self) -> int:
        """The raw eval of the current position, from the side to move's view."""
        return self.evaluator.evaluate(self.position)

    def tt_move(self) -> int:
        """The TT move of the current position if it is legal, or 0."""
        move: int = entry_move(self.table.probe(self.position.key))
        return move if self.position.is_legal(move) else 0

    def run(self, first_depth: int, last_depth: int, skip_size: int = 0, skip_phase: int = 0) -> None:
        """`deepen` without the GIL."""
        with nogil:
            self.deepen(first_depth, last_depth, skip_size, skip_phase)

    def search_window(self, depth: int) -> bool:
        """`_search_window` without the GIL."""
        with nogil:
            failed: bool = self._search_window(depth)
        return failed

    def search_root_move(self, move: int, depth: int, score: int = -INFINITE, half_window_cp: int = 0) -> bool:
        """Search one root move alone, in a window around a score. Returns whether the search has finished."""
        self.set_root([move])
        self.begin_line(depth, 0, score, 1)
        self.open_window(score, half_window_cp)
        while self.search_window(depth):
            pass
        return self.finished

    # Iterative deepening, without the GIL -----------------------------------------------------------------------

    def deepen(self, first_depth: int, last_depth: int, skip_size: int, skip_phase: int) -> void:
        """Iterative deepening of a line of MultiPV, until `last_depth`, a stop or the node limit.

        Blocks of `skip_size` depths are searched and skipped alternately; 0 skips none. `skip_phase`: their offset.
        """
        for depth in range(first_depth, last_depth + 1):
            if skip_size and (depth + skip_phase) // skip_size % 2:
                continue
            self.begin_line(depth, self.root_first, self.score, self.root_count)
            while self._search_window(depth):
                pass
            if not self.finished:
                break

    def begin_line(self, depth: int, line: int, score: int, end: int) -> void:
        """Open the first window of a line of MultiPV, around the score of the depth before.

        The line has the root moves from its own index to `end` - 1. The best one is moved to the index of the line.
        """
        self.has_result = False
        self.score = score
        self.root_first = line
        self.root_end = end
        for index in range(self.root_count):
            self.root_nodes[index] = 0
        self.open_window(score, self.aspiration_window_cp if depth >= ASPIRATION_DEPTH else 0)

    def _search_window(self, depth: int) -> bool:
        """Search the line with the current window. Returns True after a fail high or low, with the window widened.

        The root moves from `root_first` to `root_end` (exclusive) are searched. The best one is moved to `root_first`.
        After False the line is `finished`, or was interrupted. `has_result`: a search of this line has found a best
        move; even if it was interrupted, the result is valid.
        """
        self.failed_high = False
        self.finished = False
        if self.stop_requested:
            return False
        self.root_moves_done = 0
        self.deepest_ply = 0
        self.stack.pv_length[0] = 0
        self.extension_limit_ply = EXTENSION_LIMIT_FACTOR * depth
        score: int = self._search(depth, self.alpha, self.beta, 0, False)
        # A loss that an interrupted search has found is not proved: a move that it did not reach may be better. The
        # score before stands, if there is one.
        is_proved: bool = score > -TABLEBASE_BOUND or not self.stopped
        is_first: bool = self.score == -INFINITE
        if self.root_moves_done and score > self.alpha and (is_proved or is_first):
            self._save_result(depth, score, score >= self.beta or not is_proved)
        if self.stopped:
            return False
        if self.root_first == 0:
            nodes: i64 = 0
            for index in range(self.root_count):
                nodes += self.root_nodes[index]
            self.effort_permille = self.root_nodes[0] * 1000 // max(nodes, 1)
        if self.alpha < score < self.beta:
            self.finished = True
            return False
        self.failed_high = score >= self.beta
        self._widen_window(score)
        return True

    def open_window(self, score: int, half_window_cp: int) -> void:
        """Open a window around a score. It is full if the half width is 0, and for mate scores and -INFINITE."""
        self.half_window = half_window_cp
        if half_window_cp == 0 or score >= MATE_BOUND or score <= -MATE_BOUND:
            self.half_window = 2 * INFINITE
        self.alpha = max(score - self.half_window, -INFINITE)
        self.beta = min(score + self.half_window, INFINITE)

    def _widen_window(self, score: int) -> void:
        self.half_window = 2 * self.half_window if self.half_window < MAX_ASPIRATION_WINDOW_CP else 2 * INFINITE
        if score <= self.alpha:
            # A shift rounds down on both cores; C's division rounds towards zero.
            self.beta = (self.alpha + self.beta) >> 1
            self.alpha = max(score - self.half_window, -INFINITE)
        else:
            self.beta = min(score + self.half_window, INFINITE)

    def _save_result(self, depth: int, score: int, is_lower_bound: bool) -> void:
        """Save the PV and the score of the best root move. They stay valid when the search goes on."""
        self.has_result = True
        self.depth = depth
        self.score = score
        self.seldepth = self.deepest_ply
        self.is_lower_bound = is_lower_bound
        self.result_length = self.stack.pv_length[0]
        for index in range(self.result_length):
            self.result_pv[index] = self.stack.pv_table[index]

    # The search itself ------------------------------------------------------------------------------------------

    def _search(self, depth: int, alpha: int, beta: int, ply: int, cut_node: bool) -> int:
        """The score of the position at `ply`, searched to `depth`; exact inside the window, otherwise a bound.

        `cut_node`: a fail high is expected, so the node is reduced more.
        """
        # 1. Quiescence search (qsearch): at the horizon, search captures and promotions until the position is quiet.
        if depth <= 0:
            return self._quiescence(alpha, beta, ply)

        # 2. Count the node, and return if the search must stop.
        if ply and self._enter_node(ply):
            return 0

        # Whether this is a PV node is asked before a step narrows the window.
        pv_node: bool = beta - alpha > 1

        # 3. Draws and the maximum ply. Skipped at the root, and in a singular search (step 14): the same position was
        # checked before.
        in_check: bool = self.position.checkers != 0
        excluded_move = self.stack.excluded_move[ply]
        least_score = -INFINITE
        draw_score = self.contempt_cp if ply & 1 else -self.contempt_cp
        if ply and excluded_move == 0:
            if self.position.is_draw(ply) or self.evaluator.is_known_draw(self.position):
                return draw_score
            if ply >= LAST_PLY:
                return 0 if in_check else self.evaluator.evaluate(self.position)

            # 4. Upcoming repetition: if one move repeats a position, the side to move has at least a draw.
            if alpha < draw_score and self.position.upcoming_repetition(ply):
                alpha = least_score = draw_score
                if alpha >= beta:
                    return alpha

        # 5. Mate distance pruning (MDP): no line from here can beat a shorter mate already found. The node stays a PV
        # node, so that the PV of a mate is complete.
        alpha = max(alpha, ply - MATE)
        beta = min(beta, MATE - ply - 1)
        if alpha >= beta:
            return alpha

        # 6. Transposition table (TT): an entry of sufficient depth causes a cutoff in non-PV nodes. Otherwise it gives
        # a move and a better eval.
        entry: u64 = self.table.probe(self.position.key)
        tt_move: int = entry_move(entry)
        tt_bound: int = entry_bound(entry)
        tt_score: int = entry_score(entry, ply)
        tt_depth: int = entry_depth(entry)
        if (
            not pv_node
            and excluded_move == 0
            and tt_depth >= depth
            and self.position.halfmove_clock < TT_HALFMOVE_LIMIT
            and tt_bound & (LOWER if tt_score >= beta else UPPER)
        ):
            if tt_score >= beta:
                bonus = min(self.tt_cutoff_bonus * depth, self.history_bonus_limit >> 1)
                malus = min(self.tt_cutoff_malus * depth, self.history_bonus_limit)
                self.histories.update_after_tt_cutoff(ply, tt_move, bonus, malus)
            return tt_score
        if ply == 0:
            tt_move = self.root_moves[self.root_first]
        elif tt_move and not self.position.is_legal(tt_move):
            tt_move = 0

        # 7. Tablebases: probe when a capture or pawn move has just been made, because the tables assume a halfmove
        # clock of 0. A win or loss is a bound, because there may also be a forced mate. A draw is exact.
        floor = -INFINITE
        ceiling = INFINITE
        if ply and self.probe_limit and self.position.halfmove_clock == 0 and excluded_move == 0:
            score = self._tablebase_score(depth, ply, draw_score)
            if score != NO_SCORE:
                self.tb_hits += 1
                bound = EXACT
                if score >= TABLEBASE_BOUND:
                    floor = score
                    bound = LOWER
                elif score <= -TABLEBASE_BOUND:
                    ceiling = score
                    bound = UPPER
                if bound == EXACT or floor >= beta or ceiling <= alpha:
                    self.table.store(self.position.key, ply, 0, score, NO_SCORE, depth + TABLEBASE_DEPTH_BONUS, bound)
                    return score
                alpha = max(alpha, floor)

        # 8. Static evaluation: the raw eval, damped by the halfmove clock and corrected by the correction history, is
        # the static eval. If the TT bound allows it, the TT score replaces it as `eval`.
        raw_eval: int = entry_eval(entry)
        static_eval: int = NO_SCORE
        eval: int = NO_SCORE
        opponent_worsening: bool = False
        correction: int = 0
        if not in_check:
            static_eval = eval = self._static_eval(raw_eval, ply)
            raw_eval = self.raw_eval
            correction = self.correction
            # A new entry keeps the raw eval, also where a step below returns without a result.
            if entry == 0 and excluded_move == 0:
                self.table.store(self.position.key, ply, 0, 0, raw_eval, EVAL_DEPTH, 0)
            if tt_bound & (LOWER if tt_score > static_eval else UPPER):
                eval = tt_score
            if ply and excluded_move == 0 and self.stack.static_eval[ply - 1] != NO_SCORE:
                # What the opponent's move has lost by the static evals.
                gain = static_eval + self.stack.static_eval[ply - 1]
                opponent_worsening = gain > 0
                # Eval difference history: a previous quiet move gets a malus proportional to that, or a bonus.
                if self.stack.is_quiet[ply - 1]:
                    limit = self.eval_diff_history_limit
                    bonus = max(-limit, min(-gain * self.eval_diff_history_bonus, limit))
                    self.histories.update_previous_in_butterfly(ply, bonus)
                # Hindsight: the static eval says that the reduction of the previous move was too large, or too small.
                if self.stack.reduction[ply - 1] >= 3 and gain <= 0 and ply < self.extension_limit_ply:
                    depth += 1
                elif self.stack.reduction[ply - 1] >= 2 and gain > HINDSIGHT_MARGIN_CP and depth >= 2:
                    depth -= 1
        self.stack.static_eval[ply] = static_eval
        improving: bool = not in_check and self.stack.is_improving(ply)
        self.stack.cutoff_count[ply + 2] = 0
        double_extensions = self.stack.double_extensions[ply - 1] if ply else 0
        self.stack.double_extensions[ply] = double_extensions

        # Steps 9 to 12 prune the whole node. They are off in PV nodes, in check, in singular searches, and in the first
        # plies of a null move verification (up to `null_move_min_ply`).
        if not pv_node and not in_check and excluded_move == 0 and ply >= self.null_move_min_ply:
            # 9. Reverse futility pruning (RFP): at low depth, if the eval is above beta by a margin, return. Gains
            # 98 ± 42.
            rfp_margin = self.reverse_futility_margin_cp * (depth - (1 if improving else 0))
            if opponent_worsening:
                rfp_margin -= self.reverse_futility_worsening_cp
            if (
                depth <= self.reverse_futility_depth
                and eval >= beta
                and eval - rfp_margin >= beta
                and eval < TABLEBASE_BOUND
                and beta > -TABLEBASE_BOUND
            ):
                return (eval + beta) >> 1

            # 10. Null move pruning (NMP): if a null move fails high, return. With pawns only, zugzwang is too likely.
            # Gains 49 ± 31.
            if (
                depth >= self.null_move_depth
                and cut_node
                and self.stack.move[ply - 1]
                and eval >= beta
                and static_eval >= beta
                and beta > -TABLEBASE_BOUND
                and self.position.has_non_pawn_material()
            ):
                reduction = min((eval - beta) // self.null_move_eval_divisor_cp, self.null_move_max_eval_reduction)
                reduction += self.null_move_reduction + depth // self.null_move_divisor
                self.stack.set_null_move(ply)
                self.position.make_null()
                self.table.prefetch(self.position.key)
                score = -self._search(depth - 1 - reduction, -beta, 1 - beta, ply + 1, False)
                self.position.unmake_null()
                if self.stopped:
                    return 0
                if score >= beta:
                    # Do not return an unproven mate or tablebase win.
                    if score >= TABLEBASE_BOUND:
                        score = beta
                    if depth < self.null_move_verification_depth or self.null_move_min_ply:
                        return score
                    # At high depth, verify against zugzwang: search again with steps 9 to 12 off in the next plies.
                    self.null_move_min_ply = ply + (depth - reduction) * NULL_MOVE_VERIFICATION_PERCENT // 100
                    verified = self._search(depth - 1 - reduction, beta - 1, beta, ply, False)
                    self.null_move_min_ply = 0
                    if verified >= beta or self.stopped:
                        return score

            # 11. ProbCut: a capture or promotion that beats beta by a margin at reduced depth will very likely fail
            # high at full depth too. Not if a TT upper bound of that depth says that none does.
            probcut_beta = beta + self.probcut_margin_cp
            reduced_depth = depth - self.probcut_reduction
            if (
                depth >= self.probcut_depth
                and -TABLEBASE_BOUND < beta < TABLEBASE_BOUND
                and not (tt_bound & UPPER and tt_depth > reduced_depth and tt_score < probcut_beta)
            ):
                score = self._probcut(reduced_depth, probcut_beta, ply, tt_move, raw_eval, cut_node)
                if score >= probcut_beta or self.stopped:
                    return score

            # 12. Small ProbCut: return if a TT lower bound, at most a few plies too shallow, beats beta by a larger
            # margin.
            if (
                tt_bound & LOWER
                and tt_depth >= depth - self.small_probcut_depth_margin
                and beta + self.small_probcut_margin_cp <= tt_score < TABLEBASE_BOUND
                and beta > -TABLEBASE_BOUND
            ):
                return beta + self.small_probcut_margin_cp

        # 13. Internal iterative reduction (IIR): without a TT move the move ordering is poor, so reduce the depth by
        # one ply. The next iteration usually has one.
        if depth >= self.iir_depth and tt_move == 0 and excluded_move == 0 and (pv_node or cut_node):
            depth -= 1

        # 14. Singular extension (SE): if all other moves are worse than the TT move by a margin, extend the TT move by
        # one ply, or by two or three if the margin is wide. Multi-cut: if another move beats beta too, return. Negative
        # extension: if the TT move is not singular but a cutoff is likely, reduce it. Gains 42 ± 36.
        tt_move_is_noisy: bool = tt_move != 0 and self.position.is_noisy(tt_move)
        extension = 0
        if (
            depth >= self.singular_depth
            and tt_move
            and excluded_move == 0
            and 0 < ply < self.extension_limit_ply
            and tt_depth >= depth - self.singular_depth_margin
            and tt_bound & LOWER
            and -TABLEBASE_BOUND < tt_score < TABLEBASE_BOUND
        ):
            singular_beta = tt_score - (self.singular_margin * depth >> 6)
            self.stack.excluded_move[ply] = tt_move
            score = self._search((depth - 1) >> 1, singular_beta - 1, singular_beta, ply, cut_node)
            self.stack.excluded_move[ply] = 0
            if self.stopped:
                return 0
            if score < singular_beta:
                extension = 1
                # Where a side is far ahead, scores differ more from move to move.
                double_margin = self.double_extension_margin_cp
                double_margin += abs(tt_score) * self.double_extension_score_margin >> 6
                if score < singular_beta - double_margin and double_extensions < self.double_extension_limit:
                    extension = 2
                    if score < singular_beta - self.triple_extension_margin_cp and not tt_move_is_noisy:
                        extension = 3
            elif singular_beta >= beta:
                return singular_beta
            elif tt_score >= beta:
                extension = -2
            elif cut_node:
                extension = -self.cut_node_reduction

        # 15. The move loop. The singular search has used this ply's part of the stack and of the picker. So set the
        # static eval again, restart the picker and clear the counts.
        self.stack.static_eval[ply] = static_eval
        self.stack.begin_moves(ply)
        self.picker.begin(ply, tt_move, False)
        best_score = -INFINITE
        best_move = 0
        move_count = 0
        old_alpha = alpha
        lmp_count = self.lmp_base + depth * depth
        if not improving:
            lmp_count = lmp_count >> 1
        has_pieces: bool = self.position.has_non_pawn_material()
        while True:
            reduction_1024 = self.reductions[min(depth, 63) * 64 + min(move_count + 1, 63)]
            new_depth = depth - 1
            reduced_depth = max(new_depth - (reduction_1024 >> 10), 0)
            # Steps 16 to 19 prune moves below the root, only once `best_score` is above a loss, and only with pieces
            # (zugzwang). Those of a mate by MDP are left to it.
            can_prune: bool = ply > 0 and has_pieces and best_score > -TABLEBASE_BOUND
            can_skip: bool = can_prune and alpha < MATE - ply - 3

            # 16. Late move pruning (LMP): at low depth, skip late quiet moves unless they give check. Gains 72 ± 35.
            if can_skip and depth <= self.lmp_depth and move_count >= lmp_count:
                self.picker.skip_quiets(ply)

            # 17. Futility pruning: if the static eval is below alpha by a margin, skip quiet moves unless they give
            # check. Later ones are skipped too: alpha only rises, and the reduced depth only falls.
            if (
                can_skip
                and not in_check
                and reduced_depth < self.futility_depth
                and static_eval + self.futility_base_cp + self.futility_margin_cp * reduced_depth <= alpha
            ):
                self.picker.skip_quiets(ply)

            move = self.picker.next(ply) if ply else self._next_root_move(move_count)
            if move == 0:
                break
            if move == excluded_move:
                continue
            # MDP (step 5) in the loop: if only a mate by this move would beat alpha, prune moves that give no check. If
            # beta is a mate by the opponent's next move, any legal move fails high.
            if ply and alpha >= MATE - ply - 3 and not self.stack.gives_check(ply, move):
                best_score = max(best_score, MATE - ply - 3)
                continue
            if ply and beta <= ply + 2 - MATE:
                return ply + 2 - MATE
            quiet: bool = not self.position.is_noisy(move)

            # 18. History pruning: prune quiet moves with a bad history unless they give check. For LMR the history of
            # a capture is doubled, because that of a quiet move is the sum of several tables.
            history = self.histories.quiet_history(ply, move) if quiet else 2 * self.histories.capture_history(move)
            if (
                can_prune
                and quiet
                and reduced_depth < self.history_pruning_depth
                and history < -self.history_pruning_margin * (reduced_depth + 1)
                and not self.stack.gives_check(ply, move)
            ):
                continue

            # 19. SEE pruning: prune moves that lose too much material by static exchange evaluation (SEE). A good
            # capture loses none. In an analysis a check may lose more, because it may be a sacrifice that mates. Gains
            # 68 ± 34.
            if can_prune and depth <= self.see_pruning_depth and not self.picker.is_good_capture(ply):
                if quiet:
                    see_margin = self.see_quiet_margin_cp * reduced_depth * reduced_depth
                else:
                    see_margin = self.see_noisy_margin_cp * depth
                if self.spares_checks and self.stack.gives_check(ply, move):
                    see_margin = max(see_margin, ANALYSIS_CHECK_MARGIN_CP * depth)
                if not self.position.see_at_least(move, -see_margin):
                    continue

            # 20. Make the move.
            move_count += 1
            nodes_before = self.nodes
            doubly_extended: bool = move == tt_move and extension >= 2
            self.stack.double_extensions[ply] = double_extensions + doubly_extended
            if move == tt_move:
                new_depth += extension
            self._make(move, ply, quiet)
            self.stack.move_count[ply] = move_count

            # 21. Late move reductions (LMR): after the first moves, all others but evasions are first searched to a
            # reduced depth. The reduction is larger where a fail low is likely (after a noisy TT move, after many
            # cutoffs at the next ply, with a bad history), and smaller where the static eval was corrected a lot. Gains
            # 69 ± 35.
            reduction = 0
            if depth >= self.lmr_depth and move_count > self.lmr_count and not in_check:
                if tt_move_is_noisy:
                    reduction_1024 += self.lmr_noisy_tt_move
                if self.stack.cutoff_count[ply + 1] > LMR_CUTOFF_LIMIT:
                    reduction_1024 += self.lmr_cutoff_count
                if pv_node:
                    reduction_1024 -= self.lmr_pv_node
                if not improving:
                    reduction_1024 += self.lmr_not_improving
                if cut_node:
                    reduction_1024 += self.lmr_cut_node
                if self.position.checkers:
                    reduction_1024 -= self.lmr_gives_check
                reduction_1024 -= history * self.lmr_history_weight >> 10
                reduction_1024 -= abs(correction) * self.lmr_correction >> 8
                # At least depth 1 remains.
                reduction = max(0, min(reduction_1024 >> 10, new_depth - 1))

            # 22. Principal variation search (PVS): see `_search_move`.
            do_deeper_score = best_score + self.do_deeper_margin_cp if ply < self.extension_limit_ply else INFINITE
            score = self._search_move(
                new_depth, reduction, do_deeper_score, alpha, beta, ply, move_count == 1, pv_node, cut_node
            )
            self.position.unmake(move)
            if self.stopped:
                return best_score
            if ply == 0:
                self.root_moves_done += 1
                self.root_nodes[self.root_first + move_count - 1] += self.nodes - nodes_before
                if score > alpha or move_count == 1:
                    self._set_best_root_move(self.root_first + move_count - 1, self.root_first)
            if score > best_score:
                best_score = score
                if score > alpha:
                    best_move = move
                    if pv_node and ply:
                        self.stack.update_pv(ply, move)
                    alpha = score
                    if score >= beta:
                        self.stack.cutoff_count[ply] = self.stack.cutoff_count[ply] + 1
                        break
            self.stack.add_searched(ply, move)

        # 23. Checkmate and stalemate: there is no legal move. (In a singular search: none other than the TT move.)
        if best_score == -INFINITE:
            if excluded_move:
                return alpha
            return ply - MATE if in_check else draw_score

        # 24. Histories: a bonus for the move that failed high, a malus for the moves searched before it. If all moves
        # failed low, a bonus for the quiet move that led here.
        if best_score >= beta:
            bonus = self._history_bonus(depth, best_score - beta)
            malus = bonus * self.history_malus_percent // 100
            self.histories.update_after_cutoff(ply, best_move, bonus, malus)
        elif ply and best_move == 0 and excluded_move == 0 and self.stack.is_quiet[ply - 1]:
            bonus = self.fail_low_bonus * depth
            self.histories.update_previous_move(ply, min(bonus, self.history_bonus_limit))

        # 25. Store the result, within the bounds of the tablebases, and update the correction history.
        best_score = min(max(best_score, floor), ceiling)
        # With `searchmoves` or MultiPV the score at the root may not be that of the position.
        if excluded_move == 0 and (ply or (self.root_first == 0 and self.all_root_moves)):
            bound = LOWER if best_score >= beta else EXACT if alpha > old_alpha else UPPER
            self.table.store(self.position.key, ply, best_move, best_score, raw_eval, depth, bound)
            if (
                not in_check
                and (best_move == 0 or not self.position.is_noisy(best_move))
                and not (bound == LOWER and best_score <= static_eval)
                and not (bound == UPPER and best_score >= static_eval)
            ):
                self.histories.update_correction(ply, depth, best_score - static_eval)
        # The repeating move may have been pruned, so return at least the draw. The draw is not stored in the TT,
        # because it depends on the path to the node.
        return max(best_score, least_score)

    def _set_best_root_move(self, index: int, first: int) -> void:
        """Set the PV to the root move at `index`, and move it to index `first`. The moves between go back by one."""
        move = self.root_moves[index]
        nodes = self.root_nodes[index]
        self.stack.update_pv(0, move)
        for later in range(index, first, -1):
            self.root_moves[later] = self.root_moves[later - 1]
            self.root_nodes[later] = self.root_nodes[later - 1]
        self.root_moves[first] = move
        self.root_nodes[first] = nodes

    def _next_root_move(self, searched: int) -> int:
        """The root move after so many, or 0."""
        index = self.root_first + searched
        if index >= self.root_end:
            return 0
        self.current_move = self.root_moves[index]
        self.current_move_number = index + 1
        return self.root_moves[index]

    def _make(self, move: int, ply: int, quiet: bool) -> void:
        """Make a move of this ply, and record it in the search stack."""
        self.table.prefetch(self.position.key_after(move))
        self.stack.set_move(ply, move, quiet)
        self.position.make(move)

    def _search_move(
        self,
        depth: int,
        reduction: int,
        do_deeper_score: int,
        alpha: int,
        beta: int,
        ply: int,
        is_first: bool,
        pv_node: bool,
        cut_node: bool,
    ) -> int:
        """Principal variation search (PVS) of the move just made at `ply`: returns its score.

        The first move is searched with the full window. Every other move is searched with a null window and reduced by
        `reduction` plies. If that beats alpha, it is searched without the reduction (a quiet move then gets a history
        bonus or malus), and if it still beats alpha, with the full window. If the reduced search beats
        `do_deeper_score`, the re-search is one ply deeper (do-deeper).
        """
        if is_first:
            return -self._search(depth, -beta, -alpha, ply + 1, not pv_node and not cut_node)
        self.stack.reduction[ply] = reduction
        score = -self._search(depth - reduction, -alpha - 1, -alpha, ply + 1, reduction > 0 or not cut_node)
        self.stack.reduction[ply] = 0
        if score > alpha and reduction > 0:
            if score > do_deeper_score:
                depth += 1
            score = -self._search(depth, -alpha - 1, -alpha, ply + 1, not cut_node)
            if self.stack.is_quiet[ply] and not self.stopped:
                bonus = self._history_bonus(depth, 0)
                self.histories.update_previous_move(ply + 1, bonus if score > alpha else -bonus)
        if alpha < score < beta:
            score = -self._search(depth, -beta, -alpha, ply + 1, False)
        return score

    def _probcut(self, depth: int, probcut_beta: int, ply: int, tt_move: int, raw_eval: int, cut_node: bool) -> int:
        """The score of a capture or promotion that fails high against `probcut_beta` at `depth`, or -INFINITE."""
        self.picker.begin(ply, tt_move, True)
        while True:
            move = self.picker.next(ply)
            if move == 0:
                return -INFINITE
            if not self.position.see_at_least(move, probcut_beta - self.stack.static_eval[ply]):
                continue
            self._make(move, ply, False)
            score = -self._quiescence(-probcut_beta, 1 - probcut_beta, ply + 1)
            if score >= probcut_beta and not self.stopped:
                score = -self._search(depth, -probcut_beta, 1 - probcut_beta, ply + 1, not cut_node)
            self.position.unmake(move)
            if self.stopped:
                return 0
            if score >= probcut_beta:
                self.table.store(self.position.key, ply, move, score, raw_eval, depth + 1, LOWER)
                return score

    def _static_eval(self, raw_eval: int, ply: int) -> int:
        """The static eval: the raw eval (that of the TT, or NO_SCORE), damped, corrected, below tablebase scores."""
        # Read the correction history before evaluating, so that the cache miss overlaps with the evaluation.
        self.correction = self.histories.correction(ply)
        self.raw_eval = self.evaluator.evaluate(self.position) if raw_eval == NO_SCORE else raw_eval
        static_eval = self.raw_eval - ((self.raw_eval * self.position.halfmove_clock) >> FIFTY_MOVE_DAMPING)
        static_eval += (self.correction * self.correction_history_weight) >> 16
        return max(1 - STATIC_LIMIT, min(static_eval, STATIC_LIMIT - 1))

    def _quiescence(self, alpha: int, beta: int, ply: int) -> int:
        """Quiescence search (qsearch): captures and promotions with SEE >= 0; in check, evasions of all kinds."""
        # 1. Count the node; draws, also by an upcoming repetition, and the maximum ply.
        if self._enter_node(ply):
            return 0
        draw_score = self.contempt_cp if ply & 1 else -self.contempt_cp
        if self.position.is_draw(ply):
            return draw_score
        in_check: bool = self.position.checkers != 0
        if ply >= LAST_PLY:
            return 0 if in_check else self.evaluator.evaluate(self.position)
        pv_node: bool = beta - alpha > 1
        least_score = -INFINITE
        if alpha < draw_score and self.position.upcoming_repetition(ply):
            alpha = least_score = draw_score
            if alpha >= beta:
                return alpha

        # 2. Transposition table (TT): any depth is enough here.
        entry: u64 = self.table.probe(self.position.key)
        tt_move: int = entry_move(entry)
        tt_bound: int = entry_bound(entry)
        tt_score: int = entry_score(entry, ply)
        if (
            not pv_node
            and self.position.halfmove_clock < TT_HALFMOVE_LIMIT
            and tt_bound & (LOWER if tt_score >= beta else UPPER)
        ):
            return tt_score
        # A mate in a PV node: search on, so that the PV reaches it. At ply 0 there are no root moves to search.
        if pv_node and ply and tt_bound and (tt_score >= MATE_BOUND or tt_score <= -MATE_BOUND):
            return max(least_score, self._search(1, alpha, beta, ply, False))

        # 3. Stand pat: when not in check, the side to move need not capture, so the eval is a lower bound.
        raw_eval: int = entry_eval(entry)
        static_eval: int = NO_SCORE
        best_score: int = -INFINITE
        if not in_check:
            static_eval = best_score = self._static_eval(raw_eval, ply)
            raw_eval = self.raw_eval
            if tt_bound & (LOWER if tt_score > best_score else UPPER):
                best_score = tt_score
            if best_score >= beta:
                if entry == 0:
                    self.table.store(self.position.key, ply, 0, best_score, raw_eval, 0, LOWER)
                return best_score
        alpha = max(alpha, best_score)

        # 4. The move loop.
        self.picker.begin(ply, tt_move if self.position.is_legal(tt_move) else 0, True)
        best_move = 0
        move_count = 0
        quiet_count = 0
        futility_base = static_eval + self.quiescence_futility_margin_cp
        while True:
            move = self.picker.next(ply)
            if move == 0:
                break

            # 5. Move count pruning: after the first moves, search only recaptures and promotions. In check, search only
            # the first quiet evasions once `best_score` is above a loss.
            if in_check and best_score > -TABLEBASE_BOUND and not self.position.is_noisy(move):
                quiet_count += 1
                if quiet_count > self.quiescence_evasions:
                    continue
            if (
                not in_check
                and move_count >= self.quiescence_capture_limit
                and move_type(move) != PROMOTION
                and to_square(move) != self.stack.previous_to_square(ply)
            ):
                continue

            # 6. Futility pruning (delta pruning): even winning the piece for free would not beat alpha.
            if not in_check and best_score > -TABLEBASE_BOUND and move_type(move) != PROMOTION:
                captured = PAWN if move_type(move) == EN_PASSANT else self.position.squares[to_square(move)] >> 1
                futility_score = futility_base + SEE_VALUES[captured]
                if futility_score <= alpha:
                    best_score = max(best_score, futility_score)
                    continue

            # 7. SEE pruning: a move must not lose material. If `futility_base` does not beat alpha, it must win
            # material.
            if not in_check and not self.position.see_at_least(move, 1 if futility_base <= alpha else 0):
                if futility_base <= alpha and futility_base > best_score:
                    best_score = futility_base
                continue

            # 8. Make the move and search it.
            move_count += 1
            self._make(move, ply, False)
            score = -self._quiescence(-beta, -alpha, ply + 1)
            self.position.unmake(move)
            if self.stopped:
                return 0
            if score > best_score:
                best_score = score
                if score > alpha:
                    best_move = move
                    if pv_node:
                        self.stack.update_pv(ply, move)
                    alpha = score
                    if score >= beta:
                        break

        # 9. Checkmate: in check without a legal move. (When not in check, stand pat has set the best score.)
        if best_score == -INFINITE:
            return ply - MATE

        # 10. Store the result, but not as exact: it does not replace a deeper entry. Then as in step 25 of the search.
        bound = LOWER if best_score >= beta else UPPER
        self.table.store(self.position.key, ply, best_move, best_score, raw_eval, 0, bound)
        return max(best_score, least_score)

    def _enter_node(self, ply: int) -> bool:
        """Count a node and clear its PV. Returns whether the search must stop."""
        self.stack.pv_length[ply] = 0
        if self.nodes >= self.node_limit or (self.nodes & POLL_MASK == 0 and self.stop_requested):
            self.stopped = True
        if self.stopped:
            return True
        self.nodes += 1
        if ply > self.deepest_ply:
            self.deepest_ply = ply
        return False

    def _history_bonus(self, depth: int, above_beta_cp: int) -> int:
        """The history bonus at `depth`, for one ply more if the score is well above beta."""
        bonus = self.history_bonus * (depth + 1 if above_beta_cp > self.history_bonus_margin_cp else depth)
        return min(bonus, self.history_bonus_limit)

    def _tablebase_score(self, depth: int, ply: int, draw_score: int) -> int:
        """The score by the win, draw or loss (WDL) of the tablebases, or NO_SCORE. With the fifty-move rule, a cursed
        win scores 1 centipawn more than a draw, and a blessed loss 1 less.
        """
        piece_count = popcount(self.position.by_colour[0] | self.position.by_colour[1])
        if piece_count > self.probe_limit or (piece_count == self.probe_limit and depth < self.probe_depth):
            return NO_SCORE
        wdl = self.prober.probe_wdl(self.position)
        if wdl == FAILED:
            return NO_SCORE
        draw_limit = 1 if self.fifty_moves else 0
        if wdl > draw_limit:
            return TABLEBASE_WIN - ply
        if wdl < -draw_limit:
            return ply - TABLEBASE_WIN
        return draw_score + wdl
