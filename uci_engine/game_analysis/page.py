"""A report as one self-contained page, and the index of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from uci_engine.game_analysis.html import line, position, render
from uci_engine.game_analysis.judgement import ERRORS, INACCURACY_LOSS, NO_WIN, WON, Mark, Phase
from uci_engine.game_analysis.report import GameReport, Ply
from uci_engine.game_analysis.values import Value

# Of more errors the worst are shown with their lines, so that the page stays small. All have their marks.
MAX_SHOWN_ERRORS = 40
# Who stands better, by the least expected result of that side. Below the last, neither does.
STANDINGS = ((WON, "was winning"), (NO_WIN, "was better"), (0.55, "was slightly better"))
SHOWN_HEADERS = ("Event", "Site", "Date", "Round", "TimeControl", "Termination")


def game_page(report: GameReport, index: str = "") -> str:
    """The page of a game. `index`: the address of the index, "" for none."""
    errors = shown_errors(report)
    # Each has two lines: the better one, and the one that was played.
    data = {
        "positions": positions_of(report),
        "lines": [line(ply.board, found, title) | {"from": ply.index} for ply in errors for title, found in ply.lines],
        "errors": [ply.index + 1 for ply in errors],
    }
    return render(
        "game.html.j2",
        data,
        report=report,
        facts=_facts(report),
        index=index,
        graph=_graph(report),
        times=_times(report),
        phases=list(Phase),
        marks=ERRORS,
        sentences=[_phase_sentence(report, phase) for phase in Phase if phase in {ply.phase for ply in report.plies}],
        errors={ply.index: number for number, ply in enumerate(errors)},
        least_loss=round(100 * INACCURACY_LOSS),
    )


def positions_of(report: GameReport) -> list[dict[str, Any]]:
    """The positions of a game, each with what is said of the move that led there."""
    start = f"Start of the game. {report.value.text}{_quoted(report.words)}"
    return [
        position(report.boards[0], start, report.value),
        *(position(report.boards[ply.index + 1], _said(ply), ply.value) for ply in report.plies),
    ]


def shown_errors(report: GameReport) -> list[Ply]:
    """The worst errors of a game, in the order of the moves."""
    worst = sorted(report.errors, key=lambda ply: -ply.judgement.loss)[:MAX_SHOWN_ERRORS]
    return sorted(worst, key=lambda ply: ply.index)


def index_row(report: GameReport, page: str) -> dict[str, Any]:
    """A game in the index, for JSON. `page` is its file, "" for none."""
    summaries = [report.summary(color) for color in chess.COLORS]
    cells = [
        report.result,
        str(report.opening or ""),
        report.headers.get("Date", "").replace("?", "").strip("."),
        (len(report.plies) + 1) // 2,
        " \u2013 ".join(summary.percent for summary in summaries),
        *("/".join(str(summary.counts[mark]) for mark in ERRORS) for summary in summaries),
    ]
    return {"names": report.names, "page": page, "cells": cells}


def index_page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The index of many games, out of their rows, each with its `number` from 1.

    A game that could not be analysed has no `page`, but `names` and `remarks`, which say why.
    """
    return render("index.html.j2", {}, rows=rows)


# Parts of the page ---------------------------------------------------------------------------------------------------


def _facts(report: GameReport) -> list[str]:
    values = [report.headers.get(name, "") for name in SHOWN_HEADERS]
    facts = [value.replace(".??", "") for value in values if value.strip("?. ") not in ("", "-")]
    elos = [report.headers.get(name, "") for name in ("WhiteElo", "BlackElo")]
    if all(elo.isdecimal() for elo in elos):
        facts.append(f"Elo {elos[0]} \u2013 {elos[1]}")
    if report.opening is not None:
        facts.append(str(report.opening))
    return facts


def _said(ply: Ply) -> str:
    """What is said of a move: on the page below the board, and by a screen reader."""
    mark = ply.judgement.mark
    said = f"{ply.name}{ply.sign or mark.sign}  {ply.value_text}".rstrip()
    if mark.sign or mark in (Mark.BOOK, Mark.FORCED):
        said += f", {mark.word}"
    if ply.reason is not None:
        said += f". {ply.reason.text}"
    if ply.verdict:
        said += f". Tablebases: {ply.verdict}"
    return said + _quoted(ply.words)


def _quoted(words: str) -> str:
    """What a player or an annotator says, behind what is said here."""
    return f". \u201c{words}\u201d" if words else ""


def _phase_sentence(report: GameReport, phase: Phase) -> str:
    """What happened in a phase: the mistakes of both sides, and what it made of White's expected result."""
    plies = [ply for ply in report.plies if ply.phase is phase]
    first, last = plies[0], plies[-1]
    start = report.plies[first.index - 1].value if first.index else report.value
    before, after = round(100 * start.expected), round(100 * last.value.expected)
    if before == after:
        change = f"stayed at {after} %"
    else:
        change = f"{'rose' if after > before else 'fell'} from {before} % to {after} %"
    white, black = (sum(report.summary(color, phase).counts[mark] for mark in ERRORS) for color in chess.COLORS)
    mistakes = f"White made {white or 'no'} mistake{'s' if white != 1 else ''} and Black {black or 'none'}"
    moves = f"moves {first.board.fullmove_number} to {last.board.fullmove_number}"
    return (
        f"{phase.value.capitalize()}, {moves}: {mistakes}; White's expected result {change}, "
        f"and {_standing(last.value)} at its end."
    )


def _standing(value: Value) -> str:
    share = round(max(value.expected, 1 - value.expected), 2)
    side = "White" if value.expected > 0.5 else "Black"
    if value.score.mate() == 0:
        return f"{side} mated"
    words = (words for least, words in STANDINGS if share >= least)
    return f"{side} {word}" if (word := next(words, "")) else "neither side was better"


# Graphs --------------------------------------------------------------------------------------------------------------


def _graph(report: GameReport) -> dict[str, Any]:
    """White's expected result after each move, from 0 at the top of the black part to 100."""
    heights = [round(100 - 100 * value.expected, 1) for value in (report.value, *(ply.value for ply in report.plies))]
    width = max(1, len(heights) - 1)
    points = "".join(f"L{x} {y:g}" for x, y in enumerate(heights))
    dots = dict.fromkeys(ERRORS, "")
    for ply in report.errors:
        dots[ply.judgement.mark] += f"M{ply.index + 1} {heights[ply.index + 1]:g}h0"
    shares = [100 - height for height in heights]
    return {
        "width": width,
        "area": f"M0 100{points}L{width} {heights[-1]:g}V100z",
        "dots": dots,
        "label": f"White's expected result after each move: {shares[0]:.0f} % at first, {max(shares):.0f} % at most, "
        f"{min(shares):.0f} % at least, {shares[-1]:.0f} % at the end. The list of moves says where it changed.",
    }


def _times(report: GameReport) -> dict[str, str] | None:
    """The time of each move: bars of White above the middle, of Black below. None if the game has no times."""
    longest = max((ply.spent for ply in report.plies if ply.spent is not None), default=0.0)
    if not longest:
        return None
    paths = {chess.WHITE: "", chess.BLACK: ""}
    for ply in report.plies:
        if ply.spent:
            # The root lets short moves be seen beside long ones.
            height = 48 * (ply.spent / longest) ** 0.5
            paths[ply.board.turn] += f"M{ply.index + 0.1:g} 50h.8v{-height if ply.board.turn else height:.1f}h-.8z"
    return {"white": paths[chess.WHITE], "black": paths[chess.BLACK], "longest": _duration(longest)}


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
