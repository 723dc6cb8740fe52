"""What `speed.py` is made of: single measurements, processor time, and figures from samples."""
