"""One search over two boards: the same nodes, scores, moves and lines on every core.

Each search runs on the compiled core, in plain Python over bitboards, and in plain Python over python-chess's
board. All that they say is compared but for times: depths, scores, nodes, lines, how full the table is.
"""

from __future__ import annotations

from typing import Any

import chess
import pytest

from tests.support.kernel import ALL_CORES, Remote, Request, core_or_skip, search
from uci_engine.search.info import Bound

# Name: FEN, Chess960?, moves played from there, and limits.
SEARCHES: dict[str, tuple[str, bool, str, dict[str, Any]]] = {
    "start": (chess.STARTING_FEN, False, "", {"depth": 5}),
    "middlegame": (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        False,
        "",
        {"depth": 3},
    ),
    "quiet middlegame": (
        "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9",
        False,
        "",
        {"depth": 6},
    ),
    "in check": ("rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3", False, "", {"depth": 6}),
    "pawn ending": ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", False, "", {"depth": 9}),
    "passing would be best": ("8/8/1p1k4/1P1p2p1/P2Pp1P1/4P3/3K4/8 b - - 0 1", False, "", {"depth": 9}),
    "promotions": ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", False, "", {"depth": 6}),
    "three lines": (
        "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
        False,
        "",
        {"depth": 5, "multipv": 3},
    ),
    "Chess960": ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", True, "", {"depth": 6}),
    "Chess960, about to castle": (
        "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1",
        True,
        "",
        {"depth": 6},
    ),
    "repetitions": (
        "6k1/6pp/8/8/8/r7/5PPP/1R4K1 w - - 0 40",
        False,
        "b1b8 g8f7 b8b7 f7g8 b7b8 g8f7 b8b7 f7g8",
        {"depth": 6},
    ),
    "fifty moves": ("8/8/4kb2/8/2NB4/8/4K3/7R w - - 96 80", False, "", {"depth": 5}),
    "contempt": (
        "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9",
        False,
        "",
        {"depth": 6, "contempt_cp": 30},
    ),
    "contempt and repetitions": (
        "6k1/5pp1/8/8/8/r6p/5PPP/2R3K1 w - - 0 40",
        False,
        "c1b1 a3a2 b1c1 a2a3 c1b1 a3a2 b1c1 a2a3",
        {"depth": 7, "contempt_cp": 100},
    ),
    "negative contempt": ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", False, "", {"depth": 9, "contempt_cp": -100}),
    "mate": ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", False, "", {"mate": 3}),
    "no mate": ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", False, "a1a7 g8f8", {"mate": 2}),
    "cut short by nodes": (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        False,
        "",
        {"nodes": 1500},
    ),
    "analysis": (
        "3r2k1/1p3ppp/p2q4/8/8/2P1Q3/PP3PPP/4R1K1 w - - 0 1",
        False,
        "",
        {"nodes": 2000, "analyse_mode": True},
    ),
}


def identities() -> dict[str, Any]:
    """All that each search says, but for times, and what it found."""
    found = {}
    for name, (fen, chess960, played, limits) in SEARCHES.items():
        board = chess.Board(fen, chess960=chess960)
        for word in played.split():
            board.push_uci(word)
        first = search(Request(board, **limits))
        # And once more upon what the table and the histories remember.
        again = search(Request(board, **limits), fresh=False)
        found[name] = [
            {
                "infos": [
                    [
                        info.depth,
                        info.seldepth,
                        info.multipv,
                        info.score,
                        info.bound.value,
                        info.nodes,
                        info.hashfull,
                        list(info.pv),
                        info.string,
                    ]
                    for info in outcome.infos
                    # Bounds are reported by the clock.
                    if info.bound is Bound.EXACT
                ],
                "best": outcome.best.uci(),
                "ponder": outcome.ponder.uci() if outcome.ponder else None,
                "score": outcome.score,
                "nodes": outcome.nodes,
            }
            for outcome in (first, again)
        ]
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """What every core says, by core. They run at the same time."""
    running = {}
    for name in ALL_CORES:
        try:
            core = core_or_skip(name)
        except pytest.skip.Exception:
            continue
        running[core] = Remote(core, __name__, "identities")
    return {name: remote.result() for name, remote in running.items()}


@pytest.mark.parametrize("name", SEARCHES)
def test_plain_python_over_both_boards(results: dict[str, dict[str, Any]], name: str) -> None:
    assert results["interpreted"][name] == results["python-chess"][name]


@pytest.mark.parametrize("name", SEARCHES)
def test_compiled_as_in_plain_python(results: dict[str, dict[str, Any]], name: str) -> None:
    core_or_skip("compiled")
    assert results["compiled"][name] == results["python-chess"][name]


def test_contempt_is_another_search(results: dict[str, dict[str, Any]]) -> None:
    for found in results.values():
        assert found["negative contempt"][0]["nodes"] != found["pawn ending"][0]["nodes"]


@pytest.mark.parametrize("name", SEARCHES)
def test_the_searches_are_worth_comparing(results: dict[str, dict[str, Any]], name: str) -> None:
    first, again = results["python-chess"][name]
    assert first["nodes"] > (200 if name not in ("mate", "no mate") else 50)
    assert len(first["infos"]) >= 2
    # The second search had the first one's table: it is another tree.
    assert again["nodes"] != first["nodes"] or "nodes" in SEARCHES[name][3]
