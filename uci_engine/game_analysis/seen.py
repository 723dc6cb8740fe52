"""What a change of a term looks like on the board: a title of the evaluation's catalogue as a remark on the game."""

from __future__ import annotations

import re

# For a title what is said of less of it and of more of it, behind `your` or `White's`.
_SEEN = {
    "placement of pieces": ("pieces stand worse", "pieces stand better"),
    "knights' mobility": ("knights have fewer squares", "knights have more squares"),
    "bishops' mobility": ("bishops have fewer squares", "bishops have more squares"),
    "rooks' mobility": ("rooks have fewer squares", "rooks have more squares"),
    "queen's mobility": ("queen has fewer squares", "queen has more squares"),
    "safe squares of rooks and queen": (
        "rooks and queen have fewer safe squares",
        "rooks and queen have more safe squares",
    ),
    "doubled pawns": ("pawns are doubled", "pawns are no longer doubled"),
    "isolated pawns": ("pawns are isolated", "pawns are no longer isolated"),
    "backward pawns": ("pawns are backward", "pawns are no longer backward"),
    "pawn islands": ("pawns are in more islands", "pawns are in fewer islands"),
    "blocked pawns": ("pawns are blocked", "pawns are no longer blocked"),
    "minor pieces behind pawns": (
        "minor pieces have less shelter behind pawns",
        "minor pieces have more shelter behind pawns",
    ),
    "bishops' freedom from pawns": ("bishops are more hemmed in by pawns", "bishops are less hemmed in by pawns"),
    "king's place near the pawns": ("king is further from the pawns", "king is nearer to the pawns"),
    "safety from pawn storms": ("king is less safe from pawn storms", "king is safer from pawn storms"),
    "safe checks against the king": ("pieces have fewer safe checks", "pieces have more safe checks"),
    "rooks on open files": ("rooks have fewer open files", "rooks have more open files"),
    "outposts": ("pieces have fewer outposts", "pieces have more outposts"),
    "hold on contested squares": ("pieces control fewer squares", "pieces control more squares"),
    "space": ("space is less", "space is greater"),
}


def seen_change(title: str, is_more: bool) -> str:
    """`king's shelter is weaker`: less or more of what a title names, as it can be seen."""
    if title in _SEEN:
        return _SEEN[title][is_more]
    # The noun is what stands before a preposition: attack on the king, pawns around the kings.
    noun = re.split(" (?:on|of|around|to|against) ", title)[0]
    return f"{title} {'are' if noun.endswith('s') else 'is'} {'stronger' if is_more else 'weaker'}"
