"""Why a move is an error where no tactic and no material tells: what is taken at once.

What else a first move attacks is said only with what it wins, or where the same answer fails after the better move.
"""

from __future__ import annotations

import chess

from uci_engine.game_analysis.tactics.attacks import attacked_by_mover, mating_move, winning_captures
from uci_engine.game_analysis.tactics.line import SAME_WITHIN, Line, TwoLines
from uci_engine.game_analysis.tactics.words import also_attacked, attack_words, piece_on
from uci_engine.game_analysis.threats import Finder, recapture_that_fails, refutation


def first_moves(lines: TwoLines, find: Finder) -> list[str]:
    """What the answer to the move played takes, or attacks and why that fails after the better move."""
    is_taken, words = first_move(lines, False)
    elsewhere = _elsewhere(lines) if words else None
    if elsewhere is not None:
        known = winning_captures(elsewhere.boards[1], lines.color)
        refuted = refutation(elsewhere.boards[2], lines.values[True], find, known)
        if refuted:
            return [words, f"after {elsewhere.name(0)} it fails: {refuted}"]
        if lines.is_taken_anyway:
            return []
    if not is_taken:
        return []
    failing = recapture_that_fails(lines.against, 1, lines.values[False], find)
    return [words, failing] if failing else [words]


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
    """What the winner of a line takes or attacks by its first move and not in the other line, and whether it takes.

    "" for nothing.
    """
    line, other, ply = lines.both[is_missed], lines.both[not is_missed], int(not is_missed)
    if ply >= len(line.moves):
        return False, ""
    name = line.name(ply)
    win = next(filter(line.is_clear, lines.own_wins(is_missed)), None)
    # It wins that first of all, and half of it is kept.
    if win is not None and win.ply == ply and line.kept() >= win.worth // 2:
        return True, f"{name} takes the {piece_on(line.boards[ply], win.square)}{also_attacked(line, ply)}"
    deed = _deed_of(line, ply)
    if not deed:
        return False, ""
    again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
    # What the move played does, too, is no reason.
    alike = again[:1] + ([0] if is_missed and other.moves else [])
    if any(deed == _deed_of(other, at) for at in alike) or _is_driven_away(line, ply):
        return False, ""
    return False, name + deed


def _deed_of(line: Line, ply: int) -> str:
    """What a move of a line does by itself: ` threatens mate`, ` attacks the rook on e8`, or ""."""
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    is_mating = mating_move(after, before.turn) and not mating_move(before, before.turn)
    if before.is_capture(move) and not is_mating:
        return ""
    squares = _newly_attacked(before, after)
    attacked = [square for square in sorted(squares) if after.piece_type_at(square) != chess.PAWN]
    if is_mating:
        also = f" and{attack_words(after, attacked)}" if attacked else ""
        return f" threatens mate{also}"
    shown = attacked or ([] if after.is_check() else sorted(squares))
    return attack_words(after, shown) if shown else ""


def _is_driven_away(line: Line, ply: int) -> bool:
    """Whether a piece, no pawn, that a move attacks leaves at once, quietly: it is not lost."""
    after = line.boards[ply + 1]
    quiet = [move.from_square for move in line.moves[ply + 1 : ply + 2] if not after.is_capture(move)]
    left = [square for square in quiet if after.piece_type_at(square) != chess.PAWN and not after.is_check()]
    return any(square in _newly_attacked(line.boards[ply], after) for square in left)


def _newly_attacked(before: chess.Board, after: chess.Board) -> set[chess.Square]:
    """What the piece that has moved could take at a profit if it moved again, and its side could not take before."""
    return attacked_by_mover(after) - winning_captures(before, before.turn).keys()
