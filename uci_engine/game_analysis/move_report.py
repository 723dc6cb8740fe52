"""What is found out about moves, and how it is shown: as text, as JSON, as HTML for notebooks, and as a page."""

from __future__ import annotations

import html as html_text
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import chess
import chess.svg

from uci_engine.game_analysis.boards import board_after, numbered
from uci_engine.game_analysis.html import line, position, render
from uci_engine.game_analysis.judgement import Judgement, Mark
from uci_engine.game_analysis.tactics.motif import Motif
from uci_engine.game_analysis.values import Found, Value

# A loss of expected result that is shown as 0 %.
NOTHING = 0.005
COLUMNS = ("Move", "Value", "Depth", "Line")


class Shown(ABC):
    """What was found out about the moves of a position. `str` of it is text, and a notebook shows it beside the board.

    `nodes` and `seconds` are those of all searches.
    """

    __slots__ = ()
    board: chess.Board
    nodes: int
    seconds: float

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """For JSON."""

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def lines(self) -> list[tuple[str, Found]]:
        """The lines that are worth playing through, each with its name, the most important first."""

    def paragraphs(self) -> list[str]:
        """What is to be said beside the table."""
        return []

    def _defences(self) -> list[tuple[str, str, int | None]]:
        """Each defence, the answer with its line, and in how many moves that mates."""
        return []

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The table of the lines, without its heading."""
        return [
            (name, found.value.text, str(found.depth), self.board.variation_san(found.line))
            for name, found in self.lines()
        ]

    def __str__(self) -> str:
        rows, defences = self._rows(), self._defences()
        width = max([8, *(len(row[0]) for row in rows)])
        lines = [self.board.fen(), *self.paragraphs()]
        lines += [f"{name:<{width}}{value:>8}{depth:>7}  {words}" for name, value, depth, words in (COLUMNS, *rows)]
        if not rows:
            lines.append("There is no legal move.")
        if defences:
            lines.append("Defences:")
            lines += [f"  {move:<10} {words}  (mate in {mate})" for move, words, mate in defences]
        lines.append(f"{self.nodes} nodes in {self.seconds:.1f} s")
        return "\n".join([*lines, "Values from White's view; at +1.00 White wins half of the games."])

    def page(self) -> str:
        board, shown = self.board, self.lines()
        side = "White" if board.turn else "Black"
        start = position(board, f"{side} is to move.", shown[0][1].value if shown else None)
        lines = [line(board, found, name) for name, found in shown]
        return render(
            "explain.html.j2",
            {"positions": [start], "lines": lines, "flipped": not board.turn},
            title=self._title(),
            fen=board.fen(),
            texts=self.paragraphs(),
            rows=self._rows(),
            proof=self._defences(),
        )

    def _repr_html_(self) -> str:
        board = self.board
        arrows = [chess.svg.Arrow(found.line[0].from_square, found.line[0].to_square) for _, found in self.lines()[:1]]
        svg = chess.svg.board(board, orientation=board.turn, arrows=arrows, size=280)
        return f"<div>{svg}<pre>{html_text.escape(str(self))}</pre></div>"


def _value_data(value: Value) -> dict[str, Any]:
    """A value for JSON, from White's view: `cp` or `mate`, and the expected result."""
    mate = value.score.mate()
    kind = {"cp": value.score.score()} if mate is None else {"mate": mate}
    return {**kind, "expected": round(value.expected, 4)}


def _line_data(found: Found) -> dict[str, Any]:
    """A line in UCI's notation, with its value."""
    return {"line": [move.uci() for move in found.line], "value": _value_data(found.value)}


# All moves ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MoveComparison(Shown):
    """All legal moves of a position, best first.

    `moves` has for each what was found: its value from White's view, the depth, and the line that it begins.
    """

    board: chess.Board
    moves: tuple[Found, ...]
    nodes: int
    seconds: float

    def data(self) -> dict[str, Any]:
        moves = [
            {"move": self.board.uci(found.line[0]), "san": name, "depth": found.depth, **_line_data(found)}
            for name, found in self.lines()
        ]
        return {"fen": self.board.fen(), "nodes": self.nodes, "moves": moves}

    def _title(self) -> str:
        return f"{len(self.moves)} moves compared"

    def lines(self) -> list[tuple[str, Found]]:
        return [(self.board.san(found.line[0]), found) for found in self.moves]


# One move -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proof:
    """A forced mate: who mates, in how many moves, and an answer to each defence.

    `before` are the moves to the position in which the side that is mated defends. `answers`: the mate that is proved
    against each defence, in a line that the defence begins; empty where it is mated already, or the mate is long; None
    where one was not found.
    """

    white_mates: bool
    moves: int
    before: tuple[chess.Move, ...]
    answers: tuple[Found, ...] | None = ()

    @property
    def is_complete(self) -> bool:
        """Whether each defence has an answer that mates."""
        return self.moves == 1 or bool(self.answers)

    def __str__(self) -> str:
        winner = "White" if self.white_mates else "Black"
        if self.moves == len(self.before) == 1:
            return f"{winner} has mated."
        text = f"{winner} mates in {self.moves} by force"
        if self.answers is None:
            return f"{text}; the limit is too small for an answer to every defence."
        if not self.answers:
            return f"{text}."
        count = len(self.answers)
        defences = "the only defence" if count == 1 else f"each of the {count} defences"
        return f"{text}: {defences} has an answer."


@dataclass(frozen=True, slots=True)
class MoveExplanation(Shown):
    """Why a move is good or bad. Values are from White's view.

    `played` is the move with the best play after it: what supports or refutes it. `best` is the best move, `is_best`
    whether that is the move itself, `others` the value of the best other move where it is. `replies` are the opponent's
    best replies, and `reply_count` how many there are. `alternatives` is the number of other legal moves. `reason`
    says why it is worse than the best move, None for that; `support` why a move that is no error is good, None for
    nothing. `motifs` are the tactics that these name. `proof`: the move wins or loses by force. `verdict` is what the
    tablebases say after the move, "" for nothing.
    """

    board: chess.Board
    move: chess.Move
    judgement: Judgement
    played: Found
    best: Found
    is_best: bool
    others: Value | None
    replies: tuple[Found, ...]
    reply_count: int
    alternatives: int
    reason: str | None
    support: str | None
    motifs: tuple[Motif, ...]
    proof: Proof | None
    verdict: str
    nodes: int
    seconds: float

    def data(self) -> dict[str, Any]:
        board, proof = self.board, self.proof
        return {
            "fen": board.fen(),
            "move": board.uci(self.move),
            "san": board.san(self.move),
            **_line_data(self.played),
            "judgement": self.judgement.mark.word,
            "loss": round(self.judgement.loss, 4),
            "depth": self.played.depth,
            "nodes": self.nodes,
            "best": _line_data(self.best),
            "others": None if self.others is None else _value_data(self.others),
            "alternatives": self.alternatives,
            "reply_count": self.reply_count,
            "replies": [_line_data(reply) for reply in self.replies],
            "reason": self.reason,
            "support": self.support,
            "motifs": [motif.kind.value for motif in self.motifs],
            "tablebases": self.verdict or None,
            "proof": None
            if proof is None
            else {
                "winner": "white" if proof.white_mates else "black",
                "moves": proof.moves,
                "complete": proof.is_complete,
                "cut": proof.answers is None,
                "answers": [
                    {"defence": defence, "line": answer, "mate": mate} for defence, answer, mate in self._defences()
                ],
            },
        }

    def _title(self) -> str:
        return f"{numbered(self.board, self.move)}{self.judgement.mark.sign} explained"

    def paragraphs(self) -> list[str]:
        board, mark = self.board, self.judgement.mark
        name = numbered(board, self.move)
        texts = [f"{name}{mark.sign} is worth {self.played.value.text}: {self._verdict()}"]
        if not self.is_best and self.best.line:
            best = numbered(board, self.best.line[0])
            texts.append(f"Better is {best} ({self.best.value.text}): {board.variation_san(self.best.line)}.")
        if len(self.played.line) > 1:
            words = "What refutes it" if mark.is_error else "What supports it"
            texts.append(f"{words}: {board.variation_san(self.played.line)}.")
        texts += [f"{words}." for words in (self.reason, self.support) if words is not None]
        tried = f"{self.alternatives} other moves" if self.alternatives != 1 else "one other move"
        replies = f"{self.reply_count} replies" if self.reply_count != 1 else "one reply"
        texts.append(f"Tried: {tried} and {replies}, to depth {self.played.depth}.")
        if self.verdict:
            texts.append(f"The tablebases say: {self.verdict}.")
        if self.proof is not None:
            texts.append(str(self.proof))
        return texts

    def _verdict(self) -> str:
        mark, loss = self.judgement.mark, self.judgement.loss
        if mark is Mark.FORCED:
            return "the only legal move."
        if self.is_best:
            return f"the best move{'' if self.others is None else f'; the next best is worth {self.others.text}'}."
        name = f"{'an' if mark is Mark.INACCURACY else 'a'} {mark.word if mark.is_error else 'sound move'}"
        return f"{name}, which costs {'nothing' if loss < NOTHING else f'{100 * loss:.0f} % of the expected result'}."

    def lines(self) -> list[tuple[str, Found]]:
        """The lines of the move, of the better one, and of the other replies."""
        board = self.board
        after = board_after(board, [self.move])
        lines = [(numbered(board, self.move), self.played)]
        if not self.is_best and self.best.line:
            lines.append((f"Better: {numbered(board, self.best.line[0])}", self.best))
        for reply in self.replies[1:]:
            lines.append((f"Reply {numbered(after, reply.line[0])}", replace(reply, line=(self.move, *reply.line))))
        return lines

    def _defences(self) -> list[tuple[str, str, int | None]]:
        if self.proof is None:
            return []
        board = board_after(self.board, self.proof.before)
        rows = []
        for answer in self.proof.answers or ():
            defence, *line = answer.line
            words = board_after(board, [defence]).variation_san(line)
            rows.append((numbered(board, defence), words, answer.value.mate_for(not board.turn)))
        return rows
