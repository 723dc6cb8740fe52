"""The options of the network: what they change, what is forgotten then, and bad files."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
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
from evaluation.network.file import DEFAULT_FILE, FILE_BYTES, MAGIC, Network, NetworkError, default_network
from evaluation.network.shape import (
    BUCKETS,
    HIDDEN_BIAS_LIMIT,
    INPUTS,
    MAX_OUTPUT_BIAS,
    OUTPUT_LIMIT,
    UNITS,
)
from tests.evaluation.test_evaluation import random_weights
from tests.support import ROOT
from tests.support.engines import search, statics
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core
from tests.support.networks import network_score, pack, random_network, with_network
from uci_engine.engine import UciEngine
from uci_engine.text import quoted

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
KEY = chess.polyglot.zobrist_hash(chess.Board(MIDDLEGAME))
NETWORK = random_network(2)
DATA = NETWORK.pack()


@pytest.fixture
def engine() -> Iterator[UciEngine]:
    engine = UciEngine(owns_process=False)
    engine.set_position(MIDDLEGAME, ())
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def network_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("network") / "other.network"
    path.write_bytes(DATA)
    return str(path)


def test_on_it_is_added_and_off_the_engine_is_as_it_was(engine: UciEngine, network_file: str) -> None:
    assert engine.set_option("Use NNUE", "false") == []
    before = search(engine), statics(engine)
    assert engine.set_option("EvalFile", network_file) == []
    engine.new_game()
    engine.set_position(MIDDLEGAME, ())
    assert (search(engine), statics(engine)) == before
    assert engine.set_option("Use NNUE", "true") == []
    assert engine.network == NETWORK
    assert statics(engine) == [with_network(NETWORK, chess.Board(MIDDLEGAME))] != before[1]
    with_it = search(engine)
    assert with_it != before[0]
    assert engine.set_option("Use NNUE", "false") == []
    assert engine.network is None
    assert (search(engine), statics(engine)) == before
    assert engine.set_option("Use NNUE", "true") == []
    assert search(engine) == with_it


def test_weights_and_network_change_alone(engine: UciEngine, network_file: str, tmp_path: Path) -> None:
    weights = random_weights(4)
    (tmp_path / "weights.toml").write_text(weights.text(), "utf-8")
    engine.set_option("EvalFile", network_file)
    engine.set_option("Use NNUE", "true")
    engine.set_option("WeightsFile", str(tmp_path / "weights.toml"))
    board = chess.Board(MIDDLEGAME)
    features = evaluation.evaluate(board, weights, None)
    assert statics(engine) == [features + network_score(NETWORK, board)]
    for name, value in (("UCI_LimitStrength", "true"), ("Use NNUE", "false"), ("UCI_LimitStrength", "false")):
        engine.set_option(name, value)
        assert statics(engine) == [features] != [evaluation.evaluate(board, network=None)]


@pytest.mark.skipif(not is_compiled(), reason="plain Python searches with one thread")
def test_every_worker_has_it_and_a_later_one_too(engine: UciEngine, network_file: str) -> None:
    engine.set_option("EvalFile", network_file)
    engine.options.threads.usable = 5
    engine.set_option("Threads", "3")
    engine.set_option("Use NNUE", "true")
    engine.set_option("Threads", "5")
    assert statics(engine) == [with_network(NETWORK, chess.Board(MIDDLEGAME))] * 5
    numbers = [searcher.evaluator.network.weights for searcher in engine._parts.pool._searchers()]
    assert all(each is numbers[0] for each in numbers)
    search(engine)


def score_with(path: str) -> list[int]:
    """Static score and that of a search with a network, on the core of this process."""
    engine = UciEngine(owns_process=False)
    engine.set_position(MIDDLEGAME, ())
    engine.set_option("EvalFile", path)
    engine.set_option("Use NNUE", "true")
    score, nodes, _ = search(engine, depth=4)
    engine.close()
    return [*statics(engine), score or 0, nodes or 0]


@pytest.mark.parametrize("core", ALL_CORES)
def test_every_core_searches_the_same_tree(core: str, network_file: str) -> None:
    found = on_core(core_or_skip(core), __name__, "score_with", network_file)
    assert found[0] == with_network(NETWORK, chess.Board(MIDDLEGAME))
    assert found == score_with(network_file)


# Files ------------------------------------------------------------------------------------------------------------


def test_a_file_is_read_back() -> None:
    assert Network.parse(DATA) == NETWORK
    assert len(DATA) == FILE_BYTES


def with_checksum(data: bytes) -> bytes:
    """The same, with the checksum that fits it."""
    return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))


def test_the_network_of_the_package_is_the_one_that_its_facts_describe() -> None:
    data = DEFAULT_FILE.read_bytes()
    facts = tomllib.loads(DEFAULT_FILE.with_suffix(".toml").read_text("utf-8"))
    assert facts["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["command"].startswith("scripts/train_network.py ")
    assert Network.parse(data) == default_network()
    assert len(data) < 2_000_000


def changed(place: int, value: bytes) -> bytes:
    """The file with other bytes at a place, and the checksum that fits it."""
    return with_checksum(DATA[:place] + value + DATA[place + len(value) :])


HEADER = len(MAGIC) + 16
BIAS = HEADER + INPUTS * UNITS
OUTPUT = BIAS + 2 * UNITS
OUTPUT_BIAS = OUTPUT + 4 * BUCKETS * UNITS
BAD = {
    "empty": (b"", "it is not a network"),
    "text": (b"weights = 1\n" * 100, "it is not a network"),
    "magic alone": (MAGIC, "it is not a network"),
    "another version": (changed(24, struct.pack("<I", 2)), "its version is 2, not 3"),
    "another shape": (changed(32, struct.pack("<I", 2**32 - 1)), "its shape is 6144 x 4294967295 x 8"),
    "truncated": (DATA[: len(DATA) // 2], "it has fewer than"),
    "one byte short": (DATA[:-1], "it has fewer than"),
    "one byte more": (DATA + b"\0", "it has more than"),
    "endless": (DATA * 50, "it has more than"),
    "damaged": (DATA[:5000] + bytes([DATA[5000] ^ 1]) + DATA[5001:], "it is damaged"),
    "a large bias": (changed(BIAS + 2, pack([HIDDEN_BIAS_LIMIT])), "a bias of the hidden layer is beyond"),
    "a large weight of the output": (changed(OUTPUT + 6, pack([OUTPUT_LIMIT])), "a weight of the output is beyond"),
    "a large bias of the output": (
        changed(OUTPUT_BIAS + 4, struct.pack("<i", -MAX_OUTPUT_BIAS - 1)),
        "the output needs 8 biases",
    ),
}


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("is_on", ["false", "true"])
def test_a_bad_file_is_refused_with_one_sentence(
    fault: str, is_on: str, engine: UciEngine, tmp_path: Path, network_file: str
) -> None:
    engine.set_option("EvalFile", network_file)
    engine.set_option("Use NNUE", is_on)
    before = engine.network
    bad = tmp_path / "bad.network"
    data, reason = BAD[fault]
    bad.write_bytes(data)
    (message,) = engine.set_option("EvalFile", str(bad))
    assert message.startswith(f"error: option EvalFile cannot be {quoted(str(bad))} ({reason}")
    assert message.endswith(f"), it stays {quoted(network_file)}")
    assert message.isprintable()
    assert engine.network is before
    assert engine.options.eval_file.value == network_file
    search(engine, depth=2)


@pytest.mark.parametrize("name", ["", "missing.network", "nul\0byte", "x" * 5000])
def test_a_file_that_cannot_be_read_is_refused(name: str, engine: UciEngine, tmp_path: Path) -> None:
    (message,) = engine.set_option("EvalFile", f"{tmp_path}/{name}")
    assert message.startswith("error: option EvalFile cannot be ")
    assert "cannot be read" in message
    assert message.isprintable()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes as POSIX has them")
def test_a_pipe_does_not_block(engine: UciEngine, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (message,) = engine.set_option("EvalFile", str(tmp_path / "pipe"))
    assert "not a plain file" in message


def use_as_default(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Let this file be the network of the package."""
    monkeypatch.setattr(file, "DEFAULT_FILE", path)
    # Not the network that is in memory, which other tests go on to use.
    monkeypatch.setattr("uci_engine.engine_parts.default_network", default_network.__wrapped__)


def test_without_the_network_of_the_package_the_features_play_on(
    engine: UciEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.set_option("Use NNUE", "false")
    use_as_default(monkeypatch, tmp_path / "missing")
    (message,) = engine.set_option("Use NNUE", "true")
    reason = "the built-in network cannot be used ('missing' cannot be read: "
    assert message.startswith(f"error: option Use NNUE cannot be true ({reason}")
    assert message.endswith(", it stays false")
    assert not engine.options.use_nnue.value
    search(engine, depth=2)


def test_without_memory_nothing_changes(engine: UciEngine, network_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError

    engine.set_option("Use NNUE", "false")
    engine.set_option("EvalFile", network_file)
    before = statics(engine)
    monkeypatch.setattr("uci_engine.search.thread_pool._new_evaluator", fail)
    (message,) = engine.set_option("Use NNUE", "true")
    assert message == "error: option Use NNUE cannot be true (there is not enough memory), it stays false"
    assert statics(engine) == before


@pytest.mark.parametrize(
    ("name", "value", "full"), [("UCI_LimitStrength", "true", "false"), ("Skill Level", "7", "20")]
)
def test_limited_strength_plays_with_the_features_alone(
    name: str, value: str, full: str, engine: UciEngine, network_file: str
) -> None:
    engine.set_option("EvalFile", network_file)
    engine.set_option("Use NNUE", "false")
    features = statics(engine)
    engine.set_option("Use NNUE", "true")
    network_scores = statics(engine)
    assert network_scores != features
    assert engine.set_option(name, value) == []
    assert engine.network is None
    assert statics(engine) == features
    assert engine.set_option("Use NNUE", "false") == []
    assert engine.set_option("Use NNUE", "true") == []
    assert statics(engine) == features
    assert engine.set_option(name, full) == []
    assert statics(engine) == network_scores


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("Skill Level", "7"), ("Skill Level", "8")),
        (("Skill Level", "7"), ("UCI_LimitStrength", "true")),
        (("UCI_LimitStrength", "true"), ("UCI_LimitStrength", "true")),
        (("UCI_LimitStrength", "true"), ("Skill Level", "7")),
        (("Use NNUE", "false"), ("UCI_LimitStrength", "true")),
        (("Use NNUE", "false"), ("Skill Level", "7")),
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


@pytest.mark.parametrize("option", [("Skill Level", "7"), ("UCI_LimitStrength", "true")])
def test_a_strength_that_switches_the_network_forgets(option: tuple[str, str], engine: UciEngine) -> None:
    search(engine, depth=2)
    assert engine._parts.pool.table.probe(KEY) != 0
    assert engine.set_option(*option) == []
    assert engine._parts.pool.table.probe(KEY) == 0


def test_numbers_of_the_wrong_size_are_refused() -> None:
    with pytest.raises(NetworkError, match="hidden_bias has 2 bytes"):
        Network(NETWORK.hidden, b"\0\0", NETWORK.output, NETWORK.output_bias)
    with pytest.raises(NetworkError, match="needs 8 biases"):
        Network(NETWORK.hidden, NETWORK.hidden_bias, NETWORK.output, ())


# The default ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_on", [False, True])
def test_a_new_engine_begins_as_the_constant_says(is_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.options.NETWORK_BY_DEFAULT", is_on)
    board = chess.Board(MIDDLEGAME)
    scores = {each: evaluation.evaluate(board, network=default_network() if each else None) for each in (False, True)}
    assert scores[False] != scores[True]
    with closing(UciEngine(owns_process=False)) as engine:
        assert engine.problem == ""
        assert engine.network is (default_network() if is_on else None)
        assert engine.options.use_nnue.declaration().endswith(f"default {str(is_on).lower()}")
        engine.set_position(MIDDLEGAME, ())
        first = search(engine)
        engine.set_option("Threads", "2")
        assert set(statics(engine)) == {scores[is_on]}
        engine.set_option("Threads", "1")
        assert engine.set_option("Use NNUE", str(not is_on).lower()) == []
        assert statics(engine) == [scores[not is_on]]
        assert engine.set_option("Use NNUE", str(is_on).lower()) == []
        assert search(engine) == first
    with uci_engine.Engine() as api:
        assert api.options["use_nnue"] is is_on
        assert api.evaluate(board) == api.explain(board).score == PovScore(Cp(scores[is_on]), board.turn)
        api.configure(use_nnue=not is_on)
        assert api.evaluate(board) == api.explain(board).score == PovScore(Cp(scores[not is_on]), board.turn)


@pytest.mark.parametrize(
    ("data", "reason"),
    [(None, "'default.network' cannot be read: "), (DATA[:-1], "it has fewer than ")],
    ids=["missing", "truncated"],
)
def test_without_its_network_a_new_engine_says_so_and_plays_with_the_features(
    data: bytes | None,
    reason: str,
    tmp_path: Path,
    network_file: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("uci_engine.options.NETWORK_BY_DEFAULT", True)
    use_as_default(monkeypatch, tmp_path / "default.network")
    if data is not None:
        (tmp_path / "default.network").write_bytes(data)
    with closing(UciEngine(owns_process=False)) as engine:
        assert engine.problem.startswith(f"the built-in network cannot be used ({reason}")
        assert engine.problem.endswith("), so Use NNUE is false")
        assert engine.problem.isprintable()
        assert engine.network is None
        assert not engine.options.use_nnue.value
        engine.set_position(MIDDLEGAME, ())
        assert statics(engine) == [evaluation.evaluate(chess.Board(MIDDLEGAME), network=None)]
        search(engine)
        (message,) = engine.set_option("Use NNUE", "true")
        refused = "error: option Use NNUE cannot be true (the built-in network cannot be used"
        assert message.startswith(f"{refused} ({reason}")
        assert engine.set_option("EvalFile", network_file) == []
        assert engine.set_option("Use NNUE", "true") == []
        assert statics(engine) == [with_network(NETWORK, chess.Board(MIDDLEGAME))]
    with uci_engine.Engine() as api:
        assert caplog.messages == [engine.problem]
        assert api.options["use_nnue"] is False


BROKEN = """
import sys
from pathlib import Path
from evaluation.network import file
from uci_engine import options
from uci_engine.command_line.program import run
options.NETWORK_BY_DEFAULT = True
file.DEFAULT_FILE = Path("missing")
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("words", "exit_code", "expected"),
    [
        (("uci",), 0, "info string warning: the built-in network cannot be used ("),
        (("eval",), 0, "the built-in network cannot be used ("),
        (("go", "depth", "1"), 0, "the built-in network cannot be used ("),
        (("explain", "--depth", "1"), 0, "the built-in network cannot be used ("),
        (("bench", "1"), 1, "the built-in network cannot be used ("),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_every_command_says_in_one_line_that_the_network_is_broken(
    words: tuple[str, ...], exit_code: int, expected: str
) -> None:
    command = [sys.executable, "-c", BROKEN, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "network" in line]
    assert len(said) == 1
    assert said[0].startswith(expected)
    assert "Traceback" not in done.stderr
    assert done.returncode == exit_code


def test_the_benchmark_of_uci_is_refused_without_the_network() -> None:
    command = [sys.executable, "-c", BROKEN]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, input="bench 1\n")
    assert done.stdout.startswith("info string error: the built-in network cannot be used (")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
