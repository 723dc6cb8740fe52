"""What Secateur writes into a game, and how a later analysis takes it out again. All else is the player's, and stays.

In a comment its words stand behind an embedded command, as the PGN standard has them: `[%secateur]`, or `[%secateur 2]`
where it also gave the move NAG 2. They end at the next `[%` or with the comment: what somebody writes between the two
is taken for Secateur's. A better line is a variation whose first move says `[%secateur line 5f3a01c2] better: +0.31`.
The number is made from its moves, so that a change shows.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

import chess
import chess.pgn

# Behind `[%`, where a comment has been split.
OWN = re.compile(r"secateur(?: (?P<nag>[1-6]))?\]|secateur line (?P<line>[0-9a-f]{8})\] better: \S+")
COMMAND = re.compile(r"\[%[^][]*\]")


def own_comment(nag: int, words: Sequence[str]) -> str:
    """The comment with these words, on a move that was given this NAG, 0 for none. "" if it would say nothing."""
    if not nag and not words:
        return ""
    return " ".join([f"[%secateur {nag}]" if nag else "[%secateur]", *words])


def line_comment(moves: Iterable[chess.Move], value: str) -> str:
    """The comment on the first move of a better line."""
    return f"[%secateur line {_checksum(moves)}] better: {value}"


def _checksum(moves: Iterable[chess.Move]) -> str:
    return f"{zlib.crc32(' '.join(move.uci() for move in moves).encode()):08x}"


def spoken(comment: str) -> str:
    """A comment without embedded commands."""
    return " ".join(COMMAND.sub(" ", comment).split())


def forget(game: chess.pgn.Game) -> None:
    """Take out what Secateur has written into a game.

    A better line goes if nobody has changed it. One with other moves, comments, NAGs or variations is the player's from
    then on, and only Secateur's words on its first move go.
    """
    nodes: list[chess.pgn.GameNode] = [game]
    while nodes:
        node = nodes.pop()
        node.variations[1:] = [branch for branch in node.variations[1:] if not _is_own_line(branch)]
        nodes += node.variations
        if "[%secateur" in node.comment:
            _forget_words(node)


def _is_own_line(first: chess.pgn.ChildNode) -> bool:
    """Whether a variation is a better line as it was written."""
    own = OWN.fullmatch(first.comment.removeprefix("[%"))
    if own is None or not own["line"] or first.nags or first.starting_comment or len(first.variations) > 1:
        return False
    rest = list(first.mainline())
    is_bare = not any(node.comment or node.nags or len(node.variations) > 1 for node in rest)
    return is_bare and _checksum(node.move for node in (first, *rest)) == own["line"]


def _forget_words(node: chess.pgn.GameNode) -> None:
    words, *commands = node.comment.split("[%")
    kept = [words]
    for command in commands:
        own = OWN.match(command)
        if own is None:
            kept.append(f"[%{command}")
        elif own["line"]:
            kept.append(command[own.end() :])
        elif own["nag"]:
            node.nags.discard(int(own["nag"]))
    node.comment = " ".join("".join(kept).split())
