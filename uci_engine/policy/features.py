"""The features of a move as a person sees it, which the policy weighs.

Each has a name. A move has the values of those that it has, of the order of 1; all others are 0. "Risk" is what a side
may lose on a square by a rough count: all where nothing guards it, or what it is worth more than the least taker.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import chess

from evaluation.base.constants import FULL_PHASE
from uci_engine import score as scores
from uci_engine.board.pieces import ahead, captured_type, files_near, phase_weight
from uci_engine.score import SEE_VALUES

Features = dict[str, float]

# The depths of the searches of each move: people look one to four moves ahead.
DEPTHS = (1, 3, 5, 7)
# The slope of the expected result as people see it, a logistic curve, by centipawns, and its greatest score.
SLOPE = 0.0065
MAX_CP = 2000
# What a piece is worth by its type, in queens: the king nothing, because it is never taken.
VALUES = [value_cp / SEE_VALUES[chess.QUEEN] for value_cp in SEE_VALUES]


def features_of(board: chess.Board, moves: Sequence[chess.Move], found: Sequence[Sequence[int]]) -> list[Features]:
    """The features of some legal moves. `found`: for each of DEPTHS the scores that searches gave them."""
    seen = Seen(board)
    features = [seen.features(move) for move in moves]
    for depth, row in zip(DEPTHS, found, strict=True):
        _add_scores(features, depth, row)
    first, last = ([_expected(score) for score in row] for row in (found[0], found[-1]))
    for each, early, late in zip(features, first, last, strict=True):
        each["refutation seen late"] = early - max(first) - late + max(last)
    return features


def _expected(score: int) -> float:
    return 1 / (1 + math.exp(-SLOPE * max(-MAX_CP, min(score, MAX_CP))))


def _add_scores(features: Sequence[Features], depth: int, row: Sequence[int]) -> None:
    """Add what searches of a depth have found: losses beside the best move, in expected results and centipawns."""
    best, order = max(row), sorted(row, reverse=True)
    for each, score in zip(features, row, strict=True):
        loss = _expected(best) - _expected(score)
        each[f"loss, depth {depth}"] = loss
        each[f"root of loss, depth {depth}"] = math.sqrt(loss)
        each[f"logarithm of loss, depth {depth}"] = math.log1p(min(best - score, MAX_CP) / 50)
        each[f"logarithm of rank, depth {depth}"] = math.log1p(order.index(score))
        each[f"best, depth {depth}"] = float(score == best)
        if scores.is_mate(score):
            each[f"{'mates' if score > 0 else 'is mated'}, depth {depth}"] = 1.0


class Seen:
    """A position as the side to move sees it."""

    def __init__(self, board: chess.Board) -> None:
        self.board = board
        self.us, self.them = board.turn, not board.turn
        self.last, self.own_last = (
            board.move_stack[-back] if len(board.move_stack) >= back else chess.Move.null() for back in (1, 2)
        )
        # 1 with all pieces, 0 with none.
        self.phase = phase_weight(board) / FULL_PHASE
        self.enemy_king = board.king(self.them) or 0
        self.risks = {at: risk(board, at) for at in chess.scan_forward(board.occupied_co[self.us])}
        self.pawn_attacks = 0
        for pawn in chess.scan_forward(board.pieces_mask(chess.PAWN, self.them)):
            self.pawn_attacks |= chess.BB_PAWN_ATTACKS[self.them][pawn]

    def features(self, move: chess.Move) -> Features:
        """The features of a legal move that need no search."""
        board = self.board
        kind = board.piece_type_at(move.from_square) or 0
        name, castles, victim = chess.piece_name(kind), board.is_castling(move), captured_type(board, move)
        takers = board.attackers_mask(self.them, move.to_square)
        is_check, is_short = board.gives_check(move), move.to_square > move.from_square
        features: Features = {
            name: 1.0,
            f"{name}, by phase": self.phase,
            "check": is_check,
            "safe check": is_check and not takers,
            "promotes": move.promotion == chess.QUEEN,
            "castles short": castles and is_short,
            "castles long": castles and not is_short,
            "leaves a risk": self.risks[move.from_square],
            "is at risk": self.risks[move.from_square] > 0,
            "where a pawn attacks": bool(self.pawn_attacks & chess.BB_SQUARES[move.to_square]),
            "piece that moved last": self.own_last.to_square == move.from_square and bool(self.own_last),
            "goes back": (self.own_last.to_square, self.own_last.from_square) == (move.from_square, move.to_square),
            **self._geometry(move, kind, castles),
            **(self._capture(move, kind, victim, takers) if victim else {}),
            **(self._beside_last(move) if self.last else {}),
            **self._after(move, victim),
        }
        return {feature: float(value) for feature, value in features.items() if value}

    def _beside_last(self, move: chess.Move) -> Features:
        last = self.last.to_square
        attackers = self.board.attackers_mask(self.them, move.from_square)
        return {
            "near the last move": 1 / (1 + chess.square_distance(move.to_square, last)),
            "attacked by the last move": bool(attackers & chess.BB_SQUARES[last]),
        }

    def _capture(self, move: chess.Move, kind: int, victim: int, takers: chess.Bitboard) -> Features:
        gain = VALUES[victim] - VALUES[kind]
        attacked = self.board.attacks_mask(move.to_square) & self.board.occupied_co[self.us]
        return {
            f"takes a {chess.piece_name(victim)}": 1.0,
            "takes what nothing guards": not takers,
            "takes more": max(gain, 0.0) if takers else 0.0,
            "takes less": max(-gain, 0.0) if takers else 0.0,
            "takes as much": bool(takers) and gain == 0,
            "takes what moved last": bool(self.last) and self.last.to_square == move.to_square,
            "takes an attacker": max((self.risks[at] for at in chess.scan_forward(attacked)), default=0.0),
        }

    def _geometry(self, move: chess.Move, kind: int, castles: bool) -> Features:
        """Where the piece goes. Ranks count from the side's own first rank."""
        board, start, end = self.board, move.from_square, move.to_square
        (file, to_file), (rank, to_rank) = (
            [part(square if self.us else square ^ 56) for square in (start, end)]
            for part in (chess.square_file, chess.square_rank)
        )
        nearer = (chess.square_distance(start, self.enemy_king) - chess.square_distance(end, self.enemy_king)) / 7
        is_king, is_pawn = kind == chess.KING, kind == chess.PAWN
        rights = board.castling_rights & (chess.BB_RANK_1 if self.us else chess.BB_RANK_8)
        is_slider = kind in (chess.BISHOP, chess.ROOK, chess.QUEEN)
        features: Features = {
            "forward": (to_rank - rank) / 7,
            "backward": to_rank < rank,
            "far": chess.square_distance(start, end) / 7 if is_slider else 0.0,
            "develops": kind in (chess.KNIGHT, chess.BISHOP) and rank == 0,
            "queen leaves her rank, by phase": self.phase if kind == chess.QUEEN and rank == 0 else 0.0,
            "gives up castling": is_king and not castles and bool(rights),
            "king out of check": is_king and board.is_check(),
            "king nearer, by endgame": nearer * (1 - self.phase) if is_king else 0.0,
            "nearer to the king": 0.0 if is_king else nearer,
            "to the middle files": (abs(file - 3.5) - abs(to_file - 3.5)) / 3.5,
            "to the middle ranks": (abs(rank - 3.5) - abs(to_rank - 3.5)) / 3.5,
        }
        if is_pawn:
            enemies = board.pieces_mask(chess.PAWN, self.them)
            features["pawn, two squares"] = to_rank - rank == 2
            features["pawn, by rank"] = to_rank / 7
            features[f"pawn of the {('rook', 'knight', 'bishop', 'middle')[min(file, 7 - file)]} file"] = 1.0
            features["passed pawn, by rank"] = 0.0 if enemies & files_near(end) & ahead(end, self.us) else to_rank / 7
        return features

    def _after(self, move: chess.Move, victim: int) -> Features:
        """What the piece attacks where it goes, and what the side then risks."""
        board, end = self.board, move.to_square
        board.push(move)
        attacked = chess.scan_forward(board.attacks_mask(end) & board.occupied_co[self.them])
        aims = [*sorted((risk(board, at) for at in attacked), reverse=True), 0.0, 0.0]
        goes_into = 0.0 if victim else risk(board, end)
        others = [at for at in self.risks if at != move.from_square]
        kept = max((risk(board, at) for at in others if self.risks[at]), default=0.0)
        new = max((risk(board, at) for at in others if not self.risks[at]), default=0.0)
        board.pop()
        return {
            "goes into risk, by value": goes_into,
            "goes into risk": goes_into > 0,
            "attacks": aims[0],
            "attacks a second": aims[1],
            "lets a risk stand": kept,
            "makes a risk": new,
        }


def risk(board: chess.Board, square: chess.Square) -> float:
    """What the side with a piece on this square may lose there, in queens."""
    kind, color = board.piece_type_at(square), board.color_at(square)
    takers = 0 if kind in (None, chess.KING) else board.attackers_mask(not color, square)
    if kind is None or not takers:
        return 0.0
    if not board.attackers_mask(bool(color), square):
        return VALUES[kind]
    # A king takes nothing that is guarded.
    least = min(VALUES[board.piece_type_at(at) or 0] or VALUES[kind] for at in chess.scan_forward(takers))
    return max(0.0, VALUES[kind] - least)
