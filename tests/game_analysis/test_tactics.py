"""Motifs: a table of positions with the motif that decides, or none; and what is said of them, held to the board."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.claims import DEED_RULES, RULES, Claim
from uci_engine.game_analysis.positional import Deed
from uci_engine.game_analysis.tactics import Kind, Line, deciding_motifs
from uci_engine.game_analysis.words import DEEDS, motif_words

NONE = "none"


def table(name: str) -> list[list[str]]:
    lines = (Path(__file__).parent / "tables" / name).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def line_of(fen: str, moves: str, winner: chess.Color | None = None) -> Line:
    """A line in UCI. `winner`: None for the side that moves first."""
    board = chess.Board(fen)
    return Line(board, list(map(chess.Move.from_uci, moves.split())), board.turn if winner is None else winner)


class Row(NamedTuple):
    """A position, its line in UCI, the kinds of which each is right or NONE, and the set that it is in."""

    fen: str
    moves: str
    expected: str
    source: str

    def is_right(self) -> bool:
        kinds = [motif.kind.value for motif in deciding_motifs(line_of(self.fen, self.moves))] or [NONE]
        return not {*kinds}.isdisjoint(self.expected.split("|"))


ROWS = [Row(*row) for row in table("motifs.tsv")]
WORDS = table("motif_words.tsv")
# What the table has, and nothing looks for.
UNSOUGHT = ("intermezzo", "opposition", "zugzwang")
NAMED = re.compile(r"\d+\.+[-\w+#=]+|\b[a-h][1-8]\b|\b(?:pawns?|piece|knight|bishop|rook|queen|king|White|Black)\b")


@pytest.mark.parametrize(("source", "named", "wrong"), [("games", 0.95, 0.04), ("made", 0.95, 0), ("apart", 0.85, 0)])
def test_most_motifs_are_named_and_hardly_any_where_there_is_none(source: str, named: float, wrong: float) -> None:
    rows = [row for row in ROWS if row.source == source]
    motifs, quiet = ([row for row in rows if (row.expected == NONE) == is_quiet] for is_quiet in (False, True))
    assert motifs
    assert quiet
    assert sum(row.is_right() for row in motifs) >= named * len(motifs)
    assert sum(not row.is_right() for row in quiet) <= wrong * len(quiet)


# What each motif claims, held to the positions before and after its move ---------------------------------------------


def check(line: Line) -> int:
    """Check the claims of all motifs of a line, and that their words name only squares with what they say."""
    motifs = deciding_motifs(line)
    for motif in motifs:
        assert line.moves[motif.ply] == motif.move
        assert line.boards[motif.ply].turn == line.winner
        assert RULES[motif.kind](Claim.of(line, motif)), (line.boards[0].fen(), line.moves, motif)
        words = motif_words(line, motif)
        assert "  " not in words
        assert words.strip() == words != ""
        names_no_move = motif.kind in (Kind.OVERLOADED, Kind.PINNED_GUARD)
        assert names_no_move or line.boards[motif.ply].san(motif.move) in words
    return len(motifs)


def test_every_kind_has_a_rule() -> None:
    assert set(RULES) == set(Kind) - {Kind.DEED}
    assert set(DEED_RULES) == set(DEEDS) == set(Deed)
    known = {NONE, *UNSOUGHT, *(kind.value for kind in Kind)}
    assert {kind for row in ROWS for kind in row.expected.split("|")} <= known


@pytest.mark.parametrize("winner", chess.COLORS)
def test_what_is_said_of_the_table_is_true(winner: chess.Color) -> None:
    found = sum(check(line_of(row.fen, row.moves, winner)) for row in ROWS)
    assert found > 20


@given(st.sampled_from(ROWS), st.lists(st.integers(0, 50), min_size=1, max_size=8), st.booleans())
def test_what_is_said_of_any_line_is_true(row: Row, choices: list[int], greedy: bool) -> None:
    board = chess.Board(row.fen)
    after = board.copy(stack=False)
    for choice in choices:
        # Captures and checks make more motifs than other moves do.
        moves = sorted(after.legal_moves, key=lambda move: (greedy and not after.is_capture(move), move.uci()))
        if not moves:
            break
        after.push(moves[choice % len(moves) if not greedy else choice % min(3, len(moves))])
    for winner in chess.COLORS:
        check(Line(board, list(after.move_stack), winner))


@pytest.mark.parametrize("row", WORDS, ids=range(len(WORDS)))
def test_the_words_name_the_moves_squares_and_pieces_of_the_motif(row: list[str]) -> None:
    fen, moves, kind, names = row
    line = line_of(fen, moves)
    motifs = deciding_motifs(line)[:1]
    assert [motif.kind.value for motif in motifs] == ([] if kind == NONE else [kind])
    assert " ".join(NAMED.findall("".join(motif_words(line, motif) for motif in motifs))) == names.strip("-")


def test_a_pawn_before_its_king_is_not_pinned() -> None:
    assert deciding_motifs(line_of("4k3/8/8/4p3/8/8/8/R5K1 w - - 0 1", "a1e1 e8d7 e1e5")) == ()
