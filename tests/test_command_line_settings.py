"""The settings of the command line's commands, what they print on a terminal, and how they end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys

import chess
import pytest

from tests.support import ENVIRONMENT
from tests.support.kernel import board_after
from tests.test_command_line import KIWIPETE, output, secateur

PROGRAM = [sys.executable, "-m", "uci_engine"]
# Before 3...Qh4, the fool's mate.
FOOL = ("f2f3", "e7e5", "g2g4")

posix_only = pytest.mark.skipif(os.name != "posix", reason="pseudo terminals, signals and limits as POSIX has them")


def best_move(*words: str) -> str:
    return output(*words)[-1].split()[1]


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


class TestSettings:
    def test_go_searches_the_position_that_is_given(self) -> None:
        assert best_move("go", "depth", "2", "--moves", *FOOL) == "d8h4"
        assert best_move("go", "--moves", " ".join(FOOL), "--threads", "1", "depth", "2") == "d8h4"
        fen = board_after(chess.STARTING_FEN, " ".join(FOOL)).fen()
        assert best_move("go", "--fen", fen, "depth", "2") == "d8h4"

    def test_go_sets_options(self) -> None:
        lines = output("go", "depth", "3", "--option", "multipv=3", "--threads", "2", "--hash", "4")
        assert any(" multipv 3 " in line for line in lines)

    def test_go_reads_chess960(self) -> None:
        fen = "4k3/8/8/8/8/8/8/4KR2 w F - 0 1"
        assert best_move("go", "depth", "1", "searchmoves", "e1f1", "--fen", fen, "--chess960") == "e1f1"

    def test_bench_searches_one_position(self) -> None:
        lines = output("bench", "2", "--moves", *FOOL)
        assert lines[0].split()[:2] == ["1/1", "d8h4"]
        (nodes,) = re.findall(r"^nodes (\d+)$", "\n".join(lines), re.MULTILINE)
        assert int(nodes) == int(lines[0].split()[3]) > 0

    def test_eval_and_perft_play_moves(self) -> None:
        board = chess.Board()
        board.push_uci("e2e4")
        assert output("eval", "--moves", "e2e4") == output("eval", "--fen", board.fen())
        assert re.findall(r"\d+", output("perft", "--moves", "e2e4", "--threads", "1", "2")[0]) == ["600"]

    @pytest.mark.parametrize("command", [("go", "depth", "1"), ("bench", "1"), ("eval",), ("perft", "1")])
    @pytest.mark.parametrize(
        ("words", "code", "text"),
        [
            (("--option", "Hush=4"), 2, "there is no option 'Hush', did you mean Hash?"),
            (("--threads", "many"), 2, "option Threads cannot be 'many'"),
            (("--hash", "x"), 2, "option Hash cannot be 'x'"),
            (("--moves", "e2e5"), 1, "move 1 of the list, 'e2e5', is not legal"),
            (("--fen", "rubbish"), 1, "is not a FEN"),
        ],
    )
    def test_a_wrong_setting_is_one_sentence(
        self, command: tuple[str, ...], words: tuple[str, ...], code: int, text: str
    ) -> None:
        result = secateur(*command, *words)
        assert (result.returncode, result.stdout) == (code, "")
        assert result.stderr.startswith("error: ") == (code == 1)
        assert text in result.stderr
        assert result.stderr.count("\n") == 1

    def test_a_search_move_that_is_not_legal_is_refused(self) -> None:
        result = secateur("go", "depth", "1", "searchmoves", "e2e4", "e2e5")
        assert (result.returncode, result.stdout) == (2, "")
        assert "'e2e5' is not a legal move" in result.stderr

    @pytest.mark.parametrize(("word", "meant"), [("benhc", "bench"), ("pref", "perft"), ("UCI", "uci"), ("Go", "go")])
    def test_a_misspelt_command_is_corrected(self, word: str, meant: str) -> None:
        result = secateur(word)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"did you mean {meant}?" in result.stderr
        assert result.stderr.count("\n") == 1

    def test_the_word_fen_is_corrected(self) -> None:
        assert "did you mean --fen?" in secateur("go", "depth", "3", "fen", KIWIPETE).stderr


@posix_only
class TestTerminal:
    def test_an_interrupt_ends_the_search(self) -> None:
        code, text = on_terminal("go", interrupt_after=b"info depth 4 ")
        assert code == 0
        assert text.splitlines()[-1].startswith("bestmove ")
        assert "Traceback" not in text

    def test_it_says_what_it_is_waiting_for(self) -> None:
        code, text = on_terminal(typed=b"quit\n")
        assert code == 0
        (line,) = [line for line in text.splitlines() if line != "quit"]
        assert "waits for UCI commands" in line


class TestEnding:
    @pytest.mark.parametrize("command", ["bench 3", "eval", "perft 3 --divide", "doctor", "--help", "go --help", "uci"])
    def test_a_closed_pipe_is_no_error(self, command: str) -> None:
        with subprocess.Popen(
            [*PROGRAM, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
    def test_a_full_disk_is_one_sentence(self) -> None:
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [*PROGRAM, "eval"], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False, timeout=60
            )
        assert result.returncode == 1
        assert result.stderr == b"secateur: the output cannot be written: No space left on device\n"

    def test_an_interrupt_while_modules_are_imported_is_silent(self) -> None:
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
            result = subprocess.run(
                [sys.executable, "-c", program, module, "isready"],
                env=ENVIRONMENT,
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert b"Traceback" not in result.stderr, module

    @pytest.mark.parametrize("mib", [200, 240, 280, 300, 340, 400])
    def test_with_little_address_space_every_go_is_answered(self, mib: int) -> None:
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
