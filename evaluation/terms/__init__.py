"""The terms of the evaluation by subject, one function each, and the endgames.

Every term has the signature `term(context, board, us)`: the `EvaluationContext` with its weights, the board, and the
colour `us` (1 white, 0 black). It returns what it adds for that colour, a packed number (see
`evaluation.weights`). Each module ends with the sums of its terms for one colour. `pawn_king_total` has the terms that
depend on pawns and kings alone, which are stored in the pawn hash table, `material_total` those of the material hash
table, `mobility_total` those that find the attacks, and `total` the others.

Invariant: a term treats both colours alike. It is linear in its weights, and its coefficients are integers.

Some terms read the findings of others from `context`, so the order of calls matters.
`EvaluationContext.begin` comes first. `passed_pawn` comes before the other terms of passed pawns. The mobility terms of
both colours come before the terms that read attacks: safe mobility, space, outposts, those of a passed pawn's path, of
the attack on the king, and the threats. `king_shelter` comes before `pawn_storm`, and both before `king_attack`. The
order of all other calls is free.
"""
