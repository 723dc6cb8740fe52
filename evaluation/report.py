"""An explanation for people: a table in pawns, a board with the value of every piece, reasons in words. And as data.

Invariant: in every line of the table White minus Black is the difference, and the differences of the families add up to
the score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import chess

from evaluation.catalogue import KNOWN_ENDING, LIMIT, NETWORK_TERM
from evaluation.constants import FULL_PHASE, FULL_SCALE
from evaluation.explanation import Explanation, Subtotal, TermValue

REASONS: Final = 3
# How many pieces are named as the reason of an output.
PIECES_NAMED: Final = 2
# The width of the first column, and of a square.
NAME_WIDTH: Final = 33
SQUARE_WIDTH: Final = 7
_COUNTS = dict(enumerate(("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1))


def format_explanation(explanation: Explanation) -> str:
    """An ASCII table in pawns and what belongs to it, without a newline at the end."""
    rule = "-" * (NAME_WIDTH + 32)
    lines = [f" {'':<{NAME_WIDTH}}{'White':>9}{'Black':>9}{'Difference':>13}", rule]
    for family in explanation.families:
        # What is 0 for both sides is left out.
        titles = [title for title in family.titles if title.white_cp or title.black_cp]
        if titles:
            lines.append(_row("", family))
        if len(family.titles) > 1:
            lines += [_row("  ", title) for title in titles]
    total = Subtotal("Sum", explanation.terms)
    lines += [rule, _row("", total), ""]
    values = {value.square: (value.piece, value.value_cp) for value in explanation.pieces}
    lines += ["Value of each piece for its own side: what the score loses without it", *_board(values), ""]
    if explanation.network_score:
        added = {value.square: (value.piece, value.network_cp) for value in explanation.pieces}
        lines += ["What each piece adds to the network (White's view)", *_board(added, "+"), ""]
    if found := reasons(explanation):
        lines += ["The biggest reasons:", *(f" {number}. {text}" for number, text in enumerate(found, start=1)), ""]
    if explanation.known_ending:
        lines.append(f"Known ending: {explanation.known_ending}")
    phase = f"Phase {explanation.phase} ({FULL_PHASE}: middlegame, 0: endgame)"
    lines.append(f"{phase}; endgame counts {explanation.scale} of {FULL_SCALE}")
    if explanation.network_score is not None:
        features, network_score = explanation.features_score / 100, explanation.network_score / 100
        lines.append(f"Features {features:+.2f}, network {network_score:+.2f} (White's view)")
    side, sign = ("White", 1) if explanation.white_to_move else ("Black", -1)
    lines.append(f"Score {explanation.white_score / 100:+.2f} (White's view)")
    lines.append(f"Score {sign * explanation.white_score / 100:+.2f} (the side to move's view: {side})")
    return "\n".join(lines)


def as_data(explanation: Explanation) -> dict[str, Any]:
    """The explanation as dicts, lists, texts and whole numbers. All scores are in centipawns.

    The keys are those that `secateur eval --help` describes. New ones may come, and none goes or changes its meaning.
    """
    placed = [
        (value, {"square": chess.square_name(value.square), "piece": value.piece.symbol()})
        for value in explanation.pieces
    ]
    return {
        "side_to_move": "white" if explanation.white_to_move else "black",
        "white_score_cp": explanation.white_score,
        "features_cp": explanation.features_score,
        "network_cp": explanation.network_score,
        "phase": explanation.phase,
        "endgame_scale": explanation.scale,
        "known_ending": explanation.known_ending or None,
        "reasons": list(reasons(explanation)),
        "families": [
            {"name": family.name, **_numbers(family), "terms": [_term_data(term) for term in family.terms]}
            for family in explanation.families
        ],
        "pieces": [{**place, "value_cp": value.value_cp} for value, place in placed],
        "network_pieces": [
            {**place, "white_cp": value.network_cp} for value, place in placed if value.network_cp is not None
        ],
    }


def _term_data(term: TermValue) -> dict[str, Any]:
    middlegame, endgame = term.difference or (None, None)
    phases = {"middlegame_cp": middlegame, "endgame_cp": endgame}
    return {"name": term.name, "title": term.title, **_numbers(term), **phases}


def _numbers(value: TermValue | Subtotal) -> dict[str, int]:
    return {"white_cp": value.white_cp, "black_cp": value.black_cp, "difference_cp": value.difference_cp}


def reasons(explanation: Explanation) -> tuple[str, ...]:
    """The largest differences in words, the largest first: at most REASONS sentences in pawns, from White's view."""
    titles = [title for family in explanation.families for title in family.titles if title.difference_cp]
    titles.sort(key=lambda title: -abs(title.difference_cp))
    return tuple(f"{_words(explanation, title)} ({title.difference_cp / 100:+.2f})" for title in titles[:REASONS])


def _words(explanation: Explanation, title: Subtotal) -> str:
    """Why a title has its difference."""
    side, sign = ("White", 1) if title.difference_cp > 0 else ("Black", -1)
    name, words = title.terms[0].name, title.name.capitalize()
    if name == "material" and (material := _material(explanation, side)):
        return material
    if name == "tempo":
        return f"{side} is to move"
    if name == NETWORK_TERM:
        words = f"The network sees {abs(title.difference_cp) / 100:.2f} more for {side} than the features"
        pieces = pieces_seen(explanation, sign)
        return f"{words}: mostly {pieces}" if pieces else words
    if name == KNOWN_ENDING:
        return f"{words}: {explanation.known_ending}"
    return words if name == LIMIT else f"{words}: better for {side}"


def _material(explanation: Explanation, side: str) -> str:
    """What the pieces of a side are more than those of the other: "White has a knight for two pawns". Or ""."""
    surplus: Counter[chess.PieceType] = Counter()
    for value in explanation.pieces:
        surplus[value.piece.piece_type] += 1 if value.piece.color == (side == "White") else -1
    more, fewer = counted_pieces(surplus), counted_pieces({kind: -count for kind, count in surplus.items()})
    if more and fewer:
        return f"{side} has {more} for {fewer}"
    return f"{side} is {more} up" if more else ""


def counted_pieces(counts: Mapping[chess.PieceType, int]) -> str:
    """The pieces of which there are any, the greatest first: `a queen, two knights and a pawn`, or ""."""
    return joined(
        [
            f"{_COUNTS.get(counts[kind], counts[kind])} {chess.piece_name(kind)}{'s' if counts[kind] > 1 else ''}"
            for kind in sorted(counts, reverse=True)
            if counts[kind] > 0
        ]
    )


def pieces_seen(explanation: Explanation, sign: int) -> str:
    """The pieces to which the network owes what it sees for White (sign 1) or for Black (-1), in words, or "".

    They differ most from other pieces of their type: `the knight on f5 and the king on h8`.
    """
    unusual = _unusual(explanation)
    squares: dict[chess.PieceType, list[str]] = {}
    for square, piece in sorted(unusual, key=lambda place: -sign * unusual[place])[:PIECES_NAMED]:
        if sign * unusual[square, piece] > 0:
            squares.setdefault(piece.piece_type, []).append(chess.square_name(square))
    return joined(
        [
            f"the {chess.piece_name(kind)}{'s' if len(names) > 1 else ''} on {joined(names)}"
            for kind, names in squares.items()
        ]
    )


def _unusual(explanation: Explanation) -> dict[tuple[chess.Square, chess.Piece], float]:
    """How much more each piece adds to the network than pieces of its type do in the mean, from White's view.

    Two queens each add much for their own sides, and that cancels out. Where only one side has the type, all that its
    pieces add counts.
    """
    own: dict[chess.PieceType, dict[chess.Color, list[int]]] = {}
    pieces = explanation.pieces
    seen = [(each.square, each.piece, each.network_cp) for each in pieces if each.network_cp is not None]
    for _, piece, cp in seen:
        sides = own.setdefault(piece.piece_type, {chess.WHITE: [], chess.BLACK: []})
        sides[piece.color].append(cp if piece.color else -cp)
    means = {kind: fmean([*sides[True], *sides[False]]) if all(sides.values()) else 0.0 for kind, sides in own.items()}
    return {(square, piece): cp - (1 if piece.color else -1) * means[piece.piece_type] for square, piece, cp in seen}


def joined(words: Sequence[str]) -> str:
    """`this, that and more`, or "" for no words."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _row(indent: str, numbers: Subtotal) -> str:
    white, black, difference = (cp / 100 for cp in _numbers(numbers).values())
    return f" {indent + numbers.name:<{NAME_WIDTH}}{white:9.2f}{black:9.2f}{difference:13.2f}"


def _board(values: Mapping[chess.Square, tuple[chess.Piece, int | None]], sign: str = "") -> Iterable[str]:
    """The board, each piece with its value in pawns. `sign`: "+" to show that of numbers above 0, too."""
    rule = "   +" + (("-" * SQUARE_WIDTH) + "+") * 8
    yield rule
    for rank in range(7, -1, -1):
        row = [values.get(chess.square(file, rank), (None, None)) for file in range(8)]
        pieces = ["" if piece is None else piece.symbol() for piece, _ in row]
        numbers = ["" if value_cp is None else f"{value_cp / 100:{sign}.2f}" for _, value_cp in row]
        yield f" {rank + 1} |" + "".join(f"{cell.center(SQUARE_WIDTH)}|" for cell in pieces)
        yield "   |" + "".join(f"{cell.center(SQUARE_WIDTH)}|" for cell in numbers)
        yield rule
    yield "    " + " ".join(f"{name:^{SQUARE_WIDTH}}" for name in chess.FILE_NAMES).rstrip()
