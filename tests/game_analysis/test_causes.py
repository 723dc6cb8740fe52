"""Why a move is an error or good: the kind of the cause and what it rests on; what moves do for the reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import chess
import pytest
from chess.engine import Cp, Limit, Mate
from hypothesis import given
from hypothesis import strategies as st

from toolkit.claims import claims_of
from uci_engine import Engine
from uci_engine.game_analysis.boards import numbered
from uci_engine.game_analysis.causes import Account, Cause, Why, causes_of, merits_of
from uci_engine.game_analysis.judgement import Found, value_of
from uci_engine.game_analysis.searches import Searches
from uci_engine.game_analysis.tactics import Kind, Line, Motif, opened_by
from uci_engine.game_analysis.words import cause_words, material_words, sentence

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "tables" / "causes.tsv").read_text().splitlines()
    if not line.startswith("#")
]


def found(score: str, line: str) -> Found:
    shown = Mate(int(score[1:])) if score[0] == "#" else Cp(int(score))
    return Found(value_of(shown), line=tuple(map(chess.Move.from_uci, line.split())))


def moves(board: chess.Board, *words: str) -> tuple[chess.Move, ...]:
    """The line of moves that these words are, from a board."""
    after = board.copy()
    return tuple(after.push_san(word) for word in words)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash=8) as engine:
        yield engine


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_the_cause_of_an_error(engine: Engine, row: list[str]) -> None:
    fen, played, played_line, better, better_line, why, named, how, material = row
    board = chess.Board(fen)
    engine.new_game()
    find = Searches(engine).finder(Limit(nodes=20_000))
    cause, *_ = causes_of(board, found(played, played_line), found(better, better_line), find)
    assert cause.why.value == why
    told = [
        f"{motif.kind.value.replace(' ', '_')}:{','.join(map(chess.square_name, motif.targets))}"
        for motif in cause.motifs
    ]
    assert " ".join(told) == named.strip("-")
    assert (cause.is_threat, cause.opened and cause.opened.kind.value) == (
        how == "threat",
        None if how in "-threat" else how,
    )
    assert " ".join(map(str, cause.material)) == material.strip("-") or "-1" in material
    check(cause)


def check(cause: Cause) -> None:
    """What a cause says holds on the board, by the rules of chess."""
    line, plies = cause.line, range(len(cause.line.moves))
    assert 0 <= cause.end <= len(line.moves)
    for motif in cause.motifs:
        assert motif.ply in plies
        assert line.moves[motif.ply] == motif.move
    assert all(is_true for claim, is_true in claims_of(cause) if claim != "material in the line shown"), (
        line.boards[0].fen(),
        cause,
    )
    for evidence in cause.evidence:
        assert evidence.board.is_legal(evidence.found.line[0])
        assert evidence.board.turn == (cause.winner if cause.why is not Why.DEFENCE else not cause.winner)
    if cause.mate:
        assert cause.winner == line.winner
    text = sentence([cause])
    assert text[0].isupper() or text[0].isdigit()
    assert not text.endswith(".")
    if cause.motifs and cause.motifs[0].kind in (Kind.CAPTURE, Kind.ATTACK) and not cause.mate:
        assert numbered(line.boards[cause.motifs[0].ply], cause.motifs[0].move) in text


CHOICES = st.lists(st.integers(0, 40), max_size=8)


def any_line(board: chess.Board, choices: Sequence[int]) -> tuple[chess.Move, ...]:
    after = board.copy(stack=False)
    for choice in choices:
        options = sorted(after.legal_moves, key=chess.Move.uci)
        if options:
            after.push(options[choice % len(options)])
    return tuple(after.move_stack)


@given(st.sampled_from(ROWS), CHOICES, CHOICES, st.integers(-3000, 3000), st.integers(-3000, 3000), st.booleans())
def test_what_is_said_of_any_two_lines_holds_on_the_board(
    row: list[str], one: list[int], other: list[int], played_cp: int, better_cp: int, is_answered: bool
) -> None:
    board = chess.Board(row[0])
    played, better = any_line(board, [0, *one]), any_line(board, [1, *other])

    def find(position: chess.Board, options: Sequence[chess.Move] | None = None) -> Found:
        """Whatever comes first, for what the player would like best."""
        line = any_line(position, [0]) if options is None else tuple(options[:1])
        return Found(value_of(Cp(900 if board.turn else -900)), line=line) if is_answered else Found(value_of(Cp(0)))

    for cause in causes_of(
        board, Found(value_of(Cp(played_cp)), line=played), Found(value_of(Cp(better_cp)), line=better), find
    ):
        check(cause)
    for cause in merits_of(board, Found(value_of(Cp(played_cp)), line=played), value_of(Cp(better_cp)), find):
        check(cause)


def test_nothing_is_confirmed_where_nothing_is_searched() -> None:
    confirmed = (Why.REPLY, Why.MISSED_THREAT, Why.DEFENCE)
    for fen, played, line, better, other, *_ in ROWS:
        causes = causes_of(
            chess.Board(fen), found(played, line), found(better, other), lambda *_: Found(value_of(Cp(0)))
        )
        assert all(cause.why not in confirmed and not cause.evidence for cause in causes)


# What moves do for the reply ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "line", "kind", "other"),
    [
        ("4k3/8/2b5/8/4P3/2N5/8/4K3 w - - 0 1", "Na2 Bxe4", Kind.UNGUARDED, ""),
        ("4k3/8/8/8/r3N2P/8/8/4K3 w - - 0 1", "Ng3 Rxh4", Kind.OPENED, "a4"),
        ("4k3/8/8/8/r3N2P/8/8/4K3 w - - 0 1", "Nc3 Ra3", None, ""),
    ],
)
def test_what_a_move_does_for_the_reply(fen: str, line: str, kind: Kind | None, other: str) -> None:
    board = chess.Board(fen)
    opened = opened_by(Line(board, moves(board, *line.split()), not board.turn))
    assert (opened.kind if opened else None) is kind
    assert "".join(map(chess.square_name, opened.others if opened else ())) == other


# Words ---------------------------------------------------------------------------------------------------------------


def test_every_kind_of_cause_has_words() -> None:
    board = chess.Board()
    line = Line(board, moves(board, "e4", "e5", "Nf3"), board.turn)
    for why in Why:
        motif = Motif(Kind.ATTACK, 0, line.moves[0], line.moves[0].to_square, (chess.E4,))
        threat = Account(line, 0, 1) if why in (Why.REPLY, Why.MISSED_THREAT) else None
        assert cause_words(Cause(why, board.turn, line, (motif,), 1, (1, 0, 0, 0, 0, 0), mate=2, threat=threat))
    assert sentence([]) == ""


@pytest.mark.parametrize(
    ("won", "words"),
    [
        ((0, 1, 0, 0, 0, 0), "a piece"),
        ((1, 0, 0, 0, 0, 0), "a pawn"),
        ((2, 0, 0, 0, 0, 0), "two pawns"),
        ((0, -1, 0, 1, 0, 0), "the exchange"),
        ((1, -1, 0, 1, 0, 0), "the exchange and a pawn"),
        ((-1, -1, 0, 1, 0, 0), "the exchange for a pawn"),
        ((-1, 1, 0, 0, 0, 0), "a piece for a pawn"),
        ((0, 1, -1, 0, 0, 0), ""),
        ((0, 0, 0, 1, 1, 0), "a queen and a rook"),
        ((0, -1, -1, -1, 1, 0), ""),
        ((0, -2, 0, -1, 2, 0), "material"),
    ],
)
def test_material_in_words(won: tuple[int, ...], words: str) -> None:
    assert material_words(won) == words
