"""What came of a match, as tables and as JSON: pairings with their statistics, conduct and effort of the engines."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from rich.table import Table

from toolkit.console import make_table, say, standard_output
from toolkit.elo import Estimate, Sprt, estimate
from toolkit.games.record import FAULT_KINDS
from toolkit.games.tournament import PairingScore, Tournament


def pairing_as_json(score: PairingScore, sprt: Sprt | None) -> dict[str, Any]:
    """Everything that is known about one pairing; what is infinite is None."""
    statistics = asdict(estimate(score.counts))
    data: dict[str, Any] = {
        "first": score.first,
        "second": score.second,
        "games": score.games,
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        "pentanomial": list(score.counts),
        **{name: value if math.isfinite(value) else None for name, value in statistics.items()},
    }
    if sprt is not None:
        data["sprt"] = {
            **asdict(sprt),
            "llr": sprt.ratio(score.counts),
            "bounds": [sprt.lower, sprt.upper],
            "verdict": sprt.verdict(score.counts),
        }
    return data


def tournament_as_json(tournament: Tournament, sprt: Sprt | None = None) -> dict[str, Any]:
    """All results."""
    return {
        "settings": tournament.settings.as_json(),
        "pairings": [pairing_as_json(score, sprt) for score in tournament.scores.values()],
        "conduct": {name: conduct.as_json() for name, conduct in tournament.conduct.items()},
    }


def elo_text(result: Estimate) -> str:
    """`+12.6 ± 11.4`; a bar that has no end is told as such."""
    if not result.pairs:
        return "-"
    if not math.isfinite(result.error_elo):
        return f"{result.elo:+.1f} ± ?"
    return f"{result.elo:+.1f} ± {result.error_elo:.1f}"


def sprt_text(sprt: Sprt, score: PairingScore) -> str:
    """`1.23 (-2.94, 2.94) 0 to 5: undecided`."""
    verdict = {"H1": "H1 accepted", "H0": "H0 accepted", "": "undecided"}[sprt.verdict(score.counts)]
    ratio = sprt.ratio(score.counts)
    model = "" if sprt.model == "logistic" else f" {sprt.model}"
    return f"{ratio:.2f} ({sprt.lower:.2f}, {sprt.upper:.2f}) {sprt.elo0:g} to {sprt.elo1:g}{model}: {verdict}"


def progress_text(tournament: Tournament, sprt: Sprt | None) -> str:
    """The score of the first engine in short, and how many forfeits there were."""
    total = tournament.total
    words = [f"+{total.wins} ={total.draws} -{total.losses}", f"Elo {elo_text(estimate(total.counts))}"]
    if sprt is not None:
        words.append(f"LLR {sprt_text(sprt, total)}")
    words.append(f"forfeits {sum(conduct.faults.total() for conduct in tournament.conduct.values())}")
    return "  ".join(words)


def pairings_table(tournament: Tournament, sprt: Sprt | None) -> Table:
    """One line for each pairing, and where there are several, one for all games of the first engine."""
    head = ["pairing", "games", "W", "D", "L", "score", "LL LD DD/WL WD WW", "Elo ± 95 %", "LOS"]
    scores = list(tournament.scores.values())
    rows = []
    for score in [*scores, tournament.total] if len(scores) > 1 else scores:
        result = estimate(score.counts)
        row = [
            f"{score.first} - {score.second}",
            str(score.games),
            str(score.wins),
            str(score.draws),
            str(score.losses),
            f"{result.score:.1%}" if score.games else "-",
            " ".join(map(str, score.counts)),
            elo_text(result),
            f"{result.superiority:.1%}" if score.games else "-",
        ]
        rows.append(row + ([sprt_text(sprt, score)] if sprt is not None else []))
    return make_table("", head + (["LLR (bounds), elo0 to elo1"] if sprt is not None else []), rows)


def show_conduct(tournament: Tournament) -> None:
    """Show forfeits by engine and kind, the clocks, and what the engines used; then each forfeit in its words."""
    plurals = {"time loss": "time losses", "illegal move": "illegal moves", "crash": "crashes"}
    kinds = [plurals.get(kind, f"{kind}s") for kind in FAULT_KINDS]
    head = ["engine", *kinds, "worst overstep", "least on clock", "time a move", "nodes a second"]
    rows = []
    for name, conduct in tournament.conduct.items():
        clock = "-" if conduct.min_clock_ms is None else f"{conduct.min_clock_ms:.0f} ms"
        counts = [str(conduct.faults[kind]) for kind in FAULT_KINDS]
        rows.append([name, *counts, f"{conduct.overstep_ms:.1f} ms", clock, *conduct.effort.cells()])
    standard_output().print(make_table("", head, rows))
    for name, conduct in tournament.conduct.items():
        for detail in conduct.details:
            say(f"{name}: {detail}")
