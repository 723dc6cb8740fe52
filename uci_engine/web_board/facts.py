"""What an analysed game adds to the report over many games: facts of its moves, as JSON has them."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import chess

from uci_engine.game_analysis.analysed_game import AnalysedGame, Ply
from uci_engine.game_analysis.judgement import Mark
from uci_engine.game_analysis.pgn import seconds_of

# Maximum length of a name or a remark, in characters.
MAX_WORD = 200
# What the clock shows after a move, by the first number of seconds that is not less.
CLOCKS = ((30, "less than 30 s left"), (180, "30 s to 3 min left"), (float("inf"), "more than 3 min left"))


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
