"""`secateur bench`, `perft` and `doctor`."""
