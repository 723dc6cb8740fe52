"""A small network over the pieces: its output is added to the sum of the weighted terms.

Each side has a view of the board: its own pieces and the enemy's, on squares as that side sees them, mirrored so that
its own king stands on the files e to h. An input is a kind of piece on a square, 2 * 6 * 64 of them. It has weights of
its own for each region in which the own king may stand (`file.KING_REGION`). The hidden layer has UNITS units. Its
sums are made once for each view, with the same weights. A unit gives the square of its sum, cut off below 0 and above
1. The output adds up both views, the side to move's first, with weights of its own for one to four pieces,
five to eight, and so on.

With few pieces, against a king alone, or with a decisive score of the terms, the network is not asked.

`file` has its shape, reads and checks a file; `inference` computes. All of it is in whole numbers, so that every
core gives the same score.

Invariant: importing this package loads no kernel module (`inference`).
"""
