"""An explanation for people: a table in pawns, a board with the value of every piece, reasons in words. And as data.

Invariant: in every line of the table White minus Black is the difference, and the differences of the families add up to
the score.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import chess

from evaluation.constants import FULL_PHASE, FULL_SCALE
from evaluation.correction.contributions import unusual_contributions, weightiest
from evaluation.explain import Explanation, Row
from evaluation.parts import CORRECTION_FAMILY, LIMIT_FAMILY, Part
from evaluation.words import joined

REASONS: Final = 3
# A correction of this size is always a reason, however large the features are.
LARGE_CORRECTION_CP: Final = 50
# The width of the first column, of a square, and of a paragraph.
NAME_WIDTH: Final = 28
SQUARE_WIDTH: Final = 7
TEXT_WIDTH: Final = 100
# ANSI escape sequences.
BOLD, RED, GREEN, FAINT = "1", "31", "32", "2"
_COUNTS = dict(enumerate(("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1))


def format_explanation(explanation: Explanation, colour: bool = False) -> str:
    """An ASCII table in pawns and what belongs to it, without a newline at the end. `colour`: with ANSI colours."""
    paint = _painted if colour else _plain
    rule = "-" * (NAME_WIDTH + 32)
    lines = [f" {'':<{NAME_WIDTH}}{'White':>9}{'Black':>9}{'Difference':>13}", rule]
    folded = []
    for family in explanation.families:
        shown = [part for part in family.titles if part.white_cp or part.black_cp]
        if not shown:
            folded.append(family.name)
            continue
        numbers = family.white_cp, family.black_cp, family.difference_cp
        lines.append(_row(paint(f"{family.name:<{NAME_WIDTH}}", BOLD), numbers, paint))
        if len(family.titles) > 1:
            lines += [
                _row(f"  {part.title:<{NAME_WIDTH - 2}}", (part.white_cp, part.black_cp, part.difference_cp), paint)
                for part in shown
            ]
            folded += [part.title for part in family.titles if part not in shown]
    families = explanation.families
    sums = sum(family.white_cp for family in families), sum(family.black_cp for family in families)
    lines += [rule, _row(paint(f"{'Sum':<{NAME_WIDTH}}", BOLD), (*sums, explanation.white_score), paint), ""]
    if folded:
        lines += [*textwrap.wrap(f"0 for both sides: {', '.join(folded)}", TEXT_WIDTH), ""]
    values = {value.square: (value.piece, value.value_cp) for value in explanation.pieces}
    lines += ["Value of each piece for its own side: what the score loses without it", *_board(values, paint), ""]
    if explanation.contributions:
        added = {each.square: (each.piece, each.white_cp) for each in explanation.contributions}
        lines += ["What each piece adds to the learned correction (White's view)", *_board(added, paint, "+"), ""]
    if found := reasons(explanation):
        lines += ["The biggest reasons:", *(f" {number}. {text}" for number, text in enumerate(found, start=1)), ""]
    if explanation.kpk_result:
        lines.append(f"Known ending: {explanation.kpk_result}")
    phase = f"Phase {explanation.phase} ({FULL_PHASE}: middlegame, 0: endgame)"
    lines.append(f"{phase}; endgame counts {explanation.scale} of {FULL_SCALE}")
    side = "White" if explanation.white_to_move else "Black"
    if explanation.correction is not None:
        features, correction = explanation.features_score / 100, explanation.correction / 100
        lines.append(f"Features {features:+.2f}, learned correction {correction:+.2f} (White's view)")
    lines.append(f"Score {explanation.white_score / 100:+.2f} (White's view)")
    lines.append(f"Score {explanation.score / 100:+.2f} (the side to move's view: {side})")
    return "\n".join(lines)


def reasons(explanation: Explanation) -> tuple[str, ...]:
    """The largest differences in words, the largest first: at most REASONS sentences in pawns, from White's view.

    A learned correction of LARGE_CORRECTION_CP is always among them.
    """
    parts = [part for family in explanation.families for part in family.titles if part.difference_cp]
    parts.sort(key=lambda part: (not _is_large_correction(part), -abs(part.difference_cp)))
    found = sorted(parts[:REASONS], key=lambda part: -abs(part.difference_cp))
    return tuple(f"{_words(explanation, part)} ({part.difference_cp / 100:+.2f})" for part in found)


def as_data(explanation: Explanation) -> dict[str, Any]:
    """The explanation as dicts, lists, texts and whole numbers. All scores are in centipawns.

    The keys are those that `secateur eval --help` describes. New ones may come, and none goes or changes its meaning.
    """
    rows = {row.term: row for row in explanation.terms}
    return {
        "side_to_move": "white" if explanation.white_to_move else "black",
        "white_score_cp": explanation.white_score,
        "features_cp": explanation.features_score,
        "correction_cp": explanation.correction,
        "phase": explanation.phase,
        "endgame_scale": explanation.scale,
        "known_ending": explanation.kpk_result or None,
        "reasons": list(reasons(explanation)),
        "families": [
            {
                "name": family.name,
                "white_cp": family.white_cp,
                "black_cp": family.black_cp,
                "difference_cp": family.difference_cp,
                "terms": [_term_data(part, rows.get(part.name)) for part in family.parts],
            }
            for family in explanation.families
        ],
        "pieces": [
            {"square": chess.square_name(value.square), "piece": value.piece.symbol(), "value_cp": value.value_cp}
            for value in explanation.pieces
        ],
        "correction_pieces": [
            {"square": chess.square_name(each.square), "piece": each.piece.symbol(), "white_cp": each.white_cp}
            for each in explanation.contributions
        ],
    }


def _term_data(part: Part, row: Row | None) -> dict[str, Any]:
    """A part as data. `row`: the same term before it is tapered, None where it is no term."""
    return {
        "name": part.name,
        "title": part.title,
        "white_cp": part.white_cp,
        "black_cp": part.black_cp,
        "difference_cp": part.difference_cp,
        "middlegame_cp": None if row is None else row.mg,
        "endgame_cp": None if row is None else row.eg,
    }


def _words(explanation: Explanation, part: Part) -> str:
    """Why a part is what it is."""
    side = "White" if part.difference_cp > 0 else "Black"
    if part.title == "material" and (words := _material(explanation, side)):
        return words
    if part.title == "tempo":
        return f"{side} is to move"
    if part.family == CORRECTION_FAMILY:
        return _correction(explanation, side)
    name = part.title.capitalize()
    if part.title == "known ending":
        return f"{name}: {explanation.kpk_result}"
    return name if part.family == LIMIT_FAMILY else f"{name}: better for {side}"


def _is_large_correction(part: Part) -> bool:
    return part.family == CORRECTION_FAMILY and abs(part.difference_cp) >= LARGE_CORRECTION_CP


def _correction(explanation: Explanation, side: str) -> str:
    """What the network sees, and the pieces that are most different from others of their type."""
    assert explanation.correction is not None
    sign = 1 if side == "White" else -1
    unusual = unusual_contributions(explanation.contributions)
    pieces = weightiest(explanation.contributions, unusual, sign)
    words = f"The network sees {abs(explanation.correction) / 100:.2f} more for {side} than the features"
    return f"{words}: mostly {pieces}" if pieces else words


def _material(explanation: Explanation, side: str) -> str:
    """What the pieces of a side are more than those of the other: "White has a knight for two pawns". Or ""."""
    count = Counter((value.piece.piece_type, value.piece.color) for value in explanation.pieces)
    us = side == "White"
    more: list[str] = []
    fewer: list[str] = []
    for piece_type in range(chess.QUEEN, 0, -1):
        surplus = count[piece_type, us] - count[piece_type, not us]
        if surplus:
            number = abs(surplus)
            words = f"{_COUNTS.get(number, number)} {chess.piece_name(piece_type)}{'s' if number > 1 else ''}"
            (more if surplus > 0 else fewer).append(words)
    if more and fewer:
        return f"{side} has {joined(more)} for {joined(fewer)}"
    return f"{side} is {joined(more)} up" if more else ""


def _row(name: str, numbers: tuple[int, int, int], paint: Any) -> str:
    """A line of the table. `name` is padded."""
    white, black, difference = numbers
    colour = GREEN if difference > 0 else RED if difference < 0 else FAINT
    return f" {name}{white / 100:9.2f}{black / 100:9.2f}{paint(f'{difference / 100:13.2f}', colour)}"


def _board(values: Mapping[chess.Square, tuple[chess.Piece, int | None]], paint: Any, sign: str = "") -> Iterable[str]:
    """The board, each piece with its value in pawns. `sign`: "+" to show that of numbers above 0, too."""
    rule = "   +" + (("-" * SQUARE_WIDTH) + "+") * 8
    yield rule
    for rank in range(7, -1, -1):
        row = [values.get(chess.square(file, rank), (None, None)) for file in range(8)]
        pieces = ["" if piece is None else paint(f"{piece.symbol():^{SQUARE_WIDTH}}", BOLD) for piece, _ in row]
        numbers = [
            ""
            if value_cp is None
            else paint(f"{value_cp / 100:{sign}.2f}".center(SQUARE_WIDTH), RED if value_cp < 0 else FAINT)
            for _, value_cp in row
        ]
        empty = " " * SQUARE_WIDTH
        yield f" {rank + 1} |" + "".join(f"{cell or empty}|" for cell in pieces)
        yield "   |" + "".join(f"{cell or empty}|" for cell in numbers)
        yield rule
    yield "    " + " ".join(f"{name:^{SQUARE_WIDTH}}" for name in chess.FILE_NAMES).rstrip()


def _plain(text: str, code: str) -> str:
    return text


def _painted(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
