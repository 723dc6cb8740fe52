"""Why a move is an error, in words: where its line leads, compared with where the better line leads.

Both lines are followed to a quiet position in which the static evaluation shows best what the search has found. There
the features are compared. A forced mate, a draw and a tablebase result are reasons of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from uci_engine.game_analysis.boards import board_after, wins_material
from uci_engine.game_analysis.features import FeatureChange, feature_changes, material_words, strongest
from uci_engine.game_analysis.values import Analyser, Found, Value, final_value
from uci_engine.score import piece_count, win_curve

# Lines are compared at most this many plies deep.
MAX_COMPARED_PLIES = 12
# A later position must show the loss better by this much a ply, in shown centipawns; and two positions of which one is
# later by this much a ply, because what was played in between hides the difference.
PLY_COST_CP = 6
DISTANCE_COST_CP = 12
# Greater scores do not matter to the choice of the positions.
MAX_SCORE_CP = 1500
# What is worth naming: in shown centipawns, and as a share of the greatest change.
LEAST_FEATURE_CP = 12
LEAST_SHARE = 0.15
MAX_FEATURES = 4
# A loss of which the two positions show less than this share is one that only the lines explain.
LEAST_SHOWN_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the move is worse. `text` is a sentence for the player.

    `changes`: how the features differ, the greatest difference first. `played_plies`, `better_plies`: where in the two
    lines they were compared, 0 where they were not.
    """

    text: str
    changes: tuple[FeatureChange, ...] = field(default=())
    played_plies: int = 0
    better_plies: int = 0


def reason_for(analyser: Analyser, board: chess.Board, played: Found, better: Found) -> Reason:
    """Why the line of the move played is worse than the better line, both from this board."""
    color = board.turn
    forced = _forced(board, played, better)
    positions = _compared_positions(analyser, board, played, better)
    if positions is None:
        return Reason(_sentence(forced or ["the better line is worth more"]))
    played_plies, better_plies, shown_share = positions
    after_played = board_after(board, played.line[:played_plies])
    after_better = board_after(board, better.line[:better_plies])
    changes = feature_changes(analyser, after_better, after_played, piece_count(board))
    lost = _material(board, after_better, after_played)
    greatest = max((abs(change.cp) for change in changes), default=0)
    named = strongest(changes, color, MAX_FEATURES, max(LEAST_FEATURE_CP, round(LEAST_SHARE * greatest)))
    parts = [*forced]
    is_settled = any("mate" in part or "draw" in part for part in forced)
    if lost and not is_settled:
        parts.append(lost)
    elif (pair := _bishop_pair(after_better, after_played, color)) and not is_settled:
        parts.append(pair)
    if named and not is_settled:
        parts.append(", ".join(change.words(color) for change in named))
    if not parts:
        parts.append("the position that follows is a little worse in many small ways")
    if not forced and shown_share < LEAST_SHOWN_SHARE:
        parts.append("the features show only a part of the loss, the rest comes later in the lines")
    return Reason(_sentence(parts), tuple(changes), played_plies, better_plies)


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


def _quiet_scores(
    analyser: Analyser, board: chess.Board, line: Sequence[chess.Move], first: int
) -> dict[int, float]:
    """The static scores after so many plies of a line, where the position is quiet; of its ends if it never is."""
    quiet: dict[int, float] = {}
    others: dict[int, float] = {}
    position = board.copy(stack=False)
    for ply, move in enumerate(line[:MAX_COMPARED_PLIES], start=1):
        was_capture = position.is_capture(move) or move.promotion is not None
        position.push(move)
        if ply < first or position.is_check() or final_value(position) is not None:
            continue
        score = _static_cp(analyser, position, piece_count(board))
        following = line[ply] if ply < len(line) else None
        if following is None:
            is_quiet = not was_capture and not _can_win_material(position)
        else:
            is_quiet = not (position.is_capture(following) or following.promotion)
        (quiet if is_quiet else others)[ply] = score
    return quiet or dict(list(others.items())[-2:])


def _static_cp(analyser: Analyser, position: chess.Board, pieces: int) -> float:
    """The static score in shown centipawns from White's view, on the scale of a search of so many pieces."""
    score = analyser.evaluate(position).white().score(mate_score=0)
    return score * win_curve(piece_count(position))[0] / win_curve(pieces)[0]


def _can_win_material(position: chess.Board) -> bool:
    """Whether the side to move can take what is not defended, or is worth more than what takes it."""
    return any(wins_material(position, move) for move in position.generate_legal_captures())


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]
