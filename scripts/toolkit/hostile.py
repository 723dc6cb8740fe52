"""What is read from outside, each reader with any bytes: targets of Atheris, which looks for new paths in the code.

    python -m toolkit.hostile TARGET CORPUS [LIBFUZZER_OPTIONS]

A target may raise what its reader documents; anything else is a fault. Each is a function that imports its reader, so
that Atheris can measure it, and returns what takes the bytes, and good bytes to begin with. The tables are read by the
plain Python core, which checks the bounds of arrays.
"""

from __future__ import annotations

import io
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

Reader = Callable[[bytes], object]
Target = tuple[Reader, Iterable[bytes]]

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "tests" / "support" / "tables"
GAME = b"""[Event "e"]\n[Result "1/2-1/2"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n
1. e4 $1 {[%clk 0:01:02] x} (1. e3 Kd7?! (1... Ke7) 2. Kd2) 1... Kd8 ; y\n2. Kd2 1/2-1/2\n"""
FENS = (
    b"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    b"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf c6 2 9",
)
LINES = (
    b"position startpos moves e2e4 e7e5",
    b"position fen " + FENS[0] + b" moves e1g1",
    b"go wtime 1000 btime 1000 winc 10 binc 10 movestogo 40 searchmoves e2e4",
    b"setoption name Syzygy Path value a b",
    b"go ponder depth 3 nodes 7 mate 2 movetime 9 infinite",
)


def fen() -> Target:
    import chess

    from uci_engine.board.game import PositionError, read_fen

    def read(data: bytes) -> None:
        for chess960 in (False, True):
            with suppress(PositionError):
                board, _ = read_fen(data.decode("utf-8", errors="replace"), chess960)
                # What is accepted can be played on, and is read again without a repair.
                again, notes = read_fen(board.fen(), board.chess960)
                assert (again, notes, board.status()) == (board, [], chess.STATUS_VALID)

    return read, FENS


def uci() -> Target:
    from uci_engine.board.game import Game, PositionError
    from uci_engine.uci.protocol import SetPosition, parse

    def read(data: bytes) -> None:
        command = parse(data.decode("utf-8", errors="replace"))
        if isinstance(command, SetPosition):
            with suppress(PositionError):
                Game().set(command.fen, command.moves, chess960=False)

    return read, LINES


def pgn() -> Target:
    from uci_engine.game_analysis.pgn import PgnError, game_texts, read_game

    def read(data: bytes) -> None:
        for text in game_texts(io.BytesIO(data)):
            with suppress(PgnError):
                game = read_game(text)
                # What has errors is told, and not written again.
                assert game.errors or str(game)

    return read, [GAME]


def network() -> Target:
    from evaluation.network.file import DEFAULT_FILE, Network, NetworkError

    whole = DEFAULT_FILE.read_bytes()

    def read(data: bytes) -> None:
        # The rest is the network of the package, and the checksum fits.
        changed = data + whole[len(data) : -4]
        for file in (data, changed + zlib.crc32(changed).to_bytes(4, "little")):
            with suppress(NetworkError):
                assert Network.parse(file).pack() == file

    return read, [whole[:2000]]


def weights() -> Target:
    from evaluation.weights import Weights, WeightsError

    def read(data: bytes) -> None:
        with suppress(WeightsError):
            Weights.parse(data).piece_square()

    return read, [(ROOT / "evaluation" / "weights.toml").read_bytes()]


def book() -> Target:
    import chess

    from uci_engine.book.book import Book, BookError

    def read(path: Path) -> None:
        with suppress(BookError):
            moves = Book(str(path)).moves(chess.Board())
            assert all(move in chess.Board().legal_moves for move, _ in moves)

    whole = (ROOT / "uci_engine" / "book" / "book.bin").read_bytes()
    return from_file(read, "book.bin"), [whole[:1600]]


def syzygy() -> Target:
    import chess

    from uci_engine import core
    from uci_engine.search.thread_pool import new_searcher
    from uci_engine.tablebases.tablebases import Tablebases

    plain = core.load("interpreted")
    searcher = new_searcher(plain, plain.table_class(1))
    # Nothing is copied, so no checksum is asked for.
    tables = Tablebases(plain, searcher.prober, copied_bytes=0)
    boards = [chess.Board(text) for text in ("8/8/8/8/8/2k5/7R/K7 w - - 0 1", "8/8/8/8/8/k7/7R/K7 b - - 0 1")]

    def read(path: Path) -> None:
        tables.set_syzygy_path(str(path.parent))
        for board in boards:
            searcher.position.set_board(board)
            tables.probe_wdl(searcher.position)
            tables.probe_dtz(searcher.position)

    whole = [path.read_bytes() for path in sorted(TABLES.glob("KRvK.*"))]
    return from_file(read, "KRvK.rtbw", "KRvK.rtbz"), whole


def journal() -> Target:
    from toolkit.errors import ProgramError
    from toolkit.journal import Journal

    def read(path: Path) -> None:
        with suppress(ProgramError), Journal(path, {"a": [1]}, resume=True) as opened:
            opened.append({"b": 2})

    return from_file(read, "journal"), [b'{"settings":{"a":[1]}}\n{"b":2}\n{"b":3}\n']


def from_file(read: Callable[[Path], object], *names: str) -> Reader:
    """Reads bytes from a file, or several of these names with the same bytes."""
    folder = tempfile.TemporaryDirectory()

    def write_and_read(data: bytes) -> None:
        paths = [Path(folder.name, name) for name in names]
        for path in paths:
            path.write_bytes(data)
        read(paths[0])

    return write_and_read


TARGETS: dict[str, Callable[[], Target]] = {
    target.__name__: target for target in (fen, uci, pgn, network, weights, book, syzygy, journal)
}


def main(name: str, *words: str) -> None:
    """Fuzz one target until libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["chess", "evaluation", "toolkit", "uci_engine"]):
        read, seeds = TARGETS[name]()
    for number, data in enumerate(seeds):
        Path(words[0], f"seed-{number}").write_bytes(data)
    atheris.Setup([sys.argv[0], *words, "-max_len=200000"], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
