"""Pages: that of an analysed game, the index of many, and what every page is made of.

A page is one file. It loads nothing: its content security policy allows its own style and script, by their hashes;
`uci_engine.web_board` adds its own server. Names and comments from games are text, never markup.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import chess
import chess.svg

from uci_engine import __version__
from uci_engine.board.pgn import is_unknown
from uci_engine.game_analysis.analysed_game import AnalysedGame, Ply
from uci_engine.game_analysis.boards import king_of, last_move, numbered, positions
from uci_engine.game_analysis.judgement import ERRORS, WON, Found, Mark, Phase, Value, accuracy_of
from uci_engine.text import joined

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
# The scripts of every page.
SHARED = ("board.js", "hands.js", "graph.js")
GENERATOR = f"Secateur {__version__}"
# Of more errors the worst are shown with their lines, so that the page stays small. All have their marks.
MAX_SHOWN_ERRORS = 40
# So many mistakes are the turning points of a game, and a kind of cause recurs from so many on.
TURNING_POINTS = 3
LEAST_OFTEN = 3
SHOWN_HEADERS = ("Event", "Site", "Date", "Round", "TimeControl", "Termination")


@cache
def environment(folder: Path = TEMPLATES) -> Environment:
    """The templates of a folder and those here. ImportError: Jinja2 is not installed. Its text is for the user."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        from uci_engine.tools.doctor import command_for

        raise ImportError(f"the pages need Jinja2: {command_for('analysis')}") from None
    made = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return made


def render(
    template: str,
    data: Mapping[str, object],
    *,
    folder: Path = TEMPLATES,
    scripts: Sequence[str] = ("page.js",),
    styles: Sequence[str] = (),
    policy: str = "",
    **values: object,
) -> str:
    """A page out of this template. `data` is what its scripts read. Raises ImportError as `environment`.

    `folder` has the template, the `scripts`, which follow those of the board, and the `styles`, which follow that of
    all pages. `policy`: what the content security policy allows beside them.
    """
    templates = environment(folder)
    css = _joined(TEMPLATES / "page.css", *(folder / name for name in styles))
    script = _joined(*(TEMPLATES / name for name in SHARED), *(folder / name for name in scripts))
    page = {
        "css": css,
        "script": script,
        "policy": f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; img-src data:; "
        f"base-uri 'none'; form-action 'none'{policy}",
        "data": data,
        "generator": GENERATOR,
        "pieces": _pieces(),
    }
    return templates.get_template(template).render(page=page, **values).lstrip()


def _joined(*paths: Path) -> str:
    return "\n".join(path.read_text("utf-8").strip() for path in paths)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _pieces() -> str:
    """The pieces of python-chess, with attributes in place of styles, which the policy of the page does not allow."""
    pieces = "".join(chess.svg.PIECES.values())
    return re.sub('style="([^"]*)"', lambda style: re.sub("([^: ]+): *([^;]+);? *", r'\1="\2" ', style[1]), pieces)


# Positions and lines for the script ----------------------------------------------------------------------------------


def position(board: chess.Board, say: str, value: Value | None = None) -> dict[str, object]:
    """A position as the script shows it, with its last move. `say`: what is said of it, also to a screen reader."""
    result: dict[str, object] = {"fen": board.board_fen(), "say": say}
    if board.move_stack:
        result["last"] = board.peek().uci()
    if board.is_check():
        result["check"] = chess.square_name(king_of(board, board.turn))
    if value is not None:
        result["share"] = round(value.expected, 3)
    return result


def line(name: str, board: chess.Board, found: Found) -> dict[str, object]:
    """A line to play through from this board, with its value."""
    steps = [position(after, last_move(after)) for after in positions(board.copy(stack=False), found.shown.line)[1:]]
    value = found.value
    return {"title": f"{name} ({value.shown})", "value": value.shown, "share": round(value.expected, 3), "steps": steps}


# Analysed games ------------------------------------------------------------------------------------------------------


def game_page(analysed: AnalysedGame, index: str = "") -> str:
    """The page of a game. `index`: the address of the index, "" for none."""
    errors = worst(analysed.errors)
    shown = positions_of(analysed)
    for ply in analysed.errors:
        shown[ply.index + 1]["error"] = {"mark": ply.judgement.mark.word}
    # Each error has two lines: the better one, and the one that was played.
    data = {
        "positions": shown,
        "lines": [
            line(f"{name}: {numbered(ply.board, found.line[0])}", ply.board, found) | {"from": ply.index}
            for ply in errors
            for name, found in (("Better", ply.best), ("Played", ply.played))
        ],
        "errors": [ply.index + 1 for ply in errors],
        # What may be tried in place of each.
        "legal": [{ply.board.uci(move): ply.board.san(move) for move in ply.board.legal_moves} for ply in errors],
    }
    return render(
        "game.html.j2",
        data,
        game=analysed.game,
        analysed=analysed,
        accuracy=accuracy_of,
        facts=[fact.replace(".??", "") for fact in map(analysed.game.header, SHOWN_HEADERS) if not is_unknown(fact)],
        index=index,
        longest=max((ply.spent for ply in analysed.plies if ply.spent is not None), default=0.0),
        phases=list(Phase),
        marks=ERRORS,
        sentences=_story(analysed),
        errors={ply.index: number for number, ply in enumerate(errors)},
    )


def positions_of(analysed: AnalysedGame, *, with_values: bool = True) -> list[dict[str, object]]:
    """The positions of a game, each with what is said of the move that led there: on the board without its value."""
    value = f" {analysed.value.shown}." if with_values else ""
    return [
        position(analysed.boards[0], f"Start of the game.{value}{_quoted(analysed.words)}", analysed.value),
        *(position(analysed.boards[ply.index + 1], _said(ply, with_values), ply.value) for ply in analysed.plies),
    ]


def worst(errors: Sequence[Ply], count: int = MAX_SHOWN_ERRORS) -> list[Ply]:
    """So many of these errors, which cost most, in the order of the moves."""
    return sorted(sorted(errors, key=lambda ply: -ply.judgement.loss)[:count], key=lambda ply: ply.index)


def index_row(analysed: AnalysedGame, page: str) -> dict[str, object]:
    """A game in the index, for JSON. `page` is its file, "" for none.

    Its template takes these rows, each with its `number` from 1. A game that could not be analysed has its `names`, and
    `remarks` that say why.
    """
    judgements = [analysed.judgements(color) for color in chess.COLORS]
    counts = [Counter(one.mark for one in each) for each in judgements]
    cells = [
        analysed.game.headers["Result"],
        str(analysed.opening or ""),
        analysed.game.header("Date").replace("?", "").strip("."),
        (len(analysed.plies) + 1) // 2,
        " \u2013 ".join(map(accuracy_of, judgements)),
        *("/".join(str(each[mark]) for mark in ERRORS) for each in counts),
    ]
    return {"names": analysed.game.names, "page": page, "cells": cells}


# Parts of the page ---------------------------------------------------------------------------------------------------


def _said(ply: Ply, with_value: bool) -> str:
    """What is said of a move: on the page below the board, and by a screen reader."""
    mark = ply.judgement.mark
    said = f"{ply.name}{ply.sign or mark.sign}  {ply.value_text if with_value else ''}".rstrip()
    if mark.sign or mark in (Mark.BOOK, Mark.FORCED):
        said += f", {mark.word}"
    if ply.why:
        said += f". {ply.why.removesuffix('.')}"
    if ply.tables:
        said += f". Tablebases: {ply.tables}"
    return f"{said}.{_quoted(ply.words)}"


def _quoted(words: str) -> str:
    """What a player or an annotator says, behind what is said here."""
    return f" \u201c{words}\u201d" if words else ""


def _story(analysed: AnalysedGame) -> list[str]:
    """What decided the game: its turning points, the cause that recurs, and who let a won game slip."""
    of_both = [ply for ply in analysed.plies if ply.judgement.mark.is_error]
    turning = [
        f"{ply.name}{ply.judgement.mark.sign} in the {ply.phase.value} (\u2212{100 * ply.judgement.loss:.0f} %)"
        for ply in worst(of_both, TURNING_POINTS)
    ]
    sentences = [f"Turning points: {joined(turning)}."] if turning else []
    for color in chess.COLORS:
        errors = [ply for ply in analysed.errors if ply.board.turn == color]
        causes = Counter(cause.why.value for ply in errors for cause in ply.causes[:1])
        for why, count in causes.most_common(1):
            if count >= LEAST_OFTEN and 2 * count >= len(errors):
                sentences.append(f"{analysed.game.player(color)}: {why} in {count} of {len(errors)} mistakes.")
        highest = max((ply.value.expected_for(color) for ply in analysed.plies), default=0.5)
        if highest >= WON and analysed.game.headers["Result"] in ("1/2-1/2", "0-1" if color else "1-0"):
            how = "drew" if analysed.game.headers["Result"] == "1/2-1/2" else "lost"
            sentences.append(f"{analysed.game.player(color)} {how}, though a win was near: {100 * highest:.0f} %.")
    return sentences
