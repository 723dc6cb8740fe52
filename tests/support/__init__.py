"""What several tests share, and where things are."""

from __future__ import annotations

from pathlib import Path

SUPPORT = Path(__file__).parent
ROOT = SUPPORT.parents[1]
SCRIPTS = ROOT / "scripts"
TABLES = SUPPORT / "tables"
