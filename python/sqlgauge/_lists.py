"""Lists of answers as files that the libraries read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ._frames import rows_of
from ._native import InputError

__all__ = ["has_lists", "write_lists", "write_rows"]


def has_lists(given: Any, rows: Any) -> bool:
    """Whether predictions of a system are lists of answers: a column, a list or a mapping of lists."""
    if isinstance(given, (str, os.PathLike)):
        first = None if isinstance(rows, (str, os.PathLike)) else next(iter(rows), None)
        own = first.get(given) if isinstance(first, Mapping) and isinstance(given, str) else None
        return isinstance(own, (list, tuple))
    values = given.values() if isinstance(given, Mapping) else rows_of(given)
    return any(isinstance(value, (list, tuple)) for value in values)


def write_lists(path: Path, given: Any, rows: Any) -> Path:
    """Writes the answers of a system as JSON lines: one row per question in the order of the frame, or with its id."""
    if isinstance(given, str):
        given = [row.get(given) for row in rows]
    if isinstance(given, Mapping):
        lines: Iterable[Any] = ({"id": str(name), "predictions": value} for name, value in given.items())
    else:
        own = rows_of(given)
        lines = (value if isinstance(value, Mapping) else {"predictions": value} for value in own)
    return write_rows(path, lines)


def write_rows(path: Path, rows: Iterable[Any]) -> Path:
    """Writes rows as JSON lines.

    Raises:
        InputError: A value has no JSON.
    """
    try:
        text = "".join(json.dumps(row, default=_plain) + "\n" for row in rows)
    except TypeError as error:
        raise InputError(f"answers cannot be written as JSON: {error}; give texts and numbers") from error
    path.write_text(text, encoding="utf-8")
    return path


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__}")
