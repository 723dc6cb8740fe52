"""The search: principal variation alpha-beta with quiescence, over either board.

`deepening` asks for one depth at a time and reads the fields. What must stay true: node count, score, best move and
line depend only on the position with its history, the limits, the table's contents and the histories, so that both
cores walk the same tree; a stopped search leaves the board as it found it; scores are from the side to move's view, in
centipawns, laid out as in `uci_engine.score`.

Three profiles share this code. NORMAL plays. PLAIN prunes and reduces nothing, has no quiescence and no table, and so
returns exactly minimax's value: that is what alpha-beta is. MATING is PLAIN with the table, looking for mate alone: a
depth of 2n - 1 proves or refutes a mate in n, because our last move must give check and its answer must not exist.

What a step is "worth" is what the engine loses without it, in Elo with the 95 % error at 10 000 nodes a move: all were
measured by one run of `scripts/screen.py --share 0.1` with 586 pairs of games, from the options of `--tuning`.

Tried and left out, each screened at 12 000 to 15 000 nodes a move: razoring (-8 ± 11, 1316 pairs), checks in quiescence
(-2 ± 14), extension of checks (-12 ± 23) and of a check at the horizon (-5 ± 15), reduction of evasions (+1 ± 14), no
reduction of pawns about to promote (+5 ± 14), a ply less for a table move not deep enough (-15 ± 23), futility by the
table's score (-18 ± 23), a bonus for the move before a fail low (-10 ± 23), a null move in cut nodes alone (+6 ± 14),
good captures by their history (+9 ± 15), no reverse futility before a quiet table move (+4 ± 14), a ply less once
alpha was raised (+2 ± 15), reduction by the opponent's move number (-2 ± 23), a ply less after a small surprise
(-8 ± 23).
"""

import math

import cython

from uci_engine import score as scores
from uci_engine.search import parameters
from uci_engine.tunable import checked

if not cython.compiled:
    from evaluation.bitboards import PAWN, i64, popcount, u64
    from uci_engine.board.moves import EN_PASSANT, PROMOTION, move_type, to_square
    from uci_engine.board.position import SEE_VALUES
    from uci_engine.search.correction_history import CorrectionHistory
    from uci_engine.search.move_picker import MovePicker
    from uci_engine.search.transposition_table import (
        EXACT,
        LOWER,
        UPPER,
        entry_bound,
        entry_depth,
        entry_eval,
        entry_move,
        entry_score,
    )
    from uci_engine.tablebases.syzygy import FAILED, SyzygyProber

MATE = scores.MATE
TABLEBASE_WIN = scores.TABLEBASE_WIN
TABLEBASE_BOUND = scores.TABLEBASE_BOUND
INFINITE = scores.INFINITE
NO_SCORE = scores.NO_SCORE
# Static scores stay below everything that is proved.
STATIC_LIMIT = scores.STATIC_LIMIT
MAX_PLY = scores.MAX_PLY
# At this ply a position is only evaluated: the picker and the line have room for no more.
LAST_PLY = MAX_PLY - 2
NORMAL, PLAIN, MATING = parameters.NORMAL, parameters.PLAIN, parameters.MATING
# What a tablebase tells holds for every depth; remember it as if searched so much deeper.
PROBE_BONUS_PLIES = 6
# What the mate prover finds is true of its own kind of search only, so it keeps it under other keys.
MATING_SALT = 0x2D358DCCAA6C78A5
# Look at the stop flag every so many nodes: about 0.2 ms compiled, a few milliseconds in plain Python.
POLL_MASK = 511 if cython.compiled else 31


class Searcher:
    """One search over one position. Its fields may be read from another thread while it runs; `stop` may be called.

    A move of the root is searched by `search_root` when `set_root` lists it; `nodes` counts every position entered
    below the root.
    """

    def __init__(self, position, evaluator, table, values=None):
        """`values`: search parameters that differ from the defaults of `parameters`, by name."""
        self.position = position
        self.evaluator = evaluator
        self.table = table
        self.picker = MovePicker(position)
        self.prober = SyzygyProber()
        self.correction_history = CorrectionHistory(position)
        self.set_probing(0, 1, True)
        if not cython.compiled:
            self.root_moves = [0] * 256
            self.static_scores = [0] * MAX_PLY
            self.pv_length = [0] * MAX_PLY
            self.pv = [0] * (MAX_PLY * MAX_PLY)
            self.excluded = [0] * MAX_PLY
            self.quiet_made = [0] * MAX_PLY
            self.doubled = [0] * MAX_PLY
            self.quiets_tried = [0] * (MAX_PLY * 64)
            self.noisy_tried = [0] * (MAX_PLY * 32)
            self.reductions = [0] * 4096
        self.configure(values or {})
        self.begin(0, NORMAL)
        self.stopped = True

    def configure(self, values):
        """Set search parameters by name, those not named to their defaults. Raises ValueError (see `parameters`)."""
        chosen = checked(parameters.PARAMETERS, values)
        for name, value in chosen.items():
            setattr(self, name, value)
        logarithms = [math.log(max(number, 1)) for number in range(64)]
        base = chosen["lmr_base"] / 100
        factor = 100 / chosen["lmr_divisor"]
        for depth in range(1, 64):
            for number in range(1, 64):
                self.reductions[depth * 64 + number] = int(base + factor * logarithms[depth] * logarithms[number])

    # Called by `deepening`, with the GIL ------------------------------------------------------------------------

    def begin(self, node_limit, profile):
        """Start counting anew. `node_limit`: nodes after which the search stops by itself, 0 for no limit."""
        self.profile = profile
        self.node_limit = node_limit if node_limit > 0 else 1 << 62
        self.nodes = 0
        self.table_hits = 0
        self.seldepth = 0
        self.root_count = 0
        self.root_is_whole = False
        self.root_done = 0
        self.best_share = 0
        self.current_move = 0
        self.current_number = 0
        self.stopped = False
        self.stop_wanted = 0
        self.pv_length[0] = 0
        self.root_depth = 0
        self.null_move_ply = 0
        for ply in range(MAX_PLY):
            self.excluded[ply] = 0
            self.doubled[ply] = 0
            self.quiet_made[ply] = 0
            self.picker.clear_killers(ply)

    def set_probing(self, limit, depth, fifty_moves):
        """Ask the tablebases about positions of up to `limit` pieces (0: never); at the limit only `depth` plies or
        more from the horizon. `fifty_moves`: whether a win that the fifty-move rule spoils is a draw.
        """
        self.probe_limit = min(limit, self.prober.largest)
        self.probe_depth = depth
        self.fifty_moves = fifty_moves

    def set_profile(self, profile):
        """Go on in another profile, with the same counts and limits."""
        self.profile = profile

    def stop(self):
        """Ask a running search to end soon; once asked, this search does not go on."""
        self.stop_wanted = 1

    def set_root(self, moves):
        """The root's moves, legal and distinct, the likeliest first (at most 256)."""
        self.root_count = len(moves)
        self.root_is_whole = len(moves) == len(self.position.legal_moves())
        index: cython.int
        for index in range(self.root_count):
            self.root_moves[index] = moves[index]

    def root(self):
        """The root's moves as the searches so far have ordered them."""
        return [self.root_moves[index] for index in range(self.root_count)]

    def search_root(self, depth, alpha, beta, first, end=0):
        """Search the root's moves from number `first` up to `end` (0: all) to `depth`; returns the best score.

        Outside the window the score is only a bound. The best move stands at `first` afterwards, its line in `line()`.
        When `stopped` is true, only `root_done` moves were finished, and the result counts only if it is above alpha.
        """
        asked_depth: cython.int = depth
        low: cython.int = alpha
        high: cython.int = beta
        start: cython.int = first
        self.root_end = end or self.root_count
        with cython.nogil:
            result = self._root(asked_depth, low, high, start)
        return result

    def line(self):
        """The principal variation of the last search, as move numbers."""
        return [self.pv[index] for index in range(self.pv_length[0])]

    def evaluate(self):
        """The static score of the position now set, from the side to move's view."""
        return self.evaluator.evaluate(self.position)

    def expected_reply(self, move):
        """The table's move after `move` is played at the root, or 0: something to ponder on."""
        self.position.make(move)
        entry = self.table.probe(self.position.key)
        reply: cython.int = entry_move(entry)
        if not self.position.is_legal(reply):
            reply = 0
        self.position.unmake(move)
        return reply

    def forget(self):
        """A new game: empty the histories. The table is its owner's to clear."""
        self.picker.forget()
        self.correction_history.forget()

    # The search itself ------------------------------------------------------------------------------------------

    def _root(self, depth, alpha, beta, first):
        best = -INFINITE
        self.root_done = 0
        self.seldepth = 0
        self.pv_length[0] = 0
        old_alpha = alpha
        self.root_depth = depth
        raw = NO_SCORE if self.position.checkers else self.evaluator.evaluate(self.position)
        self.static_scores[0] = NO_SCORE if raw == NO_SCORE else self._corrected(raw, self._known_error(0))
        nodes_before = self.nodes
        best_nodes: i64 = 0
        for index in range(first, self.root_end):
            move = self.root_moves[index]
            self.current_move = move
            self.current_number = index + 1
            started_at = self.nodes
            noisy: cython.bint = self.position.is_noisy(move)
            quiet: cython.bint = not noisy and self.position.checkers == 0
            self.table.prefetch(self.position.key_after(move))
            self.picker.note(0, move)
            self.quiet_made[0] = 0 if noisy else move
            self.position.make(move)
            if index == first:
                score = -self._search(depth - 1, -beta, -alpha, 1, False)
            else:
                reduction = 0
                if self.profile == NORMAL and depth >= self.lmr_depth and quiet and self.position.checkers == 0:
                    number = index - first
                    if number > self.lmr_count:
                        reduction = self._reduction(depth, number) - 1
                        if reduction < 0:
                            reduction = 0
                score = -self._search(depth - 1 - reduction, -alpha - 1, -alpha, 1, True)
                if score > alpha and reduction > 0:
                    score = -self._search(depth - 1, -alpha - 1, -alpha, 1, True)
                if alpha < score < beta:
                    score = -self._search(depth - 1, -beta, -alpha, 1, False)
            self.position.unmake(move)
            if self.stopped:
                return best
            self.root_done += 1
            if score > best:
                best = score
                if score > alpha or index == first:
                    best_nodes = self.nodes - started_at
                    self._keep_line(0, move)
                    for place in range(index, first, -1):
                        self.root_moves[place] = self.root_moves[place - 1]
                    self.root_moves[first] = move
                if score > alpha:
                    alpha = score
                if score >= beta:
                    break
        if first == 0 and self.nodes > nodes_before:
            self.best_share = best_nodes * 1000 // (self.nodes - nodes_before)
        # The best of some moves only is not the position's score.
        if first == 0 and self.root_is_whole and self.profile == NORMAL and self.root_done > 0:
            bound = LOWER if best >= beta else EXACT if best > old_alpha else UPPER
            move = self.root_moves[0] if best > old_alpha else 0
            self.table.store(self.position.key, move, self.to_table(best, 0), raw, depth, bound)
        return best

    def _search(self, depth, alpha, beta, ply, cut_node):
        """The value of the position `ply` moves below the root, `depth` plies deep, exact if it lies in the window.

        `cut_node`: a fail high is expected here, so that less can be risked.
        """
        profile = self.profile
        in_check: cython.bint = self.position.checkers != 0

        # 1. At the horizon, look on until the position is quiet.
        if depth <= 0:
            if profile == NORMAL:
                return self._quiescence(alpha, beta, ply)
            return self._leaf(ply)

        # 2. Count, and stop when asked to.
        if self._enter(ply):
            return 0

        # 3. Draws, and the end of the arrays. The mate prover leaves repetitions aside: the shortest mate has none.
        excluded = self.excluded[ply]
        draw_at_hand: cython.bint = False
        if excluded == 0:
            if profile == MATING:
                if self.position.is_exhausted():
                    return 0
            elif self.position.is_draw(ply) or (profile == NORMAL and self.evaluator.is_known_draw(self.position)):
                return 0
            if ply >= LAST_PLY:
                return 0 if in_check else self.evaluator.evaluate(self.position)
            # One move away from a repetition, nothing less than a draw need be accepted.
            if profile == NORMAL and alpha < 0 and self.position.upcoming_repetition(ply):
                alpha = 0
                draw_at_hand = True
                if alpha >= beta:
                    return alpha

        # 4. Mate distance: no line from here can beat a shorter mate already found. (An open window stays one by name,
        # so that the mate's line is kept to its end.)
        pv_node: cython.bint = beta - alpha > 1
        if profile != PLAIN:
            if alpha < ply - MATE:
                alpha = ply - MATE
            if beta > MATE - ply - 1:
                beta = MATE - ply - 1
            if alpha >= beta:
                return alpha

        # 5. What the table knows. Near the fifty-move limit an old score may be a win that cannot be finished.
        key = self.position.key
        if profile == MATING:
            key ^= MATING_SALT
        entry: u64 = 0
        if profile != PLAIN:
            entry = self.table.probe(key)
        tt_move: cython.int = 0
        tt_bound: cython.int = 0
        tt_score: cython.int = 0
        tt_depth: cython.int = 0
        if entry:
            tt_move = entry_move(entry)
            tt_bound = entry_bound(entry)
            tt_score = self.from_table(entry_score(entry), ply)
            tt_depth = entry_depth(entry)
            if (
                not pv_node
                and excluded == 0
                and tt_depth >= depth
                and self.position.halfmove < 90
                and tt_bound & (LOWER if tt_score >= beta else UPPER)
            ):
                # A quiet move that cuts without a search has proved itself once more.
                if (
                    tt_score >= beta
                    and tt_move
                    and self.position.is_legal(tt_move)
                    and not self.position.is_noisy(tt_move)
                ):
                    bonus = self.tt_cutoff_bonus * depth
                    limit = self.history_bonus_limit >> 1
                    self.picker.adjust(ply, tt_move, bonus if bonus < limit else limit)
                return tt_score
            if tt_move and not self.position.is_legal(tt_move):
                tt_move = 0

        # 6. What the tablebases know. They take the fifty-move clock to be 0, so it must be: that is where the pieces
        # have just become few enough. Wins and losses are bounds, for a mate may come on the way; search on between
        # them.
        floor = -INFINITE
        ceiling = INFINITE
        if profile == NORMAL and self.probe_limit and self.position.halfmove == 0 and excluded == 0:
            wdl = self._probe(depth)
            if wdl != FAILED:
                self.table_hits += 1
                known = self._tablebase_score(wdl, ply)
                if known >= TABLEBASE_BOUND:
                    floor = known
                    bound = LOWER
                elif known <= -TABLEBASE_BOUND:
                    ceiling = known
                    bound = UPPER
                else:
                    bound = EXACT
                if bound == EXACT or floor >= beta or ceiling <= alpha:
                    self.table.store(key, 0, self.to_table(known, ply), NO_SCORE, depth + PROBE_BONUS_PLIES, bound)
                    return known
                if floor > alpha:
                    alpha = floor

        # 7. Static evaluation, corrected by what searches of like positions found, and a better estimate where the
        # table's score tells more. The correction_history are worth 25 ± 34.
        raw: cython.int = NO_SCORE
        static: cython.int = NO_SCORE
        estimate: cython.int = NO_SCORE
        improving: cython.bint = False
        if profile == NORMAL and not in_check:
            # Asked for first, for what memory takes to answer is about what the evaluation takes.
            error = self._known_error(ply)
            if entry:
                raw = entry_eval(entry)
            if raw == NO_SCORE:
                raw = self.evaluator.evaluate(self.position)
            static = self._corrected(raw, error)
            estimate = static
            if entry and tt_bound & (LOWER if tt_score > static else UPPER):
                estimate = tt_score
            if ply >= 2 and self.static_scores[ply - 2] != NO_SCORE:
                improving = static > self.static_scores[ply - 2]
            elif ply >= 4 and self.static_scores[ply - 4] != NO_SCORE:
                improving = static > self.static_scores[ply - 4]
            else:
                improving = True
            # The quiet move that led here is judged at once by what it did to its side's static score.
            if excluded == 0 and self.quiet_made[ply - 1] and self.static_scores[ply - 1] != NO_SCORE:
                swing = -(static + self.static_scores[ply - 1]) * self.eval_diff_history_bonus
                if swing > self.eval_diff_history_limit:
                    swing = self.eval_diff_history_limit
                elif swing < -self.eval_diff_history_limit:
                    swing = -self.eval_diff_history_limit
                self.picker.adjust_made(self.quiet_made[ply - 1], swing)
        self.static_scores[ply] = static

        # Steps 8 to 11 trust scores, and so that passing harms nobody: not where that is being verified.
        if profile == NORMAL and not pv_node and not in_check and excluded == 0 and ply >= self.null_move_ply:
            # 8. Reverse futility: so far above beta, so near the horizon, nothing will bring the score down again.
            # Worth 98 ± 42.
            if (
                depth <= self.reverse_futility_depth
                and estimate - self.reverse_futility_margin_cp * (depth - (1 if improving else 0)) >= beta
                and estimate < TABLEBASE_BOUND
                and beta > -TABLEBASE_BOUND
            ):
                return (estimate + beta) >> 1

            # 9. Null move: if even passing holds beta, some move will. With pawns alone, passing may be best.
            # Worth 49 ± 31.
            if (
                depth >= self.null_move_depth
                and not self.picker.was_pass(ply - 1)
                and estimate >= beta
                and static >= beta
                and beta > -TABLEBASE_BOUND
                and self.position.has_non_pawn_material()
            ):
                surplus = (estimate - beta) // self.null_move_margin_cp
                reduction = self.null_move_reduction + depth // self.null_move_divisor + (surplus if surplus < 3 else 3)
                self.picker.note(ply, 0)
                self.quiet_made[ply] = 0
                self.position.make_null()
                self.table.prefetch(self.position.key)
                score = -self._search(depth - 1 - reduction, -beta, 1 - beta, ply + 1, not cut_node)
                self.position.unmake_null()
                if self.stopped:
                    return 0
                if score >= beta:
                    # A mate or a tablebase win seen by passing is not proved.
                    if score >= TABLEBASE_BOUND:
                        score = beta
                    if depth < self.null_move_verification_depth or self.null_move_ply:
                        return score
                    # Deep in the tree, zugzwang is ruled out by a search without passing for the next plies.
                    self.null_move_ply = ply + (depth - reduction) * 3 // 4
                    verified = self._search(depth - 1 - reduction, beta - 1, beta, ply, False)
                    self.null_move_ply = 0
                    if self.stopped:
                        return 0
                    if verified >= beta:
                        return score

            # 10. ProbCut: a capture that beats beta by a margin in a shallow search will hold it in a deep one.
            # Worth 1 ± 36.
            if (
                depth >= self.probcut_depth
                and -TABLEBASE_BOUND < beta < TABLEBASE_BOUND
                and not (entry and tt_depth >= depth - 3 and tt_score < beta + self.probcut_margin_cp)
            ):
                score = self._probcut(depth, beta + self.probcut_margin_cp, ply, tt_move, static, cut_node)
                if self.stopped:
                    return 0
                if score > beta:
                    self.table.store(key, self.probcut_move, self.to_table(score, ply), raw, depth - 3, LOWER)
                    return score

            # 11. So far above beta did a search nearly as deep see it that another will not fall below.
            # Worth 18 ± 35.
            if (
                tt_bound & LOWER
                and tt_depth >= depth - 4
                and beta + self.small_probcut_margin_cp <= tt_score < TABLEBASE_BOUND
                and beta > -TABLEBASE_BOUND
            ):
                return beta + self.small_probcut_margin_cp

        # 12. Without a move from the table the ordering is poor: save a ply and come back with one.
        # Worth 2 ± 36.
        if (
            profile == NORMAL
            and depth >= self.iir_depth
            and tt_move == 0
            and excluded == 0
            and (pv_node or cut_node)
        ):
            depth -= 1

        # 13. Singular extension: when all other moves are worse than the table's by a margin, that move decides the
        # node and deserves more depth. When another move holds beta too, the node is cut; when the margin is not met
        # though the table's move beats beta, it deserves less.
        # Worth 42 ± 36.
        extension = 0
        if ply > 0:
            self.doubled[ply] = self.doubled[ply - 1]
        if (
            profile == NORMAL
            and depth >= self.singular_depth
            and tt_move
            and excluded == 0
            and ply < 2 * self.root_depth
            and tt_depth >= depth - 3
            and tt_bound & LOWER
            and -TABLEBASE_BOUND < tt_score < TABLEBASE_BOUND
        ):
            target = tt_score - self.singular_margin * depth
            self.excluded[ply] = tt_move
            score = self._search((depth - 1) >> 1, target - 1, target, ply, cut_node)
            self.excluded[ply] = 0
            if self.stopped:
                return 0
            if score < target:
                extension = 1
                if not pv_node and score < target - self.double_extension_margin_cp and self.doubled[ply] < 8:
                    extension = 2
                    self.doubled[ply] += 1
            elif target >= beta:
                return target
            elif tt_score >= beta:
                extension = -2
            elif cut_node:
                extension = -1

        # 14. The moves, the likeliest first: that one with the open window, the others to show that they are no better.
        # (The searches at this ply that left a move out wrote their own static score.)
        self.static_scores[ply] = static
        self.picker.clear_killers(ply + 1)
        self.picker.begin(ply, tt_move, False)
        best = -INFINITE
        best_move = 0
        best_quiet: cython.bint = False
        searched = 0
        quiets = 0
        noisies = 0
        legal = 0
        old_alpha = alpha
        late_count = self.lmp_base + depth * depth
        if not improving:
            late_count = late_count >> 1
        while True:
            move = self.picker.next(ply)
            if move == 0:
                break
            if move == excluded:
                continue
            legal += 1
            if profile == MATING and depth == 1 and not self.position.gives_check(move):
                continue
            quiet: cython.bint = not self.position.is_noisy(move)
            history = self.picker.history_of(ply, move) if quiet else 0
            new_depth = depth - 1
            reduction = self._reduction(depth, searched + 1)

            # 15. Near the horizon, once some move is no loss, leave out what promises nothing: but no quiet check that
            # keeps its piece.
            # Worth: late moves 72 ± 35, bad histories -18 ± 36, futility 29 ± 35, losing material 68 ± 34.
            if profile == NORMAL and best > -TABLEBASE_BOUND and self.position.has_non_pawn_material():
                if quiet:
                    reduced_depth = new_depth - reduction
                    if reduced_depth < 0:
                        reduced_depth = 0
                    late: cython.bint = depth <= self.lmp_depth and searched >= late_count
                    unlucky: cython.bint = (
                        reduced_depth < self.history_pruning_depth
                        and history < -self.history_pruning_margin * (reduced_depth + 1)
                    )
                    futile: cython.bint = (
                        reduced_depth < self.futility_depth
                        and not in_check
                        and static + self.futility_base_cp + self.futility_margin_cp * reduced_depth <= alpha
                    )
                    if late:
                        self.picker.skip_quiets(ply)
                    if (late or unlucky or futile) and not self.position.gives_check(move):
                        continue
                    # Losing material
                    if depth <= self.see_pruning_depth and not self.position.see_at_least(
                        move, -self.see_quiet_margin_cp * reduced_depth * reduced_depth
                    ):
                        continue
                elif depth <= self.see_pruning_depth and not self.position.see_at_least(
                    move, -self.see_noisy_margin_cp * depth
                ):
                    continue

            searched += 1
            if move == tt_move:
                new_depth += extension
            self.table.prefetch(self.position.key_after(move))
            self.picker.note(ply, move)
            self.quiet_made[ply] = move if quiet else 0
            self.position.make(move)
            if searched == 1:
                score = -self._search(new_depth, -beta, -alpha, ply + 1, not pv_node and not cut_node)
            else:
                # 16. Late move reductions: after the first few moves a quiet one is first tried less deep.
                # Worth 69 ± 35; of it, more where a cut is expected 13 ± 37; a ply deeper after a surprise 26 ± 41;
                # two plies less where it gives check, not one, 14 ± 12 (986 pairs at 12 000 nodes).
                if (
                    profile == NORMAL
                    and depth >= self.lmr_depth
                    and searched > self.lmr_count
                    and (quiet or self.picker.is_losing(ply))
                    and not in_check
                ):
                    if pv_node:
                        reduction -= 1
                    if not improving:
                        reduction += 1
                    if cut_node:
                        reduction += self.lmr_cut
                    if self.position.checkers:
                        reduction -= self.lmr_check
                    if history > self.lmr_history:
                        reduction -= 1 + (1 if history > 2 * self.lmr_history else 0)
                    elif history < -self.lmr_history:
                        reduction += 1 + (1 if history < -2 * self.lmr_history else 0)
                    if reduction > new_depth - 1:
                        reduction = new_depth - 1
                    if reduction < 0:
                        reduction = 0
                else:
                    reduction = 0
                score = -self._search(new_depth - reduction, -alpha - 1, -alpha, ply + 1, reduction > 0 or not cut_node)
                if score > alpha and reduction > 0:
                    if score > best + self.do_deeper_margin_cp and ply < 2 * self.root_depth:
                        new_depth += 1
                    score = -self._search(new_depth, -alpha - 1, -alpha, ply + 1, not cut_node)
                if alpha < score < beta:
                    score = -self._search(new_depth, -beta, -alpha, ply + 1, False)
            self.position.unmake(move)
            if self.stopped:
                return 0
            if score > best:
                best = score
                if score > alpha:
                    best_move = move
                    best_quiet = quiet
                    if pv_node:
                        self._keep_line(ply, move)
                    alpha = score
                    if score >= beta:
                        break
            if quiet and quiets < 64:
                self.quiets_tried[ply * 64 + quiets] = move
                quiets += 1
            elif not quiet and noisies < 32:
                self.noisy_tried[ply * 32 + noisies] = move
                noisies += 1

        # 17. No legal move: mate or stalemate. (The mate prover passes over last moves that do not check.)
        if searched == 0:
            if excluded:
                return alpha
            if legal:
                return 0
            return ply - MATE if in_check else 0

        # 18. Learn from a cut.
        if best >= beta:
            weight = depth + 1 if best > beta + self.history_bonus_margin_cp else depth
            self._learn(weight, ply, best_move, best_quiet, quiets, noisies)

        # 19. Remember, within what the tablebases know.
        if best < floor:
            best = floor
        if best > ceiling:
            best = ceiling
        if profile != PLAIN and excluded == 0:
            bound = LOWER if best >= beta else EXACT if alpha > old_alpha else UPPER
            self.table.store(key, best_move, self.to_table(best, ply), raw, depth, bound)
            if (
                profile == NORMAL
                and not in_check
                and (best_move == 0 or best_quiet)
                and not (bound == LOWER and best <= static)
                and not (bound == UPPER and best >= static)
            ):
                self.correction_history.learn(self.picker.last_moves(ply), depth, best - static)
        # The move that repeats may have been left out; how the board came to be here is not for the table to know.
        return 0 if draw_at_hand and best < 0 else best

    def _probcut(self, depth, target, ply, tt_move, static, cut_node):
        """A score of at least `target` that a capture reaches four plies less deep, or -INFINITE."""
        self.picker.begin(ply, tt_move, True)
        while True:
            move = self.picker.next(ply)
            if move == 0:
                return -INFINITE
            if not self.position.see_at_least(move, target - static):
                continue
            self.table.prefetch(self.position.key_after(move))
            self.picker.note(ply, move)
            self.quiet_made[ply] = 0
            self.position.make(move)
            score = -self._quiescence(-target, 1 - target, ply + 1)
            if score >= target and not self.stopped:
                score = -self._search(depth - 4, -target, 1 - target, ply + 1, not cut_node)
            self.position.unmake(move)
            if self.stopped:
                return 0
            if score >= target:
                self.probcut_move = move
                return score

    def _known_error(self, ply):
        """What searches of positions like this one have taught of the static score's error, as `correction_history` has
        it.
        """
        return self.correction_history.total(self.picker.last_moves(ply))

    def _corrected(self, raw, error):
        """A static score, moved by what is known of its error, and kept out of the range of proved scores."""
        static = raw + ((error * self.correction_weight) >> 16)
        if static >= STATIC_LIMIT:
            return STATIC_LIMIT - 1
        return 1 - STATIC_LIMIT if static <= -STATIC_LIMIT else static

    def _quiescence(self, alpha, beta, ply):
        """Captures and promotions that lose nothing, and every way out of check, until the position is quiet."""
        if self._enter(ply):
            return 0
        if self.position.is_draw(ply):
            return 0
        in_check: cython.bint = self.position.checkers != 0
        if ply >= LAST_PLY:
            return 0 if in_check else self.evaluator.evaluate(self.position)

        # 1. What the table knows: any depth is enough here.
        pv_node: cython.bint = beta - alpha > 1
        entry = self.table.probe(self.position.key)
        tt_move: cython.int = 0
        tt_bound: cython.int = 0
        tt_score: cython.int = 0
        if entry:
            tt_move = entry_move(entry)
            tt_bound = entry_bound(entry)
            tt_score = self.from_table(entry_score(entry), ply)
            if not pv_node and self.position.halfmove < 90 and tt_bound & (LOWER if tt_score >= beta else UPPER):
                return tt_score

        # 2. Stand pat: the side to move need not capture. In check it may not stand still.
        raw: cython.int = NO_SCORE
        static: cython.int = NO_SCORE
        best: cython.int = -INFINITE
        if not in_check:
            # Asked for first, for what memory takes to answer is about what the evaluation takes.
            error = self._known_error(ply)
            if entry:
                raw = entry_eval(entry)
            if raw == NO_SCORE:
                raw = self.evaluator.evaluate(self.position)
            static = self._corrected(raw, error)
            best = static
            if entry and tt_bound & (LOWER if tt_score > best else UPPER):
                best = tt_score
            if best >= beta:
                if entry == 0:
                    self.table.store(self.position.key, 0, self.to_table(best, ply), raw, 0, LOWER)
                return best
        old_alpha = alpha
        if best > alpha:
            alpha = best

        # 3. The moves. A capture that loses material is not worth the look. Worth: futility 27 ± 36; recaptures alone
        # after two captures 2 ± 9 (1139 and 1058 pairs, and the run of all steps).
        self.picker.begin(ply, tt_move, True)
        best_move = 0
        tried = 0
        # What a capture may bring at most, but for its victim.
        bare = static + self.quiescence_margin_cp
        while True:
            move = self.picker.next(ply)
            if move == 0:
                break
            if not in_check:
                # After the likeliest captures only those that take back.
                if (
                    tried >= self.quiescence_count
                    and move_type(move) != PROMOTION
                    and to_square(move) != self.picker.last_target(ply)
                ):
                    continue
                if best > -TABLEBASE_BOUND and move_type(move) != PROMOTION:
                    # Even the victim for nothing would not do.
                    victim = PAWN if move_type(move) == EN_PASSANT else self.position.squares[to_square(move)] >> 1
                    promise = bare + SEE_VALUES[victim]
                    if promise <= alpha:
                        if promise > best:
                            best = promise
                        continue
                # Far below alpha an even exchange does not help either.
                if not self.position.see_at_least(move, 1 if bare <= alpha else 0):
                    if bare <= alpha and bare > best:
                        best = bare
                    continue
            tried += 1
            self.table.prefetch(self.position.key_after(move))
            self.picker.note(ply, move)
            self.position.make(move)
            score = -self._quiescence(-beta, -alpha, ply + 1)
            self.position.unmake(move)
            if self.stopped:
                return 0
            if score > best:
                best = score
                if score > alpha:
                    best_move = move
                    if pv_node:
                        self._keep_line(ply, move)
                    alpha = score
                    if score >= beta:
                        break
        if best == -INFINITE:
            return ply - MATE

        # 4. Remember.
        bound = LOWER if best >= beta else EXACT if alpha > old_alpha else UPPER
        self.table.store(self.position.key, best_move, self.to_table(best, ply), raw, 0, bound)
        return best

    def _reduction(self, depth, number):
        """How many plies less deep to search move number `number` of a node."""
        return self.reductions[(depth if depth < 63 else 63) * 64 + (number if number < 63 else 63)]

    def _probe(self, depth):
        """What the tablebases say of the position, or FAILED. Large ones are slow and wait for more depth."""
        pieces = popcount(self.position.by_colour[0] | self.position.by_colour[1])
        if pieces > self.probe_limit or (pieces == self.probe_limit and depth < self.probe_depth):
            return FAILED
        return self.prober.probe_wdl(self.position)

    def _tablebase_score(self, wdl, ply):
        """Win 2 to loss -2 as a score; a win spoilt by the fifty-move rule is a draw, and the better kind of draw."""
        least = 1 if self.fifty_moves else 0
        if wdl > least:
            return TABLEBASE_WIN - ply
        if wdl < -least:
            return ply - TABLEBASE_WIN
        return wdl

    def _leaf(self, ply):
        """The horizon of the profiles without quiescence: mate, stalemate, a draw or the static score."""
        if self._enter(ply):
            return 0
        if self.profile == MATING and self.position.checkers == 0:
            return 0
        self.picker.begin(ply, 0, False)
        if self.picker.next(ply) == 0:
            return ply - MATE if self.position.checkers else 0
        if self.profile == MATING or self.position.is_draw(ply):
            return 0
        return self.evaluator.evaluate(self.position)

    def _enter(self, ply):
        """Count a node and open its line; true when the search must end."""
        self.pv_length[ply] = 0
        if self.nodes >= self.node_limit or (self.nodes & POLL_MASK == 0 and self.stop_wanted):
            self.stopped = True
        if self.stopped:
            return True
        self.nodes += 1
        if ply > self.seldepth:
            self.seldepth = ply
        return False

    def _keep_line(self, ply, move):
        """The line of this ply is the move and the line of the next ply."""
        base = ply * 128
        length = self.pv_length[ply + 1]
        self.pv[base] = move
        for index in range(length):
            self.pv[base + 1 + index] = self.pv[base + 128 + index]
        self.pv_length[ply] = length + 1
        return 0

    def _learn(self, depth, ply, move, quiet, quiets, noisies):
        """A move refuted the position: prefer it from now on to the moves that were tried before it."""
        bonus = self.history_bonus * depth
        if bonus > self.history_bonus_limit:
            bonus = self.history_bonus_limit
        if quiet:
            self.picker.reward(ply, move, bonus)
            for index in range(quiets):
                self.picker.adjust(ply, self.quiets_tried[ply * 64 + index], -bonus)
        else:
            self.picker.adjust_capture(move, bonus)
        for index in range(noisies):
            self.picker.adjust_capture(self.noisy_tried[ply * 32 + index], -bonus)
        return 0

    def to_table(self, score, ply):
        """A score counted from the root as one counted from the node: how far a win is differs between paths to it."""
        if score >= TABLEBASE_BOUND:
            return score + ply
        if score <= -TABLEBASE_BOUND:
            return score - ply
        return score

    def from_table(self, score, ply):
        """The inverse of `to_table`, for a node `ply` plies below the root of the search that reads the entry."""
        if score >= TABLEBASE_BOUND:
            return score - ply
        if score <= -TABLEBASE_BOUND:
            return score + ply
        return score
