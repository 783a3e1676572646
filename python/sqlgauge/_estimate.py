"""The accuracy of predictions without labels: ``sqlgauge estimate`` and ``sqlgauge monitor``."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native, _show
from ._help import documented
from ._native import InputError
from ._options import mapping
from ._runs import Run
from ._score import Frame, given_systems, rows_of
from ._subset import subset

__all__ = ["Estimate", "Watch", "estimate", "monitor"]


@documented
@dataclass(frozen=True, repr=False)
class Estimate(_show.Shown):
    """An accuracy with its interval and its reasons."""

    system: str
    accuracy: float
    """In [0, 1]."""
    low: float
    """Lower end of the interval, in [0, 1]."""
    high: float
    """Upper end."""
    level: float
    """Probability with which the interval is to hold the true accuracy."""
    outside: bool
    """Whether the target is unlike the labelled data, so that the estimate is an extrapolation."""
    outside_because: tuple[str, ...]
    """Why it does, in sentences."""
    method: str
    """Id of the method that was used."""
    metric: str
    """The metric of the known runs that is estimated."""
    notes: tuple[str, ...]
    """What was left out, assumed or noticed, in sentences."""
    raw: dict[str, Any] = field(repr=False)
    """What ``sqlgauge estimate --json`` prints."""

    def _sentences(self) -> list[str]:
        said = f"{self.system}, by the method {self.method}: {self.raw['sentence']}"
        return [said, *self.outside_because, *self.notes]


@documented
@dataclass(frozen=True, repr=False)
class Watch(_show.Shown):
    """The batches of each system up to now, and the alarms that they ring."""

    estimates: dict[str, Estimate]
    """The estimate of this batch by name of the system; its ``raw`` has the ``points`` of all batches, and the ``alarms``."""
    rings: bool
    """Whether an alarm rings for one of them; the command then ends with exit code 1."""

    def _sentences(self) -> list[str]:
        alarms = [(name, alarm) for name, of in self.estimates.items() for alarm in of.raw["alarms"]]
        return [f"{name}, {alarm['label']}: {alarm['message']}" for name, alarm in alarms] or ["no alarm"]

    def _tables(self) -> list[_show.Table]:
        columns = ["batch", "questions", "estimate"]
        points = {name: of.raw["points"] for name, of in self.estimates.items()}
        return [_show.Table(name, columns, [_row(point) for point in of], whole=True) for name, of in points.items()]


def estimate(
    *,
    known: Run | str | os.PathLike[str] | Sequence[Run | str | os.PathLike[str]],
    questions: Frame | str | os.PathLike[str] | None = None,
    predictions: Mapping[str, Any],
    db: str | os.PathLike[str] | None = None,
    tables: str | os.PathLike[str] | None = None,
    peers: Mapping[str, Any] | None = None,
    known_db: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    columns: Mapping[str, str] | None = None,
    method: str = "auto",
    metric: str | None = None,
    level: float = 0.9,
    db_id: str | Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    limit: int | None = None,
    seed: int = 0,
    tau: float = 0.8,
    sample_sets: int = 30_000,
    timeout: float | None = None,
    now: str | None = None,
    target: Frame | str | os.PathLike[str] | None = None,
) -> dict[str, Estimate]:
    """Estimates the accuracy of predictions for which nobody has labels.

    Args:
        known: A run with labels, or several: what :func:`score_many` returned, or run directories.
        questions: The questions of the target, one row each with ``question`` and ``db_id``. Golds in it are not read.
        predictions: Of the systems to estimate, as :func:`score_many` takes them.
        db: Folder with ``DB_ID/DB_ID.sqlite`` of the target, or one database file; rows are not needed.
        tables: Schema file (``tables.json``) in place of ``db``; answers are then compared on generated rows only.
        peers: Predictions of other systems on the target, to compare with.
        known_db: A folder, or several, that have databases of known runs which are not where they were.
        columns: Columns of the questions by role, where it has other names.
        method: Id of the method; ``auto`` chooses.
        metric: Metric of the known runs that is meant by accuracy; each run's first one of 0 and 1 without it.
        level: Probability with which the interval is to hold the true accuracy, from 0.5 to below 1.
        db_id: Take only the questions about these databases.
        ids: Take only the questions with these ids.
        where: Take only the questions with a label, as in ``{"difficulty": "simple"}``.
        limit: Take at most this many questions, drawn by ``seed``.
        seed: Seed of everything random.
        tau: Confidence below which a prediction does not count for the method ``doc``.
        sample_sets: Sample sets that the methods ``fusion*`` learn from.
        timeout: Seconds that one query may take; 30 without it.
        now: Date, or date and time of UTC, that queries take for now; the present without it.
        target: The old name of ``questions``.

    Returns:
        The estimates by name of the system.

    Raises:
        InputError: An input cannot be read, or the method has not what it needs.
        RunError: A known run cannot be read.
    """
    return _run(locals())[0]


def monitor(
    *,
    log: str | os.PathLike[str] | None = None,
    as_of: str | None = None,
    batch_size: int | None = None,
    new_reference: bool = False,
    per_year: float = 52,
    alarm_below: float | None = None,
    prometheus: str | os.PathLike[str] | None = None,
    **of_estimate: Any,
) -> Watch:
    """Watches batches of answers without labels, and rings where they change.

    Example:
        >>> watch = sqlgauge.monitor(log="log.jsonl", known="runs/known", questions=week, predictions={"app": "sql"}, db="database")
        >>> if watch.rings:
        ...     print(watch)

    Args:
        log: Log to compare with and to append to; the first batch in it is the reference.
        as_of: Name of this batch in the log; today's date without it. A name that was used before replaces its batch.
        batch_size: In place of ``log``: the questions of each batch, in their order.
        new_reference: Compare later batches with this one and those after it.
        per_year: Batches a year: so often one false alarm is accepted.
        alarm_below: Also ring if the whole interval of an estimate is below this share.
        prometheus: File to write estimates and alarms to, in the text format of Prometheus.
        of_estimate: All that :func:`estimate` takes; ``known`` and ``peers`` must stay the same.

    Raises:
        InputError: As :func:`estimate`; or an option is out of range, or ``log`` is not a log of ``monitor``.
        RunError: A known run cannot be read.
    """
    watch = dict(locals())
    given = inspect.signature(estimate).bind(**of_estimate)
    given.apply_defaults()
    return Watch(*_run({**given.arguments, "watch": watch}))


def _run(given: dict[str, Any]) -> tuple[dict[str, Estimate], bool]:
    """The estimates, and whether an alarm rings."""
    questions = given["questions"]
    if given["target"] is not None and questions is None:
        warnings.warn("the argument target of estimate is called questions now", DeprecationWarning, stacklevel=3)
        questions = given["target"]
    if questions is None:
        raise InputError("questions is missing; give the questions of the target, a frame or a file")
    rows = rows_of(questions)
    job = {
        "watch": None,
        **given,
        "known": [run.path if isinstance(run, Run) else run for run in _several(given["known"])],
        "known_db": _several(given["known_db"]),
        "target": rows,
        "predictions": given_systems("predictions", given["predictions"], rows),
        "peers": given_systems("peers", given["peers"] or {}, rows),
        "columns": mapping("columns", given["columns"], "{'question': 'text'}"),
        "subset": subset(*(given[name] for name in ("db_id", "ids", "where", "limit", "seed"))),
    }
    said = _native.estimate_systems(job)
    each = zip(said["estimates"], said["own"], strict=True)
    return {own["system"]: _estimate(own, [*notes, *said["notes"]]) for own, notes in each}, said["rings"]


def _several(given: Any) -> list[Any]:
    """One run or path, or several, as a list."""
    return [given] if isinstance(given, (str, os.PathLike, Run)) else list(given)


def _row(point: dict[str, Any]) -> list[Any]:
    accuracy, low, high = (f"{100 * point[name]:.1f}" for name in ("accuracy", "low", "high"))
    return [point["label"], point["count"], f"{accuracy} [{low}, {high}]"]


def _estimate(own: dict[str, Any], notes: list[str]) -> Estimate:
    interval = own["interval"]
    return Estimate(
        system=own["system"],
        accuracy=own["accuracy"],
        low=interval["low"],
        high=interval["high"],
        level=interval["level"],
        outside=own["outside"],
        outside_because=tuple(own["outside_because"]),
        method=own["method"],
        metric=own.get("metric", ""),
        notes=tuple(notes),
        raw=own,
    )
