"""The UCI text clause by clause, and what chess programs and people expect beyond it.

Numbers such as U4 count the clauses of the general part of the text (April 2006); the rest goes by command.
"""

from __future__ import annotations

import random
import re
import time

import chess
import pytest

from tests.support.uci_process import UciProcess, read_search
from toolkit.uci.grammar import read_info
from toolkit.uci.oracles import Violation
from uci_engine.score import normalised

START = chess.Board()
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"  # a1a8
MATED_NEXT = "k7/2K5/8/8/8/8/8/1R6 b - - 0 1"  # a8a7 is the only move, b1a1 mates
MATED = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"
STALEMATED = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 0 1"


def ping_for(engine: UciProcess, seconds: float) -> list[str]:
    """Keep the conversation going for some time; what the engine said meanwhile."""
    lines: list[str] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        lines += engine.sync()
    return lines


def best_moves(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("bestmove")]


class TestGeneral:
    def test_u1_input_is_executed_during_a_search(self, either_engine: UciProcess) -> None:
        either_engine.send("position startpos", "go infinite")
        either_engine.wait_for(lambda line: " pv " in line)
        either_engine.send("isready")
        assert not best_moves(either_engine.wait_for("readyok"))
        either_engine.send("stop")
        # Not `answer`: what was read up to readyok is a part of it.
        assert either_engine.wait_for("bestmove")[-1] != "bestmove (none)"

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r", "\n\n\n"])
    def test_u2_any_line_end(self, survivor: UciProcess, end: str) -> None:
        survivor.send_bytes(f"isready{end}go depth 1{end}".encode())
        survivor.wait_for("readyok")
        survivor.answer(START)

    @pytest.mark.parametrize("line", ["debug on", "   debug     on  ", "\t debug \t\ton\t"])
    def test_u3_any_white_space(self, survivor: UciProcess, line: str) -> None:
        survivor.send(line)
        assert any("debug mode on" in said for said in survivor.sync())

    def test_u3_any_white_space_in_position_and_go(self, survivor: UciProcess) -> None:
        survivor.send("\tposition   startpos \t moves\te2e4   e7e5 ", " go \t depth   1  searchmoves  g1f3")
        assert survivor.answer().best == "g1f3"

    def test_u4_unknown_words_are_skipped(self, survivor: UciProcess) -> None:
        survivor.send("joho debug on")
        assert any("debug mode on" in line for line in survivor.sync())
        survivor.send("debug joho on", "debug off", "joho")
        survivor.sync()
        survivor.search("please go foo depth 1 bar", START)

    def test_u5_what_is_not_expected_is_ignored(self, survivor: UciProcess) -> None:
        survivor.send("stop", "ponderhit", "stop", "register later", "register name x code y")
        assert survivor.sync() == []

    def test_u6_u11_nothing_but_go_starts_a_search(self, survivor: UciProcess) -> None:
        survivor.send("ucinewgame", "position startpos moves e2e4", "setoption name Ponder value true", "uci")
        lines = survivor.wait_for("uciok") + ping_for(survivor, 0.1)
        assert not [line for line in lines if line.startswith(("info", "bestmove"))]

    def test_u7_go_without_position(self, either_engine: UciProcess) -> None:
        either_engine.search("go depth 1", START)

    def test_u8_quick_start_and_quit_after_uciok(self) -> None:
        started = time.perf_counter()
        with UciProcess() as engine:
            engine.send("uci")
            engine.wait_for("uciok")
            # A start is measured elsewhere; this is about work at the start that a chess program gives up on.
            assert engine.arrived_at() - started < 5
            engine.quit()

    def test_u8_nothing_is_said_before_it_is_asked_for(self, engine: UciProcess) -> None:
        assert engine.sync() == []

    def test_u9_castling_and_promotion_are_written_as_uci_has_it(self, survivor: UciProcess) -> None:
        survivor.send(f"position fen {CASTLING}")
        assert survivor.search("go depth 1 searchmoves e1g1", chess.Board(CASTLING)).best == "e1g1"
        survivor.send(f"position fen {PROMOTION}")
        for move in ("a7a8q", "a7a8n"):
            assert survivor.search(f"go depth 1 searchmoves {move}", chess.Board(PROMOTION)).best == move

    def test_u9_castling_written_as_king_takes_rook_is_understood(self, survivor: UciProcess) -> None:
        survivor.send(f"position fen {CASTLING} moves e1h1")
        board = chess.Board(CASTLING)
        board.push_uci("e1g1")
        survivor.search("go depth 1", board)

    def test_u10_every_go_is_answered_once(self, either_engine: UciProcess) -> None:
        either_engine.send("position startpos")
        for go in ("go depth 1", "go nodes 50", "go movetime 20", "go wtime 100 btime 100", "go depth 2"):
            assert either_engine.search(go, START).best != "(none)"
        assert not best_moves(either_engine.sync())

    def test_u12_no_book_unless_it_is_asked_for(self, survivor: UciProcess) -> None:
        search = survivor.search("go depth 2", START)
        assert search.last_pv.numbers["depth"] >= 2
        assert search.last_pv.numbers["nodes"] > 20


class TestIntroduction:
    def test_answer_to_uci(self, survivor: UciProcess) -> None:
        survivor.send("uci")
        lines = survivor.wait_for("uciok")
        assert lines[0].startswith("id name Secateur ")
        assert lines[1].startswith("id author ")
        assert all(line.startswith("option name ") for line in lines[2:-1])
        assert lines[-1] == "uciok"

    def test_every_option_is_declared_by_the_grammar(self, survivor: UciProcess) -> None:
        survivor.send("uci")
        names = []
        for line in survivor.wait_for("uciok")[2:-1]:
            declared = re.fullmatch(
                r"option name (\S+(?: \S+)*?) type (check|spin|combo|button|string)(?: (.+))?", line
            )
            assert declared is not None, line
            name, option_type, rest = declared.groups()
            names.append(name)
            if option_type == "check":
                assert rest in ("default true", "default false")
            elif option_type == "spin":
                numbers = re.fullmatch(r"default (-?\d+) min (-?\d+) max (-?\d+)", rest)
                assert numbers is not None, line
                default, minimum, maximum = map(int, numbers.groups())
                assert minimum <= default <= maximum
            elif option_type == "button":
                assert rest is None
            elif option_type == "string":
                assert rest.startswith("default ")
            else:
                assert re.fullmatch(r"default \S+( var \S+)+", rest)
        assert len({name.lower() for name in names}) == len(names)
        expected = ["Hash", "Threads", "Clear Hash", "Ponder", "MultiPV", "Move Overhead", "UCI_Chess960"]
        assert set(expected) <= set(names)
        assert {"UCI_ShowWDL", "UCI_AnalyseMode", "UCI_EngineAbout"} <= set(names)

    def test_move_overhead_may_be_large(self, survivor: UciProcess) -> None:
        survivor.send("uci")
        (line,) = [line for line in survivor.wait_for("uciok") if line.startswith("option name Move Overhead ")]
        assert int(line.split()[-1]) >= 5000

    def test_uci_may_be_asked_again(self, survivor: UciProcess) -> None:
        survivor.send("uci")
        first = survivor.wait_for("uciok")
        survivor.send("uci")
        assert survivor.wait_for("uciok") == first


class TestSetOption:
    @pytest.mark.parametrize(
        "line",
        [
            "setoption name Nullmove value true",
            "setoption name Selectivity value 3",
            "setoption name Style value Risky",
            "setoption name NalimovPath value c:\\chess\\tb\\4;c:\\chess\\tb\\5",
            "setoption name SyzygyPathOfAnotherEngine value <empty>",
        ],
    )
    def test_options_of_other_engines_are_answered_and_survived(self, survivor: UciProcess, line: str) -> None:
        survivor.send(line)
        (answer,) = survivor.sync()
        assert answer.startswith("info string ")

    @pytest.mark.parametrize(
        "line",
        [
            "setoption name Clear Hash",
            "setoption name clear hash",
            "setoption name Hash value 16",
            "setoption NAME hash VALUE 16",
            "setoption name  move   OVERHEAD value 30",
            "setoption name uci_showwdl value FALSE",
            "setoption name MultiPV value 1",
        ],
    )
    def test_names_and_values_in_any_case(self, survivor: UciProcess, line: str) -> None:
        survivor.send(line)
        assert survivor.sync() == []

    def test_a_value_out_of_range_is_clamped_with_a_remark(self, survivor: UciProcess) -> None:
        survivor.send("setoption name Hash value -5")  # Arena has been seen to send such a thing
        (answer,) = survivor.sync()
        assert answer.startswith("info string ")
        survivor.search("go depth 1", START)

    def test_multi_pv(self, survivor: UciProcess) -> None:
        survivor.send("setoption name MultiPV value 3", "position startpos")
        search = survivor.search("go depth 3", START)
        survivor.send("setoption name MultiPV value 1")
        lines = [info for info in search.infos if info.numbers["depth"] == 3 and info.bound is None and info.pv]
        # The lines of one depth come together, the best first; the first of them may be repeated at the end.
        assert [info.numbers["multipv"] for info in lines][:3] == [1, 2, 3]
        assert len({info.pv[0] for info in lines[:3] if info.pv}) == 3

    def test_multi_pv_with_fewer_moves_than_lines(self, survivor: UciProcess) -> None:
        survivor.send("setoption name MultiPV value 5", f"position fen {MATED_NEXT}")
        search = survivor.search("go depth 2", chess.Board(MATED_NEXT))
        survivor.send("setoption name MultiPV value 1")
        assert search.best == "a8a7"
        assert {info.numbers.get("multipv", 1) for info in search.infos} == {1}

    def test_win_draw_loss(self, survivor: UciProcess) -> None:
        survivor.send("setoption name UCI_ShowWDL value true")
        shown = survivor.search("go depth 2", START)
        survivor.send("setoption name UCI_ShowWDL value false")
        hidden = survivor.search("go depth 2", START)
        assert all(info.wdl is not None for info in shown.infos if info.score is not None)
        assert all(info.wdl is None for info in hidden.infos)

    def test_chess960_castling(self, survivor: UciProcess) -> None:
        fen = "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1"
        survivor.send("setoption name UCI_Chess960 value true", f"position fen {fen}")
        board = chess.Board(fen, chess960=True)
        search = survivor.search("go depth 1 searchmoves e1g1", board)
        survivor.send("setoption name UCI_Chess960 value false")
        assert search.best == "e1g1"
        assert board.is_castling(chess.Move.from_uci(search.best))


class TestPosition:
    def test_a_move_list_with_nothing_in_it(self, survivor: UciProcess) -> None:
        survivor.send("position startpos moves")
        survivor.search("go depth 1", START)

    def test_four_fields_and_moves(self, survivor: UciProcess) -> None:
        survivor.send("position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - moves a1a8 e8e7")
        board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
        board.push_uci("a1a8")
        board.push_uci("e8e7")
        survivor.search("go depth 1", board)

    def test_several_positions_without_go(self, survivor: UciProcess) -> None:
        survivor.send(
            "position startpos moves e2e4",
            f"position fen {CASTLING}",
            "position startpos",
            "position startpos",
        )
        survivor.search("go depth 1", START)

    def test_a_game_move_by_move_without_ucinewgame(self, either_engine: UciProcess) -> None:
        board = chess.Board()
        for _ in range(12):
            moves = " ".join(move.uci() for move in board.move_stack)
            either_engine.send(f"position startpos moves {moves}")
            board.push_uci(either_engine.search("go nodes 60", board).best)
        # And back again, as an analysing person would.
        while board.move_stack:
            board.pop()
        either_engine.send("position startpos")
        either_engine.search("go nodes 60", board)

    @pytest.mark.parametrize(
        "line",
        [
            "position",
            "position moves e2e4",
            "position fen",
            "position startpos moves e2e4 e2e4",
            "position startpos moves e7e8",
            "position startpos moves E2E4",
            "position startpos moves 0000",
            "position startpos moves e2e4 e7e5 e1e8",
            "position startpos e2e4",
            "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
            "position fen rubbish",
        ],
    )
    def test_what_cannot_be_held_is_refused_and_not_played_on(self, survivor: UciProcess, line: str) -> None:
        survivor.send(line)
        assert any(said.startswith("info string error: ") for said in survivor.sync())
        assert survivor.search("go depth 1").best == "(none)"
        survivor.send("position startpos")
        survivor.search("go depth 1", START)


class TestGo:
    @pytest.mark.parametrize(
        "limits",
        [
            "depth 3",
            "nodes 100",
            "movetime 30",
            "wtime 300 btime 300",
            "wtime 300 btime 300 winc 10 binc 10",
            "wtime 200 btime 200 movestogo 1",
            "wtime 200 btime 200 movestogo 20",
            "wtime 200",
            "btime 200",
            "wtime 0 btime 0",
            "wtime -50 btime 1000",
            "depth 2 nodes 100000 movetime 20000",
        ],
    )
    def test_each_limit_ends_the_search(self, survivor: UciProcess, limits: str) -> None:
        survivor.search(f"go {limits}", START)

    def test_movetime_is_spent_whole(self, engine: UciProcess) -> None:
        engine.sync()
        started = time.perf_counter()
        engine.search("go movetime 400", START)
        # All but the overhead, also where one move has long been settled on.
        assert time.perf_counter() - started >= 0.385

    def test_words_in_any_order(self, survivor: UciProcess) -> None:
        words = [
            "wtime 60000",
            "btime 60000",
            "winc 10",
            "binc 10",
            "movestogo 40",
            "depth 2",
            "searchmoves a2a3 h2h3",
        ]
        generator = random.Random(1)
        for _ in range(5):
            generator.shuffle(words)
            search = survivor.search("go " + " ".join(words), START)
            assert search.best in ("a2a3", "h2h3")
            assert search.last_pv.numbers["depth"] <= 2

    def test_depth(self, either_engine: UciProcess) -> None:
        search = either_engine.search("go depth 3", START)
        depths = [info.numbers["depth"] for info in search.infos if info.pv]
        assert depths == sorted(depths)
        assert depths[-1] == 3

    def test_nodes(self, either_engine: UciProcess) -> None:
        # How far beyond the limit a search may go is for the tests of the search to say.
        assert either_engine.search("go nodes 200", START).last_pv.numbers["nodes"] < 20_000

    def test_mate_in_one_is_found_and_counted_in_moves(self, either_engine: UciProcess) -> None:
        either_engine.send(f"position fen {MATE_IN_ONE}")
        for go in ("go depth 2", "go mate 1"):
            search = either_engine.search(go, chess.Board(MATE_IN_ONE))
            assert search.best == "a1a8"
            assert search.last_pv.score == ("mate", 1)

    def test_being_mated_is_counted_in_moves_too(self, survivor: UciProcess) -> None:
        survivor.send(f"position fen {MATED_NEXT}")
        assert survivor.search("go depth 3", chess.Board(MATED_NEXT)).last_pv.score == ("mate", -1)

    @pytest.mark.parametrize("go", ["go infinite", "go infinite depth 2", "go", "go infinite movetime 5 nodes 5"])
    def test_infinite_ends_with_stop_only(self, survivor: UciProcess, go: str) -> None:
        survivor.send(go)
        survivor.wait_for(lambda line: " pv " in line)
        assert not best_moves(ping_for(survivor, 0.05))
        survivor.send("stop")
        survivor.wait_for("bestmove")

    @pytest.mark.parametrize("fen", [MATE_IN_ONE, "8/8/8/4k3/8/4K3/8/8 w - - 0 1"])
    def test_infinite_goes_on_when_everything_is_known(self, survivor: UciProcess, fen: str) -> None:
        survivor.send(f"position fen {fen}", "go infinite")
        survivor.wait_for(lambda line: " pv " in line)
        assert not best_moves(ping_for(survivor, 0.2))
        survivor.send("stop")
        survivor.wait_for("bestmove")

    @pytest.mark.parametrize("limits", ["movetime 10", "depth 1", "wtime 100 btime 100", ""])
    def test_ponder_does_not_end_before_ponderhit(self, survivor: UciProcess, limits: str) -> None:
        survivor.send(f"position fen {MATE_IN_ONE}", f"go ponder {limits}")
        survivor.wait_for(lambda line: " pv " in line)
        assert not best_moves(ping_for(survivor, 0.1))
        # Without a limit, what comes after ponderhit has no end of its own.
        survivor.send("ponderhit", *([] if limits else ["stop"]))
        assert survivor.wait_for("bestmove")[-1].split()[1] == "a1a8"

    def test_ponder_ends_with_stop(self, either_engine: UciProcess) -> None:
        either_engine.send("go ponder wtime 100 btime 100")
        either_engine.wait_for(lambda line: " pv " in line)
        either_engine.send("stop")
        assert either_engine.wait_for("bestmove")[-1] != "bestmove (none)"

    @pytest.mark.parametrize(("fen", "score"), [(MATED, ("mate", 0)), (STALEMATED, ("cp", 0))])
    def test_no_move_to_play(self, either_engine: UciProcess, fen: str, score: tuple[str, int]) -> None:
        either_engine.send(f"position fen {fen}")
        search = either_engine.search("go depth 3")
        assert search.best == "(none)"
        assert search.infos[-1].numbers["depth"] == 0
        assert search.infos[-1].score == score

    @pytest.mark.parametrize("fen", [MATED, STALEMATED])
    @pytest.mark.parametrize(
        ("go", "end"), [("go infinite", "stop"), ("go ponder depth 3", "ponderhit"), ("go ponder", "stop")]
    )
    def test_no_move_to_play_is_not_said_early(self, survivor: UciProcess, fen: str, go: str, end: str) -> None:
        survivor.send(f"position fen {fen}", go)
        assert not best_moves(ping_for(survivor, 0.05))
        survivor.send(end)
        assert survivor.wait_for("bestmove")[-1] == "bestmove (none)"

    @pytest.mark.parametrize("words", ["e2e5 zz 0000", "e7e5"])
    def test_searchmoves_without_a_legal_move(self, survivor: UciProcess, words: str) -> None:
        search = survivor.search(f"go depth 1 searchmoves {words}")
        assert search.best == "(none)"
        assert search.strings

    def test_searchmoves_with_some_legal_moves(self, survivor: UciProcess) -> None:
        assert survivor.search("go depth 2 searchmoves zz b1a3 e2e5", START).best == "b1a3"

    def test_last_report_is_complete(self, either_engine: UciProcess) -> None:
        report = either_engine.search("go depth 3", START).last_pv
        assert {"depth", "seldepth", "nodes", "nps", "hashfull", "time"} <= report.numbers.keys()
        assert report.score is not None
        assert report.bound is None

    def test_a_short_search_does_not_report_single_moves(self, survivor: UciProcess) -> None:
        assert all(info.currmove is None for info in survivor.search("go depth 3", START).infos)


def is_no_refusal(line: str) -> bool:
    return "not a FEN" not in line


class TestBeyondTheText:
    def test_perft(self, survivor: UciProcess) -> None:
        for depth, nodes in ((1, 20), (2, 400), (3, 8902)):
            survivor.send(f"go perft {depth}")
            *divided, blank, total = survivor.wait_for("Nodes")
            assert blank == ""
            assert total == f"Nodes searched: {nodes}"
            counts = dict(line.split(": ") for line in divided)
            assert counts.keys() == {move.uci() for move in START.legal_moves}
            assert sum(map(int, counts.values())) == nodes
        assert survivor.sync() == []

    def test_perft_zero(self, survivor: UciProcess) -> None:
        survivor.send("go perft 0")
        assert survivor.wait_for("Nodes")[-1] == "Nodes searched: 1"

    def test_perft_can_be_stopped(self, either_engine: UciProcess) -> None:
        either_engine.send("go perft 30", "isready", "stop", "go depth 1")
        either_engine.wait_for("readyok")
        # Whatever has been counted so far may be said before the search begins.
        assert either_engine.wait_for("bestmove")[-1] != "bestmove (none)"

    def test_perft_without_a_number_is_no_endless_search(self, survivor: UciProcess) -> None:
        assert survivor.search("go perft x", START).strings

    def test_display(self, survivor: UciProcess) -> None:
        survivor.send("position startpos moves e2e4", "d")
        board = chess.Board()
        board.push_uci("e2e4")
        assert board.epd(en_passant="legal") in "\n".join(survivor.sync())

    def test_evaluation(self, survivor: UciProcess) -> None:
        survivor.send("position startpos moves e2e4", "eval")
        lines = survivor.sync()
        (raw,) = (line.split()[1] for line in lines if line.startswith("Score ") and line.endswith("(White's view)"))
        (shown,) = (line.split()[1] for line in lines if line.startswith("Normalised "))
        assert float(shown) == normalised(round(100 * float(raw)), 32) / 100

    def test_flip(self, survivor: UciProcess) -> None:
        survivor.send("position startpos moves e2e4", "flip")
        board = chess.Board()
        board.push_uci("e2e4")
        survivor.search("go depth 1", board.mirror())

    def test_people_are_helped(self, survivor: UciProcess) -> None:
        survivor.send("help")
        text = "\n".join(survivor.sync())
        for word in (
            "uci",
            "isready",
            "setoption",
            "position",
            "go",
            "stop",
            "quit",
            "perft",
            "bench",
            "Hash",
        ):
            assert word in text

    @pytest.mark.parametrize("line", ["d", "eval", "flip", "go perft 2"])
    def test_people_without_a_position(self, survivor: UciProcess, line: str) -> None:
        survivor.send("position fen rubbish", line)
        (refusal, answer) = survivor.wait_for(is_no_refusal)
        assert "not a FEN" in refusal
        assert "no position" in answer
        assert not any("Error" in said for said in survivor.sync())
        survivor.send("position startpos")
        survivor.search("go depth 1", START)

    def test_bench_counts_the_same_nodes_twice(self, engine: UciProcess) -> None:
        counts = set()
        for _ in range(2):
            engine.send("bench 1")
            counts |= set(engine.wait_for("nodes")[-1:])
        assert len(counts) == 1

    def test_bench_can_be_stopped(self, engine: UciProcess) -> None:
        engine.send("bench 100", "isready", "stop")
        assert not any(line.startswith("nodes") for line in engine.wait_for("info string bench was stopped"))
        engine.search("go depth 1", START)

    def test_a_bench_that_waits_at_quit_is_stopped(self, engine: UciProcess) -> None:
        engine.send("go infinite", "bench 100", "quit")
        assert engine.wait_for_exit() == 0
        assert "info string bench was stopped" in engine.lines

    def test_perft_too_deep_to_end_is_refused(self, survivor: UciProcess) -> None:
        history = " g1f3 g8f6 f3g1 f6g8" * 128
        survivor.send(f"position startpos moves{history}", "go perft 5000")
        survivor.wait_for("info string error: perft")

    def test_debug_says_what_it_becomes(self, survivor: UciProcess) -> None:
        survivor.send("debug on", "debug on", "debug off", "debug off")
        said = [line for line in survivor.sync() if "debug mode" in line]
        assert said == ["info string debug mode on", "info string debug mode off"]

    def test_a_search_waits_for_no_bench(self, engine: UciProcess) -> None:
        engine.send("bench 100", "go depth 1", "quit")
        assert engine.wait_for_exit() == 0
        # On the way out, the audit: every go answered.

    @pytest.mark.parametrize("line", ["bench x", "bench 0", "bench -3"])
    def test_bench_with_an_odd_depth(self, survivor: UciProcess, line: str) -> None:
        survivor.send(line)
        (answer,) = survivor.sync()
        assert answer.startswith("info string error: ")

    def test_debug_says_more_while_thinking(self, survivor: UciProcess) -> None:
        survivor.send("go infinite", "debug on", "ucinewgame", "isready", "stop")
        lines = survivor.wait_for("bestmove")
        assert any("ucinewgame waits" in line for line in lines)


class TestCommandLine:
    def test_a_command_as_arguments(self) -> None:
        with UciProcess("go", "depth", "2") as engine:
            assert engine.wait_for_exit() == 0
            read_search(engine.lines)
            engine.lines.clear()  # nothing was sent, so the audit expects no answer

    def test_perft_as_arguments(self) -> None:
        with UciProcess("go", "perft", "2") as engine:
            assert engine.wait_for_exit() == 0
            assert engine.lines[-1] == "Nodes searched: 400"

    def test_standard_input_is_left_alone(self) -> None:
        with UciProcess("isready") as engine:
            assert engine.wait_for_exit() == 0
            assert engine.lines.pop() == "readyok"


def test_the_reader_of_these_tests_is_strict() -> None:
    good = "info depth 3 seldepth 5 score cp -12 upperbound nodes 10 nps 5 hashfull 0 time 0 pv e2e4 e7e5"
    assert read_info(good).score == ("cp", -12)
    for line in (
        "info depth 3 score -368 pv e2e4",
        "info depth 3  score cp 1 pv e2e4",
        "info depth 3 score cp 1 pv e2e4 ",
        "info depth 3 depth 3 score cp 1 pv e2e4",
        "info seldepth 3 score cp 1 nodes 3",
        "info depth 3 score cp 1 pv",
        "info depth 3 score cp 1 pv e2-e4",
        "info depth 3 score cp 1.5 pv e2e4",
        "info depth 3 score cp 1 wdl 1 2 3 pv e2e4",
        "info depth 3 score cp 1 nodes -1",
        "info depth 3 pv e2e4",
        "info string",
        "info",
        "info string \u00e4",
    ):
        with pytest.raises(Violation):
            read_info(line)
