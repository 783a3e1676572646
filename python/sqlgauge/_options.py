"""Options that several functions share."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

__all__ = ["DEFAULT_METRICS", "VerifyOptions", "metric_names"]

DEFAULT_METRICS = ("ex", "ex-spider", "ex-bird", "esm")
"""What one prediction is scored by when no metric is named: all of it needs nothing but one run of both queries."""


@dataclass(frozen=True)
class VerifyOptions:
    """How a pair is verified: for :func:`verify`, and for the metric ``verify``."""

    semantics: Literal["ex", "set", "bag", "list"] | None = None
    """What of a result counts: what ``ex@1`` compares, or rows as a set, a bag, a list. Without it ``ex``; beside the metric
    ``ex-bird``, where that is the first execution accuracy, ``set``."""
    bound: int = 5
    """Rows of each table up to which a bounded proof goes."""
    timeout: float = 60.0
    """Seconds for a pair, all stages together."""
    seed: int = 0
    """Where the random numbers of the search begin."""
    realistic: bool = False
    """Look first for counterexamples like the rows of the given database."""
    solver: str | os.PathLike[str] | None = None
    """The solver Z3; without it the variable ``SQLGAUGE_SOLVER``, then PATH, then the package ``z3-solver`` of this
    Python or of another on PATH. Where there is none, there are no bounded proofs."""

    def _arguments(self) -> dict[str, Any]:
        return {
            "semantics": self.semantics,
            "bound": self.bound,
            "timeout": float(self.timeout),
            "seed": self.seed,
            "realistic": self.realistic,
            "solver": self.solver if self.solver is not None else os.environ.get("SQLGAUGE_SOLVER"),
            "path": _search_path(),
        }


@cache
def _programs() -> str:
    """Where this Python's packages have their programs."""
    return sysconfig.get_path("scripts")


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), _programs()])


def metric_names(metrics: str | Sequence[str]) -> list[str]:
    """The names of metrics, given as a list or separated by commas."""
    return [metrics] if isinstance(metrics, str) else list(metrics)
