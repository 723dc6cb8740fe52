"""How long a move may take, and who sees to it."""
