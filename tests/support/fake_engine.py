"""A small UCI engine that misbehaves in one chosen way: `python fake_engine.py MODE [MOVE]`, from that move on.

Up to that move it plays legal chess, different for different seeds (the option `Seed`) and the same for the same game,
and says a score and a depth.
"""

from __future__ import annotations

import os
import random
import sys
import time

import chess


def say(text: str) -> None:
    print(text, flush=True)


def misbehave(mode: str, board: chess.Board) -> bool:
    """Do what the mode says; whether a proper answer shall follow."""
    match mode:
        case "illegal":
            say("bestmove a1a1")
        case "nonsense":
            say("bestmove xyzzy")
        case "none":
            say("bestmove (none)")
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


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else "good"
    first_bad_move = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    seed = 0
    board = chess.Board()
    moves = 0
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["uci"]:
                if mode == "mute":
                    continue
                say("id name Fake")
                say("option name Seed type spin default 0 min 0 max 1000000")
                say("option name Move Overhead type spin default 10 min 0 max 1000")
                say("uciok")
            case ["setoption"] if "Seed" in words:
                seed = int(words[-1])
            case ["isready"]:
                say("readyok")
            case ["ucinewgame"]:
                moves = 0
            case ["position"]:
                board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:8]))
                for move in words[words.index("moves") + 1 :] if "moves" in words else []:
                    board.push_uci(move)
            case ["go"]:
                moves += 1
                if moves >= first_bad_move and not misbehave(mode, board):
                    continue
                chance = random.Random(f"{seed} {moves} {board.fen()}")
                move = chance.choice(sorted(board.legal_moves, key=str))
                say(f"info depth 1 seldepth 1 score cp 900 nodes 1 pv {move}")
                say(f"info depth 2 score cp {chance.randint(-50, 50)} nodes 20 pv {move}")
                say("info depth 3 score cp 700 upperbound nodes 30")
                say("info depth 3 multipv 2 score cp -700 pv a2a3")
                say(f"bestmove {move}")
            case ["quit"]:
                return


if __name__ == "__main__":
    main()
