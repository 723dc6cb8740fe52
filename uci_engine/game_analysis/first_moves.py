"""Why a move is an error where no tactic and no material tells: what is taken at once, or threatened with mate.

What else a first move attacks is said only with what it wins, or where the same answer fails after the better move.
"""

from __future__ import annotations

import chess

from uci_engine.game_analysis.tactics.attacks import attacked_by_mover, mating_move, winning_captures
from uci_engine.game_analysis.tactics.line import SAME_WITHIN, Line, TwoLines
from uci_engine.game_analysis.tactics.words import also_attacked, attack_words, piece_on
from uci_engine.game_analysis.threats import Finder, recapture_that_fails, refutation

# How what is said of each line starts.
STARTS = ("", "in the better line, ")


def first_moves(lines: TwoLines, find: Finder) -> list[str]:
    """What the answer to the move played does and why it fails after the better move, or what either move does."""
    found = [first_move(lines, is_missed) for is_missed in (False, True)]
    elsewhere = _elsewhere(lines) if found[0][1] else None
    if elsewhere is not None:
        known = winning_captures(elsewhere.boards[1], lines.color)
        refuted = refutation(elsewhere.boards[2], lines.values[True], find, known)
        if refuted:
            return [found[0][1], f"after {elsewhere.name(0)} it fails: {refuted}"]
        same = _deed_of(elsewhere, 1)[1]
        if lines.is_taken_anyway or (same and found[0][1].endswith(same)):
            found[0] = False, ""
    is_missed = not found[0][0]
    line, value, (is_enough, words) = lines.both[is_missed], lines.values[is_missed], found[is_missed]
    failing = is_enough and recapture_that_fails(line, int(not is_missed), value, find)
    if failing:
        return [STARTS[is_missed] + words, failing]
    return [start + words for start, (is_enough, words) in zip(STARTS, found, strict=True) if is_enough]


def _elsewhere(lines: TwoLines) -> Line | None:
    """The better move with the answer to the one played; None where that is another one, or attacks what has moved."""
    line, other = lines.both
    if len(line.moves) < 2 or not other.moves:
        return None
    here, there, answer = line.boards[1], other.boards[1], line.moves[1]
    is_other = any(here.piece_at(at) != there.piece_at(at) for at in (answer.from_square, answer.to_square))
    if is_other or not there.is_legal(answer) or line.moves[0].to_square in _newly_attacked(here, line.boards[2]):
        return None
    return Line(lines.board, [other.moves[0], answer], line.winner)


def first_move(lines: TwoLines, is_missed: bool) -> tuple[bool, str]:
    """What the winner of a line does by its first move and not in the other line, and whether that is a reason alone.

    "" for nothing.
    """
    line, other, ply = lines.both[is_missed], lines.both[not is_missed], int(not is_missed)
    if ply >= len(line.moves):
        return False, ""
    name = line.name(ply)
    win = next(filter(line.is_clear, lines.own_wins(is_missed)), None)
    # It wins that first of all, and half of it is kept. That only a pawn is not taken explains little.
    is_little = is_missed and win is not None and (win.worth < 2 or lines.is_taken_later(win.square))
    if win is not None and win.ply == ply and line.kept() >= win.worth // 2 and not is_little:
        return True, f"{name} takes the {piece_on(line.boards[ply], win.square)}{also_attacked(line, ply)}"
    is_enough, deed = _deed_of(line, ply)
    again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
    # What the move played does, too, is no reason.
    alike = again[:1] + ([0] if is_missed and deed and other.moves else [])
    if any(deed == _deed_of(other, at)[1] for at in alike):
        return False, ""
    return is_enough, deed and name + deed


def _deed_of(line: Line, ply: int) -> tuple[bool, str]:
    """What a move of a line does by itself, and whether that is a reason alone; "" for nothing to speak of.

    ` drives the knight on c4 away` if that leaves at once, quietly.
    """
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    is_mating = mating_move(after, before.turn) and not mating_move(before, before.turn)
    if before.is_capture(move) and not is_mating:
        return False, ""
    squares = _newly_attacked(before, after)
    attacked = [square for square in sorted(squares) if after.piece_type_at(square) != chess.PAWN]
    if is_mating:
        also = f" and{attack_words(after, attacked)}" if attacked else ""
        return True, f" threatens mate{also}"
    for reply in line.moves[ply + 1 : ply + 2]:
        if reply.from_square in attacked and not (after.is_check() or after.is_capture(reply)):
            return False, f" drives the {piece_on(after, reply.from_square)} away"
    shown = attacked or ([] if after.is_check() else sorted(squares))
    return False, attack_words(after, shown) if shown else ""


def _newly_attacked(before: chess.Board, after: chess.Board) -> set[chess.Square]:
    """What the piece that has moved could take at a profit if it moved again, and its side could not take before."""
    return attacked_by_mover(after) - winning_captures(before, before.turn).keys()
