"""One's own mistakes as exercises: positions in which to find a better move, in a file of JSON beside the games.

The file has them by their positions, so that the same mistake is there once. What was solved stays solved.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evaluation.files import locked, read_start, reason_of, replace_file
from uci_engine.board.game import play
from uci_engine.game_analysis.boards import last_move
from uci_engine.web_board.desk import Answer
from uci_engine.web_board.questions import MAX_WORD, Fields
from uci_engine.web_board.saved_games import PATIENCE_SECONDS

FILE = "secateur-exercises.json"
MAX_FILE_BYTES = 16 << 20
MAX_EXERCISES = 5000


def update(folder: Path, fields: Fields) -> Answer:
    """Add the mistakes that were `found`, note that one is `solved`, and return all.

    Each has the `start` of its game, the `moves` with the mistake as the last one, and a `title`; `name` is that of the
    mistake. ValueError: one of them is none, or the file cannot be read or written; then it stays as it was.
    """
    given: list[object] = fields.get("found", [])
    found, solved = dict(map(_checked, given)), fields.get("solved", "")
    path = folder.resolve() / FILE
    try:
        if not (found or solved):
            return {"exercises": _read(path)}
        with locked(path.with_name(f".{FILE}.lock"), PATIENCE_SECONDS):
            known = dict([*(found | _read(path)).items()][:MAX_EXERCISES])
            if solved in known:
                known[solved]["solved"] = True
            replace_file(path, json.dumps(known, indent=1).encode())
    except (OSError, ValueError) as error:
        raise ValueError(f"the exercises cannot be kept in {path}: {reason_of(error)}") from None
    return {"exercises": known}


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Those of a file, none where there is no file. ValueError: it has something else."""
    if not path.exists():
        return {}
    known = json.loads(read_start(path, MAX_FILE_BYTES, ValueError))
    if not (isinstance(known, dict) and all(isinstance(each, dict) for each in known.values())):
        raise ValueError("it has no exercises")
    return known


def _checked(given: object) -> tuple[str, dict[str, Any]]:
    """An exercise by its position. ValueError: it is none."""
    fields = Fields(json.dumps(given).encode())
    board, moves = fields.start(), fields.moves()
    exercise = {"start": board.fen(), "moves": moves, "title": fields.get("title", "")[:MAX_WORD]}
    play(board, moves)
    if not moves:
        raise ValueError("an exercise has a mistake")
    name = last_move(board)
    board.pop()
    return board.epd(), exercise | {"name": name, "solved": False}
