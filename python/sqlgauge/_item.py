"""One item of a run with its rows: ``sqlgauge show``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from . import _native, _show
from ._help import documented
from ._options import limits
from ._runs import Run
from ._score import Scores

__all__ = ["Item", "show"]


@documented
@dataclass(frozen=True, repr=False)
class Item(_show.Shown):
    """One question of a run with the answer of one system: both queries, both results, every score and why."""

    system: str
    id: str
    db_id: str
    status: str
    """How the prediction went; see :attr:`Score.status`."""
    question: str | None
    evidence: str | None
    gold: str | None
    """The gold query; the first one of several."""
    prediction: str | None
    scores: Scores
    """By metric, with the reason of each."""
    gold_result: dict[str, Any] | None
    """What the gold returns: ``columns``, ``rows``; ``None`` where it does not run. Where the database has changed since the
    run, the rows that the run kept, and ``total_rows``."""
    prediction_result: dict[str, Any] | None
    """What the prediction returns, likewise."""
    why: str | None
    """What makes a wrong answer differ from the gold, in one sentence, or why that is not known: the database is gone. ``None`` where it is
    not clear or the answer is right."""
    notes: tuple[str, ...]
    """What was noticed, in sentences."""
    raw: dict[str, Any] = field(repr=False)
    """The item as it stands in ``items.jsonl``."""
    _text: str = field(repr=False)

    def __repr__(self) -> str:
        return self._text

    def _sentences(self) -> list[str]:
        labelled = [
            ("Question", self.question),
            ("Evidence", self.evidence),
            ("Gold", self.gold),
            ("Prediction", self.prediction or "none"),
        ]
        told = [f"{label}: {text}" for label, text in labelled if text]
        why = [f"Why: {self.why}"] if self.why else []
        return [f"{self.system}, item {self.id} of {self.db_id}", *told, *why, *self.notes]

    def _tables(self) -> list[_show.Table]:
        results = [("result of the gold", self.gold_result), ("result of the prediction", self.prediction_result)]
        shown = [_show.result(caption, rows) for caption, rows in results if rows]
        return [*shown, *self._counterexample(), *self.scores._tables()]

    def _counterexample(self) -> list[_show.Table]:
        """The tables of a database on which the metric ``verify`` refuted the prediction."""
        verdict = self.raw["details"].get("verdict") or {}
        return [_show.named(table) for table in verdict.get("tables") or ()]


def show(
    run: Run | str | os.PathLike[str],
    id: str,
    system: str | None = None,
    *,
    timeout: float | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    max_heap: int | None = None,
) -> Item:
    """Shows one item of a run: question, both queries, both results, every metric and why.

    Both queries are run again to have all rows, if the database is still as it was scored.

    Args:
        run: The run, or its folder.
        id: Id of the item.
        system: Name of the system; may be left out where the run has one.
        timeout: Seconds that one query may take; 30 without it.
        max_rows: Rows that one result may have.
        max_bytes: Bytes that one result may have.
        max_heap: Bytes of memory that SQLite may use for one query.

    Raises:
        RunError: There is no run, or it cannot be read.
        InputError: The run has no such item or system, or several systems and none was named.
    """
    folder = run.path if isinstance(run, Run) else run
    said = _native.show_item(folder, str(id), system, limits(timeout, max_rows, max_bytes, max_heap, None))
    item = said["item"]
    details = item["details"]
    golds = details.get("gold")
    return Item(
        system=item["system"],
        id=item["id"],
        db_id=item["db_id"],
        status=item["status"],
        question=details.get("question"),
        evidence=details.get("evidence"),
        gold=golds[0] if isinstance(golds, list) else golds,
        prediction=details.get("prediction"),
        scores=Scores(item),
        gold_result=said["gold_result"],
        prediction_result=said["prediction_result"],
        why=_why(said["why"]),
        notes=tuple(said["notes"]),
        raw=item,
        _text=said["text"],
    )


def _why(reason: dict[str, Any] | None) -> str | None:
    if reason and "missing" in reason:
        return f"Not known: {reason['missing']}."
    sentence: str | None = (reason or {}).get("sentence")
    return sentence
