"""The options `WeightsFile`, `EvalFile` and `Use NNUE`: what they change, what is forgotten then, and bad files."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
import time
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import chess.polyglot
import pytest
from chess.engine import Cp, PovScore

import evaluation
import uci_engine
from evaluation.network import file
from evaluation.network.file import DEFAULT_FILE, MAGIC, Network, NetworkError, default_network
from evaluation.network.shape import BUCKETS, HIDDEN_BIAS_LIMIT, INPUTS, MAX_OUTPUT_BIAS, OUTPUT_LIMIT, UNITS
from evaluation.weights import MAX_BYTES, Weights, default_weights
from tests.evaluation.test_evaluation import random_weights
from tests.support import ROOT
from tests.support.engines import search, statics
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core
from tests.support.networks import network_score, pack, random_network, with_network
from toolkit.training.weights_text import weights_text
from uci_engine.engine import UciEngine
from uci_engine.text import quoted

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
BOARD = chess.Board(MIDDLEGAME)
KEY = chess.polyglot.zobrist_hash(BOARD)
WEIGHTS = random_weights(4)
NETWORK = random_network(2)
TEXT = weights_text(WEIGHTS)
DATA = NETWORK.pack()
FILES = {"WeightsFile": TEXT.encode(), "EvalFile": DATA}
# The static score with each file and nothing else.
EXPECTED = {
    "WeightsFile": evaluation.evaluate(BOARD, WEIGHTS, network=None),
    "EvalFile": with_network(NETWORK, BOARD),
}
both_options = pytest.mark.parametrize("option", FILES)


def new_engine(option: str) -> UciEngine:
    """An engine in the position, which uses what the option names."""
    engine = UciEngine(owns_process=False)
    engine.set_option("Use NNUE", "true" if option == "EvalFile" else "false")
    engine.set_position(MIDDLEGAME, ())
    return engine


def in_use(engine: UciEngine, option: str) -> Weights | Network | None:
    return engine.network if option == "EvalFile" else engine.weights


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


@both_options
def test_setting_a_value_again_costs_nothing(option: str, paths: dict[str, str]) -> None:
    with closing(new_engine(option)) as engine:
        assert engine.set_option(option, paths[option]) == []
        _, fresh_nodes, _ = search(engine, depth=6)
        used, evaluator = in_use(engine, option), engine._parts.pool.main.searcher.evaluator
        assert engine.set_option(option, paths[option]) == []
        assert in_use(engine, option) is used
        assert engine._parts.pool.main.searcher.evaluator is evaluator
        # The entries of the first search are still there.
        _, nodes, _ = search(engine, depth=6)
        assert (nodes or 0) < (fresh_nodes or 0)


@both_options
def test_nothing_that_was_learnt_with_another_file_is_left(option: str, paths: dict[str, str]) -> None:
    fresh: dict[str, Any] = {}
    with closing(new_engine(option)) as engine:
        for value in ("", paths[option]):
            engine.set_option(option, value)
            engine.new_game()
            engine.set_position(MIDDLEGAME, ())
            fresh[value] = search(engine)
        assert fresh[""] != fresh[paths[option]]
        for value in ("", paths[option], ""):
            engine.set_option(option, value)
            assert search(engine) == fresh[value]


@pytest.mark.skipif(not is_compiled(), reason="plain Python searches with one thread")
@both_options
def test_every_worker_has_it_and_a_later_one_too(option: str, paths: dict[str, str]) -> None:
    with closing(new_engine(option)) as engine:
        engine.options.threads.usable = 5
        engine.set_option("Threads", "3")
        engine.set_option(option, paths[option])
        engine.set_option("Threads", "5")
        assert statics(engine) == [EXPECTED[option]] * 5
        if option == "EvalFile":
            numbers = [searcher.evaluator.network.weights for searcher in engine._parts.pool._searchers()]
            assert all(each is numbers[0] for each in numbers)
        search(engine)


def score_with(option: str, path: str) -> list[int]:
    """Static score and that of a search with a file, on the core of this process."""
    with closing(new_engine(option)) as engine:
        engine.set_option(option, path)
        score, nodes, _ = search(engine, depth=3)
        return [*statics(engine), score or 0, nodes or 0]


@pytest.mark.parametrize("core", ALL_CORES)
@both_options
def test_every_core_searches_the_same_tree(option: str, core: str, paths: dict[str, str]) -> None:
    found = on_core(core_or_skip(core), __name__, "score_with", option, paths[option])
    assert found[0] == EXPECTED[option]
    assert found == score_with(option, paths[option])


@both_options
def test_without_memory_nothing_changes(option: str, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError

    with closing(new_engine(option)) as engine:
        before = statics(engine), in_use(engine, option)
        monkeypatch.setattr("uci_engine.search.thread_pool._new_evaluator", fail)
        (message,) = engine.set_option(option, paths[option])
        assert "there is not enough memory" in message
        assert (statics(engine), in_use(engine, option)) == before


# Bad files --------------------------------------------------------------------------------------------------------


def changed(place: int, value: bytes) -> bytes:
    """The network with other bytes at a place, and the checksum that fits it."""
    data = DATA[:place] + value + DATA[place + len(value) : -4]
    return data + struct.pack("<I", zlib.crc32(data))


BIAS = len(MAGIC) + 16 + INPUTS * UNITS
OUTPUT = BIAS + 2 * UNITS
OUTPUT_BIAS = OUTPUT + 4 * BUCKETS * UNITS
BAD_NETWORKS = {
    "empty": (b"", "it is not a network"),
    "another version": (changed(24, struct.pack("<I", 2)), "it is not a network of Secateur, version 4"),
    "another shape": (changed(32, struct.pack("<I", 2**32 - 1)), "it is not a network of Secateur, version 4"),
    "one byte short": (DATA[:-1], "it has fewer than"),
    "endless": (DATA * 2, "it has more than"),
    "damaged": (DATA[:5000] + bytes([DATA[5000] ^ 1]) + DATA[5001:], "it is damaged"),
    "a large bias": (changed(BIAS + 2, pack([HIDDEN_BIAS_LIMIT])), "a bias of the hidden layer is beyond"),
    "a large weight of the output": (changed(OUTPUT + 6, pack([OUTPUT_LIMIT])), "a weight of the output is beyond"),
    "a large bias of the output": (
        changed(OUTPUT_BIAS + 4, struct.pack("<i", -MAX_OUTPUT_BIAS - 1)),
        "the output needs 8 biases",
    ),
}
# What else may be wrong with weights is in tests/evaluation/test_weights.py; these are to be read in a short time.
BAD_WEIGHTS = {
    "huge": b"# " + b"x" * MAX_BYTES,
    "a line end in a name": b'"a\\nb" = 1\n',
    "deep": b"a = " + b"[" * 20_000,
    "many keys": b"".join(b"a%d.b.c = 1\n" % number for number in range(30_000)),
    "a name of many dots": b"a" + b".a" * 200_000 + b" = 1\n",
    "a heading of many dots": b"[a" + b" . a" * 100_000 + b"]\nb = 1\n",
    "dots behind a sign of equality": b'"="' + b".a" * 200_000 + b" = 1\n",
}
BAD = {
    **{f"EvalFile {fault}": (data, reason) for fault, (data, reason) in BAD_NETWORKS.items()},
    **{f"WeightsFile {fault}": (data, "") for fault, data in BAD_WEIGHTS.items()},
}


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("is_on", ["false", "true"])
def test_a_bad_file_is_refused_with_one_sentence(
    fault: str, is_on: str, engine: UciEngine, tmp_path: Path, paths: dict[str, str]
) -> None:
    option = fault.split()[0]
    engine.set_option("Use NNUE", is_on)
    engine.set_option(option, paths[option])
    before = in_use(engine, option)
    bad = tmp_path / "bad"
    data, reason = BAD[fault]
    bad.write_bytes(data)
    started = time.perf_counter()
    (message,) = engine.set_option(option, str(bad))
    assert time.perf_counter() - started < 10
    assert message.startswith(f"error: option {option} cannot be {quoted(str(bad))} ({reason}")
    assert message.endswith(f"), it stays {quoted(paths[option])}")
    assert message.isprintable()
    assert len(message) < 500
    assert in_use(engine, option) is before
    search(engine, depth=2)


@pytest.mark.parametrize("name", ["", "missing", "nul\0byte", "x" * 5000, "pipe"])
@both_options
def test_a_file_that_cannot_be_read_is_refused(option: str, name: str, engine: UciEngine, tmp_path: Path) -> None:
    if name == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("named pipes as POSIX has them")
        os.mkfifo(tmp_path / "pipe")
    before = in_use(engine, option)
    (message,) = engine.set_option(option, f"{tmp_path}/{name}")
    assert message.startswith(f"error: option {option} cannot be ")
    assert "cannot be read" in message
    assert message.isprintable()
    assert in_use(engine, option) is before


# The network ------------------------------------------------------------------------------------------------------


def test_numbers_of_the_wrong_size_are_refused() -> None:
    with pytest.raises(NetworkError, match="hidden_bias has 2 bytes"):
        Network(NETWORK.hidden, b"\0\0", NETWORK.output, NETWORK.output_bias)
    with pytest.raises(NetworkError, match="needs 8 biases"):
        Network(NETWORK.hidden, NETWORK.hidden_bias, NETWORK.output, ())


def test_the_network_of_the_package_is_the_one_that_its_facts_describe() -> None:
    data = DEFAULT_FILE.read_bytes()
    facts = tomllib.loads(DEFAULT_FILE.with_suffix(".toml").read_text("utf-8"))
    assert facts["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["command"].startswith("scripts/train_network.py ")
    assert Network.parse(data) == default_network()
    assert len(data) < 4_000_000


def test_off_the_engine_is_as_it_was(engine: UciEngine, paths: dict[str, str]) -> None:
    engine.set_option("Use NNUE", "false")
    before = search(engine), statics(engine)
    assert engine.set_option("EvalFile", paths["EvalFile"]) == []
    engine.new_game()
    engine.set_position(MIDDLEGAME, ())
    assert (search(engine), statics(engine)) == before
    engine.set_option("Use NNUE", "true")
    assert engine.network == NETWORK
    with_it = search(engine)
    assert with_it != before[0]
    engine.set_option("Use NNUE", "false")
    assert engine.network is None
    assert (search(engine), statics(engine)) == before
    engine.set_option("Use NNUE", "true")
    assert search(engine) == with_it


def test_weights_and_network_change_alone(engine: UciEngine, paths: dict[str, str]) -> None:
    for option, path in paths.items():
        engine.set_option(option, path)
    assert statics(engine) == [EXPECTED["WeightsFile"] + network_score(NETWORK, BOARD)]
    for name, value in (("UCI_LimitStrength", "true"), ("Use NNUE", "false"), ("UCI_LimitStrength", "false")):
        engine.set_option(name, value)
        assert statics(engine) == [EXPECTED["WeightsFile"]] != [evaluation.evaluate(BOARD, network=None)]


@pytest.mark.parametrize(
    ("name", "value", "full"), [("UCI_LimitStrength", "true", "false"), ("Skill Level", "7", "20")]
)
def test_limited_strength_plays_with_the_features_alone(
    name: str, value: str, full: str, engine: UciEngine, paths: dict[str, str]
) -> None:
    engine.set_option("EvalFile", paths["EvalFile"])
    search(engine, depth=2)
    assert engine._parts.pool.table.probe(KEY) != 0
    assert engine.set_option(name, value) == []
    assert engine._parts.pool.table.probe(KEY) == 0
    assert engine.network is None
    for is_on in ("false", "true"):
        assert engine.set_option("Use NNUE", is_on) == []
        assert statics(engine) == [evaluation.evaluate(BOARD, network=None)]
    assert engine.set_option(name, full) == []
    assert statics(engine) == [EXPECTED["EvalFile"]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("Skill Level", "7"), ("Skill Level", "8")),
        (("Skill Level", "7"), ("UCI_LimitStrength", "true")),
        (("UCI_LimitStrength", "true"), ("Skill Level", "7")),
        (("Use NNUE", "false"), ("UCI_LimitStrength", "true")),
    ],
)
def test_a_strength_that_leaves_the_network_as_it_is_forgets_nothing(
    before: tuple[str, str], after: tuple[str, str], engine: UciEngine, tmp_path: Path
) -> None:
    path = tmp_path / "some.network"
    path.write_bytes(DATA)
    engine.set_option("EvalFile", str(path))
    assert engine.set_option(*before) == []
    assert engine.network is None
    # Nor is the file read again.
    path.unlink()
    search(engine, depth=2)
    assert engine.set_option(*after) == []
    assert engine._parts.pool.table.probe(KEY) != 0


# The default ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_on", [False, True])
def test_a_new_engine_begins_as_the_constant_says(is_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.options.NETWORK_BY_DEFAULT", is_on)
    scores = {each: evaluation.evaluate(BOARD, network=default_network() if each else None) for each in (False, True)}
    assert scores[False] != scores[True]
    with closing(UciEngine(owns_process=False)) as engine:
        assert engine.problem == ""
        assert engine.network is (default_network() if is_on else None)
        assert engine.options.use_nnue.declaration().endswith(f"default {str(is_on).lower()}")
        engine.set_position(MIDDLEGAME, ())
        assert statics(engine) == [scores[is_on]]
        assert engine.set_option("Use NNUE", str(not is_on).lower()) == []
        assert statics(engine) == [scores[not is_on]]
    with uci_engine.Engine() as api:
        assert api.options["use_nnue"] is is_on
        assert api.evaluate(BOARD) == api.explain(BOARD).score == PovScore(Cp(scores[is_on]), BOARD.turn)
        api.configure(use_nnue=not is_on)
        assert api.evaluate(BOARD) == api.explain(BOARD).score == PovScore(Cp(scores[not is_on]), BOARD.turn)


def test_the_weights_by_keyword(paths: dict[str, str]) -> None:
    with uci_engine.Engine(use_nnue=False, weights_file=paths["WeightsFile"]) as engine:
        assert engine.explain(BOARD).terms == evaluation.explain(BOARD, WEIGHTS, None).terms
        engine.configure(weights_file="")
        assert engine.explain(BOARD).terms == evaluation.explain(BOARD, default_weights(), None).terms
        with pytest.raises(ValueError, match="WeightsFile cannot be"):
            engine.configure(weights_file="missing")
        assert engine.options["weights_file"] == ""


def test_without_its_network_a_new_engine_says_so_and_plays_with_the_features(
    tmp_path: Path, paths: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(file, "DEFAULT_FILE", tmp_path / "default.network")
    # Not the network that is in memory, which other tests go on to use.
    monkeypatch.setattr("uci_engine.engine_parts.default_network", default_network.__wrapped__)
    with closing(UciEngine(owns_process=False)) as engine:
        assert engine.problem.startswith("the built-in network cannot be used (")
        assert engine.problem.isprintable()
        assert engine.network is None
        assert not engine.options.use_nnue.value
        engine.set_position(MIDDLEGAME, ())
        assert statics(engine) == [evaluation.evaluate(BOARD, network=None)]
        search(engine)
        (message,) = engine.set_option("Use NNUE", "true")
        assert message.startswith("error: option Use NNUE cannot be true (the built-in network cannot be used (")
        assert not engine.options.use_nnue.value
        assert engine.set_option("EvalFile", paths["EvalFile"]) == []
        assert engine.set_option("Use NNUE", "true") == []
        assert statics(engine) == [EXPECTED["EvalFile"]]
    with uci_engine.Engine() as api:
        assert caplog.messages == [engine.problem]
        assert api.options["use_nnue"] is False


BROKEN = """
import sys
from pathlib import Path
from evaluation.network import file
from uci_engine.command_line.program import run
file.DEFAULT_FILE = Path("missing")
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("command", "lines", "beginning"),
    [
        ("uci", "", "info string warning: "),
        ("eval", "", ""),
        ("go depth 1", "", ""),
        ("explain --depth 1", "", ""),
        ("bench 1", "", ""),
        ("", "bench 1\n", "info string error: "),
    ],
)
def test_every_command_says_in_one_line_that_the_network_is_broken(command: str, lines: str, beginning: str) -> None:
    arguments = [sys.executable, "-c", BROKEN, *command.split()]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, timeout=60, input=lines)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "network" in line]
    assert len(said) == 1
    assert said[0].startswith(f"{beginning}the built-in network cannot be used (")
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if command.startswith("bench") else 0)
