"""The options `WeightsFile`, `EvalFile` and `Use NNUE`: what they change, what is forgotten then, and bad files."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import chess
import pytest
from chess.engine import Cp, PovScore

import evaluation
import uci_engine
from evaluation.network.file import DEFAULT_FILE, Network, default_network
from evaluation.weights import Weights
from tests.evaluation.test_evaluation import random_weights
from tests.support import run_python
from tests.support.engines import go
from tests.support.kernel import MIDDLEGAME, is_compiled
from tests.support.networks import network_score, random_network, with_network
from toolkit.training.model import weights_text
from uci_engine.core import load
from uci_engine.engine import UciEngine
from uci_engine.search.thread_pool import ThreadPool

BOARD = chess.Board(MIDDLEGAME)
WEIGHTS = random_weights(4)
NETWORK = random_network(2)
TEXT = weights_text(WEIGHTS)
DATA = NETWORK.pack()
FILES = {"WeightsFile": TEXT.encode(), "EvalFile": DATA}
# The static score with each file and nothing else, and with no file and no network.
EXPECTED = {
    "WeightsFile": evaluation.evaluate(BOARD, WEIGHTS, network=None),
    "EvalFile": with_network(NETWORK, BOARD),
    "": evaluation.evaluate(BOARD, network=None),
}
both_options = pytest.mark.parametrize("option", FILES)


def new_engine(option: str) -> UciEngine:
    """An engine in the position, which uses what the option names."""
    engine = UciEngine()
    engine.options.set("Use NNUE", "true" if option == "EvalFile" else "false")
    return engine


def in_use(engine: UciEngine, option: str) -> Weights | Network | None:
    return engine.pool.weights if option == "WeightsFile" else engine.pool.network


def search(engine: UciEngine, depth: int = 4) -> tuple[int | None, int | None, list[str]]:
    """Score, nodes and principal variation of a search."""
    last = go(engine, BOARD, depth=depth).last
    return last.score, last.nodes, [str(move) for move in last.pv]


def static(engine: UciEngine) -> int | None:
    """The static score of the position in centipawns, for the side to move."""
    return engine.explain_evaluation(BOARD).score.pov(BOARD.turn).score()


def is_new_game(engine: UciEngine) -> bool:
    """Whether a search knows nothing of earlier ones: it counts as many nodes as after `ucinewgame`."""
    _, nodes, _ = search(engine, depth=3)
    engine.new_game()
    return nodes == search(engine, depth=3)[1]


@pytest.fixture
def engine() -> Iterator[UciEngine]:
    with closing(new_engine("EvalFile")) as engine:
        yield engine


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files with numbers in every table, by the option that names them."""
    folder = tmp_path_factory.mktemp("other files")
    for option, data in FILES.items():
        (folder / option).write_bytes(data)
    return {option: str(folder / option) for option in FILES}


# Either file ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [*FILES, "Use NNUE"])
def test_setting_a_value_again_forgets_nothing_and_another_one_all(option: str, paths: dict[str, str]) -> None:
    first, second = ("", paths[option]) if option in paths else ("false", "true")
    fresh = {}
    with closing(new_engine(option)) as engine:
        for value in (first, second):
            assert engine.options.set(option, value) == []
            engine.new_game()
            fresh[value] = search(engine)
        assert fresh[first] != fresh[second]
        for value in (first, second, first):
            engine.options.set(option, value)
            assert search(engine) == fresh[value]
        used = in_use(engine, option)
        assert engine.options.set(option, first) == []
        assert in_use(engine, option) is used
        assert not is_new_game(engine)


@pytest.mark.skipif(not is_compiled(), reason="plain Python searches with one thread")
def test_every_searcher_has_both_and_a_later_one_too() -> None:
    with closing(ThreadPool(load(), 1)) as pool:
        pool.resize(3)
        pool.set_evaluation(WEIGHTS, NETWORK)
        pool.resize(5)
        networks: list[Any] = []
        for searcher in pool.searchers:
            searcher.position.set_board(BOARD)
            assert searcher.evaluate() == EXPECTED["WeightsFile"] + network_score(NETWORK, BOARD)
            networks.append(searcher.evaluator.network)
        assert all(network is not None and network.weights is networks[0].weights for network in networks)


@pytest.mark.parametrize("is_on", ["false", "true"])
@both_options
def test_a_file_that_cannot_be_used_changes_nothing(
    option: str, is_on: str, tmp_path: Path, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may be wrong with a file is in test_files.py."""
    bad = tmp_path / "bad"
    bad.write_bytes(FILES[option][: len(FILES[option]) // 2])
    with closing(new_engine(option)) as engine:
        engine.options.set(option, paths[option])
        engine.options.set("Use NNUE", is_on)
        before = static(engine), in_use(engine, option)
        messages = [*engine.options.set(option, str(bad)), *engine.options.set(option, str(tmp_path / "missing"))]
        assert len(messages) == 2
        if option == "WeightsFile" or is_on == "true":
            monkeypatch.setattr("evaluation.evaluator.Evaluator", Mock(side_effect=MemoryError))
            messages += engine.options.set(option, "")
            monkeypatch.undo()
            assert len(messages) == 3
        assert all(str(message).startswith(f"error: option {option} ") for message in messages)
        assert (static(engine), in_use(engine, option)) == before
        search(engine, depth=2)


# The network ------------------------------------------------------------------------------------------------------


def test_the_network_of_the_package_is_the_one_that_its_facts_describe() -> None:
    data = DEFAULT_FILE.read_bytes()
    facts = tomllib.loads(DEFAULT_FILE.with_suffix(".toml").read_text("utf-8"))
    assert facts["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["command"].startswith("scripts/train_network.py ")
    assert Network.parse(data) == default_network()
    assert len(data) < 4_000_000


def test_weights_and_network_change_alone(engine: UciEngine, paths: dict[str, str]) -> None:
    engine.options.set("Use NNUE", "false")
    for option, path in paths.items():
        assert engine.options.set(option, path) == []
    assert static(engine) == EXPECTED["WeightsFile"] != EXPECTED[""]
    engine.options.set("Use NNUE", "true")
    assert static(engine) == EXPECTED["WeightsFile"] + network_score(NETWORK, BOARD)


@pytest.mark.parametrize(("name", "value"), [("UCI_LimitStrength", "true"), ("Skill Level", "7")])
def test_limited_strength_evaluates_as_before_and_forgets_nothing(name: str, value: str, engine: UciEngine) -> None:
    before = static(engine)
    search(engine)
    assert engine.options.set(name, value) == []
    assert not is_new_game(engine)
    assert static(engine) == before


# The default ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_on", [False, True])
def test_a_new_engine_begins_as_the_constant_says(is_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.options.NETWORK_BY_DEFAULT", is_on)
    networks = {True: default_network(), False: None}
    scores = {now: evaluation.evaluate(BOARD, network=network) for now, network in networks.items()}
    assert scores[False] != scores[True]
    with uci_engine.Engine() as api:
        engine = api._inner
        assert api.options["use_nnue"] is engine.options.use_nnue.default is is_on
        for now in (is_on, not is_on):
            api.configure(use_nnue=now)
            assert engine.pool.network is networks[now]
            assert api.evaluate(BOARD) == api.explain_evaluation(BOARD).score == PovScore(Cp(scores[now]), BOARD.turn)


BROKEN = """
import sys
from pathlib import Path
from evaluation.network import file
from uci_engine.command_line.program import run
file.DEFAULT_FILE = Path("missing")
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["", "eval", "go depth 1", "explain --depth 1", "bench 1"])
def test_every_command_says_in_one_line_that_the_network_is_broken(command: str) -> None:
    done = run_python("-c", BROKEN, *command.split(), data="uci\n")
    (said,) = (done.stdout + done.stderr).splitlines()
    assert "network" in said
    assert done.returncode == 1
