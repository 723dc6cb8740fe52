"""How people of a rating choose a move: `policy` says with what probability, `features` what they see in a move."""
