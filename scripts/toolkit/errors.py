"""What ends a program with one sentence for the user."""

from __future__ import annotations


class ProgramError(Exception):
    """Something that cannot be used, or cannot go on; the message says what and why."""


def sentence(error: Exception) -> str:
    """What went wrong, without the number that the system gives it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
