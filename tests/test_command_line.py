"""The command line: subcommands, UCI commands as words, the choice of a core, answers to mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import chess
import pytest

from tests.support import ENVIRONMENT, ROOT
from uci_engine import __version__
from uci_engine.score import normalised, win_draw_loss
from uci_engine.tools import doctor

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def secateur(
    *words: object, core: str | None = None, folder: Path = ROOT, data: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the program with these words. `core` is the value for SECATEUR_CORE, `data` what is on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "uci_engine", *map(str, words)],
        cwd=folder,
        env=ENVIRONMENT if core is None else {**ENVIRONMENT, "SECATEUR_CORE": core},
        input=data,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def output(*words: str, core: str | None = None) -> list[str]:
    """The lines printed by a run that must succeed and be silent on stderr."""
    result = secateur(*words, core=core)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    return result.stdout.splitlines()


def test_version() -> None:
    assert output("--version") == [f"Secateur {__version__}"]


def test_help_names_every_subcommand() -> None:
    text = "\n".join(output("--help"))
    for command in ("go", "board", "analyse", "explain", "bench", "perft", "eval", "doctor"):
        assert f"secateur {command}" in text
    assert "interpreted" not in text


@pytest.mark.parametrize("command", ["go", "board", "analyse", "explain", "bench", "perft", "eval", "doctor"])
def test_each_subcommand_has_its_own_help(command: str) -> None:
    assert output(command, "--help")[0].startswith(f"usage: secateur {command}")


@pytest.mark.parametrize("core", ["auto", "python-chess"])
def test_a_uci_command_as_words_is_executed_and_ends(core: str) -> None:
    lines = output("--core", core, "go", "depth", "2")
    words = lines[-1].split()
    assert words[0] == "bestmove"
    assert chess.Move.from_uci(words[1]) in chess.Board().legal_moves


def test_perft_prints_the_total() -> None:
    lines = output("perft", "3")
    assert re.findall(r"\d+", lines[0]) == ["8902"]
    assert re.fullmatch(r"time \d+\.\d{3} s", lines[1])
    assert len(lines) == 2
    assert re.findall(r"\d+", output("perft", "3", "--chess960", "--fen", CHESS960)[0]) == ["12189"]


def test_perft_divide_counts_for_every_move() -> None:
    lines = output("perft", "--divide", "2")
    counts = dict(re.findall(r"^([a-h][1-8]\S+): (\d+)$", "\n".join(lines), re.MULTILINE))
    assert counts == {move.uci(): "20" for move in chess.Board().legal_moves}
    assert "400" in "\n".join(lines)


def test_eval_as_json_has_the_keys_that_its_help_names() -> None:
    data = json.loads("\n".join(output("eval", "--json", "--fen", KIWIPETE)))
    keys = set(data)
    for entry in (*data["families"], *data["pieces"], *data["families"][0]["terms"]):
        keys |= set(entry)
    assert data["fen"] == KIWIPETE
    assert sum(family["difference_cp"] for family in data["families"]) == data["white_score_cp"]
    assert data["normalised_cp"] == normalised(data["white_score_cp"], 32)
    permille = data["wins_permille"], data["draws_permille"], data["losses_permille"]
    assert permille == win_draw_loss(data["white_score_cp"], 32)
    _, _, explained = "\n".join(output("eval", "--help")).partition("The JSON")
    assert not [key for key in keys if not re.search(rf"\b{key}\b", explained)]


def test_eval_shows_the_expected_result() -> None:
    data = json.loads("\n".join(output("eval", "--json")))
    wins, draws, losses = data["wins_permille"], data["draws_permille"], data["losses_permille"]
    numbers = [wins / 10 + draws / 20, wins / 10, draws / 10, losses / 10]
    shown = [float(number) for number in re.findall(r"([\d.]+) %", output("eval")[-1])]
    assert shown == pytest.approx(numbers, abs=0.051)


def test_bench_counts_the_same_nodes_every_time_and_with_the_usual_options() -> None:
    first, second = output("bench", "3"), output("bench", "3", "--hash", "16", "--threads", "1")
    assert re.fullmatch(r"nodes [1-9]\d*", first[-3])
    assert first[-3] == second[-3]
    assert re.fullmatch(r"time \d+\.\d{3} s", first[-2])
    assert re.fullmatch(r"nps \d+", first[-1])


@pytest.mark.parametrize(
    "words",
    [
        ("go", "depth", "3", "extra"),
        ("go", "depth", "x"),
        ("go", "--depth", "3"),
        ("eval", "--threads"),
        ("perft",),
        ("perft", "x"),
        ("perft", "65"),
        ("bench", "0"),
        ("bench", "121"),
        ("eval", "extra"),
    ],
)
def test_wrong_usage_is_explained(words: tuple[str, ...]) -> None:
    result = secateur(*words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.fullmatch(rf"secateur {words[0]}: .+ \(see secateur {words[0]} --help\)\n", result.stderr)


@pytest.mark.parametrize(
    "command", ["position startpos moves e2e5", "position fen garbage", "position", "setoption name Hash value x"]
)
def test_a_uci_command_that_is_refused_is_wrong_usage(command: str) -> None:
    result = secateur(*command.split())
    assert (result.returncode, result.stderr) == (2, "")
    assert re.fullmatch(r"info string error: .+\n", result.stdout)


def test_a_uci_command_on_standard_input_is_refused_without_an_exit_code() -> None:
    result = secateur(data="position fen garbage\n")
    assert result.returncode == 0
    assert result.stdout.startswith("info string error: ")


def test_an_unknown_core_is_refused() -> None:
    assert secateur("--core", "fast", "isready").returncode == 2
    result = secateur("isready", core="fast")
    assert result.returncode == 2
    assert "SECATEUR_CORE" in result.stderr


def test_the_environment_chooses_the_core() -> None:
    assert any("python-chess core" in line for line in output("uci", core="python-chess"))
    assert "core           interpreted: requested" in output("doctor", core="interpreted")


@pytest.mark.parametrize("core", ["auto", "python-chess"])
def test_doctor_finds_nothing_wrong(core: str) -> None:
    lines = output("doctor", "--core", core)
    assert lines[-1] == "All is well."
    assert [line for line in lines if line.startswith("ok ")]
    assert f"Secateur       {__version__}" in lines[0]


def test_doctor_notices_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    fen, chess960, depth, count = doctor.PERFT_COUNTS[0]
    monkeypatch.setattr(doctor, "PERFT_COUNTS", ((fen, chess960, depth, count + 1), *doctor.PERFT_COUNTS[1:]))
    monkeypatch.setattr(doctor, "stale_sources", lambda: ["uci_engine/search/search.py"])
    lines: list[str] = []
    assert doctor.examine("auto", lines.append) == 1
    failed = [line for line in lines if line.startswith("FAILED")]
    assert any(line.startswith("FAILED  move counts: 8903 expected") for line in failed)
    assert lines[-1] == f"{len(failed)} of the checks failed."


def test_start_needs_no_third_party_module_but_python_chess() -> None:
    """Every start pays for what it imports."""
    program = "import sys\nfrom uci_engine.__main__ import main\nmain(['isready'])\nprint(sorted(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = set(re.findall(r"'(\w+)", result.stdout))
    assert "chess" in loaded
    assert not loaded & {"Cython", "numpy", "setuptools", "pytest", "asyncio", "unittest"}
