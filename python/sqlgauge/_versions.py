"""Golds in several versions: what ``sqlgauge score --gold A=… --gold B=…`` says."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from . import _native, _show
from ._frames import is_missing, rows_of
from ._help import documented
from ._native import InputError
from ._options import mapping
from ._runs import Run

__all__ = ["Versions", "by_id", "is_versions", "read_versions", "versions_of"]


@documented
@dataclass(frozen=True, repr=False)
class Versions(_show.Shown):
    """Systems under several versions of the golds."""

    runs: dict[str, Run]
    """The run of each version; of lists of answers, :meth:`Run.samples` has the rates."""
    raw: dict[str, Any]
    """All that ``versions.json`` has: scores and ranks, ``swaps`` with their probability, ``changes``, ``agreements``."""
    notes: tuple[str, ...] = ()
    """What reading noticed."""
    _folder: Any = field(default=None, repr=False, compare=False)

    def _tables(self) -> list[_show.Table]:
        metric, versions = self.raw["metric"], self.raw["versions"]
        systems = list(versions[0]["systems"])
        cells = [
            [f"{_show.score(metric, one['systems'][name]['score'])} #{one['systems'][name]['rank']}" for one in versions]
            for name in systems
        ]
        caption = f"{metric}, percent with 95 % intervals; #: rank over the {self.raw['shared']} items of every version"
        rows = [[name, *row] for name, row in zip(systems, cells)]
        return [_show.Table(caption, ["system", *self.runs], rows, whole=True)]


def is_versions(frame: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a frame is a mapping from the name of a version to the path of its golds."""
    return isinstance(frame, Mapping) and bool(frame) and all(isinstance(own, (str, os.PathLike)) for own in frame.values())


def versions_of(gold: Any, frame: Any, columns: Mapping[str, str] | None) -> tuple[Any, list[tuple[str, Any]]]:
    """The rows of the frame, each with its id, and by name the path or the rows of each version.

    Raises:
        InputError: It is not a mapping, or a text in it is neither a column of the frame nor a file.
    """
    given = mapping("gold", gold, "{'orig': 'gold', 'corrected': 'new_gold'}, by the name of the version")
    rows = None if frame is None else rows_of(frame)
    if rows is not None and not isinstance(rows, (str, os.PathLike)):
        rows = _identified(rows, dict(mapping("columns", columns, "{'id': 'qid'}")))
    role = dict(columns or {}).get("gold", "gold")
    versions = [(name, _version(name, own, rows, role)) for name, own in given]
    return (versions[0][1] if rows is None and versions else rows), versions


def _version(name: str, own: Any, rows: Any, role: str) -> Any:
    if isinstance(own, os.PathLike):
        return os.fspath(own)
    if not isinstance(own, str):
        return rows_of(own)
    in_frame = [] if rows is None or isinstance(rows, str) else [row for row in rows if own in row]
    if in_frame:
        # An empty cell: the version does not have that question.
        return [{**row, role: row[own]} for row in in_frame if not is_missing(row[own])]
    if os.path.isfile(own):
        return own
    raise InputError(f"gold[{name!r}]: {own!r} is neither a column of frame nor a file; give one of them, or a frame")


def _identified(rows: Any, columns: Mapping[str, str]) -> Any:
    """The rows, each with an id. Where they have none it is the place, as in every run."""
    if _id_column(rows, columns) is not None:
        return rows
    return [{"id": str(at), **row} if isinstance(row, Mapping) else row for at, row in enumerate(rows)]


def _id_column(rows: Any, columns: Mapping[str, str]) -> str | None:
    first = next((row for row in rows if isinstance(row, Mapping)), {})
    names = {str(name).lower(): str(name) for name in first}
    known = (names.get(name.lower()) for name in _native.column_names("id"))
    return columns.get("id") or next((name for name in known if name is not None), None)


def by_id(predictions: Any, rows: Any, columns: Mapping[str, str] | None) -> Any:
    """Predictions in the order of the frame as mappings from id to prediction, for a version may not have every question.

    Raises:
        InputError: There are not as many as rows.
    """
    name = None if isinstance(rows, (str, os.PathLike)) else _id_column(rows, dict(columns or {}))
    if isinstance(predictions, str):
        predictions = {predictions: predictions}
    if name is None or not isinstance(predictions, Mapping):
        return predictions
    return {system: _by_id(system, own, rows, name) for system, own in predictions.items()}


def _by_id(system: Any, own: Any, rows: Sequence[Mapping[str, Any]], name: str) -> Any:
    if isinstance(own, str) and any(own in row for row in rows):
        own = [row.get(own) for row in rows]
    if isinstance(own, (str, os.PathLike, Mapping)):
        return own
    answers = rows_of(own)
    if any(isinstance(answer, Mapping) for answer in answers):
        return answers
    if len(answers) != len(rows):
        raise InputError(f"predictions[{system!r}] has {len(answers)} entries for {len(rows)} rows of frame; give one per row")
    return {row[name]: None if is_missing(answer) else answer for row, answer in zip(rows, answers)}


def read_versions(out: Path, names: Sequence[str], notes: Sequence[str], folder: Any) -> Versions:
    """What a job wrote into a folder."""
    raw = json.loads((out / "versions.json").read_text(encoding="utf-8"))
    return Versions({name: Run(out / name) for name in names}, raw, tuple(notes), folder)
