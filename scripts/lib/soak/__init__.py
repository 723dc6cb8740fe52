"""What `soak.py` is made of: a game of engines under questioning, and a machine kept busy."""
