"""What a move does by itself, in words that follow its name, as a player sees it at once."""

from __future__ import annotations

from collections.abc import Callable

import chess

from evaluation.report import joined
from uci_engine.game_analysis.judgement import INACCURACY_LOSS
from uci_engine.game_analysis.tactics.attacks import mating_move, winning_captures
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import CAPTURES, Motif
from uci_engine.game_analysis.tactics.words import motif_words, piece_on
from uci_engine.game_analysis.values import Found, Value

# Finds the best line of a position; with an empty line where nothing is left for a search.
Finder = Callable[[chess.Board], Found]

# How much a player cares, about in centipawns: as a rule; for a mere attack on a piece; and for one on a pawn, a trade
# that decides and a king in safety.
DEED_WEIGHT = 15
ATTACK_WEIGHT = 10
SMALL_WEIGHT = 6
# With more pieces on the board it is the opening, and with fewer every trade of pieces decides.
OPENING_PIECES = 24
FEW_PIECES = 16


def deed_of(line: Line, ply: int) -> tuple[int, str]:
    """What a move of a line does by itself, with its weight; 0 and "" for nothing to speak of.

    ` drives the knight on c4 away` if that leaves at once, quietly. The opponent's castling explains no error.
    """
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    if mating_move(after, before.turn) and not mating_move(before, before.turn):
        return DEED_WEIGHT, " threatens mate"
    if before.is_capture(move):
        return _trade(line, ply)
    queens = after.pieces(chess.QUEEN, after.turn)
    if before.piece_type_at(move.from_square) == chess.QUEEN and queens & after.attacks(move.to_square):
        return DEED_WEIGHT, " offers to trade queens"
    hanging, loose = (winning_captures(board, before.turn).keys() for board in (after, before))
    squares = hanging - loose
    # In check other pieces cannot take, so what they attack only seems to be new or to be won.
    if before.is_check() or after.is_check():
        squares &= set(after.attacks(move.to_square))
    attacked = [square for square in sorted(squares) if after.piece_type_at(square) != chess.PAWN]
    for reply in line.moves[ply + 1 : ply + 2]:
        if reply.from_square in attacked and not (after.is_check() or after.is_capture(reply)):
            return DEED_WEIGHT, f" drives the {piece_on(after, reply.from_square)} away"
    shown = attacked or ([] if after.is_check() else sorted(squares))
    if shown:
        words = _attack(after, move.to_square, shown)
        others = [square for square in sorted(hanging & loose) if after.piece_type_at(square) != chess.PAWN]
        if attacked and others and not after.is_check():
            words += f", while the {piece_on(after, others[0])} hangs"
        return ATTACK_WEIGHT if attacked else SMALL_WEIGHT, words
    is_opening = chess.popcount(before.occupied) > OPENING_PIECES
    if is_opening and ply == 0 and queens and before.is_castling(move):
        return SMALL_WEIGHT, " brings the king into safety"
    return 0, ""


def _attack(board: chess.Board, by: chess.Square, squares: list[chess.Square]) -> str:
    """` attacks the knight on f3` if the piece that moved does, ` threatens` it if only another one does."""
    verb = "attacks" if board.attacks(by) & chess.SquareSet(squares) else "threatens"
    return f" {verb} {joined([f'the {piece_on(board, square)}' for square in squares])}"


def _trade(line: Line, ply: int) -> tuple[int, str]:
    """` trades rooks` if a piece takes one of its kind, and is taken back at once."""
    board, move = line.boards[ply], line.moves[ply]
    kind = board.piece_type_at(move.from_square) or chess.PAWN
    if not line.is_taken_back(ply) or kind == chess.PAWN or board.piece_type_at(move.to_square) != kind:
        return 0, ""
    decides = kind == chess.QUEEN or chess.popcount(board.occupied) <= FEW_PIECES
    return (SMALL_WEIGHT, f" trades {chess.piece_name(kind)}s") if decides else (0, "")


def left_square(line: Line, other: Line) -> str:
    """`9.h3 leaves e5 to Black: ` if a pawn answers there and the better move takes or attacks that square; else ""."""
    board, move = line.boards[1], line.moves[1]
    guards = [len(each.boards[1].attackers(not line.winner, move.to_square)) for each in (line, other)]
    is_held = guards[0] < guards[1] or other.moves[0].to_square == move.to_square
    is_advance = board.is_zeroing(move) and not board.is_capture(move) and chess.square_rank(move.to_square) in (3, 4)
    words = f"{line.name(0)} leaves {chess.square_name(move.to_square)} to {'White' if line.winner else 'Black'}: "
    return words if is_held and is_advance else ""


def threat_to(board: chess.Board, value: Value, find: Finder) -> tuple[Line, tuple[Motif, ...]]:
    """The line, with the motifs that decide it, if the side not to move had the turn; no motifs for no threat.

    `value`: what the position is worth as it is.
    """
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    passed.clear_stack()
    side = passed.turn
    found = Found(value) if board.is_check() or passed.is_game_over() else find(passed)
    line = Line(passed, found.line, side)
    gain = found.value.expected_for(side) - value.expected_for(side)
    motifs = deciding_motifs(line) if gain >= INACCURACY_LOSS else ()
    # A threat is carried out at once, and wins by the next move.
    return line, motifs if motifs and motifs[0].ply == 0 and motifs[-1].wins <= 2 else ()


def threat_of(line: Line, ply: int, value: Value, find: Finder, deed: str) -> str:
    """What a move threatens, in words that follow its name; its deed where that says it already; "" for nothing.

    `value`: of the line.
    """
    board, by = line.boards[ply + 1], line.moves[ply].to_square
    passed, threats = threat_to(board, value, find)
    if not threats:
        return ""
    if threats[0].kind not in CAPTURES:
        return f" makes a threat: {'; '.join(motif_words(passed, motif) for motif in threats)}"
    target = threats[0].targets[0]
    if piece_on(board, target) in deed:
        return deed
    # Out of check it is seldom new what another piece may take.
    is_old = line.boards[ply].is_check() and not board.attacks_mask(by) & chess.BB_SQUARES[target]
    return "" if is_old else _attack(board, by, [target])
