"""What is expected of weights before any position was seen: the regularisation, as a table.

A prior says that some differences are about as large as `cp`: to the start weights, between mirror images of a board,
between neighbours in a table, or to another term's table, which it corrects. A difference d adds (d / cp)² / 2 to the
sum of the losses, so that positions soon outweigh it where there are many, and it decides where there are none. All
rows that fit a term add up.

With 1.46 million positions and 21 500 weights the rows below ended at a loss of 0.47960 on held-back games. START
priors of 30 for small terms and of 4, 8, 16 for large tables ended at 0.48118, 0.48068, 0.48033, and 100 with 16 at
0.47988.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

import numpy as np
from scipy import sparse

from evaluation.catalogue import CATALOGUE, Term
from lib.errors import ProgramError
from lib.training.examples import Floats
from lib.training.piece_counts import COLUMNS, OFFSETS

START, MIRROR, NEIGHBOUR = "start", "mirror", "neighbour"
KINDS: Final = (START, MIRROR, NEIGHBOUR)
PRIOR_SYNTAX: Final = (
    "'terms=*_squares kind=mirror cp=20 [size=N]'; size is the least number of weights of a term; kind is start, "
    "mirror (files a to h, of tables by square), neighbour (the next number of a table) or the name of a term of the "
    "same size, or of 64 squares repeated"
)


@dataclass(frozen=True)
class Prior:
    """One row of the table. `terms`: a pattern of names. `kind`: one of KINDS, or the name of a term. `min_size`: of
    the terms, in weights.
    """

    terms: str
    kind: str
    cp: float
    min_size: int = 1

    def __str__(self) -> str:
        return f"terms={self.terms} kind={self.kind} cp={self.cp:g} size={self.min_size}"

    def fits(self, term: Term) -> bool:
        """Whether it is about this term. Material is fixed."""
        return fnmatchcase(term.name, self.terms) and term.size >= self.min_size and term.name != "material"


# The later row decides where two have the same terms, kind and size.
PRIORS: Final = (
    Prior("*", START, 300.0),
    Prior("*", START, 16.0, min_size=512),
    # Almost all positions with a bare king are left out, because their scores are too high.
    Prior("mop_up_*", START, 0.01),
    Prior("*_squares", MIRROR, 15.0),
    Prior("*_mobility", NEIGHBOUR, 15.0),
    Prior("king_attack", NEIGHBOUR, 20.0),
)


def parse_prior(text: str) -> Prior:
    """A Prior from words like PRIOR_SYNTAX. Raises ProgramError."""
    names = {term.name for term in CATALOGUE}
    try:
        words = dict(word.split("=", 1) for word in shlex.split(text))
        prior = Prior(words.pop("terms"), words.pop("kind"), float(words.pop("cp")), int(words.pop("size", 1)))
    except (ValueError, KeyError) as error:
        raise ProgramError(f"--prior {text!r} is not like {PRIOR_SYNTAX} ({error})") from None
    if words or prior.kind not in (*KINDS, *names) or not 0 < prior.cp < float("inf"):
        raise ProgramError(f"--prior {text!r} is not like {PRIOR_SYNTAX}")
    if not any(prior.fits(term) for term in CATALOGUE):
        raise ProgramError(f"--prior {text!r}: there is no such term")
    return prior


class Penalty:
    """The priors of a run. With many weights it costs little beside the positions."""

    def __init__(self, priors: Sequence[Prior], start: Floats) -> None:
        """Raises ProgramError for a prior that its terms do not fit."""
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        centre: list[Floats] = []
        for prior in {(prior.terms, prior.kind, prior.min_size): prior for prior in priors}.values():
            for column, other in _differences(prior):
                row = len(centre)
                rows.append(row)
                columns.append(column)
                values.append(1 / prior.cp)
                if other >= 0:
                    rows.append(row)
                    columns.append(other)
                    values.append(-1 / prior.cp)
                    centre.append(np.zeros(2))
                else:
                    centre.append(start[column] / prior.cp)
        self._matrix: Any = sparse.csr_matrix((values, (rows, columns)), shape=(len(centre), COLUMNS))
        self._centre = np.array(centre).reshape(-1, 2)

    def loss(self, weights: Floats) -> float:
        """What it adds to the sum of the losses."""
        return float(((self._matrix @ weights - self._centre) ** 2).sum() / 2)

    def gradient(self, weights: Floats) -> Floats:
        """By the weights."""
        return np.asarray(self._matrix.T @ (self._matrix @ weights - self._centre))


def _differences(prior: Prior) -> Iterator[tuple[int, int]]:
    """The columns of each difference; -1 stands for the start weight."""
    terms = {term.name: term for term in CATALOGUE}
    for term in CATALOGUE:
        if not prior.fits(term):
            continue
        first = OFFSETS[term.name]
        if prior.kind == START:
            yield from ((first + index, -1) for index in range(term.size))
        elif prior.kind == MIRROR:
            if term.size % 64:
                raise ProgramError(f"--prior {prior}: {term.name} is no table by square")
            yield from ((first + index, first + (index ^ 7)) for index in range(term.size) if index & 4)
        elif prior.kind == NEIGHBOUR:
            yield from ((first + index, first + index + 1) for index in range(term.size - 1))
        else:
            yield from _towards(term, terms[prior.kind], prior)


def _towards(term: Term, other: Term, prior: Prior) -> Iterator[tuple[int, int]]:
    """Each number of a term towards that of another; a smaller table is repeated."""
    if term.size % other.size or term.name == other.name:
        raise ProgramError(f"--prior {prior}: {term.name} and {other.name} do not fit")
    for index in range(term.size):
        yield OFFSETS[term.name] + index, OFFSETS[other.name] + index % other.size
