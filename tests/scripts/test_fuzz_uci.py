"""Random conversations, the same ones every time, judged by what must hold for any.

Answers are counted and parsed by the audit of `UciProcess`: one `bestmove` for each `go`, one `readyok` for
each `isready`, a strict grammar, nothing on stderr. Here the moves are checked too, if the position is known.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import chess
import pytest

from tests.support.uci_process import EXIT_SECONDS, UciProcess, read_search
from uci_engine.time_management.limits import Limits
from uci_engine.uci.protocol import Word, parse

POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
    "8/8/8/4k3/8/4K3/8/8 w - - 99 80",
)
REFUSED = ("", "startpos moves e2e5", "fen 8/8/8/8/8/8/8/8 w - - 0 1", "fen", "startpos moves 0000", "moves")
ENDING_GO = (
    "depth 1",
    "depth 3",
    "nodes 1",
    "nodes 200",
    "movetime 1",
    "movetime 10",
    "wtime 50 btime 50",
    "mate 1",
)
ENDLESS_GO = ("infinite", "", "ponder", "ponder movetime 5", "infinite depth 1", "depth 99999999999999999999")
HARMLESS = (
    *(
        "isready",
        "isready",
        "isready",
        "ucinewgame",
        "debug on",
        "debug off",
        "joho",
        "uci",
        "",
        "register later",
    ),
    *("setoption name Clear Hash", "setoption name MultiPV value 2", "setoption name MultiPV value 1"),
    *(
        "setoption name UCI_ShowWDL value true",
        "setoption name Hash value 4",
        "setoption name Style value Risky",
    ),
    *("d", "eval", "go perft 2", "stop", "ponderhit", "stop"),
)


def play_some(fen: str, generator: random.Random) -> tuple[chess.Board, str]:
    """A position a few moves after this one, and the command that sets it up."""
    board = chess.Board(fen)
    command = f"position fen {fen}" if fen != chess.STARTING_FEN else "position startpos"
    moves = []
    while generator.random() < 0.7 and any(board.legal_moves):
        move = generator.choice(list(board.legal_moves))
        board.push(move)
        moves.append(move.uci())
    return board, command + (" moves " + " ".join(moves) if moves else "")


def conversation(generator: random.Random) -> tuple[list[str], list[chess.Board | None]]:
    """Lines to send, and for each `go` in it the position that it is about, None if there is none."""
    board: chess.Board | None = chess.Board()
    lines = []
    searched = []
    for _ in range(generator.randint(10, 40)):
        kind = generator.random()
        if kind < 0.2:
            board, line = play_some(generator.choice(POSITIONS), generator)
        elif kind < 0.25:
            board, line = None, f"position {generator.choice(REFUSED)}"
        elif kind < 0.5:
            line = f"go {generator.choice(ENDING_GO if generator.random() < 0.6 else ENDLESS_GO)}"
            searched.append(board)
        else:
            line = generator.choice(HARMLESS)
            if line == "ucinewgame":
                # Clients always send a position afterwards; what is held without one is nobody's business.
                board, second = play_some(chess.STARTING_FEN, generator)
                line = f"{line}\n{second}"
        lines.append(line)
    return lines, searched


def in_pieces(data: bytes, generator: random.Random) -> list[bytes]:
    """The same bytes, cut anywhere, but not everywhere."""
    cuts = sorted(generator.randrange(len(data) + 1) for _ in range(generator.randint(0, 6)))
    return [data[i:j] for i, j in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def read_answers(engine: UciProcess, count: int) -> list[str]:
    """The moves of so many searches, each checked against its own lines."""
    moves = []
    for _ in range(count):
        lines = engine.wait_for("bestmove")
        best = lines[-1].split()[1]
        if best == "(none)":
            moves.append(best)
            continue
        moves.append(read_search([line for line in lines if line.startswith(("info", "bestmove"))]).best)
    return moves


def check_still_well(engine: UciProcess) -> None:
    engine.send("setoption name MultiPV value 1", "setoption name UCI_Chess960 value false", "position startpos")
    engine.sync()
    # What an unfinished perft has counted may still come before the answer.
    engine.send("go depth 1")
    (move,) = read_answers(engine, 1)
    assert chess.Move.from_uci(move) in chess.Board().legal_moves


@pytest.mark.parametrize("seed", range(12))
def test_conversations(seed: int, installed_core_is_plain: bool) -> None:
    generator = random.Random(seed)
    core = "python-chess" if seed % 4 == 3 and not installed_core_is_plain else None
    with UciProcess(core=core) as engine:
        for _ in range(3):
            lines, searched = conversation(generator)
            engine.send("position startpos")
            end = generator.choice(["\n", "\r\n", "\r"])
            for piece in in_pieces("".join(f"{line}{end}" for line in lines).encode(), generator):
                engine.send_bytes(piece)
            # If the last search has no end of its own, this is it; the others were ended by the next `go`.
            engine.send("stop")
            for board, move in zip(searched, read_answers(engine, len(searched)), strict=True):
                if board is None or not any(board.legal_moves):
                    assert move == "(none)"
                else:
                    assert chess.Move.from_uci(move) in board.legal_moves, board.fen()
            check_still_well(engine)


def swap(line: str, generator: random.Random) -> str:
    words = line.split(" ")
    i, j = generator.randrange(len(words)), generator.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


def replace_character(line: str, generator: random.Random) -> str:
    i = generator.randrange(len(line) + 1)
    return line[:i] + generator.choice("abehw18/- \t\0\x7f\u00e4\u265a,;'\"%\\") + line[i + 1 :]


def double_word(line: str, generator: random.Random) -> str:
    words = line.split(" ")
    word = generator.choice(words)
    return line.replace(word, f"{word} {word}", 1)


def cut_short(line: str, generator: random.Random) -> str:
    return line[: generator.randrange(len(line) + 1)]


def join_lines(line: str, generator: random.Random) -> str:
    return f"{line} {generator.choice(CORPUS)}"


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    swap,
    replace_character,
    double_word,
    cut_short,
    join_lines,
)
CORPUS = (
    *(f"position fen {fen} moves" for fen in POSITIONS),
    "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    *(f"go {limits}" for limits in (*ENDING_GO, *ENDLESS_GO)),
    "go wtime 100 btime 100 winc 1 binc 1 movestogo 3 searchmoves e2e4 d2d4",
    "go perft 2",
    "setoption name MultiPV value 3",
    "setoption name Move Overhead value 10",
    "setoption name UCI_Chess960 value true",
    "setoption name Clear Hash",
    *("isready", "uci", "ucinewgame", "stop", "ponderhit", "debug on", "flip", "d", "eval", "help"),
)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_lines(seed: int) -> None:
    generator = random.Random(seed)
    with UciProcess() as engine:
        lines = []
        for _ in range(150):
            line = generator.choice(CORPUS)
            for _ in range(generator.randint(0, 3)):
                line = generator.choice(MUTATIONS)(line, generator)
            if parse(line) is not Word.QUIT:
                lines.append(line)
        engine.send(*lines, "stop")
        commands = [parse(line) for line in lines]
        goes = sum(isinstance(command, Limits) and command.perft is None for command in commands)
        for _ in range(goes):
            engine.wait_for("bestmove")
        check_still_well(engine)
        engine.send("quit")
        assert engine.wait_for_exit(EXIT_SECONDS) == 0
