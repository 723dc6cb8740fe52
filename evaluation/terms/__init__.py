"""The terms of the evaluation by subject, one function each, and what is known of endgames.

Every term has the signature `term(weights, context, board, us)`: the weights of its subject, what the terms share about
the position, the board, and the colour `us` (1 white, 0 black). It returns what it adds for that colour, a packed
number (see `evaluation.weights`). Each module ends with the sums of its terms, White minus Black: `structure` for terms
that depend on pawns and kings alone, which the pawn hash table keeps, and `total` for the others.

Invariant: a term treats the two colours alike; it is linear in its weights, each counted a whole number of times; and
terms are called in the order of the catalogue, because earlier ones note in `context` what later ones need.
"""
