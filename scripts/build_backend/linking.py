"""The kernel's library: the C code of its modules, changed so that they call each other without a pointer, and its own.

The library holds the addresses of the functions that initialise its modules. The extension file of a module calls one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

# The table of a class's functions: its name, and the declarations in it.
CLASS = re.compile(r"^struct __pyx_vtabstruct_(\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\(\(struct __pyx_vtabstruct_(\w+) \*\)[\w>.-]+__pyx_vtab\)->(__pyx_base\.)?(\w+)\(")
# What a subclass puts into the table of its base.
OVERRIDE = re.compile(r"__pyx_vtable_\w+\.(?:__pyx_base\.)+(\w+) = \(")
# What would be left of a pointer to another module.
POINTER = re.compile(
    r"__pyx_vtab\)->\w+\(|^static (?!.*found__pyx_f_).*\(\*__pyx_f_.*|^#define __pyx_v_.*", re.MULTILINE
)
REPLACED = {
    # The functions and tables of a module are for the others, too.
    r"^static (?!CYTHON_INLINE)([^\n(=;]*?__pyx_f_\w+\()": r"\1",
    r"^static ([^\n(=]*?__pyx_v_\w+\[\w+\];)": r"\1",
    # The pointers to those of others are looked up, but no longer used.
    r"^static (.*?)\(\*(__pyx_f_\w+)\)(\(.*\))": r"\1\2\3; static \1(*found\2)\3",
    r"\(void \(\*\*\)\(void\)\)&(__pyx_f_)": r"(void (**)(void))&found\1",
    r"^(static (.*?)\(\*__pyx_vp_(\w+)\)(\[\w+\]) = 0;)\n#define .*": r"\1 extern \2 __pyx_v_\3\4;",
}


def library_code(modules: Sequence[str]) -> str:
    """The C code of a library, beside that of its modules."""
    names = [module.rpartition(".")[2] for module in modules]
    declarations = "\n".join(f"PyMODINIT_FUNC PyInit_{name}(void);" for name in names)
    add = 'PyModule_AddObject(module, "{0}", PyCapsule_New((void *)PyInit_{0}, NULL, NULL))'
    return f"""#include <Python.h>
{declarations}
static int fill(PyObject *module) {{ return {" || ".join(map(add.format, names))}; }}
static PyModuleDef_Slot slots[] = {{{{Py_mod_exec, (void *)fill}}, {{0, NULL}}}};
static PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "kernel", NULL, 0, NULL, slots, NULL, NULL, NULL}};
PyMODINIT_FUNC PyInit_kernel(void) {{ return PyModuleDef_Init(&definition); }}
"""


def module_code(module: str, library: str) -> str:
    """The C code of the extension file of a module."""
    name = module.rpartition(".")[2]
    return f"""#include <Python.h>
PyMODINIT_FUNC PyInit_{name}(void) {{
    PyObject *library = PyImport_ImportModule("{library}");
    PyObject *begin = library ? PyObject_GetAttrString(library, "{name}") : NULL;
    return begin ? ((PyObject *(*)(void))PyCapsule_GetPointer(begin, NULL))() : NULL;
}}
"""


def direct(code: str, source: str) -> str:
    """The C code of a module with plain calls and tables. `source`: the file that an error names.

    SystemExit: a C function is overridden, which a plain call would pass by, or Cython writes what is not known here.
    """
    if override := OVERRIDE.search(code):
        raise SystemExit(f"{source}: {override[1]} is a C function of a base class, and cannot be overridden")
    for old, new in REPLACED.items():
        code = re.sub(old, new, code, flags=re.MULTILINE)
    bases = {name: base[1] for name, body in CLASS.findall(code) if (base := re.search(r"_vtabstruct_(\w+)", body))}

    def declared(cls: re.Match[str]) -> str:
        functions = "\n".join(line for line in cls[2].splitlines() if "(*" in line)
        return cls[0] + "\n" + re.sub(r"\(\*(\w+)\)", lambda one: _function(cls[1], one[1]), functions)

    code = CLASS.sub(declared, code)
    code = CALL.sub(lambda call: _function(bases[call[1]] if call[2] else call[1], call[3]) + "(", code)
    if left := POINTER.search(code):
        raise SystemExit(f"{source}: Cython writes C in a form that {Path(__file__).name} does not know: {left[0]}")
    return code


def _function(cls: str, name: str) -> str:
    """Cython's name for a C function of a class."""
    module, _, short = cls.rpartition("_")
    return f"__pyx_f_{module}_{len(short)}{short}_{name}"
