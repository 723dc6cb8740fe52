"""Motifs: a table of positions with the motif that decides, or none; and what is said of them, held to the board."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.game_analysis.boards import exchange, gain_of, is_trapped
from uci_engine.game_analysis.tactics import Kind, Line, Motif, deciding_motifs
from uci_engine.game_analysis.words import motif_words

NONE = "none"


class Row(NamedTuple):
    fen: str
    line: tuple[chess.Move, ...]
    expected: tuple[str, ...]
    source: str

    def found(self) -> tuple[Motif, ...]:
        board = chess.Board(self.fen)
        return deciding_motifs(Line(board, self.line, board.turn))

    def is_right(self) -> bool:
        kinds = [motif.kind.value for motif in self.found()]
        return not kinds if self.expected == (NONE,) else any(kind in self.expected for kind in kinds)


def table(name: str) -> list[list[str]]:
    lines = (Path(__file__).parent / "tables" / name).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


ROWS = [
    Row(fen, tuple(map(chess.Move.from_uci, moves.split())), tuple(expected.split("|")), source)
    for fen, moves, expected, source in table("motifs.tsv")
]
WORDS = table("motif_words.tsv")
NAMED = re.compile(r"\d+\.+[-\w+#=]+|\b[a-h][1-8]\b|\b(?:pawns?|piece|knight|bishop|rook|queen|king|White|Black)\b")


def test_the_table_is_legal_and_half_of_it_has_no_motif() -> None:
    assert len(ROWS) >= 150
    assert len({(row.fen, row.line) for row in ROWS}) == len(ROWS)
    assert 0.4 < sum(row.expected == (NONE,) for row in ROWS) / len(ROWS) < 0.6
    for row in ROWS:
        board = chess.Board(row.fen)
        assert board.is_valid(), row.fen
        for move in row.line:
            assert board.is_legal(move), (row.fen, move)
            board.push(move)
        assert set(row.expected) <= {NONE, *(kind.value for kind in Kind)}


@pytest.mark.parametrize(("source", "named", "wrong"), [("games", 0.95, 0.04), ("made", 0.95, 0), ("apart", 0.85, 0)])
def test_most_motifs_are_named_and_hardly_any_where_there_is_none(source: str, named: float, wrong: float) -> None:
    rows = [row for row in ROWS if row.source == source]
    motifs = [row for row in rows if row.expected != (NONE,)]
    quiet = [row for row in rows if row.expected == (NONE,)]
    assert sum(row.is_right() for row in motifs) >= named * len(motifs)
    assert sum(not row.is_right() for row in quiet) <= wrong * len(quiet)


# What each motif claims, held to the positions before and after its move ---------------------------------------------


class Claim(NamedTuple):
    """A motif with the positions before and after its move, those of the whole line, and its moves."""

    motif: Motif
    before: chess.Board
    after: chess.Board
    boards: list[chess.Board]
    moves: list[chess.Move]

    @property
    def loser(self) -> chess.Color:
        return not self.before.turn


def attacks_all(claim: Claim) -> bool:
    return all(target in claim.after.attacks(claim.motif.actor) for target in claim.motif.targets)


def is_fork(claim: Claim) -> bool:
    pieces = [claim.after.color_at(target) for target in claim.motif.targets]
    return len(pieces) >= 2 and set(pieces) == {claim.loser} and attacks_all(claim)


def is_pinned(claim: Claim) -> bool:
    (front,), (back,) = claim.motif.targets, claim.motif.others
    return bool(chess.between(claim.motif.actor, back) & chess.BB_SQUARES[front]) and attacks_all(claim)


def is_skewer(claim: Claim) -> bool:
    front, back = claim.motif.targets
    is_between = chess.between(claim.motif.actor, back) & chess.BB_SQUARES[front]
    return bool(is_between) and front in claim.after.attacks(claim.motif.actor)


def is_discovered_attack(claim: Claim) -> bool:
    (target,) = claim.motif.targets
    return attacks_all(claim) and target not in claim.before.attacks(claim.motif.actor)


def is_discovered_check(claim: Claim) -> bool:
    return claim.motif.actor in claim.after.checkers() and claim.motif.actor != claim.motif.move.to_square


def was_guarded(claim: Claim) -> bool:
    """Whether the guard that is taken, drawn away or cut off saw the square, and at the end does not."""
    square, guard = claim.motif.targets[-1], claim.motif.others[0]
    last = claim.boards[claim.motif.wins]
    still = last.piece_at(guard) == claim.before.piece_at(guard) and square in last.attacks(guard)
    return square in claim.before.attacks(guard) and not still


def is_cut_off(claim: Claim) -> bool:
    between = chess.between(claim.motif.others[0], claim.motif.targets[0])
    return was_guarded(claim) and bool(between & chess.BB_SQUARES[claim.motif.actor])


def is_left(claim: Claim) -> bool:
    """Whether the next move of its side goes to the square that the move leaves, or beyond it."""
    next_move, (square,) = claim.moves[claim.motif.ply + 2], claim.motif.targets
    way = chess.SquareSet.between(next_move.from_square, next_move.to_square) | {next_move.to_square}
    return claim.motif.move.from_square == square and square in way


def guards_both(claim: Claim) -> bool:
    guard = claim.motif.others[0]
    return claim.after.color_at(guard) == claim.loser and set(claim.motif.targets) <= set(claim.after.attacks(guard))


def is_drawn_there(claim: Claim) -> bool:
    reply = claim.moves[claim.motif.ply + 1]
    return (reply.from_square, reply.to_square) == (claim.motif.others[0], claim.motif.targets[0])


def guard_is_pinned(claim: Claim) -> bool:
    return bool(chess.between(claim.motif.actor, claim.motif.others[1]) & chess.BB_SQUARES[claim.motif.others[0]])


def is_too_late(claim: Claim) -> bool:
    """Whether the king, to move, cannot reach the square of promotion by the move after the pawn has promoted."""
    (king,), (pawn,) = claim.motif.targets, claim.motif.others
    goal = chess.square(chess.square_file(pawn), 0 if claim.loser else 7)
    return chess.square_distance(king, goal) > chess.square_distance(pawn, goal) + 1


def has_only_losing_moves(claim: Claim) -> bool:
    """Whether after each move of the side to move the other side takes more than it took, promotes or mates."""
    for move in list(claim.after.legal_moves):
        reply = claim.after.copy(stack=False)
        reply.push(move)
        taken = gain_of(claim.after, move)
        gains = (exchange(reply, answer) > taken for answer in list(reply.legal_moves))
        if not any(gains):
            return False
    return not claim.after.is_check()


def attacks_through(claim: Claim) -> bool:
    """Whether two captures on the square follow, the second by the actor, through the piece that made the first."""
    answer, again = claim.moves[claim.motif.ply + 1], claim.moves[claim.motif.ply + 2]
    (square,), (through,) = claim.motif.targets, claim.motif.others
    line = chess.between(claim.motif.actor, square) & chess.BB_SQUARES[through]
    return (answer.from_square, answer.to_square) == (through, square) and again.to_square == square and bool(line)


def took_what_is_guarded(claim: Claim) -> bool:
    earlier, last = claim.boards[claim.motif.ply - 1], claim.moves[claim.motif.ply - 1]
    is_guarded = earlier.is_attacked_by(claim.before.turn, claim.motif.targets[0])
    return is_guarded and earlier.is_capture(last) and last.to_square == claim.motif.targets[0]


def comes_in_between(claim: Claim) -> bool:
    """Whether the other side has just taken, and is taken back with the next move instead of this one."""
    ply, (square,) = claim.motif.ply, claim.motif.targets
    has_taken = claim.boards[ply - 1].is_capture(claim.moves[ply - 1]) and claim.moves[ply - 1].to_square == square
    return has_taken and claim.motif.move.to_square != square and claim.moves[ply + 2].to_square == square


def checks_until_a_position_comes_again(claim: Claim) -> bool:
    first, last = claim.motif.ply, claim.motif.wins + 1
    checks = all(claim.boards[ply + 1].is_check() for ply in range(first, last, 2))
    placements = [(board.board_fen(), board.turn) for board in claim.boards[first : last + 1]]
    return checks and placements[-1] in placements[:-1]


def kings_face_each_other(claim: Claim) -> bool:
    (other,), king = claim.motif.targets, claim.motif.actor
    is_near = chess.square_file(king) == chess.square_file(other) and chess.square_distance(king, other) == 2
    return is_near and claim.after.king(claim.loser) == other and claim.after.turn == claim.loser


CLAIMS: dict[Kind, Callable[[Claim], bool]] = {
    Kind.FORK: is_fork,
    Kind.PIN: is_pinned,
    Kind.PINNED_GUARD: guard_is_pinned,
    Kind.SKEWER: is_skewer,
    Kind.DISCOVERED_ATTACK: is_discovered_attack,
    Kind.DISCOVERED_CHECK: is_discovered_check,
    Kind.DOUBLE_CHECK: lambda claim: len(claim.after.checkers()) == 2,
    Kind.HANGING: lambda claim: not claim.before.attackers(claim.loser, claim.motif.targets[0]),
    Kind.UNDERDEFENDED: lambda claim: exchange(claim.before.copy(), claim.motif.move) >= 1,
    Kind.TRAPPED: lambda claim: is_trapped(claim.after, claim.motif.targets[0]),
    Kind.REMOVED_GUARD: was_guarded,
    Kind.DEFLECTION: was_guarded,
    Kind.INTERFERENCE: is_cut_off,
    Kind.CLEARANCE: is_left,
    Kind.OVERLOADED: guards_both,
    Kind.ATTRACTION: is_drawn_there,
    Kind.OUTSIDE_SQUARE: is_too_late,
    Kind.ZUGZWANG: has_only_losing_moves,
    Kind.PROMOTION: lambda claim: claim.motif.move.promotion == chess.QUEEN,
    Kind.STALEMATE: lambda claim: claim.boards[-1].is_stalemate(),
    Kind.X_RAY: attacks_through,
    Kind.GUARDED: took_what_is_guarded,
    Kind.INTERMEZZO: comes_in_between,
    Kind.PERPETUAL_CHECK: checks_until_a_position_comes_again,
    Kind.UNDERPROMOTION: lambda claim: claim.motif.move.promotion in (chess.KNIGHT, chess.BISHOP, chess.ROOK),
    Kind.OPPOSITION: kings_face_each_other,
    **{kind: lambda claim: claim.after.is_checkmate() for kind in Kind if kind.is_mate},
}


def check(board: chess.Board, moves: tuple[chess.Move, ...], winner: chess.Color) -> int:
    """Check the claims of all motifs of a line, and that their words name only squares with what they say."""
    line = Line(board, moves, winner)
    motifs = deciding_motifs(line)
    for motif in motifs:
        assert line.moves[motif.ply] == motif.move
        assert line.boards[motif.ply].turn == winner
        claim = Claim(motif, line.boards[motif.ply], line.boards[motif.ply + 1], line.boards, line.moves)
        assert CLAIMS[motif.kind](claim), (board.fen(), moves, motif)
        words = motif_words(line, motif)
        assert "  " not in words
        assert words.strip() == words != ""
        assert line.boards[motif.ply].san(motif.move) in words or motif.kind in (
            Kind.OVERLOADED,
            Kind.PINNED_GUARD,
            Kind.X_RAY,
            Kind.OUTSIDE_SQUARE,
        )
    return len(motifs)


def test_every_kind_has_a_claim() -> None:
    assert set(CLAIMS) == set(Kind)


@pytest.mark.parametrize("winner", chess.COLORS)
def test_what_is_said_of_the_table_is_true(winner: chess.Color) -> None:
    found = sum(check(chess.Board(row.fen), row.line, winner) for row in ROWS)
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
    line = tuple(after.move_stack)
    for winner in chess.COLORS:
        check(board, line, winner)


@pytest.mark.parametrize("row", WORDS, ids=range(len(WORDS)))
def test_the_words_name_the_moves_squares_and_pieces_of_the_motif(row: list[str]) -> None:
    fen, moves, kind, names = row
    board = chess.Board(fen)
    line = Line(board, [chess.Move.from_uci(move) for move in moves.split()], board.turn)
    motifs = deciding_motifs(line)[:1]
    assert [motif.kind.value for motif in motifs] == ([] if kind == NONE else [kind])
    assert " ".join(NAMED.findall("".join(motif_words(line, motif) for motif in motifs))) == names.strip("-")
