"""The mate search: proves or refutes that the side to move can force mate in n moves.

`go mate` searches for a mate in 1, then in 2, and so on. The search is full-width: only alpha-beta, mate distance
pruning and the transposition table (TT) cut it. So a depth of 2n - 1 plies proves or refutes a mate in n. At the last
ply only moves that give check are searched, and a position without a legal reply is mate. Everything else scores 0.

It uses the searcher's board, move picker, histories, node count, stop flag and TT.

Invariant: a result in the TT holds at every halfmove clock. So it is stored, and read again, only where the fifty-move
rule cannot draw within its depth.
Invariant: it is read only by searches with the same `repeated` positions, because they are part of its key.
"""

from __future__ import annotations

from collections.abc import Collection

from evaluation.base.bitboards import ALL
from evaluation.base.typed import nogil, u64, u64s
from uci_engine.board.position import Position
from uci_engine.score import FIFTY_MOVES_PLIES, INFINITE, MATE, NO_SCORE
from uci_engine.search.search import Searcher
from uci_engine.search.transposition_table import EXACT, LOWER, UPPER, entry_bound, entry_depth, entry_move, entry_score

# Keys are salted, so normal searches never read these entries. Later mate searches may.
MATE_SALT = 0x2D358DCCAA6C78A5
# More repeated positions there are only where the fifty-move rule has drawn.
REPEATED_SIZE = 256


class MateSearch:
    """A mate search on the position and root moves of a searcher."""

    searcher: Searcher
    position: Position
    repeated = u64s(REPEATED_SIZE)
    repeated_count: int
    salt: u64

    def __init__(self, searcher: Searcher, repeated: Collection[int]) -> None:
        """`repeated`: the keys of positions that the game has had twice. A third time is a draw."""
        self.searcher = searcher
        self.position = searcher.position
        keys = sorted(repeated)[:REPEATED_SIZE]
        self.salt = MATE_SALT
        self.repeated_count = len(keys)
        for index, key in enumerate(keys):
            self.repeated[index] = key
            self.salt = (self.salt ^ key) * MATE_SALT & ALL

    def _is_third_time(self) -> bool:
        for index in range(self.repeated_count):
            if self.repeated[index] == self.position.key:
                return True
        return False

    def mate_in(self, moves: int) -> bool:
        """Whether one of the root moves forces mate in at most `moves` moves. If so, it is the result of the searcher.

        False after a stop proves nothing.
        """
        with nogil:
            found: bool = self._root(2 * moves - 1)
        return found

    def _root(self, depth: int) -> bool:
        """Whether a root move mates within `depth` plies. If so, it becomes the first."""
        alpha = MATE - depth - 1
        self.searcher.deepest_ply = 0
        for index in range(self.searcher.root_count):
            move = self.searcher.root_moves[index]
            self.searcher.current_move = move
            self.searcher.current_move_number = index + 1
            self.searcher._make(move, 0, not self.position.is_noisy(move))
            score = -self._search(depth - 1, -alpha - 1, -alpha, 1)
            if score > alpha:
                # Again with an open window, for the PV.
                score = -self._search(depth - 1, -INFINITE, -alpha, 1)
            self.position.unmake(move)
            if self.searcher.stopped:
                return False
            if score > alpha:
                self.searcher._set_best_root_move(index, 0)
                self.searcher._save_result(depth, score, False)
                return True
        return False

    def _search(self, depth: int, alpha: int, beta: int, ply: int) -> int:
        """The mate score of the position at `ply`, searched to `depth`; 0 without a mate."""
        if self.searcher._enter_node(ply):
            return 0
        in_check: bool = self.position.checkers != 0
        if depth == 0:
            # After the attacker's last move: mate, or no mate.
            if not in_check:
                return 0
            self.searcher.picker.begin(ply, 0, False)
            return 0 if self.searcher.picker.next(ply) else ply - MATE
        # The shortest mate repeats no position of its own, so only those of the game are checked.
        if self.position.is_fifty_moves() or self.position.is_insufficient_material() or self._is_third_time():
            return 0

        # Mate distance pruning (MDP).
        pv_node: bool = beta - alpha > 1
        alpha = max(alpha, ply - MATE)
        beta = min(beta, MATE - ply - 1)
        if alpha >= beta:
            return alpha

        key = self.position.key ^ self.salt
        entry = self.searcher.table.probe(key)
        tt_move: int = 0
        if entry:
            tt_move = entry_move(entry)
            tt_score = self.searcher.score_to_tt(entry_score(entry), -ply)
            if (
                not pv_node
                and entry_depth(entry) >= depth
                and self.position.halfmove_clock + entry_depth(entry) <= FIFTY_MOVES_PLIES
                and entry_bound(entry) & (LOWER if tt_score >= beta else UPPER)
            ):
                if tt_score >= beta:
                    self.searcher._update_after_tt_cutoff(ply, tt_move, depth)
                return tt_score

        self.searcher.stack.clear_killers(ply + 1)
        self.searcher.picker.begin(ply, tt_move if self.position.is_legal(tt_move) else 0, False)
        best_score = -INFINITE
        best_move = 0
        best_is_quiet: bool = False
        has_moves: bool = False
        move_count = 0
        self.searcher.stack.quiet_count[ply] = 0
        self.searcher.stack.capture_count[ply] = 0
        old_alpha = alpha
        while True:
            move = self.searcher.picker.next(ply)
            if move == 0:
                break
            has_moves = True
            # At the last ply only moves that give check can mate.
            if depth == 1 and not self.position.gives_check(move):
                continue
            quiet: bool = not self.position.is_noisy(move)
            move_count += 1
            self.searcher._make(move, ply, quiet)
            if move_count == 1:
                score = -self._search(depth - 1, -beta, -alpha, ply + 1)
            else:
                score = -self._search(depth - 1, -alpha - 1, -alpha, ply + 1)
                if alpha < score < beta:
                    score = -self._search(depth - 1, -beta, -alpha, ply + 1)
            self.position.unmake(move)
            if self.searcher.stopped:
                return 0
            if score > best_score:
                best_score = score
                if score > alpha:
                    best_move = move
                    best_is_quiet = quiet
                    if pv_node:
                        self.searcher._update_pv(ply, move)
                    alpha = score
                    if score >= beta:
                        break
            self.searcher.stack.add_searched(ply, move, quiet)

        if not has_moves:
            return ply - MATE if in_check else 0
        if move_count == 0:
            return 0
        if best_score >= beta:
            bonus = self.searcher._history_bonus(depth, best_score - beta)
            self.searcher.histories.update_after_cutoff(ply, best_move, best_is_quiet, bonus, bonus)
        if self.position.halfmove_clock + depth <= FIFTY_MOVES_PLIES:
            bound = LOWER if best_score >= beta else EXACT if alpha > old_alpha else UPPER
            score = self.searcher.score_to_tt(best_score, ply)
            self.searcher.table.store(key, best_move, score, NO_SCORE, depth, bound)
        return best_score
