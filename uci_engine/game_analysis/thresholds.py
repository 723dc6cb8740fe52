"""The thresholds of causes: all numbers that decide whether something is why a move is good or bad."""

# An edit confirms a cause by this share of the cost.
CONFIRMED = 2 / 3
# What begins or wins so many plies after the first move of its side is not the work of that move.
# The other line has the same only within so many plies more, and the end of an account keeps its gain for so many.
SOON = 4
# The quiet moves up to a win, beside that of the motif: with more nothing is forced.
MAX_QUIET = 1
# A king is out in the open from this rank on, as its side counts them, the back rank as 0.
OPEN_RANK = 2
# A longer mate explains nothing to a player.
LONGEST_MATE = 5
# A move is as good as another if it is worth at most this much less, the noise of short searches, in shown centipawns.
AS_GOOD_CP = 20
# An account of material is closed after so many plies.
LONGEST_LINE = 14
# Who loses less than this part of it has got something for it.
LEAST_SAID = 0.4
# The plies of a line that may win something without a name, and a pawn.
LONGEST_UNNAMED = 9
LONGEST_PAWN = 5
# A threat to win less, in pawns, is no reason.
LEAST_THREAT = 2
