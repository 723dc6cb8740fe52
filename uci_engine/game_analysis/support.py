"""Why a move is good, in words: its own tactic, that no other move is as good, and the threat that it meets."""

from __future__ import annotations

import chess

from uci_engine.game_analysis.boards import is_sacrifice, variation
from uci_engine.game_analysis.judgement import ONLY_MOVE_LOSS
from uci_engine.game_analysis.reasons import Reason
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line
from uci_engine.game_analysis.tactics.motif import DRAWS
from uci_engine.game_analysis.tactics.words import all_words, motif_words
from uci_engine.game_analysis.threats import Finder, nothing_found, threat_to
from uci_engine.game_analysis.values import Found, Value


def support_for(
    board: chess.Board, played: Found, others: Value | None = None, find: Finder = nothing_found
) -> Reason | None:
    """Why a move, the first of its line, is good; None where there is nothing to say.

    `others`: what the best other move is worth, if that is known. `find` searches for the threat that is met.
    """
    color = board.turn
    line = Line(board, played.line, color)
    motifs = deciding_motifs(line)
    if motifs and motifs[-1].kind in DRAWS and not played.value.is_drawn:
        motifs = ()
    parts = [motif_words(line, motif) for motif in motifs]
    if is_sacrifice(board, played.line) and played.value.expected_for(color) >= 0.5:
        parts.append(f"the sacrifice works: {variation(board, played.line)}")
    if others is not None and played.value.expected_for(color) - others.expected_for(color) >= ONLY_MOVE_LOSS:
        parts.append("every other move is much worse")
    # Where the line of the move has a tactic of its own for the other side, nothing was met.
    if not motifs and not deciding_motifs(Line(board, played.line, not color)):
        passed, threats = threat_to(board, played.value, find)
        parts += [f"it meets a threat: {all_words(passed, threats)}"] if threats else []
    return Reason.of(parts, motifs)
