"""A report as annotated PGN: values, better lines, marks, the opening and what the tablebases say.

The game keeps its own comments and variations. Values, marks and words of an earlier analysis are replaced.
Invariant: the moves stay, and python-chess reads them back.
"""

from __future__ import annotations

import re

import chess
import chess.pgn
from chess.engine import Cp, PovScore

from uci_engine.game_analysis.judgement import MARK_NAGS, Mark
from uci_engine.game_analysis.report import GameReport, Ply, played_moves
from uci_engine.game_analysis.values import Value

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
# What stands for a tablebase win in `[%eval]`.
TABLEBASE_WIN_CP = 10_000
# What `annotate` writes into comments. It stands behind what was there before, and ahead of `[%eval]`.
OWN_WORDS = re.compile(
    r"\s*(?:[A-E]\d\d [^\[]*?: theory ends here\.|(?:Inaccuracy|Mistake|Blunder)\. [^\[]*|Tablebases: [^\[]*)"
)


def annotate(game: chess.pgn.Game, report: GameReport, annotator: str) -> str:
    """The text of the game with the annotations of its report. Changes the game."""
    headers = game.headers
    is_own = headers.get("Annotator", "").split()[:1] == annotator.split()[:1]
    headers["Annotator"] = annotator
    # It stands in the text of the moves, too, where any other words would be read as something else.
    if headers.get("Result") not in RESULTS:
        headers["Result"] = "*"
    if report.theory.name is not None:
        headers["ECO"] = report.theory.name.eco
        headers["Opening"] = report.theory.name.name
    nodes, _ = played_moves(game)
    verdict = ""
    for index, (node, ply) in enumerate(zip(nodes, report.plies, strict=True)):
        _set_mark(node, ply.judgement.mark)
        # That of an earlier analysis.
        node.set_eval(None)
        if is_own:
            node.comment = OWN_WORDS.sub("", node.comment).strip()
        parts = []
        if index + 1 == report.theory.plies and report.theory.name is not None:
            parts.append(f"{report.theory.name}: theory ends here.")
        if ply.reason is not None:
            parts.append(comment_of(ply))
            _add_line(node, ply)
        if ply.verdict != verdict and ply.verdict:
            parts.append(f"Tablebases: {ply.verdict}.")
        verdict = ply.verdict
        node.comment = " ".join(filter(None, [node.comment, *parts]))
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


def _set_mark(node: chess.pgn.ChildNode, mark: Mark) -> None:
    node.nags -= MARK_NAGS
    if mark.nag:
        node.nags.add(mark.nag)


def _add_line(node: chess.pgn.ChildNode, ply: Ply) -> None:
    """Add the better line as a variation. A variation that begins with the same move stays, and is made longer."""
    if not ply.better:
        return
    branch: chess.pgn.GameNode = node.parent
    for move in ply.better:
        if branch.has_variation(move):
            branch = branch.variation(move)
        else:
            branch = branch.add_variation(move)
            if branch.parent is node.parent:
                branch.comment = f"better: {ply.better_value.text}"
