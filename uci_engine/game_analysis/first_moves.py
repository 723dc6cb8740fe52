"""Why a move is an error where no tactic and no material tells: what its answer does, and what the better move does."""

from __future__ import annotations

import chess

from uci_engine.game_analysis.tactics.attacks import gain_of, mating_move, value_at, winning_captures
from uci_engine.game_analysis.tactics.line import SAME_WITHIN, Line, TwoLines
from uci_engine.game_analysis.tactics.words import also_attacked, attack_words, piece_on
from uci_engine.game_analysis.threats import Finder, recapture_that_fails, refutation, threat_of

# What is a reason alone, and what only beside another.
DEED_WEIGHT = 2
ATTACK_WEIGHT = 1
# With fewer pieces on the board every trade of pieces decides.
FEW_PIECES = 16
# How what is said of each line starts.
STARTS = ("", "in the better line, ")


def first_moves(lines: TwoLines, find: Finder) -> list[str]:
    """What the answer to the move played does and why it fails after the better move, or what that does."""
    found = [first_move(lines, is_missed, find) for is_missed in (False, True)]
    elsewhere = _elsewhere(lines) if found[0][0] else None
    if elsewhere is not None:
        known = winning_captures(elsewhere.boards[1], lines.color)
        refuted = refutation(elsewhere.boards[2], lines.values[True], find, known)
        if refuted:
            return [found[0][1], f"after {elsewhere.name(0)} it fails: {refuted}"]
        if _is_same(lines, elsewhere, found[0][1], find):
            found[0] = 0, ""
    parts = [start + words for start, (weight, words) in zip(STARTS, found, strict=True) if weight]
    is_missed = not found[0][0]
    line, ply, value = lines.both[is_missed], int(not is_missed), lines.values[is_missed]
    failing = recapture_that_fails(line, ply, value, find) if parts else ""
    if failing:
        return [parts[0], failing]
    # One thing alone seldom tells why.
    return [] if len(parts) == 1 and found[is_missed][0] < DEED_WEIGHT else parts


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


def _is_same(lines: TwoLines, elsewhere: Line, words: str, find: Finder) -> bool:
    """Whether the answer does the same after the better move: attacks or threatens the same, or all that it does."""
    here, there = (_newly_attacked(each.boards[1], each.boards[2]) for each in (lines.against, elsewhere))
    if here <= there if here else _deed_of(lines.against, 1)[1] == _deed_of(elsewhere, 1)[1] != "":
        return True
    threat = threat_of(elsewhere, 1, lines.values[True], find, "")
    return threat != "" and words.endswith(threat)


def first_move(lines: TwoLines, is_missed: bool, find: Finder) -> tuple[int, str]:
    """What the winner of a line does by its first move and not in the other line, with its weight; 0 for nothing."""
    line, other, ply = lines.both[is_missed], lines.both[not is_missed], int(not is_missed)
    if ply >= len(line.moves):
        return 0, ""
    name = line.name(ply)
    win = next(filter(line.is_clear, lines.own_wins(is_missed)), None)
    # It wins that first of all, and half of it is kept.
    if win is not None and win.ply == ply and line.kept() >= max(is_missed, win.worth // 2):
        return DEED_WEIGHT, f"{name} takes the {piece_on(line.boards[ply], win.square)}{also_attacked(line, ply)}"
    weight, deed = _deed_of(line, ply)
    again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
    # What the move played does, too, is no reason.
    alike = again[:1] + ([0] if is_missed and deed and other.moves else [])
    if any(deed == _deed_of(other, at)[1] for at in alike):
        return 0, ""
    if weight < DEED_WEIGHT and not line.is_taken_back(ply):
        threat = threat_of(line, ply, lines.values[is_missed], find, deed)
        if threat:
            weight, deed = ATTACK_WEIGHT, threat
    return weight, name + deed if weight else ""


def _deed_of(line: Line, ply: int) -> tuple[int, str]:
    """What a move of a line does by itself, with its weight; 0 and "" for nothing to speak of.

    ` drives the knight on c4 away` if that leaves at once, quietly.
    """
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    is_mating = mating_move(after, before.turn) and not mating_move(before, before.turn)
    if before.is_capture(move) and not is_mating:
        return _trade(line, ply)
    squares = _newly_attacked(before, after)
    attacked = [square for square in sorted(squares) if after.piece_type_at(square) != chess.PAWN]
    if is_mating:
        also = f" and{attack_words(after, move.to_square, attacked)}" if attacked else ""
        return DEED_WEIGHT, f" threatens mate{also}"
    queens = after.pieces(chess.QUEEN, after.turn)
    if before.piece_type_at(move.from_square) == chess.QUEEN and queens & after.attacks(move.to_square):
        return DEED_WEIGHT, " offers to trade queens"
    for reply in line.moves[ply + 1 : ply + 2]:
        if reply.from_square in attacked and not (after.is_check() or after.is_capture(reply)):
            return ATTACK_WEIGHT, f" drives the {piece_on(after, reply.from_square)} away"
    shown = attacked or ([] if after.is_check() else sorted(squares))
    return (ATTACK_WEIGHT, attack_words(after, move.to_square, shown)) if shown else (0, "")


def _newly_attacked(before: chess.Board, after: chess.Board) -> set[chess.Square]:
    """What the side that has moved could take at a profit if it moved again, and could not take before."""
    squares = winning_captures(after, before.turn).keys() - winning_captures(before, before.turn).keys()
    # In check other pieces cannot take, so what they attack only seems to be new or to be won.
    return squares & set(after.attacks(after.peek().to_square)) if before.is_check() or after.is_check() else squares


def _trade(line: Line, ply: int) -> tuple[int, str]:
    """` trades rooks` if a piece takes one of its kind, and is taken back at once; or what that does to the pawns."""
    board, move = line.boards[ply], line.moves[ply]
    kind = board.piece_type_at(move.from_square) or chess.PAWN
    if not line.is_taken_back(ply) or kind == chess.PAWN or gain_of(board, move) != value_at(board, move.from_square):
        return 0, ""
    after, file = line.boards[ply + 2], chess.square_file(move.to_square)
    pawns = after.pieces(chess.PAWN, not board.turn) & chess.BB_FILES[file]
    is_lost = any(later.to_square == move.to_square for later in line.moves[ply + 2 : line.searched])
    if move.to_square in pawns and len(pawns) == 2 and not is_lost:
        return DEED_WEIGHT, f" doubles the pawns on the {chess.FILE_NAMES[file]}-file"
    if board.piece_type_at(move.to_square) != kind:
        return 0, ""
    decides = kind == chess.QUEEN or chess.popcount(board.occupied) <= FEW_PIECES
    return (ATTACK_WEIGHT, f" trades {chess.piece_name(kind)}s") if decides else (0, "")
