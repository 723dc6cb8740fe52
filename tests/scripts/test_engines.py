"""Engines described on the command line, started, timed and ended."""

from __future__ import annotations

import asyncio
import pickle
import sys
import time

import chess
import chess.engine
import pytest

from lib.engines.playing import LaunchError, launch
from lib.engines.spec import EngineSpec, SpecError, TimeControl, parse_engine, parse_engines
from tests.support import SUPPORT

FAKE = SUPPORT / "fake_engine.py"


def fake(mode: str = "good", *words: str, **settings: object) -> EngineSpec:
    settings.setdefault("control", TimeControl(depth=1))
    return EngineSpec(mode, (sys.executable, str(FAKE), mode, *words), **settings)  # type: ignore[arg-type]


def test_a_full_description() -> None:
    spec = parse_engine(
        "name=New cmd='python -m \"my engine\"' dir=/some/where tc=40/60+0.5 option.Hash=64 "
        "'option.Move Overhead=20' option.SyzygyPath=/a=b ponder=yes"
    )
    assert spec == EngineSpec(
        name="New",
        command=("python", "-m", "my engine"),
        directory="/some/where",
        control=TimeControl(base_seconds=60, increment_seconds=0.5, moves=40),
        options=(("Hash", "64"), ("Move Overhead", "20"), ("SyzygyPath", "/a=b")),
        ponder=True,
    )
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert str(spec.control) == "40/60+0.5"


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("tc=5+0.05", TimeControl(5.0, 0.05)),
        ("tc=60", TimeControl(60.0)),
        ("tc=.5+.01", TimeControl(0.5, 0.01)),
        ("nodes=10000", TimeControl(nodes=10000)),
        ("movetime=0.2", TimeControl(movetime_seconds=0.2)),
        ("depth=7 tc=1", TimeControl(1.0, depth=7)),
    ],
)
def test_limits(text: str, control: TimeControl) -> None:
    assert parse_engine(f"cmd=x {text}").control == control


def test_defaults_are_taken_key_by_key_but_limits_together() -> None:
    defaults = "cmd=x tc=5+0.05 option.Hash=16"
    assert parse_engine("name=A", defaults).control == TimeControl(5.0, 0.05)
    own = parse_engine("name=B nodes=100 option.Hash=32", defaults)
    assert own.control == TimeControl(nodes=100)
    assert own.options == (("Hash", "32"),)


def test_names_come_from_the_command_and_are_told_apart() -> None:
    specs = parse_engines(["cmd=/usr/games/one", "cmd=/opt/one", "cmd=two"])
    assert [spec.name for spec in specs] == ["one", "one 2", "two"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "name=A",
        "cmd='x",
        "cmd=x cmd=y",
        'cmd="\'x"',
        "cmd=x tc=0",
        "cmd=x tc=0+1",
        "cmd=x tc=5,3",
        "cmd=x nodes=0",
        "cmd=x nodes=1e3",
        "cmd=x depth=-1",
        "cmd=x movetime=nan",
        "cmd=x colour=red",
        "cmd=x ponder=perhaps",
    ],
)
def test_nonsense_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(SpecError, match=r"."):
        parse_engine(text)


def test_the_last_exact_score_of_the_main_line_is_handed_on() -> None:
    async def play() -> chess.engine.PlayResult:
        engine = await launch(fake(options=(("Seed", "5"),)), every_info=False)
        await engine.new_game()
        result = await engine.search(chess.Board(), chess.engine.Limit(depth=1))
        assert 0 < engine.seconds_used() < 5
        assert await engine.close()
        return result

    result = asyncio.run(play())
    assert result.move is not None
    assert result.move in chess.Board().legal_moves
    assert result.info["depth"] == 2
    assert abs(result.info["score"].white().score(mate_score=10_000)) <= 50


def test_every_line_is_handed_on_where_asked_for() -> None:
    async def analyse() -> list[int]:
        engine = await launch(fake())
        with await engine.analysis(chess.Board(), chess.engine.Limit(depth=1)) as analysis:
            depths = [info["depth"] async for info in analysis if "depth" in info]
        await engine.close()
        return depths

    assert asyncio.run(analyse()) == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (EngineSpec("nowhere", ("/no/such/program",)), "cannot run"),
        (EngineSpec("nowhere", (sys.executable,), "/no/such/folder"), "cannot run"),
        (EngineSpec("failing", (sys.executable, "-c", "import sys; sys.exit('broken')")), "broken"),
        (fake("mute"), "not ready within"),
        (fake(options=(("Colour", "red"),)), "Colour"),
        (fake(options=(("Ponder", "true"),)), "Ponder"),
    ],
)
def test_an_engine_that_cannot_be_used_is_told(spec: EngineSpec, reason: str) -> None:
    with pytest.raises(LaunchError, match=reason):
        asyncio.run(launch(spec, start_seconds=1.0 if spec.name == "mute" else 20.0))


def test_an_engine_that_stays_after_quit_is_killed() -> None:
    async def run() -> None:
        engine = await launch(fake("stay"))
        began = time.perf_counter()
        assert not await engine.close(0.3)
        assert time.perf_counter() - began < 5
        assert engine.returncode.done()

    asyncio.run(run())
