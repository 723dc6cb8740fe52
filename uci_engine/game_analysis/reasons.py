"""Why a move is an error, in words: where its line leads, compared with where the better line leads.

Both lines are followed to a quiet position in which the static evaluation shows best what the search has found. There
the terms of the evaluation are compared, by their titles. A forced mate, a draw and a tablebase result are reasons of
their own.

A piece has a part of its value in other terms: a knight's mobility is worth a pawn or so. So a side that loses a knight
seems to lose mobility, too. Therefore what a term changes because there are more or fewer pieces counts as material.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import chess

from evaluation.catalogue import CATALOGUE, FAMILY_OF, LIMIT, NETWORK_TERM, OTHER_TITLES
from evaluation.explanation import TermValue
from evaluation.report import counted_pieces, joined, pieces_seen
from uci_engine.game_analysis.boards import PIECE_VALUES, board_after, wins_material
from uci_engine.game_analysis.values import Analyser, Found, Value, final_value
from uci_engine.score import piece_count, win_curve

# The title of all terms of its family: a piece taken changes all of them.
MATERIAL = "material"
NETWORK = OTHER_TITLES[NETWORK_TERM]
# These titles belong to neither side. Their change is stored under White.
WITHOUT_OWNER = (MATERIAL, NETWORK)
# The side to move differs from position to position, and the limit from score to score. Neither says anything of a
# line.
NEVER_A_REASON = ("tempo", OTHER_TITLES[LIMIT])
# The kind of piece that a term counts, for the terms that count one.
OWNERS = {term.name: chess.PIECE_NAMES.index(term.owner) for term in CATALOGUE if term.owner in chess.PIECE_NAMES[1:]}
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
MAX_FEATURES = 4
# A loss of which the two positions show less than this share is one that only the lines explain.
LEAST_SHOWN_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Change:
    """How much more the terms of one title count for one side in one position than in another.

    `cp` is in shown centipawns from White's view, so a gain for Black is negative. `named_pieces` are those of the
    second position to which the network owes its change, "" for any other title.
    """

    title: str
    color: chess.Color
    cp: int
    named_pieces: str = ""

    def cp_for(self, color: chess.Color) -> int:
        return self.cp if color else -self.cp

    def words(self, reader: chess.Color | None = None) -> str:
        """`your king's shelter -0.80`: from the view of the reader, in pawns; without one, from White's."""
        owner = "your" if self.color == reader else "White's" if self.color else "Black's"
        pawns = self.cp_for(reader is not chess.BLACK) / 100
        words = f"{self.title} {pawns:+.2f}"
        if self.title not in WITHOUT_OWNER:
            return f"{owner} {words}"
        return f"{words} (mostly {self.named_pieces})" if self.named_pieces else words


def changes_between(analyser: Analyser, before: chess.Board, after: chess.Board, pieces: int) -> list[Change]:
    """How the static evaluations of two positions differ, greatest difference first.

    `pieces`: on the board at the root of the search, for the scale.
    """
    explained = analyser.explain(before), analyser.explain(after)
    old, new = ({term.name: term for term in explanation} for explanation in explained)
    sums: dict[tuple[str, chess.Color], float] = {(MATERIAL, chess.WHITE): 0.0}
    for name, term in {**old, **new}.items():
        # A decisive score is without the network. That it comes or goes is no reason.
        if term.title in NEVER_A_REASON or (name == NETWORK_TERM and not (name in old and name in new)):
            continue
        title = MATERIAL if term.family == FAMILY_OF[MATERIAL] else term.title
        for color in chess.COLORS:
            there, here = (_white_cp(terms.get(name), color) for terms in (old, new))
            by_number = _due_to_number(name, color, before, after, there + here)
            sums[MATERIAL, chess.WHITE] += by_number
            key = title, color or title in WITHOUT_OWNER
            sums[key] = sums.get(key, 0.0) + here - there - by_number
    for title in {title for title, _ in sums} - {MATERIAL}:
        _cancel(sums, title)
    midpoint_cp, _ = win_curve(pieces)
    changes = []
    for (title, color), cp in sums.items():
        seen = pieces_seen(explained[1], 1 if cp > 0 else -1, explained[0]) if title == NETWORK else ""
        changes.append(Change(title, color, round(cp * 100 / midpoint_cp), seen))
    return sorted((change for change in changes if change.cp), key=lambda change: -abs(change.cp))


def _white_cp(term: TermValue | None, color: chess.Color) -> int:
    """What a term adds for one side, from White's view."""
    if term is None:
        return 0
    return term.white_cp if color else -term.black_cp


def _cancel(sums: dict[tuple[str, chess.Color], float], title: str) -> None:
    """Take from both sides' changes of a title what both have gained, or both lost: that changes nothing."""
    white, black = sums.get((title, chess.WHITE), 0.0), sums.get((title, chess.BLACK), 0.0)
    if white * black < 0:
        greater = chess.WHITE if abs(white) > abs(black) else chess.BLACK
        sums[title, greater] = white + black
        sums[title, not greater] = 0.0


def _due_to_number(name: str, color: chess.Color, before: chess.Board, after: chess.Board, sum_of_both: float) -> float:
    """How much of a term's change is due to the number of pieces that it counts: each has the mean of both boards."""
    owner = OWNERS.get(name)
    if owner is None:
        return 0.0
    there, here = (len(board.pieces(owner, color)) for board in (before, after))
    return (here - there) * sum_of_both / (here + there) if here != there else 0.0


def strongest(changes: Iterable[Change], for_color: chess.Color, count: int, least_cp: int) -> list[Change]:
    """The greatest changes against one side, at most this many and each of at least this size, without material."""
    against = [change for change in changes if change.title != MATERIAL and -change.cp_for(for_color) >= least_cp]
    return sorted(against, key=lambda change: change.cp_for(for_color))[:count]


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


def reason_for(analyser: Analyser, board: chess.Board, played: Found, better: Found) -> str:
    """Why the line of the move played is worse than the better line, both from this board: a sentence for the player,
    without its full stop.
    """
    color = board.turn
    forced = _forced(board, played, better)
    positions = _compared_positions(analyser, board, played, better)
    if positions is None:
        return _sentence(forced or ["the better line is worth more"])
    played_plies, better_plies, shown_share = positions
    after_played = board_after(board, played.line[:played_plies])
    after_better = board_after(board, better.line[:better_plies])
    changes = changes_between(analyser, after_better, after_played, piece_count(board))
    lost = _material(board, after_better, after_played)
    greatest = max((abs(change.cp) for change in changes), default=0)
    named = strongest(changes, color, MAX_FEATURES, max(LEAST_FEATURE_CP, round(LEAST_SHARE * greatest)))
    parts = [*forced]
    if not any("mate" in part or "draw" in part for part in forced):
        features = ", ".join(change.words(color) for change in named)
        material = lost or _bishop_pair(after_better, after_played, color)
        parts += filter(None, (material, features))
    if not parts:
        parts.append("the position that follows is a little worse in many small ways")
    if not forced and shown_share < LEAST_SHOWN_SHARE:
        parts.append("the features show only a part of the loss, the rest comes later in the lines")
    return _sentence(parts)


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
