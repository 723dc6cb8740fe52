"""The option `WeightsFile`: what it changes, what is forgotten then, and bad files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

import evaluation
from evaluation.weights import MAX_BYTES, Weights, default_weights
from tests.evaluation.test_evaluation import random_weights
from tests.support.engines import search, statics
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core
from uci_engine import Engine
from uci_engine.engine import UciEngine
from uci_engine.text import quoted

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
TEXT = default_weights().text()


def features_engine() -> UciEngine:
    """An engine without the network, in the position."""
    engine = UciEngine(owns_process=False)
    engine.set_option("Use NNUE", "false")
    engine.set_position(MIDDLEGAME, ())
    return engine


@pytest.fixture
def engine() -> Iterator[UciEngine]:
    engine = features_engine()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def other_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A weights file with numbers in every table."""
    path = tmp_path_factory.mktemp("weights") / "other weights.toml"
    path.write_text(random_weights(4).text(), "utf-8")
    return str(path)


def expected(engine: UciEngine, weights: Weights) -> int:
    assert engine.board is not None
    return evaluation.evaluate(engine.board, weights, network=None)


def test_setting_a_value_again_costs_nothing(engine: UciEngine, other_file: str) -> None:
    engine.set_option("WeightsFile", other_file)
    _, fresh_nodes, _ = search(engine, depth=7)
    weights, evaluator = engine.weights, engine._parts.pool.main.searcher.evaluator
    assert engine.set_option("WeightsFile", other_file) == []
    assert engine.weights is weights
    assert engine._parts.pool.main.searcher.evaluator is evaluator
    # The entries of the first search are still there.
    _, nodes, _ = search(engine, depth=7)
    assert nodes is not None
    assert fresh_nodes is not None
    assert nodes < fresh_nodes


def test_nothing_that_was_learnt_with_other_weights_is_left(engine: UciEngine, other_file: str) -> None:
    fresh: dict[str, Any] = {}
    for value in ("", other_file):
        engine.set_option("WeightsFile", value)
        engine.new_game()
        engine.set_position(MIDDLEGAME, ())
        fresh[value] = search(engine)
    assert fresh[""] != fresh[other_file]
    for value in ("", other_file, "", other_file):
        engine.set_option("WeightsFile", value)
        assert search(engine) == fresh[value]


@pytest.mark.skipif(not is_compiled(), reason="plain Python searches with one thread")
def test_every_worker_has_the_weights_and_a_later_one_too(engine: UciEngine, other_file: str) -> None:
    engine.options.threads.usable = 5
    engine.set_option("Threads", "3")
    engine.set_option("WeightsFile", other_file)
    engine.set_option("Threads", "5")
    weights = Weights.load(other_file)
    assert engine.weights == weights
    assert statics(engine) == [expected(engine, weights)] * 5
    search(engine)


def score_with(path: str) -> list[int]:
    """Static score and that of a search with a weights file, on the core of this process."""
    engine = features_engine()
    engine.set_option("WeightsFile", path)
    score, nodes, _ = search(engine, depth=3)
    engine.close()
    return [*statics(engine), score or 0, nodes or 0]


@pytest.mark.parametrize("core", ALL_CORES)
def test_every_core_searches_the_same_with_other_weights(core: str, other_file: str) -> None:
    found = on_core(core_or_skip(core), __name__, "score_with", other_file)
    assert found[0] == evaluation.evaluate(chess.Board(MIDDLEGAME), Weights.load(other_file), network=None)
    assert found == score_with(other_file)


def test_eval_explains_with_the_weights_in_use(engine: UciEngine, other_file: str) -> None:
    before = engine.evaluation_text()
    engine.set_option("WeightsFile", other_file)
    data = engine.explain(chess.Board(MIDDLEGAME)).data()
    assert data["white_score_cp"] == -statics(engine)[0]
    assert f"Score {data['white_score_cp'] / 100:+.2f} (White's view)" in engine.evaluation_text()
    engine.set_option("WeightsFile", "")
    assert engine.evaluation_text() == before


# Bad files --------------------------------------------------------------------------------------------------------


def line_of(name: str) -> str:
    """The line of the weights file with the middlegame of a weight."""
    return TEXT[TEXT.index(f"[{name}]") :].splitlines()[1] + "\n"


BAD = {
    "empty": b"",
    "truncated": TEXT[: len(TEXT) // 2].encode(),
    "cut in a text": TEXT[: TEXT.index("'''") + 50].encode(),
    "wrong shape": TEXT.replace(line_of("safe_check"), "middlegame = '1 2 3'\n", 1).encode(),
    "nan": TEXT.replace(line_of("tempo"), "middlegame = nan\n").encode(),
    "out of range": TEXT.replace(line_of("tempo"), "middlegame = 1001\n").encode(),
    "other material": TEXT.replace("100 300 300 500 900", "100 320 330 500 900").encode(),
    "huge": b"# " + b"x" * MAX_BYTES,
    "binary": bytes(range(256)) * 16,
    "a line end in a name": b'"a\\nb" = 1\n',
    "deep": b"a = " + b"[" * 20_000,
    "many keys": b"".join(b"a%d.b.c = 1\n" % number for number in range(30_000)),
    "a name of many dots": b"a" + b".a" * 200_000 + b" = 1\n",
    "a heading of many dots": b"[a" + b" . a" * 100_000 + b"]\nb = 1\n",
    "dots behind a sign of equality": b'"="' + b".a" * 200_000 + b" = 1\n",
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_is_refused_with_one_sentence(
    fault: str, engine: UciEngine, tmp_path: Path, other_file: str
) -> None:
    engine.set_option("WeightsFile", other_file)
    before = engine.weights
    bad = tmp_path / "bad.toml"
    bad.write_bytes(BAD[fault])
    started = time.perf_counter()
    (message,) = engine.set_option("WeightsFile", str(bad))
    assert time.perf_counter() - started < 10
    assert message.startswith("error: option WeightsFile cannot be ")
    assert message.endswith(f"), it stays {quoted(other_file)}")
    assert message.isprintable()
    assert len(message) < 500
    assert engine.weights is before
    assert engine.options.weights_file.value == other_file
    search(engine, depth=2)


@pytest.mark.parametrize("name", ["", "missing.toml", "nul\0byte", "x" * 5000])
def test_a_file_that_cannot_be_read_is_refused(name: str, engine: UciEngine, tmp_path: Path) -> None:
    (message,) = engine.set_option("WeightsFile", f"{tmp_path}/{name}")
    assert message.startswith("error: option WeightsFile cannot be ")
    assert "cannot be read" in message
    assert message.isprintable()
    assert engine.weights is default_weights()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes as POSIX has them")
def test_a_pipe_does_not_block(engine: UciEngine, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (message,) = engine.set_option("WeightsFile", str(tmp_path / "pipe"))
    assert "not a plain file" in message
    assert engine.weights is default_weights()


def test_without_memory_the_weights_stay(
    engine: UciEngine, other_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("uci_engine.search.thread_pool._new_evaluator", fail)
    before = statics(engine)
    (message,) = engine.set_option("WeightsFile", other_file)
    value = quoted(other_file)
    assert message == f"error: option WeightsFile cannot be {value} (there is not enough memory), it stays <empty>"
    assert engine.weights is default_weights()
    assert statics(engine) == before


# The Python API ---------------------------------------------------------------------------------------------------


def test_the_option_by_keyword(other_file: str) -> None:
    board = chess.Board(MIDDLEGAME)
    with Engine(use_nnue=False, weights_file=other_file) as engine:
        assert engine.explain(board).terms == evaluation.explain(board, Weights.load(other_file), None).terms
        assert engine.evaluate(board) == engine.explain(board).score
        before = engine.evaluate(board)
        engine.configure(weights_file="")
        assert engine.explain(board).terms == evaluation.explain(board, network=None).terms
        assert engine.evaluate(board) == engine.explain(board).score != before
        with pytest.raises(ValueError, match="WeightsFile cannot be"):
            engine.configure(weights_file=other_file + ".missing")
        assert json.dumps(engine.options["weights_file"]) == '""'
