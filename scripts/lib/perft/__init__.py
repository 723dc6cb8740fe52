"""What `perft.py` is made of: files with counts, and who counts."""
