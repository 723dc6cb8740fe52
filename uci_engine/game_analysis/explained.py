"""What is found out about moves, and how it is shown: as text, as JSON, as HTML for notebooks, and as a page."""

from __future__ import annotations

import html as html_text
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import chess
import chess.svg

from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.html import first_position, line, line_text, numbered, render
from uci_engine.game_analysis.judgement import Judgement, Mark
from uci_engine.game_analysis.proof import Proof
from uci_engine.game_analysis.reasons import Change, Reason
from uci_engine.game_analysis.values import Found, Value

MAX_CHANGES = 6
# Smaller changes, in shown centipawns, are not listed.
LEAST_CHANGE_CP = 10
# A loss of expected result that is shown as 0 %.
NOTHING = 0.005


@dataclass(frozen=True, slots=True)
class MoveValue:
    """A legal move with its value from White's view, the depth reached, the nodes explored for it, and its line."""

    move: chess.Move
    value: Value
    depth: int
    nodes: int
    line: tuple[chess.Move, ...]


@dataclass(frozen=True, slots=True)
class MoveComparison:
    """All legal moves of a position, best first. `nodes` has those of the first search of the position, too."""

    board: chess.Board
    moves: tuple[MoveValue, ...]
    nodes: int
    seconds: float

    def __str__(self) -> str:
        return comparison_text(self)

    def _repr_html_(self) -> str:
        return comparison_html(self)


@dataclass(frozen=True, slots=True)
class MoveExplanation:
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
    reason: Reason | None
    proof: Proof | None
    verdict: str
    nodes: int
    seconds: float

    def __str__(self) -> str:
        return explanation_text(self)

    def _repr_html_(self) -> str:
        return explanation_html(self)


def value_data(value: Value) -> dict[str, Any]:
    """A value for JSON, from White's view: `cp` or `mate`, and the expected result."""
    mate = value.score.mate()
    kind = {"cp": value.score.score()} if mate is None else {"mate": mate}
    return {**kind, "expected": round(value.expected, 4)}


def _uci(board: chess.Board, moves: Sequence[chess.Move]) -> list[str]:
    after = board.copy(stack=False)
    words = []
    for move in moves:
        words.append(after.uci(move))
        after.push(move)
    return words


# All moves ----------------------------------------------------------------------------------------------------------


def comparison_text(comparison: MoveComparison) -> str:
    """A row for each move, best first."""
    board = comparison.board
    lines = [board.fen(), f"{'Move':<8}{'Value':>8}{'Depth':>7}{'Nodes':>11}  Line"]
    for entry in comparison.moves:
        head = f"{board.san(entry.move):<8}{entry.value.text:>8}{entry.depth:>7}{entry.nodes:>11}"
        lines.append(f"{head}  {line_text(board, entry.line)}")
    if not comparison.moves:
        lines.append("There is no legal move.")
    lines.append(f"{len(comparison.moves)} moves, {comparison.nodes} nodes in {comparison.seconds:.1f} s")
    return "\n".join([*lines, "Values from White's view; at +1.00 White wins half of the games."])


def comparison_data(comparison: MoveComparison) -> dict[str, Any]:
    """The comparison for JSON."""
    board = comparison.board
    return {
        "fen": board.fen(),
        "nodes": comparison.nodes,
        "moves": [
            {
                "move": board.uci(entry.move),
                "san": board.san(entry.move),
                "value": value_data(entry.value),
                "depth": entry.depth,
                "nodes": entry.nodes,
                "line": _uci(board, entry.line),
            }
            for entry in comparison.moves
        ],
    }


def comparison_html(comparison: MoveComparison) -> str:
    """A board and a table, for a notebook."""
    board = comparison.board
    rows = [
        (board.san(entry.move), entry.value.text, str(entry.depth), str(entry.nodes), line_text(board, entry.line))
        for entry in comparison.moves
    ]
    best = comparison.moves[0].move if comparison.moves else None
    return _fragment(board, best, "", ("Move", "Value", "Depth", "Nodes", "Line"), rows)


def comparison_page(comparison: MoveComparison) -> str:
    """The comparison as one self-contained page."""
    board = comparison.board
    lines = []
    rows = []
    for number, entry in enumerate(comparison.moves):
        title = f"{numbered(board, entry.move)} ({entry.value.text})"
        lines.append(line(board, entry.line, 0, title, entry.value))
        cells = [entry.value.text, str(entry.depth), str(entry.nodes)]
        words = line_text(board, entry.line)
        rows.append({"line": number, "name": board.san(entry.move), "cells": cells, "words": words})
    value = comparison.moves[0].value if comparison.moves else None
    count = len(comparison.moves)
    return _page(board, value, f"{count} moves compared", [], ("Value", "Depth", "Nodes", "Line"), rows, lines)


# One move -----------------------------------------------------------------------------------------------------------


def sentences(explanation: MoveExplanation) -> list[str]:
    """What is to be said of the move."""
    board, mark = explanation.board, explanation.judgement.mark
    name = numbered(board, explanation.move)
    texts = [f"{name}{mark.sign} is worth {explanation.value.text}: {_verdict(explanation)}"]
    if not explanation.is_best and explanation.best.line:
        best = numbered(board, explanation.best.line[0])
        texts.append(f"Better is {best} ({explanation.best.value.text}): {line_text(board, explanation.best.line)}.")
    if len(explanation.line) > 1:
        words = "What refutes it" if mark.is_error else "What supports it"
        texts.append(f"{words}: {line_text(board, explanation.line)}.")
    if explanation.reason is not None:
        texts.append(f"{explanation.reason.text}.")
    tried = f"{explanation.alternatives} other moves" if explanation.alternatives != 1 else "one other move"
    replies = f"{explanation.reply_count} replies" if explanation.reply_count != 1 else "one reply"
    texts.append(f"Tried: {tried} and {replies}, to depth {explanation.depth}, {explanation.nodes} nodes.")
    if explanation.verdict:
        texts.append(f"The tablebases say: {explanation.verdict}.")
    if explanation.proof is not None:
        texts.append(_proof_sentence(explanation.proof))
    return texts


def _verdict(explanation: MoveExplanation) -> str:
    judgement = explanation.judgement
    if judgement.mark is Mark.FORCED:
        return "the only legal move."
    if explanation.is_best:
        if explanation.others is None:
            return "the best move."
        return f"the best move; the next best is worth {explanation.others.text}."
    percent = f"{100 * judgement.loss:.0f} % of the expected result"
    if judgement.loss < NOTHING:
        return "a sound move, which costs nothing."
    if not judgement.mark.is_error:
        return f"a sound move, which costs {percent}."
    article = "an" if judgement.mark is Mark.INACCURACY else "a"
    return f"{article} {judgement.mark.word}, which costs {percent}."


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


def _proof_rows(explanation: MoveExplanation) -> list[tuple[str, str, str]]:
    """Each defence, the answer with its line, and in how many moves that mates."""
    if explanation.proof is None:
        return []
    board = board_after(explanation.board, explanation.proof.before)
    rows = []
    for answer in explanation.proof.answers:
        name = numbered(board, answer.defence)
        line_words = line_text(board_after(board, [answer.defence]), answer.line)
        rows.append((name, line_words, "" if answer.mate is None else f"mate in {answer.mate}"))
    return rows


def _greatest(changes: Sequence[Change]) -> list[Change]:
    return [change for change in changes if abs(change.cp) >= LEAST_CHANGE_CP][:MAX_CHANGES]


def explanation_text(explanation: MoveExplanation) -> str:
    """The explanation for a terminal."""
    board = explanation.board
    lines = [board.fen(), *sentences(explanation)]
    after = board_after(board, [explanation.move])
    if explanation.replies:
        lines.append("Replies, best first:")
        lines += [f"  {reply.value.text:>7}  {line_text(after, reply.line)}" for reply in explanation.replies]
    if changes := _greatest(explanation.changes):
        lines.append("Features that change along the line (pawns, White's view):")
        lines += [f"  {change.words()}" for change in changes]
    if rows := _proof_rows(explanation):
        lines.append("Defences:")
        lines += [f"  {defence:<10} {answer}  ({mate})" if mate else f"  {defence}" for defence, answer, mate in rows]
    return "\n".join(lines)


def explanation_data(explanation: MoveExplanation) -> dict[str, Any]:
    """The explanation for JSON."""
    board = explanation.board
    after = board_after(board, [explanation.move])
    proof = explanation.proof
    return {
        "fen": board.fen(),
        "move": board.uci(explanation.move),
        "san": board.san(explanation.move),
        "value": value_data(explanation.value),
        "judgement": explanation.judgement.mark.word,
        "loss": round(explanation.judgement.loss, 4),
        "line": _uci(board, explanation.line),
        "depth": explanation.depth,
        "nodes": explanation.nodes,
        "best": {"line": _uci(board, explanation.best.line), "value": value_data(explanation.best.value)},
        "others": None if explanation.others is None else value_data(explanation.others),
        "alternatives": explanation.alternatives,
        "reply_count": explanation.reply_count,
        "replies": [
            {"line": _uci(after, reply.line), "value": value_data(reply.value)} for reply in explanation.replies
        ],
        "features": [
            {"title": change.title, "side": "white" if change.color else "black", "white_cp": change.cp}
            for change in explanation.changes
        ],
        "reason": None if explanation.reason is None else explanation.reason.text,
        "tablebases": explanation.verdict or None,
        "proof": None
        if proof is None
        else {
            "winner": "white" if proof.white_mates else "black",
            "moves": proof.moves,
            "complete": proof.is_complete,
            "cut": proof.is_cut,
            "answers": [
                {"defence": defence, "line": answer, "mate": given.mate}
                for (defence, answer, _), given in zip(_proof_rows(explanation), proof.answers, strict=True)
            ],
        },
    }


def _named_lines(explanation: MoveExplanation) -> list[tuple[str, Value, list[chess.Move]]]:
    """The lines that are worth playing through: of the move, the better one, and the other replies."""
    board, move = explanation.board, explanation.move
    lines = [(numbered(board, move), explanation.value, list(explanation.line))]
    if not explanation.is_best and explanation.best.line:
        best = explanation.best
        lines.append((f"Better: {numbered(board, best.line[0])}", best.value, list(best.line)))
    after = board_after(board, [move])
    for reply in explanation.replies[1:]:
        lines.append((f"Reply {numbered(after, reply.line[0])}", reply.value, [move, *reply.line]))
    return lines


def explanation_html(explanation: MoveExplanation) -> str:
    """A board, sentences and the lines, for a notebook."""
    rows = [
        (name, value.text, line_text(explanation.board, moves)) for name, value, moves in _named_lines(explanation)
    ]
    text = "".join(f"<p>{html_text.escape(sentence)}</p>" for sentence in sentences(explanation))
    if changes := _greatest(explanation.changes):
        words = ", ".join(change.words() for change in changes)
        text += f"<p>Along the line: {html_text.escape(words)}.</p>"
    return _fragment(explanation.board, explanation.move, text, ("", "Value", "Line"), rows)


def explanation_page(explanation: MoveExplanation) -> str:
    """The explanation as one self-contained page."""
    board = explanation.board
    lines = []
    rows: list[dict[str, Any]] = []
    for number, (name, value, moves) in enumerate(_named_lines(explanation)):
        lines.append(line(board, moves, 0, f"{name} ({value.text})", value))
        rows.append({"line": number, "name": name, "cells": [value.text], "words": line_text(board, moves)})
    texts = sentences(explanation)
    if changes := _greatest(explanation.changes):
        words = ", ".join(change.words() for change in changes)
        texts.append(f"Along the line, in pawns from White's view: {words}.")
    title = f"{numbered(board, explanation.move)}{explanation.judgement.mark.sign} explained"
    return _page(board, explanation.value, title, texts, ("Value", "Line"), rows, lines, _proof_rows(explanation))


# Parts --------------------------------------------------------------------------------------------------------------


def _page(
    board: chess.Board,
    value: Value | None,
    title: str,
    texts: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[dict[str, Any]],
    lines: Sequence[dict[str, Any]],
    proof: Sequence[tuple[str, str, str]] = (),
) -> str:
    side = "White" if board.turn else "Black"
    start = first_position(board, f"{side} is to move.", value)
    data = {"positions": [start], "lines": lines, "flipped": not board.turn}
    return render(
        "explain.html.j2", data, title=title, fen=board.fen(), texts=texts, columns=columns, rows=rows, proof=proof
    )


def _fragment(
    board: chess.Board,
    move: chess.Move | None,
    text: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> str:
    arrows = [] if move is None else [chess.svg.Arrow(move.from_square, move.to_square)]
    svg = chess.svg.board(board, orientation=board.turn, arrows=arrows, size=280)
    head = "".join(f"<th>{html_text.escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{html_text.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{svg}{text}{table}</div>"
