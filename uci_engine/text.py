"""Text from outside: reading numbers, quoting it, and collecting messages about its errors.

Invariant: all errors of a line are counted, but at most MAX_SENTENCES messages are kept.
"""

from __future__ import annotations

import re

MAX_INT_DIGITS = 18
MAX_INT = 10**MAX_INT_DIGITS - 1
"""`parse_int` clamps to plus or minus this number. It fits in 64 bits."""

_INTEGER = re.compile(r"([+-]?)([0-9]+)")

MAX_SENTENCES = 8
QUOTE_LENGTH = 60
"""Maximum number of characters that `quoted` repeats."""


def quoted(text: str) -> str:
    """Text from outside, made safe for a message: its beginning, in quotation marks, in printable ASCII."""
    return ascii(text if len(text) <= QUOTE_LENGTH else text[:QUOTE_LENGTH] + "...")


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


class Remarks:
    """Messages about one line."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, sentence: str, *foreign: str) -> None:
        """Add a message. The `foreign` words are quoted and replace its `{}`."""
        self._count += 1
        if self._count <= MAX_SENTENCES:
            self._sentences.append(sentence.format(*map(quoted, foreign)))

    def told(self) -> tuple[str, ...]:
        """The first MAX_SENTENCES messages, and how many were dropped."""
        more = self._count - len(self._sentences)
        return (*self._sentences, f"and {more} more like these") if more else tuple(self._sentences)
