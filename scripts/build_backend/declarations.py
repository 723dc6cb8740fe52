"""From typed Python to what Cython takes: each kernel module without its declarations, and these as a .pxd.

CONTRIBUTING.md states the rule, and `evaluation.base.typed` has the types. Lines keep their numbers, so what Cython
says of a line is true of the source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

TYPED = "evaluation.base.typed"
PACKAGES = ("evaluation", "uci_engine")
SIZED = ("u64", "i64", "i16", "i8")
C_TYPES = {"void": "void", "int": "int", "bool": "bint"} | {name: name for name in SIZED}
C_TYPES |= {"i32_pointer": "int*"} | {f"{name}_pointer": f"{name}*" for name in SIZED}
C_TYPES |= {"shared_int": "volatile int", "shared_i64": "volatile i64", "shared_u64_pointer": "volatile u64*"}
RANGES = {f"i{bits}": range(-(1 << bits - 1), 1 << bits - 1) for bits in (8, 16, 64)} | {"bint": range(2)}
RANGES |= {"int": range(-(1 << 31), 1 << 31), "u64": range(1 << 64)}
ARRAYS = {"ints": "int"} | {f"{name}s": name for name in SIZED}
# Words of `evaluation.base.typed` that only this program reads; the others are in the C form of that file.
WORDS = {"compiled", "gil", "inline", "nogil", *C_TYPES, *ARRAYS}


class Module:
    """A source file, and what it binds at its top."""

    def __init__(self, name: str, kernel: Kernel) -> None:
        self.name = name
        self.is_compiled = name in kernel.names
        self.path = Path(*name.split(".")).with_suffix(".py")
        self.source = (kernel.root / self.path).read_bytes()
        self.statements = ast.parse(self.source, str(self.path)).body
        self.classes = {one.name: one for one in self.statements if isinstance(one, ast.ClassDef)}
        self.functions = {one.name: one for one in self.statements if isinstance(one, ast.FunctionDef)}
        self.imports = {
            alias.asname or alias.name: (one.module, alias.name)
            for one in self.statements
            if isinstance(one, ast.ImportFrom) and one.module and one.module.split(".")[0] in PACKAGES
            for alias in one.names
        }
        self.tables = {ast.unparse(targets_of(one)[0]): call for one in self.statements if (call := array_of(one))}
        self.constants = dict(self._constants(kernel))

    def _constants(self, kernel: Kernel) -> Iterator[tuple[str, tuple[int, str]]]:
        """Each capital name that stands for a number, here or where it is imported from: its value and its C type."""
        scope: dict[str, object] = {"compiled": True, "range": range}
        for name, (origin, original) in self.imports.items():
            if original.isupper() and original in kernel.module(origin).constants:
                yield name, kernel.module(origin).constants[original]
                scope[name] = kernel.module(origin).constants[original][0]
        for one in self.statements:
            targets = [ast.unparse(name) for name in targets_of(one)]
            value = one.value if isinstance(one, (ast.Assign, ast.AnnAssign)) else None
            if value is None or not targets or not all(map(str.isupper, targets)):
                continue
            try:
                found = eval(ast.unparse(value), {"__builtins__": {}}, scope)
            except (NameError, TypeError):
                continue
            numbers = list(found) if isinstance(found, (range, tuple)) else [found]
            for name, number in zip(targets, numbers, strict=False):
                if type(number) is int and len(numbers) == len(targets):
                    scope[name] = number
                    annotation = ast.unparse(one.annotation) if isinstance(one, ast.AnnAssign) else ""
                    kinds = [C_TYPES[annotation]] if annotation in C_TYPES else ["int", "i64" if number < 0 else "u64"]
                    fitting = [kind for kind in kinds if number in RANGES[kind]]
                    if not fitting:
                        raise SystemExit(f"{self.path}:{one.lineno}: {name} does not fit into {kinds[-1]}")
                    yield name, (number, fitting[0])


class Kernel:
    """The kernel modules, and the others that they take constants and inline functions from."""

    def __init__(self, names: Sequence[str], root: Path = Path()) -> None:
        self.names = names
        self.root = root
        self.modules: dict[str, Module] = {}
        classes = [one for name in names for one in self.module(name).classes.values()]
        self.extended = {ast.unparse(base) for one in classes for base in one.bases}

    def module(self, name: str) -> Module:
        if name not in self.modules:
            self.modules[name] = Module(name, self)
        return self.modules[name]

    def is_module(self, name: str) -> bool:
        return (self.root / Path(*name.split("."))).with_suffix(".py").is_file()

    def translations(self) -> list[Translation]:
        """Of every kernel module, and every other one with inline functions.

        SystemExit, with file and line, for what the rule does not cover.
        """
        kernel = [Translation(self, self.module(name)) for name in self.names]
        others = [one for one in self.modules.values() if not one.is_compiled]
        return kernel + [Translation(self, one) for one in others if any(map(is_inline, one.functions.values()))]

    def c_type(self, module: Module, annotation: ast.expr | None) -> str | None:
        """The C type of an annotation; None for Python's other types. A class of the kernel may be `| None`."""
        name = "" if annotation is None else ast.unparse(annotation).removesuffix(" | None")
        origin, original = module.imports.get(name, (module.name, name))
        if origin in self.names and original in self.module(origin).classes:
            return name
        return C_TYPES.get(name) if isinstance(annotation, ast.Name) else None

    def is_c(self, module: Module, function: ast.FunctionDef) -> bool:
        """Whether a function is one of C."""
        arguments = function.args
        types = [one.annotation for one in arguments.args if one.arg != "self"]
        return (
            (module.is_compiled or is_inline(function))
            and not (function.decorator_list and not is_inline(function))
            and not (function.name.startswith("__") or arguments.defaults or arguments.kwonlyargs)
            and not (arguments.posonlyargs or arguments.vararg or arguments.kwarg)
            and all(self.c_type(module, one) for one in [*types, function.returns])
            and not any(
                isinstance(one, (ast.Raise, ast.Try))
                or (isinstance(one, ast.With) and ast.unparse(one.items[0]) == "nogil")
                for one in ast.walk(function)
            )
        )

    def is_of_c(self, origin: str, name: str) -> bool:
        """Whether a name of another module is for `cimport`: a module, class, function or table."""
        if f"{origin}.{name}" in self.names:
            return True
        if origin == TYPED or not self.is_module(origin):
            return origin == TYPED and name not in WORDS
        module = self.module(origin)
        if name in module.functions:
            return self.is_c(module, module.functions[name])
        return module.is_compiled and (name in module.classes or name in module.tables)


class Translation:
    """One module for Cython: `pxd`, its declarations, and `python`, the rest."""

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self.kernel = kernel
        self.module = module
        lines = module.source.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        self.edits: list[tuple[int, int, str]] = []
        self.pxd = "".join(f"{line}\n" for line in self.declarations())
        if module.is_compiled:
            self.edit_all()
        self.python = self.edited().decode()

    def write(self, folder: Path) -> None:
        """Write the files below a folder of packages, which need a file to be taken for such."""
        path = folder / self.module.path
        path.parent.mkdir(parents=True, exist_ok=True)
        for package in self.module.path.parents:
            (folder / package / "__init__.py").touch()
        path.with_suffix(".pxd").write_text(self.pxd, "utf-8")
        if self.module.is_compiled:
            path.write_text(self.python, "utf-8")

    def error(self, node: ast.stmt | ast.expr, what: str) -> SystemExit:
        return SystemExit(f"{self.module.path}:{node.lineno}: {what}")

    # The declarations -----------------------------------------------------------------------------------------------

    def declarations(self) -> Iterator[str]:
        module = self.module
        yield f"# Made by scripts/build_backend/declarations.py from {module.path.as_posix()}."
        yield "cimport cython"
        yield f"from {TYPED} cimport i8, i16, i64, u64"
        for name, (origin, original) in module.imports.items():
            if self.kernel.is_of_c(origin, original):
                yield f"from {origin} cimport {original} as {name}"
        if module.constants:
            yield "cdef extern from *:"
        for name, (number, kind) in module.constants.items():
            suffix = {"u64": "ULL", "i64": "LL"}.get(kind, "")
            yield f'    const {kind} {name} "({number}{suffix})"'
        for name, call in module.tables.items():
            yield f"cdef {self.array(call)} {name}"
        for cls in module.classes.values() if module.is_compiled else ():
            yield from self.class_declarations(cls)
        for function in module.functions.values():
            if is_inline(function):
                yield from self.inline_declarations(function)
            elif self.kernel.is_c(module, function):
                yield self.signature(function, "cdef" if function.name.startswith("_") else "cpdef")

    def class_declarations(self, cls: ast.ClassDef) -> Iterator[str]:
        is_extended = cls.name in self.kernel.extended
        if not is_extended:
            yield "@cython.final"
        plain = self.plain_bases(cls)
        bases = [ast.unparse(base) for base in cls.bases if base not in plain]
        yield f"cdef class {cls.name}({', '.join(bases)}):"
        yield '    """Fields and functions of C."""'
        for base in plain:
            origin, name = self.module.imports[ast.unparse(base)]
            for one in self.kernel.module(origin).classes[name].body:
                if isinstance(one, ast.AnnAssign):
                    kind = self.kernel.c_type(self.module, one.annotation)
                    yield f"    cdef public {kind} {ast.unparse(one.target)}"
        for one in cls.body:
            if is_field(one):
                call = array_of(one)
                annotation = one.annotation if isinstance(one, ast.AnnAssign) else None
                kind = self.array(call) if call else self.kernel.c_type(self.module, annotation) or "object"
                name = ast.unparse(targets_of(one)[0])
                is_hidden = name.startswith("_") or kind.endswith("*")
                yield f"    cdef {'' if is_hidden else 'public '}{kind} {name}"
            elif isinstance(one, ast.FunctionDef) and self.kernel.is_c(self.module, one):
                is_hidden = is_extended or one.name.startswith("_")
                yield "    " + self.signature(one, "cdef" if is_hidden else "cpdef")

    def plain_bases(self, cls: ast.ClassDef) -> list[ast.expr]:
        """The bases that are not of the kernel: only their fields are taken."""
        return [base for base in cls.bases if not self.kernel.c_type(self.module, base)]

    def array(self, call: ast.Call) -> str:
        try:
            scope: dict[str, object] = {name: number for name, (number, _) in self.module.constants.items()}
            return f"{ARRAYS[ast.unparse(call.func)]}[{eval(ast.unparse(call.args[0]), {}, scope):d}]"
        except (NameError, ValueError, IndexError):
            raise self.error(call, "the length of an array is a number or made of constants") from None

    def signature(self, function: ast.FunctionDef, word: str) -> str:
        parameters = [
            one.arg if one.arg == "self" else f"{self.kernel.c_type(self.module, one.annotation)} {one.arg}"
            for one in function.args.args
        ]
        result = self.kernel.c_type(self.module, function.returns)
        return f"{word} {result} {function.name}({', '.join(parameters)}) noexcept nogil"

    def inline_declarations(self, function: ast.FunctionDef) -> Iterator[str]:
        if not self.kernel.is_c(self.module, function):
            raise self.error(function, f"{function.name} is inline, and so needs C types throughout")
        yield self.signature(function, "cdef inline") + ":"
        begin = function.body[1 if ast.get_docstring(function) else 0].lineno
        for number in range(begin, (function.end_lineno or 0) + 1):
            line = self.module.source[self.starts[number - 1] : self.starts[number]].decode().rstrip()
            yield re.sub(r"\bcompiled\b", "cython.compiled", line)

    # The module: edits of its text ----------------------------------------------------------------------------------

    def edit_all(self) -> None:
        module = self.module
        for one in module.statements:
            if isinstance(one, ast.ImportFrom) and one.module == "__future__":
                self.replace(one, "import cython")
            elif isinstance(one, ast.ImportFrom) and one.module and one.module.split(".")[0] in PACKAGES:
                kept = [
                    ast.unparse(alias)
                    for alias in one.names
                    if not self.kernel.is_of_c(one.module, alias.name)
                    and (alias.asname or alias.name) not in module.constants
                    and one.module != TYPED
                ]
                self.replace(one, f"from {one.module} import {', '.join(kept)}" if kept else "")
            elif isinstance(one, ast.ClassDef):
                for base in self.plain_bases(one):
                    self.replace(base, "")
                for inner in one.body:
                    if is_field(inner):
                        self.replace(inner, "")
                    elif isinstance(inner, ast.FunctionDef):
                        self.edit_function(inner)
                        if one.name in self.kernel.extended and self.kernel.is_c(module, inner):
                            # So calls go straight to the code. In the .pxd it is without effect.
                            self.insert_above(inner, "    @cython.final")
            elif isinstance(one, ast.FunctionDef):
                self.edit_function(one)
            else:
                self.edit_binding(one)
            for node in ast.walk(one):
                if isinstance(node, ast.Name) and node.id in ("compiled", "gil", "nogil"):
                    self.replace(node, f"cython.{node.id}")

    def edit_binding(self, one: ast.stmt) -> None:
        names = [ast.unparse(target) for target in targets_of(one)]
        constants = self.module.constants
        call = array_of(one)
        if names and all(name in constants for name in names):
            # For Python.
            self.replace(one, f"globals().update({', '.join(f'{name}={constants[name][0]}' for name in names)})")
        elif call and len(call.args) == 1:
            self.replace(one, "")
        elif call:
            self.edit(self.start(call), self.start(call.args[1]), "(")
            self.edit(self.end(call.args[1]), self.end(call), ")")

    def edit_function(self, function: ast.FunctionDef) -> None:
        """Take an inline function out. Give others C types, those of C's parameters and results in the .pxd alone."""
        if is_inline(function):
            self.edit(self.starts[function.decorator_list[0].lineno - 1], self.end(function), "")
            return
        is_c = self.kernel.is_c(self.module, function)
        if is_c and any(isinstance(node, ast.Assert) for node in ast.walk(function)):
            raise self.error(function, f"{function.name} is a function of C, where an assert cannot be told")
        for one in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
            if one.annotation:
                kind = "" if is_c else self.in_cython(one.annotation)
                self.edit(self.start(one) + len(one.arg), self.end(one), f": {kind}" if kind else "")
        if function.returns:
            arrow = self.module.source.rindex(b" ->", 0, self.start(function.returns))
            self.edit(arrow, self.end(function.returns), "")
        for node in ast.walk(function):
            if isinstance(node, ast.AnnAssign):
                kind = self.in_cython(node.annotation)
                if not kind and not node.value:
                    raise self.error(node, "a variable without a C type has a value")
                self.edit(self.end(node.target), self.end(node.annotation), f": {kind}" if kind else "")

    def in_cython(self, annotation: ast.expr) -> str:
        """An annotation as Cython takes it in a .py file; empty for a type that is not C's."""
        name = self.kernel.c_type(self.module, annotation) or ""
        return f"cython.{name}" if name in ("int", "bint") else name

    def edited(self) -> bytes:
        text, done = b"", 0
        for start, end, new in sorted(self.edits, key=lambda edit: (edit[0], -edit[1])):
            # An edit within another one is void.
            if start >= done:
                lost = self.module.source[start:end].count(b"\n")
                text += self.module.source[done:start] + new.encode() + b"\n" * lost
                done = end
        return text + self.module.source[done:]

    def edit(self, start: int, end: int, new: str) -> None:
        self.edits.append((start, end, new))

    def replace(self, node: ast.stmt | ast.expr, new: str) -> None:
        self.edit(self.start(node), self.end(node), new)

    def insert_above(self, node: ast.stmt, new: str) -> None:
        above = self.starts[node.lineno - 2]
        if self.module.source[above : self.starts[node.lineno - 1]].strip():
            raise self.error(node, "there is an empty line above a method of this class")
        self.edit(above, above, new)

    def start(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        return self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)


def targets_of(one: ast.stmt) -> list[ast.expr]:
    """What a statement binds, when it is a single name or a tuple of names."""
    target = one.targets[0] if isinstance(one, ast.Assign) else one.target if isinstance(one, ast.AnnAssign) else None
    return list(target.elts) if isinstance(target, ast.Tuple) else [target] if isinstance(target, ast.Name) else []


def array_of(one: ast.stmt) -> ast.Call | None:
    """The call in `name = ints(…)`."""
    value = one.value if isinstance(one, ast.Assign) else None
    return value if isinstance(value, ast.Call) and ast.unparse(value.func) in ARRAYS else None


def is_field(one: ast.stmt) -> bool:
    """Whether a statement in the body of a class declares a field: `name: type` or `name = ints(length)`."""
    return array_of(one) is not None or (isinstance(one, ast.AnnAssign) and not one.value)


def is_inline(function: ast.FunctionDef) -> bool:
    return [ast.unparse(one) for one in function.decorator_list] == ["inline"]
