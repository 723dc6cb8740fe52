"""fit_policy: a policy fitted to a few games, which the engine reads and which gives what the program measured."""

from __future__ import annotations

import gzip
import random
import tomllib
from argparse import Namespace
from pathlib import Path

import chess
import numpy as np
import pytest

import fit_policy
from tests.support import SCRIPTS, run_python
from uci_engine.policy.convolution import ConvolutionWeights
from uci_engine.policy.policy import candidates, network_logarithms

pytest.importorskip("torch", reason="fit_policy needs PyTorch")


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


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("policy")
    write_games(folder / "games.txt.gz", 40, 1)
    sizes = ("--epochs", "3", "--share", "0.2", "--concurrency", "1")
    done = run_python(str(SCRIPTS / "fit_policy.py"), str(folder / "games.txt.gz"), "--output", str(folder), *sizes)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_what_players_do_gets_weight(fitted: tuple[Path, str]) -> None:
    folder, table = fitted
    weights = tomllib.loads((folder / "weights.toml").read_text())["weights"]
    # Nobody here has another rating.
    assert min(map(float, weights["takes a pawn"].split()[1:3])) > 0
    assert "move match" in table


def test_the_engine_reads_the_network_as_it_was_trained(tmp_path: Path) -> None:
    write_games(tmp_path / "games.txt.gz", 20, 2)
    games = fit_policy.read_games(tmp_path / "games.txt.gz")
    moves, _ = fit_policy.positions_of((games, 1.0, False))
    network = fit_policy.TrainedNetwork(3)
    network.train(moves, Namespace(epochs=10.0, seed=1, concurrency=1))
    numbers = ConvolutionWeights(network.packed())
    logarithms, starts, position = network.logarithms(moves), moves.starts, 0
    for game in games[:4]:
        board = chess.Board()
        for ply, text in enumerate(game.moves):
            legal = candidates(board)
            if ply >= fit_policy.FIRST_LEARNT and len(legal) > 1 and chess.Move.from_uci(text) in legal:
                found = network_logarithms(numbers, board, legal, game.ratings[board.turn])
                expected = logarithms[starts[position] : starts[position + 1]]
                assert np.allclose(np.exp(found), np.exp(expected), atol=0.01)
                position += 1
            board.push_uci(text)
    assert position > 40
    likelihood = np.exp(logarithms[starts[:-1] + moves.chosen]).mean()
    assert likelihood > 1.2 / moves.counts.mean()


@pytest.mark.parametrize("text", ["", "no game\n", "a\tb\tc\td\te\tf\n"])
def test_a_file_without_games_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "games.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    done = run_python(str(SCRIPTS / "fit_policy.py"), str(path), "--output", str(tmp_path))
    assert done.returncode == 2
    assert not (tmp_path / "weights.toml").exists()
