"""The core: a board, a search and a table. `load()` (to come) chooses between the compiled and the plain one."""

# setup.py reads this tuple too, out of the source text: one line here adds a module to the compiled core.
KERNEL_MODULES = (
    "evaluation.bitboards",
    "evaluation.placement",
    "evaluation.features",
    "evaluation.evaluator",
    "uci_engine.core.position",
    "uci_engine.core.ordering",
    "uci_engine.core.table",
    "uci_engine.core.search",
)
