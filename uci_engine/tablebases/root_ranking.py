"""The root's moves, ranked by the tablebases: what `deepening` may search when the position is in them.

`engine` asks once for every `go`. Syzygy first: each move is worth what its position is worth, and among wins the one
that reaches a capture, a pawn move or mate soonest stands first, so that no win is lost to the fifty-move rule; among
losses the last one does. Gaviota, where Syzygy has nothing, gives the distance to mate itself. What must stay true: a
move that throws away half a point never ranks with one that does not; tables that contradict each other, or fail, are
dropped with one sentence, and the search then goes on without them; the time allowed is kept to.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import chess
import chess.polyglot
import chess.syzygy

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.time_management.clock import Clock

if TYPE_CHECKING:
    from chess.gaviota import PythonTablebase

# Ranks: a win in so many plies has WON less those, a loss the negative, a draw 0. No distance comes near it.
WON = 1 << 18
# The fifty-move rule in plies, and the largest distance that a score still tells apart.
FIFTY_MOVES_PLIES = 100
FARTHEST = scores.TABLEBASE_WIN - scores.TABLEBASE_BOUND
# RootRanking may take this share of the time for the move, and no longer than that. It may always have this much of the
# processor, in which the compiled core is done; the others rank by results alone where that is too little for
# distances. A processor that others have as well, or a disk, may stretch it by so much.
TIME_SHARE = 0.5
MOST_SECONDS = 2.0
PROCESSOR_SECONDS = 0.003
STRETCH_SECONDS = 0.05
# The tables count some distances in moves, so that they are up to a ply too small.
ROUNDING_PLIES = 1
# Distance to the next capture or pawn move, by what the move that makes it leads to; beyond 100 the rule spoils it.
DISTANCE_OF = {2: 1, 1: 1 + FIFTY_MOVES_PLIES, 0: 0, -1: -1 - FIFTY_MOVES_PLIES, -2: -1}


@dataclass(frozen=True, slots=True)
class TablebaseRank:
    """What a root move is worth: greater ranks are better, and among moves of equal rank the search may choose."""

    rank: int
    score: int | None
    """The score to show for it, if the tables know one."""


@dataclass(frozen=True, slots=True)
class RootRanking:
    """Every allowed root move with its tablebase_rank, or none; whether that is all the tables know, so that the search
    need not ask them; how often they were asked; and sentences.
    """

    tablebase_ranks: Mapping[chess.Move, TablebaseRank] = field(default_factory=dict)
    complete: bool = False
    hits: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probing:
    """What the user allows: tables of so many pieces, the largest so far from the horizon, and the fifty-move rule."""

    most_pieces: int = 0
    depth: int = 1
    fifty_moves: bool = True


class ContradictionError(Exception):
    """Two tables, or two entries of one, cannot both be right."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What ranking goes by: the fifty-move rule or not, the most pieces, and the end of its time, by `perf_counter` and
    by `thread_time`.
    """

    fifty_moves: bool
    most_pieces: int
    until: float
    stopped: Callable[[], bool]
    processor_until: float = 0.0

    @staticmethod
    def within(probing: Probing, clock: Clock, stopped: Callable[[], bool]) -> Rules:
        """What the user allows, in a share of the time that this search has. For the thread that ranks."""
        share = TIME_SHARE * clock.budget.hard_ms / 1000
        now = time.perf_counter()
        until = min(max(clock.started_at + share, now), now + MOST_SECONDS)
        processor_until = time.thread_time() + PROCESSOR_SECONDS
        return Rules(probing.fifty_moves, probing.most_pieces, until, stopped, processor_until)

    def out_of_time(self) -> bool:
        """Whether there is no time for one more probe."""
        now = time.perf_counter()
        if now <= self.until and not self.stopped():
            return False
        return time.thread_time() > self.processor_until or now > self.until + STRETCH_SECONDS


def rank(
    tables: Tablebases, position: Any, board: chess.Board, allowed: Sequence[chess.Move], rules: Rules
) -> RootRanking:
    """Rank the allowed moves of a board. `position` is a core's, free to use."""
    notes = tuple(tables.drop_changed())
    pieces = chess.popcount(board.occupied)
    if board.castling_rights or pieces > rules.most_pieces or len(allowed) < 2:
        return RootRanking(notes=notes)
    if pieces <= tables.largest:
        name = chess.syzygy.normalize_tablename(chess.syzygy.calc_key(board))
        try:
            ranking = _by_syzygy(tables, position, board, allowed, rules, name)
        except ContradictionError as error:
            tables.drop(name)
            return RootRanking(notes=(*notes, f"error: Syzygy table {name} is not used any more: {error}"))
        if ranking.tablebase_ranks:
            return replace(ranking, notes=notes)
    if tables.gaviota is None:
        return RootRanking(notes=notes)
    try:
        return replace(_by_gaviota(tables.gaviota, board, allowed, rules), notes=notes)
    except KeyError:
        # python-chess's way to say that it has no table of these pieces.
        return RootRanking(notes=notes)
    except Exception as error:  # whatever a damaged file makes of python-chess
        tables.drop_gaviota()
        reason = error if isinstance(error, ContradictionError) else f"{type(error).__name__} when they are read"
        return RootRanking(notes=(*notes, f"error: the Gaviota tables are not used any more: {reason}"))


def _by_syzygy(
    tables: Tablebases, position: Any, board: chess.Board, allowed: Sequence[chess.Move], rules: Rules, name: str
) -> RootRanking:
    position.set_board(board)
    value = tables.probe_wdl(position)
    if value is None:
        return RootRanking()
    values: dict[chess.Move, int] = {}
    for move in board.legal_moves:
        with _made(position, board, move):
            after = tables.probe_wdl(position)
        if after is None:
            return RootRanking()
        values[move] = -after
    hits = 1 + len(values)
    best = max(values.values())
    # A move later, a win is nearer and may have become one in time: only the sign must be the same.
    if _sign(best) != _sign(value) or abs(best) < abs(value):
        raise ContradictionError("a position and the positions after it do not agree")
    values = {move: values[move] for move in allowed}
    best = max(values.values())
    tablebase_ranks: dict[chess.Move, TablebaseRank] = {}
    distances: Mapping[chess.Move, int] = {}
    if best == 0:
        distances = {move: 0 for move, its_value in values.items() if its_value == 0}
    elif name in tables.dtz:
        distances = _distances(tables, position, board, values, rules)
        hits += len(distances) + 1
    clock = board.halfmove_clock
    for move, its_value in values.items():
        if move in distances:
            tablebase_ranks[move] = _tablebase_rank(distances[move], clock, rules.fifty_moves)
        elif distances and its_value > 0:
            # There was no time to look, and no need: a quickest move is known.
            tablebase_ranks[move] = TablebaseRank(WON // 2, None)
        else:
            # Worse than the best, or nobody knows how far: rough ranks, which leave the choice to the search.
            tablebase_ranks[move] = TablebaseRank(its_value * WON if its_value >= 0 else (its_value - 2) * WON, None)
    return RootRanking(tablebase_ranks, complete=bool(distances), hits=hits)


def _distances(
    tables: Tablebases, position: Any, board: chess.Board, values: Mapping[chess.Move, int], rules: Rules
) -> Mapping[chess.Move, int]:
    """Plies to the next capture or pawn move, for the moves of the best sign; when time runs out, for some of the wins
    if a quickest is among them, else for none.

    Negative for losses, 0 for what a repetition draws; beyond 100 where the fifty-move rule spoils the result.
    """
    sign = _sign(max(values.values()))
    here = tables.probe_dtz(position)
    if here is None:
        return {}
    seen_twice = _seen_twice(board)
    found: dict[chess.Move, int] = {}
    # Captures and pawn moves first: their distance is known without a look.
    for move in sorted(values, key=board.is_zeroing, reverse=True):
        if _sign(values[move]) != sign:
            continue
        if rules.out_of_time():
            quickest_known = sign > 0 and any(0 < distance <= here for distance in found.values())
            return found if quickest_known else {}
        with _made(position, board, move):
            if position.halfmove == 0:
                found[move] = DISTANCE_OF[values[move]]
            elif seen_twice and _repeats(position, board, move, seen_twice, sign):
                found[move] = 0
            elif position.checkers and _mates(board, move):
                found[move] = 1
            else:
                after = tables.probe_dtz(position)
                if after is None:
                    return {}
                found[move] = sign - after
    whole = len(values) == board.legal_moves.count() and 0 not in found.values()
    if whole and abs(min(found.values()) - here) > ROUNDING_PLIES:
        raise ContradictionError("a distance and those one move on do not agree")
    return found


@contextmanager
def _made(position: Any, board: chess.Board, move: chess.Move) -> Iterator[None]:
    """For as long as the context lasts, the position is the one after this move."""
    number = moves.encode(board, move)
    position.make(number)
    try:
        yield
    finally:
        position.unmake(number)


def _mates(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    mates = board.is_checkmate()
    board.pop()
    return mates


def _tablebase_rank(distance: int, clock: int, fifty_moves: bool) -> TablebaseRank:
    """The tablebase_rank of a move by its distance, with `clock` plies gone since the last capture or pawn move."""
    plies = abs(distance) + clock
    if distance == 0:
        return TablebaseRank(0, scores.DRAW)
    spoilt = fifty_moves and plies > FIFTY_MOVES_PLIES
    score = 1 if spoilt else scores.TABLEBASE_WIN - min(plies, FARTHEST)
    return TablebaseRank(WON - plies, score) if distance > 0 else TablebaseRank(plies - WON, -score)


def _seen_twice(board: chess.Board) -> frozenset[int]:
    """The keys of the positions that can still come again and have been on the board twice, this one included."""
    back = board.copy(stack=board.halfmove_clock)
    seen = Counter([chess.polyglot.zobrist_hash(back)])
    while back.move_stack and back.halfmove_clock:
        back.pop()
        seen[chess.polyglot.zobrist_hash(back)] += 1
    return frozenset(key for key, times in seen.items() if times >= 2)


def _repeats(position: Any, board: chess.Board, move: chess.Move, seen_twice: frozenset[int], sign: int) -> bool:
    """Whether a move, made in `position`, brings a position for the third time, or lets the opponent of a win do so."""
    if position.key in seen_twice or sign < 0:
        return position.key in seen_twice
    after = board.copy(stack=False)
    after.push(move)
    for reply in after.legal_moves:
        with _made(position, after, reply):
            third = position.key in seen_twice
        if third:
            return True
    return False


def _by_gaviota(
    gaviota: PythonTablebase, board: chess.Board, allowed: Sequence[chess.Move], rules: Rules
) -> RootRanking:
    """Rank by distance to mate. These files have no checksums: each value must follow from those a move later, the
    root's from its moves' and, as far as time goes, theirs from the replies'."""
    scores_here: dict[chess.Move, int] = {}
    positions_after: list[chess.Board] = []
    for move in board.legal_moves:
        if rules.out_of_time():
            return RootRanking()
        after = board.copy(stack=False)
        after.push(move)
        scores_here[move] = _a_ply_before(_mate_score(gaviota, after))
        positions_after.append(after)
    _compare(gaviota, board, max(scores_here.values()))
    for after in positions_after:
        if rules.out_of_time():
            break
        _check_replies(gaviota, after)
    tablebase_ranks = {move: _mate_rank(scores_here[move]) for move in allowed}
    return RootRanking(tablebase_ranks, complete=True, hits=1 + len(scores_here))


def _check_replies(gaviota: PythonTablebase, board: chess.Board) -> None:
    """Raises ContradictionError unless a position's value is that of its best move, if the tables have all of them."""
    best = -scores.MATE
    for move in list(board.legal_moves):
        board.push(move)
        try:
            best = max(best, _a_ply_before(_mate_score(gaviota, board)))
        except KeyError:
            # A capture or promotion leads to a table that is not here.
            return
        finally:
            board.pop()
    if any(board.legal_moves):
        _compare(gaviota, board, best)


def _compare(gaviota: PythonTablebase, board: chess.Board, best: int) -> None:
    # Where en passant is forced, python-chess's answer is not exact.
    if not board.has_legal_en_passant() and _mate_score(gaviota, board) != best:
        raise ContradictionError("a distance and those one move on do not agree")


def _mate_score(gaviota: PythonTablebase, board: chess.Board) -> int:
    """The score that the tables give the side to move. They say 0 for mated as for drawn, so mate is looked for."""
    if board.is_checkmate():
        return -scores.MATE
    if board.is_stalemate() or board.is_insufficient_material():
        return scores.DRAW
    plies = gaviota.probe_dtm(board)
    return _sign(plies) * (scores.MATE - abs(plies))


def _a_ply_before(score: int) -> int:
    """What a position after a move is worth before that move."""
    return _sign(score) - score


def _mate_rank(score: int) -> TablebaseRank:
    return TablebaseRank(score and _sign(score) * (WON - scores.MATE + abs(score)), score)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
