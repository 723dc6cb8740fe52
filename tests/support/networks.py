"""Networks for the tests of the network, and what they should say, straight from the definition."""

from __future__ import annotations

import random
import struct

import chess

import evaluation
from evaluation.network.file import (
    INPUTS,
    MAX_NETWORK_CP,
    MAX_TERMS_CP,
    MIN_PIECES,
    OUTPUT_BUCKETS,
    UNITS,
    Network,
)


def pack(numbers: list[int]) -> bytes:
    """Numbers of 16 bits, as `Network` holds them."""
    return struct.pack(f"<{len(numbers)}h", *numbers)


def pack_small(numbers: list[int]) -> bytes:
    """Numbers of 8 bits, as `Network` holds the weights of the hidden layer."""
    return struct.pack(f"{len(numbers)}b", *numbers)


def random_network(seed: int) -> Network:
    """Its outputs are some hundred centipawns."""
    chance = random.Random(seed)
    return Network(
        chance.randbytes(INPUTS * UNITS).translate(pack_small([byte % 121 - 60 for byte in range(256)])),
        pack([chance.randint(-100, 300) for _ in range(UNITS)]),
        pack([chance.randint(-2000, 2000) for _ in range(OUTPUT_BUCKETS * 2 * UNITS)]),
        tuple(chance.randint(-100_000, 100_000) for _ in range(OUTPUT_BUCKETS)),
    )


def numbers_of(data: bytes) -> list[int]:
    """What `pack` has packed."""
    return list(struct.unpack(f"<{len(data) // 2}h", data))


def sums_of(network: Network, board: chess.Board, colour: chess.Color) -> list[int]:
    """The sums of the hidden layer from one side's view."""
    hidden = memoryview(network.hidden).cast("b")
    sums = numbers_of(network.hidden_bias)
    king = board.king(colour)
    assert king is not None
    file, rank = chess.square_file(_seen(king, king, colour)), chess.square_rank(_seen(king, king, colour))
    back_ranks = ([0, 1, 2, 3], [4, 4, 5, 5])
    region = back_ranks[rank][file - 4] if rank < 2 else 6 if rank < 4 else 7
    for square, piece in board.piece_map().items():
        seen = _seen(square, king, colour)
        kind = piece.piece_type - 1 + (0 if piece.color == colour else 6)
        first = (768 * region + 64 * kind + seen) * UNITS
        sums = [total + weight for total, weight in zip(sums, hidden[first : first + UNITS], strict=True)]
    return sums


def _seen(square: chess.Square, king: chess.Square, colour: chess.Color) -> chess.Square:
    seen = square if colour else chess.square_mirror(square)
    return seen if chess.square_file(king) > 3 else chess.square(7 - chess.square_file(seen), chess.square_rank(seen))


def output_of(network: Network, board: chess.Board) -> int:
    """The output, with 14 binary places, from the side to move's view."""
    count = chess.popcount(board.occupied)
    bucket = (count - 1) // 4
    sums = sums_of(network, board, board.turn) + sums_of(network, board, not board.turn)
    weights = numbers_of(network.output)[2 * UNITS * bucket : 2 * UNITS * (bucket + 1)]
    total = network.output_bias[bucket]
    for each, weight in zip(sums, weights, strict=True):
        total += (min(max(each, 0), 181) ** 2 // 128) * weight
    return total


def with_network(network: Network, board: chess.Board) -> int:
    """The static score with the network, in centipawns, from the side to move's view."""
    features = evaluation.evaluate(board, network=None)
    return features + (network_score(network, board) if abs(features) <= MAX_TERMS_CP else 0)


def network_score(network: Network, board: chess.Board) -> int:
    """The network's output in centipawns, from the side to move's view, where it has one."""
    sides = [chess.popcount(board.occupied_co[colour]) for colour in chess.COLORS]
    if min(sides) == 1 or sum(sides) < MIN_PIECES:
        return 0
    return max(-MAX_NETWORK_CP, min(output_of(network, board) // 2**14, MAX_NETWORK_CP))
