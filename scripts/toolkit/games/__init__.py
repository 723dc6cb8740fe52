"""Games between engines: one game, its openings, ends and records; pairs of games; tournaments and their tables."""
