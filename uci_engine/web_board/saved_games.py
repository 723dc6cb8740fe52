"""The file of the games that were played: PGN, written at every move.

Every game has its header GameId. Everything else in the file stays as it is, byte for byte, and so does what somebody
has edited of a game: that is then written once more, at the end.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import chess.pgn

from evaluation.files import locked, read_start, reason_of, replace_file
from uci_engine import __version__
from uci_engine.board.pgn import RESULTS
from uci_engine.web_board.desk import Answer
from uci_engine.web_board.questions import Fields
from uci_engine.web_board.report import PATIENCE_SECONDS, key_of

TIME_CONTROL = re.compile(r"-|\d{1,6}\+\d{1,4}")
GAME_ID = re.compile("[0-9a-f]{1,16}")
MAX_FILE_BYTES = 16 << 20
# Of a game as it was written, what may be other at the next move: its result, and its moves without an annotation.
_RESULT = f"(?:{'|'.join(map(re.escape, RESULTS))})"
_CLOCK = r"\{ \[%clk [\d:.]+\] \}"
_MOVES = rf"(?:(?:\d+\.+|[KQRBNOa-h][-\w=+#]*|{_CLOCK})[ \n])*{_RESULT}"


def save(path: Path, fields: Fields) -> Answer:
    """Add a game to a file, or replace the one with the same `id`. `elo` is that of the engine, 0 for full strength.

    `began`: when, in milliseconds since 1970. `control`: of the time, as PGN has it. The moves have their clocks.

    Returns the `key` of the game in the report. ValueError: the file cannot be read or written, or is too
    large; then it stays as it was.
    """
    number, result, elo = fields.get("id", ""), fields.get("result", "*"), fields.get("elo", 0)
    if not GAME_ID.fullmatch(number) or result not in RESULTS:
        raise ValueError("this is no game to save")
    game = fields.bare()
    sides = ["Player", f"Secateur {__version__} at {elo}" if elo else f"Secateur {__version__}"]
    white, black = sides if fields.get("color", "white") == "white" else reversed(sides)
    game.headers.update(Event="Game against Secateur", White=white, Black=black, Result=result, GameId=number)
    # Boards that reach it by different names have the same lock.
    path = path.resolve()
    try:
        game.headers.update(_time_headers(fields))
        with locked(path.with_name(f".{path.name}.lock"), PATIENCE_SECONDS):
            # It is read anew each time, because another program may change it.
            before = read_start(path, MAX_FILE_BYTES + 1, ValueError) if path.exists() else b""
            if len(before) > MAX_FILE_BYTES:
                raise ValueError("it is too large to add games to it")
            replace_file(path, _with_game(before, game))
    except (OSError, OverflowError, ValueError) as error:
        raise ValueError(f"the game cannot be saved in {path}: {reason_of(error)}") from None
    return {"key": key_of(str(game).encode())}


def _time_headers(fields: Fields) -> dict[str, str]:
    """When the game began, here, and its time control. Raises ValueError, OSError or OverflowError."""
    began, control = fields.get("began", 0), fields.get("control", "-")
    if not TIME_CONTROL.fullmatch(control):
        raise ValueError("this is no time control")
    day = datetime.fromtimestamp(began / 1000)
    times = {"Date": f"{day:%Y.%m.%d}", "Time": f"{day:%H:%M:%S}"} if began else {}
    return {**times, "TimeControl": control}


def _with_game(text: bytes, game: chess.pgn.Game) -> bytes:
    """The text of a file with this game, in place of what was written of it before. Nothing else in it changes.

    A game that somebody has edited stays, too: it is no longer what was written.
    """
    values = ((name, _RESULT if name == "Result" else re.escape(value)) for name, value in game.headers.items())
    headers = (rf'\[{name} "{value}"\]\n' for name, value in values)
    if written := re.search(f"^{''.join(headers)}\n{_MOVES}$".encode(), text, re.MULTILINE):
        return text[: written.start()] + str(game).encode() + text[written.end() :]
    gap = b"" if not text or text.endswith(b"\n\n") else b"\n" if text.endswith(b"\n") else b"\n\n"
    return text + gap + f"{game}\n\n".encode()
