"""The search: alpha-beta, what it remembers, and the threads that run it."""
