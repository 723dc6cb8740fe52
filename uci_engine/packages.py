"""Whether `evaluation` is the package that belongs to this program. Another file of that name may hide it.

The check comes before the first import of the package, so that nothing of the other file runs.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

OWN_FILE = Path(__file__).parents[1] / "evaluation" / "__init__.py"


def require_own_evaluation() -> None:
    """ImportError, with one sentence for the user, when Python finds another `evaluation` than that of this program."""
    found = _place()
    if found is None:
        raise ImportError(f"the package 'evaluation' is missing beside {OWN_FILE.parents[1] / 'uci_engine'}")
    if found.resolve() != OWN_FILE.resolve():
        place = found.parent if found.name == "__init__.py" else found
        raise ImportError(
            f"{place} hides the package 'evaluation', which this program needs: rename it, or remove its folder from "
            "Python's path"
        )


def _place() -> Path | None:
    """The file that `import evaluation` gives, or None."""
    if loaded := sys.modules.get("evaluation"):
        name = getattr(loaded, "__file__", None)
    else:
        spec = importlib.util.find_spec("evaluation")
        name = None if spec is None else spec.origin
    return None if name is None else Path(name)
