"""What `secateur bench`, `perft` and `doctor` do."""
