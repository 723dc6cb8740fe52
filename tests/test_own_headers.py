"""Secateur's Python.h, which stands in for Python's header files where they are missing, says what those say.

The compiler compares: the functions, the types and the layouts of the structures, the numbers of the ABI. Python's
headers are asked for the limited API of 3.11, so that nothing outside it can be declared. `test_build.py` compiles a
module with Secateur's header and runs it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

import pytest

from build_backend import toolchain

HEADER = (toolchain.OWN_HEADERS / "Python.h").read_text("utf-8")
REAL = Path(sysconfig.get_path("include"))
LIMITED = f"#define Py_LIMITED_API {toolchain.OLDEST_ABI}\n#include <Python.h>\n#include <structmember.h>\n"

STRUCTURES = re.findall(r"^typedef struct \w* ?\{\n(.*?)^\} (\w+);", HEADER, re.DOTALL | re.MULTILINE)
# The macros that are numbers of the ABI, and those that give the sizes of C types.
NUMBERS = re.findall(
    r"^#define (\w+) ", HEADER.split("/* The numbers of the ABI.")[1].split("/* Variables ")[0], re.MULTILINE
)
NUMBERS += re.findall(r"^#define (SIZEOF_\w+|PY_SSIZE_T_\w+) ", HEADER, re.MULTILINE)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the header is for Linux"),
    pytest.mark.skipif(not toolchain.OWN_HEADERS_FIT, reason="this Python has no stable ABI"),
]


@cache
def compiler() -> list[str]:
    if toolchain.system_compiler_problem() is not None:
        pytest.skip("no C compiler")
    if not (REAL / "Python.h").is_file():
        pytest.skip("Python's header files are not here")
    return [*shlex.split(sysconfig.get_config_var("CC")), "-x", "c", "-std=c11", "-"]


def compile_source(source: str, include: Path, *arguments: str) -> str:
    """What the compiler writes to its standard output, or to `-o`. The test fails if it complains."""
    result = subprocess.run(
        [*compiler(), f"-I{include}", *arguments], input=source, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_functions_and_variables_are_those_of_the_limited_api(tmp_path: Path) -> None:
    """A second declaration of another type is an error, and so is a name that Python's header does not have."""
    text = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.MULTILINE)
    # The objects None, True and False have types of their own. Only their addresses are used.
    declarations = re.findall(r"^(?!typedef|.*_Py_NoneStruct)[a-zA-Z][^{}]*?;", text, re.MULTILINE)
    names: list[str] = []
    for one in declarations:
        function = re.match(r"[^(]*?(\w+)\(", one)
        names += [function[1]] if function else re.findall(r"(\w+)(?=[,;])", one)
    assert {"PyList_New", "PyNumber_Xor", "PyExc_ValueError", "PyUnicode_Type", "Py_Version", "Py_DecRef"} <= set(names)
    operator = "typedef PyObject *secateur_operator(PyObject *, PyObject *);"
    known = [f"__typeof__(&({name})) secateur_known_{name};" for name in names]
    source = "\n".join([LIMITED, *known, operator, *declarations])
    compile_source(source, REAL, "-c", "-o", str(tmp_path / "x.o"))


def test_numbers_and_layouts_are_the_same(tmp_path: Path) -> None:
    """A small program prints them, once with each header."""
    assert {"Py_tp_new", "METH_FASTCALL", "Py_TPFLAGS_HAVE_GC", "T_OBJECT", "SIZEOF_LONG"} <= set(NUMBERS)
    assert {name for _, name in STRUCTURES} >= {"PyObject", "PyModuleDef", "PyMethodDef", "PyType_Spec", "Py_buffer"}
    values = [(name, f"(long long)({name})") for name in NUMBERS]
    for body, structure in STRUCTURES:
        values.append((f"sizeof {structure}", f"(long long)sizeof({structure})"))
        for member in re.findall(r"(\w+)(?:\)\(void\))?;", body):
            values.append((f"{structure}.{member}", f"(long long)offsetof({structure}, {member})"))
    for name in ("Py_ssize_t", "Py_hash_t", "Py_UCS4", "PySendResult", "PyGILState_STATE"):
        values.append((f"sizeof {name}", f"(long long)sizeof({name})"))
    prints = "\n".join(f'    printf("%s %lld\\n", "{name}", {value});' for name, value in values)
    source = f"{LIMITED}#include <stdio.h>\n#include <stddef.h>\nint main(void) {{\n{prints}\n    return 0;\n}}\n"
    printed = []
    for number, include in enumerate((REAL, toolchain.OWN_HEADERS)):
        program = tmp_path / f"program{number}"
        # No symbol of Python is used: what inline functions mention is thrown away.
        compile_source(source, include, "-O1", "-o", str(program))
        printed.append(subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())
    assert len(printed[0]) == len(values) > 100
    assert printed[1] == printed[0]


def test_the_code_of_cython_asks_for_no_macro_that_only_one_of_them_has(tmp_path: Path) -> None:
    """`#if SIZEOF_LONG > 4` is silently false where the name is unknown, and other code is compiled."""
    from Cython.Build import cythonize

    module = tmp_path / "module.py"
    module.write_text("import cython\n\n@cython.cclass\nclass One:\n    x: cython.longlong\n", "utf-8")
    cythonize(str(module), quiet=True, language_level=3)
    code = module.with_suffix(".c").read_text("utf-8")
    asked = re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)", code, re.MULTILINE)
    names = sorted({name for line in asked for name in re.findall(r"\b[A-Z]\w+", line)})
    names = [name for name in names if re.match("Py|PY|METH_|SIZEOF_|HAVE_", name)]
    assert len(names) > 30
    questions = "".join(f"#ifdef {name}\nIT_HAS {name[:2]}##{name[2:]}\n#endif\n" for name in names)
    has = [
        {line for line in compile_source(LIMITED + questions, include, "-E", "-P").splitlines() if "IT_HAS" in line}
        for include in (REAL, toolchain.OWN_HEADERS)
    ]
    assert len(has[0]) > 10
    assert has[1] == has[0]
