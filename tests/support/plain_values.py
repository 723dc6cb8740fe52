"""What the kernel modules hold as plain Python, for a comparison with their C declarations."""

from __future__ import annotations

from importlib import import_module

from uci_engine.core import KERNEL_MODULES


def plain_values() -> dict[str, int]:
    """The constants and the lengths of tables and fields of every kernel module, as plain Python has them."""
    found = {}
    for name in KERNEL_MODULES:
        module = import_module(name)
        for key, value in vars(module).items():
            if isinstance(value, int):
                found[f"{name}.{key}"] = value
            elif isinstance(value, list):
                found[f"{name}.{key}"] = len(value)
            elif isinstance(value, type) and value.__module__ == name:
                lengths = getattr(value, "array_lengths", {})
                found |= {f"{name}.{key}.{field}": length for field, length in lengths.items()}
    return found
