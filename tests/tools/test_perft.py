"""Move sequences counted from well-known positions: many programs agree on the counts."""

from __future__ import annotations

import chess
import pytest

from tests.support.kernel import ALL_CORES, core_or_skip, new_position, on_core, state_of

# FEN, and the counts from depth 1 on.
STANDARD = [
    (chess.STARTING_FEN, [20, 400, 8902, 197281, 4865609]),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", [48, 2039, 97862, 4085603]),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2812, 43238, 674624]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", [6, 264, 9467, 422333]),
    ("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", [6, 264, 9467, 422333]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", [44, 1486, 62379, 2103487]),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", [46, 2079, 89890, 3894594]),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", [15, 66, 1197, 7059, 133987]),
    # En passant that would uncover the king, along the rank and along the diagonal.
    ("1b1k4/8/8/1rPpK3/8/8/8/8 w - d6 0 1", [5, 100, 555]),
    ("8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1", [6, 121, 711]),
    # A check that en passant does not answer.
    ("rnbqk1nr/bb3p1p/1q2r3/2pPp3/3P4/7P/1PP1NpPP/R1BQKBNR w KQkq c6 0 1", [2, 92, 2528]),
    ("8/6kR/8/8/8/bq6/1rqqqqqq/K1nqnbrq b - - 0 1", [7, 52, 4593, 50268]),
    ("3R4/8/q4k2/2B5/1NK5/3b4/8/8 w - - 0 1", [4, 125, 2854]),
    ("5R2/2P5/8/4k3/8/3rK2r/8/8 w - - 0 1", [2, 56, 1030]),
]
CHESS960 = [
    ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", [21, 528, 12189, 326672]),
    ("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", [21, 807, 18002, 667366]),
    ("b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9", [20, 479, 10471, 273318]),
    ("brkbqnrn/2pp1ppp/8/1p2p3/Pp2N3/8/2PPPPPP/BRKBQNR1 w GBgb - 0 9", [30, 827, 25308, 757837]),
    ("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", [23, 522, 12333, 285754]),
    ("8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1", [34, 318, 9002, 118388]),
    ("4r3/3k4/8/8/8/8/6PP/qR1K1R2 w KQ - 0 1", [19, 628, 12858, 405636]),
]
CASES = [(*case, False) for case in STANDARD] + [(*case, True) for case in CHESS960]
# The most sequences that a slow core is asked to count for one position.
SLOW_LIMIT = 3000


def counted(limit: int) -> list[list[int]]:
    """What the core of this process counts, for each position as deep as the counts are not above the limit."""
    found = []
    for fen, counts, chess960 in CASES:
        position = new_position(chess.Board(fen, chess960=chess960))
        before = state_of(position)
        depths = sum(count <= limit for count in counts)
        found.append([position.count(depth) for depth in range(1, depths + 1)])
        assert state_of(position) == before
    return found


@pytest.mark.parametrize("name", ALL_CORES)
def test_every_core_counts_what_others_count(name: str) -> None:
    limit = 10_000_000 if name == "compiled" else SLOW_LIMIT
    expected = [[count for count in counts if count <= limit] for _, counts, _ in CASES]
    assert sum(map(len, expected)) > 2 * len(CASES)
    assert on_core(core_or_skip(name), __name__, "counted", limit) == expected
