"""verifiers: rewards for a task of version 0.4 and later, and for a ``Rubric`` of those before.

::

    import verifiers.v1 as vf

    score = trace_reward("database/", witnesses=True)

    class SqlTask(vf.Task[SqlData]):          # SqlData has the fields gold and db_id
        @vf.reward
        async def sql(self, task, trace) -> float:
            return await score(task, trace)

    rubric = vf.Rubric(funcs=[sql_reward("database/", witnesses=True)])       # before 0.4

In a rubric ``answer`` is the gold; ``info["db_id"]`` names the database, and ``info["golds"]``, where it is there, has several
golds. An answer whose gold does not run counts ``unscored``, since rewards are added up.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

from .. import InputError, Reward
from ._common import ask, db_id_of, reward_of

__all__ = ["sql_reward", "trace_reward"]


def trace_reward(
    db: Reward | str | os.PathLike[str],
    *,
    gold: str = "gold",
    db_id: str = "db_id",
    unscored: float = 0.0,
    **options: Any,
) -> Callable[[Any, Any], Awaitable[float]]:
    """What the last reply of a trace is worth, from the data of its task and the trace.

    Args:
        db: The folder of the databases, one database for all questions, or a reward.
        gold: The field of the task's data that has the gold, or several.
        db_id: The field with the name of the database; not needed with one database.
        unscored: What an answer is worth whose gold does not run.
        options: Those of :class:`sqlgauge.Reward`.
    """
    reward = reward_of(db, options)

    async def score(task: Any, trace: Any) -> float:
        golds = getattr(task, gold, None)
        if golds is None:
            raise InputError(f"the task's data has no field {gold}: name the one with the golds with gold=")
        given = {"db_id": getattr(task, db_id, None)}
        return await _worth(reward, trace.last_reply, golds, db_id_of(given), unscored)

    return score


def sql_reward(
    db: Reward | str | os.PathLike[str], *, unscored: float = 0.0, **options: Any
) -> Callable[..., Awaitable[float]]:
    """A function for a rubric over those databases; ``options`` are those of :class:`sqlgauge.Reward`."""
    reward = reward_of(db, options)

    async def sql(completion: Any, answer: Any = "", info: Any = None, **kwargs: Any) -> float:
        given = info if isinstance(info, dict) else {}
        golds = given.get("golds") or answer
        return await _worth(reward, completion, golds, db_id_of(given, kwargs.get("task")), unscored)

    return sql


async def _worth(reward: Reward, completion: Any, golds: Any, db_id: str, unscored: float) -> float:
    # The call works in threads of its own; the loop of the rollouts is not to wait for it.
    result = await asyncio.to_thread(ask, reward, completion, golds, db_id)
    return unscored if result.value is None else result.value
