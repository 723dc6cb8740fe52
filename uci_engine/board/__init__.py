"""Boards for the search, the moves they make, positions from the GUI validated, and games read from PGN."""
