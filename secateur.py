"""`python -m secateur` runs the program. `import secateur` fails, and names the package `uci_engine`."""

if __name__ == "__main__":
    from uci_engine.__main__ import program

    program()

raise ImportError("Secateur's Python package is called uci_engine: from uci_engine import Engine")
