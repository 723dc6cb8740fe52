"""What can be plotted: games with scores, depths and times out of PGN files, ratings out of kept match results.

What a file does not say is None and never a guess.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import chess
import chess.pgn
import numpy as np

from lib.elo import DEVIATIONS_95, elo_of_score
from lib.errors import ProgramError
from lib.files import read_text
from lib.games.pgn import game_texts, read_game

MOVE_TIME = re.compile(r"\[%emt\s+(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?)\s*\]")
# What XBoard, Cute Chess and fastchess write behind a move: score/depth and perhaps the time, as in `+0.31/12 1.2s`,
# `-M4/20 0.5s`, `+0.31/12 1:05`. A decimal point or a mate is asked for, since `1/2` is a result.
REMARK = re.compile(
    r"(?:^|[\s)])(?P<sign>[+-]?)(?:[M#](?P<mate>\d{1,4})|(?P<pawns>\d{1,6}\.\d{1,4}))/(?P<depth>\d{1,3})(?![\w.-])"
    r"(?:/\d{1,3})?(?:,?\s+(?:(?P<minutes>\d{1,4}):)?(?P<amount>\d{1,7}(?:\.\d{1,6})?)\s?(?P<unit>ms|s)?(?![\w.:]))?"
)
CONTROL = re.compile(r"(?P<base>\d+(?:\.\d+)?)(?:\+(?P<increment>\d+(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class PlottedMove:
    """A move: the number as in PGN, who made it, and what its engine said (White's view; mate in moves)."""

    number: int
    color: chess.Color
    pawns: float | None
    mate: int | None
    depth: int | None
    seconds: float | None


@dataclass(frozen=True)
class PlottedGame:
    """A game. `where`: its file and number."""

    where: str
    white: str
    black: str
    result: str
    ending: str
    moves: tuple[PlottedMove, ...]


@dataclass(frozen=True, slots=True)
class Rating:
    """Elo relative to the anchor, and half the width of the 95 % interval; zero for the anchor itself."""

    name: str
    elo: float
    error: float
    games: int


def read_games(paths: Iterable[Path]) -> Iterator[PlottedGame]:
    """All games of these files; raises ProgramError and OSError. A game that breaks off is taken as far as it goes."""
    return map(_read, _texts(paths))


def read_game_number(paths: Iterable[Path], number: int) -> PlottedGame:
    """The game with this number, from 1, over all files. Raises ProgramError when there is none, and OSError."""
    found = next(islice(_texts(paths), number - 1, None), None) if number > 0 else None
    if found is None:
        raise ProgramError(f"there is no game {number}")
    return _read(found)


def _texts(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Where each game stands, and its text."""
    for path in paths:
        number = 0
        for number, text in enumerate(game_texts(path), start=1):
            yield f"{path}, game {number}", text
        if not number:
            raise ProgramError(f"{path}: no game in it")


def _read(found: tuple[str, str]) -> PlottedGame:
    where, text = found
    try:
        return _plotted(read_game(text), where)
    except ValueError as error:
        raise ProgramError(f"{where}: {error}") from None


def _plotted(game: chess.pgn.Game, where: str) -> PlottedGame:
    clocks = {color: _control(game.headers, color) for color in chess.COLORS}
    moves = []
    for node in game.mainline():
        color = not node.turn()
        remark = _read_remark(node.comment, color)
        score = node.eval()
        white = None if score is None else score.white()
        centipawns = None if white is None or white.is_mate() else white.score()
        depth, seconds = node.eval_depth(), _seconds_used(node, clocks, color)
        moves.append(
            PlottedMove(
                number=(node.ply() + 1) // 2,
                color=color,
                pawns=remark.pawns if white is None else None if centipawns is None else centipawns / 100,
                mate=remark.mate if white is None else white.mate(),
                depth=remark.depth if depth is None else depth,
                seconds=remark.seconds if seconds is None else seconds,
            )
        )
    headers = game.headers
    ending = headers.get("EndReason") or headers.get("Termination") or ""
    return PlottedGame(where, headers["White"], headers["Black"], headers["Result"], ending, tuple(moves))


class _Remark(NamedTuple):
    """What a comment of other programs says (White's view; mate in moves)."""

    pawns: float | None = None
    mate: int | None = None
    depth: int | None = None
    seconds: float | None = None


def _read_remark(comment: str, color: chess.Color) -> _Remark:
    """From a comment such as `+0.31/12 1.2s`, where the score is the mover's."""
    match = REMARK.search(comment)
    if match is None:
        return _Remark()
    side = 1 if color == chess.WHITE else -1
    if match["sign"] == "-":
        side = -side
    pawns = None if match["pawns"] is None else side * float(match["pawns"])
    # A mate in 0 has been given.
    mate = None if match["mate"] is None else side * max(1, int(match["mate"]))
    seconds = None
    if match["amount"] is not None:
        unit = 0.001 if match["unit"] == "ms" else 1.0
        seconds = int(match["minutes"] or 0) * 60 + unit * float(match["amount"])
    return _Remark(pawns, mate, int(match["depth"]), seconds)


def _control(headers: Mapping[str, str], color: chess.Color) -> tuple[float | None, float]:
    """The time on the clock at first, None if that is not known, and the increment, in seconds."""
    own = headers.get("WhiteTimeControl" if color == chess.WHITE else "BlackTimeControl")
    match = CONTROL.fullmatch(own or headers.get("TimeControl") or "")
    return (None, 0.0) if match is None else (float(match["base"]), float(match["increment"] or 0))


def _seconds_used(
    node: chess.pgn.ChildNode, clocks: dict[chess.Color, tuple[float | None, float]], color: chess.Color
) -> float | None:
    """From `[%emt]`, or else from the clock before and after; `clocks` is brought up to date."""
    before, increment = clocks[color]
    after = node.clock()
    if after is not None:
        clocks[color] = (after, increment)
    match = MOVE_TIME.search(node.comment)
    if match is not None:
        return int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + float(match[3])
    if before is None or after is None:
        return None
    used = before + increment - after
    # Less than nothing: time was added for reaching a control, and how much is not said.
    return used if used >= 0 else None


def read_pairings(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The pairings of kept match results, in the order of the files.

    Each file is JSON with a list under `pairings`, each `{"first": NAME, "second": NAME, "wins", "draws", "losses",
    "elo", "elo_error_95"}` as `match.py --json` writes it, from the first engine's side; the last two may be null or
    absent, then they are taken from the games. Raises ProgramError and OSError.
    """
    pairings = []
    for path in paths:
        try:
            data = json.loads(read_text(path))
            rows = data["pairings"]
            for row in rows:
                counts = [int(row[key]) for key in ("wins", "draws", "losses")]
                if min(counts) < 0:
                    raise ValueError("less than no games")
                elo, error = row.get("elo"), row.get("elo_error_95")
                known = isinstance(elo, int | float) and isinstance(error, int | float) and error > 0
                if sum(counts):
                    elo, error = (float(elo), float(error)) if known else elo_of_counts(*counts)
                    pairings.append(
                        {"first": str(row["first"]), "second": str(row["second"]), "games": sum(counts)}
                        | {"elo": elo, "error": error}
                    )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ProgramError(f"{path}: no match results: {type(error).__name__}: {error}") from None
    if not pairings:
        raise ProgramError("no games in these results")
    return pairings


def elo_of_counts(wins: int, draws: int, losses: int) -> tuple[float, float]:
    """Elo and half the width of its 95 % interval; half a win and half a loss are added, so that both are finite."""
    games = wins + draws + losses + 1
    score = (wins + draws / 2 + 0.5) / games
    variance = ((wins + 0.5) * (1 - score) ** 2 + draws * (0.5 - score) ** 2 + (losses + 0.5) * score**2) / games
    slope = 400 / math.log(10) / (score * (1 - score))
    return elo_of_score(score), DEVIATIONS_95 * slope * math.sqrt(variance / games)


def fit_ratings(pairings: Sequence[Mapping[str, Any]], anchor: str | None = None) -> list[Rating]:
    """The ratings that fit all pairings best, each weighed by its error; in the order in which names appear.

    The anchor (by default the first name) is 0. Raises ProgramError for a name that no games connect with it.
    """
    names = list(dict.fromkeys(pairing[side] for pairing in pairings for side in ("first", "second")))
    anchor = names[0] if anchor is None else anchor
    if anchor not in names:
        raise ProgramError(f"{anchor!r} has not played; there are {', '.join(names)}")
    free = [name for name in names if name != anchor]
    design = np.zeros((len(pairings), len(free)))
    seen = np.zeros(len(pairings))
    for row, pairing in enumerate(pairings):
        weight = DEVIATIONS_95 / pairing["error"]
        for side, sign in (("first", weight), ("second", -weight)):
            if pairing[side] != anchor:
                design[row, free.index(pairing[side])] += sign
        seen[row] = pairing["elo"] * weight
    if np.linalg.matrix_rank(design) < len(free):
        raise ProgramError(f"not all of {', '.join(names)} are connected with {anchor} by games")
    covariance = np.linalg.inv(design.T @ design)
    elo = dict(zip(free, covariance @ design.T @ seen, strict=True))
    errors = dict(zip(free, DEVIATIONS_95 * np.sqrt(np.diag(covariance)), strict=True))
    games = {name: sum(each["games"] for each in pairings if name in (each["first"], each["second"])) for name in names}
    return [Rating(name, float(elo.get(name, 0.0)), float(errors.get(name, 0.0)), games[name]) for name in names]
