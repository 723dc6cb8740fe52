"""Training positions on disk: a header that says how they were made, then records of 32 bytes each.

The layout of a record is that of other engines' trainers (Marlinformat): a bitboard of the occupied squares, then for
each of them, from a1 to h8, four bits for its piece. Numbers are little-endian.

    bytes   content
    0-7     occupied squares
    8-23    pieces, two a byte, the first in the lower half: type 0 to 5 (pawn to king) or CASTLING_ROOK, and BLACK
    24      en passant square (64: none), and BLACK_TO_MOVE
    25      halfmove clock
    26-27   fullmove number
    28-29   score in centipawns, White's view (signed)
    30      result: 0 Black won, 1 draw, 2 White won
    31      flags

Invariant: the positions of one game stand together, and the first has the flag FIRST.

Examples to learn from are positions of files, each once, with what is expected of them. The expected result, White's
view from 0 to 1, mixes what its score promises with what its game brought. A score in centipawns promises
1 / (1 + exp(-score / scale)); each file has a scale, because engines count differently.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import chess
import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.optimize import minimize_scalar
from scipy.special import expit, log1p

from evaluation.files import locked, replaced
from toolkit.console import Advance, show_progress
from toolkit.errors import ProgramError
from toolkit.pool import in_order

if TYPE_CHECKING:
    from evaluation.base.base_board import BaseBoard

RECORD = np.dtype(
    [
        ("occupied", "<u8"),
        ("pieces", "u1", (16,)),
        ("turn_ep", "u1"),
        ("halfmove", "u1"),
        ("fullmove", "<u2"),
        ("score_cp", "<i2"),
        ("result", "u1"),
        ("flags", "u1"),
    ]
)
RECORD_BYTES = RECORD.itemsize
# A rook that may castle.
CASTLING_ROOK = 6
# Added to a black piece, and to the en passant square when Black is to move.
BLACK = 8
BLACK_TO_MOVE = 128
BLACK_PIECES = BLACK * 0x1111_1111_1111_1111
MAX_SCORE_CP = 32767
# The flags. The first position that was kept of a game.
FIRST = 1
# The quiescence search finds nothing better than the static evaluation, and the side to move is not in check.
QUIET = 2
# The best move of the search is a capture or a promotion.
CAPTURE = 4
# Ahead of a search of the game, not of the game itself: the score is 0 until a program gives it one.
AHEAD = 8
# Of a side, in a position to learn from.
MAX_PAWNS = 8
# Positions that are read, and that are checked, at a time.
POSITIONS_AT_ONCE = 1 << 16
BATCH = 8192
# A file of more positions with one game is a shuffled one.
MAX_GAME = 2000
# By the number in a record.
RESULT_NAMES = ("0-1", "1/2-1/2", "1-0")

# Stockfish's centipawns: at 100 it wins half of its games, and loses almost none.
STOCKFISH_SCALE_CP: Final = 100.0
# Scales that are thought possible, in centipawns.
SCALES_CP: Final = (20.0, 2000.0)
# Positions of a task.
CHUNK: Final = 32768

_MAGIC = b"Secateur positions 1\n\0\0\0"
_PREFIX = struct.Struct("<24sQ")
# No header that is written here comes near this.
_MAX_HEADER_BYTES = 1 << 20
_NO_EP = 64

Floats = npt.NDArray[np.float64]


def packed(rows: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
    """Records without labels. rows: of each position its eight bitboards, as `uci_engine.search.self_play` has them,
    then whether White is to move, en passant square, halfmove clock and fullmove number.
    """
    records = np.zeros(len(rows), RECORD)
    turn, ep_square, halfmove, fullmove = rows[:, 8:12].T
    records["occupied"] = np.bitwise_or.reduce(rows[:, 1:7], axis=1)
    _pack_pieces(rows, records["pieces"])
    records["turn_ep"] = np.where(turn, ep_square, ep_square + BLACK_TO_MOVE)
    records["halfmove"] = np.minimum(halfmove, 255)
    records["fullmove"] = np.minimum(fullmove, 65535)
    return records


@njit(nogil=True, cache=True)
def _pack_pieces(rows: Any, found: Any) -> None:
    one = np.uint64(1)
    for index in range(len(rows)):
        place = 0
        for square in range(64):
            for kind in range(6):
                if rows[index, 1 + kind] >> np.uint64(square) & one:
                    code = CASTLING_ROOK if rows[index, 7] >> np.uint64(square) & one else kind
                    code |= 0 if rows[index, 0] >> np.uint64(square) & one else BLACK
                    found[index, place >> 1] |= code << 4 * (place & 1)
                    place += 1


def pack(board: chess.Board, score_cp: int, result: int, flags: int) -> bytes:
    """The record of a position. `score_cp`: White's view. Raises ValueError for a board with more than 32 pieces."""
    if board.occupied.bit_count() > 32:
        raise ValueError("more than 32 pieces")
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    ep_square = _NO_EP if board.ep_square is None else board.ep_square
    others = (board.clean_castling_rights(), board.turn, ep_square, board.halfmove_clock, board.fullmove_number)
    record = packed(np.array([[board.occupied_co[chess.WHITE], *kinds, *others]], np.uint64))
    record["score_cp"] = max(-MAX_SCORE_CP, min(score_cp, MAX_SCORE_CP))
    record["result"], record["flags"] = result, flags
    return record.tobytes()


def board_of(record: Any) -> chess.Board:
    """The position of a record (an element of an array of RECORD). Raises ProgramError for a damaged record."""
    turn_ep = int(record["turn_ep"])
    if turn_ep & 127 > _NO_EP or record["result"] >= len(RESULT_NAMES):
        raise ProgramError("a record of a position is damaged")
    (pieces,) = pieces_of(np.array([record], RECORD)).tolist()
    board = chess.Board(None, chess960=True)
    castling = 0
    for index, square in enumerate(chess.scan_forward(int(record["occupied"]))):
        board.set_piece_at(square, chess.Piece(pieces[square] >> 1, pieces[square] & 1 > 0))
        if int(record["pieces"][index >> 1]) >> 4 * (index & 1) & 7 == CASTLING_ROOK:
            castling |= chess.BB_SQUARES[square]
    board.castling_rights = castling
    board.turn = not turn_ep & BLACK_TO_MOVE
    board.ep_square = None if turn_ep & 127 == _NO_EP else turn_ep & 127
    board.halfmove_clock = int(record["halfmove"])
    board.fullmove_number = int(record["fullmove"])
    # The standard notation where it can say the same.
    standard = chess.Board(board.fen(en_passant="fen"))
    return standard if standard.clean_castling_rights() == board.castling_rights else board


def pieces_of(records: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The pieces on the 64 squares of each position: 2 * piece type + colour (White is 1), as the evaluation counts.

    Raises ProgramError for a damaged record.
    """
    if np.bitwise_count(records["occupied"]).max(initial=0) > 32:
        raise ProgramError("a record of a position is damaged: it has more than 32 pieces")
    found = np.zeros((len(records), 64), np.uint8)
    _unpack_pieces(records["occupied"], records["pieces"], found)
    if found.max(initial=0) > 2 * chess.KING + 1:
        raise ProgramError("a record of a position is damaged: it has a piece that is none")
    return found


@njit(nogil=True, cache=True)
def _unpack_pieces(occupied: Any, pieces: Any, found: Any) -> None:
    for index in range(len(found)):
        place = 0
        for square in range(64):
            if occupied[index] >> np.uint64(square) & np.uint64(1):
                code = pieces[index, place >> 1] >> 4 * (place & 1) & 15
                kind = chess.ROOK if code & 7 == CASTLING_ROOK else (code & 7) + 1
                found[index, square] = 2 * kind + (code < BLACK)
                place += 1


def counts_of(records: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many pieces White, and how many Black has."""
    halves = np.ascontiguousarray(records["pieces"]).view("<u8")
    black = np.bitwise_count(halves & np.uint64(BLACK_PIECES)).sum(axis=1, dtype=np.int64)
    return np.bitwise_count(records["occupied"]) - black, black


def _cannot_be_evaluated(pieces: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which positions `evaluation.check` refuses, or have more than MAX_PAWNS."""
    wrong = (pieces[:, np.r_[:8, 56:64]] >> 1 == chess.PAWN).any(1)
    for colour in (0, 1):
        own = (pieces > 0) & (pieces & 1 == colour)
        wrong |= ((pieces == 2 * chess.KING + colour).sum(1) != 1) | (own.sum(1) > 16)
        wrong |= (pieces == 2 * chess.PAWN + colour).sum(1) > MAX_PAWNS
    return np.asarray(wrong)


def set_up_each(records: npt.NDArray[Any], board: BaseBoard) -> Iterator[None]:
    """Set up positions on the board, one after another. Raises ProgramError for one that cannot be evaluated."""
    for first in range(0, len(records), BATCH):
        part = records[first : first + BATCH]
        pieces = pieces_of(part)
        wrong = _cannot_be_evaluated(pieces)
        if wrong.any():
            raise ProgramError(f"{board_of(part[int(wrong.argmax())]).fen()} cannot be evaluated")
        for squares, turn in zip(pieces, white_to_move(part).tolist(), strict=True):
            board.set_squares(squares.tobytes(), turn)
            yield


def header(provenance: Mapping[str, Any]) -> bytes:
    """The header of a file: its length is a multiple of a record's."""
    text = json.dumps(provenance, separators=(",", ":")).encode()
    size = -(-(_PREFIX.size + len(text)) // RECORD_BYTES) * RECORD_BYTES
    return _PREFIX.pack(_MAGIC, size) + text.ljust(size - _PREFIX.size)


def read_positions(path: Path, *, scored: bool = False) -> tuple[dict[str, Any], npt.NDArray[Any]]:
    """What the header says, and the positions as an array of RECORD that is read from the file where it is needed.

    A record that was cut off at the end is left out. Raises ProgramError for another file, with `scored` also for one
    without positions that have scores, OSError.
    """
    with path.open("rb") as file:
        prefix = file.read(_PREFIX.size)
        magic, size = _PREFIX.unpack(prefix) if len(prefix) == _PREFIX.size else (b"", 0)
        if magic != _MAGIC:
            raise ProgramError(f"{path} is no file of positions")
        if not _PREFIX.size <= size <= _MAX_HEADER_BYTES or size % RECORD_BYTES:
            raise ProgramError(f"{path}: the header is damaged")
        try:
            provenance = json.loads(file.read(size - _PREFIX.size))
        except (ValueError, RecursionError):
            raise ProgramError(f"{path}: the header is damaged") from None
        if not isinstance(provenance, dict):
            raise ProgramError(f"{path}: the header is damaged")
        count = max(0, os.fstat(file.fileno()).st_size - size) // RECORD_BYTES
    if scored and not (count and has_scores(provenance)):
        raise ProgramError(f"{path} has no positions with scores: let positions.py label give it some")
    if not count:
        return provenance, np.empty(0, RECORD)
    return provenance, np.memmap(path, RECORD, "r", size, (count,))


def write_positions(path: Path, provenance: Mapping[str, Any], positions: npt.NDArray[Any]) -> None:
    """Write a whole file: afterwards it is all new, or all old when an exception comes (OSError)."""
    with replaced(path) as file:
        file.write(header(provenance))
        positions.tofile(file)


def begun(path: Path, provenance: Mapping[str, Any], resume: bool) -> npt.NDArray[Any]:
    """The positions of the run that a file is of; none where there is no file.

    Raises ProgramError where there is one and `resume` is not asked for, or with another header, OSError.
    """
    if not path.exists():
        return np.empty(0, RECORD)
    if not resume:
        raise ProgramError(f"{path} is of an earlier run: continue it with --resume, or remove it")
    found, positions = read_positions(path)
    wanted = json.loads(json.dumps(provenance))
    changed = [name for name in sorted({*found, *wanted}) if found.get(name) != wanted.get(name)]
    if changed:
        raise ProgramError(f"{path} was begun with other settings: {', '.join(changed)}")
    return positions


@contextmanager
def continued(path: Path, provenance: Mapping[str, Any], count: int) -> Iterator[Callable[[npt.NDArray[Any]], None]]:
    """A function that writes positions to a file, behind its first ones, so many; they are on disk when it returns.

    What the file had behind these is cut off. Raises OSError, also where another process writes the file.
    """
    with locked(path.with_name(f".{path.name}.lock")), path.open("r+b" if path.exists() else "w+b") as file:
        head = header(provenance)
        file.write(head)
        file.truncate(len(head) + count * RECORD_BYTES)
        file.seek(0, os.SEEK_END)

        def append(positions: npt.NDArray[Any]) -> None:
            file.write(positions.tobytes())
            file.flush()
            os.fsync(file.fileno())

        yield append


def has_scores(provenance: Mapping[str, Any]) -> bool:
    """Whether the positions of a file with this header have scores."""
    return provenance.get("scores", "") is not None


def are_quiet(positions: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which positions are quiet and have a best move that captures nothing."""
    return np.asarray((positions["flags"] & (QUIET | CAPTURE)) == QUIET)


def white_to_move(positions: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """In which positions White is to move."""
    return np.asarray(positions["turn_ep"] & BLACK_TO_MOVE == 0)


def game_numbers(positions: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The number of each position's game, from 0."""
    first = (positions["flags"] & FIRST) != 0
    if len(first):
        first[0] = True
    return np.cumsum(first, dtype=np.int64) - 1


def in_blocks(positions: npt.NDArray[Any]) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.int64]]]:
    """POSITIONS_AT_ONCE positions at a time, in memory, with the numbers of their games."""
    last = -1
    for first in range(0, len(positions), POSITIONS_AT_ONCE):
        block = np.array(positions[first : first + POSITIONS_AT_ONCE])
        begins_game = not first or bool(block["flags"][0] & FIRST)
        numbers = game_numbers(block) + last + begins_game
        last = int(numbers[-1])
        yield block, numbers


def split_rows(
    games: npt.NDArray[np.int64], shares: Sequence[float], chance: np.random.Generator
) -> list[npt.NDArray[np.intp]]:
    """The rows of each part. `games`: the number of each row's game, from 0; `shares`: of the parts, of any sum.

    Whole games are drawn at random, because positions of one game share their result. Raises ProgramError for a
    shuffled file, and where a part has no game.
    """
    if np.bincount(games, minlength=1).max() > MAX_GAME:
        raise ProgramError("a file has lost its games: use one that was not shuffled")
    part_of_game = chance.random(int(games.max(initial=-1)) + 1)[games]
    bounds = np.cumsum([0.0, *shares]) / sum(shares)
    parts = [np.flatnonzero((part_of_game >= low) & (part_of_game < high)) for low, high in pairwise(bounds)]
    if not all(map(len, parts)):
        raise ProgramError("a part has no game: more games are needed")
    return parts


def keys(positions: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """A 64-bit key of each position: pieces, side to move, castling and en passant, without clocks and labels."""
    mixed = np.zeros(len(positions), np.uint64)
    halves = np.ascontiguousarray(positions["pieces"]).view("<u8")
    for column in (positions["occupied"], halves[:, 0], halves[:, 1], positions["turn_ep"].astype(np.uint64)):
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def are_first(found_keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Which keys did not come before."""
    first = np.zeros(len(found_keys), np.bool_)
    first[np.unique(found_keys, return_index=True)[1]] = True
    return first


def kept(positions: npt.NDArray[Any], keep: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """A copy of some positions. The first of each game has the flag FIRST."""
    chosen = positions[keep].copy()
    is_first = np.diff(game_numbers(positions)[keep], prepend=-1) != 0
    chosen["flags"] = chosen["flags"] & ~np.uint8(FIRST) | is_first * np.uint8(FIRST)
    return chosen


# ---- Examples to learn from ----


@dataclass(frozen=True)
class Source:
    """A file of positions.

    mix: the share of the score, against that of the result. score_scale_cp: at which a score promises a result, None to
    fit it to the results. weight: how much each position counts.
    """

    path: Path
    mix: float = 1.0
    score_scale_cp: float | None = STOCKFISH_SCALE_CP
    weight: float = 1.0


@dataclass(frozen=True)
class Rows:
    """Positions, one a row; subclasses say more of each."""

    records: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, chosen: Any) -> Self:
        """Those with these numbers, in this order."""
        return type(self)(*(getattr(self, each.name)[chosen] for each in fields(self)))


@dataclass(frozen=True)
class Examples(Rows):
    """What to learn from. `expected`: from 0 to 1, White's view. `games`: a number for each game."""

    expected: npt.NDArray[np.float32]
    games: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32]


def read_examples(
    sources: Sequence[Source], max_score_cp: int = 1500, limit: int = 0
) -> tuple[Examples, list[dict[str, Any]]]:
    """The quiet positions of all files with scores up to a bound, in order, each once; and facts of each file.

    limit: of each file the first positions, 0 for all. Raises ProgramError, OSError.
    """
    parts: list[Examples] = []
    facts, games = [], 0
    known = np.empty(0, np.uint64)
    for source in sources:
        part, fact = _read_file(source, max_score_cp, limit)
        found = keys(part.records)
        is_new = are_first(found) & ~np.isin(found, known)
        known = np.concatenate([known, found[is_new]])
        part = part.rows(is_new)
        parts.append(replace(part, games=part.games + games))
        games += int(part.games.max(initial=-1)) + 1
        facts.append(fact)
    if not len(known):
        raise ProgramError(f"no position of {', '.join(source.path.name for source in sources)} can be used")
    columns = ([getattr(part, each.name) for part in parts] for each in fields(Examples))
    return Examples(*map(np.concatenate, columns)), facts


def _read_file(source: Source, max_score_cp: int, limit: int) -> tuple[Examples, dict[str, Any]]:
    provenance, everything = read_positions(source.path)
    everything = everything[: limit or None]
    kept_records, kept_games = [np.empty(0, RECORD)], [np.empty(0, np.int64)]
    with show_progress(f"reading {source.path.name}", len(everything)) as advance:
        for block, numbers in in_blocks(everything):
            usable = are_quiet(block) & (np.abs(block["score_cp"].astype(np.int32)) <= max_score_cp)
            kept_records.append(block[usable])
            kept_games.append(numbers[usable])
            advance(len(block))
    records, games = np.concatenate(kept_records), np.concatenate(kept_games)
    # In 32 bits throughout: there may be hundreds of millions.
    expected: npt.NDArray[Any] = records["result"] / np.float32(2)
    mix = source.mix if has_scores(provenance) else 0.0
    scale = None
    if mix and len(records):
        scale = source.score_scale_cp or fit_scale(records["score_cp"], expected)
        promised = expit(records["score_cp"] / np.float32(scale))
        expected = np.float32(mix) * promised + np.float32(1 - mix) * expected
    facts = {
        "file": source.path.name,
        "sha256": hashlib.sha256(records.view(np.uint8).data).hexdigest(),
        "positions": len(records),
        "games": len(np.unique(games)),
        "mix": mix,
        "score_scale": scale,
        "weight": source.weight,
        "provenance": provenance,
    }
    return Examples(records, expected, games, np.full(len(records), source.weight, np.float32)), facts


def of_chunks(
    function: Callable[[npt.NDArray[Any]], Any], records: npt.NDArray[Any], workers: int, advance: Advance
) -> list[Any]:
    """What a function says of records, CHUNK at a time, in order; with more workers in so many processes.

    Raises ProgramError.
    """
    chunks = (np.array(records[first : first + CHUNK]) for first in range(0, max(len(records), 1), CHUNK))
    found = []
    for answer in in_order(function, chunks, workers):
        found.append(answer)
        advance(min(CHUNK, len(records) - CHUNK * (len(found) - 1)))
    return found


def command_text(program: str, words: Sequence[str]) -> str:
    """A command line for a record of how something was made: files stand without their folders."""
    return shlex.join([program, *(re.sub(r"[^ =]*[/\\]", "", word) for word in words)])


def fit_scale(scores_cp: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """The scale at which scores promise best what is expected, from the same view. Raises ProgramError without any."""
    if not len(scores_cp):
        raise ProgramError("no positions to fit a scale to")
    scores = scores_cp.astype(np.float64)
    found = minimize_scalar(
        lambda logarithm: log_loss(scores / np.exp(logarithm), expected),
        bounds=(np.log(SCALES_CP[0]), np.log(SCALES_CP[1])),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))


def log_loss(logits: Floats, expected: npt.NDArray[Any]) -> float:
    """The mean logistic loss (cross-entropy) of scores in units of the scale."""
    return float(np.mean(np.maximum(logits, 0) + log1p(np.exp(-np.abs(logits))) - expected * logits))
