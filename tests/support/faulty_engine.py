"""A small UCI engine with a fault that can be chosen; a program for the tests of the tools, not imported by them.

    python tests/support/faulty_engine.py FAULT

It plays the first legal move. With any other word for the fault it does as UCI asks.
"""

from __future__ import annotations

import os
import sys
import time

import chess

FAULTS = {
    "held-back": "answers go ponder and go infinite at once",
    "count": "says readyok twice after ucinewgame",
    "alive": "dies of a stop when idle",
    "crash": "dies at the tenth go",
    "clock": "thinks too long at the tenth go",
    "legal-move": "plays an illegal move at the tenth go",
    "legal-line": "reports an illegal line at the tenth go",
    "last-line": "plays another move than it reported at the tenth go",
    "progress": "goes back in depth",
    "score": "reports an impossible score",
    "info": "forgets the word cp",
    "clean-line": "ends a line with a blank",
    "stray": "greets the world at the tenth go",
    "exit": "ends with code 3",
    "stderr": "complains on the error output",
    "ready": "keeps readyok back while searching",
    "answer": "does not answer the tenth go",
    "growth": "opens a file in every game",
}


def say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


class Engine:
    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.board = chess.Board()
        self.held = False
        # What can be played where the search began.
        self.moves: list[str] = []
        self.go_count = 0
        self.is_new = False
        self.files: list[int] = []

    def position(self, words: list[str]) -> None:
        split = words.index("moves") if "moves" in words else len(words)
        self.board = chess.Board(" ".join(words[2:split])) if words[1] == "fen" else chess.Board()
        for word in words[split + 1 :]:
            self.board.push_uci(word)

    def allowed(self, words: list[str]) -> list[str]:
        legal = [str(move) for move in self.board.legal_moves]
        chosen = words[words.index("searchmoves") :] if "searchmoves" in words else []
        return [move for move in legal if move in chosen] or legal

    def answer(self) -> None:
        self.held = False
        move = self.moves[0] if self.moves else "(none)"
        due = self.fault if self.go_count == 10 else ""
        line, depth, score = move, 2, "score cp 10"
        if due == "legal-line":
            line = f"{move} {move}"
        if due == "last-line":
            line = self.moves[-1]
        if self.fault == "progress":
            depth = 0
        if self.fault == "score":
            score = "score cp 999999999"
        if self.fault == "info":
            score = "score 10"
        end = " " if self.fault == "clean-line" else ""
        if due == "stray":
            say("hello world")
        if move != "(none)":
            say(f"info depth 1 score cp 10 pv {move}", f"info depth {depth} {score} pv {line}{end}")
        say(f"bestmove {'e1e8' if due == 'legal-move' else move}")

    def go(self, words: list[str]) -> None:
        self.go_count += 1
        self.moves = self.allowed(words)
        due = self.fault if self.go_count == 10 else ""
        if due == "crash":
            sys.exit(5)
        if due == "clock":
            time.sleep(1.0)
        if due == "answer":
            return
        self.held = ("infinite" in words or "ponder" in words) and self.fault != "held-back"
        if self.fault == "ready":
            time.sleep(0.05)
        if not self.held:
            self.answer()

    def obey(self, line: str) -> bool:
        words = line.split()
        match words[:1]:
            case ["uci"]:
                say("id name Faulty", "option name Hash type spin default 1 min 1 max 8", "uciok")
            case ["isready"]:
                if self.fault == "ready":
                    time.sleep(0.05)
                say(*["readyok"] * (2 if self.fault == "count" and self.is_new else 1))
                self.is_new = False
            case ["ucinewgame"]:
                self.is_new = True
                if self.fault == "growth":
                    self.files += [os.open(__file__, os.O_RDONLY) for _ in range(5)]
            case ["position"]:
                self.position(words)
            case ["go"]:
                if self.held:
                    self.answer()
                self.go(words)
            case ["stop"]:
                if not self.held and self.fault == "alive":
                    sys.exit(7)
                if self.held:
                    self.answer()
            case ["ponderhit"]:
                if self.held:
                    self.answer()
            case ["quit"]:
                return False
        return True


def main() -> int:
    fault = sys.argv[1] if sys.argv[1] in FAULTS else ""
    engine = Engine(fault)
    for line in sys.stdin:
        if not engine.obey(line):
            break
    if fault == "stderr":
        print("oh dear", file=sys.stderr)
    return 3 if fault == "exit" else 0


if __name__ == "__main__":
    sys.exit(main())
