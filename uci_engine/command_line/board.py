"""`secateur board`: a page on this machine, to play against the engine and to see what it thinks."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from uci_engine.command_line.arguments import (
    Parser,
    UsageError,
    add_core,
    add_options,
    engine_for,
    keyword_options,
    number,
)
from uci_engine.command_line.console import show
from uci_engine.text import printable

GAMES_FILE = "secateur-games.pgn"

DESCRIPTION = """\
Play against the engine in the browser, see what it thinks, and go through your games.

The page is served on this machine only, and its address, which nobody can guess, is printed. Ctrl-C ends it. From
another machine: ssh -L 8064:localhost:8064 HOST, secateur board --no-browser there, and open the address here. The
games that you play are written into a PGN file, move by move.
"""


def run(words: Sequence[str], default_core: str) -> int:
    """Run the command. Returns the exit code."""
    parser = _parser(default_core)
    options = parser.parse_args(words)
    if options.games and options.fen:
        parser.error("a PGN file and --fen cannot both be given")
    try:
        import_module("jinja2")
        from uci_engine.web_board import requests, saved_games, server
    except ImportError as error:
        if error.name is None or error.name.startswith("uci_engine"):
            raise
        raise ImportError(f"the board needs {error.name}: pip install 'secateur[board]'") from None
    from uci_engine.board.game import PositionError, read_fen

    try:
        start = read_fen(options.fen, False)[0].fen() if options.fen else None
        pgn = requests.file_text(Path(options.games), server.MAX_BODY_BYTES // 2) if options.games else ""
        listening = server.bound_socket(options.port)
    except (ValueError, OSError) as error:
        kind = "the position" if isinstance(error, PositionError) else "secateur board"
        raise UsageError(printable(f"{kind}: {error}"), exit_code=1) from None
    with listening, engine_for(keyword_options(options, default_threads=1), options.core) as engine:
        board = server.BoardServer(engine, saved_games.SavedGames(Path(options.pgn)), start, pgn)
        host, port = listening.getsockname()
        address = f"http://{host}:{port}/{board.token}/"
        show(address)
        if not options.no_browser:
            # Some browsers return only when they are closed.
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        board.run_on(listening)
    return 0


def _parser(default_core: str) -> Parser:
    parser = Parser("secateur board", DESCRIPTION)
    parser.add_argument("games", metavar="PGN", nargs="?", help="a file of games to go through")
    parser.add_argument("--fen", metavar="FEN", help="the position to play from (default: the start position)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    text = "the port (default: 8064, or a free one)"
    parser.add_argument("--port", metavar="N", type=number(0, 65535), help=text)
    text = f"where to write the games that are played (default {GAMES_FILE})"
    parser.add_argument("--pgn", metavar="FILE", default=GAMES_FILE, help=text)
    add_options(parser, "--option SyzygyPath=/tables", threads=" (default 1)", hash=" (default 64)")
    add_core(parser, default_core)
    return parser
