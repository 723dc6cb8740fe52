"""Self-play data: openings, what is kept of a game, and runs that are killed and continued."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from evaluation.base.record import AHEAD, CAPTURE, FIRST, QUIET
from selfplay import PlayedGame, Recipe, SelfPlayer, main, parse_arguments, play_game, random_opening, self_player
from tests.support.kernel import ALL_CORES, STARTS, board_after, core_or_skip, is_compiled, on_core
from toolkit.errors import ProgramError
from toolkit.games.adjudication import Adjudicator, Rules
from toolkit.training.positions import (
    RECORD,
    RESULT_NAMES,
    are_quiet,
    board_of,
    continued,
    game_numbers,
    read_positions,
)

NODES = 100
MIDDLEGAME = "r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1"


@pytest.fixture(scope="module")
def player() -> SelfPlayer:
    return self_player(NODES, 1)


def rules() -> Rules:
    """Short games: plain Python plays them, too."""
    return Rules(max_moves=40 if is_compiled() else 4)


# ---- Openings ----


def recipe(**settings: Any) -> Recipe:
    words = parse_arguments(["--output", "x"])
    openings = (words.plies, words.endgames, words.pieces)
    return replace(Recipe(*openings, NODES, 1, 0, 0, rules()), **settings)


def test_openings_are_legal_varied_and_repeatable() -> None:
    asked = recipe(plies=(2, 5), endgames=0.4, pieces=(5, 5))
    boards, again = ([asked.opening(random.Random(number)) for number in range(300)] for _ in range(2))
    assert [(board.fen(), board.move_stack) for board in boards] == [(board.fen(), board.move_stack) for board in again]
    assert all(board.is_valid() and any(board.legal_moves) and not board.is_check() for board in boards)
    endgames = [board for board in boards if board.occupied.bit_count() == 5]
    assert 90 <= len(endgames) <= 150
    others = [board for board in boards if board.occupied.bit_count() > 5]
    assert {board.ply() for board in others} == {2, 3, 4, 5}
    assert len({board.fen() for board in others}) > 0.9 * len(others)


@pytest.mark.parametrize("words", ["--plies 5-2", "--plies x", "--plies 3-", "--pieces 2-4", "--endgames 1.5"])
def test_openings_that_are_none_are_refused(words: str) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["--output", "x", *words.split()])


def test_a_run_whose_openings_are_all_unequal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.MAX_OPENINGS", 3)
    monkeypatch.setattr("selfplay.random_opening", lambda *_: chess.Board("4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1"))
    with pytest.raises(ProgramError, match="no game can begin"):
        play_game(recipe(), 0)


# ---- One game ----


def boards_of(game: PlayedGame) -> tuple[Any, list[chess.Board]]:
    positions = np.frombuffer(game.records, RECORD)
    return positions, [board_of(position) for position in positions]


@pytest.mark.parametrize("start", [chess.STARTING_FEN, STARTS[1], chess.Board.from_chess960_pos(100).fen()])
def test_a_game_is_legal_and_its_positions_are_labelled(player: SelfPlayer, start: str) -> None:
    game = player.play(chess.Board(start), rules(), 1)
    positions, boards = boards_of(game)
    assert game.result is not None
    assert (positions["result"] == RESULT_NAMES.index(game.result)).all()
    assert game_numbers(positions).tolist() == [0] * len(positions)
    assert positions["flags"][0] & FIRST
    first = chess.Board(start, chess960=boards[0].chess960)
    assert boards[0].fen() == first.fen()
    for board, following in itertools.pairwise(boards):
        assert not board.is_check()
        if following.ply() == board.ply() + 1:
            afters = [board_after(board.fen(), move.uci(), board.chess960) for move in board.legal_moves]
            assert following.fen() in [after.fen() for after in afters]


def test_the_same_game_again(player: SelfPlayer) -> None:
    board = chess.Board()
    board.push_san("e4")
    first = player.play(board, rules(), 1, ahead=2)
    other = player.play(board, rules(), 2, ahead=2)
    assert player.play(board, rules(), 1, ahead=2) == first
    assert (other.result, other.records == first.records) == (first.result, False)


def test_flags_and_scores_of_known_positions(player: SelfPlayer) -> None:
    # A queen can be taken: not quiet, the best move captures, and the score is White's.
    for fen, sign in (("4k3/8/8/3q4/4P3/8/PP6/4K3 w - - 0 1", 1), ("4k3/pp6/8/4p3/3Q4/8/8/4K3 b - - 0 1", -1)):
        first = boards_of(player.play(chess.Board(fen), Rules(max_moves=1), 1))[0][0]
        assert first["flags"] == FIRST | CAPTURE
        assert sign * int(first["score_cp"]) > 100
    # Also long after the last capture or move of a pawn.
    for fen in (chess.STARTING_FEN, "4k3/pppp4/8/8/8/8/PPPPPPPP/4K3 b - - 40 60"):
        quiet = boards_of(player.play(chess.Board(fen), Rules(max_moves=1), 1))[0][0]
        assert quiet["flags"] & (QUIET | CAPTURE) == QUIET


@pytest.mark.parametrize(
    ("fen", "max_moves", "result"),
    [
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 0, "1-0"),  # mates
        ("8/8/8/8/8/5kq1/8/7K b - - 0 1", 0, "0-1"),
        ("r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", 1, "0-1"),  # mates by the last move
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0, "1/2-1/2"),  # stalemate
        ("8/8/8/4k3/8/4K3/8/8 w - - 0 1", 0, "1/2-1/2"),  # bare kings
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 100 90", 0, "1/2-1/2"),  # fifty moves
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 90", 0, "1-0"),  # mated before
    ],
)
def test_games_end_by_the_rules(player: SelfPlayer, fen: str, max_moves: int, result: str) -> None:
    assert player.play(chess.Board(fen), Rules(max_moves=max_moves), 1).result == result


def test_an_unequal_opening_is_not_played(player: SelfPlayer) -> None:
    board = chess.Board("4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1")
    assert player.play(board, rules(), 1, max_opening_cp=400) == PlayedGame(None, b"")


def test_its_adjudication_is_that_of_matches(player: SelfPlayer) -> None:
    """The scores of a whole game, without positions in check, end it where `Adjudicator` says."""
    asked = Rules(resign_moves=2, resign_cp=300, resign_both=True, draw_from=3, draw_moves=2, draw_cp=20)
    for number in range(12 if is_compiled() else 1):
        opening = random_opening(random.Random(number), (6, 9))
        whole, boards = boards_of(player.play(opening, rules(), 1))
        plies = [board.ply() for board in boards]
        gap = next((index for index in range(1, len(plies)) if plies[index] > plies[index - 1] + 1), len(plies))
        adjudicator, ended = Adjudicator(asked), None
        for index in range(gap - 1):
            score_cp = int(whole["score_cp"][index]) * (1 if boards[index].turn else -1)
            ended = adjudicator.verdict(boards[index + 1], score_cp)
            if ended is not None:
                found = player.play(opening, asked, 1)
                assert found.result == ended[0]
                assert len(found.records) == (index + 1) * RECORD.itemsize
                break


def test_positions_ahead_are_legal_and_belong_to_the_game(player: SelfPlayer) -> None:
    opening = chess.Board(MIDDLEGAME)
    game = player.play(opening, Rules(max_moves=4), 3, ahead=5)
    positions, boards = boards_of(game)
    own = player.play(opening, Rules(max_moves=4), 3).records
    is_ahead = (positions["flags"] & AHEAD) != 0
    # Without what is ahead, the same game: the first of its positions is the first of all.
    assert np.array(positions[~is_ahead]).tobytes() == own
    assert 6 < is_ahead.sum() <= 40
    assert are_quiet(positions[is_ahead]).all()
    assert game.result is not None
    assert set(positions["result"]) == {RESULT_NAMES.index(game.result)}
    assert all(board.is_valid() and not board.is_check() for board in boards)


def are_quiet_here() -> list[bool]:
    """Of the positions ahead of a game: whether a quiescence search finds nothing better than their static eval."""
    opening = chess.Board(MIDDLEGAME)
    machine = SelfPlayer(40, 1)
    records = np.frombuffer(machine.play(opening, Rules(max_moves=4), 3, ahead=5).records, RECORD)
    found = []
    for record in records[(records["flags"] & AHEAD) != 0]:
        machine._searchers[1].position.set_board(board_of(record))
        found.append(bool(machine._game._is_quiet()))
    return found


def test_positions_ahead_are_quiet() -> None:
    found = on_core("interpreted", __name__, "are_quiet_here")
    assert len(found) > 20
    assert all(found)


def records_here() -> list[str]:
    """What is kept of two short games on the core of this process, in base 16."""
    opening = chess.Board(MIDDLEGAME)
    machine = SelfPlayer(40, 1)
    return [machine.play(opening, Rules(max_moves=3), 7, ahead=ahead).records.hex() for ahead in (0, 3)]


def test_every_core_plays_the_same_games() -> None:
    found = [on_core(core_or_skip(core), __name__, "records_here") for core in ALL_CORES]
    assert len(found[0][0]) > 4 * RECORD.itemsize
    assert found[0] == found[1] == found[2]


# ---- Runs ----


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.BATCH_GAMES", 2)
    output, moves = tmp_path / "x.positions", "20" if is_compiled() else "3"
    words = ["--nodes", str(NODES), "--hash", "1", "--output", str(output), "--longest", moves, "--endgames", "0.5"]
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
    with pytest.raises(ProgramError, match="other settings: recipe"):
        main([*words, "--seed", "1", "--resume"])
    assert output.read_bytes() == more


def test_two_runs_cannot_write_the_same_file(tmp_path: Path) -> None:
    output = tmp_path / "x.positions"
    with continued(output, {}, 0), pytest.raises(BlockingIOError), continued(output, {}, 0):
        pass
