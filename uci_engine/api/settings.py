"""The options of the engine by keyword: `Engine(hash=64, threads=2)`.

A keyword is the UCI name in lower case, with underscores: `move_overhead` is `Move Overhead`, `own_book` is `OwnBook`.
"""

from __future__ import annotations

from collections.abc import Mapping

from uci_engine.options import EMPTY, Check, EngineOptions, Option, Options, Spin, String, ValueOption
from uci_engine.text import closest

KEYWORDS = tuple(EngineOptions.__annotations__)

# Options that the methods of `Engine` set, and what to use instead.
MANAGED = {
    "MultiPV": "multipv is an argument of analyse and analysis",
    "UCI_Chess960": "boards say themselves whether they are Chess960",
    "Ponder": "this engine does not ponder in process",
    "Clear Hash": "new_game clears the hash table",
    "UCI_Opponent": "only the UCI command d shows it",
    "Debug Log File": "it would hold UCI lines, and in process there are none",
}


def settings(options: Options, keywords: Mapping[str, object]) -> list[tuple[Option, str]]:
    """The options that the keywords name, each with the text of its value. ValueError: a name or a value is wrong."""
    found = []
    for keyword, value in keywords.items():
        option = options.find(keyword)
        if option is not None and (instead := MANAGED.get(option.name)):
            raise ValueError(f"{keyword} cannot be set: {instead}")
        if option is None or keyword not in KEYWORDS:
            raise ValueError(f"there is no option {keyword!r}{_suggestion(keyword)}")
        found.append((option, _text(keyword, option, value)))
    # `uci_elo` alone asks for that strength. In UCI it takes two options.
    if "uci_elo" in keywords and "uci_limit_strength" not in keywords:
        found.append((options.limit_strength, "true"))
    return found


def keyword_of(name: str, text: str) -> tuple[str, bool | int | str]:
    """The keyword of a UCI option and its value, out of the name and text of `setoption`. ValueError: one is wrong."""
    options = Options()
    option = options.find(name)
    keyword = next((keyword for keyword in KEYWORDS if options.find(keyword) is option), None)
    if keyword is None or not isinstance(option, ValueOption):
        raise ValueError(f"option {name!a} cannot be set here{_suggestion(name)}")
    for problem in option.set(text):
        raise ValueError(problem)
    return keyword, option.value


def values(options: Options) -> dict[str, bool | int | str]:
    """The value of every option, by keyword."""
    return {keyword: option.value for keyword in KEYWORDS if isinstance(option := options.find(keyword), ValueOption)}


def _text(keyword: str, option: Option, value: object) -> str:
    """The value as `setoption` has it."""
    if isinstance(option, Check):
        if not isinstance(value, bool):
            raise ValueError(f"{keyword} must be True or False, not {value!r}")
        return str(value).lower()
    if isinstance(option, Spin):
        if isinstance(value, bool) or not isinstance(value, int) or not option.minimum <= value <= option.maximum:
            bounds = f"{option.minimum} to {option.maximum}"
            raise ValueError(f"{keyword} must be a whole number from {bounds}, not {_shown(value)}")
        return str(value)
    if not isinstance(option, String) or not isinstance(value, str):
        raise ValueError(f"{keyword} must be text, not {value!r}")
    return value or EMPTY


def _shown(value: object) -> str:
    # Python does not write numbers of thousands of digits.
    return "a number that long" if isinstance(value, int) and value.bit_length() > 256 else repr(value)


def _suggestion(keyword: str) -> str:
    meant = closest(keyword, KEYWORDS)
    return f"; did you mean {meant!r}?" if meant else f"; the options are {', '.join(KEYWORDS)}"
