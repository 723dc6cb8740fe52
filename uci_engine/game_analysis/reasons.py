"""Why a move is an error, in words: where its line leads, compared with where the better line leads.

First comes the tactic that decides one of the lines, then what the move costs. Where no tactic decides, both lines are
followed to a quiet position in which the static evaluation shows best what the search has found. The evaluation says
what differs most between the two, and `seen.py` what of it can be seen. A forced mate, a draw and a tablebase result
are reasons of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from evaluation.report import counted_pieces, joined
from uci_engine.game_analysis.boards import PIECE_VALUES, board_after, drawn_by, wins_material
from uci_engine.game_analysis.changes import NETWORK, changes_between
from uci_engine.game_analysis.seen import remarks
from uci_engine.game_analysis.tactics.attacks import gain_of, value_at, winning_captures
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import CAPTURES, DRAWS, ENDINGS, Kind, Motif
from uci_engine.game_analysis.tactics.words import left_guard_words, motif_words, numbered
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
# The bishop pair is no reason for a greater loss, in shown centipawns.
MAX_PAIR_CP = 150
# Of more pieces than these, lost for others, it is only said that they are material.
MOST_TRADED = 2
# A loss of which the two positions show less than this share is one that only the lines explain.
LEAST_SHOWN_SHARE = 0.4


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
    against, missed = Line(board, played.line, not color), Line(board, better.line, color)
    loss = against.gain() + missed.gain()
    motifs, is_missed = _deciding(against, missed, loss, played, better)
    parts = _tactic(missed, motifs, is_missed=True) if is_missed else _tactic(against, motifs, is_missed=False)
    forced = _forced(board, played, better)
    if not forced:
        parts += _positional(analyser, played, better, against, missed, has_tactic=bool(motifs), is_missed=is_missed)
    text = "; ".join(parts + forced) or "the better line is worth more"
    return Reason(text[:1].upper() + text[1:], motifs, is_missed, better.value.mate_for(color) is not None)


def _deciding(against: Line, missed: Line, loss: int, played: Found, better: Found) -> tuple[tuple[Motif, ...], bool]:
    """The motifs that decide the line of the move played, or else the better one, and whether it is the better one.

    `loss`: how much the ends of the two lines differ, in pawns. What both lines win or lose alike decides neither.
    """
    # What the move played takes is no gain if it costs as much.
    taken = gain_of(against.boards[0], played.line[0]) if played.line else 0
    for line, found in ((against, played), (missed, better)):
        is_missed = line is missed
        motifs = deciding_motifs(line, 0 if is_missed else -taken)
        if not motifs:
            continue
        kind = motifs[-1].kind
        if kind in DRAWS:
            other = played if is_missed else better
            decides = other.value.expected_for(line.winner) < 0.5
        else:
            decides = kind.is_mate or kind in ENDINGS or found.value.mate_for(line.winner) is not None or loss >= 1
        takes_the_same = (
            is_missed and motifs[0].kind in CAPTURES and motifs[0].move.to_square == against.moves[0].to_square
        )
        if decides and not takes_the_same:
            return motifs, is_missed
    return (), False


def _tactic(line: Line, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """What happens on the board by these motifs. A mate without a name of its own is said elsewhere."""
    parts = [motif_words(line, motif) for motif in motifs if motif.kind is not Kind.MATE]
    if parts and is_missed:
        parts[0] = (
            f"better, {parts[0]}"
            if not motifs[0].ply
            else f"better is {numbered(line.boards[0], line.moves[0])}: {parts[0]}"
        )
    if motifs and not is_missed:
        parts += filter(None, [left_guard_words(line, motifs[0])])
    return parts


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
    if (ending := drawn_by(board_after(board, played.line))) and better.value.expected_for(color) > 0.5:
        parts.append(f"its line ends in a draw by {ending}")
    if (ending := drawn_by(board_after(board, better.line))) and played.value.expected_for(color) < 0.5:
        parts.append(f"the better line holds the draw by {ending}")
    return parts


def _positional(
    analyser: Analyser,
    played: Found,
    better: Found,
    against: Line,
    missed: Line,
    has_tactic: bool,
    is_missed: bool,
) -> list[str]:
    """The material that the move costs, and without a tactic what else is worse after it."""
    board, loss = missed.boards[0], against.gain() + missed.gain()
    compared = _compared_positions(analyser, board, played, better)
    if compared is None:
        return []
    color = board.turn
    played_plies, better_plies, shown_share = compared
    played_line, better_line = played.line[:played_plies], better.line[:better_plies]
    after_played, after_better = board_after(board, played_line), board_after(board, better_line)
    costs = _material(board, after_better, after_played, against, missed, has_tactic, is_missed) if loss >= 1 else ""
    parts = [costs] if costs else []
    if has_tactic or (costs and shown_share >= LEAST_SHOWN_SHARE):
        return parts
    old, new = analyser.explain(after_better), analyser.explain(after_played)
    changes = changes_between(old, new, piece_count(board))
    greatest = max((abs(change.cp) for change in changes), default=0)
    least_cp = max(LEAST_FEATURE_CP, round(LEAST_SHARE * greatest))
    here, there, general = remarks(old, new, changes, color, least_cp)
    here = here[:MAX_FEATURES]
    there = there[: MAX_FEATURES - len(here)]
    where = f"after {_last_move(board, played_line)}"
    seen = []
    if here:
        seen.append(f"{where} {joined(here)}")
    if there:
        seen.append(f"in the better line, after {_last_move(board, better_line)}, {joined(there)}")
    pair = _bishop_pair(after_better, after_played, color)
    if (
        pair
        and len(here) + len(there) < MAX_FEATURES
        and abs(_bounded(played.value) - _bounded(better.value)) < MAX_PAIR_CP
    ):
        seen.append(pair)
    parts = seen + parts
    if parts:
        return parts
    if played.line[1:2] != better.line[1:2] and (attacked := _attacked_by_reply(board, played.line)):
        return [attacked]
    if general:
        return [f"{where} {general[0]}"]
    for change in changes:
        if change.title == NETWORK and change.named_pieces and -change.cp_for(color) >= least_cp:
            return [f"the network judges the position worse, mostly by {change.named_pieces}"]
    return ["the position that follows is a little worse in many small ways"]


def _material(
    board: chess.Board,
    after_better: chess.Board,
    after_played: chess.Board,
    against: Line,
    missed: Line,
    has_tactic: bool,
    is_missed: bool,
) -> str:
    """The material that the move costs or leaves, and where no tactic says it, what takes it; "" for none."""
    owed = material_words(after_better, after_played, board.turn)
    if not owed:
        return ""
    is_missed = is_missed or not material_words(_before_capture(board), after_played, board.turn)
    costs = f"it misses the gain of {owed}" if is_missed else f"it costs {owed}"
    line = missed if is_missed else against
    wins = line.wins()
    if has_tactic or not wins:
        return costs
    return f"{costs}: {numbered(line.boards[wins[0].ply], line.moves[wins[0].ply])}"


def _attacked_by_reply(board: chess.Board, line: Sequence[chess.Move]) -> str:
    """The piece that the reply to the first move attacks, in words; "" if it attacks none that was not attacked."""
    if len(line) < 2:
        return ""
    before, after = board_after(board, line[:1]), board_after(board, line[:2])
    new = winning_captures(after, before.turn).keys() - winning_captures(before, before.turn).keys()
    pieces = [square for square in new if after.piece_type_at(square) != chess.PAWN]
    if not pieces or after.is_check() or (line[2:3] and line[2].to_square == line[1].to_square):
        return ""
    square = max(pieces, key=lambda square: value_at(after, square))
    name = chess.piece_name(after.piece_type_at(square) or chess.PAWN)
    return f"{numbered(before, line[1])} attacks the {name} on {chess.square_name(square)}"


def _before_capture(board: chess.Board) -> chess.Board:
    """The board before the last move if that was a capture, which may be taken back."""
    if not board.move_stack:
        return board
    before = board.copy()
    last = before.pop()
    return before if before.is_capture(last) else board


def _last_move(board: chess.Board, line: Sequence[chess.Move]) -> str:
    """The last move of a line, numbered."""
    return numbered(board_after(board, line[:-1]), line[-1])


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
