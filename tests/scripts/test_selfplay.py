"""Self-play data: openings, what is kept of a game, and runs that are killed, continued, or spread over a cluster."""

from __future__ import annotations

import itertools
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from evaluation.base.record import AHEAD, CAPTURE, FIRST, QUIET
from selfplay import main
from tests.scripts.test_journal import refuses_changed_entries
from tests.support import wait_until
from tests.support.dask_cluster import running_cluster
from tests.support.kernel import ALL_CORES, STARTS, board_after, core_or_skip, is_compiled, on_core
from toolkit.errors import ProgramError
from toolkit.games.adjudication import Adjudicator, Rules
from toolkit.games.openings import Opening, random_opening
from toolkit.training.datagen import Kept, PlayedGame, SelfPlayer, choose_opening, parse_source, self_player
from toolkit.training.positions import RECORD, RESULT_NAMES, are_quiet, board_of, game_numbers, read_positions

NODES = 100


@pytest.fixture(scope="module")
def player() -> SelfPlayer:
    return self_player(NODES, 1)


def rules() -> Rules:
    """Short games: plain Python plays them, too."""
    return Rules(max_moves=40 if is_compiled() else 4)


# ---- Openings ----


def test_random_openings_are_legal_varied_and_repeatable() -> None:
    found = [random_opening(Opening(), random.Random(number), 2, 5) for number in range(50)]
    assert found == [random_opening(Opening(), random.Random(number), 2, 5) for number in range(50)]
    assert {len(opening.moves) for opening in found} == {2, 3, 4, 5}
    assert len({opening.moves for opening in found}) > 45
    assert not any(opening.board().is_check() for opening in found)


def test_an_opening_in_check_is_played_and_one_without_moves_is_passed_over(tmp_path: Path) -> None:
    epd, pgn = tmp_path / "x.epd", tmp_path / "x.pgn"
    epd.write_text("4k3/8/8/8/8/8/4r3/4K3 w - -\n")
    assert choose_opening([parse_source(f"file={epd}")], 1, 0).board().is_check()
    pgn.write_text("1. f3 e5 2. g4 Qh4# 0-1\n")
    mixture = [parse_source(f"file={pgn} cut=1-4")]
    assert {len(choose_opening(mixture, 1, number).moves) for number in range(20)} == {1, 2, 3}
    with pytest.raises(ProgramError, match="no game can begin"):
        choose_opening([parse_source(f"file={pgn} cut=4-4")], 1, 0)


def test_a_file_of_chess960(tmp_path: Path) -> None:
    (tmp_path / "x.epd").write_text("nqrbknbr/ppppp1pp/5p2/8/6P1/8/PPPPPP1P/RKNNBBQR w KQkq - 0 2\n")
    opening = choose_opening([parse_source(f"file={tmp_path / 'x.epd'} chess960=yes")], 1, 0)
    assert opening.board().has_castling_rights(chess.WHITE)


def test_a_mixture_keeps_its_shares(tmp_path: Path) -> None:
    (tmp_path / "x.epd").write_text("4k3/8/8/8/8/8/4P3/4K3 w - -\n")
    sources = [
        parse_source("random plies=1-1"),
        parse_source(f"file={tmp_path / 'x.epd'} share=3"),
        parse_source("endgames pieces=5-5 share=2"),
    ]
    openings = [choose_opening(sources, 1, number) for number in range(300)]
    assert openings == [choose_opening(sources, 1, number) for number in range(300)]
    pieces = [opening.board().occupied.bit_count() for opening in openings]
    assert 30 <= pieces.count(32) <= 75
    assert 120 <= pieces.count(3) <= 180
    assert 75 <= pieces.count(5) <= 125


@pytest.mark.parametrize(
    "text", ["", "file", "random=x", "random plies=5-2", "endgames pieces=2-4", "random cut=3", "random chess960=yes"]
)
def test_a_source_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ProgramError):
        parse_source(text)


# ---- One game ----


def boards_of(game: PlayedGame) -> tuple[Any, list[chess.Board]]:
    positions = np.frombuffer(game.records, RECORD)
    return positions, [board_of(position) for position in positions]


@pytest.mark.parametrize("start", [chess.STARTING_FEN, STARTS[1], chess.Board.from_chess960_pos(100).fen()])
def test_a_game_is_legal_and_its_positions_are_labelled(player: SelfPlayer, start: str) -> None:
    game = player.play(Opening(start), rules(), Kept(), 1)
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
    opening = Opening(moves=("e2e4",))
    first = player.play(opening, rules(), Kept(ahead=2), 1)
    other = player.play(opening, rules(), Kept(ahead=2), 2)
    assert player.play(opening, rules(), Kept(ahead=2), 1) == first
    assert (other.result, other.records == first.records) == (first.result, False)


def test_flags_and_scores_of_known_positions(player: SelfPlayer) -> None:
    # A queen can be taken: not quiet, the best move captures, and the score is White's.
    for fen, sign in (("4k3/8/8/3q4/4P3/8/PP6/4K3 w - - 0 1", 1), ("4k3/pp6/8/4p3/3Q4/8/8/4K3 b - - 0 1", -1)):
        first = boards_of(player.play(Opening(fen), Rules(max_moves=1), Kept(), 1))[0][0]
        assert first["flags"] == FIRST | CAPTURE
        assert sign * int(first["score_cp"]) > 100
    # Also long after the last capture or move of a pawn.
    for fen in (chess.STARTING_FEN, "4k3/pppp4/8/8/8/8/PPPPPPPP/4K3 b - - 40 60"):
        quiet = boards_of(player.play(Opening(fen), Rules(max_moves=1), Kept(), 1))[0][0]
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
    assert player.play(Opening(fen), Rules(max_moves=max_moves), Kept(), 1).result == result


def test_an_unequal_opening_is_not_played(player: SelfPlayer) -> None:
    opening = Opening("4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1")
    assert player.play(opening, rules(), Kept(max_opening_cp=400), 1) == PlayedGame(None, b"")


def test_its_adjudication_is_that_of_matches(player: SelfPlayer) -> None:
    """The scores of a whole game, without positions in check, end it where `Adjudicator` says."""
    asked = Rules(resign_moves=2, resign_cp=300, resign_both=True, draw_from=3, draw_moves=2, draw_cp=20)
    for number in range(12 if is_compiled() else 1):
        opening = random_opening(Opening(), random.Random(number), 6, 9)
        whole, boards = boards_of(player.play(opening, rules(), Kept(), 1))
        plies = [board.ply() for board in boards]
        gap = next((index for index in range(1, len(plies)) if plies[index] > plies[index - 1] + 1), len(plies))
        adjudicator, ended = Adjudicator(asked), None
        for index in range(gap - 1):
            score_cp = int(whole["score_cp"][index]) * (1 if boards[index].turn else -1)
            ended = adjudicator.verdict(boards[index + 1], score_cp)
            if ended is not None:
                found = player.play(opening, asked, Kept(), 1)
                assert found.result == ended[0]
                assert len(found.records) == (index + 1) * RECORD.itemsize
                break


def test_positions_ahead_are_legal_and_belong_to_the_game(player: SelfPlayer) -> None:
    opening = Opening("r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1")
    game = player.play(opening, Rules(max_moves=4), Kept(ahead=5), 3)
    positions, boards = boards_of(game)
    own = player.play(opening, Rules(max_moves=4), Kept(), 3).records
    is_ahead = (positions["flags"] & AHEAD) != 0
    # Without what is ahead, the same game: the first of its positions is the first of all.
    assert np.array(positions[~is_ahead]).tobytes() == own
    assert 6 < is_ahead.sum() <= 40
    assert are_quiet(positions[is_ahead]).all()
    assert game.result is not None
    assert set(positions["result"]) == {RESULT_NAMES.index(game.result)}
    assert all(board.is_valid() and not board.is_check() for board in boards)


def test_the_first_plies_of_a_game_are_left_out(player: SelfPlayer) -> None:
    whole, late = (boards_of(player.play(Opening(), rules(), Kept(skipped_plies=plies), 1)) for plies in (0, 4))
    assert [board.fen() for board in late[1]] == [board.fen() for board in whole[1] if board.ply() >= 4]
    assert late[0]["flags"][0] & FIRST


def are_quiet_here() -> list[bool]:
    """Of the positions ahead of a game: whether a quiescence search finds nothing better than their static eval."""
    opening = Opening("r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1")
    machine = SelfPlayer(40, 1)
    records = np.frombuffer(machine.play(opening, Rules(max_moves=4), Kept(ahead=5), 3).records, RECORD)
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
    opening = Opening("r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1")
    machine = SelfPlayer(40, 1)
    return [machine.play(opening, Rules(max_moves=3), kept, 7).records.hex() for kept in (Kept(), Kept(ahead=3))]


def test_every_core_plays_the_same_games() -> None:
    found = [on_core(core_or_skip(core), __name__, "records_here") for core in ALL_CORES]
    assert len(found[0][0]) > 4 * RECORD.itemsize
    assert found[0] == found[1] == found[2]


# ---- Runs ----


def arguments(output: Path, *words: str) -> list[str]:
    moves = "20" if is_compiled() else "3"
    return ["--nodes", str(NODES), "--hash", "1", "--output", str(output), "--longest", moves, *words]


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.BATCH_GAMES", 2)
    output = tmp_path / "x.positions"
    words = arguments(output, "--games", "6", "--json", str(tmp_path / "counts.json"))
    assert main(words) == 0
    whole = output.read_bytes()
    provenance, positions = read_positions(output)
    assert provenance["recipe"]["nodes"] == NODES
    counts = json.loads((tmp_path / "counts.json").read_text("utf-8"))
    assert len(positions) == counts["positions"] > 6
    assert counts["games"] == sum(counts["results"].values()) == 6
    # As if killed while the second batch was written: its positions are there, but not in the journal.
    journal = tmp_path / "x.positions.journal"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]) + b'{"first":2,')
    with pytest.raises(ProgramError, match="continue it with --resume"):
        main(words)
    assert main([*words, "--resume"]) == 0
    assert output.read_bytes() == whole
    # More games: those of the last batch are not played again.
    for games in (7, 8):
        more = ["--games", str(games), "--resume"]
        assert main([*words, *more]) == 0
        assert output.read_bytes().startswith(whole)
        assert json.loads((tmp_path / "counts.json").read_text("utf-8"))["games"] == games
    changes: list[dict[str, Any]] = [{"first": first} for first in (-8, 0, 5, 8)]
    changes += [{"end": 7}, {"end": 9}, {"positions": -1}, {"results": {"draw": 50}}]
    refuses_changed_entries(journal, lambda: main([*words, *more]), *changes)
    # The file of another run, as one with new scores.
    output.write_bytes(output.read_bytes().replace(b"selfplay", b"selfdone", 1))
    with pytest.raises(ProgramError, match="not of this run"):
        main([*words, *more])
    journal.unlink()
    with pytest.raises(ProgramError, match="not of this run"):
        main(words)
    assert not journal.exists()


def test_another_file_under_the_same_name_is_another_run(tmp_path: Path) -> None:
    epd = tmp_path / "x.epd"
    # A source with some dead ends can be used.
    epd.write_text(f"{chess.STARTING_FEN}\n" + "k7/1Q6/1K6/8/8/8/8/8 b - -\n" * 3)
    words = [*arguments(tmp_path / "x.positions", "--games", "4"), "--source", f"file={epd}"]
    assert main(words) == 0
    epd.write_text("4k3/8/8/8/8/8/3P4/4K3 w - -\n")
    with pytest.raises(ProgramError, match="begun with other settings"):
        main([*words, "--games", "5", "--resume"])


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_plays_the_same_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.BATCH_GAMES", 4)
    here, there = tmp_path / "here.positions", tmp_path / "there.positions"
    assert main(arguments(here, "--games", "200", "--concurrency", "2")) == 0
    (tmp_path / "cluster").mkdir()
    with running_cluster(tmp_path / "cluster") as cluster, ThreadPoolExecutor(1) as pool:
        finished = pool.submit(main, arguments(there, "--games", "200", "--cluster", cluster.address))
        journal = tmp_path / "there.positions.journal"
        wait_until(lambda: finished.done() or (journal.exists() and journal.read_bytes().count(b"\n") > 3))
        assert not finished.done()
        cluster.workers[0].kill()
        assert finished.result() == 0
    found = [read_positions(path)[1] for path in (here, there)]
    assert np.sort(found[0]).tobytes() == np.sort(found[1]).tobytes()
