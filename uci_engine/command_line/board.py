"""`secateur board`: a page on this machine, to play against the engine and to see what it thinks."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path

import chess

from evaluation.files import reason_of
from uci_engine.board.game import read_fen
from uci_engine.command_line.arguments import Parser, UsageError, add_options, analysis_engine, number
from uci_engine.command_line.console import show, warn
from uci_engine.text import printable
from uci_engine.tools.doctor import command_for

GAMES_FILE = "secateur-games.pgn"

DESCRIPTION = """\
Play against the engine in the browser, see what it thinks, and go through your games.

The page is served on this machine only, and its address is printed. Nobody can guess it, and it stays the same. Ctrl-C
ends the server. From another machine: ssh -L 8064:localhost:8064 HOST, secateur board --no-browser there, and open the
address here. The games that you play are written into a PGN file, move by move.
"""


def run(words: Sequence[str], core: str) -> int:
    """Run the command. Returns the exit code."""
    options = _parser(core).parse_args(words)
    try:
        import_module("jinja2")
        from uci_engine.web_board import address, desk, server
    except ImportError as error:
        if error.name is None or error.name.startswith("uci_engine"):
            raise
        raise ImportError(f"the board needs {error.name}: {command_for('board')}") from None
    games = _games_file() if options.pgn is None else Path(options.pgn)
    try:
        if games.is_dir() or not games.parent.is_dir():
            raise ValueError(f"{games} cannot be a file: name another one with --pgn")
        start, notes = read_fen(options.fen, chess960=None)
        listening = server.bound_socket(options.port)
    except ValueError as error:
        raise UsageError(printable(f"secateur board: {error}"), exit_code=1) from None
    for note in notes:
        warn(note)
    with listening, analysis_engine(options) as engine, closing(desk.Desk(engine)) as own_desk, ExitStack() as leading:
        board_server = server.BoardServer(own_desk, games, start)
        host, port = listening.getsockname()
        place = f"http://{host}:{port}/{board_server.token}/"
        if options.port is None and port != server.USUAL_PORT:
            warn(f"Port {server.USUAL_PORT} is in use, perhaps by another board: this one has an address of its own.")
        # Until the server runs, an end by a signal must not leave the file that leads to the page.
        for ending in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ending, signal.default_int_handler)
        board_server.on_open = leading.close
        if not options.no_browser:
            warn("Ctrl-C ends the board. If none appears in the browser, open this address there:")
            try:
                address.open_browser(place, leading)
            except OSError as error:
                warn(f"secateur board: the browser cannot be opened: {reason_of(error)}")
        show(place)
        board_server.run(sockets=[listening])
    return 0


def _games_file() -> Path:
    """The file for the games: in this folder, or at home where this is that of the sources, no place for games."""
    here = Path(GAMES_FILE).resolve()
    is_source = (here.parent / "uci_engine" / "__init__.py").exists() and not here.exists()
    return Path.home() / GAMES_FILE if is_source else here


def _parser(core: str) -> Parser:
    parser = Parser("secateur board", DESCRIPTION)
    text = "the position to play from, also of Chess960 (default: the start position)"
    parser.add_argument("--fen", metavar="FEN", default=chess.STARTING_FEN, help=text)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", metavar="N", type=number(0, 65535), help="the port (default: 8064, or a free one)")
    text = f"where to write your games (default {GAMES_FILE}, in this folder or, among the sources, at home)"
    parser.add_argument("--pgn", metavar="FILE", help=text)
    add_options(parser, core, threads=1)
    return parser
