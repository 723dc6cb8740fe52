"""Boards for the search, the moves they make, and the guard for positions from outside."""
