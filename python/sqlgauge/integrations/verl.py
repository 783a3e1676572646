"""verl: a custom reward function, one by one or in batches.

Name this file and ``compute_score``, or ``compute_score_batch`` where verl has the manager ``batch`` (much faster), in
``custom_reward_function``, and give the options as ``reward_kwargs``::

    reward.custom_reward_function.path=…/sqlgauge/integrations/verl.py
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.db=database/
    +reward.custom_reward_function.reward_kwargs.witnesses=True

Versions before 0.9 have no ``reward.`` in front.

``ground_truth`` is the gold, a list of golds, or a mapping with ``gold`` and ``db_id``; else ``extra_info["db_id"]`` names
the database. verl needs a number for every answer, so one whose gold does not run gets ``unscored``: the same for all
answers to a question, so that it has no advantage in GRPO. ``gold_failed`` in the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlgauge as sg
from sqlgauge.integrations._common import db_id_of, golds_of, reward_of, text_of

__all__ = ["compute_score", "compute_score_batch"]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    db: sg.Reward | str | None = None,
    unscored: float = 0.0,
    **options: Any,
) -> dict[str, Any]:
    """The score of one answer; ``options`` are those of :class:`sqlgauge.Reward`."""
    return compute_score_batch(
        [data_source], [solution_str], [ground_truth], [extra_info], db=db, unscored=unscored, **options
    )[0]


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Any] | None = None,
    *,
    db: sg.Reward | str | None = None,
    unscored: float = 0.0,
    **options: Any,
) -> list[dict[str, Any]]:
    """The scores of a batch."""
    extra = [None] * len(ground_truths) if extra_infos is None else extra_infos
    results = reward_of(db, options)(
        [text_of(text) for text in solution_strs],
        [golds_of(truth) for truth in ground_truths],
        [db_id_of(truth, info) for truth, info in zip(ground_truths, extra)],
    )
    return [
        {
            "score": unscored if result.value is None else result.value,
            "acc": float(result.code == "right"),
            "gold_failed": float(result.value is None),
            "code": result.code,
        }
        for result in results
    ]
