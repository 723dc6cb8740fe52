"""What every compiled module stands on: the types and instructions of C, sets of squares, and the pieces on the board.

`typed` has the typed Python of the kernel, `bitboards` the attack tables with their magics, and `base_board` the pieces
and the sums over them, with the numbers of `constants`. Importing the package loads none of these three.
"""
