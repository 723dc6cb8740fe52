"""The searches of one game, from its last position to its first.

The transposition table is kept from one position to the next, so what a later position has shown reaches the moves
before it. Of the effort for a move, most goes into a search of the position. The rest checks what that search says:
the better move once more, alone, before the move played is called an error, or all other moves, before the move played
is called the only one. What the checks leave over goes into a second look at the worst errors: both moves are searched
alone, as deep as each other, so that neither looks better only because it was searched longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import chess
from chess.engine import Limit

from evaluation.constants import PHASE_WEIGHTS
from uci_engine.game_analysis.judgement import INACCURACY_LOSS, WON
from uci_engine.game_analysis.values import DRAWN, Analyser, Found, Value, final_value, found_by

# The share of the effort for the search of the position.
MAIN_SHARE = 0.8
# Errors of this loss get a second look. Each of their two searches takes between these shares of the effort for a move.
SECOND_LOOK_LOSS = INACCURACY_LOSS
LEAST_SECOND_SHARE = 0.5
MOST_SECOND_SHARE = 3.0
# The fifty-move rule ends the game before a position further back is repeated.
MAX_REPEATED_PLIES = 100
# A loss that may become an error is checked.
SUSPICION = INACCURACY_LOSS / 2
# Out of check, so few moves leave not much to find.
FEW_EVASIONS = 3
PIECE_VALUES = (0, 1, 3, 3, 5, 9, 0)


@dataclass(frozen=True, slots=True)
class Effort:
    """What the analysis of one move may take: seconds, nodes or a depth in plies. One of them is given."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None

    def share(self, share: float) -> Limit:
        """The limit of a search that takes this share of the effort. A depth is not shared."""
        return Limit(
            time=None if self.seconds is None else self.seconds * share,
            nodes=None if self.nodes is None else max(1, round(self.nodes * share)),
            depth=self.depth,
        )

    def __str__(self) -> str:
        if self.seconds is not None:
            return f"{self.seconds:g} s a move"
        return f"{self.nodes} nodes a move" if self.nodes is not None else f"depth {self.depth}"


@dataclass(frozen=True, slots=True)
class SearchedMove:
    """A move of the game with what the searches found. Values are from White's view.

    `best` is the value of the best move, with its line; `played` that of the move played, with what follows it.
    `others` is the value of the best of the other moves, where the move played is the best and that was searched.
    """

    best: Found
    played: Found
    is_best: bool
    others: Value | None

    def loss(self, white: bool) -> float:
        """The loss of expected result, for the side that moved."""
        return 0.0 if self.is_best else self.best.value.expected_for(white) - self.played.value.expected_for(white)


def search_game(
    analyser: Analyser,
    start: chess.Board,
    moves: Sequence[chess.Move],
    effort: Effort,
    on_position: Callable[[], None] = lambda: None,
) -> tuple[list[Found], list[SearchedMove]]:
    """Search every position of a game. Returns what was found in each, and for each move.

    `on_position` is called after each of the `len(moves) + 1` positions. ValueError: the engine refuses the position.
    """
    board = start.copy()
    for move in moves:
        board.push(move)
    game = object()
    found = [_search(analyser, board, effort, MAIN_SHARE, game)]
    searched: list[SearchedMove] = []
    on_position()
    left_over = 0.0
    for move in reversed(moves):
        board.pop()
        here = _search(analyser, board, effort, MAIN_SHARE, game)
        result, is_checked = _compared(analyser, board, move, here, found[-1], effort, game)
        left_over += 0.0 if is_checked else 1 - MAIN_SHARE
        found.append(result.best)
        searched.append(result)
        on_position()
    found, searched = found[::-1], searched[::-1]
    if effort.depth is None:
        _look_again(analyser, start, moves, found, searched, effort, left_over, game)
    return found, searched


def _look_again(
    analyser: Analyser,
    start: chess.Board,
    moves: Sequence[chess.Move],
    found: list[Found],
    searched: list[SearchedMove],
    effort: Effort,
    left_over: float,
    game: object,
) -> None:
    """Search the errors once more, the worst first, with what is left over. Changes `found` and `searched`."""
    losses = {index: result.loss(start.turn == (index % 2 == 0)) for index, result in enumerate(searched)}
    errors = sorted((index for index in losses if losses[index] >= SECOND_LOOK_LOSS), key=lambda index: -losses[index])
    errors = errors[: int(left_over / (2 * LEAST_SECOND_SHARE) + 1e-9)]
    if not errors:
        return
    share = min(left_over / (2 * len(errors)), MOST_SECOND_SHARE)
    for index in errors:
        board = start.copy()
        for move in moves[:index]:
            board.push(move)
        result = searched[index]
        best, played = (
            _deeper(analyser, board, line, effort, share, game) for line in (result.best, result.played)
        )
        is_best = best.value.expected_for(board.turn) <= played.value.expected_for(board.turn)
        searched[index] = SearchedMove(played if is_best else best, played, is_best, None)
        found[index] = searched[index].best


def _deeper(
    analyser: Analyser, board: chess.Board, before: Found, effort: Effort, share: float, game: object
) -> Found:
    """A move searched alone once more; what was known if that is no deeper."""
    again = _search(analyser, board, effort, share, game, [before.line[0]])
    return again if again.line and again.depth >= before.depth else before


def _search(
    analyser: Analyser,
    board: chess.Board,
    effort: Effort,
    share: float,
    game: object,
    root_moves: list[chess.Move] | None = None,
) -> Found:
    value = final_value(board)
    if value is not None:
        return Found(value)
    # Of the moves before, only those that can be repeated matter. To replay all of them for each search takes time.
    root = board.copy(stack=min(board.halfmove_clock, MAX_REPEATED_PLIES))
    info = analyser.analyse(root, effort.share(share), game=game, root_moves=root_moves)
    # A search that was cut before its first report knows nothing.
    return found_by(info, board) or Found(DRAWN)


def _compared(
    analyser: Analyser,
    board: chess.Board,
    move: chess.Move,
    here: Found,
    after: Found,
    effort: Effort,
    game: object,
) -> tuple[SearchedMove, bool]:
    """Compare the move played with the best one, and whether that took a check. `after`: what was found after it."""
    white = board.turn
    played = Found(after.value.backed_up(white), after.depth + 1, after.nodes, (move, *after.line))
    gain = after.value.expected_for(white) - here.value.expected_for(white)
    if here.move is None or here.move == move or gain >= 0:
        if not _may_be_only_move(board, move, played.value):
            return SearchedMove(played, played, True, None), False
        allowed = [other for other in board.legal_moves if other != move]
        others = _search(analyser, board, effort, 1 - MAIN_SHARE, game, allowed).value
        return SearchedMove(played, played, True, others), True
    if -gain < SUSPICION:
        return SearchedMove(here, played, False, None), False
    checked = _search(analyser, board, effort, 1 - MAIN_SHARE, game, [here.move])
    best = checked if checked.depth >= here.depth and checked.line else here
    if best.value.expected_for(white) <= played.value.expected_for(white):
        return SearchedMove(played, played, True, None), True
    return SearchedMove(best, played, False, None), True


def _may_be_only_move(board: chess.Board, move: chess.Move, value: Value) -> bool:
    """Whether it is worth knowing what the other moves are worth: the game is open, and the move is not obvious."""
    expected = value.expected_for(board.turn)
    if expected <= 1 - WON or value.mate_for(board.turn) == 1 or board.legal_moves.count() < 2:
        return False
    return not is_obvious(board, move)


def is_obvious(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move takes back, takes at least what it can lose, promotes, or is one of few out of check."""
    if move.promotion is not None or (board.is_check() and board.legal_moves.count() <= FEW_EVASIONS):
        return True
    if not board.is_capture(move):
        return False
    if board.move_stack and board.peek().to_square == move.to_square:
        return True
    return wins_material(board, move, or_trades=True)


def wins_material(board: chess.Board, capture: chess.Move, or_trades: bool = False) -> bool:
    """Whether a capture takes what has no defence, or is worth more than what takes it; as much with `or_trades`."""
    captured = PIECE_VALUES[board.piece_type_at(capture.to_square) or chess.PAWN]
    moved = PIECE_VALUES[board.piece_type_at(capture.from_square) or chess.PAWN]
    is_defended = board.is_attacked_by(not board.turn, capture.to_square)
    return not is_defended or captured > moved or (or_trades and captured == moved)


def is_sacrifice(board: chess.Board, line: Sequence[chess.Move]) -> bool:
    """Whether the first move of a line gives at least two pawns' worth that the next four plies do not bring back."""
    after = board.copy(stack=False)
    side = board.turn
    before = _material(after, side)
    balances = []
    for move in line[:6]:
        after.push(move)
        balances.append(_material(after, side) - before)
    # After the opponent's reply, and after the side's own next moves.
    return len(balances) >= 4 and balances[1] <= -2 and max(balances[2::2]) <= -2


def _material(board: chess.Board, color: chess.Color) -> int:
    """The material of one side minus that of the other, in pawns."""
    return sum(
        PIECE_VALUES[piece_type] * (len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color)))
        for piece_type in chess.PIECE_TYPES
    )


def phase_weight(board: chess.Board) -> int:
    """The game phase of the evaluation: the pieces of both sides, each with its weight."""
    return sum(PHASE_WEIGHTS[piece.piece_type] for piece in board.piece_map().values())
