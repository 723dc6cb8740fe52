"""Training data: files of positions, examples; what is fitted to them: weights (`model`), the network."""
