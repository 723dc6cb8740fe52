"""What is found out about moves, and how it is shown: as text, as JSON, as HTML for notebooks, and as a page."""

from __future__ import annotations

import html as html_text
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import chess
import chess.svg

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.html import first_position, line, numbered, render
from uci_engine.game_analysis.judgement import Judgement, Mark
from uci_engine.game_analysis.reasons import Change
from uci_engine.game_analysis.values import Found, Value

MAX_CHANGES = 6
# Smaller changes, in shown centipawns, are not listed.
LEAST_CHANGE_CP = 10
# A loss of expected result that is shown as 0 %.
NOTHING = 0.005


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a table, and its line to play through: `name` begins the row, `title` stands above the board."""

    name: str
    title: str
    value: Value
    cells: tuple[str, ...]
    moves: tuple[chess.Move, ...]


class Shown(ABC):
    """Moves of a position with what was found out about them. `str` of it is text, and a notebook shows a table."""

    __slots__ = ()
    board: chess.Board
    # Of the table, between the move and its line.
    columns: ClassVar[tuple[str, ...]]

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """For JSON."""

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _lines(self) -> list[_Line]:
        """The rows of the table, the most important first."""

    def _paragraphs(self) -> list[str]:
        """What is to be said beside the table."""
        return []

    def _defences(self) -> list[tuple[str, str, str]]:
        """Each defence, the answer with its line, and in how many moves that mates."""
        return []

    def page(self) -> str:
        board, shown = self.board, self._lines()
        side = "White" if board.turn else "Black"
        start = first_position(board, f"{side} is to move.", shown[0].value if shown else None)
        lines = [line(board, row.moves, 0, f"{row.title} ({row.value.text})", row.value) for row in shown]
        rows = [{"name": row.name, "cells": row.cells, "words": board.variation_san(row.moves)} for row in shown]
        return render(
            "explain.html.j2",
            {"positions": [start], "lines": lines, "flipped": not board.turn},
            title=self._title(),
            fen=board.fen(),
            texts=self._paragraphs(),
            columns=(*self.columns, "Line"),
            rows=rows,
            proof=self._defences(),
        )

    def _repr_html_(self) -> str:
        board, shown = self.board, self._lines()
        arrows = [chess.svg.Arrow(row.moves[0].from_square, row.moves[0].to_square) for row in shown[:1]]
        svg = chess.svg.board(board, orientation=board.turn, arrows=arrows, size=280)
        text = "".join(f"<p>{html_text.escape(paragraph)}</p>" for paragraph in self._paragraphs())
        head = _cells("th", ("Move", *self.columns, "Line"))
        body = "".join(_cells("td", (row.name, *row.cells, board.variation_san(row.moves))) for row in shown)
        return f"<div>{svg}{text}<table><thead>{head}</thead><tbody>{body}</tbody></table></div>"


def _cells(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html_text.escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _value_data(value: Value) -> dict[str, Any]:
    """A value for JSON, from White's view: `cp` or `mate`, and the expected result."""
    mate = value.score.mate()
    kind = {"cp": value.score.score()} if mate is None else {"mate": mate}
    return {**kind, "expected": round(value.expected, 4)}


def _line_data(board: chess.Board, moves: Sequence[chess.Move], value: Value) -> dict[str, Any]:
    """A line in UCI's notation, with its value."""
    after = board.copy(stack=False)
    words = []
    for move in moves:
        words.append(after.uci(move))
        after.push(move)
    return {"line": words, "value": _value_data(value)}


# All moves ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MoveComparison(Shown):
    """All legal moves of a position, best first.

    `moves` has for each what was found: its value from White's view, the depth, and the line that it begins. `nodes`
    and `seconds` are those of the search.
    """

    board: chess.Board
    moves: tuple[Found, ...]
    nodes: int
    seconds: float
    columns: ClassVar[tuple[str, ...]] = ("Value", "Depth")

    def __str__(self) -> str:
        board = self.board
        lines = [board.fen(), f"{'Move':<8}{'Value':>8}{'Depth':>7}  Line"]
        for entry in self.moves:
            head = f"{board.san(entry.line[0]):<8}{entry.value.text:>8}{entry.depth:>7}"
            lines.append(f"{head}  {board.variation_san(entry.line)}")
        if not self.moves:
            lines.append("There is no legal move.")
        lines.append(f"{len(self.moves)} moves, {self.nodes} nodes in {self.seconds:.1f} s")
        return "\n".join([*lines, "Values from White's view; at +1.00 White wins half of the games."])

    def data(self) -> dict[str, Any]:
        board = self.board
        return {
            "fen": board.fen(),
            "nodes": self.nodes,
            "moves": [
                {
                    "move": board.uci(entry.line[0]),
                    "san": board.san(entry.line[0]),
                    "depth": entry.depth,
                    **_line_data(board, entry.line, entry.value),
                }
                for entry in self.moves
            ],
        }

    def _title(self) -> str:
        return f"{len(self.moves)} moves compared"

    def _lines(self) -> list[_Line]:
        board = self.board
        return [
            _Line(
                board.san(entry.line[0]),
                numbered(board, entry.line[0]),
                entry.value,
                (entry.value.text, str(entry.depth)),
                entry.line,
            )
            for entry in self.moves
        ]


# One move -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """A defence, the answer to it, and in how many more moves that mates; None if no mate was found."""

    defence: chess.Move
    line: tuple[chess.Move, ...]
    mate: int | None


@dataclass(frozen=True, slots=True)
class Proof:
    """A forced mate: who mates, in how many moves, and an answer to each defence.

    `before` are the moves to the position in which the side that is mated defends. `is_complete`: every defence has its
    answer, and each was searched. `is_cut`: there was no effort left to search them all, so no answer is given.
    """

    white_mates: bool
    moves: int
    before: tuple[chess.Move, ...]
    answers: tuple[Answer, ...]
    is_complete: bool
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class MoveExplanation(Shown):
    """Why a move is good or bad. Values are from White's view.

    `value` is that of the move, and `line` the move with the best play after it: what supports or refutes it. `best` is
    the best move with its line, `is_best` whether that is the move itself, `others` the value of the best other move
    where it is. `replies` are the opponent's best replies, and `reply_count` how many there are. `alternatives` is the
    number of other legal moves. `changes` are the terms that change most from the position to the end of the line.
    `reason` compares that with the better line; None for the best move. `proof`: the move wins or loses by force.
    `verdict` is what the tablebases say after the move, "" for nothing.
    """

    board: chess.Board
    move: chess.Move
    value: Value
    line: tuple[chess.Move, ...]
    depth: int
    judgement: Judgement
    best: Found
    is_best: bool
    others: Value | None
    replies: tuple[Found, ...]
    reply_count: int
    alternatives: int
    changes: tuple[Change, ...]
    reason: str | None
    proof: Proof | None
    verdict: str
    nodes: int
    seconds: float
    columns: ClassVar[tuple[str, ...]] = ("Value",)

    def __str__(self) -> str:
        lines = [self.board.fen(), *self._sentences()]
        after = board_after(self.board, [self.move])
        if self.replies:
            lines.append("Replies, best first:")
            lines += [f"  {reply.value.text:>7}  {after.variation_san(reply.line)}" for reply in self.replies]
        if changes := self._greatest_changes():
            lines.append("Features that change along the line (pawns, White's view):")
            lines += [f"  {words}" for words in changes]
        if rows := self._defences():
            lines.append("Defences:")
            lines += [f"  {move:<10} {answer}  ({mate})" if mate else f"  {move}" for move, answer, mate in rows]
        return "\n".join(lines)

    def data(self) -> dict[str, Any]:
        board, proof = self.board, self.proof
        after = board_after(board, [self.move])
        return {
            "fen": board.fen(),
            "move": board.uci(self.move),
            "san": board.san(self.move),
            **_line_data(board, self.line, self.value),
            "judgement": self.judgement.mark.word,
            "loss": round(self.judgement.loss, 4),
            "depth": self.depth,
            "nodes": self.nodes,
            "best": _line_data(board, self.best.line, self.best.value),
            "others": None if self.others is None else _value_data(self.others),
            "alternatives": self.alternatives,
            "reply_count": self.reply_count,
            "replies": [_line_data(after, reply.line, reply.value) for reply in self.replies],
            "features": [
                {"title": change.title, "side": "white" if change.color else "black", "white_cp": change.cp}
                for change in self.changes
            ],
            "reason": self.reason,
            "tablebases": self.verdict or None,
            "proof": None
            if proof is None
            else {
                "winner": "white" if proof.white_mates else "black",
                "moves": proof.moves,
                "complete": proof.is_complete,
                "cut": proof.is_cut,
                "answers": [
                    {"defence": defence, "line": answer, "mate": given.mate}
                    for (defence, answer, _), given in zip(self._defences(), proof.answers, strict=True)
                ],
            },
        }

    def _title(self) -> str:
        return f"{numbered(self.board, self.move)}{self.judgement.mark.sign} explained"

    def _sentences(self) -> list[str]:
        board, mark = self.board, self.judgement.mark
        name = numbered(board, self.move)
        texts = [f"{name}{mark.sign} is worth {self.value.text}: {self._verdict()}"]
        if not self.is_best and self.best.line:
            best = numbered(board, self.best.line[0])
            texts.append(f"Better is {best} ({self.best.value.text}): {board.variation_san(self.best.line)}.")
        if len(self.line) > 1:
            words = "What refutes it" if mark.is_error else "What supports it"
            texts.append(f"{words}: {board.variation_san(self.line)}.")
        if self.reason is not None:
            texts.append(f"{self.reason}.")
        tried = f"{self.alternatives} other moves" if self.alternatives != 1 else "one other move"
        replies = f"{self.reply_count} replies" if self.reply_count != 1 else "one reply"
        texts.append(f"Tried: {tried} and {replies}, to depth {self.depth}, {self.nodes} nodes.")
        if self.verdict:
            texts.append(f"The tablebases say: {self.verdict}.")
        if self.proof is not None:
            texts.append(_proof_sentence(self.proof))
        return texts

    def _verdict(self) -> str:
        judgement = self.judgement
        if judgement.mark is Mark.FORCED:
            return "the only legal move."
        if self.is_best:
            return f"the best move{'' if self.others is None else f'; the next best is worth {self.others.text}'}."
        percent = f"{100 * judgement.loss:.0f} % of the expected result"
        if judgement.loss < NOTHING:
            return "a sound move, which costs nothing."
        if not judgement.mark.is_error:
            return f"a sound move, which costs {percent}."
        article = "an" if judgement.mark is Mark.INACCURACY else "a"
        return f"{article} {judgement.mark.word}, which costs {percent}."

    def _greatest_changes(self) -> list[str]:
        return [change.words() for change in self.changes if abs(change.cp) >= LEAST_CHANGE_CP][:MAX_CHANGES]

    def _paragraphs(self) -> list[str]:
        changes = ", ".join(self._greatest_changes())
        along = [f"Along the line, in pawns from White's view: {changes}."] if changes else []
        return [*self._sentences(), *along]

    def _lines(self) -> list[_Line]:
        """The lines that are worth playing through: of the move, the better one, and the other replies."""
        board = self.board
        after = board_after(board, [self.move])
        lines = [(numbered(board, self.move), self.value, self.line)]
        if not self.is_best and self.best.line:
            lines.append((f"Better: {numbered(board, self.best.line[0])}", self.best.value, self.best.line))
        for reply in self.replies[1:]:
            lines.append((f"Reply {numbered(after, reply.line[0])}", reply.value, (self.move, *reply.line)))
        return [_Line(name, name, value, (value.text,), moves) for name, value, moves in lines]

    def _defences(self) -> list[tuple[str, str, str]]:
        if self.proof is None:
            return []
        board = board_after(self.board, self.proof.before)
        rows = []
        for answer in self.proof.answers:
            line_words = board_after(board, [answer.defence]).variation_san(answer.line)
            mate = "" if answer.mate is None else f"mate in {answer.mate}"
            rows.append((numbered(board, answer.defence), line_words, mate))
        return rows


def _proof_sentence(proof: Proof) -> str:
    winner = "White" if proof.white_mates else "Black"
    if not proof.answers and len(proof.before) == 1 and proof.is_complete:
        return f"{winner} has mated."
    text = f"{winner} mates in {proof.moves} by force"
    if proof.answers and proof.is_complete:
        count = len(proof.answers)
        defences = "the only defence was searched" if count == 1 else f"each of the {count} defences was searched"
        return f"{text}: {defences} and has an answer."
    return f"{text}; the limit is too small for an answer to every defence." if proof.is_cut else f"{text}."
