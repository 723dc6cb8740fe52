"""A small UCI engine for tests: `python fake_engine.py [MODE [MOVE]]`.

It plays legal chess, different for different seeds (the option `Seed`) and the same for the same game, and says a score
and a depth. From that move on (1) it misbehaves as `misbehave` says. Two modes play in another way: `tunable` shuffles
its knights, with a score that grows with its options, and `FILE.json` holds the lines to answer a `go` with, for each
FEN and for "else"; a line that is a mode misbehaves.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import chess

OPTIONS = """id name Fake
option name Seed type spin default 0 min 0 max 1000000
option name Hash type spin default 16 min 1 max 64
option name strength type spin default 50 min 0 max 100
option name UCI_Chess960 type check default false
option name UCI_LimitStrength type check default false
option name UCI_Elo type spin default 1500 min 500 max 3000"""


def say(text: str) -> None:
    print(text, flush=True)


def misbehave(mode: str) -> bool:
    """Do what the mode says; whether a proper answer shall follow."""
    match mode:
        case "illegal":
            say("bestmove a1a1")
        case "crash":
            print("it hurts", file=sys.stderr, flush=True)
            os._exit(3)
        case "close":
            os.close(1)
            time.sleep(60)
        case "hang":
            while True:
                time.sleep(60)
        case "slow":
            time.sleep(1.0)
            return True
        case "busy":
            say("info depth 4 nodes 10 pv e2e4\ninfo depth 5 upperbound pv e2e4")
            end = time.process_time() + 0.2
            while time.process_time() < end:
                pass
        case "odd":
            say("\x00\xff info depth")
            os.write(1, b"\xff\xfe not text\n\n   \n")
            say("info depth x score cp pv")
            say("info score mate")
            say("info string score cp 99")
            say("bestmovenot")
            say("x" * 100_000)
            return True
        case _:
            return True
    return False


def answer(board: chess.Board, moves: int, values: dict[str, int]) -> None:
    chance = random.Random(f"{values['seed']} {moves} {board.fen()}")
    move = chance.choice(sorted(board.legal_moves, key=str))
    say(f"info depth 1 seldepth 1 score cp 900 nodes 1 pv {move}")
    say(f"info depth 2 score cp {chance.randint(-50, 50)} nodes 20 pv {move}")
    say("info depth 3 score cp 700 upperbound nodes 30")
    say("info depth 3 multipv 2 score cp -700 pv a2a3")
    say(f"bestmove {move}")


def shuffle_knights(board: chess.Board, values: dict[str, int]) -> None:
    tour = ["b1c3", "c3b1"] if board.turn else ["b8c6", "c6b8"]
    say(f"info depth 1 score cp {10 * (values['strength'] - 50) + values['uci_elo'] - 1500}")
    say(f"bestmove {tour[(board.fullmove_number - 1) % 2]}")


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else "good"
    first_bad_move = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    script = json.loads(Path(mode).read_text()) if mode.endswith(".json") else None
    values = {"seed": 0, "strength": 50, "uci_elo": 1500}
    board = chess.Board()
    moves = 0
    for line in sys.stdin:
        match line.split():
            case ["uci"] if mode != "mute":
                say(f"{OPTIONS}\nuciok")
            case ["setoption", "name", name, "value", value] if name.lower() in values:
                values[name.lower()] = int(value)
            case ["isready"]:
                say("readyok")
            case ["ucinewgame"]:
                moves = 0
            case ["position", start, *words]:
                board = chess.Board() if start == "startpos" else chess.Board(" ".join(words[:6]))
                for move in words[words.index("moves") + 1 :] if "moves" in words else []:
                    board.push_uci(move)
            case ["go", *_]:
                moves += 1
                if script is not None:
                    for text in script.get(board.fen(), script["else"]):
                        if misbehave(text):
                            say(text)
                elif mode == "tunable":
                    shuffle_knights(board, values)
                elif moves < first_bad_move or misbehave(mode):
                    answer(board, moves, values)
            case ["eval"] if board.halfmove_clock == 99:
                say("Final evaluation: none (in check)")
            case ["eval"]:
                # How far White is ahead: the halfmove clock in fifths of a pawn from 45, and the double.
                pawns = (board.halfmove_clock - 45) / 5
                say(f"Classical evaluation   {pawns:+.2f} (white side)")
                say(f"Final evaluation       {2 * pawns:+.2f} (white side) [with scaled NNUE, hybrid, ...]")
            case ["stop"] if mode == "busy":
                say("info depth 9 nodes 1000 pv e2e4\nbestmove e2e4")
            case ["quit"]:
                return


if __name__ == "__main__":
    main()
