"""Two systems of one run or of two: what ``sqlgauge compare`` says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _native, _show
from ._help import documented
from ._native import InputError
from ._runs import Run

__all__ = ["Comparison", "compare"]


@documented
@dataclass(frozen=True, repr=False)
class Comparison(_show.Shown):
    """What tells two systems apart, by item."""

    first: str
    """The first system."""
    second: str
    """The second system."""
    metric: str
    """Id of the metric by which :attr:`only_first` and :attr:`only_second` are meant."""
    only_first: list[str]
    """Ids of the items on which the first system scores better."""
    only_second: list[str]
    """Ids of the items on which the second system scores better."""
    regression: float | None
    """By how many points the second system is below the first on the metric, where a paired test takes that for real (p < 0.05)."""
    raw: dict[str, Any]
    """All that ``sqlgauge compare --json`` prints: scores, and for each metric the difference with its interval and p-value."""

    def _tables(self) -> list[_show.Table]:
        rows = [
            [
                one["metric"],
                one["count"],
                f"{100 * one['difference']:+.1f} [{100 * one['low']:+.1f}, {100 * one['high']:+.1f}]".replace("-", "−"),
                _show.p_value(one["p_value"]),
            ]
            for one in self.raw["comparisons"]
        ]
        caption = "first minus second, in points, over the items of both"
        return [_show.Table(caption, ["metric", "items", "difference", "p"], rows)]

    def _sentences(self) -> list[str]:
        return [f"{self.first} compared with {self.second}"]


def compare(
    run: Run | str | os.PathLike[str],
    other: Run | str | os.PathLike[str] | None = None,
    *,
    systems: Sequence[str] = (),
    metric: str | None = None,
) -> Comparison:
    """Compares two systems of a run, or of two runs: paired tests, intervals of the difference, the items that differ.

    Items of two runs are compared if their id, database and golds are the same; ``raw["left_out"]`` counts the others.

    Args:
        run: The run, or its folder.
        other: A second run, of which the second system is.
        systems: The two systems; may be left out where a run has two, or two runs have one each.
        metric: The metric by which items differ, with or without version; the first of the run without it.

    Raises:
        InputError: There is no such system or metric, or the runs have no item in common.
        RunError: There is no run, or it cannot be read.
    """
    for argument, given in (("run", run), ("other", other)):
        if given is not None and not isinstance(given, (Run, str, os.PathLike)):
            kind = type(given).__name__
            raise InputError(f"{argument} is of type {kind}; give a run or its folder, and the systems by systems=('a', 'b')")
    folders = [one.path if isinstance(one, Run) else one for one in (run, other) if one is not None]
    said: dict[str, Any] = _native.compare_systems(folders, list(systems), metric)
    regression = said.pop("regression")
    return Comparison(
        said["first"], said["second"], said["metric"], said["only_first"], said["only_second"], regression, said
    )
