"""One search over two boards: the same nodes, scores, moves and lines on every core.

Each search runs on the compiled core, in plain Python over bitboards, and in plain Python over python-chess's
board. All that they say is compared but for times: depths, scores, nodes, lines, how full the table is.
"""

from __future__ import annotations

from typing import Any

import chess
import pytest

from tests.support import TABLES
from tests.support.kernel import (
    MIDDLEGAME,
    STARTS,
    board_after,
    on_all_cores,
    search,
    searcher,
    without_times,
)
from uci_engine.core import load
from uci_engine.tablebases.tablebases import Tablebases

PAWN_ENDING = STARTS[2]
SHUFFLE = "b1b8 g8f7 b8b7 f7g8 b7b8 g8f7 b8b7 f7g8"
TABLEBASES = {"depth": 7, "probe_limit": 7}
# Name: FEN, moves played from there, what is asked.
SEARCHES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "start": (chess.STARTING_FEN, "", {"depth": 5}),
    "middlegame": (STARTS[1], "", {"depth": 3}),
    "quiet middlegame": (MIDDLEGAME, "", {"depth": 6}),
    "in check": ("rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3", "", {"depth": 6}),
    "pawn ending": (PAWN_ENDING, "", {"depth": 8}),
    "passing would be best": ("8/8/1p1k4/1P1p2p1/P2Pp1P1/4P3/3K4/8 b - - 0 1", "", {"depth": 8}),
    "promotions": (STARTS[6], "", {"depth": 6}),
    "three lines": (
        "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
        "",
        {"depth": 5, "multipv": 3},
    ),
    "Chess960": ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", "", {"depth": 6}),
    "Chess960, about to castle": ("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", "", {"depth": 6}),
    "repetitions": ("6k1/6pp/8/8/8/r7/5PPP/1R4K1 w - - 0 40", SHUFFLE, {"depth": 6}),
    "fifty moves": ("8/8/4kb2/8/2NB4/8/4K3/7R w - - 96 80", "", {"depth": 5}),
    "contempt": (MIDDLEGAME, "", {"depth": 6, "contempt_cp": 30}),
    "contempt and repetitions": (
        "6k1/5pp1/8/8/8/r6p/5PPP/2R3K1 w - - 0 40",
        "c1b1 a3a2 b1c1 a2a3 c1b1 a3a2 b1c1 a2a3",
        {"depth": 7, "contempt_cp": 100},
    ),
    "negative contempt": (PAWN_ENDING, "", {"depth": 8, "contempt_cp": -100}),
    "mate": ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "", {"mate": 3}),
    "no mate": ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a7 g8f8", {"mate": 2}),
    "cut short by nodes": (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        "",
        {"nodes": 1500},
    ),
    # Captures and promotions lead into the tables.
    "tables: rook and pawn": ("8/8/8/4k3/3r4/8/4P3/R3K3 w - - 0 1", "", TABLEBASES),
    "tables: knight and pawn": ("8/8/1k6/3n4/8/2N1P3/3K4/8 b - - 0 1", "", TABLEBASES),
    "tables: queens": ("8/5k2/8/4p3/8/2Q1q3/4K3/8 w - - 0 1", "", TABLEBASES),
    "analysis": ("3r2k1/1p3ppp/p2q4/8/8/2P1Q3/PP3PPP/4R1K1 w - - 0 1", "", {"nodes": 2000, "analyse_mode": True}),
}


def searches() -> dict[str, Any]:
    """What each search says and finds, and once more upon what the table and the histories remember."""
    found = {}
    Tablebases(load(), searcher().prober).set_syzygy_path(str(TABLES))
    for name, (fen, played, asked) in SEARCHES.items():
        board = board_after(fen, played, chess960="960" in name)
        both = (search(board, **asked), search(board, fresh=False, **asked))
        found[name] = [
            [without_times((*outcome.infos, outcome.last)), str(outcome.ponder), outcome.nodes] for outcome in both
        ]
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """What every core says, by core. They run at the same time."""
    return on_all_cores(__name__, "searches")


@pytest.mark.parametrize("name", SEARCHES)
def test_every_core_searches_the_same_tree(results: dict[str, dict[str, Any]], name: str) -> None:
    first, again = results["python-chess"][name]
    assert results["interpreted"][name] == results.get("compiled", results["interpreted"])[name] == [first, again]
    # It is worth comparing, and the second search had the first one's table: it is another tree.
    assert first[-1] > (50 if "mate" in name else 200)
    assert len(first[0]) > 2
    assert ("tables" in name) == (first[0][-1]["tbhits"] != "0")
    assert first[-1] != again[-1] or "nodes" in SEARCHES[name][2]
