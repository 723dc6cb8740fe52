"""What is wrong with a repertoire, and which of these remarks have been accepted.

We are blamed only for what we would play ourselves, not for what follows a move that is marked as avoided. A remark is
accepted up to a cost, so that new trouble in the same place is reported again.

The table of accepted remarks has three columns, separated by tabs: `max_cp`, what the move may lose or how badly the
line may end; `moves`, from the start to the move or to the end of the line; and `reason`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import chess

from lib.books.repertoire import Line, RepertoireError, read_line, replay
from lib.books.theory import Judge, Theory

ACCEPTED = Path(__file__).with_name("accepted.tsv")
HEADER = ["max_cp", "moves", "reason"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A remark; `after`: the position after the move, or at the end of the line, that it is about.

    `cost_cp`: what the move loses, or how far below equality the line ends; None for what cannot be accepted.
    """

    text: str
    after: str
    cost_cp: int | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A cost that is accepted in one position."""

    line: Line
    max_cp: int


def read_accepted(path: Path) -> list[Acceptance]:
    """The rows of such a table. Raises RepertoireError, and OSError."""
    header, *rows = path.read_text("utf-8", errors="replace").split("\n")
    if header.rstrip("\r").split("\t") != HEADER:
        raise RepertoireError(f"{path} has no header with {', '.join(HEADER)}")
    accepted = []
    for number, row in enumerate(rows, start=2):
        if not row.strip() or row.startswith("#"):
            continue
        cells = row.rstrip("\r").split("\t")
        if len(cells) != len(HEADER) or not cells[0].isdecimal() or not cells[2].strip():
            raise RepertoireError(f"{path}, row {number}: not a number, moves and a reason")
        try:
            accepted.append(Acceptance(read_line("A00", cells[2], cells[1]), int(cells[0])))
        except RepertoireError as error:
            raise RepertoireError(f"{path}, row {number}: {error}") from None
    return accepted


def without_accepted(faults: Iterable[Fault], accepted: Iterable[Acceptance], theory: Theory) -> list[Fault]:
    """The faults that are left, and one more for each acceptance of what is not in the repertoire (any longer).

    An acceptance that nothing needs is no fault: the next version of the search may find the move worse.
    """
    rows = {row.line: row for row in accepted}
    max_cp: dict[str, int] = {}
    known = theory.positions()
    left = []
    for line, board in replay(rows):
        after = board.epd()
        max_cp[after] = max(rows[line].max_cp, max_cp.get(after, 0))
        if after not in known:
            left.append(Fault(f"accepted, but not in the repertoire: {line.moves_text()}", after))
    for fault in faults:
        if fault.cost_cp is None or fault.cost_cp > max_cp.get(fault.after, -1):
            left.append(fault)
    return left


def find_faults(theory: Theory, judge: Judge, max_loss_cp: int, worst_end_cp: int) -> list[Fault]:
    """Moves of ours that lose too much, lines that end too badly or before a recapture, and ways of ours that lead to
    where everything known is marked as avoided."""
    ours = theory.ours()
    return [
        *_losing_moves(theory, judge, ours, max_loss_cp),
        *_dead_ends(theory, ours),
        *_ends(theory, judge, worst_end_cp),
    ]


def _losing_moves(theory: Theory, judge: Judge, ours: set[str], max_loss_cp: int) -> Iterable[Fault]:
    for here, choices in theory.choices.items():
        if here not in ours:
            continue
        for choice in choices.values():
            loss = 0 if choice.avoided else judge.loss_cp(here, choice.after)
            if loss > max_loss_cp:
                yield Fault(f"{choice.san} loses {loss} cp in {here}", choice.after, loss)


def _dead_ends(theory: Theory, ours: set[str]) -> Iterable[Fault]:
    for here, choices in theory.choices.items():
        if here in ours and all(choice.avoided for choice in choices.values()):
            known = ", ".join(choice.san for choice in choices.values())
            yield Fault(f"we come to {here}, where all that is known is avoided: {known}", here)


def _ends(theory: Theory, judge: Judge, worst_end_cp: int) -> Iterable[Fault]:
    """A side that plays a move marked as avoided is not "us" in that line."""
    for line, end in theory.ends:
        if end in theory.choices:  # another line goes on
            continue
        white_score = judge.score_cp(end) * (1 if end.split()[1] == "w" else -1)
        for white, score in ((True, white_score), (False, -white_score)):
            if score < worst_end_cp and not any((i % 2 == 0) == white for i in line.avoided):
                side = "White" if white else "Black"
                text = f"{side} has {score} cp at the end of {line.eco} {line.name}: {line.moves_text()}"
                yield Fault(text, end, -score)
        recapture = _recapture(line, judge)
        if recapture:
            yield Fault(f"{line.eco} {line.name} ends before {recapture}: {line.moves_text()}", end, 0)


def _recapture(line: Line, judge: Judge) -> str:
    """The move with which the engine would end an exchange that the line breaks off, or nothing.

    An even number of captures on one square is an exchange that has ended.
    """
    board = chess.Board()
    captures = 0
    square: chess.Square | None = None
    for san in line.moves:
        move = board.parse_san(san)
        captures = (captures if move.to_square == square else 0) + 1 if board.is_capture(move) else 0
        square = move.to_square
        board.push(move)
    answer = judge.preferred(board.epd()) if captures % 2 else None
    if answer is None or answer.to_square != square or not board.is_capture(answer):
        return ""
    return board.san(answer)
