"""What stands both in a .pxd file and in the .py beside it: constants, array lengths, inline functions."""

from __future__ import annotations

import random
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.kernel import on_core
from uci_engine.core import load

DECLARATIONS = sorted(path for package in ("evaluation", "uci_engine") for path in (ROOT / package).rglob("*.pxd"))
ENUM = re.compile(r"^cdef enum:.*\n((?:    .*\n)+)", re.MULTILINE)
MACRO = re.compile(r"^ +#define SECATEUR_([A-Z_]+) (0x[0-9A-F]+)ULL$", re.MULTILINE)
ARRAY = re.compile(r"^( *)cdef (?:\w+ )*(\w+)\[([^\]]+)\] (\w+)", re.MULTILINE)
CLASS = re.compile(r"^cdef class (\w+)", re.MULTILINE)
INLINE = re.compile(r"^cdef inline int (\w+)\((int|u64) (\w+)\) noexcept nogil:\n    return (.+)\n", re.MULTILINE)


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def constants(path: Path) -> dict[str, int]:
    """The enumerators and the 64-bit macros of a .pxd file, by name."""
    text = path.read_text("utf-8")
    found: dict[str, int] = {}
    for block in ENUM.findall(text):
        for line in block.splitlines():
            name, _, value = line.partition("#")[0].partition("=")
            found[name.strip()] = eval(value, {}, found)
    return found | {name: int(value, 16) for name, value in MACRO.findall(text)}


def arrays(path: Path) -> dict[str, int]:
    """The lengths of the C arrays that a .pxd file declares: by name, those of a class by class and name."""
    text = path.read_text("utf-8")
    numbers = {name: value for other in DECLARATIONS for name, value in constants(other).items()}
    found = {}
    for match in ARRAY.finditer(text):
        owner = [one[1] for one in CLASS.finditer(text, 0, match.start())][-1:] if match[1] else []
        found[".".join([*owner, match[4]])] = int(eval(match[3], {}, numbers))
    return found


def plain_values() -> dict[str, Any]:
    """The integers and list lengths of every module with declarations. To be called on the interpreted core."""
    from tests.support.kernel import searcher
    from tests.support.networks import random_network
    from uci_engine.search.factory import new_correction

    core = load()
    # The searcher has no correction while that is off.
    correction = core.modules["evaluation.correction.correction"].Correction(new_correction(core, random_network(0)))
    values: dict[str, Any] = {}
    waiting = [searcher(), correction]
    objects: dict[str, Any] = {}
    while waiting:
        one = waiting.pop()
        if type(one).__name__ not in objects:
            objects[type(one).__name__] = one
            waiting += [value for value in vars(one).values() if hasattr(value, "__dict__")]
    for path in DECLARATIONS:
        module = import_module(module_name(path))
        for name in constants(path):
            values[f"{module_name(path)}.{name}"] = getattr(module, name)
        for name in arrays(path):
            owner, _, attribute = name.rpartition(".")
            holder = objects.get(owner) if owner else module
            # Some tables exist only compiled.
            if hasattr(holder, attribute):
                values[f"{module_name(path)}.{name}"] = len(getattr(holder, attribute))
    return values


@cache
def plain() -> dict[str, Any]:
    found: dict[str, Any] = on_core("interpreted", __name__, "plain_values")
    return found


@pytest.mark.parametrize("path", DECLARATIONS, ids=module_name)
def test_constants_and_array_lengths_agree(path: Path) -> None:
    assert path.with_suffix(".py").is_file()
    declared = {f"{module_name(path)}.{name}": value for name, value in (constants(path) | arrays(path)).items()}
    assert declared == {name: plain().get(name, value) for name, value in declared.items()}
    assert not [name for name in constants(path) if f"{module_name(path)}.{name}" not in plain()]


def test_the_declarations_were_found() -> None:
    names = {name for path in DECLARATIONS for name in constants(path) | arrays(path)}
    assert {"EN_PASSANT", "EXACT", "KNIGHT_MIXER", "Position.keys", "Searcher.pv_table", "SEE_VALUES"} <= names
    assert "uci_engine.board.position.Position.keys" in plain()
    assert "uci_engine.search.search.Searcher.pv_table" in plain()
    assert "evaluation.correction.correction.Correction.sums" in plain()
    assert "evaluation.correction.weights.CorrectionWeights.hidden" in plain()


def test_inline_functions_are_those_of_the_plain_module() -> None:
    generator = random.Random(1)
    compared = 0
    for path in DECLARATIONS:
        module_text = path.with_suffix(".py").read_text("utf-8")
        for name, kind, argument, expression in INLINE.findall(path.read_text("utf-8")):
            body = re.search(rf"def {name}\({argument}: int\) -> int:\n +\"\"\".*\"\"\"\n +return (.+)\n", module_text)
            assert body is not None, f"{path}: {name}"
            scope = constants(path)
            for _ in range(100):
                value = generator.randrange(1 << (16 if kind == "int" else 64))
                declared = eval(expression.replace("<int>", ""), scope | {argument: value})
                assert declared == eval(body[1], scope | {argument: value}), f"{path}: {name}"
            compared += 1
    assert compared >= 9


@pytest.mark.parametrize("field", ["stop_requested", "nodes", "current_move", "current_move_number"])
def test_what_threads_share_without_a_lock_is_volatile(field: str) -> None:
    text = (ROOT / "uci_engine" / "search" / "search.pxd").read_text("utf-8")
    assert re.search(rf"^    cdef readonly volatile \w+ {field}$", text, re.MULTILINE)
