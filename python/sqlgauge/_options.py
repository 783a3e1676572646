"""Options that several functions share."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ._help import documented
from ._native import InputError

__all__ = ["DEFAULT_METRICS", "VerifyOptions", "limits", "listed", "mapping"]

DEFAULT_METRICS = ("ex", "ex-spider", "ex-bird", "esm")
"""What one prediction is scored by when no metric is named: all of it needs nothing but one run of both queries."""


@documented
@dataclass(frozen=True)
class VerifyOptions:
    """How a pair is verified: for :func:`verify`, and for metrics that verify."""

    semantics: Literal["ex", "set", "bag", "list"] | None = None
    """What of a result counts: what ``ex@1`` compares, or rows as a set, a bag, a list. It makes of the metric ``verify`` the one that
    compares so: ``set`` makes ``verify-set``. Without it ``ex``."""
    values: Literal["rows", "declared", "any"] = "rows"
    """Which values a witness may hold: ``declared``, those of the columns' declared types and no NULL in a primary key; ``any``, whatever
    SQLite stores; ``rows``, those that are declared, and any in columns in which the given rows hold others."""
    bound: int = 5
    """Rows of each table up to which a bounded proof goes."""
    timeout: float = 60.0
    """Seconds for a pair, all stages together."""
    seed: int = 0
    """Where the random numbers of the search begin."""
    only: Literal["solver"] | None = None
    """Lets one stage decide alone: ``solver`` asks for bounds 1 to ``bound``, without rules and search, as SpotIt does."""
    solver: str | os.PathLike[str] | None = None
    """The solver Z3; without it the variable ``SQLGAUGE_SOLVER``, then PATH, then the package ``z3-solver`` of this
    Python or of another on PATH. Where there is none, there are no bounded proofs."""

    def _arguments(self) -> dict[str, Any]:
        return {
            "semantics": self.semantics,
            "values": self.values,
            "bound": self.bound,
            "timeout": float(self.timeout),
            "seed": self.seed,
            "only": self.only,
            "solver": self.solver if self.solver is not None else os.environ.get("SQLGAUGE_SOLVER"),
            "path": _search_path(),
        }


@cache
def _programs() -> str:
    """Where this Python's packages have their programs."""
    return sysconfig.get_path("scripts")


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), _programs()])


def listed(names: str | Sequence[str]) -> list[str]:
    """Names given as a list or separated by commas."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def mapping(argument: str, given: Mapping[str, Any] | None, example: str) -> list[tuple[str, Any]]:
    """The entries of a mapping, none of ``None``.

    Raises:
        InputError: It is not a mapping.
    """
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} is of type {type(given).__name__}; give a mapping, as in {argument}={example}")
    return [(str(name), value) for name, value in given.items()]


def limits(
    timeout: float | None, max_rows: int | None, max_bytes: int | None, max_heap: int | None, now: str | None
) -> dict[str, Any]:
    """The limits of queries, as the module takes them."""
    return {
        "timeout": timeout,
        "max_rows": max_rows,
        "max_bytes": max_bytes,
        "max_heap": max_heap,
        "now": now,
    }
