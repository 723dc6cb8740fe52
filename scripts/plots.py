#!/usr/bin/env python3
"""Plots: ratings over versions, score, depth and time along a game, time used per move. PNG files.

    python scripts/plots.py ratings results/*.json --versions 'secateur*' -o ratings.png
    python scripts/plots.py game games.pgn --game 3 -o game.png
    python scripts/plots.py times games.pgn -o times.png

`ratings` reads what `match.py --json` has written and sorts the versions by the numbers in their names; `game` and
`times` read PGN files with `[%eval]`, `[%clk]` or `[%emt]` comments, as `match.py` writes them, or with comments like
`+0.31/12 1.2s`, as XBoard, Cute Chess and fastchess write them.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import fnmatch
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import chess
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lib.console import complain, new_file, printable, say
from lib.errors import ProgramError
from lib.plot_data import PlottedGame, PlottedMove, Rating, fit_ratings, read_game_number, read_games, read_pairings

MAX_PAWNS = 10.0
LINEAR_PAWNS = 1.0
# Two colours that differ in lightness too, so that grey prints and colour-blind readers tell them apart.
COLORS = ("#d95f02", "#1f4e9c")
PALETTE = (*COLORS, "#1b9e77", "#7b3294", "#8c6d31", "#555555")
# When the colours are used up.
STYLES = ("-", "--", ":", "-.")
# More bands than these would cover each other.
MAX_BANDS = 3
# What is longer would leave no room for the plot.
MAX_NAME_CHARACTERS = 40
MAX_ENDING_CHARACTERS = 60
BEHIND_TEXT = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
DOTS_PER_INCH = 130
# Below this the axis of times counts in ms.
SMALL_SECONDS = 1.0


def new_figure(title: str, height_inches: float, rows: int = 1, shares: Sequence[float] | None = None) -> list[Axes]:
    """A figure with so many plots one below the other, which share their horizontal axis."""
    figure = Figure(figsize=(10, height_inches), dpi=DOTS_PER_INCH, layout="constrained")
    figure.suptitle(title, fontsize=12)
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": shares or [1] * rows})
    plots: list[Axes] = list(axes[:, 0])
    for plot in plots:
        plot.grid(True, color="#dddddd", linewidth=0.6)
        plot.set_axisbelow(True)
        plot.spines[["top", "right"]].set_visible(False)
    return plots


def short_name(name: str) -> str:
    """A name from a file as it is drawn: printable, not too long, and no label that matplotlib would hide."""
    shown = printable(name[: MAX_NAME_CHARACTERS + 1])
    if len(shown) > MAX_NAME_CHARACTERS:
        shown = shown[:MAX_NAME_CHARACTERS] + "\N{HORIZONTAL ELLIPSIS}"
    return f" {shown}" if shown.startswith("_") else shown


def save(plot: Axes, path: Path) -> None:
    """Write the figure that this plot belongs to."""
    figure = plot.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, format="png")


# Ratings -------------------------------------------------------------------------------------------------------------


def plot_ratings(ratings: Sequence[Rating], versions: Sequence[str], anchor: str, path: Path) -> None:
    """Versions from left to right with error bars; whoever else has played, as a line across.

    If all that have played are shown so, they are rivals rather than versions, and no line joins them.
    """
    rivals = len(versions) == len(ratings)
    (plot,) = new_figure("Ratings" if rivals else "Rating over versions", 5.5)
    by_name = {rating.name: rating for rating in ratings}
    shown = [by_name[name] for name in versions]
    places = range(len(shown))
    plot.errorbar(
        list(places),
        [rating.elo for rating in shown],
        yerr=[rating.error for rating in shown],
        color=COLORS[1],
        ecolor="#7f9cc8",
        marker="o",
        capsize=4,
        linewidth=1.6,
        linestyle="none" if rivals else "-",
        label="95 % interval" if rivals else "version, 95 % interval",
    )
    for place, rating in zip(places, shown, strict=True):
        text = f"{rating.elo:+.0f}" + (f" ± {rating.error:.0f}" if rating.error else "")
        point = (place, rating.elo)
        plot.annotate(text, point, xytext=(8, 8), textcoords="offset points", fontsize=8, bbox=BEHIND_TEXT)
    others = [rating for rating in ratings if rating.name not in versions]
    for number, rating in enumerate(others):
        color = PALETTE[2 + number % (len(PALETTE) - 2)]
        label = f"{short_name(rating.name)}: {rating.elo:+.0f}" + (f" ± {rating.error:.0f}" if rating.error else "")
        plot.axhline(rating.elo, color=color, linewidth=1.2, linestyle=(0, (5, 3)), label=label)
    plot.set_xticks(list(places), [f"{short_name(rating.name)}\n{rating.games} games" for rating in shown], fontsize=8)
    if len(shown) > 6:
        plot.tick_params(axis="x", rotation=30)
    plot.set_xlim(-0.5, len(shown) - 0.2)
    plot.margins(y=0.12)
    plot.set_ylabel(f"Elo, relative to {short_name(anchor)}")
    plot.legend(fontsize=8, frameon=False)
    save(plot, path)


def version_key(name: str) -> list[tuple[int, str]]:
    """Sorts 0.9 before 0.10: numbers within names count as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]


# A game --------------------------------------------------------------------------------------------------------------


def plot_game(game: PlottedGame, path: Path) -> None:
    """Score, depth and time of each move; both engines. Raises ProgramError when the game has none of them."""
    if all((move.pawns, move.mate, move.depth, move.seconds) == (None,) * 4 for move in game.moves):
        raise ProgramError(
            f"{game.where}: no scores, depths or times behind its {len(game.moves)} half-moves; "
            "read are [%eval], [%clk], [%emt] and comments like +0.31/12 1.2s"
        )
    white, black = short_name(game.white), short_name(game.black)
    ending = f", {printable(game.ending)[:MAX_ENDING_CHARACTERS]}" if game.ending else ""
    title = f"{white} (White) against {black} (Black)   {printable(game.result)[:7]}{ending}"
    scores, depths, times = new_figure(title, 8.5, 3, (3, 2, 2))
    for color, name, drawn in ((chess.WHITE, white, COLORS[0]), (chess.BLACK, black, COLORS[1])):
        moves = [move for move in game.moves if move.color == color]
        label = f"{name} ({'White' if color else 'Black'})"
        scored = [move for move in moves if move.pawns is not None or move.mate is not None]
        scores.plot([at(m) for m in scored], [height(m) for m in scored], ".-", color=drawn, label=label, markersize=4)
        mates = [move for move in scored if move.mate is not None]
        scores.plot([at(m) for m in mates], [height(m) for m in mates], "*", color=drawn, markersize=9)
        deep = [move for move in moves if move.depth is not None]
        depths.plot([at(m) for m in deep], [m.depth or 0 for m in deep], ".-", color=drawn, label=label, markersize=4)
        timed = [move for move in moves if move.seconds is not None]
        times.bar([at(m) for m in timed], [m.seconds or 0.0 for m in timed], width=0.42, color=drawn, label=label)
    label_times(times, max((move.seconds or 0.0 for move in game.moves), default=0.0))
    scores.axhline(0, color="#555555", linewidth=0.8)
    scores.set_yscale("symlog", linthresh=LINEAR_PAWNS, linscale=0.8)
    scores.set_ylim(-MAX_PAWNS * 1.25, MAX_PAWNS * 1.25)
    scores.set_yticks([-10, -5, -2, -1, 0, 1, 2, 5, 10])
    scores.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
    scores.yaxis.set_minor_locator(mpl.ticker.NullLocator())
    scores.set_ylabel(f"score for White\n(pawns, at most ±{MAX_PAWNS:g}; ★ mate)")
    depths.set_ylabel("depth (plies)")
    depths.set_ylim(bottom=0)
    depths.yaxis.set_major_locator(MaxNLocator(integer=True))
    times.set_xlabel("move")
    times.xaxis.set_major_locator(MaxNLocator(integer=True))
    scores.legend(fontsize=9, frameon=False, loc="best")
    if not any(move.pawns is not None or move.mate is not None for move in game.moves):
        remark(scores, "the PGN has no scores")
    if not any(move.depth is not None for move in game.moves):
        remark(depths, "the PGN has no depths")
    if not any(move.seconds is not None for move in game.moves):
        remark(times, "the PGN has no times")
    save(times, path)


def at(move: PlottedMove) -> float:
    """Where a move stands: White's on the number, Black's half a move later."""
    return move.number + (0.0 if move.color == chess.WHITE else 0.5)


def height(move: PlottedMove) -> float:
    """The score to draw; a mate, and whatever is larger than the largest, at the edge."""
    if move.mate is not None:
        return MAX_PAWNS if move.mate > 0 else -MAX_PAWNS
    return min(max(move.pawns or 0.0, -MAX_PAWNS), MAX_PAWNS)


def label_times(plot: Axes, max_seconds: float) -> None:
    """Label an axis of seconds, in ms where all are short."""
    small = max_seconds < SMALL_SECONDS
    plot.set_ylabel("time used (ms)" if small else "time used (s)")
    if small:
        plot.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 1000:g}"))


def remark(plot: Axes, text: str) -> None:
    """Say why there is nothing to see."""
    plot.text(0.5, 0.5, text, transform=plot.transAxes, ha="center", va="center", color="#777777")


# Times ---------------------------------------------------------------------------------------------------------------


def plot_times(games: Sequence[PlottedGame], path: Path, name: str | None = None) -> None:
    """Median time per move number for each engine, for few of them with the band of the middle 80 %.

    Raises ProgramError without times.
    """
    used: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for game in games:
        for move in game.moves:
            player = game.white if move.color == chess.WHITE else game.black
            if move.seconds is not None and name in (None, player):
                used[player][move.number].append(move.seconds)
    if not used:
        raise ProgramError("no times in these games" + (f" for {name}" if name else ""))
    title = f"Time used per move, {len(games)} game{'s' if len(games) != 1 else ''}"
    times, counts = new_figure(title, 6, 2, (4, 1))
    for number, player in enumerate(sorted(used)):
        color = PALETTE[number % len(PALETTE)]
        style = STYLES[number // len(PALETTE) % len(STYLES)]
        numbers = sorted(used[player])
        low, middle, high = (
            [float(np.percentile(used[player][n], share)) for n in numbers] for share in (10, 50, 90)
        )
        label = f"{short_name(player)}: median"
        if len(used) <= MAX_BANDS:
            times.fill_between(numbers, low, high, color=color, alpha=0.18, linewidth=0)
            label += ", and the middle 80 %"
        times.plot(numbers, middle, style, color=color, linewidth=1.7, label=label)
        moves = [len(used[player][n]) for n in numbers]
        counts.step(numbers, moves, style, where="mid", color=color, linewidth=1.4)
    label_times(times, times.get_ylim()[1])
    times.set_ylim(bottom=0)
    times.legend(fontsize=9, frameon=False)
    counts.set_ylabel("moves")
    counts.set_ylim(bottom=0)
    counts.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    counts.set_xlabel("move of the game")
    counts.xaxis.set_major_locator(MaxNLocator(integer=True))
    save(times, path)


# The command line ----------------------------------------------------------------------------------------------------


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    ratings = commands.add_parser("ratings", help="rating over versions, with error bars, from kept match results")
    ratings.add_argument("--versions", default="*", help="names on the axis, e.g. 'secateur*'; others become lines")
    ratings.add_argument("--anchor", help="whose rating is 0 (default: the first version)")
    game = commands.add_parser("game", help="score, depth and time along a game")
    game.add_argument("--game", type=int, default=1, help="which game of the file, from 1 (default: 1)")
    times = commands.add_parser("times", help="time used per move number, over all games")
    times.add_argument("--engine", help="only this one")
    for command, kind in ((ratings, "JSON"), (game, "PGN"), (times, "PGN")):
        command.add_argument("files", nargs="+", type=Path, metavar=kind)
        command.add_argument("-o", "--output", type=new_file, required=True, metavar="PNG")
    return parser.parse_args(arguments)


def run(words: argparse.Namespace) -> None:
    """Draw what was asked for; raises ProgramError and OSError."""
    if words.command == "ratings":
        pairings = read_pairings(words.files)
        names = list(dict.fromkeys(pairing[side] for pairing in pairings for side in ("first", "second")))
        versions = sorted(fnmatch.filter(names, words.versions), key=version_key)
        if not versions:
            raise ProgramError(f"no name is like {words.versions!r}; there are {', '.join(names)}")
        anchor = words.anchor or versions[0]
        plot_ratings(fit_ratings(pairings, anchor), versions, anchor, words.output)
    elif words.command == "game":
        plot_game(read_game_number(words.files, words.game), words.output)
    else:
        plot_times(list(read_games(words.files)), words.output, words.engine)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    words = parse_arguments(arguments)
    # Never a window: the program may run where there is no screen.
    mpl.use("Agg")
    # A dollar sign in a name is no formula.
    mpl.rcParams["text.parse_math"] = False
    try:
        run(words)
    except (ProgramError, OSError) as error:
        complain(error)
        return 2
    say(str(words.output))
    return 0


if __name__ == "__main__":
    run_program(main)
