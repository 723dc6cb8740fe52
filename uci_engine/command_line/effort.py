"""The arguments of `analyse` and `explain`: how much to search, and the options of the engine."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from uci_engine.command_line.arguments import UsageError, number

if TYPE_CHECKING:
    from uci_engine.game_analysis.game_search import Effort

MAX_NODES = 999_999_999
MAX_SECONDS = 86_400.0


def add_effort(parser: argparse.ArgumentParser, default: str, what: str = "a move") -> None:
    """Add `--time`, `--nodes` and `--depth`, one of which may be given, and the options of the engine."""
    from uci_engine.score import MAX_DEPTH

    efforts = parser.add_mutually_exclusive_group()
    efforts.add_argument("--time", metavar="SECONDS", type=_seconds, help=f"time for {what} (default {default})")
    efforts.add_argument("--nodes", metavar="N", type=number(1, MAX_NODES), help=f"nodes for {what}")
    efforts.add_argument("--depth", metavar="N", type=number(1, MAX_DEPTH), help=f"depth of the search for {what}")
    parser.add_argument("--threads", metavar="N", type=number(1, 512), help="search threads (default 2)")
    parser.add_argument("--hash", metavar="MIB", type=number(1, 2**25), help="size of the hash table (default 64)")
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set a UCI option, for example: --option SyzygyPath=/tables; may be repeated",
    )


def effort_of(options: argparse.Namespace, default_seconds: float) -> Effort:
    """What the arguments ask for."""
    from uci_engine.game_analysis.game_search import Effort

    if options.nodes is None and options.depth is None:
        return Effort(seconds=default_seconds if options.time is None else options.time)
    return Effort(nodes=options.nodes, depth=options.depth)


def keyword_options(options: argparse.Namespace, default_threads: int) -> dict[str, Any]:
    """The options as keywords of `Engine`. Raises UsageError."""
    from uci_engine.api.settings import keyword_of

    keywords: dict[str, Any] = {"threads": options.threads or default_threads}
    if options.hash is not None:
        keywords["hash"] = options.hash
    for text in options.option:
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--option {name!a} has no value")
        try:
            keyword, typed = keyword_of(name.strip(), value.strip())
        except ValueError as error:
            raise UsageError(str(error)) from None
        keywords[keyword] = typed
    return keywords


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.001 <= value <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!a} is not a number of seconds, at least 0.001")
    return value
