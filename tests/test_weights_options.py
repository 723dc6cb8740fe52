"""The options for the weights of the evaluation: what they change, what is forgotten then, and bad files."""

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
from evaluation.catalogue import FAMILIES
from evaluation.weights import MAX_BYTES, Weights, default_weights
from tests.evaluation.test_evaluation import random_weights
from tests.support.engines import search, statics
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core
from uci_engine import Engine
from uci_engine.engine import UciEngine
from uci_engine.options import PERCENT_OPTIONS, Options
from uci_engine.text import quoted

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
NAMES = [name for name, _, _ in PERCENT_OPTIONS]
TEXT = default_weights().text()


def features_engine() -> UciEngine:
    """An engine without the learned correction, in the position."""
    engine = UciEngine(owns_process=False)
    engine.set_option("Correction", "false")
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
    random_weights(4).save(path)
    return str(path)


def expected(engine: UciEngine, weights: Weights) -> int:
    assert engine.board is not None
    return evaluation.evaluate(engine.board, weights)


def test_every_family_but_the_tempo_belongs_to_one_option() -> None:
    families = [family for _, families, _ in PERCENT_OPTIONS for family in families]
    assert sorted([*families, "Tempo"]) == sorted(FAMILIES)
    assert Options(hash_maximum=64).percent_by_family() == dict.fromkeys(families, 100)


@pytest.mark.parametrize("name", NAMES)
def test_a_percentage_scales_its_families_and_100_is_the_engine_as_it_was(engine: UciEngine, name: str) -> None:
    before = search(engine)
    (families,) = (families for option, families, _ in PERCENT_OPTIONS if option == name)
    assert engine.set_option(name, "250") == []
    assert engine.weights == default_weights().scaled(dict.fromkeys(families, 250))
    assert statics(engine) == [expected(engine, engine.weights)]
    assert engine.set_option(name, "100") == []
    assert engine.weights is default_weights()
    assert search(engine) == before


def test_setting_a_value_again_costs_nothing(engine: UciEngine, other_file: str) -> None:
    engine.set_option("WeightsFile", other_file)
    engine.set_option("Material", "150")
    _, fresh_nodes, _ = search(engine, depth=7)
    weights, evaluator = engine.weights, engine._pool.main.searcher.evaluator
    for name, value in (("WeightsFile", other_file), ("Material", "150"), ("Threats", "100")):
        assert engine.set_option(name, value) == []
    assert engine.weights is weights
    assert engine._pool.main.searcher.evaluator is evaluator
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
    engine.set_option("King Safety", "0")
    weights = Weights.load(other_file).scaled({"King safety": 0})
    assert engine.weights == weights
    assert statics(engine) == [expected(engine, weights)] * 5
    search(engine)


def test_file_and_percentages_work_together_in_either_order(engine: UciEngine, other_file: str) -> None:
    engine.set_option("Mobility", "30")
    engine.set_option("WeightsFile", other_file)
    first = engine.weights
    engine.set_option("WeightsFile", "<empty>")
    assert engine.weights == default_weights().scaled({"Mobility": 30, "Space": 30})
    engine.set_option("Mobility", "100")
    engine.set_option("WeightsFile", other_file)
    engine.set_option("Mobility", "30")
    assert engine.weights == first == Weights.load(other_file).scaled({"Mobility": 30, "Space": 30})


def score_with(path: str) -> list[int]:
    """Static score and that of a search with a weights file, on the core of this process."""
    engine = features_engine()
    engine.set_option("WeightsFile", path)
    engine.set_option("Passed Pawns", "400")
    score, nodes, _ = search(engine, depth=3)
    engine.close()
    return [*statics(engine), score or 0, nodes or 0]


@pytest.mark.parametrize("core", ALL_CORES)
def test_every_core_searches_the_same_with_other_weights(core: str, other_file: str) -> None:
    found = on_core(core_or_skip(core), __name__, "score_with", other_file)
    assert found[0] == evaluation.evaluate(
        chess.Board(MIDDLEGAME), Weights.load(other_file).scaled({"Passed pawns": 400})
    )
    assert found == score_with(other_file)


def test_eval_explains_with_the_weights_in_use(engine: UciEngine, other_file: str) -> None:
    before = engine.evaluation_text()
    engine.set_option("WeightsFile", other_file)
    engine.set_option("Material", "0")
    data = engine.evaluation_data()
    assert data["white_score_cp"] == -statics(engine)[0]
    material = data["families"][0]["terms"][0]
    assert (material["name"], material["white_cp"], material["black_cp"]) == ("material", 0, 0)
    assert f"Score {data['white_score_cp'] / 100:+.2f} (White's view)" in engine.evaluation_text()
    engine.set_option("WeightsFile", "")
    engine.set_option("Material", "100")
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
    assert message.endswith(f"), it stays at {quoted(other_file)}")
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


def test_without_memory_the_weights_stay(engine: UciEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("uci_engine.search.factory._new_evaluator", fail)
    before = statics(engine)
    (message,) = engine.set_option("Material", "300")
    assert message == "error: there is no memory for other weights, it stays at 100"
    assert engine.weights is default_weights()
    assert statics(engine) == before


# The Python API ---------------------------------------------------------------------------------------------------


def test_the_options_by_keyword(other_file: str) -> None:
    board = chess.Board(MIDDLEGAME)
    with Engine(correction=False, weights_file=other_file, piece_squares=50, threats=0) as engine:
        weights = Weights.load(other_file).scaled({"Piece squares": 50, "Pieces": 50, "Threats": 0})
        assert engine.explain(board).details == evaluation.explain(board, weights)
        assert engine.evaluate(board) == engine.explain(board).normalised_score
        before = engine.evaluate(board)
        engine.configure(weights_file="", piece_squares=100, threats=100)
        assert engine.explain(board).details == evaluation.explain(board)
        assert engine.evaluate(board) == engine.explain(board).normalised_score != before
        with pytest.raises(ValueError, match="material must be a whole number from 0 to 400"):
            engine.configure(material=401)
        with pytest.raises(ValueError, match="WeightsFile cannot be"):
            engine.configure(weights_file=other_file + ".missing")
        assert json.dumps(engine.options["weights_file"]) == '""'
