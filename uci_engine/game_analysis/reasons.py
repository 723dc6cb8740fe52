"""Why a move is an error or good, in words. Of an error: where its line leads, compared with the better line.

First comes the tactic that decides one of the lines, then what the move costs. Where no tactic decides, both lines are
followed to a quiet position in which the static evaluation shows best what the search has found. The evaluation says
what differs most between the two, and `seen.py` what of it can be seen. A forced mate, a draw and a tablebase result
are reasons of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import chess

from evaluation.report import counted_pieces, joined
from uci_engine.game_analysis.boards import PIECE_VALUES, board_after, drawn_by, is_sacrifice, wins_material
from uci_engine.game_analysis.changes import changes_between
from uci_engine.game_analysis.judgement import INACCURACY_LOSS, ONLY_MOVE_LOSS
from uci_engine.game_analysis.seen import remarks
from uci_engine.game_analysis.tactics.attacks import gain_of
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import CAPTURES, DRAWS, ENDINGS, Kind, Motif
from uci_engine.game_analysis.tactics.words import motif_words
from uci_engine.game_analysis.values import DRAWN, MATE_CP, Analyser, Found, Value, final_value
from uci_engine.score import piece_count, win_curve

# Lines are compared at most this many plies deep.
MAX_COMPARED_PLIES = 12
# The penalty, in shown centipawns: for each ply, for each by which the two positions differ, and for each pawn by which
# their material differs from that at the ends of the lines.
PLY_COST_CP = 6
DISTANCE_COST_CP = 12
MATERIAL_COST_CP = 60
# Greater scores do not matter to the choice of the positions.
MAX_SCORE_CP = 1500
# What is worth naming, in shown centipawns.
LEAST_FEATURE_CP = 12
MAX_FEATURES = 2
# In so many pairs of positions facts are looked for.
MAX_PAIRS = 8
# A line that draws expects half a point to within this much.
DRAWN_SHARE = 0.05
# Of more pieces than these, lost for others, it is only said that they are material.
MOST_TRADED = 2

# Finds the best line of a position; with an empty line where nothing is left for a search.
Finder = Callable[[chess.Board], Found]


def material_words(better: chess.Board, worse: chess.Board, color: chess.Color) -> str:
    """What one side has less in the second position than in the first: `a piece`, or "" for nothing.

    Pieces that both sides have less cancel out, and a knight counts as a bishop. What nobody would add up in his head
    is `material`.
    """
    owed = {kind: _surplus(better, kind, color) - _surplus(worse, kind, color) for kind in chess.PIECE_TYPES}
    if sum(PIECE_VALUES[kind] * count for kind, count in owed.items()) <= 0:
        return ""
    owed[chess.BISHOP] += owed.pop(chess.KNIGHT)
    if owed[chess.ROOK] == 1 and owed[chess.BISHOP] == -1 and owed[chess.QUEEN] == 0:
        pawns = counted_pieces({chess.PAWN: owed[chess.PAWN]})
        return joined(["the exchange", *([pawns] if pawns else [])])
    lost, gained = counted_pieces(owed), counted_pieces({kind: -count for kind, count in owed.items()})
    if gained and sum(abs(owed[kind]) for kind in (chess.BISHOP, chess.ROOK, chess.QUEEN)) > MOST_TRADED:
        return "material"
    return (f"{lost} for {gained}" if gained else lost).replace("bishop", "piece")


def _surplus(board: chess.Board, piece_type: chess.PieceType, color: chess.Color) -> int:
    return len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is an error or good. `text` is a sentence for the player, without its full stop.

    `motifs` decide the line of the move or the better one. `names_missed_mate`: it says that a mate is missed.
    """

    text: str
    motifs: tuple[Motif, ...] = ()
    names_missed_mate: bool = False

    def __str__(self) -> str:
        return self.text


class _Lines:
    """The move played and the better one, each with its line, and what these win: for the opponent, and for the player.

    What both win alike decides nothing, so `loss` is by how much their ends differ, in pawns. What the move played has
    `taken` is no gain if it costs as much.
    """

    def __init__(self, board: chess.Board, played: Found, better: Found) -> None:
        # The side that made the error.
        self.color = board.turn
        self.board, self.played, self.better = board, played, better
        self.against = Line(board, played.line, not self.color)
        self.missed = Line(board, better.line, self.color)
        self.loss = self.against.gain() + self.missed.gain()
        self.taken = sum(gain_of(board, move) for move in played.line[:1])


class _Pair(NamedTuple):
    """Two positions to compare: after `worse` plies of the line of the move played, and `best` of the better one.

    The less it costs the better.
    """

    cost: float
    worse: int
    best: int


def reason_for(analyser: Analyser, board: chess.Board, played: Found, better: Found) -> Reason:
    """Why the line of the move played is worse than the better line, both from this board."""
    lines = _Lines(board, played, better)
    motifs, is_missed = _deciding(lines)
    parts = _tactic(lines.missed if is_missed else lines.against, motifs, is_missed)
    is_draw = bool(motifs) and motifs[-1].kind in DRAWS
    forced = [] if is_draw else _forced(lines)
    pairs = [] if forced or is_draw else _pairs(analyser, lines)
    if pairs:
        costs = _material(lines, pairs[0], bool(motifs), is_missed)
        parts += costs if motifs or costs else _positional(analyser, lines, pairs)
    text = "; ".join(parts + forced) or "the better line is worth more"
    return Reason(text[:1].upper() + text[1:], motifs, better.value.mate_for(lines.color) is not None)


def _deciding(lines: _Lines) -> tuple[tuple[Motif, ...], bool]:
    """The motifs that decide the line of the move played, or else the better one, and whether it is the better one."""
    played, better = lines.played, lines.better
    motifs = deciding_motifs(lines.against, -lines.taken)
    if motifs and _decides(motifs, lines.against.winner, played, better, lines.loss):
        return motifs, False
    motifs = deciding_motifs(lines.missed)
    if motifs and _decides(motifs, lines.color, better, played, lines.loss):
        takes_the_same = motifs[0].kind in CAPTURES and motifs[0].move.to_square in [
            move.to_square for move in played.line[:1]
        ]
        return ((), False) if takes_the_same else (motifs, True)
    return (), False


def _decides(motifs: tuple[Motif, ...], winner: chess.Color, found: Found, other: Found, loss: int) -> bool:
    """Whether these motifs of a line are why it is better for the winner than the other one."""
    kind = motifs[-1].kind
    if kind in DRAWS:
        return _is_drawn(found.value) and other.value.expected_for(winner) < 0.5
    return kind.is_mate or kind in ENDINGS or loss >= 1


def _tactic(line: Line, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """What happens on the board by these motifs. A mate without a name of its own is said elsewhere."""
    parts = [motif_words(line, motif) for motif in motifs if motif.kind is not Kind.MATE]
    if parts and is_missed:
        better = "better," if not motifs[0].ply else f"better is {line.name(0)}:"
        parts[0] = f"{better} {parts[0]}"
    return parts


def _forced(lines: _Lines) -> list[str]:
    """What the lines lead to by force."""
    color, played, better = lines.color, lines.played.value, lines.better.value
    parts = []
    against, missed = played.mate_for(not color), better.mate_for(color)
    if against is not None:
        parts.append(f"it allows mate in {against}" if against else "it allows mate")
    elif played.is_tablebase and played.expected_for(color) < 0.5:
        parts.append("the tablebases say that it loses")
    if missed is not None:
        parts.append(f"it misses mate in {missed}")
    elif better.is_tablebase and better.expected_for(color) > 0.5:
        parts.append("the tablebases say that the better move wins")
    if (ending := _drawn_end(lines.board, lines.played)) and better.expected_for(color) > 0.5:
        parts.append(f"its line ends in a draw by {ending}")
    if (ending := _drawn_end(lines.board, lines.better)) and played.expected_for(color) < 0.5:
        parts.append(f"the better line holds the draw by {ending}")
    return parts


def _drawn_end(board: chess.Board, found: Found) -> str:
    """How a line ends in a draw; "" if it does not, or if one side repeats moves and does not have to."""
    return drawn_by(board_after(board, found.line)) if _is_drawn(found.value) else ""


def _is_drawn(value: Value) -> bool:
    return abs(value.expected - DRAWN.expected) < DRAWN_SHARE


def _material(lines: _Lines, pair: _Pair, has_tactic: bool, is_missed: bool) -> list[str]:
    """The material that the move costs or leaves, if the lines agree to their ends, and what takes it.

    A tactic says already what takes it.
    """
    owed = material_words(lines.missed.boards[pair.best], lines.against.boards[pair.worse], lines.color)
    if not owed or lines.loss < 1:
        return []
    is_missed = is_missed or (not has_tactic and lines.against.gain() + lines.taken < 1)
    costs = f"it misses the gain of {owed}" if is_missed else f"it costs {owed}"
    line = lines.missed if is_missed else lines.against
    wins = line.wins()
    return [f"{costs}: {line.name(wins[0].ply)}"] if wins and not has_tactic else [costs]


def _positional(analyser: Analyser, lines: _Lines, pairs: Sequence[_Pair]) -> list[str]:
    """What is worse after the moves of the one line than after those of the other.

    Facts are looked for in one pair of positions after the other. Without any there is still something to say.
    """
    generals = []
    # Pairs share positions.
    explained = cache(lambda line, ply: analyser.explain(line.boards[ply]))
    for pair in pairs[:MAX_PAIRS]:
        worse, best = lines.against.boards[pair.worse], lines.missed.boards[pair.best]
        changes = changes_between(
            explained(lines.missed, pair.best), explained(lines.against, pair.worse), piece_count(lines.board)
        )
        here, there, general = remarks(changes, best, worse, lines.color, LEAST_FEATURE_CP)
        here = here[:MAX_FEATURES]
        there = there[: MAX_FEATURES - len(here)]
        where = f"after {lines.against.name(pair.worse - 1)}"
        parts = [f"{where} {joined(here)}"] if here else []
        if there:
            parts.append(f"in the better line, after {lines.missed.name(pair.best - 1)}, {joined(there)}")
        if parts:
            return parts
        generals.append(f"{where} {general}" if general else "")
    is_named = bool(generals[0]) and pairs[0].worse == 2
    if not is_named and lines.played.line[1:2] not in ((), lines.better.line[1:2]):
        parts.append(f"the answer is {lines.against.name(1)}")
    if generals[0]:
        parts.append(generals[0])
    return parts or ["the position that follows is a little worse in many small ways"]


def _bounded(value: Value) -> int:
    """The score in shown centipawns from White's view, within bounds."""
    return min(max(value.score.score(mate_score=MATE_CP), -MAX_SCORE_CP), MAX_SCORE_CP)


def _pairs(analyser: Analyser, lines: _Lines) -> list[_Pair]:
    """The positions to compare, the best pair first.

    In both the same side is to move, so that the right to move is no difference. Those are best whose static scores are
    nearest to what the searches found and whose material is nearest to that of the ends, soon and not far from each
    other.
    """
    worse_cp, best_cp = _bounded(lines.played.value), _bounded(lines.better.value)
    best_scores = _quiet_scores(analyser, lines.missed, lines.better, first=1)
    pairs = []
    for i, there_cp in _quiet_scores(analyser, lines.against, lines.played, first=2).items():
        for j, here_cp in best_scores.items():
            lost = lines.missed.balance(j) + lines.against.balance(i)
            cost = abs(there_cp - here_cp - worse_cp + best_cp) + abs(there_cp - worse_cp) + abs(here_cp - best_cp)
            cost += MATERIAL_COST_CP * abs(lost - lines.loss) + PLY_COST_CP * (i + j) + DISTANCE_COST_CP * abs(i - j)
            if (i - j) % 2 == 0:
                pairs.append(_Pair(cost, i, j))
    return sorted(pairs)


def _quiet_scores(analyser: Analyser, line: Line, found: Found, first: int) -> dict[int, float]:
    """The static scores after so many plies of a line, where the position is quiet; of all if it never is.

    In shown centipawns from White's view, on the scale of a search of its first board.
    """
    midpoint_cp, _ = win_curve(piece_count(line.boards[0]))
    quiet: dict[int, float] = {}
    others: dict[int, float] = {}
    for ply in range(first, min(len(found.line), MAX_COMPARED_PLIES) + 1):
        position = line.boards[ply]
        if position.is_check() or final_value(position) is not None:
            continue
        score = analyser.evaluate(position).white().score(mate_score=0) * 100 / midpoint_cp
        following = found.line[ply : ply + 1]
        if following:
            is_quiet = not gain_of(position, following[0])
        else:
            captures = (move for move in position.legal_moves if gain_of(position, move))
            is_quiet = not any(wins_material(position, capture) for capture in captures)
        (quiet if is_quiet else others)[ply] = score
    return quiet or others


# Why a move is good ---------------------------------------------------------------------------------------------------


def support_for(
    board: chess.Board, played: Found, others: Value | None = None, find: Finder | None = None
) -> Reason | None:
    """Why a move, the first of its line, is good; None where there is nothing to say.

    `others`: what the best other move is worth, if that is known. `find` searches for the threat; without it none is
    named.
    """
    color = board.turn
    line = Line(board, played.line, color)
    motifs = deciding_motifs(line)
    parts = [motif_words(line, motif) for motif in motifs]
    if is_sacrifice(board, played.line) and played.value.expected_for(color) >= 0.5:
        parts.append(f"the sacrifice works: {board.variation_san(played.line)}")
    if others is not None and played.value.expected_for(color) - others.expected_for(color) >= ONLY_MOVE_LOSS:
        parts.append("every other move is much worse")
    threat = _threat(board, played, find) if find is not None and not motifs else ""
    if threat:
        parts.append(f"it meets a threat: {threat}")
    if not parts:
        return None
    text = "; ".join(parts)
    return Reason(text[:1].upper() + text[1:], motifs)


def _threat(board: chess.Board, played: Found, find: Finder) -> str:
    """The tactic that the other side would have if it were to move, and has no longer after the move; "" for none."""
    color = board.turn
    if board.is_check():
        return ""
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    passed = passed.copy(stack=False)
    # Where the other side is out of moves, or the line of the move has a tactic of its own for it, nothing was met.
    if passed.is_game_over() or deciding_motifs(Line(board, played.line, not color)):
        return ""
    found = find(passed)
    if not found.line or played.value.expected_for(color) - found.value.expected_for(color) < INACCURACY_LOSS:
        return ""
    line = Line(passed, found.line, not color)
    return "; ".join(motif_words(line, motif) for motif in deciding_motifs(line))
