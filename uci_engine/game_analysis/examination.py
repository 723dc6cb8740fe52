"""Positions examined: all moves compared, or one move judged, with what refutes or supports it, and why.

`examine` and `compare_moves` search. What they return is shown as text and as JSON, and on the page of the board.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import chess
from chess.engine import Limit

from uci_engine.game_analysis.boards import board_after, numbered
from uci_engine.game_analysis.causes import Cause, causes_of, merits_of
from uci_engine.game_analysis.judgement import INACCURACY_LOSS, Found, Mark, Value
from uci_engine.game_analysis.people import COMMON, MARKS, People, people_of, rating_of
from uci_engine.game_analysis.searches import Analyser, Searches, Verdict, Verdicts, share_of
from uci_engine.game_analysis.words import people_words, percent, sentence
from uci_engine.text import DASHES

# A loss of expected result that is shown as 0 %.
NOTHING = 0.005
COLUMNS = ("Move", "Value", "Depth", "Line")
# An examination of so many times the effort for a move of a game gives the verdict and the causes that the analysis of
# the game gives.
EFFORTS = 15

# A line that is worth playing through: its name, the board that it begins on, and what was found.
ShownLine = tuple[str, chess.Board, Found]


def _table(lines: Iterable[ShownLine]) -> list[str]:
    rows = [(name, found.value.text, str(found.depth), board.variation_san(found.line)) for name, board, found in lines]
    width = max([8, *(len(row[0]) for row in rows)])
    table = [f"{name:<{width}}{value:>8}{depth:>7}  {words}" for name, value, depth, words in (COLUMNS, *rows)]
    return table if rows else ["There is no legal move."]


def _effort(nodes: int, seconds: float) -> list[str]:
    return [f"{nodes} nodes in {seconds:.1f} s", "Values from White's view; at +1.00 White wins half of the games."]


def _value_data(value: Value) -> dict[str, object]:
    """A value for JSON, from White's view: `cp` or `mate`, and the expected result."""
    mate = value.score.mate()
    kind = {"cp": value.score.score()} if mate is None else {"mate": mate}
    return {**kind, "expected": round(value.expected, 4)}


def _line_data(found: Found) -> dict[str, object]:
    """A line in UCI's notation, with its value."""
    return {"line": [move.uci() for move in found.line], "value": _value_data(found.value)}


def _move_data(board: chess.Board, found: Found) -> dict[str, object]:
    """The first move of a line, with what was found."""
    move = found.line[0]
    return {"move": board.uci(move), "san": board.san(move), "depth": found.depth, **_line_data(found)}


def _cause_data(cause: Cause) -> dict[str, object]:
    """A cause for JSON, with the searches that confirm it."""
    motifs = [
        {"kind": motif.kind.value, "ply": motif.ply, "squares": [*map(chess.square_name, motif.targets)]}
        for motif in cause.motifs
    ]
    return {
        "kind": cause.why.value,
        "winner": "white" if cause.winner else "black",
        "line": [move.uci() for move in cause.line.moves[: cause.end]],
        "motifs": motifs,
        "is_threat": cause.is_threat,
        "opened": None if cause.opened is None else cause.opened.kind.value,
        "material": dict(zip(chess.PIECE_NAMES[1:], cause.material, strict=True)) if cause.material else None,
        "mate": cause.mate or None,
        "evidence": [{"fen": each.board.fen(), **_line_data(each.found)} for each in cause.evidence],
    }


# All moves ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MoveComparison:
    """All legal moves of a position, best first. `str` of it is text. `nodes` and `seconds` are those of the search.

    `moves` has for each what was found: its value from White's view, the depth, and the line that it begins.
    """

    board: chess.Board
    moves: tuple[Found, ...]
    nodes: int
    seconds: float

    def __repr__(self) -> str:
        return f"<MoveComparison of {len(self.moves)} moves in {self.board.fen()}>"

    def __str__(self) -> str:
        lines = [(self.board.san(found.line[0]), self.board, found) for found in self.moves]
        shared = "The moves share this search: one that is asked about is searched longer."
        return "\n".join([self.board.fen(), *_table(lines), *_effort(self.nodes, self.seconds), shared])

    def data(self) -> dict[str, object]:
        """For JSON."""
        moves = [_move_data(self.board, found) for found in self.moves]
        return {"fen": self.board.fen(), "nodes": self.nodes, "moves": moves}


# One move -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ExaminedMove(Verdict):
    """A move, its verdict with the lines as they are shown, and why it is good or bad.

    `causes` say why it is worse than the best move, or why it is good. `tables` is what the tablebases say after the
    move, "" for nothing. `people`: who would play it, and the best move.
    """

    board: chess.Board
    move: chess.Move
    causes: tuple[Cause, ...]
    tables: str
    people: People | None

    @property
    def name(self) -> str:
        return numbered(self.board, self.move)

    @property
    def is_best(self) -> bool:
        return self.best.move in (None, self.move)

    @property
    def who(self) -> list[str]:
        """How often people play it, and find the best move, in sentences; none where it is not worth saying."""
        return people_words(self.board, self.judgement.mark, self.people)


def examined(
    verdicts: Verdicts, board: chess.Board, move: chess.Move, rating: object, *, is_last: bool, is_asked: bool = False
) -> ExaminedMove:
    """Examine a move of a game, or one that `is_asked` for, of which all is told that is known.

    `rating`: that of the player, as for `rating_of`.
    """
    verdict, searches = verdicts.of(board, move, is_last=is_last, thorough=is_asked), verdicts.searches
    mark, tables = verdict.judgement.mark, searches.tablebase_verdict(board_after(board, [move]))
    # So the causes are those that are found for this move alone.
    searches.forget()
    best, played, causes = verdict.best, verdict.played, tuple[Cause, ...]()
    if is_asked or mark.sign:
        best, played = searches.extended(board, best), searches.extended(board, played)
        find, is_best = searches.finder(verdicts.for_edit), best.move == played.move
        causes = merits_of(board, played, verdict.others, find) if is_best else causes_of(board, played, best, find)
    is_told = is_asked or mark in MARKS
    people = people_of(searches, board, mark, best, move, rating_of(rating)) if is_told else None
    shown = replace(verdict, best=best.shown, played=played.shown)
    return ExaminedMove(**vars(shown), board=board, move=move, causes=causes, tables=tables, people=people)


@dataclass(frozen=True, kw_only=True)
class Examination(ExaminedMove):
    """One move that was asked for. `str` of it is text. `nodes` and `seconds` are those of all searches."""

    nodes: int
    seconds: float

    @property
    def why(self) -> str:
        """The causes as a sentence for the player, without its full stop; "" for no cause."""
        return sentence(self.causes)

    def data(self) -> dict[str, object]:
        """For JSON."""
        board = self.board
        return {
            "fen": board.fen(),
            **_move_data(board, self.played),
            "judgement": self.judgement.mark.word,
            "loss": round(self.judgement.loss, 4),
            "nodes": self.nodes,
            "best": _line_data(self.best),
            "others": None if self.others is None else _value_data(self.others),
            "alternatives": board.legal_moves.count() - 1,
            "reply_count": board_after(board, [self.move]).legal_moves.count(),
            "why": self.why or None,
            "causes": [_cause_data(cause) for cause in self.causes],
            "people": None if self.people is None else self.people.data(),
            "tablebases": self.tables or None,
        }

    def __repr__(self) -> str:
        return f"<Examination of {self.name}: {self.judgement.mark.word}, {self.played.value.text}>"

    def __str__(self) -> str:
        # A terminal may have no other dashes.
        said = [paragraph.translate(DASHES) for paragraph in self.paragraphs()]
        scale = "The expected result is 100 % for a win, 50 % for a draw."
        return "\n".join([self.board.fen(), *said, *_table(self.lines()), *_effort(self.nodes, self.seconds), scale])

    def paragraphs(self) -> list[str]:
        """What is to be said beside the lines."""
        board, mark = self.board, self.judgement.mark
        texts = [f"{self.name}{mark.sign} is worth {self.played.value.shown}: {self._verdict()}"]
        if self.why or mark.is_error:
            texts.append(f"{self.why or 'No single reason found'}.")
        if not self.is_best and self.best.line:
            best = numbered(board, self.best.line[0])
            texts.append(f"Better is {best} ({self.best.value.shown}): {board.variation_san(self.best.line)}.")
        if len(self.played.line) > 1:
            words = "What refutes it" if mark.is_error else "What supports it"
            texts.append(f"{words}: {board.variation_san(self.played.line)}.")
        people, who = self.people, self.who
        if not who and people and (not self.is_best or people.played >= COMMON):
            who = [f"{percent(people.played)} play it at {people.rating}.".capitalize()]
        texts += who
        others, replies = board.legal_moves.count() - 1, board_after(board, [self.move]).legal_moves.count()
        texts.append(
            f"Searched to depth {self.played.depth}. There are {others} other moves, and {replies} replies to it."
        )
        if self.tables:
            texts.append(f"The tablebases say: {self.tables}.")
        return texts

    def _verdict(self) -> str:
        mark, loss = self.judgement.mark, self.judgement.loss
        if mark is Mark.FORCED:
            return "the only legal move."
        if self.is_best:
            return f"the best move{'' if self.others is None else f'; the next best is worth {self.others.shown}'}."
        sound = "playable move" if loss >= INACCURACY_LOSS else "sound move"
        name = f"{'an' if mark is Mark.INACCURACY else 'a'} {mark.word if mark.is_error else sound}"
        return f"{name}, which costs {'nothing' if loss < NOTHING else f'{100 * loss:.0f} % of the expected result'}."

    def lines(self) -> list[ShownLine]:
        """The lines of the move, of the better one, and of what was threatened."""
        board = self.board
        lines = [(self.name, board, self.played)]
        if not self.is_best and self.best.line:
            lines.append((f"Better: {numbered(board, self.best.line[0])}", board, self.best))
        for cause in self.causes:
            for each in cause.evidence:
                passing = "Black" if each.board.turn else "White"
                lines.append((f"If {passing} passed", each.board, each.found.shown))
        return lines


# The searches ---------------------------------------------------------------------------------------------------------


def compare_moves(analyser: Analyser, board: chess.Board, limit: Limit) -> MoveComparison:
    """Compare the legal moves of a position, by one search that has a line for each."""
    searches, count = Searches(analyser), board.legal_moves.count()
    moves = searches.best_lines(board, limit, count) if count else []
    if len(moves) < count:
        # The limit has ended the search before it had all lines.
        moves = searches.best_lines(board, Limit(depth=1), count)
    # A search that was cut has the last lines from the depth before.
    moves.sort(key=lambda found: found.value.order_for(board.turn), reverse=True)
    return MoveComparison(board.copy(), tuple(moves), searches.nodes, searches.seconds)


def examine(
    analyser: Analyser, board: chess.Board, move: chess.Move, limit: Limit, rating: int | None = None
) -> Examination:
    """Examine one legal move. The limit is for all of it; a depth is for each search. `rating`: see `rating_of`."""
    searches = Searches(analyser, limit)
    verdicts = Verdicts(searches, share_of(limit, 1 / EFFORTS))
    found = examined(verdicts, board.copy(), move, rating, is_last=True, is_asked=True)
    return Examination(**vars(found), nodes=searches.nodes, seconds=searches.seconds)
