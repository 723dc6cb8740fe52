"""The thresholds of causes: all numbers that decide whether something is why a move is good or bad."""

# An edit confirms a cause by this share of the cost. A positional feature has to make at least the rest, a third.
CONFIRMED = 2 / 3
# What begins so many plies after the first move of its side is not the work of that move, nor what the other line has.
# So much of a line is shown.
SOON = 4
# The plies from a motif to what it wins: what comes later is another game.
MAX_DELAY = 6
# The quiet moves up to a win, beside that of the motif: with more nothing is forced.
MAX_QUIET = 1
# With more legal moves nobody speaks of zugzwang.
MAX_ZUGZWANG_MOVES = 12
# A longer mate explains nothing to a player.
LONGEST_MATE = 8
# A move is as good as another if it is worth at most this much less, the noise of short searches, in shown centipawns.
AS_GOOD_CP = 20
# The leaves of a line whose terms are compared are this far apart, so that no single move makes the difference.
LEAF_PLIES = 2
# A tempo or a positional feature is not why a move costs more than this, in expected result.
MAX_SIDE_COST = 0.12
