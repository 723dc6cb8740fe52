"""The size of the network and the scales of its whole numbers.

Invariant: a sum of 32 pieces fits in 16 bits: -32 * 128 - 8192 = -12288 to 32 * 127 + 8191 = 12255.
Invariant: an output fits in 32 bits: 2 * UNITS * 255 * OUTPUT_LIMIT + MAX_OUTPUT_BIAS < 2**31.
"""

from __future__ import annotations

# A view's pieces on squares: own pawn to king, then the enemy's.
PIECE_SQUARES = 768
# They have weights of their own for each region of the own king.
KING_REGIONS = 8
# [the own king's square as the view sees it]: its region. A view is mirrored so that the king is on the files e to h.
KING_REGION = [*[0] * 5, 1, 2, 3, *[4] * 6, 5, 5, *[6] * 16, *[7] * 32]
INPUTS = 6144
# The hidden layer.
UNITS = 512
# The output has weights of its own for one to four pieces, five to eight, and so on.
BUCKETS = 8
PIECES_PER_BUCKET = 4
# What stands for 1 in the hidden layer: sums are cut off there. It is the largest number whose square has 15 bits, so
# that the C compiler can take eight squares at a time.
MAX_SUM = 181
# Squares are shifted by this, so that they stay below 256.
SQUARE_SHIFT = 7
# One centipawn is 1 << OUTPUT_SHIFT.
OUTPUT_SHIFT = 14
# Bounds of the file: weights and biases of the hidden layer, and weights of the output, are from minus this to this
# minus 1. Weights of the hidden layer have 8 bits there.
HIDDEN_LIMIT = 128
HIDDEN_BIAS_LIMIT = 8192
OUTPUT_LIMIT = 8192
MAX_OUTPUT_BIAS = 8_388_607
# The output is cut off beyond, in centipawns.
MAX_NETWORK_CP = 1000
# With fewer pieces it is 0.
MIN_PIECES = 5
# Beyond this score of the features there is none either: the lead decides, and the network takes time.
MAX_FEATURES_CP = 600
