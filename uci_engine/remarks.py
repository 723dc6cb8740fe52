"""What is wrong with a line, in sentences: the first few of them, the others counted.

`protocol` and `game` fill one in while they read a line that may hold a million mistakes. What must stay true: a
mistake costs next to nothing once there are MOST_SENTENCES of them, and none goes uncounted.
"""

from __future__ import annotations

MOST_SENTENCES = 8
QUOTE_LENGTH = 60
"""How many characters of foreign text `quoted` repeats, at most."""


def quoted(text: str) -> str:
    """Foreign text made fit for a message: its beginning, in quotation marks, in printable ASCII."""
    return ascii(text if len(text) <= QUOTE_LENGTH else text[:QUOTE_LENGTH] + "...")


class Remarks:
    """Sentences about one line."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, sentence: str, *foreign: str) -> None:
        """A mistake; `foreign` words stand quoted where the sentence has `{}`."""
        self._count += 1
        if self._count <= MOST_SENTENCES:
            self._sentences.append(sentence.format(*map(quoted, foreign)))

    def told(self) -> tuple[str, ...]:
        """What to say."""
        more = self._count - len(self._sentences)
        return (*self._sentences, f"and {more} more like these") if more else tuple(self._sentences)
