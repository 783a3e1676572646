"""Which questions of a benchmark are taken: the arguments that several functions share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._native import InputError
from ._options import listed

__all__ = ["subset"]


def subset(
    db_id: str | Sequence[str] | None,
    ids: Sequence[Any] | None,
    where: Mapping[str, str | Sequence[str]] | None,
    limit: int | None,
    seed: int,
) -> dict[str, Any]:
    """The arguments as the module takes them.

    Raises:
        InputError: ``where`` is not a mapping.
    """
    if where is not None and not isinstance(where, Mapping):
        raise InputError(
            f"where is of type {type(where).__name__}; give a mapping from label to value, as in where={{'hardness': 'extra'}}"
        )
    return {
        "db_ids": [] if db_id is None else listed(db_id),
        "ids": None if ids is None else _texts(ids),
        "conditions": [f"{label}={value}" for label, values in (where or {}).items() for value in _texts(values)],
        "limit": limit,
        "seed": seed,
    }


def _texts(given: Any) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else [str(one) for one in given]
