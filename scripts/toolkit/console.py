"""What every program reads from its command line, shows and writes, and how it ends.

Results go to stdout and progress to stderr, so that each can be redirected alone. Where stderr is no terminal, progress
is a line now and then. A file is replaced whole or not at all.

Invariant: text from outside (names in a PGN, what an engine says) is shown in printable characters alone, so that none
of it can steer the terminal.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evaluation.files import replaced
from toolkit.errors import ProgramError, sentence
from uci_engine.text import printable

Number = TypeVar("Number", int, float)

# The exit code of a program that was interrupted, as shells have it.
INTERRUPTED = 130
# How often progress is told where it cannot be redrawn.
PLAIN_SECONDS = 10.0
# Wide enough for our tables where nobody can ask the terminal.
FILE_WIDTH = 200


class Advance(Protocol):
    """Tells progress that `steps` more are done, and perhaps something new to show beside it."""

    def __call__(self, steps: int = 1, text: str | None = None) -> None: ...


def standard_output() -> Console:
    """The console of results: as wide as the terminal, or wide enough; it colours nothing by itself."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else FILE_WIDTH)


def standard_error() -> Console:
    """The console of progress and complaints."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else FILE_WIDTH)


def run_program(main: Callable[[], int]) -> NoReturn:
    """Run a program and leave with its exit code: 2 for what cannot be used, INTERRUPTED after an interrupt."""
    try:
        code = main()
    except KeyboardInterrupt:
        complain("interrupted")
        code = INTERRUPTED
    except (ProgramError, OSError) as error:
        complain(error)
        code = 2
    sys.exit(code)


def run_to_end(work: Callable[[], object], errors: tuple[type[Exception], ...] = ()) -> int:
    """Do work that takes long, so that a report can follow.

    Returns the exit code: 0, INTERRUPTED, or 1 for a ProgramError, an OSError or one of `errors`. Each but the first
    comes with its complaint.
    """
    expected: tuple[type[Exception], ...] = (ProgramError, OSError, *errors)
    try:
        work()
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except expected as error:
        complain(error)
        return 1
    return 0


def _bounded(kind: type[Number], least: float, most: float, name: str) -> Callable[[str], Number]:
    """A reader of numbers from a command line, within bounds."""

    def read(word: str) -> Number:
        with contextlib.suppress(ValueError):
            number = kind(word)
            if least <= number <= most:
                return number
        raise argparse.ArgumentTypeError(f"{word} is not a {name}")

    return read


at_least_zero = _bounded(int, 0, math.inf, "whole number from 0 up")
at_least_one = _bounded(int, 1, math.inf, "whole number from 1 up")
not_negative = _bounded(float, 0, sys.float_info.max, "number from 0 up")
above_zero = _bounded(float, sys.float_info.min, sys.float_info.max, "number above 0")
share = _bounded(float, 0, 1, "number from 0 to 1")
finite = _bounded(float, -sys.float_info.max, sys.float_info.max, "number")


def read_numbers(words: Iterable[str], defaults: Mapping[str, float]) -> dict[str, float]:
    """Numbers by name, from words like `moves=4 both=yes`. Raises ProgramError.

    defaults: of what the words do not say; NaN for what they have to say.
    """
    values = dict(defaults)
    for word in words:
        key, _, value = word.partition("=")
        try:
            values[key] = finite({"yes": "1", "no": "0"}.get(value, value))
        except argparse.ArgumentTypeError as error:
            raise ProgramError(f"{word!r}: {error}") from None
        if key not in defaults:
            raise ProgramError(f"{word!r} is none of {', '.join(f'{key}=NUMBER' for key in defaults)}")
    for key, number in values.items():
        if math.isnan(number):
            raise ProgramError(f"{key}= is missing")
    return values


def three_shares(word: str) -> tuple[float, ...]:
    """The shares of train, validation and test, from a command line."""
    numbers = word.split(",")
    if len(numbers) != 3 or not all(number.isdecimal() and int(number) for number in numbers):
        raise argparse.ArgumentTypeError(f"{word!r} is not three shares, as 90,5,5")
    return tuple(map(float, numbers))


def new_file(word: str) -> Path:
    """A file that a program is to write, from a command line: its folder is there, and it is no folder itself."""
    path = Path(word)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is a folder")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def add_run_arguments(parser: argparse.ArgumentParser, journal: str = "what --resume needs") -> None:
    """The options of what takes long: how many at a time and where, what is kept, and going on.

    journal: what is said of --journal; without it there are no options to go on.
    """
    run = parser.add_argument_group("running and results")
    run.add_argument("--concurrency", type=at_least_one, default=1, metavar="N", help="how many at a time (1)")
    run.add_argument("--cluster", metavar="ADDRESS", help="work on the workers of this Dask scheduler instead")
    if journal:
        run.add_argument("--journal", type=new_file, metavar="FILE", help=journal)
        run.add_argument("--resume", action="store_true", help="go on from the journal, if there is one")
    run.add_argument("--json", type=new_file, metavar="FILE", help="write the results")


def say(sentence: str) -> None:
    """One line on stdout: what is not printable is escaped, and brackets are no markup."""
    standard_output().print(printable(sentence), markup=False, soft_wrap=True)


def note(sentence: str) -> None:
    """One line on stderr, as `say` has it."""
    standard_error().print(printable(sentence), markup=False, soft_wrap=True)


def complain(problem: str | Exception) -> None:
    """One line on stderr about what went wrong."""
    note(f"error: {sentence(problem) if isinstance(problem, Exception) else problem}")


@contextlib.contextmanager
def show_progress(what: str, total: int | None, done: int = 0) -> Iterator[Advance]:
    """Show how much of `total` steps is done while the block runs; None for a total that is not known."""
    console = standard_error()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    told = time.monotonic()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(what, total=total, completed=done, text="")

        def advance(steps: int = 1, text: str | None = None) -> None:
            nonlocal told
            if text is not None:
                progress.update(bar, text=printable(text))
            progress.advance(bar, steps)
            if not console.is_terminal and (time.monotonic() - told >= PLAIN_SECONDS or progress.finished):
                told = time.monotonic()
                console.print(progress.get_renderable())

        yield advance


def make_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose first column stands to the left, the others to the right. The cells are plain text."""
    table = Table(title=Text(printable(title)) if title else None, title_justify="left")
    for number, name in enumerate(head):
        table.add_column(Text(printable(name)), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def write_json(path: Path, data: Any) -> None:
    """Write data as JSON: afterwards the file is all new, or all old when an exception comes (OSError, TypeError)."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    with replaced(path) as file:
        file.write(f"{text}\n".encode())
