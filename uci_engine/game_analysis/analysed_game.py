"""A game analysed: what each move was worth and why, as the page shows it; and the annotated PGN.

An annotated game has values, better lines, marks, the opening and what the tablebases say. It keeps its own comments,
NAGs, variations and headers. Values of an earlier analysis are replaced.

Invariants: the moves stay, and python-chess reads them back. The same analysis of what was written gives the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import chess
import chess.pgn
from chess.engine import Limit, PovScore

from uci_engine.board.pieces import phase_weight
from uci_engine.book.book import OpeningName, built_in_book, name_of
from uci_engine.game_analysis.boards import numbered, positions
from uci_engine.game_analysis.causes import Cause, Why, explained
from uci_engine.game_analysis.judgement import MARK_NAGS, Found, Judgement, Phase, Value, judge, phases_of
from uci_engine.game_analysis.people import MARKS, People, people_of, rating_of
from uci_engine.game_analysis.pgn import ReadGame, checksum, is_unknown, spoken, times_of
from uci_engine.game_analysis.searches import Analyser, Searches, limit_text, search_game, share_of
from uci_engine.game_analysis.words import people_words, sentence

# The effort for the search of an edit, as a part of that for a move.
FOR_EDIT = 0.2
EVAL = re.compile(r"\[%eval [^][]*\]")


@dataclass(frozen=True, slots=True)
class Ply:
    """One move of the game, the one with this index.

    `node` is that of the game, `board` the position before it, `after` what was found in the position after it. `best`
    and `played` are the best move and this one, each with its line as it is shown. `causes` are why it is an error, or
    why it is good where it has an exclamation mark. `spent`: the seconds that it took. `verdict`: what the tablebases
    say of the position after it. `notes`: sentences on the end of the book, and on a new verdict. `sign` and `words`
    are those of the player or an annotator, from the PGN. The three texts are "" for nothing. `people`: who would play
    it, and find the best move.
    """

    index: int
    node: chess.pgn.ChildNode
    board: chess.Board
    phase: Phase
    after: Found
    judgement: Judgement
    best: Found
    played: Found
    causes: tuple[Cause, ...]
    spent: float | None
    verdict: str
    notes: tuple[str, ...]
    sign: str
    words: str
    people: People | None = None

    @property
    def move(self) -> chess.Move:
        return self.node.move

    @property
    def value(self) -> Value:
        return self.after.value

    @property
    def name(self) -> str:
        return numbered(self.board, self.move)

    @property
    def player(self) -> str:
        return "White" if self.board.turn else "Black"

    @property
    def value_text(self) -> str:
        """What it is worth, "" for a mate on the board, which its name says."""
        return "" if self.value.score.mate() == 0 else self.value.text

    @property
    def change(self) -> str:
        """What it cost: the value of the best move, its own, and the loss of expected result."""
        return f"{self.best.value.text} \u2192 {self.value.text}, \u2212{100 * self.judgement.loss:.0f} %"

    @property
    def why(self) -> str:
        """Why it is an error or good, and what it missed, in sentences; "" for nothing.

        Of an error it says at least what is better.
        """
        causes, missed_mate = self.causes, self.judgement.missed_mate
        sentences = []
        if causes:
            sentences.append(f"{sentence(causes)}.")
        elif self.judgement.mark.is_error:
            sentences.append(f"Better is {numbered(self.board, self.best.line[0])}: no single reason found.")
        if self.judgement.missed_win:
            sentences.append("A win is gone.")
        if missed_mate is not None and all(cause.why is not Why.MISSES_MATE for cause in causes):
            sentences.append(f"A mate in {missed_mate} is missed.")
        return " ".join(sentences + self.who)

    @property
    def who(self) -> list[str]:
        """How often people play it, and find the best move, in sentences; none where it is not worth saying."""
        return people_words(self.board, self.judgement.mark, self.people)

    @property
    def remarks(self) -> list[str]:
        """All that is to be said of it beside its value, `why` first, each as a paragraph."""
        return [*filter(None, [self.why]), *self.notes, *([f"\u201c{self.words}\u201d"] if self.words else [])]


@dataclass(frozen=True, slots=True)
class AnalysedGame:
    """One analysed game. `boards` are its positions, `value` is what the first is worth, `words` a comment on it.

    `effort` is the limit for each move, in words. `remarks`: sentences on what could not be read or analysed.
    """

    game: ReadGame
    boards: list[chess.Board]
    value: Value
    plies: tuple[Ply, ...]
    opening: OpeningName | None
    effort: str
    remarks: tuple[str, ...]
    words: str

    def judgements(self, color: chess.Color, phase: Phase | None = None) -> list[Judgement]:
        """Those of the moves of one player, in one phase or in the whole game."""
        return [ply.judgement for ply in self.plies if ply.board.turn == color and phase in (None, ply.phase)]

    @property
    def errors(self) -> list[Ply]:
        """The inaccuracies, mistakes and blunders."""
        return [ply for ply in self.plies if ply.judgement.mark.is_error]


def analyse_game(
    game: ReadGame,
    analyser: Analyser,
    limit: Limit,
    on_position: Callable[[float], None] = lambda share: None,
    rating: int | None = None,
) -> AnalysedGame:
    """Analyse the main line of a game. `rating`: of both players, None for those of the PGN. Else as `search_game`.

    ValueError: the first position cannot be analysed.
    """
    nodes, remarks = game.played_moves()
    moves = [node.move for node in nodes]
    boards = positions(game.board(), moves)
    found, searched = search_game(analyser, boards, moves, limit, on_position)
    times = times_of(nodes, game.headers.get("TimeControl", ""))
    opening, theory_plies = _opening_of(boards, moves)
    phases = phases_of(map(phase_weight, boards))
    searches = Searches(analyser)
    plies: list[Ply] = []
    verdict = ""
    for index, (node, move) in enumerate(zip(nodes, searched, strict=True)):
        board, verdict_before = boards[index], verdict
        verdict = searches.tablebase_verdict(boards[index + 1])
        judgement = judge(board, move, index < theory_plies)
        is_marked = bool(judgement.mark.sign)
        best, played, causes = (
            explained(searches, board, move, share_of(limit, FOR_EDIT), plies[-1].causes if plies else ())
            if is_marked
            else (move.best.shown, move.played.shown, ())
        )
        notes = [f"End of the book: {opening}."] if opening and index + 1 == theory_plies else []
        if verdict not in ("", verdict_before):
            notes.append(f"The tablebases say: {verdict}.")
        signs = node.nags & MARK_NAGS.keys()
        ply = Ply(
            index=index,
            node=node,
            board=board,
            phase=phases[index],
            after=found[index + 1],
            judgement=judgement,
            best=best,
            played=played,
            causes=causes,
            spent=times[index],
            verdict=verdict,
            notes=tuple(notes),
            sign=MARK_NAGS[min(signs)] if signs else "",
            words=spoken(f"{node.starting_comment} {node.comment}"),
        )
        plies.append(ply)
    # At the end, so that its searches change none of the others.
    plies = _with_people(plies, searches, [str(rating or game.header(name)) for name in ("BlackElo", "WhiteElo")])
    return AnalysedGame(
        game, boards, found[0].value, tuple(plies), opening, limit_text(limit), tuple(remarks), spoken(game.comment)
    )


def _with_people(plies: Sequence[Ply], searches: Searches, ratings: Sequence[str]) -> list[Ply]:
    """The plies, with who would play and find the moves where a rating is known. `ratings`: Black's, White's."""
    found = list(plies)
    for ply in plies:
        mark, elo = ply.judgement.mark, ratings[ply.board.turn]
        if mark in MARKS and not is_unknown(elo):
            people = people_of(searches, ply.board, mark, ply.best, ply.move, rating_of(elo))
            found[ply.index] = replace(ply, people=people)
    return found


def _opening_of(boards: Sequence[chess.Board], moves: Sequence[chess.Move]) -> tuple[OpeningName | None, int]:
    """The opening of a game, and the plies up to the last position that has a name or that a book move reaches.

    A game from another position than the usual one has no opening, unless its first position has a name.
    """
    name = name_of(boards[0])
    if boards[0].fen() != chess.STARTING_FEN and name is None:
        return None, 0
    plies = 0
    book = built_in_book()
    for ply, (before, move) in enumerate(zip(boards, moves, strict=False), start=1):
        here = name_of(boards[ply])
        name = here or name
        if here is not None or any(move == known for known, _ in book.moves(before)):
            plies = ply
    return name, plies


# Annotated PGN --------------------------------------------------------------------------------------------------------


def annotate(analysed: AnalysedGame, annotator: str) -> str:
    """The text of the game with the annotations. Changes the game that was analysed.

    `annotator`: the name of this program, and its version.
    """
    headers = analysed.game.headers
    headers["Annotator"] = _with_annotator(headers.get("Annotator", ""), annotator)
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
        nag = 0 if node.nags & MARK_NAGS.keys() else mark.nag
        if nag:
            node.nags.add(nag)
        if nag or parts:
            parts.insert(0, f"[%secateur {nag}]" if nag else "[%secateur]")
        node.comment = " ".join([*EVAL.sub(" ", node.comment).split(), *parts])
        # A mate on the board has no number that `[%eval]` could show.
        if ply.value.score.mate() != 0:
            node.set_eval(PovScore(ply.value.score, chess.WHITE), ply.after.depth)
    return analysed.game.accept(chess.pgn.StringExporter(columns=100))


def _with_annotator(names: str, annotator: str) -> str:
    """The names with this one behind them, in place of that of another version."""
    others = [name.strip() for name in names.split(";") if name.split()[:1] != annotator.split()[:1]]
    return "; ".join([*(name for name in others if not is_unknown(name)), annotator])
