"""Self-play data: openings, what is kept of a game, and runs that are killed and continued."""

from __future__ import annotations

import gzip
import itertools
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from selfplay import Recipe, SelfPlayer, book_of, main, parse_arguments, play_game, random_opening, self_player
from tests.support.kernel import STARTS, board_after, is_compiled, on_all_cores, on_core
from toolkit.errors import ProgramError
from toolkit.training.positions import (
    AHEAD,
    CAPTURE,
    FIRST,
    QUIET,
    RECORD,
    are_quiet,
    board_of,
    continued,
    game_numbers,
    read_positions,
    white_to_move,
)
from uci_engine.search.self_play import DRAWN, LOST, WON

NODES = 100
MIDDLEGAME = "r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1"


# Short games: plain Python plays them, too.
LONGEST = 40 if is_compiled() else 4


def player(max_moves: int = LONGEST, nodes: int = NODES, **settings: Any) -> SelfPlayer:
    """Of games with every opening, unless `max_opening_cp` is given."""
    recipe = Recipe(nodes=nodes, hash_mib=1, max_moves=max_moves, max_opening_cp=0)
    return self_player(replace(recipe, **settings))


# ---- Openings ----


def test_openings_are_legal_varied_and_repeatable() -> None:
    boards, again = ([random_opening(random.Random(number), (2, 5)) for number in range(300)] for _ in range(2))
    assert [(board.fen(), board.move_stack) for board in boards] == [(board.fen(), board.move_stack) for board in again]
    assert all(board.is_valid() and any(board.legal_moves) and not board.is_check() for board in boards)
    assert {board.ply() for board in boards} == {2, 3, 4, 5}
    assert len({board.fen() for board in boards}) > 0.9 * len(boards)


@pytest.mark.parametrize("words", ["--plies 5-2", "--plies x", "--plies 3-", "--plies 1-101"])
def test_openings_that_are_none_are_refused(words: str) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["--output", "x", *words.split()])


def test_a_run_whose_openings_are_all_unequal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.MAX_OPENINGS", 3)
    monkeypatch.setattr("selfplay.random_opening", lambda *_: chess.Board("4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1"))
    with pytest.raises(ProgramError, match="nothing is kept of 3 games"):
        play_game(Recipe(nodes=NODES, hash_mib=1), 0)


def test_openings_of_files_come_with_random_moves_behind_them(tmp_path: Path) -> None:
    king_pawn, fischer = tmp_path / "e4.pgn", tmp_path / "frc.epd.gz"
    king_pawn.write_text("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O *\n")
    starts = [chess.Board.from_chess960_pos(number) for number in (0, 100, 959)]
    fischer.write_bytes(gzip.compress("\n".join(board.fen() for board in starts).encode()))
    words = parse_arguments(["--output", "x", "--openings", str(king_pawn), str(fischer)])
    assert parse_arguments(["--output", "x"]).plies == (6, 9)
    assert words.plies == (0, 0)
    openings = (random_opening(random.Random(number), words.plies, words.openings) for number in range(400))
    found = Counter(board.fen() for board in openings)
    after = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4"
    # Each file as often as the other.
    assert 150 < found[after] < 250
    assert all(40 < found[board.fen()] < 100 for board in starts)
    boards = [random_opening(random.Random(number), (2, 3), [king_pawn]) for number in range(40)]
    assert {board.ply() for board in boards} == {9, 10}
    assert all(board.is_valid() and not board.is_check() for board in boards)


@pytest.mark.parametrize("fen", ["6k1/6Q1/6K1/8/8/8/8/8 b - - 0 1", "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1"])
def test_a_file_without_a_usable_opening_is_refused(tmp_path: Path, fen: str) -> None:
    path = tmp_path / "x.epd"
    path.write_text(fen)
    with pytest.raises(ProgramError):
        random_opening(random.Random(1), (0, 0), [path])


# ---- One game ----


@pytest.mark.parametrize("start", [chess.STARTING_FEN, STARTS[1], chess.Board.from_chess960_pos(100).fen()])
def test_a_game_is_legal_and_its_positions_are_labelled(start: str) -> None:
    machine = player()
    positions = machine.play(chess.Board(start), 1)
    boards = [board_of(position) for position in positions]
    assert machine.game.result in (LOST, DRAWN, WON)
    assert (positions["result"] == machine.game.result).all()
    assert game_numbers(positions).tolist() == [0] * len(positions)
    assert positions["flags"][0] & FIRST
    first = chess.Board(start, chess960=boards[0].chess960)
    assert boards[0].fen() == first.fen()
    for board, following in itertools.pairwise(boards):
        assert not board.is_check()
        if following.ply() == board.ply() + 1:
            afters = [board_after(board.fen(), move.uci(), board.chess960) for move in board.legal_moves]
            assert following.fen() in [after.fen() for after in afters]


def test_the_same_game_again() -> None:
    board = chess.Board()
    board.push_san("e4")
    first, other, again = (player(ahead=2).play(board, seed) for seed in (1, 2, 1))
    assert again.tobytes() == first.tobytes() != other.tobytes()
    assert other["result"][0] == first["result"][0]


def test_the_start_position_of_a_file_is_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / "start.epd"
    for fen in (chess.STARTING_FEN, MIDDLEGAME):
        path.write_text(fen)
        opening = random_opening(random.Random(1), (0, 0), [path])
        book_of.cache_clear()
        assert opening.chess960
        usual, read = (player(ahead=2).play(board, 1) for board in (chess.Board(fen), opening))
        assert usual.tobytes() == read.tobytes()


def test_the_first_plies_are_skipped() -> None:
    opening = random_opening(random.Random(1), (4, 4))
    whole = player(6).play(opening, 1)
    found = player(6, skipped_plies=7).play(opening, 1)
    late = whole[2 * whole["fullmove"].astype(int) - white_to_move(whole) - 1 >= 7]
    assert 0 < len(late) < len(whole)
    assert found[1:].tobytes() == late[1:].tobytes()
    assert found[0]["flags"] == late[0]["flags"] | FIRST


def test_flags_and_scores_of_known_positions() -> None:
    # A queen can be taken: not quiet, the best move captures, and the score is White's.
    for fen, sign in (("4k3/8/8/3q4/4P3/8/PP6/4K3 w - - 0 1", 1), ("4k3/pp6/8/4p3/3Q4/8/8/4K3 b - - 0 1", -1)):
        first = player(1).play(chess.Board(fen), 1)[0]
        assert first["flags"] == FIRST | CAPTURE
        assert sign * int(first["score_cp"]) > 100
    # Also long after the last capture or move of a pawn.
    for fen in (chess.STARTING_FEN, "4k3/pppp4/8/8/8/8/PPPPPPPP/4K3 b - - 40 60"):
        quiet = player(1).play(chess.Board(fen), 1)[0]
        assert quiet["flags"] & (QUIET | CAPTURE) == QUIET


@pytest.mark.parametrize(
    ("fen", "max_moves", "result"),
    [
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 0, WON),  # mates
        ("8/8/8/8/8/5kq1/8/7K b - - 0 1", 0, LOST),
        ("r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", 1, LOST),  # mates by the last move
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0, DRAWN),  # stalemate
        ("8/8/8/4k3/8/4K3/8/8 w - - 0 1", 0, DRAWN),  # bare kings
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 100 90", 0, DRAWN),  # fifty moves
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 90", 0, WON),  # mated before
    ],
)
def test_games_end_by_the_rules(fen: str, max_moves: int, result: int) -> None:
    machine = player(max_moves)
    machine.play(chess.Board(fen), 1)
    assert machine.game.result == result


def test_who_sees_itself_lost_ten_times_in_a_row_has_lost() -> None:
    ended = 0
    for number in range(12 if is_compiled() else 1):
        opening = random_opening(random.Random(number), (6, 9))
        whole = player().play(opening, 1)
        found = player(resign_cp=300).play(opening, 1)
        turns = white_to_move(whole).tolist()
        plies = [2 * fullmove + (not turn) for fullmove, turn in zip(whole["fullmove"].tolist(), turns, strict=True)]
        lost = {True: 0, False: 0}
        for index, (turn, white_cp) in enumerate(zip(turns, whole["score_cp"].tolist(), strict=True)):
            # Not so far as a position in check, whose score is not kept.
            if plies[index] - plies[0] > index:
                break
            assert len(found) > index
            lost[turn] = lost[turn] + 1 if (white_cp if turn else -white_cp) <= -300 else 0
            if lost[turn] == 10:
                assert (found["result"][0], len(found)) == (LOST if turn else WON, index + 1)
                ended += 1
                break
    assert ended or not is_compiled()


def test_positions_ahead_are_legal_and_belong_to_the_game() -> None:
    opening = chess.Board(MIDDLEGAME)
    positions = player(4, ahead=5).play(opening, 3)
    boards = [board_of(position) for position in positions]
    own = player(4).play(opening, 3).tobytes()
    is_ahead = (positions["flags"] & AHEAD) != 0
    # Without what is ahead, the same game: the first of its positions is the first of all.
    assert np.array(positions[~is_ahead]).tobytes() == own
    assert 6 < is_ahead.sum() <= 40
    assert are_quiet(positions[is_ahead]).all()
    assert len(set(positions["result"])) == 1
    assert all(board.is_valid() and not board.is_check() for board in boards)


def are_quiet_here() -> list[bool]:
    """Of the positions ahead of a game: whether a quiescence search finds nothing better than their static eval."""
    opening = chess.Board(MIDDLEGAME)
    machine = player(4, ahead=5, nodes=40)
    records = machine.play(opening, 3)
    found = []
    for record in records[(records["flags"] & AHEAD) != 0]:
        machine._searchers[1].position.set_board(board_of(record))
        found.append(bool(machine.game._is_quiet()))
    return found


def test_positions_ahead_are_quiet() -> None:
    found = on_core("interpreted", __name__, "are_quiet_here")
    assert len(found) > 20
    assert all(found)


def records_here() -> list[str]:
    """What is kept of two short games on the core of this process, in base 16."""
    opening = chess.Board(MIDDLEGAME)
    return [player(3, ahead=ahead, nodes=40).play(opening, 7).tobytes().hex() for ahead in (0, 3)]


def test_every_core_plays_the_same_games() -> None:
    first, *others = on_all_cores(__name__, "records_here").values()
    assert len(first[0]) > 4 * RECORD.itemsize
    assert others == [first] * len(others)


# ---- Runs ----


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.BATCH_GAMES", 2)
    output, moves = tmp_path / "x.positions", "20" if is_compiled() else "3"
    words = ["--nodes", str(NODES), "--hash", "1", "--output", str(output), "--longest", moves]
    assert main([*words, "--games", "5"]) == 0
    whole = output.read_bytes()
    provenance, positions = read_positions(output)
    assert provenance["recipe"]["nodes"] == NODES
    assert game_numbers(positions)[-1] == 4
    with pytest.raises(ProgramError, match="continue it with --resume"):
        main([*words, "--games", "5"])
    # As if killed: before the first game, in the midst of a game and of a position, at the end of a game.
    begin = len(whole) - len(positions) * RECORD.itemsize
    third = begin + int(np.flatnonzero(positions["flags"] & FIRST)[2]) * RECORD.itemsize
    for length in (begin, begin + 70, third, third + 40, len(whole)):
        output.write_bytes(whole[:length])
        assert main([*words, "--games", "5", "--resume"]) == 0
        assert output.read_bytes() == whole
    # More games, in more processes.
    assert main([*words, "--games", "8", "--resume", "--concurrency", "2"]) == 0
    more = output.read_bytes()
    assert more.startswith(whole)
    output.unlink()
    assert main([*words, "--games", "8"]) == 0
    assert output.read_bytes() == more
    start = tmp_path / "start.epd"
    start.write_text(chess.STARTING_FEN)
    with pytest.raises(ProgramError, match="other settings: recipe"):
        main([*words, "--openings", str(start), "--resume"])
    with pytest.raises(ProgramError, match="other settings: recipe"):
        main([*words, "--seed", "1", "--resume"])
    assert output.read_bytes() == more


def test_two_runs_cannot_write_the_same_file(tmp_path: Path) -> None:
    output = tmp_path / "x.positions"
    with continued(output, {}, 0), pytest.raises(BlockingIOError), continued(output, {}, 0):
        pass
