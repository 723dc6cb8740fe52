"""The typed Python of the kernel: C's types, arrays and instructions, as plain Python has them.

A kernel module runs as it is. To compile it, `scripts/build_backend/declarations.py` derives C declarations from its
annotations (CONTRIBUTING.md states the rule) and Cython translates both. `typed.pxd` is the C form of this file, and
the only declarations written by hand.
"""

from __future__ import annotations

import array
import contextlib
import struct
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any, TypeAlias, TypeVar

import chess

# Whole numbers of so many bits, without (u) and with a sign (i). `int` is one of at least 32 bits with a sign.
u64 = int
i64 = int
i16 = int
i8 = int
# The same for fields that threads share without a lock: each access is one read or write of memory.
shared_int = int
shared_i64 = int
# Where an array begins: C keeps an address.
i8_pointer = MutableSequence[int]
i16_pointer = MutableSequence[int]
i64_pointer = MutableSequence[int]
u64_pointer = MutableSequence[int]
shared_u64_pointer = MutableSequence[int]
# The result of a C function that gives nothing.
void: TypeAlias = None

# Whether the kernel is compiled; C code without the GIL runs under `with nogil`, and takes it under `with gil`.
compiled = False
gil = nogil = contextlib.nullcontext()

Function = TypeVar("Function", bound=Callable[..., Any])


def inline(function: Function) -> Function:
    """A short function whose C code stands where it is called. Compiled, Python cannot call it."""
    return function


class Field(list[int]):
    """An array of zeros. In the body of a class it stands for a field: each object gets a list of its own."""

    def __set_name__(self, owner: Any, name: str) -> None:
        if "array_lengths" not in vars(owner):
            owner.array_lengths = dict(getattr(owner, "array_lengths", {}))
            owner.__new__ = _new_object
        owner.array_lengths[name] = len(self)
        delattr(owner, name)


def _new_object(kind: Any, *_arguments: object) -> Any:
    new = object.__new__(kind)
    for name, length in kind.array_lengths.items():
        setattr(new, name, [0] * length)
    return new


def ints(length: int, numbers: Sequence[int] | None = None) -> list[int]:
    """An array of `int`: a field of a class, or a table of a module. A table may be given its `length` numbers."""
    if numbers is None:
        return Field([0] * length)
    if len(numbers) != length:
        raise ValueError(f"a table of {length} has {len(numbers)} numbers")
    return list(numbers)


u64s = i64s = i16s = i8s = ints


# Instructions ------------------------------------------------------------------------------------------------------


def popcount(squares: u64) -> int:
    """The number of squares in a set."""
    return squares.bit_count()


def lsb(squares: u64) -> int:
    """The lowest square of a set that is not empty."""
    return (squares & -squares).bit_length() - 1


def msb(squares: u64) -> int:
    """The highest square of a set that is not empty."""
    return squares.bit_length() - 1


def flip_vertical(squares: u64) -> u64:
    """The mirror image of a set, with the first rank as the eighth."""
    return chess.flip_vertical(squares)


# Memory ------------------------------------------------------------------------------------------------------------


def clear_i16s(numbers: i16_pointer, length: int) -> void:
    """Set the first `length` numbers to 0."""
    numbers[:length] = [0] * length


def copy_i8s(target: i8_pointer, data: bytes) -> void:
    """Copy numbers of 8 bits with a sign to the beginning of `target`."""
    target[: len(data)] = struct.unpack(f"{len(data)}b", data)


def copy_i16s(target: i16_pointer, data: bytes) -> void:
    """Copy numbers of 16 bits with a sign, the lower byte first, to the beginning of `target`."""
    target[: len(data) // 2] = struct.unpack(f"<{len(data) // 2}h", data)


def address_of(data: memoryview) -> u64:
    """Where the bytes lie, as long as the view lives. Compiled only."""
    raise NotImplementedError


def byte_at(address: u64, place: i64) -> int:
    """The byte so far behind an address. Compiled only."""
    raise NotImplementedError


def u64s_of(numbers: array.array[int]) -> u64_pointer:
    """The numbers of an array of type "Q", as long as it lives and keeps its length."""
    return numbers


def new_words(count: u64) -> shared_u64_pointer:
    """`count` words, all 0, at the beginning of a large page where the system has such pages. None without memory."""
    try:
        return array.array("Q", [0]) * count
    except MemoryError:
        return array.array("Q")


def free_words(words: shared_u64_pointer) -> void:
    """Give back what `new_words` made."""
    del words[:]


def clear_words(words: shared_u64_pointer, begin: u64, end: u64) -> void:
    """Set the words from `begin` to before `end` to 0."""
    words[begin:end] = array.array("Q", [0]) * (end - begin)


def prefetch_words(words: shared_u64_pointer, index: u64) -> void:
    """Load the words from `index` on into the cache. Only compiled."""
