"""fit_policy: a policy fitted to a few games, which the engine reads and which gives what the program measured."""

from __future__ import annotations

import gzip
import json
import random
import shlex
import sys
import tomllib
from argparse import Namespace
from collections import Counter
from pathlib import Path

import chess
import numpy as np
import pytest

import fit_policy
import human_errors
from tests.support import ROOT, SCRIPTS, run_python
from toolkit.console import run_program
from uci_engine.policy import policy
from uci_engine.policy.convolution import ConvolutionWeights
from uci_engine.policy.openings import games_of, unpacked
from uci_engine.policy.policy import RATINGS, candidates


def write_games(path: Path, count: int, seed: int) -> None:
    """Games of players who take what they can, and else move at random."""
    drawn = random.Random(seed)
    with gzip.open(path, "wt") as file:
        for _ in range(count):
            board = chess.Board()
            while board.ply() < 40 and any(board.legal_moves):
                moves = list(board.legal_moves)
                captures = [move for move in moves if board.is_capture(move)]
                board.push(drawn.choice(captures or moves))
            words = " ".join(map(str, board.move_stack))
            file.write(f"x\trapid\t{drawn.randint(900, 1900)}\t{drawn.randint(900, 1900)}\t*\t{words}\n")


@pytest.mark.parametrize("network", ["--keep-network", "--epochs=3"])
def test_what_players_do_gets_weight(tmp_path: Path, network: str) -> None:
    if network != "--keep-network":
        pytest.importorskip("torch", reason="the network needs PyTorch")
    write_games(tmp_path / "games.txt.gz", 40, 1)
    words = ("--output", str(tmp_path), network, "--share", "0.2", "--concurrency", "1")
    done = run_python(str(SCRIPTS / "fit_policy.py"), str(tmp_path / "games.txt.gz"), *words)
    assert done.returncode == 0, done.stderr
    weights = tomllib.loads((tmp_path / "weights.toml").read_text())["weights"]
    # Nobody here has another rating.
    assert min(map(float, weights["takes a pawn"].split()[1:3])) > 0
    assert "move match" in done.stdout


def test_the_engine_reads_the_network_as_it_was_trained(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the network needs PyTorch")
    write_games(tmp_path / "games.txt.gz", 20, 2)
    games = fit_policy.read_games(tmp_path / "games.txt.gz")
    moves, _ = fit_policy.positions_of((games, 1.0, fit_policy.LEARNT_PLIES, None))
    network = fit_policy.TrainedNetwork(3)
    network.train(moves, Namespace(epochs=10.0, seed=1, concurrency=1))
    numbers = ConvolutionWeights(network.packed())
    count, starts, position = len(moves.counts), moves.starts, 0
    planes, squares, is_move, _ = fit_policy.batch_of(moves, np.arange(count), np.zeros(count, bool))
    scores = network.scores(planes, squares).masked_fill(~is_move, -torch.inf)
    logarithms = scores.log_softmax(1)[is_move].detach().numpy()
    for game in games[:4]:
        board = chess.Board()
        for ply, text in enumerate(game.moves):
            legal = candidates(board)
            if ply in fit_policy.LEARNT_PLIES and len(legal) > 1 and chess.Move.from_uci(text) in legal:
                # The position itself, without its mirror image.
                read, ends = policy.planes(board), policy.squares_of(board, legal)
                found = policy.softmax(policy.network_scores(numbers, read, ends, game.ratings[board.turn]))
                expected = logarithms[starts[position] : starts[position + 1]]
                assert np.allclose(found, np.exp(expected), atol=0.01)
                position += 1
            board.push_uci(text)
    assert position > 40
    likelihood = np.exp(logarithms[starts[:-1] + moves.chosen]).mean()
    assert likelihood > 1.2 / moves.counts.mean()


def test_opening_moves_are_counted(tmp_path: Path) -> None:
    write_games(tmp_path / "games.txt.gz", 60, 4)
    words = ("--openings", "--output", str(tmp_path), "--share", "0.2", "--concurrency", "1")
    assert fit_policy.main([str(tmp_path / "games.txt.gz"), *words]) == 0
    table = unpacked((tmp_path / "openings.tsv.gz").read_bytes())
    games, board = fit_policy.read_games(tmp_path / "games.txt.gz"), chess.Board()
    # Of twenty games three are for the measures.
    first = Counter(game.moves[0] for game in games if game.number % 20 > 2)
    often = [first[move.uci()] if first[move.uci()] > 2 else 0 for move in board.legal_moves]
    assert games_of(board, board.legal_moves, [1.0] * len(RATINGS), table) == often


@pytest.mark.parametrize("text", ["", "no game\n", "a\tb\tc\td\te\tf\n"])
def test_a_file_without_games_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "games.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(SystemExit) as ended:
        run_program(lambda: fit_policy.main([str(path), "--output", str(tmp_path)]))
    assert ended.value.code == 2
    assert not (tmp_path / "weights.toml").exists()


# human_errors: levels and people judged by another engine, which is here ours ----------------------------------------


GAME = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 f3g5 e8g8 d2d3 h7h6 g5f7 f8f7 c4f7 g8f7 c1e3 c5e3 f2e3 f7g8 d1e1 d7d6"


def test_people_and_levels_have_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(
        "".join(json.dumps({"white": 1400, "black": black, "moves": GAME}) + "\n" for black in (1450, 1900))
    )
    engine = shlex.join([sys.executable, str(ROOT / "secateur.py")])
    assert (
        human_errors.main([str(path), "--ratings", "1400", "--positions", "6", "--nodes", "500", "--engine", engine])
        == 0
    )
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "1400" in line)
    # Two of a game at most.
    assert row.split("│")[2].strip() == "4"
    assert row.count("%") == 4
