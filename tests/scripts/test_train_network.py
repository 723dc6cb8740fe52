"""The training of the network: inputs, gradient, whole numbers, checkpoints, and the program."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

import evaluation
from evaluation.base.record import FIRST, QUIET
from evaluation.network.file import Network
from evaluation.network.shape import BUCKETS, KING_REGIONS, MAX_FEATURES_CP, PIECE_SQUARES
from evaluation.weights import default_weights
from tests.evaluation.test_evaluation import random_weights
from tests.support.networks import network_score, random_network
from tests.support.records import random_records, records_of
from toolkit.errors import ProgramError
from toolkit.training import network_fit
from toolkit.training.examples import Choice
from toolkit.training.model import weights_text
from toolkit.training.network_data import (
    Cache,
    Source,
    network_scores,
    parse_source,
    read_examples,
    static_scores,
)
from toolkit.training.network_fit import (
    BLOCK,
    MAX_HIDDEN,
    MAX_OUTPUT,
    Fit,
    Plan,
    State,
    in_order,
    load_checkpoint,
    mean_loss,
    new_state,
    save_checkpoint,
)
from toolkit.training.network_model import (
    OUTPUT_CP,
    Batch,
    Gradient,
    Loss,
    add_gradient,
    floating,
    new_network,
    outputs,
    quantised,
)
from toolkit.training.network_model import Network as Floating
from toolkit.training.positions import board_of, split_rows, write_positions
from train_network import main


def learnable(board: chess.Board) -> int:
    """The features in White's view, and what they do not know: a knight's pawn on its fourth rank is worth 150."""
    score = evaluation.evaluate(board, network=None) if board.turn else -evaluation.evaluate(board, network=None)
    ours, theirs = (board.pieces(chess.PAWN, colour) for colour in (chess.WHITE, chess.BLACK))
    return score + 150 * (len(ours & {chess.B4, chess.G4}) - len(theirs & {chess.B5, chess.G5}))


RECORDS = random_records(40, 60, chess960=True, score_of=learnable)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.positions"
    write_positions(path, {"program": "test"}, RECORDS)
    return path


def batch_of(records: Any) -> Batch:
    static_cp = static_scores(records, default_weights()).astype(np.float32)
    expected = np.random.default_rng(0).random(len(records)).astype(np.float32)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(records)).astype(np.float32)
    return Batch(records, static_cp, expected, weight)


def test_static_scores_are_those_of_single_boards() -> None:
    some = RECORDS[::17]
    expected = [evaluation.evaluate(board_of(record), network=None) for record in some]
    assert static_scores(some, default_weights()).tolist() == expected


@pytest.mark.parametrize("step", [1, 97])
def test_the_outputs_are_those_of_the_engine(step: int) -> None:
    """Along games, where few inputs change, and from game to game."""
    some = RECORDS[: 300 * step : step]
    network = random_network(4)
    expected = [network_score(network, board_of(record)) for record in some]
    features_cp = np.zeros(len(some), np.int64)
    assert network_scores(network, some, features_cp).tolist() == expected
    found = outputs(floating(network), batch_of(some))
    known = np.array(expected)
    inside = (known != 0) & (np.abs(known) < 1000)
    assert inside.sum() > 20
    assert np.abs(found - known)[inside].max() < 25
    features_cp[3], features_cp[5] = -MAX_FEATURES_CP - 1, MAX_FEATURES_CP
    expected[3] = 0
    assert network_scores(network, some, features_cp).tolist() == expected


def test_a_network_of_whole_numbers_is_the_same_again_after_going_on_from_it() -> None:
    network = random_network(6)
    assert quantised(floating(network)) == network


def test_the_gradient_is_that_of_the_loss() -> None:
    loss = Loss(120.0, 2.3)
    batch = batch_of(RECORDS[:1500])
    # With more digits than the training has, so that a step can be small.
    arrays: list[Any] = [array.astype(np.float64) for array in new_network(6, BUCKETS, 1).arrays()]
    network = Floating(*arrays)
    network.output += 0.3
    found = Gradient.of(network)
    total = add_gradient(network, network.hidden(), batch, loss, found)
    common = found.hidden.reshape(KING_REGIONS, PIECE_SQUARES, -1).sum(axis=0)
    assert total == pytest.approx(mean_loss(network, batch, loss) * float(batch.weight.sum()), rel=1e-5)
    chance = np.random.default_rng(2)
    for array, slope in zip(network.arrays(), [found.hidden, common, *found.arrays()[1:]], strict=True):
        for place in chance.permutation(np.argsort(-np.abs(slope).ravel())[: slope.size // 4 + 1])[:5]:
            step = 1e-4
            before = array.ravel()[place]
            losses = []
            for sign in (1, -1):
                array.ravel()[place] = before + sign * step
                losses.append(add_gradient(network, network.hidden(), batch, loss, Gradient.of(network)))
            array.ravel()[place] = before
            assert slope.ravel()[place] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=0.01, abs=1e-3)


def test_each_block_has_like_beside_like() -> None:
    chance = np.random.default_rng(3)
    places = np.concatenate(
        [chance.permutation(block) for block in np.split(np.arange(1500), range(BLOCK, 1500, BLOCK))]
    )
    ordered = in_order(RECORDS, places, 2)

    def changes(order: Any) -> int:
        """How many pieces come and go from each position to the next one of a block."""
        boards = [set(board_of(RECORDS[place]).piece_map().items()) for place in order]
        ends = range(1, len(boards))
        return sum(len(boards[each - 1] ^ boards[each]) for each in ends if each % BLOCK)

    for first in range(0, len(places), BLOCK):
        assert sorted(ordered[first : first + BLOCK]) == sorted(places[first : first + BLOCK])
        assert ordered[first] == places[first]
    assert changes(ordered) < 0.7 * changes(places)
    # The gradient is that of the block, in any order.
    network, batch = new_network(6, BUCKETS, 1), batch_of(RECORDS)
    one, other = Gradient.of(network), Gradient.of(network)
    lost = [
        add_gradient(network, network.hidden(), batch.rows(rows), Loss(120.0), gradient)
        for rows, gradient in ((places, one), (ordered, other))
    ]
    assert lost[0] == pytest.approx(lost[1], rel=1e-5)
    for here, there in zip(one.arrays(), other.arrays(), strict=True):
        assert here == pytest.approx(there, abs=1e-4)


def test_files_have_settings_of_their_own(file: Path, cache: Cache) -> None:
    assert parse_source("a.positions") == Source(Path("a.positions"))
    source = parse_source(f"'{file}' mix=0.25 scale=200 weight=3")
    assert source == Source(file, 0.25, 200.0, 3.0)
    examples = read_examples([source], Choice(), default_weights(), cache)
    batch = examples.batch
    assert set(batch.weight.tolist()) == {3.0}
    # Some come twice.
    assert examples.sources[0]["positions"] > len(batch) > 1000
    for word in ("mix=2", "scale=0", "scale=x", "weight=-1", "other=1", "mix=nan"):
        with pytest.raises(ProgramError):
            parse_source(f"a.positions {word}")


def test_positions_without_the_network_are_left_out(tmp_path: Path, cache: Cache) -> None:
    boards = [
        chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        chess.Board("4k3/pppp4/8/8/8/8/8/4K3 w - - 0 1"),
        chess.Board("4k3/ppp5/8/8/8/8/4PP2/4K3 b - - 0 1"),
        chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR b KQkq - 0 1"),
    ]
    records = records_of(boards, 50, 2, QUIET | FIRST)
    path = tmp_path / "some.positions"
    write_positions(path, {}, records)
    examples = read_examples([Source(path)], Choice(), default_weights(), cache)
    assert len(examples) == 1
    # From Black's view: White's score of 50 and White's result.
    assert examples.batch.expected[0] == pytest.approx(1 / (1 + np.exp(0.5)))
    (only_result,) = read_examples([Source(path, mix=0.0)], Choice(), default_weights(), cache).batch.expected
    assert only_result == 0


def start(units: int = 16) -> State:
    return new_state(new_network(units, BUCKETS, 0).arrays())


def fit(examples: Any, plan: Plan, state: State | None = None) -> Fit:
    train, validation, _ = split_rows(examples.games, (80, 10, 10), np.random.default_rng(0))
    return Fit(examples.batch, train, validation, plan, state or start())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_broken_run_goes_on_to_the_same_network(
    file: Path, cache: Cache, tmp_path: Path, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_fit, "BLOCK", 16)
    examples = read_examples([Source(file)], Choice(), default_weights(), cache)
    plan = Plan(150.0, epochs=4, batch=256, threads=threads)
    whole = fit(examples, plan).run()
    checkpoint = tmp_path / "fit.npz"

    class BrokenOffError(Exception):
        pass

    def break_off(state: State) -> None:
        save_checkpoint(checkpoint, state, {"a": 1})
        if state.epoch == 2:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        fit(examples, plan).run(break_off)
    state = load_checkpoint(checkpoint, {"a": 1}, start())
    resumed = fit(examples, plan, state).run()
    assert resumed.history == whole.history
    for one, other in zip(resumed.best, whole.best, strict=True):
        assert np.array_equal(one, other)
    with pytest.raises(ProgramError, match="of another run: a differ"):
        load_checkpoint(checkpoint, {"a": 2}, start())
    with pytest.raises(ProgramError, match="of another shape"):
        load_checkpoint(checkpoint, {"a": 1}, start(8))
    checkpoint.write_bytes(b"PK")
    with pytest.raises(ProgramError, match="is no checkpoint"):
        load_checkpoint(checkpoint, {"a": 1}, start())


def test_weights_stay_within_the_bounds_of_the_file(file: Path, cache: Cache) -> None:
    examples = read_examples([Source(file)], Choice(), default_weights(), cache)
    state = start()
    for parameters in state.parameters:
        parameters += 9
    fit(examples, Plan(150.0, epochs=1, batch=256), state).run()
    after = Floating(*state.parameters)
    assert np.abs(after.output).max() == pytest.approx(MAX_OUTPUT)
    assert np.abs(after.hidden()).max() == pytest.approx(MAX_HIDDEN)


def test_the_program_learns_what_the_features_miss(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {name: str(tmp_path / name) for name in ("new.network", "c.npz", "out.json", "curve.svg", "cache")}
    command = [str(file), "--output", names["new.network"], "--cache", names["cache"], "--parts", "80,10,10"]
    command += ["--epochs", "12", "--batch", "128", "--rate", "0.01"]
    command += ["--checkpoint", names["c.npz"], "--json", names["out.json"], "--curve", names["curve.svg"]]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "in whole numbers" in shown.out
    # From the first second it says what it does.
    stages = ["reading", "scoring", "ordering", "positions"]
    assert list(dict.fromkeys(line.split()[0] for line in shown.err.splitlines())) == stages
    data = Path(names["new.network"]).read_bytes()
    network = Network.parse(data)
    facts = tomllib.loads(Path(names["new.network"]).with_suffix(".toml").read_text("utf-8"))
    assert facts["sha256"] == sha256(data).hexdigest()
    assert facts["command"].startswith("scripts/train_network.py ")
    assert str(tmp_path) not in facts["command"]
    chosen = RECORDS[np.abs(RECORDS["score_cp"].astype(int)) <= 1500]
    assert facts["data"][0]["sha256"] == sha256(chosen.tobytes()).hexdigest()
    assert facts["data"][0]["made_by"] == "test"
    features, with_network, whole = facts["losses"]["test"]
    assert with_network < 0.8 * features
    assert whole == pytest.approx(with_network, rel=0.05)
    assert json.loads(Path(names["out.json"]).read_text("utf-8"))["history"]
    assert "<svg" in Path(names["curve.svg"]).read_text("utf-8")
    # A knight's pawn on its fourth rank, and not on the third.
    fens = ("4k3/pp1p3p/8/8/1P6/8/P2PP3/4K3 w - - 0 1", "4k3/pp1p3p/8/8/8/1P6/P2PP3/4K3 w - - 0 1")
    there, elsewhere = (network_score(network, chess.Board(fen)) for fen in fens)
    assert there > elsewhere + OUTPUT_CP / 4
    # A run that goes on from it is no worse on the games that it chooses by.
    second = str(tmp_path / "second.network")
    further = [str(file), "--output", second, "--cache", names["cache"], "--parts", "80,10,10", "--scale"]
    further += [str(facts["scale_cp"]), "--epochs", "1", "--batch", "128", "--rate", "0.001", "--start"]
    assert main([*further, names["new.network"]]) == 0
    assert "the best mixture of the start and this" in capsys.readouterr().out
    after_second = tomllib.loads(Path(second).with_suffix(".toml").read_text("utf-8"))
    assert after_second["losses"]["validation"][1] <= facts["losses"]["validation"][2] + 1e-9
    assert after_second["start"] == {name: facts[name] for name in ("sha256", "command", "positions", "data")}
    assert 0 <= after_second["share"] <= 1
    Path(second).with_suffix(".toml").write_text("sha256 =", "utf-8")
    assert main([*further, second]) == 1
    assert " is no TOML: " in capsys.readouterr().err
    # The same run again has nothing left to do, and writes the same.
    assert main([*command, "--resume"]) == 0
    assert Path(names["new.network"]).read_bytes() == data
    # With other features it is another run.
    weights = tmp_path / "other.toml"
    weights.write_text(weights_text(random_weights(4)), "utf-8")
    assert main([*command, "--resume", "--weights", str(weights)]) == 1
    assert "features" in capsys.readouterr().err.splitlines()[-1].partition(" is of another run: ")[2]


def test_what_cannot_be_used_is_one_complaint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.positions"
    bad.write_bytes(b"nothing")
    output = str(tmp_path / "new.network")
    board = chess.Board("ppp5/8/8/8/8/8/PP6/K7 w - - 0 1")
    write_positions(tmp_path / "odd.positions", {}, records_of([board], flags=QUIET | FIRST))
    odd = [str(tmp_path / "odd.positions")]
    others = ([f"{bad} mix=3"], [*odd, "--decay", "0.0"])
    for arguments in ([str(bad)], [str(tmp_path / "missing")], *others):
        assert main([*arguments, "--output", output, "--cache", str(tmp_path / "cache")]) == 1
        *progress, complaint = capsys.readouterr().err.splitlines()
        assert complaint.startswith("error: ")
        assert not any("error" in line for line in progress)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--batch", "100"], "multiple of 64"),
        (["--output", "new.toml"], "ends in .network"),
        (["--checkpoint", __file__], "continue it with --resume"),
    ],
)
def test_what_would_be_lost_or_cannot_be_is_refused(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["data.positions", "--output", "new.network", *words])
    assert reason in capsys.readouterr().err
