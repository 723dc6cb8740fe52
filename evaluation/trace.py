"""The evaluation of one position, term by term, in numbers. `uci_engine.explanation` puts them into words.

Invariants: the terms come from the functions that `Evaluator.sum_of_terms` adds up, and their differences add up to the
score, to the centipawn. Tapered terms are numbers of 1/PARTS centipawns. Each is rounded to a whole centipawn that is
less than one away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, Self

import chess

from evaluation import set_up
from evaluation.base.constants import FULL_PHASE, FULL_SCALE, FULL_SHARE, KING_PLACE
from evaluation.catalogue import (
    ACCUMULATED,
    BOARD,
    BY_KINGS,
    CATALOGUE,
    ENEMY_KING,
    FAMILIES,
    FAMILY_OF,
    KNOWN_ENDING,
    LIMIT,
    NETWORK_TERM,
    OTHER_TITLES,
    OWN_KING,
)
from evaluation.network.file import Network
from evaluation.weights import Weights, default_weights

if TYPE_CHECKING:
    from evaluation.base.base_board import BaseBoard
    from evaluation.evaluator import Evaluator
    from evaluation.network.inference import Inference

# The fixed point of `Evaluator.taper`.
PARTS: Final = FULL_SHARE * FULL_SCALE
# The results of `KpkBitbase.result`, indexed by its return value.
KPK_RESULTS: Final = (
    "",
    "king and pawn against king, drawn",
    "king and pawn against king, White wins",
    "king and pawn against king, Black wins",
)

# Middlegame and endgame, in centipawns.
Phases = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TermValue:
    """One term's part of the score: tapered, in whole centipawns, for each side from its own view.

    `name` is the term's in the catalogue and in the weights file, or KNOWN_ENDING, NETWORK_TERM or LIMIT. `title` is
    what a player calls it. Several terms may share a title. `white` and `black` are the term in the middlegame and in
    the endgame, before it is tapered; None for what is not in the catalogue. `black_cp` takes up the rounding, so it
    may be up to two centipawns off.
    """

    name: str
    title: str
    white_cp: int
    black_cp: int
    white: Phases | None = None
    black: Phases | None = None

    @property
    def family(self) -> str:
        """The name of its family."""
        return FAMILY_OF[self.title]

    @property
    def difference_cp(self) -> int:
        """White minus Black."""
        return self.white_cp - self.black_cp

    @property
    def difference(self) -> Phases | None:
        """White minus Black in the middlegame and in the endgame, before it is tapered."""
        if self.white is None or self.black is None:
            return None
        return self.white[0] - self.black[0], self.white[1] - self.black[1]


@dataclass(frozen=True, slots=True)
class Subtotal:
    """The terms of a family or of a title, added up."""

    name: str
    terms: tuple[TermValue, ...]

    @property
    def white_cp(self) -> int:
        """The sum for White, from White's view."""
        return sum(term.white_cp for term in self.terms)

    @property
    def black_cp(self) -> int:
        """The sum for Black, from Black's view."""
        return sum(term.black_cp for term in self.terms)

    @property
    def difference_cp(self) -> int:
        """White minus Black."""
        return self.white_cp - self.black_cp

    @property
    def titles(self) -> tuple[Subtotal, ...]:
        """The same terms, those of each title added up."""
        return _added_up(self.terms, lambda term: term.title)


def _added_up(terms: Iterable[TermValue], name_of: Callable[[TermValue], str]) -> tuple[Subtotal, ...]:
    found: dict[str, list[TermValue]] = {}
    for term in terms:
        found.setdefault(name_of(term), []).append(term)
    return tuple(Subtotal(name, tuple(terms)) for name, terms in found.items())


@dataclass(frozen=True, slots=True)
class PieceValue:
    """A piece on its square, and its worth there.

    `value_cp`: the fall of its side's score when it is taken off, from that side's view; None for a king. All terms
    count, also those of other pieces, the phase, and the endgame scale. So the values do not add up to the score.
    `network_cp`: its part of the network's output, from White's view; None without a network.
    """

    square: chess.Square
    piece: chess.Piece
    value_cp: int | None
    network_cp: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The static score of a position, term by term. All numbers are in the centipawns of the weights.

    `terms` has each term of the catalogue, in its order, then KNOWN_ENDING or LIMIT, and NETWORK_TERM, where not 0.
    Their differences add up to `white_score`. `pieces` are all pieces, from a1 to h8. `phase` runs from 24 (all pieces
    on the board) to 0. `scale` is the endgame scale factor, in 64ths. `known_ending` is the result of king and pawn
    against king, "" for any other position. `features_score` is the score of the terms, without the network, from
    White's view, and `network_score` what the network adds to it, None without a network.
    """

    fen: str
    white_to_move: bool
    terms: tuple[TermValue, ...]
    pieces: tuple[PieceValue, ...]
    phase: int
    scale: int
    known_ending: str
    features_score: int
    network_score: int | None

    def __iter__(self) -> Iterator[TermValue]:
        return iter(self.terms)

    def __getitem__(self, name: str) -> int:
        """The term of this name, in centipawns from White's view. KeyError: there is no such term."""
        for term in self.terms:
            if term.name == name:
                return term.difference_cp
        raise KeyError(name)

    @property
    def white_score(self) -> int:
        """The static score from White's view."""
        return self.features_score + (self.network_score or 0)

    @property
    def families(self) -> tuple[Subtotal, ...]:
        """The terms in families, in the order of FAMILIES."""
        order = list(FAMILIES)
        return _added_up(sorted(self.terms, key=lambda term: order.index(term.family)), lambda term: term.family)

    @classmethod
    def of(cls, board: chess.Board, weights: Weights | None = None, network: Network | None = None) -> Self:
        """What `evaluation.evaluate` adds up. `network`: None for none. ValueError: as there."""
        weights = weights or default_weights()
        evaluator, base_board = set_up(board, weights, network)
        # Imported here, because importing this module must load no kernel module (see `evaluation`).
        from evaluation.evaluator import middlegame_share
        from evaluation.terms.endgames import endgame_scale

        sides = _packed_sides(board, weights, evaluator, base_board)
        total = sum(white - black for white, black in sides)
        scale = endgame_scale(base_board, int(unpack(total)[1] > 0))
        terms = _tapered_terms(sides, middlegame_share(base_board.phase), scale)
        tapered = evaluator.taper(base_board, total)
        kpk_result = evaluator.kpk.result(base_board)
        of_terms = evaluator.score_of_terms(tapered, kpk_result)
        sign = 1 if board.turn else -1
        network_score = None if network is None else sign * evaluator.network_score(base_board, sign * of_terms)
        known_or_limit = KNOWN_ENDING if kpk_result else LIMIT
        for name, cp in ((known_or_limit, of_terms - tapered), (NETWORK_TERM, network_score or 0)):
            if cp:
                terms.append(TermValue(name, OTHER_TITLES[name], max(cp, 0), max(-cp, 0)))
        return cls(
            fen=board.fen(),
            white_to_move=board.turn,
            terms=tuple(terms),
            pieces=tuple(_pieces(board, evaluator, base_board, evaluator.network if network_score else None)),
            phase=min(base_board.phase, FULL_PHASE),
            scale=scale,
            known_ending=KPK_RESULTS[kpk_result],
            features_score=of_terms,
            network_score=network_score,
        )


def _packed_sides(
    board: chess.Board, weights: Weights, evaluator: Evaluator, base_board: BaseBoard
) -> list[tuple[int, int]]:
    """Each term of the catalogue for White and for Black, packed."""
    evaluator.context.begin(base_board)
    indices = accumulated_indices(board, chess.WHITE), accumulated_indices(board, chess.BLACK)
    sides: list[tuple[int, int]] = []
    for term in CATALOGUE:
        if term.group == ACCUMULATED:
            packed = weights.packed[term.name]
            white, black = (sum(packed[index] for index in side[term.name]) for side in indices)
        else:
            white, black = (term.function(evaluator.context, base_board, us) for us in (1, 0))
        sides.append((white, black))
    return sides


def accumulated_indices(board: chess.Board, colour: chess.Color) -> dict[str, list[int]]:
    """The indices of the weights that the pieces of a colour count, by term of the group ACCUMULATED. One king a side.

    Squares are numbered as the piece's own side sees the board, places as the king's side sees it.
    """
    flip = 0 if colour else 56
    own_king, enemy_king = (chess.msb(board.kings & board.occupied_co[us]) ^ flip for us in (colour, not colour))
    found: dict[str, list[int]] = defaultdict(list)
    for square, piece in board.piece_map().items():
        if piece.color == colour:
            kind, seen = piece.piece_type, square ^ flip
            name = f"{chess.piece_name(kind)}{BOARD}"
            found[name].append(seen)
            if kind != chess.KING:
                found["material"].append(kind - 1)
            if kind in BY_KINGS:
                found[name + OWN_KING].append(64 * KING_PLACE[own_king] + seen)
                found[name + ENEMY_KING].append(64 * KING_PLACE[enemy_king ^ 56] + seen)
    return found


def unpack(packed: int) -> Phases:
    """The numbers that `Weights.packed` packs into one, or of a sum of such numbers."""
    half = 1 << 31
    return ((packed + half) & (2 * half - 1)) - half, (packed + half) >> 32


def _tapered_terms(sides: Iterable[tuple[int, int]], share: int, scale: int) -> list[TermValue]:
    """The terms of the catalogue. `share`: of the middlegame, in 256ths. `scale`: of the endgame, in 64ths."""

    def tapered(phases: Phases) -> int:
        return phases[0] * share * FULL_SCALE + phases[1] * (FULL_SHARE - share) * scale

    phases = [(unpack(white), unpack(black)) for white, black in sides]
    exact = [(tapered(white), tapered(black)) for white, black in phases]
    differences = _rounded([white - black for white, black in exact])
    terms = []
    for term, both, (white, black), difference_cp in zip(CATALOGUE, phases, exact, differences, strict=True):
        # A side that has nothing of a term gets no share of the rounding.
        white_cp = white // PARTS if black else difference_cp
        terms.append(TermValue(term.name, term.title, white_cp, white_cp - difference_cp, *both))
    return terms


def _rounded(exact: Sequence[int]) -> list[int]:
    """Numbers in 1/PARTS centipawns as whole centipawns, which add up to the sum, rounded towards zero.

    Each is the change of the running sum, so it is less than one centipawn off.
    """
    sign = 1 if sum(exact) > 0 else -1
    sums = [sign * total // PARTS for total in accumulate(exact, initial=0)]
    return [sign * (after - before) for before, after in pairwise(sums)]


def _pieces(
    board: chess.Board, evaluator: Evaluator, base_board: BaseBoard, network: Inference | None
) -> Iterator[PieceValue]:
    """Every piece of a board with its value. `base_board` has the same pieces, and has them afterwards.

    `network`: None where it adds nothing.
    """
    before, all_pieces = evaluator.evaluate(base_board), base_board.pieces()
    sign = 1 if board.turn else -1
    for square, piece in sorted(board.piece_map().items()):
        value_cp = None
        if piece.piece_type != chess.KING:
            others = [0 if at == square else number for at, number in enumerate(all_pieces)]
            base_board.set_squares(bytes(others), board.turn)
            loss = before - evaluator.evaluate(base_board)
            value_cp = loss if piece.color == board.turn else -loss
        base_board.set_squares(bytes(all_pieces), board.turn)
        network_cp = sign * network.contribution(base_board, square) if network else None
        yield PieceValue(square, piece, value_cp, network_cp)
