"""Boards for the search, the moves they make, and validation of positions from the GUI."""
