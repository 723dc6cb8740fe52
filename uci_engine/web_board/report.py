"""What the analysis of games has found, kept beside them in a file of JSON: for the report over all, and as exercises.

A game is known by its text: it is analysed once, by the board or by `secateur analyse`, and again when it has changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import chess

from evaluation.files import locked, read_start, reason_of, replace_file
from uci_engine.board.pgn import seconds_of
from uci_engine.game_analysis.analysed_game import AnalysedGame, Ply
from uci_engine.game_analysis.judgement import Mark
from uci_engine.web_board.desk import Answer
from uci_engine.web_board.questions import MAX_WORD, Fields

REPORT_FILE = "secateur-report.json"
KEY = re.compile("[0-9a-f]{16}")
MAX_FILE_BYTES = 64 << 20
# Of a file the last ones stay. So many files of `secateur analyse` are read.
MAX_GAMES, MAX_FILES = 2000, 100
PATIENCE_SECONDS = 10.0
# What the clock shows after a move, by the first number of seconds that is not less.
CLOCKS = ((30, "less than 30 s left"), (180, "30 s to 3 min left"), (float("inf"), "more than 3 min left"))


class Report:
    """What is known of the games of a folder. May be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._path = folder.resolve() / REPORT_FILE

    def all(self, fields: Fields) -> Answer:
        """The facts of all games by their keys. What `secateur analyse` has kept in the folders here is among them.

        In the game `solved` the mistake with this `index` is noted as solved. ValueError: a file cannot be read.
        """
        known: dict[str, Any] = {}
        for path in (*islice(self._path.parent.glob(f"*/{REPORT_FILE}"), MAX_FILES), self._path):
            known |= _read(path)
        facts = known.get(fields.get("solved", ""))
        if facts is not None:
            facts["solved"] = sorted({*facts.get("solved", []), fields.get("index", 0)})
            self.add({fields.get("solved", ""): facts})
        return {"report": known}

    def keep(self, key: str, analysed: AnalysedGame) -> None:
        """Keep the facts of a game. One that is in no file is known by its moves. ValueError: they cannot be kept."""
        facts = facts_of(analysed)
        self.add({key if KEY.fullmatch(key) else key_of(json.dumps(facts["moves"]).encode()): facts})

    def add(self, found: dict[str, Answer]) -> None:
        """Keep the facts of games by their keys. What was solved stays solved. ValueError: they cannot be kept."""
        try:
            with locked(self._path.with_name(f".{REPORT_FILE}.lock"), PATIENCE_SECONDS):
                known = _read(self._path)
                for key, facts in found.items():
                    known[key] = known.pop(key, {}) | facts
                replace_file(self._path, json.dumps(dict([*known.items()][-MAX_GAMES:])).encode())
        except OSError as error:
            raise ValueError(f"{self._path} cannot be written: {reason_of(error)}") from None


def _read(path: Path) -> dict[str, Any]:
    """The facts of games in a file, by their keys, none where there is no file. ValueError: it has something else."""
    if not path.exists():
        return {}
    text = read_start(path, MAX_FILE_BYTES, ValueError)
    try:
        return {key: {**facts} for key, facts in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise ValueError(f"{path} has something else than Secateur writes: remove it or rename it") from None


def key_of(text: bytes) -> str:
    """What a game is known by: its text, whatever its blanks and ends of lines."""
    return hashlib.sha256(b"".join(text.split())).hexdigest()[:16]


def facts_of(analysed: AnalysedGame) -> dict[str, object]:
    """The `names`, the `opening`, `start` and `moves` of a game, and the moves that were `judged`."""
    opening = analysed.opening
    return {
        "names": {chess.COLOR_NAMES[color]: analysed.game.player(color)[:MAX_WORD] for color in chess.COLORS},
        "opening": opening.name.partition(":")[0] if opening else "no opening with a name",
        "start": analysed.boards[0].fen(),
        "moves": [before.uci(after.peek()) for before, after in pairwise(analysed.boards)],
        "judged": [_fact(ply) for ply in analysed.plies if ply.judgement.weight],
    }


def _fact(ply: Ply) -> dict[str, object]:
    """What a move is counted by, what it `lost` of the expected result, and of a mistake its `cause` and its `name`.

    Inaccuracies are no mistakes.
    """
    mark, left = ply.judgement.mark, seconds_of(ply.node.clock)
    fact: dict[str, object] = {
        "index": ply.index,
        "side": ply.player.lower(),
        "phase": ply.phase.value,
        "clock": "no clock" if left is None else next(words for most, words in CLOCKS if left <= most),
        "lost": round(ply.judgement.loss, 3),
    }
    if mark not in (Mark.MISTAKE, Mark.BLUNDER):
        return fact
    cause = ply.causes[0].why.value if ply.causes else "no single reason found"
    return fact | {"cause": cause, "name": f"{ply.name}{mark.sign}"}
