"""The command line: subcommands and their settings, UCI commands as words, answers to mistakes, and the end."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import chess
import pytest

from evaluation.network.file import NetworkError
from tests.support import ENVIRONMENT, ROOT, run_python
from tests.support.kernel import board_after
from uci_engine import __version__
from uci_engine.command_line import console
from uci_engine.score import normalised, win_draw_loss
from uci_engine.tools import doctor

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
COMMANDS = ("go", "board", "analyse", "provider", "explain", "bench", "eval", "doctor")
PROGRAM = [sys.executable, "-m", "uci_engine"]
# Before 3...Qh4, the fool's mate.
FOOL = ("f2f3", "e7e5", "g2g4")
CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def secateur(
    *words: object, core: str | None = None, folder: Path = ROOT, data: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the program with these words. `core` is the value for SECATEUR_CORE, `data` what is on standard input."""
    chosen = core or ENVIRONMENT.get("SECATEUR_CORE", "auto")
    return run_python("-m", "uci_engine", *words, folder=folder, data=data, SECATEUR_CORE=chosen)


def output(*words: str, core: str | None = None) -> list[str]:
    """The lines printed by a run that must succeed and be silent on stderr."""
    result = secateur(*words, core=core)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    return result.stdout.splitlines()


def test_version_and_help_which_names_every_subcommand_and_each_has_its_own() -> None:
    assert output("--version") == [f"Secateur {__version__}"]
    text = "\n".join(output("--help"))
    for command in COMMANDS:
        assert f"secateur {command}" in text
        assert output(command, "--help")[0].startswith(f"usage: secateur {command}")
    text = "\n".join(output("help"))
    assert all(word in text for word in ("isready", "setoption", "position", "go", "perft", "bench", "Hash"))


def best_move(*words: str, core: str | None = None) -> str:
    return output(*words, core=core)[-1].split()[1]


def test_go_searches_the_position_that_is_given() -> None:
    assert best_move("go", "depth", "2", "--moves", *FOOL) == "d8h4"
    assert best_move("go", "--moves", " ".join(FOOL), "--threads", "1", "depth", "2", core="python-chess") == "d8h4"
    fen = board_after(chess.STARTING_FEN, " ".join(FOOL)).fen()
    assert best_move("--core", "python-chess", "go", "--fen", fen, "depth", "2") == "d8h4"
    fen = "4k3/8/8/8/8/8/8/4KR2 w F - 0 1"
    assert best_move("go", "depth", "1", "searchmoves", "e1f1", "--fen", fen, "--chess960") == "e1f1"


def test_go_sets_options() -> None:
    lines = output("go", "depth", "3", "--option", "multipv=3", "--threads", "2", "--hash", "4")
    assert any(" multipv 3 " in line for line in lines)


def test_go_counts_the_position_that_is_given() -> None:
    divided = "\n".join(output("go", "perft", "2", "--moves", "e2e4", "--threads", "1"))
    counts = dict(re.findall(r"^([a-h][1-8]\S+): (\d+)$", divided, re.MULTILINE))
    board = board_after(chess.STARTING_FEN, "e2e4")
    assert set(counts) == {move.uci() for move in board.legal_moves}
    assert sum(map(int, counts.values())) == int(divided.split()[-1]) == 600
    assert output("go", "perft", "3", "--chess960", "--fen", CHESS960)[-1].split()[-1] == "12189"


def test_eval_shows_the_position_as_text_and_as_json_with_the_keys_that_guis_names() -> None:
    moved = board_after(chess.STARTING_FEN, "e2e4").fen()
    data = json.loads("\n".join(output("eval", "--json", "--fen", moved)))
    keys = set(data)
    for entry in (*data["families"], *data["pieces"], *data["families"][0]["terms"]):
        keys |= set(entry)
    assert data["fen"] == moved
    assert sum(family["difference_cp"] for family in data["families"]) == data["white_score_cp"]
    assert data["normalised_cp"] == normalised(data["white_score_cp"], 32)
    wins, draws, losses = data["wins_permille"], data["draws_permille"], data["losses_permille"]
    assert (wins, draws, losses) == win_draw_loss(data["white_score_cp"], 32)
    text = output("eval", "--moves", "e4")
    shown = [float(number) for number in re.findall(r"([\d.]+) %", text[-1])]
    assert shown == pytest.approx([wins / 10 + draws / 20, wins / 10, draws / 10, losses / 10], abs=0.051)
    _, _, explained = (ROOT / "GUIS.md").read_text("utf-8").partition("## The JSON of an evaluation")
    assert not [key for key in keys if not re.search(rf"\b{key}\b", explained)]


def test_bench_counts_the_same_nodes_every_time_and_with_the_usual_options() -> None:
    first, second = output("bench", "3"), output("bench", "3", "--hash", "16", "--threads", "1")
    assert re.fullmatch(r"nodes [1-9]\d*", first[-3])
    assert first[-3] == second[-3]
    assert re.fullmatch(r"time \d+\.\d{3} s", first[-2])
    assert re.fullmatch(r"nps \d+", first[-1])


def test_openbench_gets_openings_and_speedtest_a_report(tmp_path: Path) -> None:
    lines, again = (output("genfens 3 seed 7 book None ", "quit") for _ in range(2))
    boards = [chess.Board(line.removeprefix("info string genfens ")) for line in lines]
    assert all(board.is_valid() and board.ply() in (8, 9) for board in boards)
    assert (len(boards), lines) == (3, again)
    (tmp_path / "book").write_text("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\n")
    useless = secateur("genfens", "1", "seed", "7", "book", str(tmp_path / "book"))
    assert (useless.returncode, "1000 positions in a row" in useless.stdout) == (2, True)
    report = dict(re.findall(r"^(.+?) +: (.+)$", "\n".join(output("speedtest", "1", "4", "1")), re.MULTILINE))
    assert (report["Filled invocation"], report["TT size [MiB]"]) == ("speedtest 1 4 1", "4")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ("go depth 3 extra", 2, "(see secateur go --help)"),
        ("go depth x", 2, "(see secateur go --help)"),
        ("go --depth 3", 2, "(see secateur go --help)"),
        ("eval --threads", 2, "(see secateur eval --help)"),
        ("eval extra", 2, "(see secateur eval --help)"),
        ("bench 0", 2, "(see secateur bench --help)"),
        ("bench 121", 2, "(see secateur bench --help)"),
        ("go depth 1 --option Hush=4", 2, "did you mean Hash?"),
        ("bench 1 --threads many", 2, "'many'"),
        ("eval --hash x", 2, "'x'"),
        ("go perft 1 --moves e2e5", 1, "'e2e5'"),
        ("go depth 1 --fen rubbish", 1, "is not a FEN"),
        ("go depth 1 searchmoves e2e4 e2e5", 2, "'e2e5'"),
        ("go depth 3 fen rubbish", 2, "did you mean --fen?"),
        ("benhc", 2, "did you mean bench?"),
        ("UCI", 2, "did you mean uci?"),
        ("Go", 2, "did you mean go?"),
        ("play", 2, "to play: secateur board"),
        ("analyse missing.pgn", 1, "secateur analyse: missing.pgn: "),
        ("analyse tests/web_board", 1, "secateur analyse: there is no .pgn file in "),
        ("analyse tests/__init__.py", 1, "secateur analyse: tests/__init__.py holds no game"),
        ("analyse README.md --time 0", 2, "secateur analyse: argument --time: '0' is not a number of seconds"),
        ("analyse README.md --nodes 9 --depth 3", 2, "argument --depth: not allowed with argument --nodes"),
        ("analyse README.md --option Hsah=3", 2, "there is no option 'Hsah', did you mean hash?"),
        ("explain --option Hash", 2, "secateur explain: Hash must be "),
        ("explain --move e2e5", 2, "secateur explain: 'e2e5' is no legal move here"),
        ("explain --fen nonsense", 1, "is not a FEN"),
    ],
)
def test_wrong_usage_a_wrong_setting_and_a_wrong_word_are_one_sentence(words: str, code: int, text: str) -> None:
    result = secateur(*words.split())
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr.startswith("error: ") == (code == 1 and "analyse" not in words)
    assert text in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", ["position startpos moves e2e5", "position fen garbage", "genfens 3 seed", "setoption name Hash value x"]
)
def test_a_uci_command_that_is_refused_is_wrong_usage(command: str) -> None:
    result = secateur(*command.split())
    assert (result.returncode, result.stderr) == (2, "")
    assert re.fullmatch(r"info string error: .+\n", result.stdout)
    # On standard input it is refused without an exit code.
    typed = secateur(data=f"{command}\n")
    assert (typed.returncode, typed.stdout) == (0, result.stdout)


def test_the_environment_chooses_the_core_and_an_unknown_one_is_refused() -> None:
    assert secateur("--core", "fast", "isready").returncode == 2
    result = secateur("isready", core="fast")
    assert (result.returncode, "SECATEUR_CORE" in result.stderr) == (2, True)
    assert any("python-chess core" in line for line in output("uci", core="python-chess"))
    assert "core           interpreted: requested" in output("doctor", core="interpreted")


@pytest.mark.parametrize("core", ["auto", "python-chess"])
def test_doctor_finds_nothing_wrong(core: str) -> None:
    lines = output("--core", core, "doctor")
    assert lines[-1] == "All is well."
    assert [line for line in lines if line.startswith("ok ")]
    assert f"Secateur       {__version__}" in lines[0]


@pytest.mark.parametrize("what", ["moves", "network"])
def test_doctor_notices_what_is_wrong(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "stale_sources", lambda: ["uci_engine/search/search.py"])
    if what == "moves":
        monkeypatch.setattr(doctor, "PERFT_COUNTS", ((KIWIPETE, False, 2, 2040),))
    else:
        monkeypatch.setattr("uci_engine.engine.default_network", Mock(side_effect=NetworkError("the network")))
    lines: list[str] = []
    assert doctor.examine("auto", lines.append) == 1
    failed = [line for line in lines if line.startswith("FAILED")]
    assert what in failed[-1].partition(": ")[2]
    assert lines[-1] == f"{len(failed)} of the checks failed."


@pytest.mark.parametrize("core", ["auto", "python-chess"])
def test_a_start_loads_no_more_than_it_needs(core: str, tmp_path: Path) -> None:
    """Every start pays for what it imports and reads."""
    program = (
        "import sys\nread = []\nsys.addaudithook(lambda what, of: what == 'open' and read.append(str(of[0])))\n"
        "import uci_engine\nassert not [name for name in sys.modules if name.startswith('uci_engine.')]\n"
        "from uci_engine.command_line.program import run\nrun(['isready'])\nprint(*sorted(sys.modules))\n"
        "assert not [name for name in read if name.endswith(('book.bin', 'opening_names.tsv.gz'))]\n"
        "print(hasattr(uci_engine, 'Engine'), hasattr(uci_engine, 'nonsense'))"
    )
    ready, modules, library = run_python("-c", program, folder=tmp_path, SECATEUR_CORE=core).stdout.splitlines()
    assert (ready, library) == ("readyok", "True False")
    loaded = {*modules.lower().split(), *(name.split(".")[0] for name in modules.lower().split())}
    assert "chess" in loaded
    unwanted = {"cython", "numpy", "setuptools", "pytest", "asyncio", "unittest", "chess.engine", "uci_engine.api"}
    assert not loaded & unwanted


# Progress, terminals, pipes and limits ----------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO(), None], ids=["terminal", "file", "none"])
def test_progress_is_one_line_of_a_terminal_that_is_erased(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("uci_engine.command_line.console.time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr", stream)
    with console.Progress(6, 2) as progress:
        for _ in range(3):
            now[0] += 5000
            progress.add(1)
    if isinstance(stream, Terminal):
        *shown, last, end = stream.getvalue().split("\r")[1:]
        assert shown == ["games 3/6, 4:10:00 left", "games 4/6, 2:46:40 left", "games 5/6, 1:23:20 left"]
        assert (last, end) == (" " * len(shown[0]), "")
    else:
        assert stream is None or stream.getvalue() == ""


posix_only = pytest.mark.skipif(os.name != "posix", reason="pseudo terminals, signals and limits as POSIX has them")


def on_terminal(*words: str, typed: bytes = b"", interrupt_after: bytes = b"") -> tuple[int, str]:
    """The exit code and output of the program on a pseudo terminal."""
    own, its = os.openpty()
    with subprocess.Popen([*PROGRAM, *words], stdin=its, stdout=its, stderr=its, env=ENVIRONMENT) as process:
        os.close(its)
        os.write(own, typed)
        text = b""
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while data := os.read(own, 4096):
                text += data
                if interrupt_after and interrupt_after in text:
                    interrupt_after = b""
                    process.send_signal(signal.SIGINT)
        code = process.wait(60)
    os.close(own)
    return code, text.decode().replace("\r\n", "\n")


@posix_only
def test_an_interrupt_ends_the_search() -> None:
    code, text = on_terminal("go", interrupt_after=b"info depth 4 ")
    assert code == 0
    assert text.splitlines()[-1].startswith("bestmove ")
    assert "Traceback" not in text


@posix_only
def test_it_says_in_a_terminal_what_it_is() -> None:
    code, text = on_terminal(typed=b"Nf3\nexit\n")
    assert code == 0
    first, _, third, move = [line for line in text.splitlines() if line not in ("Nf3", "exit")]
    assert first.endswith("secateur board")
    assert "waits for UCI commands" in third
    assert move.endswith("position startpos moves g1f3")
    # A chess program's `exit` is an unknown word.
    assert "unknown command 'exit'" in secateur(data="exit\n").stdout


@pytest.mark.parametrize("command", ["bench 3", "eval", "go perft 3", "doctor", "--help", "go --help", "uci"])
def test_a_closed_pipe_is_no_error(command: str) -> None:
    with subprocess.Popen(
        [*PROGRAM, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [*PROGRAM, "eval"], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False, timeout=60
        )
    assert result.returncode == 1
    assert result.stderr == b"secateur: the output cannot be written: No space left on device\n"


def test_an_interrupt_while_modules_are_imported_is_silent() -> None:
    # The core is loaded from a module that interrupts.
    program = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == MODULE:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "MODULE = sys.argv[1]\n"
        "from uci_engine.__main__ import program\n"
        "sys.argv = ['secateur', *sys.argv[2:]]\n"
        "program()\n"
    )
    for module in ("uci_engine.command_line.program", "uci_engine.engine", "uci_engine.uci.loop"):
        assert "Traceback" not in run_python("-c", program, module, "isready").stderr, module


@pytest.mark.parametrize("mib", [200, 240, 280, 300, 340, 400])
def test_with_little_address_space_every_go_is_answered(mib: int) -> None:
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (mib * 2**20, mib * 2**20))

    result = subprocess.run(
        PROGRAM,
        input=b"setoption name Threads value 4\nposition startpos\ngo depth 3\nisready\n",
        env=ENVIRONMENT,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=limit,
    )
    # Where the program can start at all, it plays and ends well.
    assert b"libgcc" not in result.stderr
    assert result.returncode in (0, 1)
    if result.returncode == 0 and b"readyok" in result.stdout:
        (answer,) = re.findall(rb"^bestmove (\S+)", result.stdout, re.MULTILINE)
        assert chess.Move.from_uci(answer.decode()) in chess.Board().legal_moves
    else:
        assert b"bestmove (none)" not in result.stdout
