"""Why a move is an error, in words: where its line leads, compared with where the better line leads.

First comes the tactic that decides one of the lines, then what the move costs. Where no tactic decides, both lines are
followed to a quiet position in which the static evaluation shows best what the search has found. There the terms of the
evaluation are compared, by their titles, and said as they can be seen. A forced mate, a draw and a tablebase result are
reasons of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from evaluation.report import counted_pieces, joined
from uci_engine.game_analysis.boards import PIECE_VALUES, board_after, wins_material
from uci_engine.game_analysis.changes import NETWORK, changes_between, strongest
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import DRAWS, ENDINGS, Kind, Motif
from uci_engine.game_analysis.tactics.words import left_guard_words, motif_words
from uci_engine.game_analysis.values import Analyser, Found, Value, final_value
from uci_engine.score import piece_count, win_curve

# Lines are compared at most this many plies deep.
MAX_COMPARED_PLIES = 12
# The penalty a ply, in shown centipawns: for comparing late, and for comparing positions at different plies.
PLY_COST_CP = 6
DISTANCE_COST_CP = 12
# Greater scores do not matter to the choice of the positions.
MAX_SCORE_CP = 1500
# What is worth naming: in shown centipawns, and as a share of the greatest change.
LEAST_FEATURE_CP = 12
LEAST_SHARE = 0.15
MAX_FEATURES = 2
# A loss of which the two positions show less than this share is one that only the lines explain.
LEAST_SHOWN_SHARE = 0.4


def material_words(better: chess.Board, worse: chess.Board, color: chess.Color) -> str:
    """What one side has less in the second position than in the first: `a knight`, or "" for nothing.

    Pieces that both sides have less cancel out.
    """
    owed = {kind: _surplus(better, kind, color) - _surplus(worse, kind, color) for kind in chess.PIECE_TYPES}
    if sum(PIECE_VALUES[kind] * count for kind, count in owed.items()) <= 0:
        return ""
    minor = owed[chess.KNIGHT] + owed[chess.BISHOP]
    if owed[chess.ROOK] == 1 and minor == -1 and owed[chess.QUEEN] == 0:
        pawns = counted_pieces({chess.PAWN: owed[chess.PAWN]})
        return joined(["the exchange", *([pawns] if pawns else [])])
    # A knight for a bishop is no loss.
    if minor == 0:
        owed[chess.KNIGHT] = owed[chess.BISHOP] = 0
    lost, gained = counted_pieces(owed), counted_pieces({kind: -count for kind, count in owed.items()})
    return f"{lost} for {gained}" if gained else lost


def _surplus(board: chess.Board, piece_type: chess.PieceType, color: chess.Color) -> int:
    return len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is an error. `text` is a sentence for the player, without its full stop.

    `motifs` decide the line of the move played, or where `is_missed` the better one. `names_missed_mate`: the text says
    that a mate is missed.
    """

    text: str
    motifs: tuple[Motif, ...] = ()
    is_missed: bool = False
    names_missed_mate: bool = False

    def __str__(self) -> str:
        return self.text


def reason_for(analyser: Analyser, board: chess.Board, played: Found, better: Found) -> Reason:
    """Why the line of the move played is worse than the better line, both from this board."""
    color = board.turn
    motifs, is_missed = _deciding(board, played, better)
    parts = _tactic(board, played, better, motifs, is_missed)
    forced = _forced(board, played, better)
    positions = _compared_positions(analyser, board, played, better)
    is_decided = any(value.mate_for(side) is not None for value, side in _mates(played, better, color))
    if positions is not None and not is_decided and not _is_drawn(board, played, better):
        played_plies, better_plies, shown_share = positions
        after_played = board_after(board, played.line[:played_plies])
        after_better = board_after(board, better.line[:better_plies])
        costs = _material(board, after_better, after_played)
        parts += forced + ([costs] if costs else [])
        if not motifs:
            pieces = piece_count(board)
            parts += _features(analyser, color, after_better, after_played, pieces, bool(parts), shown_share)
    else:
        parts += forced
    text = _sentence(parts or ["the better line is worth more"])
    return Reason(text, motifs, is_missed, better.value.mate_for(color) is not None)


def _mates(played: Found, better: Found, color: chess.Color) -> tuple[tuple[Value, chess.Color], ...]:
    return (played.value, not color), (better.value, color)


def _deciding(board: chess.Board, played: Found, better: Found) -> tuple[tuple[Motif, ...], bool]:
    """The motifs that decide the line of the move played, or else the better one, and whether it is the better one.

    What both lines win or lose alike decides neither.
    """
    color = board.turn
    difference = Line(board, better.line, color).gain() - Line(board, played.line, color).gain()
    expectations = played.value.expected_for(color), better.value.expected_for(color)
    for found, winner in ((played, not color), (better, color)):
        is_missed = found is better
        motifs = deciding_motifs(board, found.line, winner)
        if not motifs:
            continue
        kind = motifs[-1].kind
        if kind in DRAWS:
            decides = expectations[0] < 0.5 if is_missed else expectations[1] > 0.5
        else:
            decides = kind.is_mate or kind in ENDINGS or found.value.mate_for(winner) is not None or difference >= 1
        if decides:
            return motifs, is_missed
    return (), False


def _tactic(board: chess.Board, played: Found, better: Found, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """What happens on the board by these motifs. A mate without a name of its own is said elsewhere."""
    line = better.line if is_missed else played.line
    parts = [motif_words(board, line, motif) for motif in motifs if motif.kind is not Kind.MATE]
    if parts and is_missed:
        parts[0] = f"better, {parts[0]}"
    if motifs and not is_missed:
        parts += filter(None, [left_guard_words(board, played.line[0], motifs[0])])
    return parts


def _features(
    analyser: Analyser,
    color: chess.Color,
    after_better: chess.Board,
    after_played: chess.Board,
    pieces: int,
    has_reason: bool,
    shown_share: float,
) -> list[str]:
    """What differs most between the two positions, as it can be seen; the network where nothing else does."""
    changes = changes_between(analyser, after_better, after_played, pieces)
    greatest = max((abs(change.cp) for change in changes), default=0)
    against = strongest(changes, color, len(changes), max(LEAST_FEATURE_CP, round(LEAST_SHARE * greatest)))
    named = [change for change in against if change.title != NETWORK][:MAX_FEATURES]
    pair = _bishop_pair(after_better, after_played, color) if not has_reason else ""
    parts = [pair] if pair else []
    if named:
        parts.append(joined([change.seen_by(color) for change in named]))
    if not (parts or has_reason):
        parts = [change.seen_by(color) for change in against] or [
            "the position that follows is a little worse in many small ways"
        ]
    if not has_reason and shown_share < LEAST_SHOWN_SHARE:
        parts.append("that is only a part of the loss, the rest comes later in the lines")
    return parts


def _is_drawn(board: chess.Board, played: Found, better: Found) -> bool:
    """Whether a draw at the end of a line is the reason."""
    color = board.turn
    missed_win = _drawn_end(board, played.line) and better.value.expected_for(color) > 0.5
    return bool(missed_win or (_drawn_end(board, better.line) and played.value.expected_for(color) < 0.5))


def _forced(board: chess.Board, played: Found, better: Found) -> list[str]:
    """What the lines lead to by force."""
    color = board.turn
    parts = []
    against, missed = played.value.mate_for(not color), better.value.mate_for(color)
    if against is not None:
        parts.append(f"it allows mate in {against}" if against else "it allows mate")
    elif played.value.is_tablebase and played.value.expected_for(color) < 0.5:
        parts.append("the tablebases say that it loses")
    if missed is not None:
        parts.append(f"it misses mate in {missed}")
    elif better.value.is_tablebase and better.value.expected_for(color) > 0.5:
        parts.append("the tablebases say that the better move wins")
    if (ending := _drawn_end(board, played.line)) and better.value.expected_for(color) > 0.5:
        parts.append(f"its line ends in a draw by {ending}")
    if (ending := _drawn_end(board, better.line)) and played.value.expected_for(color) < 0.5:
        parts.append(f"the better line holds the draw by {ending}")
    return parts


def _material(board: chess.Board, after_better: chess.Board, after_played: chess.Board) -> str:
    """The material that the move costs or leaves, in words; "" for none."""
    owed = material_words(after_better, after_played, board.turn)
    if not owed:
        return ""
    return f"it costs {owed}" if material_words(board, after_played, board.turn) else f"it misses the gain of {owed}"


def _bishop_pair(after_better: chess.Board, after_played: chess.Board, color: chess.Color) -> str:
    """That the move gives up the bishop pair, or leaves it to the opponent, in words; "" if it does neither."""
    if _has_bishop_pair(after_better, color) > _has_bishop_pair(after_played, color):
        return "it gives up the bishop pair"
    if _has_bishop_pair(after_better, not color) < _has_bishop_pair(after_played, not color):
        return f"it leaves {'Black' if color else 'White'} the bishop pair"
    return ""


def _has_bishop_pair(board: chess.Board, color: chess.Color) -> bool:
    """Whether one side has two bishops or more, and the other has not."""
    return len(board.pieces(chess.BISHOP, color)) >= 2 > len(board.pieces(chess.BISHOP, not color))


def _drawn_end(board: chess.Board, line: Sequence[chess.Move]) -> str:
    """How the game is drawn at the end of a line; "" if it is not."""
    end = board_after(board, line)
    if end.is_stalemate():
        return "stalemate"
    if end.is_insufficient_material():
        return "insufficient material"
    if end.is_repetition(2) and len(line) > 1:
        return "repetition"
    return ""


def _bounded(value: Value) -> int:
    """The score in shown centipawns from White's view, within bounds."""
    return min(max(value.score.score(mate_score=100_000), -MAX_SCORE_CP), MAX_SCORE_CP)


def _compared_positions(
    analyser: Analyser, board: chess.Board, played: Found, better: Found
) -> tuple[int, int, float] | None:
    """After how many plies of each line to compare, and the share of the loss that these two positions show.

    In both the same side is to move, so that the right to move is no difference. None if no two positions will do.
    Those are taken whose static scores are nearest to what the searches found, soon and not far from each other.
    """
    played_scores = _quiet_scores(analyser, board, played.line, first=2)
    better_scores = _quiet_scores(analyser, board, better.line, first=1)
    difference_cp = _bounded(played.value) - _bounded(better.value)
    pairs = [
        (
            abs(played_cp - better_cp - difference_cp)
            + abs(played_cp - _bounded(played.value))
            + abs(better_cp - _bounded(better.value))
            + PLY_COST_CP * (i + j)
            + DISTANCE_COST_CP * abs(i - j),
            i,
            j,
        )
        for i, played_cp in played_scores.items()
        for j, better_cp in better_scores.items()
        if (i - j) % 2 == 0
    ]
    if not pairs:
        return None
    _, i, j = min(pairs)
    return i, j, (played_scores[i] - better_scores[j]) / difference_cp if difference_cp else 1.0


def _quiet_scores(analyser: Analyser, board: chess.Board, line: Sequence[chess.Move], first: int) -> dict[int, float]:
    """The static scores after so many plies of a line, where the position is quiet; of its ends if it never is.

    In shown centipawns from White's view, on the scale of a search of this board.
    """
    midpoint_cp, _ = win_curve(piece_count(board))
    quiet: dict[int, float] = {}
    others: dict[int, float] = {}
    position = board.copy(stack=False)
    for ply, move in enumerate(line[:MAX_COMPARED_PLIES], start=1):
        was_capture = position.is_capture(move) or move.promotion is not None
        position.push(move)
        if ply < first or position.is_check() or final_value(position) is not None:
            continue
        score = analyser.evaluate(position).white().score(mate_score=0) * 100 / midpoint_cp
        following = line[ply] if ply < len(line) else None
        if following is None:
            captures = position.generate_legal_captures()
            is_quiet = not was_capture and not any(wins_material(position, capture) for capture in captures)
        else:
            is_quiet = not (position.is_capture(following) or following.promotion)
        (quiet if is_quiet else others)[ply] = score
    return quiet or dict(list(others.items())[-2:])


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]
