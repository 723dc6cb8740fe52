"""A report as one self-contained page, and the index of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from uci_engine.game_analysis.boards import numbered
from uci_engine.game_analysis.html import line, position, render
from uci_engine.game_analysis.judgement import ERRORS, INACCURACY_LOSS, NO_WIN, WON, Mark, Phase
from uci_engine.game_analysis.report import GameReport, Ply
from uci_engine.game_analysis.values import Value

SIDES = (chess.WHITE, chess.BLACK)
# Of more errors the worst are shown with their lines, so that the page stays small. All have their marks.
MAX_SHOWN_ERRORS = 40
# The marks that have a colour in the list of moves.
COLOURED_MARKS = (Mark.GOOD, Mark.BRILLIANT, *ERRORS)
# Who stands better, by the least expected result of that side. Below the last, neither does.
STANDINGS = ((WON, "was winning"), (NO_WIN, "was better"), (0.55, "was slightly better"))
SHOWN_HEADERS = ("Event", "Site", "Date", "Round", "TimeControl", "Termination")


def game_page(report: GameReport, index: str = "") -> str:
    """The page of a game. `index`: the address of the index, "" for none."""
    errors, lines = errors_with_lines(report)
    shown = [
        {"at": error["index"] + 1, "played": error["played"]["number"], "better": error["better"]["number"]}
        for error in errors
    ]
    data = {"positions": positions_of(report), "lines": lines, "errors": shown}
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
        sentences=[_phase_sentence(report, phase) for phase in Phase if phase in {ply.phase for ply in report.plies}],
        players=[_player(report, color) for color in SIDES],
        most_errors=MAX_SHOWN_ERRORS,
        least_loss=round(100 * INACCURACY_LOSS),
        moves=_moves(report, {error["index"]: error for error in errors}),
    )


def positions_of(report: GameReport) -> list[dict[str, Any]]:
    """The positions of a game, each with what is said of the move that led there."""
    start = f"Start of the game. {report.value.text}{_quoted(report.words)}"
    boards = report.boards
    return [
        position(boards[0], start, report.value),
        *(position(boards[index + 1], _said(boards[index], ply), ply.value) for index, ply in enumerate(report.plies)),
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
    facts = [value.replace(".??", "") for value in values if value.strip("?. ") not in ("", "-")]
    elos = [report.headers.get(name, "") for name in ("WhiteElo", "BlackElo")]
    if all(elo.isdecimal() for elo in elos):
        facts.append(f"Elo {elos[0]} \u2013 {elos[1]}")
    if report.opening is not None:
        facts.append(str(report.opening))
    return facts


def _said(board: chess.Board, ply: Ply) -> str:
    """What is said of a move on this board: on the page below the board, and by a screen reader."""
    mark = ply.judgement.mark
    said = f"{numbered(board, ply.move)}{ply.sign or mark.sign}  {_value_text(ply)}".rstrip()
    if mark.sign or mark in (Mark.BOOK, Mark.FORCED):
        said += f", {mark.word}"
    if ply.reason is not None:
        said += f". {ply.reason}"
    if ply.verdict:
        said += f". Tablebases: {ply.verdict}"
    return said + _quoted(ply.words)


def _value_text(ply: Ply) -> str:
    """What a move is worth, "" for a mate on the board, which its name says."""
    return "" if ply.value.score.mate() == 0 else ply.value.text


def _quoted(words: str) -> str:
    """What a player or an annotator says, behind what is said here."""
    return f". \u201c{words}\u201d" if words else ""


def _error(report: GameReport, index: int, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """An error, and its lines to play through, which are added to `lines`."""
    ply, board = report.plies[index], report.boards[index]
    assert ply.reason is not None

    def playable(moves: Sequence[chess.Move], title: str, value: Value) -> dict[str, Any]:
        lines.append(line(board, moves, index, f"{title} ({value.text})", value))
        return {"number": len(lines) - 1, "text": board.variation_san(moves), "value": value.text}

    missed = []
    if ply.judgement.missed_win:
        missed.append("A win is gone.")
    if ply.judgement.missed_mate is not None and not ply.reason.names_missed_mate:
        missed.append(f"A mate in {ply.judgement.missed_mate} is missed.")
    move = numbered(board, ply.move)
    return {
        "index": index,
        "move": move,
        "mark": ply.judgement.mark,
        "player": "White" if ply.white else "Black",
        "change": f"{ply.better_value.text} → {ply.value.text}, \u2212{100 * ply.judgement.loss:.0f} %",
        "reason": " ".join([f"{ply.reason}.", *missed]),
        "better": playable(ply.better, f"Better: {numbered(board, ply.better[0])}", ply.better_value),
        "played": playable(ply.played, f"Played: {move}", ply.value),
    }


def _player(report: GameReport, color: chess.Color) -> dict[str, Any]:
    summary = report.summary(color)
    cells = [_percent(summary.accuracy)]
    cells += [_percent(report.summary(color, phase).accuracy) for phase in Phase]
    cells += [str(summary.counts[mark]) for mark in ERRORS]
    return {"name": report.player(color), "cells": [*cells, str(summary.missed_wins)]}


def _percent(accuracy: float | None) -> str:
    return "\u2013" if accuracy is None else f"{accuracy:.0f} %"


def _phase_sentence(report: GameReport, phase: Phase) -> str:
    """What happened in a phase: the mistakes of both sides, and what it made of White's expected result."""
    plies = report.plies
    indices = [index for index, ply in enumerate(plies) if ply.phase is phase]
    first, last = indices[0], indices[-1]
    start, end = plies[first - 1].value if first else report.value, plies[last].value
    before, after = round(100 * start.expected), round(100 * end.expected)
    if before == after:
        change = f"stayed at {after} %"
    else:
        change = f"{'rose' if after > before else 'fell'} from {before} % to {after} %"
    white, black = (sum(report.summary(color, phase).counts[mark] for mark in ERRORS) for color in SIDES)
    mistakes = f"White made {white or 'no'} mistake{'s' if white != 1 else ''} and Black {black or 'none'}"
    moves = f"moves {plies[first].number} to {plies[last].number}"
    return (
        f"{phase.value.capitalize()}, {moves}: {mistakes}; White's expected result {change}, "
        f"and {_standing(end)} at its end."
    )


def _standing(value: Value) -> str:
    """Who stands better."""
    share = round(max(value.expected, 1 - value.expected), 2)
    side = "White" if value.expected > 0.5 else "Black"
    if value.score.mate() == 0:
        return f"{side} mated"
    for least, words in STANDINGS:
        if share >= least:
            return f"{side} {words}"
    return "neither side was better"


def _moves(report: GameReport, errors: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """The list of moves: each with its mark and value, the error that it is, and other notes.

    The notes are where the book ends, missed mates, why a move is good, what tablebases and the PGN say.
    """
    moves: list[dict[str, Any]] = []
    verdict = ""
    begins_row = True
    for index, ply in enumerate(report.plies):
        mark, error = ply.judgement.mark, errors.get(index)
        notes = []
        if error is None and ply.reason is not None:
            notes.append(f"{ply.reason}.")
        if error is None and ply.judgement.missed_mate is not None:
            notes.append(f"Misses mate in {ply.judgement.missed_mate}.")
        if index + 1 == report.theory_plies:
            notes.append(f"End of the book: {report.opening}.")
        if ply.verdict and ply.verdict != verdict:
            notes.append(f"The tablebases say: {ply.verdict}.")
        verdict = ply.verdict
        if ply.words:
            notes.append(f"\u201c{ply.words}\u201d")
        moves.append(
            {
                "number": f"{ply.number}{'.' if ply.white else '...'}" if ply.white or begins_row else "",
                "side": "white" if ply.white else "black",
                "san": ply.san,
                "sign": mark.sign or ply.sign,
                "kind": mark.word if mark in COLOURED_MARKS else "",
                "value": "book" if mark is Mark.BOOK else _value_text(ply),
                "notes": notes,
                "error": error,
            }
        )
        begins_row = bool(notes or error)
    return moves


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
        f"{min(shares):.0f} % at least, {shares[-1]:.0f} % at the end. The list of moves says where it changed.",
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
