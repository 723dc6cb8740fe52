"""What every page is made of: templates, the style and the script inside the page, pieces, positions.

A page is one file. It loads nothing: its content security policy allows its own style and its own script, by their
hashes, and nothing else; `uci_engine.web_board` adds its own server. Names and comments from games are text, never
markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import chess.svg

from uci_engine import __version__
from uci_engine.game_analysis.boards import last_move, positions
from uci_engine.game_analysis.tactics.attacks import king_of
from uci_engine.game_analysis.values import Found, Value

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
GENERATOR = f"Secateur {__version__}"
# Characters that could end the script element, or that old parsers of JSON take for the end of a line.
_UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


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
    data: Mapping[str, Any],
    *,
    folder: Path = TEMPLATES,
    scripts: Sequence[str] = ("page.js",),
    styles: Sequence[str] = (),
    policy: str = "",
    **values: Any,
) -> str:
    """A page out of this template. `data` is what its scripts read. Raises ImportError as `environment`.

    `folder` has the template, the `scripts`, which follow that of the board, and the `styles`, which follow that of all
    pages. `policy`: what the content security policy allows beside them.
    """
    from_template = environment(folder).get_template(template)
    from markupsafe import Markup

    css = "\n".join([_source(TEMPLATES / "page.css"), *(_source(folder / name) for name in styles)])
    script = "\n".join([_source(TEMPLATES / "board.js"), *(_source(folder / name) for name in scripts)])
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).translate(_UNSAFE)
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


def position(board: chess.Board, say: str, value: Value | None = None) -> dict[str, Any]:
    """A position as the script shows it, with its last move. `say`: what is said of it, also to a screen reader."""
    result: dict[str, Any] = {"fen": board.board_fen(), "say": say}
    if board.move_stack:
        result["last"] = board.peek().uci()
    if board.is_check():
        result["check"] = chess.square_name(king_of(board, board.turn))
    if value is not None:
        result["share"] = round(value.expected, 3)
    return result


def line(board: chess.Board, found: Found, title: str) -> dict[str, Any]:
    """A line to play through from this board, with its value."""
    steps = [position(after, last_move(after)) for after in positions(board.copy(stack=False), found.line)[1:]]
    value = found.value
    return {"title": f"{title} ({value.text})", "value": value.text, "share": round(value.expected, 3), "steps": steps}
