"""What `fuzz.py` needs: lines to say, and a state machine that says them."""
