"""`bench`, `go perft` and `secateur doctor`."""
