"""The step of the build that derives C declarations from typed Python: what it makes of the kernel, and its rule."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from build_backend.declarations import Kernel, Translation
from tests.support import ROOT
from uci_engine.core import KERNEL_MODULES

BASE_BOARD = Path("evaluation", "base", "base_board.py")
# Of each kind one: constants, a table, fields, functions of C for Python and without it.
DECLARED = {
    "evaluation.base.bitboards": {
        'const u64 ALL "(18446744073709551615ULL)"',
        "cdef u64[4096] LINE",
        "cdef inline u64 bishop_attacks(int square, u64 occupied) noexcept nogil:",
        "if cython.compiled:",
    },
    "evaluation.base.base_board": {
        'const int PIECES "(896)"',
        "cdef class BaseBoard():",
        "cdef public i64 score",
        "cdef public i64[14336] piece_square",
        "cdef void put(self, int piece, int square) noexcept nogil",
        "cdef inline i64 weight_of(BaseBoard board, int index) noexcept nogil:",
    },
    "evaluation.evaluator": {
        'const i64 HALF "(2147483648LL)"',
        "cdef public Inference network",
        "cpdef int taper(self, BaseBoard board, i64 packed) noexcept nogil",
        "cdef i64 _material_total(self, BaseBoard board) noexcept nogil",
    },
    "uci_engine.board.position": {
        "cdef class Position(BaseBoard):",
        "cpdef bint is_draw(self, int ply) noexcept nogil",
    },
    "uci_engine.search.stack": {'const int NO_SCORE "(-32002)"', "cpdef void clear(self) noexcept nogil"},
    "uci_engine.search.search": {
        # What threads share without a lock.
        *(f"cdef public volatile int {name}" for name in ("stop_requested", "current_move", "current_move_number")),
        "cdef public volatile i64 nodes",
        # Of a base class outside the kernel.
        "cdef public int lmr_base",
        "cdef public TranspositionTable table",
    },
}


@pytest.mark.parametrize("module", DECLARED)
def test_what_is_declared_and_what_is_left_to_python(module: str) -> None:
    kernel = Kernel(KERNEL_MODULES, ROOT)
    pxd = Translation(kernel, kernel.module(module)).pxd
    assert not DECLARED[module] - {line.strip() for line in pxd.splitlines()}
    assert not [name for name in ("__init__", "set_pieces", "configure") if f" {name}(" in pxd]


def translated(root: Path) -> str:
    """The Python of the base board that Cython gets."""
    kernel = Kernel(KERNEL_MODULES, root)
    return Translation(kernel, kernel.module("evaluation.base.base_board")).python


def test_lines_keep_their_numbers() -> None:
    python, source = translated(ROOT).splitlines(), (ROOT / BASE_BOARD).read_text("utf-8")
    for old, new in (
        ("MATERIAL_OF = ", "MATERIAL_OF = ([1 << 4 * piece for piece in range(14)])"),
        ("    def __init__", "    def __init__(self, piece_square):"),
        ("        index: int\n        for index in range(7)", "        index: cython.int"),
        ("    def set_squares", "    def set_squares(self, pieces, turn: cython.int):"),
    ):
        assert python[source[: source.index(old)].count("\n")] == new


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("u64s(7)", "u64s(width)", "the length of an array is a number or made of constants"),
        ("board: BaseBoard, index: int", "board: BaseBoard, index", "weight_of is inline, and so needs C types"),
        ("after = ", "after: str\n        after = ", "a variable without a C type has a value"),
        ("PHASE_OF = ", "HALF: i16 = 1 << 31\nPHASE_OF = ", "HALF does not fit into i16"),
        ("kings = ", "assert self\n        kings = ", "update_king_tables is a function of C, where"),
        ("\n    def shift", "    def shift", "there is an empty line above a method of this class"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    for package in ("evaluation", "uci_engine"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so"))
    source = (ROOT / BASE_BOARD).read_text("utf-8")
    assert source.count(old) == 1
    (tmp_path / BASE_BOARD).write_text(source.replace(old, new), "utf-8")
    with pytest.raises(SystemExit) as error:
        translated(tmp_path)
    path, line, told = str(error.value).split(":", 2)
    assert path == BASE_BOARD.as_posix()
    assert told.startswith(f" {sentence}")
    lines = source.replace(old, new).splitlines(keepends=True)
    assert new.strip().partition("\n")[0] in "".join(lines[int(line) - 1 :][:3])
