"""Training data: the file of positions (`positions`), where games begin (`sources`), and self-play (`game`)."""
