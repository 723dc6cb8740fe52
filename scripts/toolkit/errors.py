"""What ends a program with one sentence for the user."""


class ProgramError(Exception):
    """Something that cannot be used, or cannot go on; the message says what and why."""
