"""`secateur explain`: the legal moves of a position compared, or one move explained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

import chess

from uci_engine.command_line.arguments import (
    Parser,
    UsageError,
    add_analysis,
    add_position,
    analysis_engine,
    read_game,
)
from uci_engine.command_line.console import show
from uci_engine.text import quoted

DEFAULT_SECONDS = 2.0

DESCRIPTION = """\
Compare the legal moves of a position: value, depth and line of each, best first.

With --move, explain one move: the line that supports or refutes it, what is better, and why.
"""


def run(words: Sequence[str], core: str) -> int:
    """Run the command. Returns the exit code."""
    options = _parser(core).parse_args(words)
    from uci_engine.game_analysis.examination import compare_moves, examine

    board, limit = read_game(options, options.chess960).position, options.limit
    move = None if options.move is None else _move(board, options.move)
    with analysis_engine(options) as engine:
        found = compare_moves(engine, board, limit) if move is None else examine(engine, board, move, limit)
    show(json.dumps(found.data(), indent=1) if options.json else str(found))
    return 0


def _parser(core: str) -> Parser:
    parser = Parser("secateur explain", DESCRIPTION)
    add_position(parser)
    parser.add_argument("--move", metavar="MOVE", help="the move to explain, for example e2e4 or Nf3")
    add_analysis(parser, core, DEFAULT_SECONDS, "all searches")
    parser.add_argument("--json", action="store_true", help="show JSON")
    return parser


def _move(board: chess.Board, text: str) -> chess.Move:
    """A legal move, in UCI notation or in SAN. Raises UsageError."""
    for parse in (board.parse_uci, board.parse_san):
        with suppress(ValueError):
            if move := parse(text):
                return move
    raise UsageError(f"{quoted(text)} is no legal move here")
