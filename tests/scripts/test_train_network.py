"""The training of the network: inputs, gradient, whole numbers, checkpoints, and the program."""

from __future__ import annotations

import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

import evaluation
import train_network
from evaluation.network.file import KING_REGIONS, MAX_TERMS_CP, OUTPUT_BUCKETS, PIECE_SQUARES, Network
from tests.support.networks import network_score, random_network
from tests.support.records import records_of
from toolkit.errors import ProgramError
from toolkit.training import network
from toolkit.training.network import (
    BLOCK,
    MAX_HIDDEN,
    MAX_OUTPUT,
    OUTPUT_CP,
    Batch,
    Fit,
    Gradient,
    Plan,
    State,
    add_gradient,
    floating,
    load_checkpoint,
    mean_loss,
    network_scores,
    new_network,
    new_state,
    ordered_rows,
    outputs,
    quantised,
    save_checkpoint,
    static_scores,
)
from toolkit.training.positions import FIRST, QUIET, Source, board_of, read_examples, split_rows, write_positions
from train_network import batch_of, main, parse_source


@pytest.fixture
def file(tmp_path: Path, records: Any) -> Path:
    path = tmp_path / "own.positions"
    write_positions(path, {"program": "test"}, records)
    return path


def labelled(records: Any) -> Batch:
    static_cp = static_scores(records).astype(np.float32)
    expected = np.random.default_rng(0).random(len(records)).astype(np.float32)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(records)).astype(np.float32)
    return Batch(records, static_cp, expected, weight)


def test_static_scores_are_those_of_single_boards(records: Any) -> None:
    # King and pawn against king, too: won and drawn.
    endgames = [chess.Board(fen) for fen in ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", "k7/8/8/8/8/8/P7/K7 w - - 0 1")]
    some = np.concatenate([records[::17], records_of(endgames)])
    expected = [evaluation.evaluate(board_of(record), network=None) for record in some]
    assert static_scores(some).tolist() == expected


@pytest.mark.parametrize("step", [1, 97])
def test_the_outputs_are_those_of_the_engine(step: int, records: Any) -> None:
    """Along games, where few inputs change, and from game to game."""
    some = records[: 120 * step : step]
    whole = random_network(4)
    assert quantised(floating(whole)) == whole
    expected = [network_score(whole, board_of(record)) for record in some]
    features_cp = np.zeros(len(some), np.int64)
    assert network_scores(whole, some, features_cp).tolist() == expected
    found = outputs(floating(whole), labelled(some))
    known = np.array(expected)
    inside = (known != 0) & (np.abs(known) < 1000)
    assert inside.sum() > 20
    assert np.abs(found - known)[inside].max() < 25
    features_cp[3], features_cp[5] = -MAX_TERMS_CP - 1, MAX_TERMS_CP
    expected[3] = 0
    assert network_scores(whole, some, features_cp).tolist() == expected


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_the_gradient_is_that_of_the_loss(is_shuffled: bool, records: Any) -> None:
    """Along games, where few inputs change, and in any order."""
    scale_cp = 120.0
    batch = labelled(records[np.random.default_rng(3).permutation(1500) if is_shuffled else np.arange(1500)])
    # With more digits than the training has, so that a step can be small.
    arrays: list[Any] = [array.astype(np.float64) for array in new_network(6, OUTPUT_BUCKETS, 1).arrays()]
    trained = network.TrainedNetwork(*arrays)
    trained.output += 0.3
    found = Gradient.of(trained)
    total = add_gradient(trained, trained.hidden(), batch, scale_cp, found)
    common = found.hidden.reshape(KING_REGIONS, PIECE_SQUARES, -1).sum(axis=0)
    mean = mean_loss(batch, outputs(trained, batch), scale_cp)
    assert total == pytest.approx(mean * float(batch.weight.sum()), rel=1e-5)
    chance = np.random.default_rng(2)
    for array, slope in zip(trained.arrays(), [found.hidden, common, *found.arrays()[1:]], strict=True):
        for place in chance.permutation(np.argsort(-np.abs(slope).ravel())[: slope.size // 4 + 1])[:5]:
            step = 1e-4
            before = array.ravel()[place]
            losses = []
            for sign in (1, -1):
                array.ravel()[place] = before + sign * step
                losses.append(add_gradient(trained, trained.hidden(), batch, scale_cp, Gradient.of(trained)))
            array.ravel()[place] = before
            assert slope.ravel()[place] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=0.01, abs=1e-3)


def test_each_block_has_like_beside_like(records: Any) -> None:
    chance = np.random.default_rng(3)
    places = np.concatenate(
        [chance.permutation(block) for block in np.split(np.arange(1500), range(BLOCK, 1500, BLOCK))]
    )
    ordered = ordered_rows(records, places, 2)

    def changes(order: Any) -> int:
        """How many pieces come and go from each position to the next one of a block."""
        boards = [set(board_of(records[place]).piece_map().items()) for place in order]
        ends = range(1, len(boards))
        return sum(len(boards[each - 1] ^ boards[each]) for each in ends if each % BLOCK)

    for first in range(0, len(places), BLOCK):
        assert sorted(ordered[first : first + BLOCK]) == sorted(places[first : first + BLOCK])
        assert ordered[first] == places[first]
    assert changes(ordered) < 0.7 * changes(places)


def test_files_have_settings_of_their_own(file: Path) -> None:
    assert parse_source("a.positions") == Source(Path("a.positions"))
    source = parse_source(f"'{file}' mix=0.25 scale=200 weight=3")
    assert source == Source(file, 0.25, 200.0, 3.0)
    examples, (fact,) = read_examples([source])
    assert set(examples.weight.tolist()) == {3.0}
    # Some come twice.
    assert fact["positions"] > len(examples) > 1000
    for words in ("", "a mix=2", "a scale=0", "a scale=x", "a weight=-1", "a other=1", "a mix=nan", "'a"):
        with pytest.raises(ProgramError):
            parse_source(words)


def test_positions_without_the_network_are_left_out(tmp_path: Path) -> None:
    boards = [
        chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        chess.Board("4k3/pppp4/8/8/8/8/8/4K3 w - - 0 1"),
        chess.Board("4k3/ppp5/8/8/8/8/4PP2/4K3 b - - 0 1"),
        chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR b KQkq - 0 1"),
    ]
    path = tmp_path / "some.positions"
    write_positions(path, {}, records_of(boards, 50, 2, QUIET | FIRST))
    batch, games = batch_of(read_examples([Source(path)])[0], 1)
    assert games.tolist() == [2]
    # From Black's view: White's score of 50 and White's result.
    assert batch.expected == pytest.approx(1 / (1 + np.exp(0.5)))
    assert batch_of(read_examples([Source(path, mix=0.0)])[0], 1)[0].expected == 0


def start(units: int = 16) -> State:
    return new_state(new_network(units, OUTPUT_BUCKETS, 0).arrays())


def fit(file: Path, plan: Plan, state: State | None = None) -> Fit:
    batch, games = batch_of(read_examples([Source(file)])[0], 1)
    train, validation, _ = split_rows(games, (80, 10, 10), np.random.default_rng(0))
    return Fit(batch, train, validation, plan, state or start())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_broken_run_goes_on_to_the_same_network(
    file: Path, tmp_path: Path, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "BLOCK", 16)
    plan = Plan(150.0, epochs=4, batch=256, threads=threads)
    whole = fit(file, plan).run()
    checkpoint = tmp_path / "fit.npz"

    class BrokenOffError(Exception):
        pass

    def break_off(state: State) -> None:
        save_checkpoint(checkpoint, state, {"a": 1})
        if state.epoch == 2:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        fit(file, plan).run(break_off)
    state = load_checkpoint(checkpoint, {"a": 1}, start())
    resumed = fit(file, plan, state).run()
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


def test_weights_stay_within_the_bounds_of_the_file(file: Path) -> None:
    state = start()
    for parameters in state.parameters:
        parameters += 9
    fit(file, Plan(150.0, epochs=1, batch=256), state).run()
    after = network.TrainedNetwork(*state.parameters)
    assert np.abs(after.output).max() == pytest.approx(MAX_OUTPUT)
    assert np.abs(after.hidden()).max() == pytest.approx(MAX_HIDDEN)


def test_the_program_learns_what_the_features_miss(
    file: Path, tmp_path: Path, records: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {name: str(tmp_path / name) for name in ("new.network", "c.npz")}
    command = [str(file), "--output", names["new.network"], "--parts", "80,10,10"]
    command += ["--epochs", "12", "--batch", "128", "--rate", "0.01"]
    command += ["--checkpoint", names["c.npz"]]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "in whole numbers" in shown.out
    # From the first second it says what it does.
    stages = ["reading", "scoring", "ordering", "positions"]
    assert list(dict.fromkeys(line.split()[0] for line in shown.err.splitlines())) == stages
    data = Path(names["new.network"]).read_bytes()
    whole_network = Network.parse(data)
    facts = tomllib.loads(Path(names["new.network"]).with_suffix(".toml").read_text("utf-8"))
    assert facts["sha256"] == sha256(data).hexdigest()
    assert facts["command"].startswith("scripts/train_network.py ")
    assert str(tmp_path) not in facts["command"]
    chosen = records[np.abs(records["score_cp"].astype(int)) <= 1500]
    assert facts["data"][0]["sha256"] == sha256(chosen.tobytes()).hexdigest()
    assert facts["data"][0]["made_by"] == "test"
    features, with_network, whole = facts["losses"]["test"]
    assert with_network < 0.8 * features
    assert whole == pytest.approx(with_network, rel=0.05)
    assert min(facts["history"]["validation"]) == pytest.approx(facts["losses"]["validation"][1])
    # A knight's pawn on its fourth rank, and not on the third.
    fens = ("4k3/pp1p3p/8/8/1P6/8/P2PP3/4K3 w - - 0 1", "4k3/pp1p3p/8/8/8/1P6/P2PP3/4K3 w - - 0 1")
    there, elsewhere = (network_score(whole_network, chess.Board(fen)) for fen in fens)
    assert there > elsewhere + OUTPUT_CP / 4
    # A run that goes on from it is no worse on the games that it chooses by.
    second = str(tmp_path / "second.network")
    further = [str(file), "--output", second, "--parts", "80,10,10", "--scale"]
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
    monkeypatch.setattr(train_network, "static_scores", lambda records: 1 + static_scores(records))
    assert main([*command, "--resume"]) == 1
    assert "features" in capsys.readouterr().err.splitlines()[-1].partition(" is of another run: ")[2]


def test_what_cannot_be_used_is_one_complaint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.positions"
    bad.write_bytes(b"nothing")
    output = str(tmp_path / "new.network")
    # A pawn on the last rank, no black king; nine pawns; too few games.
    fens = ("ppp5/8/8/8/8/8/PP6/K7", "4k3/pppppppp/8/8/8/P7/PPPPPPPP/4K3", "4k3/pppp4/8/8/8/8/PPPP4/4K3")
    odd = [str(tmp_path / f"{number}.positions") for number in range(len(fens))]
    for name, fen in zip(odd, fens, strict=True):
        write_positions(Path(name), {}, records_of([chess.Board(f"{fen} w - - 0 1")], flags=QUIET | FIRST))
    sources = [str(bad), str(tmp_path / "missing"), f"{bad} mix=3", *odd]
    reasons = ["no file of positions", "missing", "mix", "cannot be evaluated", "cannot be evaluated", "no game"]
    for source, reason in zip(sources, reasons, strict=True):
        assert main([source, "--output", output]) == 1
        *progress, complaint = capsys.readouterr().err.splitlines()
        assert complaint.startswith("error: ")
        assert reason in complaint
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
