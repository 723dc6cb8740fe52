"""The search: exact without pruning, sound when stopped, reproducible, right about mates and draws."""

from __future__ import annotations

import itertools
import math
import random
import time
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import chess
import pytest

from evaluation import set_up
from tests.support.kernel import (
    MIDDLEGAME,
    STARTS,
    Outcome,
    board_after,
    first_move,
    is_compiled,
    key_of,
    new_position,
    on_core,
    prepare,
    random_game,
    search,
    searcher,
    start_board,
    state_of,
    without_times,
)
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.search import parameters
from uci_engine.search.info import Info
from uci_engine.search.mate_search import MateSearch
from uci_engine.search.parameters import OFF_DEPTH
from uci_engine.search.root_moves import sorted_root_moves
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.time_management import TIME_DEFAULTS, Budget, Clock
from uci_engine.tunable import Tunable

ROOK_ENDING = "6k1/5pp1/8/8/8/r6p/5PPP/2R3K1 w - - 0 40"
ROOKS_REPEAT = "c1b1 a3a2 b1c1 a2a3 c1b1 a3a2 b1c1 a2a3"
PAWN_ENDING = "8/8/1p1k4/1P1p2p1/P2Pp1P1/4P3/3K4/8 b - - 0 1"


# Alpha-beta is minimax ------------------------------------------------------------------------------------

# The values of `uci_engine.search.parameters` that switch a step off.
STEPS_OFF = {
    "reverse_futility_depth": 0,
    "null_move_depth": OFF_DEPTH,
    "probcut_depth": OFF_DEPTH,
    "iir_depth": OFF_DEPTH,
    "singular_depth": OFF_DEPTH,
    "lmp_depth": 0,
    "futility_depth": 0,
    "history_pruning_depth": 0,
    "see_pruning_depth": 0,
    "lmr_depth": OFF_DEPTH,
}


def plain_searcher() -> Any:
    """The search without what could change its value: alpha-beta alone, to compare with minimax.

    No transposition table, no quiescence search, no draw before its time, and of the steps none but mate distance
    pruning, which is exact. Only a plain core lets methods be replaced; all cores search the same tree.
    """
    machine: Any = ThreadPool(load(), 1).main
    machine.configure(STEPS_OFF)
    position = machine.position

    def drawn(ply: int) -> int:
        return int(machine.contempt_cp if ply % 2 else -machine.contempt_cp)

    def leaf(alpha: int, beta: int, ply: int) -> int:
        if machine._enter_node(ply):
            return 0
        machine.picker.begin(ply, 0, False)
        if machine.picker.next(ply) == 0:
            return ply - scores.MATE if position.checkers else drawn(ply)
        return drawn(ply) if position.is_draw(ply) else int(machine.evaluate())

    # It remembers nothing.
    machine.table = SimpleNamespace(prefetch=lambda key: 0, probe=lambda key: 0, store=lambda *_: 0)
    machine._quiescence = leaf
    machine.evaluator.is_known_draw = lambda _: False
    position.upcoming_repetition = lambda _: False
    return machine


def plain_search(cases: list[tuple[str, str, bool, int, int]]) -> list[tuple[int, str, int]]:
    """Value, best move and nodes of each case: FEN, moves played, Chess960?, depth, contempt in centipawns."""
    machine = plain_searcher()
    results = []
    for fen, played, chess960, depth, contempt_cp in cases:
        board = board_after(fen, played, chess960)
        machine.contempt_cp = contempt_cp
        machine.position.set_board(board)
        machine.begin(0)
        machine.set_root([moves.encode(board, move) for move in board.legal_moves])
        machine.run(depth, depth)
        best: chess.Move = moves.decode(machine.root_order()[0], board.chess960)
        results.append((machine.score, best.uci(), machine.nodes))
    return results


@cache
def evaluation() -> tuple[Any, Any]:
    """The evaluation without the network, and a board for it."""
    return set_up(chess.Board())


def evaluate(board: chess.Board) -> int:
    """The raw eval of a board set up anew."""
    evaluator, base_board = evaluation()
    base_board.set_pieces(board)
    return int(evaluator.evaluate(base_board))


class Minimax:
    """Plain minimax over python-chess: no window, no order, no table."""

    def __init__(self, contempt_cp: int = 0) -> None:
        self.nodes = 0
        self._contempt_cp = contempt_cp

    def value(self, board: chess.Board, depth: int, ply: int) -> int:
        """The value for the side to move."""
        self.nodes += ply > 0
        drawn = self._contempt_cp if ply % 2 else -self._contempt_cp
        if not any(board.generate_legal_moves()):
            return ply - scores.MATE if board.is_check() else drawn
        if ply > 0 and self._is_draw(board, ply):
            return drawn
        if depth == 0:
            return evaluate(board)
        best = -scores.INFINITE
        for move in list(board.legal_moves):
            board.push(move)
            best = max(best, -self.value(board, depth - 1, ply + 1))
            board.pop()
        return best

    @staticmethod
    def _is_draw(board: chess.Board, ply: int) -> bool:
        if board.halfmove_clock >= 100 or board.is_insufficient_material() or board.is_repetition(3):
            return True
        # Once is enough below the root.
        return board.copy(stack=ply - 1).is_repetition(2)


PLAIN_CASES = [
    (chess.STARTING_FEN, "", 3),
    (MIDDLEGAME, "", 2),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", "", 3),
    (PAWN_ENDING, "", 4),
    ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", "", 2),
    # Mates and stalemates within reach; a fifty-move limit within reach; material that dies.
    ("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1", "", 3),
    ("k7/8/1K6/8/8/8/8/7R w - - 0 1", "", 3),
    ("8/8/8/8/6q1/5k2/8/7K w - - 98 90", "", 4),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 97 90", "", 4),
    ("k7/8/1K6/8/8/8/8/7R w - - 97 90", "", 3),
    ("8/8/8/3k4/3p4/3K4/8/8 b - - 0 1", "", 4),
    # Repetitions, before the root and below it.
    ("6k1/7p/8/8/8/r7/7P/1R4K1 w - - 0 40", "b1b8 g8f7 b8b7 f7g8 b7b8 g8f7 b8b7 f7g8", 3),
    ("7k/8/8/8/8/8/r7/K7 w - - 0 1", "", 5),
]


def random_cases() -> list[tuple[str, str, bool, int]]:
    """Positions after random moves, half of them of Chess960, as FEN, moves, Chess960?, depth."""
    cases = []
    for number in range(6):
        start = start_board(number, number % 2 == 1)
        *_, board = random_game(number, start.copy(), 40)
        if any(board.legal_moves):
            cases.append((start.fen(), " ".join(move.uci() for move in board.move_stack), start.chess960, 2))
    return cases


def test_without_pruning_the_value_is_minimaxs() -> None:
    cases = [
        *((fen, played, False, depth, contempt) for fen, played, depth in PLAIN_CASES for contempt in (0, -100)),
        *((*case, 0) for case in random_cases()),
    ]
    found = on_core("interpreted", __name__, "plain_search", cases)
    for (fen, played, chess960, depth, contempt_cp), (value, best, nodes) in zip(cases, found, strict=True):
        board = board_after(fen, played, chess960)
        reference = Minimax(contempt_cp)
        expected = reference.value(board, depth, 0)
        assert value == expected, (fen, contempt_cp)
        # The move, too, is worth that much.
        board.push_uci(best)
        assert -Minimax(contempt_cp).value(board, depth - 1, 1) == expected, (fen, best)
        # Moves searched again with the window open may cost more than there is to save in a very small tree.
        if reference.nodes > 100:
            assert nodes < reference.nodes
        if reference.nodes > 5000:
            assert nodes < reference.nodes / 4


def fresh_searcher(board: chess.Board) -> Any:
    """The searcher, empty and about to search a position, all root moves in the order of their encodings."""
    machine = searcher()
    machine.table.clear()
    machine.histories.clear()
    machine.begin(0)
    machine.position.set_board(board)
    machine.set_root(sorted(machine.position.legal_moves()))
    return machine


# Stopping -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "chess960", "lines"),
    [
        (MIDDLEGAME, False, 1),
        (MIDDLEGAME, False, 3),
        (PAWN_ENDING, False, 1),
        ("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", True, 1),
        ("rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3", False, 2),
        ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", False, 1),
    ],
)
def test_stopped_after_any_number_of_nodes(fen: str, chess960: bool, lines: int) -> None:
    board = chess.Board(fen, chess960=chess960)
    machine = searcher()
    machine.position.set_board(board)
    untouched = state_of(machine.position)
    for count in (*range(1, 120), *range(120, 3000, 53), 5000) if is_compiled() else (1, 2, 3, 7, 20, 50, 111, 300):
        outcome = search(board, nodes=count, multipv=lines, fresh=count % 2 == 0)
        assert state_of(machine.position) == untouched
        assert outcome.nodes == count
        told = [(info.multipv, first_move(info)) for info in outcome.infos if info.depth == outcome.infos[-1].depth]
        assert len(told) == len(set(told))


def test_an_interrupted_iteration_never_forgets_a_better_move_of_the_last() -> None:
    # The queen hangs: from depth 1 on the best move is to take it, wherever a search is cut off afterwards.
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    for count in range(10, 1200, 23 if is_compiled() else 230):
        assert search(board, nodes=count).best.uci() == "e4d5"


@pytest.mark.parametrize(
    ("fen", "moves"), [("8/8/Q7/8/1K6/R7/1k6/8 b - - 0 1", 3), ("8/8/8/4K3/8/3k4/8/3Q1R2 b - - 0 1", 3)]
)
def test_an_interrupted_iteration_states_no_mate_that_another_move_puts_off(fen: str, moves: int) -> None:
    board = chess.Board(fen)
    assert search(board, depth=18 if is_compiled() else 6).score == 2 * moves - scores.MATE
    for count in [*range(1, 100), *(range(1000, 4000, 83) if is_compiled() else ())]:
        outcome = search(board, nodes=count)
        assert outcome.last.is_lower_bound or outcome.score >= 2 * moves - scores.MATE, count


# Reproducible ---------------------------------------------------------------------------------------------


def test_a_new_game_forgets_everything_and_a_limit_of_nodes_cuts_the_same_search_short() -> None:
    depth = 8 if is_compiled() else 3
    board = chess.Board(MIDDLEGAME)
    first = search(board, depth=depth)
    search(chess.Board(), depth=depth, fresh=False)
    said = without_times(first.infos)
    assert without_times(search(board, depth=depth).infos) == said
    # While within a game the work already done counts.
    more = search(board, depth=depth, fresh=False)
    assert more.nodes < first.nodes
    assert abs(more.score - first.score) < 100
    assert without_times(search(board, nodes=first.nodes - 1).infos) == said[:-1]


# Depths, windows and root moves ---------------------------------------------------------------------------


def test_one_depth_alone_is_exact_and_leaves_no_result_of_an_earlier_one() -> None:
    machine = fresh_searcher(chess.Board(MIDDLEGAME))
    machine.run(3, 3)
    assert machine.finished
    score = machine.score
    for centre in (score - 200, score + 200):
        again = fresh_searcher(chess.Board(MIDDLEGAME))
        again.begin_line(3, 0, centre, again.root_count)
        again.open_window(centre, 10)
        while again.search_window(3):
            assert not again.finished
        assert again.finished
        assert (again.depth, again.is_lower_bound) == (3, False)
        assert again.alpha < again.score < again.beta
    machine.stop()
    machine.clear_result()
    machine.run(4, 4)
    assert not machine.finished
    assert machine.depth == 0


def test_root_moves_are_sorted_by_rank_then_tt_move_then_eval() -> None:
    machine = fresh_searcher(chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1"))
    root = machine.root_order()
    order = sorted_root_moves(machine, dict.fromkeys(root, 0))
    assert sorted(order) == sorted(root)
    assert moves.decode(order[0], False).uci() == "e4d5"
    machine.table.store(machine.position.key, 0, order[-2], 0, 0, 1, 1)
    assert sorted_root_moves(machine, dict.fromkeys(root, 0))[0] == order[-2]
    assert sorted_root_moves(machine, {**dict.fromkeys(root, 0), order[-1]: 1})[0] == order[-1]


# Mates and draws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "depth", "plies", "best"),
    [
        ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", 2, 1, "a1a8"),
        # Black's passing would refute it: so it does, until the null move is verified.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 18, 3, "a1a6"),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 7, 5, "f6a6"),
        # Being mated: in one whatever is played, and in two when the check is parried as well as can be.
        ("8/8/8/8/8/1k6/7r/K7 w - - 0 1", 3, -2, "a1b1"),
    ],
)
def test_mates_are_scored_by_their_distance(fen: str, depth: int, plies: int, best: str) -> None:
    outcome = search(chess.Board(fen), depth=depth)
    assert outcome.score == (scores.MATE - plies if plies > 0 else -scores.MATE - plies)
    assert outcome.best.uci() == best
    # A mate found at some depth is never replaced by a longer one.
    mates = [abs(info.score or 0) for info in outcome.infos if scores.is_mate(info.score or 0)]
    assert mates == sorted(mates)


@pytest.mark.parametrize("fen", ["4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1"])
def test_where_no_reply_is_mate_none_is_found_nor_stalemate(fen: str) -> None:
    # After White's move only a mate at once would beat alpha, and no reply gives check, also to the rook's check.
    board = chess.Board(fen)
    for move in board.legal_moves:
        machine = fresh_searcher(board)
        machine.set_root([moves.encode(board, move)])
        machine.begin_line(3, 0, -scores.INFINITE, 1)
        machine.alpha, machine.beta = 3 - scores.MATE, 4 - scores.MATE
        assert machine.search_window(3)
        assert machine.score == 4 - scores.MATE


def test_stalemate_is_sought_when_losing() -> None:
    # The queen gives herself up where the king must take her, and White has no move left.
    board = chess.Board("7k/pp6/2p5/3p4/8/6Q1/2q5/K7 w - - 0 1")
    outcome = search(board, depth=7)
    assert (outcome.best.uci(), outcome.score) == ("g3g7", scores.DRAW)


@pytest.mark.parametrize("contempt_cp", [30, -30, 100])
@pytest.mark.parametrize(
    ("fen", "move", "depth"),
    [
        # Stalemate, bare kings, a known ending, the fifty-move rule, at depth 1 the quiescence search.
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", 4),
        ("8/8/8/4k3/4p3/4K3/8/8 w - - 0 1", "", 3),
        ("8/8/4kb2/8/2NB4/8/4K3/8 w - - 99 80", "d4e3", 3),
        ("8/8/8/8/2k5/8/1p6/1K6 w - - 0 1", "b1b2", 1),
        # A perpetual check, which an upcoming repetition shows.
        ("nn4k1/6p1/8/7Q/8/8/rr6/7K w - - 0 1", "", 6),
    ],
)
def test_a_draw_counts_against_the_side_at_the_root(fen: str, move: str, depth: int, contempt_cp: int) -> None:
    board = chess.Board(fen)
    allowed = [chess.Move.from_uci(move)] if move else None
    assert search(board, allowed, depth=depth).score == scores.DRAW
    assert search(board, allowed, depth=depth, contempt_cp=contempt_cp).score == -contempt_cp


def test_contempt_decides_whether_a_level_position_is_played_on() -> None:
    # White may repeat for the third time.
    board = board_after(ROOK_ENDING, ROOKS_REPEAT)
    for contempt_cp, repeats in ((-100, True), (-50, True), (50, False), (100, False)):
        outcome = search(board, depth=7, contempt_cp=contempt_cp)
        assert (outcome.best.uci() == "c1b1", outcome.score == -contempt_cp) == (repeats, repeats)


@pytest.mark.parametrize("clock", [0, 1, 50, 99])
@pytest.mark.parametrize("turn", chess.COLORS)
def test_the_nearer_the_fifty_move_rule_the_less_a_static_eval_is_worth(clock: int, turn: chess.Color) -> None:
    board = chess.Board("4k3/pp6/8/8/8/8/PP6/R3K3 w - - 0 40")
    board.turn, board.halfmove_clock = turn, clock
    machine = fresh_searcher(board)
    raw_eval = machine.evaluate()
    assert abs(raw_eval) > 300
    machine.run(1, 1)
    assert machine.stack.static_eval[0] == raw_eval - (raw_eval * clock >> 8)


# Parameters -----------------------------------------------------------------------------------------------


USUAL = {parameter.name: parameter.value for parameter in parameters.PARAMETERS}


@cache
def nodes_with(name: str, value: int) -> tuple[int, ...]:
    pool = ThreadPool(load(), 4)
    pool.configure({name: value})
    positions = (MIDDLEGAME, STARTS[1], STARTS[2])
    return tuple(search(chess.Board(fen), depth=10, pool=pool).nodes for fen in positions)


@pytest.mark.skipif(not is_compiled(), reason="too many nodes for plain Python")
@pytest.mark.parametrize("parameter", parameters.PARAMETERS, ids=lambda one: one.name)
def test_every_parameter_of_the_searcher_has_an_effect(parameter: Tunable) -> None:
    usual = nodes_with("lmr_depth", USUAL["lmr_depth"])
    assert any(nodes_with(parameter.name, value) != usual for value in (parameter.minimum, parameter.maximum))


# The fields that others read ------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [True, False])
def test_the_best_of_some_moves_is_not_the_positions_score(whole: bool) -> None:
    board = chess.Board("kbK5/1p6/1p6/8/8/8/8/8 b - - 0 1")
    allowed = list(board.legal_moves) if whole else list(board.legal_moves)[:1]
    assert board.legal_moves.count() > 1
    machine = searcher()
    machine.table.clear()
    search(board, allowed, depth=2, fresh=False)
    # An entry without a bound (two bits from bit 56) holds only the raw eval.
    assert (machine.table.probe(machine.position.key) >> 56 & 3 != 0) == whole


def test_the_share_of_the_best_move_is_the_first_lines() -> None:
    machine = fresh_searcher(chess.Board(MIDDLEGAME))
    machine.run(3, 3)
    share = machine.effort_permille
    machine.root_first = 20
    machine.run(3, 3)
    assert machine.effort_permille == share > 0


@pytest.mark.parametrize("mate", [None, 2])
def test_an_illegal_table_move_is_passed_over(mate: int | None) -> None:
    board = chess.Board(MIDDLEGAME)
    machine = searcher()
    machine.table.clear()
    # The mate search has keys of its own. A lower bound below every score changes nothing but the move.
    salt = MateSearch(machine, ()).salt if mate else 0
    generator = random.Random(2)
    for line in itertools.product(board.legal_moves, range(2)):
        after = board.copy()
        after.push(line[0])
        if line[1]:
            after.push(generator.choice(list(after.legal_moves)))
        legal = {moves.encode(after, move) for move in after.legal_moves}
        # Promotions and captures en passant, so that quiescence considers them.
        wrong = next(move for move in iter(lambda: generator.randrange(1 << 14, 3 << 14), 0) if move not in legal)
        machine.table.store(key_of(after) ^ salt, 0, wrong, -scores.MATE, scores.NO_SCORE, 0, 2)
    search(board, depth=3 if mate is None else None, mate=mate, fresh=False)
    assert state_of(machine.position) == state_of(new_position(board))


# The manager: lines and depths, what is reported, when it stops ---------------------------------------------------

DEPTH = 6 if is_compiled() else 3
ONLY_MOVE = "6rk/8/8/8/8/8/7p/7K w - - 0 1"


@pytest.mark.parametrize("lines", [1, 2, 5, 300])
def test_lines_are_reported_once_for_each_depth_sorted_and_as_many_as_there_are(lines: int) -> None:
    board = chess.Board(MIDDLEGAME)
    outcome = search(board, depth=3, multipv=lines)
    wanted = min(lines, board.legal_moves.count())
    by_depth = [(depth, list(group)) for depth, group in itertools.groupby(outcome.infos, key=lambda info: info.depth)]
    assert [depth for depth, _ in by_depth] == [1, 2, 3]
    assert [info.nodes for info in outcome.infos] == sorted(info.nodes or 0 for info in outcome.infos)
    for _, reported in by_depth:
        assert all(info.nodes and info.seldepth for info in reported)
        assert {(info.is_lower_bound, info.wdl) for info in reported} == {(False, None)}
        assert [info.multipv for info in reported] == list(range(1, wanted + 1))
        assert len({first_move(info) for info in reported}) == wanted
        values = [info.score or 0 for info in reported]
        assert values == sorted(values, reverse=True)
    assert outcome.best == first_move(outcome.infos[-wanted])


def test_a_line_that_was_not_searched_is_not_reported() -> None:
    board = chess.Board("3q1rk1/5pbp/5Qp1/8/8/2B5/5PPP/6K1 w - - 0 1")
    for nodes in range(1, 60):
        assert all(info.depth for info in search(board, nodes=nodes, multipv=4).infos if info.multipv != 1)


def test_the_deepest_search_ends() -> None:
    # Bare kings: every depth is reached at once.
    outcome = search(chess.Board("8/8/4k3/8/8/3K4/8/8 w - - 0 1"), depth=100000)
    assert (outcome.last.depth, outcome.score) == (scores.MAX_DEPTH, scores.DRAW)
    # Checks cost no depth, and this side can check for ever; `search` knows the most plies.
    search(chess.Board("nn4k1/6p1/8/7Q/8/8/rr6/7K w - - 0 1"), nodes=60000 if is_compiled() else 600)


# With a clock ---------------------------------------------------------------------------------------------


def timed(fen: str, soft_ms: float, hard_ms: float = 1e6) -> tuple[Outcome, float]:
    """Search with a budget, with nobody to watch the hard limit; also how long it took, in ms."""
    clock = Clock(time.perf_counter(), Budget(soft_ms, hard_ms))
    outcome = search(chess.Board(fen), clock=clock)
    return outcome, clock.elapsed_ms()


def test_the_soft_limit_ends_the_search_between_iterations() -> None:
    outcome, _ = timed(MIDDLEGAME, 0.001)
    assert [info.depth for info in outcome.infos] == [1]
    outcome, elapsed_ms = timed(MIDDLEGAME, 60.0)
    # The last iteration begins within the largest share of the soft limit, and none is needed after the smallest.
    if len(outcome.infos) > 1:
        assert (outcome.infos[-2].time_ms or 0) <= 60.0 * TIME_DEFAULTS.soft_factor(9, 0, 1000, 0.0)
    assert elapsed_ms >= 60.0 * TIME_DEFAULTS.soft_factor(9, 9, 0, 1.0)


def test_a_single_move_and_a_mate_that_cannot_be_improved_end_a_timed_search() -> None:
    assert len(timed(ONLY_MOVE, 1e6)[0].infos) == 1
    # In an analysis the only move is searched like any other.
    assert len(search(chess.Board(ONLY_MOVE), depth=4).infos) == 4
    outcome, _ = timed("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", 1e6)
    assert outcome.score == scores.MATE - 1
    assert (outcome.last.depth or 0) <= 6


def test_thinking_on_the_opponents_time_can_be_enough() -> None:
    for soft_ms, hard_ms, enough in ((math.inf, math.inf, False), (1e6, 1e6, True), (math.inf, 1e6, False)):
        clock = Clock(time.perf_counter(), Budget(soft_ms, hard_ms), is_pondering=True)
        manager, _ = prepare(chess.Board(ONLY_MOVE), depth=3, clock=clock)
        clock.is_pondering = False
        assert not manager.is_enough()  # no depth is finished
        clock.is_pondering = True
        manager.run()
        assert not manager.is_enough()
        clock.ponderhit(time.perf_counter())
        assert manager.is_enough() == enough


@pytest.mark.parametrize(("least", "most", "enough"), [(10, 100, True), (100, 400, False)])
def test_the_time_parameters_of_the_request_decide(least: int, most: int, enough: bool) -> None:
    time_parameters = replace(TIME_DEFAULTS, time_effort_min_percent=least, time_effort_max_percent=most)
    # Begun long ago, so that a pause of this process is a small part of the time used.
    clock = Clock(time.perf_counter() - 100, Budget(1e5, 1e9), is_pondering=True)
    manager, _ = prepare(chess.Board(MIDDLEGAME), depth=8, clock=clock, time_parameters=time_parameters)
    manager.run()
    clock.ponderhit(time.perf_counter())
    assert manager.is_enough() == enough


# Reports --------------------------------------------------------------------------------------------------


def test_a_report_before_the_first_iteration_is_honest() -> None:
    manager, infos = prepare(chess.Board(MIDDLEGAME))
    manager.report()
    (info,) = infos
    assert (info.depth, info.nodes, info.seldepth, info.wdl) == (0, 0, None, None)
    assert (first_move(info), len(info.pv)) == (manager.best, 1)


def test_time_after_the_search_does_not_count_for_its_speed() -> None:
    clock = Clock(time.perf_counter())
    manager, infos = prepare(chess.Board(MIDDLEGAME), depth=2, clock=clock)
    manager.run()
    manager.report()
    # As if a second had passed.
    clock.started_at -= 1
    manager.report()
    first, second = infos[-2:]
    assert first.nps == second.nps
    assert (second.time_ms or 0) >= (first.time_ms or 0) + 1000


def test_the_current_move_is_reported_by_number_and_name() -> None:
    board = chess.Board(MIDDLEGAME)
    said: list[Info] = []
    manager: Any = None

    def on_info(info: Info) -> None:
        if info.currmove is None:
            manager.report_current_move()
        said.append(info)

    manager, _ = prepare(board, depth=3, on_info=on_info)
    manager.report_current_move()
    assert said == []
    manager.run()
    current = [info for info in said if info.currmove]
    assert current
    # Told during the report of this depth.
    assert all(info.depth == report.depth for info, report in itertools.pairwise(said) if info.currmove)
    for info in current:
        assert chess.Move.from_uci(str(info.currmove)) in board.legal_moves
        assert 1 <= (info.currmovenumber or 0) <= board.legal_moves.count()


def test_failed_windows_are_reported_as_bounds_in_a_long_search() -> None:
    machine = searcher()
    bounds = 0
    usual_cp = machine.aspiration_window_cp
    for fen in STARTS[:6]:
        # The clock has run for ten seconds already.
        manager, infos = prepare(chess.Board(fen), depth=DEPTH, clock=Clock(time.perf_counter() - 10))
        machine.aspiration_window_cp = 1
        manager.run()
        machine.aspiration_window_cp = usual_cp
        for info, following in itertools.pairwise(infos):
            if info.is_lower_bound:
                bounds += 1
                assert following.depth == info.depth
        assert not infos[-1].is_lower_bound
    # In plain Python the search is not deep enough for windows.
    assert bounds > 0 or not is_compiled()
