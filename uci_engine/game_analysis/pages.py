"""Pages: that of an analysed game, the index of many, and what every page is made of.

A page is one file. It loads nothing: its content security policy allows its own style and its own script, by their
hashes, and nothing else; `uci_engine.web_board` adds its own server. Names and comments from games are text, never
markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import chess
import chess.svg

from uci_engine import __version__
from uci_engine.game_analysis.analysed_game import AnalysedGame, Ply
from uci_engine.game_analysis.boards import king_of, last_move, positions
from uci_engine.game_analysis.causes import Why
from uci_engine.game_analysis.judgement import ERRORS, INACCURACY_LOSS, WON, Mark, Phase
from uci_engine.game_analysis.values import Found, Value
from uci_engine.game_analysis.words import sentence
from uci_engine.text import joined

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
GENERATOR = f"Secateur {__version__}"
# Of more errors the worst are shown with their lines, so that the page stays small. All have their marks.
MAX_SHOWN_ERRORS = 40
# So many mistakes are the turning points of a game, and one kind of cause is a theme from so many on.
TURNING_POINTS = 3
LEAST_OFTEN = 3
THEMES = {
    Why.LOSS: "lost material",
    Why.MISSED_GAIN: "missed a gain",
    Why.REPLY: "allowed a strong reply",
    Why.THREAT: "did not meet a threat",
    Why.ONLY_MOVE: "missed the only good move",
    Why.ALLOWS_MATE: "allowed mate",
    Why.MISSES_MATE: "missed a mate",
}
SHOWN_HEADERS = ("Event", "Site", "Date", "Round", "TimeControl", "Termination")


@cache
def environment(folder: Path = TEMPLATES) -> Environment:
    """The templates of a folder and those here. ImportError: Jinja2 is not installed. Its text is for the user."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise ImportError("the pages need Jinja2: pip install Jinja2") from None
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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

    `folder` has the template, the `scripts`, which follow that of the board, and the `styles`, which follow that of all
    pages. `policy`: what the content security policy allows beside them.
    """
    from_template = environment(folder).get_template(template)
    from markupsafe import Markup

    css = "\n".join([_source(TEMPLATES / "page.css"), *(_source(folder / name) for name in styles)])
    script = "\n".join([_source(TEMPLATES / "board.js"), *(_source(folder / name) for name in scripts)])
    # No text of it may end the script element.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", r"\u003c")
    page = {
        "css": Markup(css),
        "script": Markup(script),
        "policy": f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; img-src data:; "
        f"base-uri 'none'; form-action 'none'{policy}",
        "data": Markup(text),
        "generator": GENERATOR,
        "pieces": Markup(_pieces()),
    }
    return from_template.render(page=page, **values).lstrip()


@cache
def _source(path: Path) -> str:
    return path.read_text("utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _pieces() -> str:
    """The pieces of python-chess, by short names: `wK`, `bP`."""
    drawn = []
    for letter, svg in chess.svg.PIECES.items():
        name = ("w" if letter.isupper() else "b") + letter.upper()
        svg = re.sub(r'id="[^"]*" class="[^"]*"', f'id="{name}"', svg, count=1)
        drawn.append(re.sub(r'style="([^"]*)"', _as_attributes, svg))
    return "".join(drawn)


def _as_attributes(match: re.Match[str]) -> str:
    """A style attribute as attributes of SVG: the policy of the page allows no style attributes."""
    declarations = (part.split(":") for part in match[1].split(";") if part.strip())
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in declarations)


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


def line(board: chess.Board, found: Found, title: str) -> dict[str, object]:
    """A line to play through from this board, with its value."""
    steps = [position(after, last_move(after)) for after in positions(board.copy(stack=False), found.line)[1:]]
    value = found.value
    return {"title": f"{title} ({value.text})", "value": value.text, "share": round(value.expected, 3), "steps": steps}


# Analysed games ------------------------------------------------------------------------------------------------------


def game_page(game: AnalysedGame, index: str = "") -> str:
    """The page of a game. `index`: the address of the index, "" for none."""
    errors = shown_errors(game)
    # Each has two lines: the better one, and the one that was played.
    data = {
        "positions": positions_of(game),
        "lines": [line(ply.board, found, title) | {"from": ply.index} for ply in errors for title, found in ply.lines],
        "errors": [ply.index + 1 for ply in errors],
    }
    return render(
        "game.html.j2",
        data,
        game=game,
        facts=_facts(game),
        index=index,
        graph=_graph(game),
        times=_times(game),
        phases=list(Phase),
        marks=ERRORS,
        sentences=_story(game),
        errors={ply.index: number for number, ply in enumerate(errors)},
        least_loss=round(100 * INACCURACY_LOSS),
    )


def positions_of(game: AnalysedGame) -> list[dict[str, object]]:
    """The positions of a game, each with what is said of the move that led there."""
    start = f"Start of the game. {game.value.text}{_quoted(game.words)}"
    return [
        position(game.boards[0], start, game.value),
        *(position(game.boards[ply.index + 1], _said(ply), ply.value) for ply in game.plies),
    ]


def shown_errors(game: AnalysedGame) -> list[Ply]:
    """The worst errors of a game, in the order of the moves."""
    worst = sorted(game.errors, key=lambda ply: -ply.judgement.loss)[:MAX_SHOWN_ERRORS]
    return sorted(worst, key=lambda ply: ply.index)


def index_row(game: AnalysedGame, page: str) -> dict[str, object]:
    """A game in the index, for JSON. `page` is its file, "" for none."""
    summaries = [game.summary(color) for color in chess.COLORS]
    cells = [
        game.result,
        str(game.opening or ""),
        game.header("Date").replace("?", "").strip("."),
        (len(game.plies) + 1) // 2,
        " \u2013 ".join(summary.percent for summary in summaries),
        *("/".join(str(summary.counts[mark]) for mark in ERRORS) for summary in summaries),
    ]
    return {"names": game.names, "page": page, "cells": cells}


def index_page(rows: Sequence[Mapping[str, object]]) -> str:
    """The index of many games, out of their rows, each with its `number` from 1.

    A game that could not be analysed has no `page`, but `names` and `remarks`, which say why.
    """
    return render("index.html.j2", {}, rows=rows)


# Parts of the page ---------------------------------------------------------------------------------------------------


def _facts(game: AnalysedGame) -> list[str]:
    values = [game.header(name) for name in SHOWN_HEADERS]
    facts = [value.replace(".??", "") for value in values if value.strip("?. ") not in ("", "-")]
    elos = [game.header(name) for name in ("WhiteElo", "BlackElo")]
    if all(elo.isdecimal() for elo in elos):
        facts.append(f"Elo {elos[0]} \u2013 {elos[1]}")
    if game.opening is not None:
        facts.append(str(game.opening))
    return facts


def _said(ply: Ply) -> str:
    """What is said of a move: on the page below the board, and by a screen reader."""
    mark = ply.judgement.mark
    said = f"{ply.name}{ply.sign or mark.sign}  {ply.value_text}".rstrip()
    if mark.sign or mark in (Mark.BOOK, Mark.FORCED):
        said += f", {mark.word}"
    if ply.causes:
        said += f". {sentence(ply.causes)}"
    if ply.verdict:
        said += f". Tablebases: {ply.verdict}"
    return said + _quoted(ply.words)


def _quoted(words: str) -> str:
    """What a player or an annotator says, behind what is said here."""
    return f". \u201c{words}\u201d" if words else ""


def _story(game: AnalysedGame) -> list[str]:
    """What decided the game: its turning points, the theme that recurs, and who let a won game slip."""
    sentences = []
    worst = sorted(game.errors, key=lambda ply: -ply.judgement.loss)[:TURNING_POINTS]
    if worst:
        named = [
            f"{ply.name}{ply.judgement.mark.sign} in the {ply.phase.value} (\u2212{100 * ply.judgement.loss:.0f} %)"
            for ply in sorted(worst, key=lambda ply: ply.index)
        ]
        sentences.append(f"{'Turning points' if len(named) > 1 else 'The turning point'}: {joined(named)}.")
    for color in chess.COLORS:
        errors = [ply for ply in game.errors if ply.board.turn == color]
        themes = Counter(cause.why for ply in errors for cause in ply.causes[:1])
        for why, count in themes.most_common(1):
            if why in THEMES and count >= LEAST_OFTEN and 2 * count >= len(errors):
                sentences.append(f"{game.player(color)} {THEMES[why]} in {count} of {len(errors)} mistakes.")
        highest = max((ply.value.expected_for(color) for ply in game.plies), default=0.5)
        if highest >= WON and game.result in ("1/2-1/2", "0-1" if color else "1-0"):
            how = "drew" if game.result == "1/2-1/2" else "lost"
            sentences.append(f"{game.player(color)} {how}, though a win was near: {100 * highest:.0f} %.")
    return sentences


# Graphs --------------------------------------------------------------------------------------------------------------


def _graph(game: AnalysedGame) -> dict[str, object]:
    """White's expected result after each move, from 0 at the top of the black part to 100."""
    heights = [round(100 - 100 * value.expected, 1) for value in (game.value, *(ply.value for ply in game.plies))]
    width = max(1, len(heights) - 1)
    points = "".join(f"L{x} {y:g}" for x, y in enumerate(heights))
    dots = dict.fromkeys(ERRORS, "")
    for ply in game.errors:
        dots[ply.judgement.mark] += f"M{ply.index + 1} {heights[ply.index + 1]:g}h0"
    shares = [100 - height for height in heights]
    return {
        "width": width,
        "area": f"M0 100{points}L{width} {heights[-1]:g}V100z",
        "dots": dots,
        "label": f"White's expected result after each move: {shares[0]:.0f} % at first, {max(shares):.0f} % at most, "
        f"{min(shares):.0f} % at least, {shares[-1]:.0f} % at the end. The list of moves says where it changed.",
    }


def _times(game: AnalysedGame) -> dict[str, str] | None:
    """The time of each move: bars of White above the middle, of Black below. None if the game has no times."""
    longest = max((ply.spent for ply in game.plies if ply.spent is not None), default=0.0)
    if not longest:
        return None
    paths = {chess.WHITE: "", chess.BLACK: ""}
    for ply in game.plies:
        if ply.spent:
            # The root lets short moves be seen beside long ones.
            height = 48 * (ply.spent / longest) ** 0.5
            paths[ply.board.turn] += f"M{ply.index + 0.1:g} 50h.8v{-height if ply.board.turn else height:.1f}h-.8z"
    return {"white": paths[chess.WHITE], "black": paths[chess.BLACK], "longest": _duration(longest)}


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
