"""The table of options in GUIS.md, made from `uci_engine.options`. A test compares the two.

    python -m tests.support.options_table

writes it again.
"""

from __future__ import annotations

import re

from tests.support import ROOT
from uci_engine.options import Option, Options

GUIDE = ROOT / "GUIS.md"
HEAD = "| option | default | values | meaning |\n|---|---|---|---|\n"


def row(option: Option) -> str:
    _, _, rest = option.declaration().partition(" default ")
    default, _, bounds = rest.partition(" min ")
    values = bounds.replace(" max ", " to ") or option.type_name
    return f"| `{option.name}` | {default and f'`{default}`'} | {values} | {option.help} |\n"


def table() -> str:
    """All options that a GUI sees, in the order in which the engine declares them."""
    return HEAD + "".join(row(option) for option in Options())


def found() -> str:
    """The table that stands in the guide."""
    tables = re.findall(rf"^{re.escape(HEAD)}(?:\|.*\n)*", GUIDE.read_text("utf-8"), re.MULTILINE)
    return str(tables[0])


if __name__ == "__main__":
    GUIDE.write_text(GUIDE.read_text("utf-8").replace(found(), table()), "utf-8")
