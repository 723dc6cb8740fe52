"""Games between engines: openings and ends, pairs of games, runs of many pairs, tournaments and experiments."""
