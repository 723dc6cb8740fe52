"""The tables of a tournament, as text and as JSON: pairings with their statistics, standings, conduct of the engines.
"""

from __future__ import annotations

import math
from typing import Any

from rich.table import Table

from lib.console import make_table, without_infinities
from lib.elo import Estimate, Sprt, estimate, pentanomial
from lib.games.record import FAULT_KINDS
from lib.games.tournament import PairingScore, Tournament


def pairing_as_json(score: PairingScore, sprt: Sprt | None) -> dict[str, Any]:
    """Everything that is known about one pairing; what is infinite is None."""
    result = estimate(score.counts)
    data: dict[str, Any] = {
        "first": score.first,
        "second": score.second,
        "games": score.games,
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        "pentanomial": list(score.counts),
        **estimate_as_json(result),
    }
    if sprt is not None:
        data["sprt"] = {
            "elo0": sprt.elo0,
            "elo1": sprt.elo1,
            "alpha": sprt.alpha,
            "beta": sprt.beta,
            "model": sprt.model,
            "llr": sprt.ratio(score.counts),
            "bounds": [sprt.lower, sprt.upper],
            "verdict": sprt.verdict(score.counts),
        }
    return data


def estimate_as_json(result: Estimate) -> dict[str, float | None]:
    """The statistics by name."""
    values = {
        "score": result.score,
        "elo": result.elo,
        "elo_error_95": result.error_elo,
        "elo_low_95": result.low_elo,
        "elo_high_95": result.high_elo,
        "normalized_elo": result.normalized_elo,
        "normalized_error_95": result.normalized_error,
        "superiority": result.superiority,
    }
    return without_infinities(values)


def standing_estimate(tournament: Tournament, name: str) -> Estimate:
    """An engine against all that it met, taken together."""
    pairs: list[float] = []
    for score in tournament.scores.values():
        if score.first == name:
            pairs += score.pairs
        elif score.second == name:
            pairs += [2.0 - points for points in score.pairs]
    return estimate(pentanomial(pairs))


def tournament_as_json(tournament: Tournament, sprt: Sprt | None) -> dict[str, Any]:
    """All tables."""
    return {
        "settings": tournament.settings.as_json(),
        "pairings": [pairing_as_json(score, sprt) for score in tournament.scores.values()],
        "standings": {
            engine.name: estimate_as_json(standing_estimate(tournament, engine.name))
            for engine in tournament.settings.engines
        },
        "conduct": {name: conduct.as_json() for name, conduct in tournament.conduct.items()},
    }


def elo_text(result: Estimate) -> str:
    """`+12.6 ± 11.4`; a bar that has no end is told as such."""
    if not result.pairs:
        return "-"
    if not math.isfinite(result.error_elo):
        return f"{result.elo:+.1f} ± ?"
    return f"{result.elo:+.1f} ± {result.error_elo:.1f}"


def counts_text(*scores: PairingScore) -> str:
    """`+4 =1 -0`, of all these together."""
    wins, draws, losses = (sum(getattr(score, kind) for score in scores) for kind in ("wins", "draws", "losses"))
    return f"+{wins} ={draws} -{losses}"


def sprt_text(sprt: Sprt, score: PairingScore) -> str:
    """`1.23 (-2.94, 2.94) 0 to 5: undecided`."""
    verdict = {"H1": "H1 accepted", "H0": "H0 accepted", "": "undecided"}[sprt.verdict(score.counts)]
    ratio = sprt.ratio(score.counts)
    return f"{ratio:.2f} ({sprt.lower:.2f}, {sprt.upper:.2f}) {sprt.elo0:g} to {sprt.elo1:g}: {verdict}"


def pairings_table(tournament: Tournament, sprt: Sprt | None) -> Table:
    """One line for each pairing."""
    head = ["pairing", "games", "W", "D", "L", "score", "LL LD DD/WL WD WW", "Elo ± 95 %", "nElo", "LOS"]
    rows = []
    for score in tournament.scores.values():
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
            f"{result.normalized_elo:+.1f}" if score.games else "-",
            f"{result.superiority:.1%}" if score.games else "-",
        ]
        rows.append(row + ([sprt_text(sprt, score)] if sprt is not None else []))
    return make_table("", head + (["LLR (bounds), elo0 to elo1"] if sprt is not None else []), rows)


def crosstable(tournament: Tournament) -> Table:
    """Engines by their score, and the points of each against each."""
    engines = tournament.settings.engines
    estimates = {engine.name: standing_estimate(tournament, engine.name) for engine in engines}
    order = sorted((engine.name for engine in engines), key=lambda name: -estimates[name].score)
    points: dict[tuple[str, str], str] = {}
    for score in tournament.scores.values():
        if score.games:
            points[score.first, score.second] = f"{score.points:g}/{score.games}"
            points[score.second, score.first] = f"{score.games - score.points:g}/{score.games}"
    head = ["engine", "score", "Elo ± 95 %", "LOS", *(str(number) for number in range(1, len(order) + 1))]
    rows = []
    for number, name in enumerate(order, start=1):
        result = estimates[name]
        cells = [points.get((name, other), "x" if name == other else "") for other in order]
        score_text = f"{result.score:.1%}" if result.pairs else "-"
        rows.append([f"{number} {name}", score_text, elo_text(result), f"{result.superiority:.1%}", *cells])
    return make_table("Each against all that it met", head, rows)


def conduct_table(tournament: Tournament) -> Table:
    """Forfeits by engine and kind, and the clocks. Every engine is listed, also the well-behaved."""
    plurals = {"time loss": "time losses", "illegal move": "illegal moves", "crash": "crashes"}
    head = ["engine", *(plurals.get(kind, f"{kind}s") for kind in FAULT_KINDS), "worst overstep", "least on clock"]
    rows = []
    for name, conduct in tournament.conduct.items():
        clock = "-" if conduct.min_clock_ms is None else f"{conduct.min_clock_ms:.0f} ms"
        counts = [str(conduct.faults[kind]) for kind in FAULT_KINDS]
        rows.append([name, *counts, f"{conduct.overstep_ms:.1f} ms", clock])
    return make_table("", head, rows)
