"""What `fuzz.py` is made of: lines to say, a state machine that says them, and shrinking."""
