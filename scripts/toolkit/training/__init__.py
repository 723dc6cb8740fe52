"""Training data: files of positions, self-play, examples; what is fitted to them: weights (`model`), the network."""
