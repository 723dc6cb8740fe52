"""Text: English lists; what comes from outside, its numbers, how it is quoted; messages about errors, its and ours."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import chess

# `parse_int` clamps to plus or minus this number. It fits in 64 bits.
MAX_INT_DIGITS = 18
MAX_INT: int = 10**MAX_INT_DIGITS - 1

# For `str.translate`: what people and programs write for a hyphen.
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))

_INTEGER = re.compile(r"([+-]?)([0-9]+)")

# The most messages about one line of input: the first ones.
MAX_MESSAGES = 8
# The maximum number of characters that `quoted` repeats.
QUOTE_LENGTH = 60

_COUNTS = dict(enumerate(("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1))


def joined(words: Sequence[str]) -> str:
    """`this, that and more`, or "" for no words."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted_pieces(counts: Mapping[chess.PieceType, int]) -> str:
    """The pieces of which there are any, the greatest first: `a queen, two knights and a pawn`, or ""."""
    return joined(
        [
            f"{_COUNTS.get(counts[kind], counts[kind])} {chess.piece_name(kind)}{'s' if counts[kind] > 1 else ''}"
            for kind in sorted(counts, reverse=True)
            if counts[kind] > 0
        ]
    )


def quoted(text: str) -> str:
    """Text from outside, safe for a message: its beginning in printable ASCII, in quotation marks."""
    return ascii(text if len(text) <= QUOTE_LENGTH else text[:QUOTE_LENGTH] + "...")


def printable(text: str) -> str:
    """The text with everything escaped that could steer a terminal: control characters, line ends."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def parse_int(word: str) -> int | None:
    """The integer that `word` spells in ASCII digits, clamped to +-MAX_INT; None if it spells none.

    `int` would also accept `1_000` and non-ASCII digits, and would raise on 5000 digits.
    """
    match = _INTEGER.fullmatch(word)
    if match is None:
        return None
    sign, digits = match.groups()
    digits = digits.lstrip("0") or "0"
    magnitude = MAX_INT if len(digits) > MAX_INT_DIGITS else int(digits)
    return -magnitude if sign == "-" else magnitude


def suggestion(word: str, choices: Iterable[str]) -> str:
    """The end of a sentence: the choice that a misspelt word resembles most, whatever the case; "" if none."""
    import difflib  # only after an error

    by_key = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_key, n=1)
    return f", did you mean {by_key[close[0]]}?" if close else ""


def print_failure(error: Exception) -> None:
    """Print the traceback of an error in this program on stderr, if there is one and somebody reads it."""
    sys.excepthook(type(error), error, error.__traceback__)


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence for the user. `is_error`: something was refused or has failed."""

    text: str
    is_error: bool = False

    def __str__(self) -> str:
        """As UCI shows it, behind `info string`."""
        return f"error: {self.text}" if self.is_error else self.text

    @staticmethod
    def error(text: str | Exception) -> Message:
        return Message(str(text), is_error=True)
