"""A report as annotated PGN: values, better lines, marks, the opening and what the tablebases say.

The game keeps its own comments, NAGs, variations and headers. Values of an earlier analysis are replaced. What Secateur
has written before is not in the game any more: `read_game` leaves it out.
Invariants: the moves stay, and python-chess reads them back. The same report of what was written gives the same text.
"""

from __future__ import annotations

import re

import chess
import chess.pgn
from chess.engine import Cp, PovScore

from uci_engine.game_analysis.judgement import MARK_NAGS
from uci_engine.game_analysis.own_words import line_comment, own_comment
from uci_engine.game_analysis.report import GameReport, Ply, played_moves
from uci_engine.game_analysis.values import Value

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
# What stands for a tablebase win in `[%eval]`.
TABLEBASE_WIN_CP = 10_000
EVAL = re.compile(r"\[%eval [^][]*\]")


def annotate(game: chess.pgn.Game, report: GameReport, annotator: str) -> str:
    """The text of a game of `read_game` with the annotations of its report. Changes the game.

    `annotator`: the name of this program, and its version.
    """
    headers = game.headers
    headers["Annotator"] = _with_annotator(headers.get("Annotator", ""), annotator)
    # It stands in the text of the moves, too, where any other words would be read as something else.
    if headers.get("Result") not in RESULTS:
        headers["Result"] = "*"
    if report.theory.name is not None:
        for name, value in (("ECO", report.theory.name.eco), ("Opening", report.theory.name.name)):
            if _is_unknown(headers.get(name, "")):
                headers[name] = value
    nodes, _ = played_moves(game)
    verdict = ""
    for index, (node, ply) in enumerate(zip(nodes, report.plies, strict=True)):
        parts = []
        if index + 1 == report.theory.plies and report.theory.name is not None:
            parts.append(f"{report.theory.name}: theory ends here.")
        if ply.reason is not None:
            parts.append(comment_of(ply))
            _add_line(node, ply)
        if ply.verdict != verdict and ply.verdict:
            parts.append(f"Tablebases: {ply.verdict}.")
        verdict = ply.verdict
        nag = 0 if node.nags & MARK_NAGS.keys() else ply.judgement.mark.nag
        if nag:
            node.nags.add(nag)
        comment = " ".join(EVAL.sub(" ", node.comment).split())
        node.comment = " ".join(filter(None, [comment, own_comment(nag, parts)]))
        # A mate on the board has no number that `[%eval]` could show.
        if ply.value.score.mate() != 0:
            node.set_eval(PovScore(_shown_score(ply.value), chess.WHITE), ply.depth)
    return game.accept(chess.pgn.StringExporter(columns=100))


def comment_of(ply: Ply) -> str:
    """What the mark of a move says, in words."""
    judgement = ply.judgement
    words = [f"{judgement.mark.word.capitalize()}."]
    if ply.reason is not None:
        words.append(f"{ply.reason.text}.")
    if judgement.missed_win:
        words.append("A win is gone.")
    return " ".join(words)


def _shown_score(value: Value) -> chess.engine.Score:
    if value.is_tablebase:
        return Cp(TABLEBASE_WIN_CP if value.expected > 0.5 else -TABLEBASE_WIN_CP)
    return value.score


def _is_unknown(value: str) -> bool:
    """Whether a header says nothing."""
    return not value.strip("?- ")


def _with_annotator(names: str, annotator: str) -> str:
    """The names with this one behind them, in place of that of another version."""
    others = [name.strip() for name in names.split(";") if name.split()[:1] != annotator.split()[:1]]
    return "; ".join([*(name for name in others if not _is_unknown(name)), annotator])


def _add_line(node: chess.pgn.ChildNode, ply: Ply) -> None:
    """Add the better line as a variation of its own, even if the player has one that begins with the same move."""
    branch: chess.pgn.GameNode = node.parent
    for move in ply.better:
        branch = branch.add_variation(move)
        if branch.parent is node.parent:
            branch.comment = line_comment(ply.better, ply.better_value.text)
