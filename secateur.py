"""Says how Secateur's package is called, to those who look for it under the name of the program.

`python -m secateur` runs the program.
"""

if __name__ == "__main__":
    from uci_engine.__main__ import program

    program()

raise ImportError("Secateur's Python package is called uci_engine: from uci_engine import Engine")
