"""Ray: callable classes for ``Dataset.map_batches``, and a run scored in parts by actors.

::

    scored = dataset.map_batches(ScoreAnswers, fn_constructor_args=("database/",),
                                 fn_constructor_kwargs={"witnesses": True}, concurrency=2, batch_size=256)

A batch is a mapping of columns, as Ray hands it over (``batch_format="numpy"``, the default) or a pandas frame; each class
adds columns, or says what it makes instead. What a class makes of a row depends on that row alone, so a task that is run
again, after its worker died, counts nothing twice.

- :class:`ScoreAnswers`: what an answer is worth.
- :class:`VerifyPairs`: a database that tells two queries apart, or a proof.
- :class:`EncodeQuestions`: vectors; :class:`ShiftParts` and :func:`describe_shift`: how far they lie from others.
- :class:`ScoreParts` and :func:`score_in_parts`: a run directory, by parts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import (
    Database,
    Encoder,
    InputError,
    QueryError,
    Reward,
    Run,
    ShiftReference,
    VerifyOptions,
    merge,
    score_many,
    verify,
)
from .._native import locate_database
from ._common import golds_of, text_of

__all__ = [
    "EncodeQuestions",
    "ScoreAnswers",
    "ScoreParts",
    "ShiftParts",
    "VerifyPairs",
    "describe_shift",
    "score_in_parts",
]


class ScoreAnswers:
    """Scores the answers of a batch; one reward per actor.

    Adds ``value`` (``nan`` where the gold does not run), ``code`` and ``reason``.
    """

    def __init__(
        self,
        db: str | os.PathLike[str],
        *,
        prediction: str = "prediction",
        gold: str = "gold",
        db_id: str = "db_id",
        **options: Any,
    ) -> None:
        self._columns = (prediction, gold, db_id)
        self._reward = Reward(db, **options)

    def __call__(self, batch: Any) -> Any:
        prediction, gold, db_id = self._columns
        _need(batch, prediction, gold)
        names = [str(name) for name in batch[db_id]] if db_id in list(batch) else None
        results = self._reward(
            [_text(one) for one in batch[prediction]], [golds_of(one) for one in batch[gold]], names
        )
        return _with(
            batch,
            value=_column([math.nan if one.value is None else one.value for one in results], float),
            code=_column([one.code for one in results], object),
            reason=_column([one.reason for one in results], object),
        )


class VerifyPairs:
    """Verifies the pairs of a batch, each over its database; ``options`` are those of :class:`sqlgauge.VerifyOptions`.

    Adds ``verdict``, ``stage``, ``reason`` (why it is not decided) and ``witness`` (an SQL script), ``None`` where there is none. A
    query that is none of SQLite's has the verdict ``refused`` and the reason.
    """

    def __init__(
        self,
        db: str | os.PathLike[str],
        *,
        left: str = "gold",
        right: str = "prediction",
        db_id: str = "db_id",
        **options: Any,
    ) -> None:
        self._columns = (left, right, db_id)
        self._databases = _Databases(db)
        self._options = VerifyOptions(**options)

    def __call__(self, batch: Any) -> Any:
        left, right, db_id = self._columns
        _need(batch, left, right)
        names = batch[db_id] if db_id in list(batch) else [""] * len(batch[left])
        rows = [self._verify(*pair) for pair in zip(batch[left], batch[right], names)]
        columns = zip(*rows) if rows else [[], [], [], []]
        named = zip(("verdict", "stage", "reason", "witness"), columns)
        return _with(batch, **{name: _column(list(values), object) for name, values in named})

    def _verify(self, left: Any, right: Any, db_id: Any) -> tuple[str | None, ...]:
        try:
            found = verify(_text(left), _text(right), self._databases.of(db_id), options=self._options)
        except QueryError as error:
            return "refused", None, str(error), None
        return found.verdict, found.stage, found.reason, found.witness


class EncodeQuestions:
    """Encodes the questions of a batch with their schemas, and with their predictions where ``form`` asks for them.

    Adds ``vector``: an array of single precision, a row per question.
    """

    def __init__(
        self,
        db: str | os.PathLike[str],
        *,
        encoder: str = "features",
        form: str = "question-schema",
        question: str = "question",
        prediction: str = "prediction",
        evidence: str = "evidence",
        db_id: str = "db_id",
    ) -> None:
        self._columns = (question, prediction, evidence, db_id)
        self._needs_prediction = form == "question-schema-prediction"
        self._encoder = Encoder(encoder, form)
        self._databases = _Databases(db)

    def __call__(self, batch: Any) -> Any:
        import numpy as np

        question, prediction, evidence, db_id = self._columns
        _need(batch, question, *([prediction] if self._needs_prediction else []))
        known = list(batch)
        count = len(batch[question])
        given = {name: batch[name] if name in known else [None] * count for name in (prediction, evidence, db_id)}
        items = [
            {
                "question": _text(batch[question][place]),
                "evidence": _text(given[evidence][place]) or None,
                "prediction": _text(given[prediction][place]) if self._needs_prediction else None,
                "over": self._databases.of(given[db_id][place]),
            }
            for place in range(count)
        ]
        numbers = np.frombuffer(self._encoder.encode_items(items), dtype="<f4")
        return _with(batch, vector=numbers.reshape(count, self._encoder.dimensions))


class ShiftParts:
    """What is kept of the vectors of a batch for their shift from a source: one row per batch, for :func:`describe_shift`.

    The row has ``first``, the smallest of the batch's ``position``, and ``part``.
    """

    def __init__(self, reference: ShiftReference, *, vector: str = "vector", position: str = "position") -> None:
        self._columns = (vector, position)
        self._reference = reference

    def __call__(self, batch: Any) -> Any:
        import numpy as np

        vector, position = self._columns
        _need(batch, vector, position)
        vectors = np.ascontiguousarray(np.stack([np.asarray(one) for one in batch[vector]]), dtype="<f4")
        part = self._reference.part(vectors.tobytes())
        return {"first": [int(min(batch[position]))], "part": [part]}


def describe_shift(reference: ShiftReference, parts: Any) -> dict[str, Any]:
    """Compares a target with the source of the reference, by the rows of :class:`ShiftParts`.

    Parts are put together in the order of their positions, so the same batches give the same bits on any number of
    workers, in whatever order they ended.

    Args:
        reference: What the parts were made with.
        parts: A Ray Dataset of the rows, or the rows.
    """
    rows = parts.take_all() if hasattr(parts, "take_all") else parts
    return reference.describe([bytes(row["part"]) for row in sorted(rows, key=lambda row: int(row["first"]))])


class ScoreParts:
    """Scores parts of one run, each into a run directory of its own; ``options`` are those of :func:`sqlgauge.score_many`.

    A batch has a column ``part`` of numbers from 1; ``run`` is added, the folder. A part whose worker died is finished from
    where it was.
    """

    def __init__(self, frame: Any, folder: str | os.PathLike[str], parts: int, **options: Any) -> None:
        if options.get("now") is None:
            raise InputError("parts of one run take the same time for now: give now=, as in now='2026-01-31'")
        self._frame, self._folder, self._parts, self._options = frame, Path(folder), parts, options

    def __call__(self, batch: Any) -> Any:
        _need(batch, "part")
        runs = [str(self._score(int(number)).path) for number in batch["part"]]
        return {"part": [int(number) for number in batch["part"]], "run": runs}

    def _score(self, number: int) -> Run:
        out = self._folder / f"{number}-of-{self._parts}"
        run: Run = score_many(
            self._frame, out=out, shard=f"{number}/{self._parts}", progress=False, **self._options
        )
        return run


def score_in_parts(
    frame: Any,
    *,
    out: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    parts: int,
    workers: int = 2,
    **options: Any,
) -> Run:
    """Scores a run in parts on a Ray cluster and puts them together: the items are those of ``score_many``, byte for byte.

    Args:
        frame: The benchmark, as :func:`sqlgauge.score_many` takes it; a path is best, since each worker reads it.
        out: Run directory to write.
        folder: Where the parts are kept, on a disk that all nodes see. The same call goes on with what is there.
        parts: How many; several per worker, so that none waits long for the last.
        workers: Actors, each of which scores on one core.
        options: The others of :func:`sqlgauge.score_many`; ``now`` is needed.
    """
    import ray.data

    arguments = {"jobs": 1, **options}
    numbers = ray.data.from_items([{"part": number} for number in range(1, parts + 1)], override_num_blocks=parts)
    rows = numbers.map_batches(
        ScoreParts,
        fn_constructor_args=(frame, folder, parts),
        fn_constructor_kwargs=arguments,
        batch_size=1,
        concurrency=workers,
        num_cpus=1,
    ).take_all()
    return merge([row["run"] for row in rows], out=out)


class _Databases:
    """The databases of a folder, each opened once."""

    def __init__(self, db: str | os.PathLike[str]) -> None:
        self._folder = db
        self._opened: dict[str, Database] = {}

    def of(self, db_id: Any) -> Database:
        name = "" if db_id is None else str(db_id)
        if name not in self._opened:
            self._opened[name] = Database(locate_database(self._folder, name))
        return self._opened[name]


def _need(batch: Any, *columns: str) -> None:
    known = list(batch)
    missing = [name for name in columns if name not in known]
    if missing:
        raise InputError(f"the batch has no column {missing[0]}: its columns are {', '.join(map(str, known))}")


def _with(batch: Any, **columns: Any) -> Any:
    if isinstance(batch, dict):
        return {**batch, **columns}
    return batch.assign(**{name: list(values) for name, values in columns.items()})


def _text(one: Any) -> str:
    # A missing value of a frame is no answer.
    return "" if isinstance(one, float) and math.isnan(one) else text_of(one)


def _column(values: Sequence[Any], kind: type) -> Any:
    try:
        import numpy as np
    except ImportError:
        return list(values)
    return np.array(values, dtype=kind)
