"""Motifs and material in words, with moves, squares and pieces."""

from __future__ import annotations

import chess

from uci_engine.game_analysis.boards import PIECE_VALUES, attacked_by_mover, surplus, value_at
from uci_engine.game_analysis.tactics import Kind, Line, Motif
from uci_engine.text import counted_pieces, joined

# Of more pieces than these, lost for others, it is only said that they are material.
MOST_TRADED = 2

# What is said of each motif. {move} is its numbered move, {targets} and {others} are pieces with their squares, {them}
# is the first of the targets, {it} of the others, {actor} who profits, {win} the move that wins, {cut} what cuts off.
SENTENCES = {
    Kind.FORK: "{move} forks {targets}",
    Kind.PIN: "{move} uses a pin: {them} may not leave the line between {actor} and {it}",
    Kind.PINNED_GUARD: "{it} is pinned by {actor} and may not take on {square}",
    Kind.SKEWER: "{move} skewers {targets}",
    Kind.X_RAY: "{actor} attacks {square} through {it}",
    Kind.DISCOVERED_ATTACK: "{move} discovers an attack by {actor} on {targets}",
    Kind.DISCOVERED_CHECK: "{move} gives discovered check by {actor}",
    Kind.DOUBLE_CHECK: "{move} is double check by {others}, so only the king may move",
    Kind.HANGING: "{move} takes {targets}, which nothing guards{also}",
    Kind.UNDERDEFENDED: "{move} takes {targets}{why}{also}",
    Kind.GUARDED: "{before} took on {square}, which is guarded: {move}",
    Kind.TRAPPED: "after {move} {targets} is trapped: it has no safe square",
    Kind.REMOVED_GUARD: "{move} takes a guard of {square}, so that {win} is possible",
    Kind.OVERLOADED: "after {move} {it} is overloaded: it guards {squares}",
    Kind.DEFLECTION: "{move} draws {it} away from {square}, so that {win} is possible",
    Kind.ATTRACTION: "{move} draws {it} to {square}",
    Kind.INTERFERENCE: "{cut} cuts {it} off from {square}, so that {win} is possible",
    Kind.CLEARANCE: "{move} clears {square} for {win}",
    Kind.INTERMEZZO: "{move} comes first, and {win} takes back later",
    Kind.PERPETUAL_CHECK: "{move} begins a perpetual check",
    Kind.STALEMATE: "{move} leads to stalemate",
    Kind.PROMOTION: "{move} promotes",
    Kind.UNDERPROMOTION: "{move} promotes to a {promoted}",
    Kind.ZUGZWANG: "after {move} {side} is in zugzwang: every move loses something",
    Kind.OPPOSITION: "{move} takes the opposition, and {them} has to give way",
    Kind.OUTSIDE_SQUARE: "{them} is outside the square of {actor}",
    Kind.MATE: "{move} is mate",
}


def piece_on(board: chess.Board, square: chess.Square) -> str:
    """`rook on d4`."""
    return f"{chess.piece_name(board.piece_type_at(square) or chess.PAWN)} on {chess.square_name(square)}"


def motif_words(line: Line, motif: Motif) -> str:
    """What happens in a line by a motif, without a capital letter and a full stop."""
    before, after = line.boards[motif.ply], line.boards[motif.ply + 1]
    # A piece that is taken, or whose guard leaves, is named where it stood.
    taken_now = motif.kind in (Kind.HANGING, Kind.UNDERDEFENDED, Kind.PINNED_GUARD)
    shown = before if taken_now else after

    def named(square: chess.Square, position: chess.Board = shown) -> str:
        return f"the {piece_on(position if position.piece_at(square) else before, square)}"

    move, mate = line.name(motif.ply), motif.kind.value
    replied = line.boards[motif.ply + 1 :][:2][-1]
    square = motif.targets[0]
    return SENTENCES.get(motif.kind, "{move} is {mate}").format(
        move=move,
        before=line.name(max(0, motif.ply - 1)),
        win=line.name(motif.wins),
        cut=move if motif.actor == motif.move.to_square else f"after {move} {named(motif.actor, replied)}",
        targets=joined([named(target) for target in motif.targets]),
        others=joined([named(other) for other in motif.others]),
        them=named(square),
        it=named(motif.others[0], before) if motif.others else "",
        actor=named(motif.actor),
        square=chess.square_name(square),
        squares=joined([chess.square_name(target) for target in motif.targets]),
        side="White" if after.turn else "Black",
        also=also_attacked(line, motif.ply) if taken_now else "",
        promoted=chess.piece_name(motif.move.promotion or chess.QUEEN),
        why=_why_taken(before, motif) if motif.kind is Kind.UNDERDEFENDED else "",
        mate=mate if "'" in mate else f"{'an' if mate[0] in 'Aeo' else 'a'} {mate}",
    )


def _why_taken(board: chess.Board, motif: Motif) -> str:
    """`, which is worth more`: why a guarded piece is taken; "" where only an exchange of several pieces tells."""
    square, winner = motif.targets[0], board.turn
    if value_at(board, square) > value_at(board, motif.move.from_square):
        return ", which is worth more"
    # With those that stand behind them on their lines.
    free = board.occupied & ~int(board.attackers(winner, square) | board.attackers(not winner, square))
    takers, guards = (len(board.attackers(color, square, free)) for color in (winner, not winner))
    return ", which has not enough guards" if takers > guards else ""


def all_words(line: Line, motifs: tuple[Motif, ...]) -> str:
    """What happens by these motifs, one after the other; "" for none."""
    return "; ".join(motif_words(line, motif) for motif in motifs)


def attack_words(board: chess.Board, squares: list[chess.Square]) -> str:
    """` attacks the knight on f3`."""
    return f" attacks {joined([f'the {piece_on(board, square)}' for square in squares])}"


def also_attacked(line: Line, ply: int) -> str:
    """`, and attacks the queen on e3`: what a move attacks that is worth more than what it takes; "" for nothing."""
    after = line.boards[ply + 1]
    taken = value_at(line.boards[ply], line.moves[ply].to_square)
    worth_more = [square for square in sorted(attacked_by_mover(after)) if value_at(after, square) > taken]
    return f", and{attack_words(after, worth_more)}" if worth_more else ""


def material_words(better: chess.Board, worse: chess.Board, color: chess.Color) -> str:
    """What one side has less in the second position than in the first: `a piece`, or "" for nothing.

    Pieces that both sides have less cancel out, and a knight counts as a bishop. What nobody would add up in his head
    is `material`.
    """
    owed = {kind: surplus(better, kind, color) - surplus(worse, kind, color) for kind in chess.PIECE_TYPES}
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
