"""A UCI engine that says what a script tells it: `python scripted_engine.py SCRIPT.json`. Run by test_suite.

The script holds, for each FEN, the lines to answer a `go` with; for FENs that it does not hold, those of "else". The
line "die" ends the process with a word on stderr, "hang" lets it say nothing more.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text())
    answer: list[str] = []
    for line in map(str.strip, sys.stdin):
        if line == "uci":
            print("id name Scripted 1\noption name Hash type spin default 16 min 1 max 64\nuciok", flush=True)
        elif line == "isready":
            print("readyok", flush=True)
        elif line.startswith("position fen "):
            answer = script.get(line.removeprefix("position fen "), script["else"])
        elif line.startswith("go"):
            say(answer)
        elif line == "quit":
            return


def say(answer: list[str]) -> None:
    for text in answer:
        if text == "die":
            print("it hurts", file=sys.stderr, flush=True)
            os._exit(3)
        elif text == "hang":
            time.sleep(600)
        else:
            print(text, flush=True)


if __name__ == "__main__":
    main()
