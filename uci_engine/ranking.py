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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import chess.polyglot
import chess.syzygy

from uci_engine import score as scores
from uci_engine.clock import Clock
from uci_engine.core import moves
from uci_engine.options import Options
from uci_engine.tablebases import Tablebases

# Ranks: a win in so many plies has WON less those, a loss the negative, a draw 0. No distance comes near it.
WON = 1 << 18
# The fifty-move rule in plies, and the largest distance that a score still tells apart.
FIFTY_MOVES_PLIES = 100
FARTHEST = scores.TABLEBASE_WIN - scores.TABLEBASE_BOUND
# Ranking may take this share of the time for the move, and no longer than that; one probe by python-chess takes this.
TIME_SHARE = 0.5
MOST_SECONDS = 2.0
PROBE_SECONDS = 0.02
# Distance to the next capture or pawn move, by what the move that makes it leads to; beyond 100 the rule spoils it.
DISTANCE_OF = {2: 1, 1: 1 + FIFTY_MOVES_PLIES, 0: 0, -1: -1 - FIFTY_MOVES_PLIES, -2: -1}


@dataclass(frozen=True, slots=True)
class Standing:
    """What a root move is worth: greater ranks are better, and among moves of equal rank the search may choose."""

    rank: int
    score: int | None
    """The score to show for it, if the tables know one."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every allowed root move with its standing, or none; whether that is all the tables know, so that the search need
    not ask them; how often they were asked; and sentences."""

    standings: Mapping[chess.Move, Standing] = field(default_factory=dict)
    complete: bool = False
    hits: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probing:
    """What the user allows: tables of so many men, the largest so far from the horizon, and the fifty-move rule."""

    most_men: int = 0
    depth: int = 1
    fifty_moves: bool = True

    @staticmethod
    def by(options: Options) -> Probing:
        """As the options say."""
        return Probing(
            most_men=int(options["SyzygyProbeLimit"]),
            depth=int(options["SyzygyProbeDepth"]),
            fifty_moves=bool(options["Syzygy50MoveRule"]),
        )


class ContradictionError(Exception):
    """Two tables, or two entries of one, cannot both be right."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What ranking goes by: the fifty-move rule or not, the most men, and the end of its time by `perf_counter`."""

    fifty_moves: bool
    most_men: int
    until: float
    stopped: Callable[[], bool]

    @staticmethod
    def within(probing: Probing, clock: Clock, stopped: Callable[[], bool]) -> Rules:
        """What the user allows, in a share of the time that this search has."""
        seconds = min(TIME_SHARE * clock.budget.hard_ms / 1000, MOST_SECONDS)
        return Rules(probing.fifty_moves, probing.most_men, clock.started_at + seconds, stopped)

    def out_of_time(self) -> bool:
        """Whether there is no time for one more probe by python-chess, which may have to read a file first."""
        return self.stopped() or time.perf_counter() + PROBE_SECONDS > self.until


def rank(
    tables: Tablebases, position: Any, board: chess.Board, allowed: Sequence[chess.Move], rules: Rules
) -> Ranking:
    """Rank the allowed moves of a board. `position` is a core's, free to use, and is left set to the board."""
    men = chess.popcount(board.occupied)
    if board.castling_rights or men > rules.most_men or len(allowed) < 2:
        return Ranking()
    if men <= tables.largest:
        name = chess.syzygy.normalize_tablename(chess.syzygy.calc_key(board))
        try:
            ranking = _by_syzygy(tables, position, board, allowed, rules, name)
        except ContradictionError as error:
            tables.drop(name)
            return Ranking(notes=(f"error: Syzygy table {name} is not used any more: {error}",))
        if ranking.standings:
            return ranking
    if tables.gaviota is not None:
        try:
            return _by_gaviota(tables, board, allowed, rules)
        except KeyError:
            # python-chess's way to say that it has no table of these men.
            return Ranking()
        except Exception as error:  # whatever a damaged file makes of python-chess
            tables.drop_gaviota()
            return Ranking(notes=(f"error: the Gaviota tables are not used any more: {type(error).__name__}",))
    return Ranking()


def _by_syzygy(
    tables: Tablebases, position: Any, board: chess.Board, allowed: Sequence[chess.Move], rules: Rules, name: str
) -> Ranking:
    position.set_board(board)
    value = tables.probe_wdl(position)
    if value is None:
        return Ranking()
    values: dict[chess.Move, int] = {}
    for move in board.legal_moves:
        number = moves.encode(board, move)
        position.make(number)
        after = tables.probe_wdl(position)
        position.unmake(number)
        if after is None:
            return Ranking()
        values[move] = -after
    hits = 1 + len(values)
    best = max(values.values())
    # A move later, a win is nearer and may have become one in time: only the sign must be the same.
    if _sign(best) != _sign(value) or abs(best) < abs(value):
        raise ContradictionError("a position and the positions after it do not agree")
    values = {move: values[move] for move in allowed}
    best = max(values.values())
    standings: dict[chess.Move, Standing] = {}
    distances: Mapping[chess.Move, int] = {}
    if best == 0:
        distances = {move: 0 for move, its_value in values.items() if its_value == 0}
    elif name in tables.dtz:
        try:
            distances = _distances(tables, board, values, rules)
        except chess.syzygy.MissingTableError:
            distances = {}
        hits += len(distances) + 1
    clock = board.halfmove_clock
    for move, its_value in values.items():
        if move in distances:
            standings[move] = _standing(distances[move], clock, rules.fifty_moves)
        elif distances and its_value > 0:
            # There was no time to look, and no need: a quickest move is known.
            standings[move] = Standing(WON // 2, None)
        else:
            # Worse than the best, or nobody knows how far: rough ranks, which leave the choice to the search.
            standings[move] = Standing(its_value * WON if its_value >= 0 else (its_value - 2) * WON, None)
    return Ranking(standings, complete=bool(distances), hits=hits)


def _distances(
    tables: Tablebases, board: chess.Board, values: Mapping[chess.Move, int], rules: Rules
) -> Mapping[chess.Move, int]:
    """Plies to the next capture or pawn move, for the moves of the best sign; when time runs out, for some of the wins
    if a quickest is among them, else for none.

    Negative for losses, 0 for what a repetition draws; beyond 100 where the fifty-move rule spoils the result.
    """
    sign = _sign(max(values.values()))
    seen = _positions_seen(board)
    found: dict[chess.Move, int] = {}
    if rules.out_of_time():
        return {}
    shortest = _distance(tables, board, sign)
    # Captures and pawn moves first: their distance is known without a look.
    for move in sorted(values, key=board.is_zeroing, reverse=True):
        value = values[move]
        if _sign(value) != sign:
            continue
        if rules.out_of_time():
            quickest_known = sign > 0 and any(0 < distance <= shortest for distance in found.values())
            return found if quickest_known else {}
        after = board.copy(stack=False)
        after.push(move)
        if after.is_checkmate():
            found[move] = 1
        elif after.halfmove_clock == 0:
            found[move] = DISTANCE_OF[value]
        elif _repeats(after, seen, sign):
            found[move] = 0
        else:
            found[move] = sign - _distance(tables, after, -sign)
    return found


def _distance(tables: Tablebases, board: chess.Board, sign: int) -> int:
    """What python-chess says, which must be of this sign. Raises MissingTableError for a table that is not there."""
    try:
        distance = tables.syzygy.probe_dtz(board)
    except chess.syzygy.MissingTableError:
        raise
    except Exception as error:  # whatever a damaged file makes of python-chess
        raise ContradictionError(f"its distances cannot be read ({type(error).__name__})") from error
    if _sign(distance) != sign:
        raise ContradictionError("its results and its distances do not agree")
    return distance


def _standing(distance: int, clock: int, fifty_moves: bool) -> Standing:
    """The standing of a move by its distance, with `clock` plies gone since the last capture or pawn move."""
    plies = abs(distance) + clock
    if distance == 0:
        return Standing(0, scores.DRAW)
    spoilt = fifty_moves and plies > FIFTY_MOVES_PLIES
    score = 1 if spoilt else scores.TABLEBASE_WIN - min(plies, FARTHEST)
    return Standing(WON - plies, score) if distance > 0 else Standing(plies - WON, -score)


def _positions_seen(board: chess.Board) -> Counter[int]:
    """How often the positions that can still come again have been on the board, by key, this one included."""
    back = board.copy(stack=board.halfmove_clock)
    seen = Counter([chess.polyglot.zobrist_hash(back)])
    while back.move_stack and back.halfmove_clock:
        back.pop()
        seen[chess.polyglot.zobrist_hash(back)] += 1
    return seen


def _repeats(after: chess.Board, seen: Counter[int], sign: int) -> bool:
    """Whether a move brings a position for the third time, or lets the opponent of a win do so."""
    if seen[chess.polyglot.zobrist_hash(after)] >= 2:
        return True
    if sign < 0 or max(seen.values()) < 2:
        return False
    for reply in list(after.legal_moves):
        after.push(reply)
        third = seen[chess.polyglot.zobrist_hash(after)] >= 2
        after.pop()
        if third:
            return True
    return False


def _by_gaviota(
    tables: Tablebases, board: chess.Board, allowed: Sequence[chess.Move], rules: Rules
) -> Ranking:
    """Rank by distance to mate. The tables give 0 for a mated side as for a draw, so mate is looked for first."""
    assert tables.gaviota is not None
    standings: dict[chess.Move, Standing] = {}
    for move in allowed:
        if rules.out_of_time():
            return Ranking()
        after = board.copy(stack=False)
        after.push(move)
        if after.is_checkmate():
            standings[move] = Standing(WON - 1, scores.MATE - 1)
            continue
        if after.is_stalemate() or after.is_insufficient_material():
            standings[move] = Standing(0, scores.DRAW)
            continue
        distance = -tables.gaviota.probe_dtm(after)
        plies = abs(distance) + 1
        if distance > 0:
            standings[move] = Standing(WON - plies, scores.MATE - plies)
        elif distance < 0:
            standings[move] = Standing(plies - WON, plies - scores.MATE)
        else:
            standings[move] = Standing(0, scores.DRAW)
    return Ranking(standings, complete=True, hits=len(standings))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
