"""A report as one self-contained page, and the index of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from uci_engine.game_analysis.html import diagram, line, numbered, position, render
from uci_engine.game_analysis.judgement import ERRORS, INACCURACY_LOSS, Mark, Phase
from uci_engine.game_analysis.report import GameReport, Ply
from uci_engine.game_analysis.values import Value

SIDES = (chess.WHITE, chess.BLACK)
# Of more errors the worst are shown with their lines, so that the page stays small. All have their marks.
MAX_SHOWN_ERRORS = 40
# The marks that have a colour in the list of moves.
COLOURED_MARKS = (Mark.BOOK, Mark.GOOD, Mark.BRILLIANT, *ERRORS)
SHOWN_HEADERS = ("Event", "Site", "Date", "Round", "TimeControl", "Termination")


def game_page(report: GameReport, index: str = "") -> str:
    """The page of a game. `index`: the address of the index, "" for none."""
    errors, lines = errors_with_lines(report)
    data = {"positions": positions_of(report), "lines": lines, "errors": [error["index"] for error in errors]}
    return render(
        "game.html.j2",
        data,
        title=_names(report),
        report=report,
        result=report.headers.get("Result", "*"),
        facts=_facts(report),
        index=index,
        remarks=[remark[:1].upper() + remark[1:] + "." for remark in report.remarks],
        graph=_graph(report),
        times=_times(report),
        phases=list(Phase),
        players=[_player(report, color) for color in SIDES],
        errors=errors,
        least_loss=round(100 * INACCURACY_LOSS),
        notes=_notes(report),
        plies=[_move(report, index, ply) for index, ply in enumerate(report.plies)],
    )


def positions_of(report: GameReport) -> list[dict[str, Any]]:
    """The positions of a game, each with what is said of the move that led there."""
    start = f"Start of the game. {report.value.text}{_quoted(report.words)}"
    after = zip(report.boards[1:], report.plies, strict=True)
    return [
        position(report.boards[0], start, report.value),
        *(position(board, _said(ply), ply.value) for board, ply in after),
    ]


def errors_with_lines(report: GameReport) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The worst errors of a game in the order of the moves, and their lines, to which they refer by number."""
    lines: list[dict[str, Any]] = []
    worst = sorted(report.errors, key=lambda error: -error[1].judgement.loss)[:MAX_SHOWN_ERRORS]
    return [_error(report, index, lines) for index in sorted(index for index, _ in worst)], lines


def index_row(report: GameReport, number: int, page: str) -> dict[str, Any]:
    """A game in the index, for JSON. `page` is its file."""
    accuracies = [report.summary(color).accuracy for color in SIDES]
    errors = ["/".join(str(report.summary(color).counts[mark]) for mark in ERRORS) for color in SIDES]
    cells = [
        report.headers.get("Result", "*"),
        str(report.opening or ""),
        report.headers.get("Date", "").replace("?", "").strip("."),
        (len(report.plies) + 1) // 2,
        " \u2013 ".join(_percent(accuracy) for accuracy in accuracies),
        *errors,
    ]
    return {"number": number, "names": _names(report), "page": page, "cells": cells, "problem": ""}


def failed_row(number: int, names: str, problem: str) -> dict[str, Any]:
    """A game in the index that could not be analysed, for this reason."""
    return {"number": number, "names": names, "problem": problem}


def _names(report: GameReport) -> str:
    return " \u2013 ".join(report.player(color) for color in SIDES)


def index_page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The index of many games, out of their rows."""
    return render("index.html.j2", {}, rows=rows)


# Parts of the page ---------------------------------------------------------------------------------------------------


def _facts(report: GameReport) -> list[str]:
    values = [report.headers.get(name, "") for name in SHOWN_HEADERS]
    facts = [value for value in values if value.strip("?. ") not in ("", "-")]
    elos = [report.headers.get(name, "") for name in ("WhiteElo", "BlackElo")]
    if all(elo.isdecimal() for elo in elos):
        facts.append(f"Elo {elos[0]} \u2013 {elos[1]}")
    if report.opening is not None:
        facts.append(str(report.opening))
    return facts


def _label(ply: Ply) -> str:
    return f"{ply.number}{'.' if ply.white else '...'} {ply.san}"


def _said(ply: Ply) -> str:
    """What is said of a move: on the page below the board, and by a screen reader."""
    mark = ply.judgement.mark
    value = "" if ply.value.score.mate() == 0 else f"  {ply.value.text}"
    said = f"{_label(ply)}{ply.sign or mark.sign}{value}"
    if mark.sign or mark in (Mark.BOOK, Mark.FORCED):
        said += f", {mark.word}"
    if ply.reason is not None:
        said += f". {ply.reason}"
    if ply.verdict:
        said += f". Tablebases: {ply.verdict}"
    return said + _quoted(ply.words)


def _quoted(words: str) -> str:
    """What a player or an annotator says, behind what is said here."""
    return f". \u201c{words}\u201d" if words else ""


def _error(report: GameReport, index: int, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """An error, and its lines to play through, which are added to `lines`."""
    ply, board = report.plies[index], report.boards[index]
    assert ply.reason is not None

    def playable(moves: Sequence[chess.Move], title: str, value: Value) -> dict[str, Any]:
        lines.append(line(board, moves, index, f"{title} ({value.text})", value))
        return {"number": len(lines) - 1, "text": f"{board.variation_san(moves)} ({value.text})"}

    missed = []
    if ply.judgement.missed_win:
        missed.append("A win is gone.")
    if ply.judgement.missed_mate is not None and not ply.reason.names_missed_mate:
        missed.append(f"A mate in {ply.judgement.missed_mate} is missed.")
    better = numbered(board, ply.better[0])
    arrows = [("played", ply.move), ("better", ply.better[0])]
    return {
        "index": index,
        "move": _label(ply),
        "mark": ply.judgement.mark,
        "player": "White" if ply.white else "Black",
        "change": f"{ply.better_value.text} → {ply.value.text}, \u2212{100 * ply.judgement.loss:.0f} %",
        "reason": " ".join([f"{ply.reason}.", *missed]),
        "better": playable(ply.better, f"Better: {better}", ply.better_value),
        "played": playable(ply.played, f"Played: {_label(ply)}", ply.value),
        "diagram": diagram(board, f"Position before {_label(ply)}; better is {better}", arrows),
    }


def _player(report: GameReport, color: chess.Color) -> dict[str, Any]:
    summary = report.summary(color)
    cells = [_percent(summary.accuracy)]
    cells += [_percent(report.summary(color, phase).accuracy) for phase in Phase]
    cells += [str(summary.counts[mark]) for mark in ERRORS]
    return {"name": report.player(color), "cells": [*cells, str(summary.missed_wins)]}


def _percent(accuracy: float | None) -> str:
    return "\u2013" if accuracy is None else f"{accuracy:.0f} %"


def _move(report: GameReport, index: int, ply: Ply) -> dict[str, Any]:
    label = f"{ply.number}." if ply.white else f"{ply.number}..." if index == 0 else ""
    mark = ply.judgement.mark
    san = ply.san + (mark.sign or ply.sign)
    return {"label": label, "san": san, "kind": mark.word if mark in COLOURED_MARKS else ""}


def _notes(report: GameReport) -> list[dict[str, Any]]:
    """Where theory was left, missed mates, what tablebases and the PGN say: each with the position to jump to."""
    notes: list[dict[str, Any]] = []
    if report.words:
        notes.append({"to": 0, "move": "Start", "text": report.words})
    verdict = ""
    for index, ply in enumerate(report.plies):
        texts = []
        if index and index == report.theory_plies:
            texts.append(f"leaves the book ({report.opening}).")
        if ply.judgement.missed_mate is not None:
            texts.append(f"misses mate in {ply.judgement.missed_mate}.")
        if ply.verdict and ply.verdict != verdict:
            texts.append(f"the tablebases say: {ply.verdict}.")
        verdict = ply.verdict
        notes += [{"to": index + 1, "move": _label(ply), "text": text} for text in texts]
        if ply.words:
            notes.append({"to": index + 1, "move": _label(ply) + ply.sign, "text": ply.words})
    return notes


# Graphs --------------------------------------------------------------------------------------------------------------


def _graph(report: GameReport) -> dict[str, Any]:
    """White's expected result after each move, from 0 at the top of the black part to 100."""
    heights = [round(100 - 100 * value.expected, 1) for value in (report.value, *(ply.value for ply in report.plies))]
    points = "".join(f"L{x} {y:g}" for x, y in enumerate(heights))
    width = max(1, len(heights) - 1)
    dots = dict.fromkeys(ERRORS, "")
    for index, ply in report.errors:
        dots[ply.judgement.mark] += f"M{index + 1} {heights[index + 1]:g}h0"
    shares = [100 - height for height in heights]
    return {
        "width": width,
        "area": f"M0 100{points}L{width} {heights[-1]:g}V100z",
        "dots": [(mark.word, dots[mark]) for mark in ERRORS if dots[mark]],
        "label": f"White's expected result after each move: {shares[0]:.0f} % at first, {max(shares):.0f} % at most, "
        f"{min(shares):.0f} % at least, {shares[-1]:.0f} % at the end. The list of mistakes says where it changed.",
    }


def _times(report: GameReport) -> dict[str, Any] | None:
    """The time of each move: bars of White above the middle, of Black below. None if the game has no times."""
    spent = [ply.spent for ply in report.plies]
    known = [seconds for seconds in spent if seconds is not None]
    if not any(known):
        return None
    longest = max(known)
    paths = {True: "", False: ""}
    for index, (ply, seconds) in enumerate(zip(report.plies, spent, strict=True)):
        if seconds:
            # The root lets short moves be seen beside long ones.
            height = 48 * (seconds / longest) ** 0.5
            paths[ply.white] += f"M{index + 0.1:g} 50h.8v{-height if ply.white else height:.1f}h-.8z"
    return {
        "white": paths[True],
        "black": paths[False],
        "longest": _duration(longest),
        "label": f"Time for each move, White's above the line and Black's below. The longest is {_duration(longest)}.",
    }


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
