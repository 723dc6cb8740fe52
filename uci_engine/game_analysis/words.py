"""Causes and people in words: sentences for the player, from the records of `causes` and `people` alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import chess

from uci_engine.board.pieces import captured_square
from uci_engine.game_analysis.boards import (
    PIECE_VALUES,
    attacked_by_mover,
    board_after,
    exchange,
    numbered,
    value_at,
    variation,
)
from uci_engine.game_analysis.causes import Cause, Why
from uci_engine.game_analysis.judgement import Mark
from uci_engine.game_analysis.people import CALIBRATED, COMMON, DIFFERENT, HIGHER, MOST, People
from uci_engine.game_analysis.positional import Deed
from uci_engine.game_analysis.tactics import Kind, Line, Motif
from uci_engine.text import counted_pieces, joined

# Of more pieces than these, lost for others, it is only said that they are material.
MOST_TRADED = 2

# What is said of each motif. {move} is its numbered move, {targets} and {others} are pieces with their squares, {it} is
# the first of the others, {actor} who profits, {win} the move that wins, {cut} what cuts off.
SENTENCES = {
    Kind.FORK: "{move} forks {targets}",
    Kind.PIN: "{move} {pins}",
    Kind.PINNED_GUARD: "{move} works: {it} is pinned by {actor} and may not take on {square}",
    Kind.SKEWER: "{move} skewers {targets}",
    Kind.DISCOVERED_ATTACK: "{move} discovers an attack by {actor} on {targets}",
    Kind.DISCOVERED_CHECK: "{move} gives discovered check by {actor}",
    Kind.DOUBLE_CHECK: "{move} is double check by {others}, so only the king may move",
    Kind.TRAPPED: "after {move} {targets} is trapped: it has no safe square",
    Kind.REMOVED_GUARD: "{move} takes a guard of {square}, so that {win} is possible",
    Kind.OVERLOADED: "after {move} {it} is overloaded: it guards {squares}",
    Kind.DEFLECTION: "{move} draws {it} away from {square}, so that {win} is possible",
    Kind.ATTRACTION: "{move} draws {it} to {square}",
    Kind.INTERFERENCE: "{cut} cuts {it} off from {square}, so that {win} is possible",
    Kind.CLEARANCE: "{move} clears {square} for {win}",
    Kind.PERPETUAL_CHECK: "{move} begins a perpetual check",
    Kind.STALEMATE: "{move} leads to stalemate",
    Kind.PROMOTION: "{move} promotes{promoted}",
    Kind.MATE: "{move} is mate",
    Kind.CAPTURE: "{taken}{move} takes {targets}{why}{also}",
    Kind.ATTACK: "{move} attacks {targets}",
    Kind.UNGUARDED: "{move} no longer guards {square}",
    Kind.OPENED: "{move} opens the line of {it} to {square}",
}

# The same of the deeds that are causes.
DEEDS = {
    Deed.KING_DRIVEN: "{move} drives the king to {square}",
    Deed.CASTLING_LOST: "after {move} the right to castle is lost, which the better move keeps",
    Deed.BISHOP_PAIR: "with {move} a bishop goes for a knight, and the other side has both bishops",
    Deed.PIECE_DRIVEN: "{move} drives {it} back to {square}",
    Deed.GONE_BACK: "{move} goes back, which loses time",
}


def piece_on(board: chess.Board, square: chess.Square) -> str:
    """`rook on d4`."""
    return f"{chess.piece_name(board.piece_type_at(square) or chess.PAWN)} on {chess.square_name(square)}"


def motif_words(line: Line, motif: Motif, words: str | None = None) -> str:
    """What happens in a line by a motif, without a capital letter and a full stop. `words`: those of a deed."""
    before, after = line.boards[motif.ply], line.boards[motif.ply + 1]
    # A piece that is taken, or whose guard leaves, is named where it stood.
    shown = before if motif.kind in (Kind.PINNED_GUARD, Kind.CAPTURE) else after

    def named(square: chess.Square, position: chess.Board = shown) -> str:
        return f"the {piece_on(position if position.piece_at(square) else before, square)}"

    move = line.name(motif.ply)
    replied = line.boards[motif.ply + 1 :][:2][-1]
    square, promoted = motif.targets[0], motif.move.promotion
    return (words or SENTENCES.get(motif.kind, "{move} is a {mate}")).format(
        move=move,
        pins=_pin_words(after, motif, named) if motif.kind is Kind.PIN else "",
        win=line.name(motif.win_ply),
        cut=move if motif.actor == motif.move.to_square else f"after {move} {named(motif.actor, replied)}",
        targets=joined([named(target) for target in motif.targets]),
        others=joined([named(other) for other in motif.others]),
        it=named(motif.others[0], before) if motif.others else "",
        actor=named(motif.actor),
        square=chess.square_name(square),
        squares=joined([chess.square_name(target) for target in motif.targets]),
        promoted=f" to a {chess.piece_name(promoted)}" if promoted not in (None, chess.QUEEN) else "",
        **(_capture_words(line, motif.ply) if motif.kind is Kind.CAPTURE else {}),
        mate=motif.kind.value,
    )


def _pin_words(board: chess.Board, motif: Motif, named: Callable[[chess.Square], str]) -> str:
    """`pins the knight on c6 to the king on e8`, or what it attacks, or uses, that another piece pins."""
    pinned, behind = named(motif.targets[0]), named(motif.others[0])
    if motif.actor == motif.move.to_square:
        return f"pins {pinned} to {behind}"
    if motif.targets[0] in board.attacks(motif.move.to_square):
        return f"attacks {pinned}, which {named(motif.actor)} pins to {behind}"
    return f"profits because {named(motif.actor)} pins {pinned} to {behind}"


def _capture_words(line: Line, ply: int) -> dict[str, str]:
    """Why a piece can be taken, and what that attacks: `, which nothing guards`, `, and attacks the queen on e3`.

    `taken`: `15.Qxe1 took on e1, which is guarded: ` where the move before was the mistake.
    """
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    square = captured_square(before, move)
    taken, why, value = "", "", value_at(before, square)
    if ply == 1 and line.moves[0].to_square == square and exchange(line.boards[0], line.moves[0]) < 0:
        did = "took on" if line.boards[0].is_capture(line.moves[0]) else "goes to"
        taken = f"{line.name(0)} {did} {chess.square_name(square)}, which is guarded: "
    elif not before.attackers(not before.turn, square):
        why = ", which nothing guards"
    elif value > value_at(before, move.from_square):
        why = ", which is worth more"
    elif exchange(before, move) >= 1:
        why = ", which has not enough guards"
    worth_more = [
        f"the {piece_on(after, at)}" for at in sorted(attacked_by_mover(after)) if value_at(after, at) > value
    ]
    return {"taken": taken, "why": why, "also": f", and attacks {joined(worth_more)}" if worth_more else ""}


def material_words(won: Sequence[int]) -> str:
    """What one side wins, by piece type: `a piece`, or "" for nothing.

    A knight counts as a bishop. What nobody would add up in his head is `material`.
    """
    owed = dict(zip(chess.PIECE_TYPES, won, strict=True))
    if sum(PIECE_VALUES[kind] * count for kind, count in owed.items()) <= 0:
        return ""
    owed[chess.BISHOP] += owed.pop(chess.KNIGHT)
    if owed[chess.ROOK] == 1 and owed[chess.BISHOP] == -1 and owed[chess.QUEEN] == 0:
        pawns = counted_pieces({chess.PAWN: abs(owed[chess.PAWN])})
        return f"the exchange {'and' if owed[chess.PAWN] > 0 else 'for'} {pawns}" if pawns else "the exchange"
    lost, gained = counted_pieces(owed), counted_pieces({kind: -count for kind, count in owed.items()})
    if gained and sum(abs(owed[kind]) for kind in (chess.BISHOP, chess.ROOK, chess.QUEEN)) > MOST_TRADED:
        return "material"
    return (f"{lost} for {gained}" if gained else lost).replace("bishop", "piece")


# Causes --------------------------------------------------------------------------------------------------------------


def sentence(causes: Sequence[Cause]) -> str:
    """Why a move is an error or good, without a full stop; "" for no cause."""
    text = "; ".join(cause_words(cause) for cause in causes)
    return text[:1].upper() + text[1:]


def cause_words(cause: Cause) -> str:
    """One cause as a clause."""
    line, first, why = cause.line, cause.first, cause.why
    begin = "" if first else "better, "
    if isinstance(why, Deed):
        return begin + motif_words(line, cause.motifs[0], DEEDS[why])
    moves = variation(line.boards[first], line.moves[first : cause.end])
    motifs = _chain(cause)
    if why in (Why.ALLOWS_MATE, Why.MISSES_MATE):
        by = f": {motifs}" if motifs else f" by {line.name(first)}" if len(line.moves) > first else ""
        return f"{_origin(cause)}it {why.value} in {cause.mate}{by}" if cause.mate else "it allows mate"
    if cause.threat:
        does = f"it allows {line.name(first)}, which" if why is Why.REPLY else f"better, {line.name(first)}"
        what = f"mate in {cause.mate}" if cause.mate else f"to win {material_words(cause.threat.material)}"
        threat = cause.threat.line
        return f"{does} threatens {what}: {variation(threat.boards[0], threat.moves[: cause.threat.end])}"
    if why is Why.DRAW:
        return f"{begin}{motifs or f'the game is drawn: {variation(line.boards[0], line.moves)}'}"
    if why in (Why.LOSS, Why.MISSED_GAIN):
        return f"{_origin(cause)}{_material_clause(cause, motifs, moves)}"
    return CLAUSES[why].format(motifs=motifs, moves=moves) + _because(cause)


def _material_clause(cause: Cause, motifs: str, moves: str) -> str:
    """What is won, by what, the moves that show it, and what the other line wins of it."""
    is_loss, otherwise = cause.why is Why.LOSS, ""
    if cause.otherwise:
        other = "with the better move it is" if is_loss else "the move played wins"
        otherwise = f"; {other} {material_words(cause.otherwise)}"
    otherwise = _because(cause) + otherwise
    begin = "" if is_loss else "better, "
    # Of a new queen nobody counts what it is worth.
    promotes = bool(cause.motifs) and cause.motifs[-1].kind is Kind.PROMOTION
    if not cause.material or (promotes and cause.material[chess.QUEEN - 1] > 0):
        return f"{begin}{motifs}{_because(cause)}"
    material = material_words(cause.material)
    if not motifs and cause.end == cause.first + 1:
        return f"{begin}{moves} wins {material}{otherwise}"
    # One move that has been told is not shown again.
    shown = "" if cause.motifs and cause.end <= cause.motifs[-1].ply + 1 else f": {moves}"
    return f"{begin}{motifs and f'{motifs}; '}it {'costs' if is_loss else 'wins'} {material}{shown}{otherwise}"


def _because(cause: Cause) -> str:
    """`, because 11.dxe5 is met by 11...Qxd1`, or ""."""
    if len(cause.refused) < 2:
        return ""
    back, answer = cause.refused
    after = cause.line.boards[cause.first + 1]
    return f", because {numbered(after, back)} is met by {numbered(board_after(after, [back]), answer)}"


CLAUSES = {
    Why.LOST_TABLEBASE: "the tablebases say that it loses",
    Why.MISSED_TABLEBASE: "the tablebases say that the better move wins",
    Why.TACTIC: "{motifs}",
    Why.SACRIFICE: "the sacrifice works: {moves}",
    Why.ALL_OTHERS_WORSE: "every other move is much worse",
    Why.DEFENCE: "it meets a threat: {motifs}",
}


def _origin(cause: Cause) -> str:
    """Why the reply is there: `it does not meet a threat: `, `12.Be3 cuts the rook on e1 off from e4: `, or ""."""
    if cause.is_threat:
        return "it does not meet a threat: "
    return f"{motif_words(cause.line, cause.opened)}: " if cause.opened else ""


def _chain(cause: Cause) -> str:
    """What happens by the motifs, with the moves up to the first of them; "" for no motifs."""
    # A mate without a name is said elsewhere, and a guard taken on the way to mate explains little.
    is_mate = bool(cause.motifs) and cause.motifs[-1].kind.is_mate
    unsaid = (Kind.MATE, Kind.REMOVED_GUARD) if is_mate and cause.mate else ()
    said = [motif for motif in cause.motifs if motif.kind not in unsaid]
    if not said:
        return ""
    line, first = cause.line, cause.first
    moves = variation(line.boards[first], line.moves[first : said[0].ply])
    return f"{moves and f'{moves}, and '}{'; '.join(motif_words(line, motif) for motif in said)}"


def percent(share: float) -> str:
    number = f"{100 * min(share, CALIBRATED):.0f} %"
    return "less than 1 %" if share < 0.01 else number if share <= CALIBRATED else f"over {number}"


def people_words(board: chess.Board, mark: Mark, people: People | None) -> list[str]:
    """How often people play an error, and find the best move, in sentences; none where it is not worth saying."""
    if people is None:
        return []
    texts, best = [], numbered(board, people.best)
    if mark.is_error and people.played >= COMMON:
        share = people.played if people.higher is None else people.higher
        here, there = percent(people.played), percent(share)
        differs = abs(share - people.played) >= DIFFERENT and here != there
        higher = f", {there} at {people.rating + HIGHER}" if differs else ""
        texts.append(f"A common {mark.word}: {here} at {people.rating}{higher}.")
    if people.is_only:
        # No number: where the policy gives a best move little, people play it about twice as often.
        texts.append(f"{best} is hard to find at {people.rating}.")
    elif mark.is_error and people.found >= MOST:
        texts.append(f"Most find {best}: {percent(people.found)} at {people.rating}.")
    return texts
