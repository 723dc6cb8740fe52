"""Secateur, a UCI chess engine: the protocol, the clock and the search, over either of two boards.

`uci_engine.engine.Engine` is the engine as an object; `python -m uci_engine` is the program. Nothing is imported
here, because every start of the program passes through this file.
"""

__version__ = "0.1.0"
