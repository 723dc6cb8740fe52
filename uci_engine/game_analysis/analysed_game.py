"""A game analysed: what each move was worth and why, as the page shows it; and the annotated PGN.

An annotated game keeps its own comments, NAGs, variations and headers. Values of an earlier analysis are replaced.

Invariants: the moves stay, and python-chess reads them back. The same analysis of what was written gives the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import chess
import chess.pgn
from chess.engine import Limit, PovScore

from uci_engine.board.pgn import MOVE_SIGNS, ReadGame, checksum, is_unknown, spoken, times_of
from uci_engine.board.pieces import phase_weight
from uci_engine.book.book import OpeningName, name_of
from uci_engine.game_analysis.boards import numbered, positions
from uci_engine.game_analysis.examination import ExaminedMove, examined
from uci_engine.game_analysis.judgement import Judgement, Mark, Phase, Value, is_book_move, phases_of
from uci_engine.game_analysis.searches import Analyser, Searches, Verdicts, limit_text
from uci_engine.game_analysis.words import sentence

# To players below this rating inaccuracies say little.
FOLDED_BELOW = 1600
EVAL = re.compile(r"\[%eval [^][]*\]")


@dataclass(frozen=True, kw_only=True)
class Ply(ExaminedMove):
    """One move of the game, the one with this index.

    `node` is that of the game. `causes` are told where it has a mark. `spent`: the seconds that it took. `notes`:
    sentences on the end of the book, a short mate that was missed, and a new verdict. `sign` and `words` are those of
    the player or an annotator, from the PGN, "" for nothing. `is_folded`: it is an inaccuracy that is shown to those
    who ask for it.
    """

    index: int
    node: chess.pgn.ChildNode
    phase: Phase
    spent: float | None
    notes: tuple[str, ...]
    sign: str
    words: str
    is_folded: bool = False

    @property
    def value(self) -> Value:
        return self.after.value

    @property
    def player(self) -> str:
        return "White" if self.board.turn else "Black"

    @property
    def value_text(self) -> str:
        """What it is worth, "" for a mate on the board, which its name says."""
        return "" if self.value.score.mate() == 0 else self.value.shown

    @property
    def change(self) -> str:
        """What it cost: the value of the best move, its own, and the loss of expected result."""
        return f"{self.best.value.shown} \u2192 {self.value.shown}, \u2212{100 * self.judgement.loss:.0f} %"

    @property
    def why(self) -> str:
        """Why it is an error or good, in sentences; "" for nothing. Of an error it says at least what is better."""
        sentences = []
        if self.causes:
            sentences.append(f"{sentence(self.causes)}.")
        elif self.judgement.mark.is_error:
            sentences.append(f"Better is {numbered(self.board, self.best.line[0])}: no single reason found.")
        if self.judgement.missed_win:
            sentences.append("A win is gone.")
        return " ".join(sentences + self.who)

    @property
    def remarks(self) -> list[str]:
        """All that is to be said of it beside its value, `why` first, each as a paragraph."""
        return [*filter(None, [self.why]), *self.notes, *([f"\u201c{self.words}\u201d"] if self.words else [])]


@dataclass(frozen=True, slots=True)
class AnalysedGame:
    """One analysed game. `boards` are its positions, `value` is what the first is worth, `words` a comment on it.

    `effort` is the limit for each move, in words. `remarks`: sentences on what could not be read or analysed. `side` is
    that of the player for whom it is, None for both.
    """

    game: ReadGame
    boards: list[chess.Board]
    value: Value
    plies: tuple[Ply, ...]
    opening: OpeningName | None
    effort: str
    remarks: tuple[str, ...]
    words: str
    side: chess.Color | None = None

    def __repr__(self) -> str:
        return f"<AnalysedGame {self.game.names}: {len(self.plies)} plies, {len(self.errors)} errors>"

    def judgements(self, color: chess.Color, phase: Phase | None = None) -> list[Judgement]:
        """Those of the moves of one player, in one phase or in the whole game."""
        return [ply.judgement for ply in self.plies if ply.board.turn == color and phase in (None, ply.phase)]

    @property
    def errors(self) -> list[Ply]:
        """The inaccuracies, mistakes and blunders of the player for whom it is."""
        return [ply for ply in self.plies if ply.judgement.mark.is_error and self.side in (None, ply.board.turn)]


def analyse_game(
    game: ReadGame,
    analyser: Analyser,
    limit: Limit,
    on_position: Callable[[float], None] = lambda share: None,
    rating: int | None = None,
    side: chess.Color | None = None,
) -> AnalysedGame:
    """Analyse the main line of a game. `rating`: of both players, None for those of the PGN. `side`: for one of them.

    `limit`: the effort for each move, a time, nodes or a depth. `on_position` is told after each position what share of
    them it is. ValueError: the first position cannot be analysed, or the engine refuses one.
    """
    nodes, remarks = game.played_moves()
    boards = positions(game.board(), [node.move for node in nodes])
    times = times_of(nodes, game.headers.get("TimeControl", ""))
    opening, theory_plies = _opening_of(boards)
    phases = phases_of(map(phase_weight, boards))
    ratings = [str(rating or game.header(name)) for name in ("BlackElo", "WhiteElo")]
    verdicts = Verdicts(Searches(analyser), limit)
    start = verdicts.find(boards[0], is_end=not nodes).value
    on_position(1 / len(boards))
    plies: list[Ply] = []
    for index, (node, board) in enumerate(zip(nodes, boards, strict=False)):
        elo = ratings[board.turn]
        found = examined(verdicts, board, node.move, elo, is_last=index + 1 == len(nodes))
        notes = [f"End of the book: {opening}."] if opening and index + 1 == theory_plies else []
        if found.judgement.missed_mate and not found.judgement.mark.is_error:
            notes.append(f"There was a mate in {found.best.value.mate_for(board.turn)}.")
        if found.tables not in ("", plies[-1].tables if plies else ""):
            notes.append(f"The tablebases say: {found.tables}.")
        signs = node.nags & MOVE_SIGNS.keys()
        ply = Ply(
            **vars(found),
            index=index,
            node=node,
            phase=phases[index],
            spent=times[index],
            notes=tuple(notes),
            sign=MOVE_SIGNS[min(signs)] if signs else "",
            words=spoken(f"{node.starting_comment} {node.comment}"),
            is_folded=found.judgement.mark is Mark.INACCURACY and elo.isdecimal() and int(elo) < FOLDED_BELOW,
        )
        plies.append(ply)
        on_position(1 / len(boards))
    effort, words = limit_text(limit), spoken(game.comment)
    return AnalysedGame(game, boards, start, tuple(plies), opening, effort, tuple(remarks), words, side)


def _opening_of(boards: Sequence[chess.Board]) -> tuple[OpeningName | None, int]:
    """The opening of a game, and the plies up to the last position that has a name or that a book move reaches.

    A game from another position than the usual one has no opening, unless its first position has a name.
    """
    name = name_of(boards[0])
    if boards[0].fen() != chess.STARTING_FEN and name is None:
        return None, 0
    plies = 0
    for ply, (before, after) in enumerate(pairwise(boards), start=1):
        if is_book_move(before, after):
            name, plies = name_of(after) or name, ply
    return name, plies


# Annotated PGN --------------------------------------------------------------------------------------------------------


def annotate(analysed: AnalysedGame, annotator: str) -> str:
    """The text of the game with the annotations. Changes the game that was analysed.

    `annotator`: the name of this program, and its version.
    """
    headers = analysed.game.headers
    # In place of another version of this program, behind all others.
    others = [name.strip() for name in headers.get("Annotator", "").split(";")]
    others = [name for name in others if not is_unknown(name) and name.split()[:1] != annotator.split()[:1]]
    headers["Annotator"] = "; ".join([*others, annotator])
    if analysed.opening is not None:
        for name, value in (("ECO", analysed.opening.eco), ("Opening", analysed.opening.name)):
            if is_unknown(headers.get(name, "")):
                headers[name] = value
    for ply in analysed.plies:
        node, mark = ply.node, ply.judgement.mark
        parts = [*([f"{mark.word.capitalize()}. {ply.why}"] if ply.why else []), *ply.notes]
        if mark.is_error:
            # A variation of its own, even if the player has one that begins with the same move.
            first, *rest = ply.best.line
            branch = node.parent.add_variation(first)
            branch.comment = f"[%secateur line {checksum(ply.best.line)}] better: {ply.best.value.text}"
            branch.add_line(rest)
        nag = 0 if node.nags & MOVE_SIGNS.keys() else mark.nag
        if nag:
            node.nags.add(nag)
        if nag or parts:
            parts.insert(0, f"[%secateur {nag}]" if nag else "[%secateur]")
        node.comment = " ".join([*EVAL.sub(" ", node.comment).split(), *parts])
        # A mate on the board has no number that `[%eval]` could show.
        if ply.value.score.mate() != 0:
            node.set_eval(PovScore(ply.value.score, chess.WHITE), ply.after.depth)
    return analysed.game.accept(chess.pgn.StringExporter(columns=100))
