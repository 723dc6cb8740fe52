"""The step of the build that derives C declarations from typed Python: its rule, and what it makes of the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_backend.declarations import Kernel, Translation
from tests.support import ROOT
from uci_engine.core import KERNEL_MODULES

BASE = '''\
"""The base."""

from __future__ import annotations

from evaluation.base.typed import compiled, i64, inline, ints, nogil, shared_int, u64, u64s, void
from uci_engine.numbers import MARGIN, PLIES, Settings

LEFT, RIGHT = range(2)
SIZE = 2 * PLIES + MARGIN
HALF: i64 = 1 << 31
ALL = (1 << 64) - 1
TABLE = ints(3, [number * number for number in range(3)])


@inline
def low(bits: u64) -> u64:
    """The lowest bit."""
    if compiled:
        return bits & (ALL ^ (bits - 1))
    else:
        return bits & -bits


class Base:
    """It is extended."""

    sets = u64s(SIZE)

    def count(self, by: int) -> int:
        return by


class Counter(Base, Settings):
    """It is final."""

    number: int
    owner: list[int]
    asked: shared_int
    _hidden: u64

    def __init__(self, owner: list[int]) -> None:
        self.owner = owner

    def next(self, is_odd: bool) -> int:
        step: int = 1 if is_odd else 2
        self.number += step
        return self.number

    def _private(self, other: Counter | None) -> bool:
        return other is not None

    def forget(self) -> void:
        self.number = 0

    def restart(self) -> None:
        self.forget()

    def many(self, times: int = 1) -> int:
        names: list[str] = []
        with nogil:
            self.next(True)
        return times + len(names)
'''
NUMBERS = "PLIES = 64\nMARGIN = PLIES // 16\n\n\nclass Settings:\n    depth: int = PLIES\n"


def translate(root: Path, source: str = BASE) -> Translation:
    (root / "uci_engine").mkdir(exist_ok=True)
    (root / "uci_engine" / "numbers.py").write_text(NUMBERS)
    (root / "uci_engine" / "base.py").write_text(source)
    (translation,) = Kernel(["uci_engine.base"], root).translations()
    return translation


DECLARED = {
    'const int LEFT "(0)"',
    'const int RIGHT "(1)"',
    'const int PLIES "(64)"',
    'const int SIZE "(132)"',
    'const i64 HALF "(2147483648LL)"',
    'const u64 ALL "(18446744073709551615ULL)"',
    "cdef int[3] TABLE",
    "cdef inline u64 low(u64 bits) noexcept nogil:",
    "if cython.compiled:",
    "return bits & (ALL ^ (bits - 1))",
    "cdef class Base():",
    "cdef public u64[132] sets",
    "cdef int count(self, int by) noexcept nogil",
    "cdef class Counter(Base):",
    "cdef public int depth",
    "cdef public int number",
    "cdef public object owner",
    "cdef public volatile int asked",
    "cdef u64 _hidden",
    "cpdef int next(self, bint is_odd) noexcept nogil",
    "cdef bint _private(self, Counter other) noexcept nogil",
    "cpdef void forget(self) noexcept nogil",
}


def test_what_is_declared_and_what_is_left_to_python(tmp_path: Path) -> None:
    pxd = translate(tmp_path).pxd
    assert not DECLARED - {line.strip() for line in pxd.splitlines()}
    assert not [name for name in ("__init__", "restart", "many") if f" {name}(" in pxd]


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    python = translate(tmp_path).python.splitlines()
    for old, new in (
        ("TABLE = ints(3, [", "TABLE = ([number * number for number in range(3)])"),
        ("class Counter(", "class Counter(Base, ):"),
        ("step: int", "        step: cython.int = 1 if is_odd else 2"),
        ("def many", "    def many(self, times: cython.int = 1):"),
        ("names: ", "        names = []"),
        ("with nogil", "        with cython.nogil:"),
    ):
        assert python[BASE[: BASE.index(old)].count("\n")] == new


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("ints(3, [", "ints(width, [", "the length of an array is a number or made of constants"),
        ("def low(bits: u64)", "def low(bits)", "low is inline, and so needs C types throughout"),
        ("names: list[str] = []", "names: list[str]", "a variable without a C type has a value"),
        ("HALF: i64 = 1 << 31", "HALF: i16 = 1 << 31", "HALF does not fit into i16"),
        ("        return by\n", "        assert by\n        return by\n", "count is a function of C, where"),
        ("\n    def count", "    def count", "there is an empty line above a method of this class"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert BASE.count(old) == 1
    source = BASE.replace(old, new)
    with pytest.raises(SystemExit) as error:
        translate(tmp_path, source)
    path, line, told = str(error.value).split(":", 2)
    assert path == "uci_engine/base.py"
    assert told.startswith(f" {sentence}")
    assert new.strip() in "".join(source.splitlines(keepends=True)[int(line) - 1 :][:3])


@pytest.mark.parametrize("field", ["stop_requested", "nodes", "current_move", "current_move_number"])
def test_what_threads_share_without_a_lock_is_volatile(field: str) -> None:
    kernel = Kernel(KERNEL_MODULES, ROOT)
    pxd = Translation(kernel, kernel.module("uci_engine.search.search")).pxd
    (line,) = [line for line in pxd.splitlines() if line.endswith(f" {field}")]
    assert line.startswith("    cdef public volatile ")
