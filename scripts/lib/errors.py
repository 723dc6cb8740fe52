"""What ends a program with one sentence for the user."""

from __future__ import annotations


class ProgramError(Exception):
    """Something that cannot be used, or cannot go on; the message says what and why."""
