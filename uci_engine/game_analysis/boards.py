"""What positions and moves tell without a search: material, attacks, exchanges, pins, sacrifices, names of moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import chess

from uci_engine.board.game import moves_kept
from uci_engine.board.pieces import captured_type
from uci_engine.score import SEE_VALUES

PIECE_VALUES = [value_cp // 100 for value_cp in SEE_VALUES]
# More than all other pieces together.
KING_VALUE = 100
# What a side gains that mates.
MATE_VALUE = 1000
# Out of check, so few moves leave not much to find.
FEW_EVASIONS = 3


def board_after(board: chess.Board, moves: Iterable[chess.Move]) -> chess.Board:
    """The board after these moves. It remembers what matters of the moves before, so it knows repetitions."""
    after = board.copy(stack=moves_kept(board))
    for move in moves:
        after.push(move)
    return after


def positions(start: chess.Board, moves: Iterable[chess.Move]) -> list[chess.Board]:
    """The position before each move of a game, and the last one, each by `board_after`."""
    boards = [start.copy()]
    for move in moves:
        boards.append(board_after(boards[-1], [move]))
    return boards


def numbered(board: chess.Board, move: chess.Move) -> str:
    """`45.Nf3` or `45...Nf6+`."""
    return f"{board.fullmove_number}{'.' if board.turn else '...'}{board.san(move)}"


def variation(board: chess.Board, moves: Sequence[chess.Move]) -> str:
    """`45.Nf3 Nf6 46.Ng5`."""
    return board.variation_san(moves).replace(". ", ".")


def last_move(board: chess.Board) -> str:
    """The move that led to a board, numbered."""
    return numbered(*undone(board))


def undone(board: chess.Board) -> tuple[chess.Board, chess.Move]:
    """The board before its last move, and that move. IndexError: there is none."""
    before = board.copy(stack=1)
    move = before.pop()
    return before, move


def is_obvious(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move takes without a loss, promotes, or is one of few out of check."""
    is_evasion = board.is_check() and board.legal_moves.count() <= FEW_EVASIONS
    return is_evasion or move.promotion is not None or (board.is_capture(move) and exchange(board, move) >= 0)


def is_sacrifice(board: chess.Board, line: Sequence[chess.Move]) -> bool:
    """Whether the first move of a line gives at least two pawns' worth that the next four plies do not bring back.

    The reply takes the piece that moved, or one that was not attacked before.
    """
    boards = positions(board.copy(stack=False), line[:6])
    if len(boards) < 5 or not boards[1].is_capture(line[1]):
        return False
    taken = line[1].to_square
    if taken != line[0].to_square and board.is_attacked_by(not board.turn, taken):
        return False
    given = [material_balance(board, board.turn) - material_balance(after, board.turn) for after in boards[1:]]
    # After the opponent's reply, and after the side's own next moves.
    return given[1] >= 2 and min(given[2::2]) >= 2


def material_balance(board: chess.Board, color: chess.Color) -> int:
    """The material of one side minus that of the other, in pawns."""
    return sum(PIECE_VALUES[kind] * surplus(board, kind, color) for kind in chess.PIECE_TYPES)


def surplus(board: chess.Board, piece_type: chess.PieceType, color: chess.Color) -> int:
    """How many more pieces of a kind one side has."""
    return len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color))


# What pieces attack, guard, pin and win, by legal moves --------------------------------------------------------------


def value_at(board: chess.Board, square: chess.Square) -> int:
    """The value of the piece on a square, in pawns: 0 for none, KING_VALUE for a king."""
    piece_type = board.piece_type_at(square) or 0
    return KING_VALUE if piece_type == chess.KING else PIECE_VALUES[piece_type]


def king_of(board: chess.Board, color: chess.Color) -> chess.Square:
    """Where the king of this side stands, of which a legal position has one."""
    king = board.king(color)
    assert king is not None
    return king


def gain_of(board: chess.Board, move: chess.Move) -> int:
    """What a move takes and promotes to, in pawns."""
    taken = PIECE_VALUES[captured_type(board, move)]
    return taken + (PIECE_VALUES[move.promotion] - 1 if move.promotion else 0)


def takes_back(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move takes what has just taken at least as much."""
    if not board.move_stack or board.peek().to_square != move.to_square:
        return False
    return gain_of(*undone(board)) >= gain_of(board, move)


def takes_at(board: chess.Board) -> chess.Square | None:
    """Where the last move has taken something; None where it took nothing, or is not known."""
    if not board.move_stack:
        return None
    before, last = undone(board)
    return last.to_square if before.is_capture(last) else None


def exchange(board: chess.Board, move: chess.Move) -> int:
    """What a move wins by the exchange on its square, in pawns: each side takes with its least piece, or stops.

    Only legal moves take part, so a pinned piece does not.
    """
    gain = gain_of(board, move)
    board.push(move)
    captures = board.generate_legal_captures(to_mask=chess.BB_SQUARES[move.to_square])
    least = min(captures, key=lambda move: (value_at(board, move.from_square), -(move.promotion or 0)), default=None)
    if least is not None:
        gain -= max(0, exchange(board, least))
    elif board.is_checkmate():
        gain += MATE_VALUE
    board.pop()
    return gain


def is_gain(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move takes or promotes at a profit, and does not take back."""
    return gain_of(board, move) > 0 and exchange(board, move) >= 1 and not takes_back(board, move)


def best_capture(board: chess.Board) -> int:
    """What the side to move wins at most by a capture or promotion that does not allow mate, 0 for nothing."""
    position = board.copy(stack=False)
    moves = [move for move in position.legal_moves if gain_of(position, move)]
    for gain, _, move in sorted(((exchange(position, move), move.uci(), move) for move in moves), reverse=True):
        after = board_after(position, [move])
        if gain >= 1 and not any(board_after(after, [reply]).is_checkmate() for reply in after.legal_moves):
            return gain
    return 0


def is_quiet(board: chess.Board) -> bool:
    """Whether the side to move is not in check, and takes nothing at a profit."""
    return board.is_checkmate() or not (board.is_check() or best_capture(board))


def attacked_by_mover(board: chess.Board) -> set[chess.Square]:
    """What its side could take at a profit where the piece that has just moved attacks it, if it moved again."""
    mover = not board.turn
    attacked = board.attacks(board.peek().to_square) & chess.SquareSet(board.occupied_co[board.turn])
    return {square for square in attacked if capture_gain(board, mover, square) >= 1}


def capture_gain(
    board: chess.Board, color: chess.Color, square: chess.Square, pieces: chess.Bitboard = chess.BB_ALL
) -> int:
    """What this side wins at most if it is to move and takes on a square with one of these pieces.

    Below 0 where every capture loses, -KING_VALUE where there is none.
    """
    turned = board.copy(stack=False)
    if turned.turn != color:
        turned.turn, turned.ep_square = color, None
    captures = list(turned.generate_legal_captures(pieces, chess.BB_SQUARES[square]))
    return max((exchange(turned, move) for move in captures), default=-KING_VALUE)


def pins_of(board: chess.Board, square: chess.Square) -> Iterator[tuple[chess.Square, chess.Square]]:
    """Each slider that pins the piece on a square, with what it would take behind it: a king, or what is worth more."""
    color = bool(board.color_at(square))
    without = board.copy(stack=False)
    without.remove_piece_at(square)
    for slider in board.attackers(not color, square):
        piece = chess.BB_SQUARES[slider]
        for target in without.attacks(slider) & chess.SquareSet(without.occupied_co[color]):
            is_behind = chess.between(slider, target) & chess.BB_SQUARES[square]
            is_better = value_at(board, target) > value_at(board, square)
            is_king = board.piece_type_at(target) == chess.KING
            if is_behind and (is_king or (is_better and capture_gain(without, not color, target, piece) > 1)):
                yield slider, target
