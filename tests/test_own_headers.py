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
    r"^#define (\w+) (.+?)(?: /\*.*)?$",
    HEADER.split("/* The numbers of the ABI.")[1].split("/* Variables ")[0],
    re.MULTILINE,
)
NUMBERS += re.findall(r"^#define (SIZEOF_\w+|PY_SSIZE_T_\w+) (.+)$", HEADER, re.MULTILINE)

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


def test_what_it_declares_is_what_the_limited_api_has(tmp_path: Path) -> None:
    """A second declaration of another type is an error, and so is a name that Python's header does not have."""
    text = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.MULTILINE)
    # The objects None, True and False, and what is opaque, have types of their own. Only addresses are used.
    own = r"typedef struct|typedef int Py|.*_Py_NoneStruct"
    declarations = re.findall(rf"^(?!{own})[a-zA-Z][^{{}}]*?;", text, re.MULTILINE)
    names: list[str] = []
    for one in declarations:
        function = re.match(r"[^(]*?(\w+)\(", one)
        if not one.startswith("typedef"):
            names += [function[1]] if function else re.findall(r"(\w+)(?=[,;])", one)
    assert {"PyList_New", "PyNumber_Xor", "PyExc_ValueError", "PyUnicode_Type", "Py_Version", "Py_DecRef"} <= set(names)
    known = [f"__typeof__(&({name})) secateur_known_{name};" for name in names]
    equal = [*NUMBERS, *((f"sizeof({name})", "sizeof(int)") for name in ("PySendResult", "PyGILState_STATE"))]
    for body, name in STRUCTURES:
        known.append(f"struct own_{name} {{ {body} }};")
        equal.append((f"sizeof({name})", f"sizeof(struct own_{name})"))
        members = re.findall(r"(\w+)(?:\)\(void\))?;", body)
        equal += [(f"offsetof({name}, {member})", f"offsetof(struct own_{name}, {member})") for member in members]
    assert {"Py_tp_new", "METH_FASTCALL", "Py_TPFLAGS_HAVE_GC", "T_OBJECT", "SIZEOF_LONG"} <= dict(equal).keys()
    assert {name for _, name in STRUCTURES} >= {"PyObject", "PyModuleDef", "PyMethodDef", "PyType_Spec", "Py_buffer"}
    compared = [f'_Static_assert(({here}) == ({there}), "{here}");' for here, there in equal]
    source = "\n".join([LIMITED, "#include <stddef.h>", *known, *declarations, *compared])
    compile_source(source, REAL, "-c", "-o", str(tmp_path / "x.o"))


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
