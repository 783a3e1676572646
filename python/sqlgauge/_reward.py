"""The reward, whose call ``help()`` explains too: of a class that is not written in Python it says "Call self as a function"."""

from __future__ import annotations

from collections.abc import Iterable

from ._native import Reward, RewardResult

__all__ = ["Reward"]

_native_call = Reward.__call__


def _call(
    self: Reward,
    predictions: Iterable[str | None],
    golds: Iterable[str | Iterable[str]],
    db_ids: Iterable[str] | None = None,
) -> list[RewardResult]:
    """Scores answers, in their order.

    Args:
        predictions: Completions, or SQL; None is no answer.
        golds: One gold or several for each; an answer counts by the best of them.
        db_ids: The database of each; not needed with one database.

    Raises:
        InputError: Lists of different lengths, what is no text, or an unknown database.
        DatabaseError: A database that cannot be read, or changed.
        RunError: Witnesses that cannot be read or written.
    """
    return _native_call(self, predictions, golds, db_ids)


_call.__name__ = "__call__"
_call.__qualname__ = "Reward.__call__"
setattr(Reward, "__call__", _call)
