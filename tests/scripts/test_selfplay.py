"""Self-play data: openings, what is kept of a game, and runs that are killed, continued, or spread over a cluster."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import chess
import chess.engine
import numpy as np
import pytest

from selfplay import main
from tests.support.kernel import board_after, is_compiled, state_of
from toolkit.errors import ProgramError
from toolkit.games.adjudication import Rules
from toolkit.games.openings import Opening, random_opening
from toolkit.training.game import RESULTS, Kept, SelfPlayer, play_game, self_player
from toolkit.training.positions import CAPTURE, FIRST, QUIET, RECORD, are_quiet, board_of, game_numbers, read_positions
from toolkit.training.sources import choose_opening, parse_source
from uci_engine import Engine
from uci_engine import score as scores

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


@pytest.mark.parametrize("text", ["", "file", "random=x", "random plies=5-2", "endgames pieces=2-4", "random cut=3"])
def test_a_source_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ProgramError):
        parse_source(text)


# ---- One game ----


def test_a_game_is_legal_and_its_positions_are_labelled(player: SelfPlayer) -> None:
    game = play_game(player, Opening(), rules(), None)
    positions = np.frombuffer(b"".join(game.records), RECORD)
    assert game.result is not None
    assert (positions["result"] == RESULTS[game.result]).all()
    assert game_numbers(positions).tolist() == [0] * len(positions)
    assert positions["flags"][0] & FIRST
    boards = [board_of(position) for position in positions]
    assert boards[0] == chess.Board()
    for board, following in itertools.pairwise(boards):
        assert not board.is_check()
        if following.ply() == board.ply() + 1:
            afters = [board_after(board.fen(), move.uci()).board_fen() for move in board.legal_moves]
            assert following.board_fen() in afters


def test_the_same_game_again(player: SelfPlayer) -> None:
    first = play_game(player, Opening(moves=("e2e4",)), rules(), None)
    assert play_game(player, Opening(moves=("e2e4",)), rules(), None) == first


def test_flags_and_scores_of_known_positions(player: SelfPlayer) -> None:
    # A queen can be taken: not quiet, the best move captures, and the score is White's.
    for fen, sign in (("4k3/8/8/3q4/4P3/8/PP6/4K3 w - - 0 1", 1), ("4k3/pp6/8/4p3/3Q4/8/8/4K3 b - - 0 1", -1)):
        game = play_game(player, Opening(fen), Rules(max_moves=1), None)
        first = np.frombuffer(game.records[0], RECORD)[0]
        assert first["flags"] == FIRST | CAPTURE
        assert sign * int(first["score_cp"]) > 100
    quiet = np.frombuffer(play_game(player, Opening(), Rules(max_moves=1), None).records[0], RECORD)[0]
    assert quiet["flags"] & (QUIET | CAPTURE) == QUIET


def test_it_thinks_as_the_engine_does() -> None:
    """An interrupted last depth, with or without a result, must not cost the depths before it."""
    nodes = 3000 if is_compiled() else 100
    board = chess.Board()
    with Engine(hash=16) as engine:
        for number in range(20):
            player = SelfPlayer(nodes, 16)
            player.new_game(board)
            thought = player.think()
            engine.new_game()
            found = engine.play(board, chess.engine.Limit(nodes=nodes), info=chess.engine.INFO_ALL)
            assert thought.move == found.move, board.fen()
            pieces = board.occupied.bit_count()
            score = found.info["score"].relative.score(mate_score=scores.MATE)
            if not scores.is_mate(thought.score_cp):
                assert scores.normalised(thought.score_cp, pieces) == score, (number, board.fen())
            board.push(thought.move)


def test_it_knows_all_moves_of_the_game(player: SelfPlayer) -> None:
    """Reversible moves are made one by one, and the position must be the one that the board's moves give."""
    board = chess.Board("r3k2r/8/8/3p4/8/8/4P3/R3K2R w KQkq - 0 1")
    player.new_game(board)
    fresh = SelfPlayer(NODES, 1)
    for _ in range(40):
        if not any(board.legal_moves) or board.is_repetition(3):
            break
        player.push(player.think())
        fresh.new_game(board)
        for mine, theirs in zip(player.searchers, fresh.searchers, strict=True):
            assert state_of(mine.position) == state_of(theirs.position)


def test_positions_ahead_are_legal_and_belong_to_the_game(player: SelfPlayer) -> None:
    opening = Opening("r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1")
    game = play_game(player, opening, Rules(max_moves=4), None, Kept(ahead=5), random.Random(3))
    positions = np.frombuffer(b"".join(game.records), RECORD)
    assert 15 < len(positions) <= 40
    assert game_numbers(positions).tolist() == [0] * len(positions)
    assert are_quiet(positions).all()
    assert game.result is not None
    assert set(positions["result"]) == {RESULTS[game.result]}
    boards = [board_of(position) for position in positions]
    assert all(board.is_valid() and not board.is_check() for board in boards)
    assert len({board.epd() for board in boards}) > 10
    assert play_game(player, opening, Rules(max_moves=4), None, Kept(ahead=5), random.Random(3)) == game
    # The search goes on from where it was.
    assert state_of(player.searchers[0].position) == state_of(player.searchers[1].position)


# ---- Runs ----


def arguments(output: Path, *words: str) -> list[str]:
    moves = "20" if is_compiled() else "3"
    return ["--nodes", str(NODES), "--hash", "1", "--output", str(output), "--longest", moves, *words]


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.BATCH_GAMES", 2)
    output = tmp_path / "x.positions"
    words = arguments(output, "--games", "6", "--positions", "5", "--json", str(tmp_path / "counts.json"))
    assert main(words) == 0
    whole = output.read_bytes()
    provenance, positions = read_positions(output)
    assert provenance["recipe"]["nodes"] == NODES
    counts = json.loads((tmp_path / "counts.json").read_text("utf-8"))
    assert len(positions) == counts["positions"] > 6
    assert counts["games"] == sum(counts["results"].values()) == 6
    # As if killed while the second batch was written: its positions are there, but not in the journal.
    journal = tmp_path / "x.positions.journal"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]) + b'{"key":"2-')
    assert main(words) == 1
    assert main([*words, "--resume"]) == 0
    assert output.read_bytes() == whole
