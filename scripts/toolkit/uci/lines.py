"""What a fuzzer says to an engine: well-formed lines, odd ones and hostile ones, drawn at random.

Invariants: a line that one engine may read as `go`, `isready`, `uci` or `quit` and another may not is made only where
that is the point. No line makes an engine fill the memory or the disk.
"""

from __future__ import annotations

import random
import re

import chess

from toolkit.engines.engine import EngineOption

KINDS = {
    "games": "games of the engine against itself at a fast clock, also of Chess960",
    "options": "options set to values that the engine offers",
    "odd": "lines that are unusual and still clear: blanks, line ends, limits and options out of range, stop when idle",
    "overlap": "go, position, setoption and ucinewgame while a search is running",
    "unknown-words": "words before a command that are to be skipped, as UCI asks for",
    "damaged": "lines with words missing, doubled or exchanged, and positions that cannot be",
    "bytes": "bytes that are no text, NUL, lines without an end, very long lines",
}

POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "8/8/8/4k3/8/4K3/8/8 w - - 99 80",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
    "4k3/P6P/8/8/8/8/p6p/4K3 b - - 4 60",
)
SOUND_LIMITS = (
    *("depth 1", "depth 3", "nodes 1", "nodes 300", "movetime 1", "movetime 20", "mate 1", "depth 2 nodes 50"),
    *("wtime 50 btime 50", "wtime 100 btime 100 winc 5 binc 5", "wtime 90 btime 30 movestogo 1"),
    *("winc 1 wtime 40 binc 1 btime 40 movestogo 10", "depth 1 searchmoves e2e4 a2a3 e1d1 g5g6"),
)
HELD_LIMITS = ("infinite", "ponder wtime 100 btime 100", "ponder depth 2", "ponder")
ODD_LIMITS = (
    *("depth 0", "depth -3", "depth 99999999999999999999", "depth", "nodes 0", "nodes -1", "movetime 0", "movetime -5"),
    *("wtime 0 btime 0", "wtime -50 btime 1000", "btime 20", "wtime 1e3 btime 1_000", "movestogo 0 wtime 50 btime 50"),
    *("mate 0", "mate 99", "searchmoves e2e5 zz", "infinite depth 1", "ponder movetime 5", "infinite infinite"),
    *("wtime 30 wtime 60 btime 30", "foo wtime 30 bar btime 30", "depth one"),
    *("movestogo 5", "", "searchmoves", "ponder infinite"),
)
REFUSED_POSITIONS = (
    *("", "startpos moves e2e5", "startpos moves 0000", "startpos moves e7e8q e2e4", "startpos moves E2E4"),
    "moves e2e4",
    *("fen", "fen 8/8/8/8/8/8/8/8 w - - 0 1", "fen kK6/8/8/8/8/8/8/8 w - - 0 1", "fen 9/8/8/8/8/8/8/8 w - - 0 1"),
    "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
    "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9 0 1",
    "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 99999999999999999999 -1",
    "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w moves e2e4",
    "fen P7/8/8/8/8/8/8/kKp5 w - - 0 1",
    "fen QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/8/8/8/8/k6K w - - 0 1",
    "fen 999999999/pppppppppp/8/8/8/8/8/Kk w KQkq - 0 1",
    "fen r3k2r/8/8/8/8/8/8/4K3 w KQkq e3 0 1",
    "startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 200,
    "startpos startpos moves e2e4",
)
ODD_OPTIONS = (
    *("", "name", "value 3", "name value", "name Style value Risky", "name Nullmove value true", "name name x"),
    *("name Clear Hash value x", "name Hash", "name Hash value", "name Hash value -1", "name Hash value 0"),
    *("name Hash value much", "name Ponder", "NAME hash VALUE 2", "name Ponder value maybe"),
    *("name MultiPV value 0", "name MultiPV value 1e9"),
)
ODD_TEXTS = ("<empty>", "", "no/such/folder", "a  b", '"quoted"', ".", "x" * 5000, "\u00e4\u265a", "c:\\tables;d:")
WORDS = (
    *("position", "startpos", "fen", "moves", "setoption", "name", "value", "Hash", "debug", "on", "off", "register"),
    *("e2e4", "a7a8q", "0000", "depth", "infinite", "1", "-1", "w", "KQkq", "-", POSITIONS[0].split()[0]),
)
LIMIT_WORDS = (
    *("depth", "nodes", "movetime", "mate", "wtime", "btime", "winc", "binc", "movestogo", "searchmoves", "foo"),
    *("1", "1", "2", "2", "20", "50", "0", "-1", "1e3", "99999999999999999999", "e2e4", "a7a8q", "0000", ""),
)
NOISE = (b"setoption name SyzygyPath value C:\\Sch\xe4ch", b"\xef\xbb\xbf", b"\0", b" \t ", b"%s%n%d")
LETTERS = "abehw18/- \t\0\x7f\u00e4\u265a\u2028,;'\"%\\"

# In a line that is not meant to be answered.
ANSWERED = re.compile(r"\b(uci|isready|go|stop|ponderhit|quit|bench|perft|flip|exit|eval|d|help|compiler|export_net)\b")
# Options that cost memory, threads or disk: never more than a little of it.
COSTLY = re.compile(r"hash|cache|thread|memory|file|log|book", re.IGNORECASE)
COSTLY_LIMIT = 4
MAX_SOUND_VALUE = 100


def sound_values(option: EngineOption) -> list[str]:
    """Values within the bounds, none of them costly."""
    costly = COSTLY.search(option.name) is not None
    match option.kind:
        case "check":
            return ["true", "false"]
        case "spin":
            highest = min(option.maximum, max(option.minimum, COSTLY_LIMIT if costly else MAX_SOUND_VALUE))
            return sorted({str(option.minimum), str((option.minimum + highest) // 2), str(highest)})
        case "combo":
            return list(option.choices)
        case "string":
            return [] if costly else ["<empty>"]
    return []


def odd_values(option: EngineOption) -> list[str]:
    """Values that cannot be, or that nobody would choose."""
    costly = COSTLY.search(option.name) is not None
    if option.kind == "string":
        return [] if costly else list(ODD_TEXTS)
    values = ["", "x", str(option.minimum - 1), "-99999999999999999999", "1.5"]
    return values if costly or option.kind != "spin" else [*values, str(option.maximum + 1)]


def sound_position(chance: random.Random) -> str:
    """A `position` line: a legal position and legal moves."""
    fen = chance.choice(POSITIONS)
    board = chess.Board(fen)
    moves: list[str] = []
    for _ in range(chance.randint(0, 8)):
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(chance.choice(legal))
        moves.append(board.peek().uci())
    start = "startpos" if fen == chess.STARTING_FEN else f"fen {fen}"
    return " ".join(["position", start, *(["moves", *moves] if moves else [])])


def sound_option(chance: random.Random, options: list[EngineOption]) -> str:
    """A `setoption` line with a value that the engine has offered."""
    lines = [f"setoption name {option.name} value {value}" for option in options for value in sound_values(option)]
    lines += [f"setoption name {option.name}" for option in options if option.kind == "button"]
    # Chess960 changes how castling is written, and every position must be sent again.
    lines = [text for text in lines if "chess960" not in text.lower()]
    return chance.choice(lines or ["setoption name Hash value 1"])


def odd_option(chance: random.Random, options: list[EngineOption]) -> str:
    """A `setoption` line that cannot be obeyed, or hardly."""
    lines = [f"setoption name {option.name} value {value}" for option in options for value in odd_values(option)]
    lines += [f"setoption name {option.name}" for option in options if option.kind != "button"]
    return chance.choice([*(f"setoption {words}".rstrip() for words in ODD_OPTIONS), *lines])


def damaged_limits(chance: random.Random) -> str:
    """The words of `go` in any order, but none that keeps the move back."""
    return " ".join(chance.choices(LIMIT_WORDS, k=chance.randint(1, 6)))


def damaged_line(chance: random.Random) -> str:
    """A line made of known words in any order, or a sound one with errors in it; none is to be answered."""
    while True:
        if chance.random() < 0.5:
            words = chance.choices(WORDS, k=chance.randint(1, 8))
        else:
            words = sound_position(chance).split()
            index = chance.randrange(len(words))
            words[index : index + chance.randint(0, 1)] = chance.choices(WORDS, k=chance.randint(0, 1))
        text = " ".join(words)
        for _ in range(chance.randint(0, 3)):
            place = chance.randint(0, len(text))
            text = text[:place] + chance.choice(LETTERS) + text[place:]
        if ANSWERED.search(text) is None:
            return text


def noise(chance: random.Random) -> bytes:
    """Bytes without a command in them that any engine would answer, however it reads them, and a line end."""
    while True:
        match chance.randrange(3):
            case 0:
                data = chance.randbytes(chance.randint(0, 200))
            case 1:
                text = "".join(map(chr, chance.choices(range(0x11000), k=chance.randint(0, 100))))
                data = text.encode("utf-8", "surrogatepass")
            case _:
                data = chance.choice(NOISE)
        if all(ANSWERED.search(data.decode(code, "replace")) is None for code in ("latin-1", "utf-8")):
            return data + b"\n"


def dressed(text: str, style: int) -> bytes:
    """The same line with other blanks and line ends, all of which UCI allows."""
    match style % 5:
        case 0:
            return f"{text}\r\n".encode()
        case 1:
            return f"  {text} \n".encode()
        case 2:
            return (text.replace(" ", "\t\t") + "\n").encode()
        case 3:
            return f"\n\n{text}\n\n".encode()
    return (text.replace(" ", "   ") + " \n").encode()
