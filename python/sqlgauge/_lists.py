"""Lists of answers as files that the libraries read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ._frames import is_missing, rows_of
from ._native import InputError

__all__ = ["has_lists", "write_lists", "write_rows"]


def has_lists(given: Any, rows: Any) -> bool:
    """Whether predictions of a system are lists of answers: a column, a list or a mapping of lists."""
    if isinstance(given, (str, os.PathLike)):
        is_column = isinstance(given, str) and not isinstance(rows, (str, os.PathLike))
        return is_column and any(_is_list(row.get(given)) for row in rows if isinstance(row, Mapping))
    values = given.values() if isinstance(given, Mapping) else rows_of(given)
    return any(_is_list(value) for value in values)


def _is_list(value: Any) -> bool:
    """Whether it is a list, or an array of NumPy, as the cells of a Parquet file are; its scalars have no dimension."""
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def write_lists(path: Path, given: Any, rows: Any) -> Path:
    """Writes the answers of a system as JSON lines: one row per question in the order of the frame, or with its id."""
    if isinstance(given, str):
        given = [row.get(given) for row in rows]
    if isinstance(given, Mapping):
        lines: Iterable[Any] = ({"id": str(name), "predictions": _present(value)} for name, value in given.items())
    else:
        own = rows_of(given)
        lines = (value if isinstance(value, Mapping) else {"predictions": _present(value)} for value in own)
    return write_rows(path, lines)


def _present(value: Any) -> Any:
    return None if is_missing(value) else value


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
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a value of type {type(value).__name__}")
