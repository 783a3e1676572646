"""Tables of other libraries as rows, without any of these libraries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._native import InputError

__all__ = ["is_missing", "rows_of"]


def rows_of(frame: Any) -> Any:
    """The rows of a table as a list, or a path or a list as it is.

    Known by what they can do: pandas (``to_dict``), polars (``to_dicts``), pyarrow (``to_pylist``), ``datasets.Dataset``
    (``to_list``), a Series or array (``tolist``), a mapping of columns, and whatever can be gone through.

    Raises:
        InputError: It is none of these, or a mapping whose columns differ in length.
    """
    if isinstance(frame, (str, os.PathLike)):
        return frame
    if hasattr(frame, "columns") and hasattr(frame, "to_dict") and not hasattr(frame, "to_dicts"):
        names = list(frame.columns)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"frame has two columns of the name {twice!r}; give each its own name")
        return frame.to_dict(orient="records")
    for method in ("to_dicts", "to_pylist", "to_list", "tolist"):
        if hasattr(frame, method):
            return getattr(frame, method)()
    if isinstance(frame, Mapping):
        return _rows_of_columns(frame)
    if isinstance(frame, Iterable):
        return list(frame)
    raise InputError(
        f"a value of type {type(frame).__name__} is no table; give a DataFrame, a Table, a Dataset, a list of mappings, "
        "a mapping of columns, or a path"
    )


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: ``None``, NaN, or pandas' ``NA`` and ``NaT``."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _rows_of_columns(columns: Mapping[Any, Any]) -> list[dict[str, Any]]:
    lists = {str(name): list(values) for name, values in columns.items() if not isinstance(values, str)}
    if len(lists) < len(columns):
        raise InputError("frame is a mapping whose values are texts; give columns, or a list of mappings")
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the columns of frame differ in length: {said}")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
