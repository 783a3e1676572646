"""The fewest labels that make a number sure: ``sqlgauge label``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native, _show
from ._frames import rows_of
from ._help import documented
from ._native import InputError
from ._options import VerifyOptions, limits, mapping
from ._progress import shown
from ._score import Frame, given_systems
from ._subset import subset

__all__ = ["LabelQuestion", "LabelStatus", "Labeler"]


@documented
@dataclass(frozen=True, repr=False)
class LabelQuestion(_show.Shown):
    """A question for a person: which of these results answers it?"""

    id: str
    db_id: str
    question: str | None
    evidence: str | None
    results: list[dict[str, Any]]
    """Each result: ``systems`` that return it, the ``sql`` of the first, and ``rows`` (``columns``, the first ``rows``, ``total``)."""
    witness: dict[str, Any] | None
    """A small database on which two queries with equal rows differ: ``tables``, and the two ``results`` on it."""

    def _sentences(self) -> list[str]:
        head = f"{self.id} ({self.db_id}): {self.question or ''}"
        return [head, *([f"evidence: {self.evidence}"] if self.evidence else []), *(one["sql"] for one in self.results)]

    def _tables(self) -> list[_show.Table]:
        here = [(", ".join(one["systems"]), one["rows"]) for one in self.results if one["rows"]]
        if self.witness:
            here += [(f"table {name} of a small database", rows) for name, rows in self.witness["tables"]]
            names = [f"{', '.join(one['systems'])} on it" for one in self.results]
            here += list(zip(names, self.witness["results"]))
        return [_show.Table(f"{name}, {_show.counted(of['total'], 'row')}", of["columns"], of["rows"]) for name, of in here]


@documented
@dataclass(frozen=True, repr=False)
class LabelStatus:
    """What the labels say so far."""

    enough: bool
    """Whether every number is as sure as the plan wants it."""
    quantities: list[dict[str, Any]]
    """Each number: ``name``, ``estimate``, ``low`` and ``high`` in [0, 1] or ``None``, and whether it is ``enough``."""
    labels: int
    """Questions with labels that count."""
    likely: int
    """About how many more are needed."""
    sentence: str
    """What may be said."""
    raw: dict[str, Any] = field(repr=False)
    """What ``sqlgauge label status --json`` prints."""

    def __repr__(self) -> str:
        return self.sentence


class Labeler:
    """A plan of labels in a folder; looking at its interval early costs nothing.

    Example:
        >>> labeler = sqlgauge.Labeler.plan("questions.json", predictions={"mine": "mine.jsonl"}, db="databases", out="labels")
        >>> for question in labeler:
        ...     labeler.add(question.id, "right" if good(question) else "wrong", by="ann")
        >>> labeler.status()

    Args:
        folder: Folder that :meth:`plan` or ``sqlgauge label plan`` wrote; the command line and the dashboard go on in it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        self.notes: tuple[str, ...] = ()
        self.status()

    @classmethod
    def plan(
        cls,
        questions: Frame | str | os.PathLike[str],
        *,
        predictions: Mapping[str, Any],
        db: str | os.PathLike[str],
        out: str | os.PathLike[str],
        against: Mapping[str, Any] | None = None,
        peers: Mapping[str, Any] | None = None,
        width: float = 0.03,
        level: float = 0.95,
        winner: bool = False,
        by: str = "both",
        columns: Mapping[str, str] | None = None,
        db_id: str | Sequence[str] | None = None,
        ids: Sequence[Any] | None = None,
        where: Mapping[str, str | Sequence[str]] | None = None,
        limit: int | None = None,
        seed: int = 0,
        timeout: float | None = None,
        now: str | None = None,
        verify: VerifyOptions | None = None,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Labeler:
        """Plans which answers to label, so that a number is known within ``width``.

        Args:
            questions: The questions, one row each with ``question`` and ``db_id``. Golds in it are not read.
            predictions: Of the systems whose accuracies are wanted, as :func:`score_many` takes them.
            db: Folder with ``DB_ID/DB_ID.sqlite``, or one database file.
            out: Folder to write.
            against: Predictions of a second system: wanted is the first one's accuracy less its own.
            peers: Predictions of other systems, to compare answers with.
            width: Half the width of the interval, as a share: 0.03 is ±3 points.
            level: Probability that the interval contains the true number.
            winner: Stop as soon as it is sure which of the two is better.
            by: When one verdict is of two answers: ``"result"``, ``"proof"``, or ``"both"``.
            columns: Columns of the questions by role, where it has other names.
            db_id: Take only the questions about these databases.
            ids: Take only the questions with these ids.
            where: Take only the questions with a label, as in ``{"difficulty": "simple"}``.
            limit: Take at most this many questions, drawn by ``seed``.
            seed: Seed of everything random.
            timeout: Seconds that one query may take.
            now: Date, or date and time of UTC, that queries take for now.
            verify: How two answers are told apart.
            progress: As in :func:`score_many`.

        Raises:
            InputError: An input cannot be read, an option is out of range, or the folder has a plan with labels.
        """
        if against is not None and len(against) != 1:
            raise InputError("against takes one system, as in {'other': 'other.jsonl'}")
        rows = rows_of(questions)
        job = {
            "questions": rows,
            "predictions": given_systems("predictions", predictions, rows),
            "against": given_systems("against", against or {}, rows),
            "peers": given_systems("peers", peers or {}, rows),
            "db": db,
            "out": out,
            "columns": mapping("columns", columns, "{'question': 'text'}"),
            "width": width,
            "level": level,
            "winner": winner,
            "seed": seed,
            "by": by,
            "subset": subset(db_id, ids, where, limit, seed),
            "limits": limits(timeout, None, None, None, now),
            "verify": (verify or VerifyOptions())._arguments(),
        }
        with shown(progress) as show:
            notes = _native.label_plan(job, show)
        labeler = cls(out)
        labeler.notes = tuple(notes)
        return labeler

    def __iter__(self) -> Iterator[LabelQuestion]:
        """The next question, until the labels are enough; each must have got its verdict before the next is asked."""
        last = None
        while questions := self.next():
            if questions[0].id == last:
                raise InputError(f"question {last} has no verdict yet; add one, 'unsure' if need be")
            last = questions[0].id
            yield questions[0]

    def next(self, count: int = 1) -> list[LabelQuestion]:
        """The next questions, at most ``count``; none where the labels are enough."""
        questions, notes = _native.label_next(self.folder, count)
        self.notes = tuple(notes)
        return [LabelQuestion(**{"evidence": None, **of}) for of in questions]

    def add(
        self,
        id: str | None = None,
        verdict: str | Sequence[str] | None = None,
        *,
        labels: str | os.PathLike[str] | None = None,
        system: str | None = None,
        by: str = "",
        replace: bool = False,
    ) -> dict[str, Any]:
        """Adds one verdict, or a file of labels; all or none.

        Args:
            id: Id of the question.
            verdict: ``"right"``, ``"wrong"`` or ``"unsure"``; of several answers the systems that are right, as a list or
                separated by commas.
            labels: In their place, labels of the dashboard (JSONL), or a table of ids and labels of one system.
            system: System that a table is of; may be left out where the plan has one.
            by: Who gives the verdict.
            replace: Take the new verdict where the same person gave a different one before.

        Returns:
            How many ``labels`` were added, and the ids that were ``repeated``, ``waiting`` for their draw, or of a ``different`` answer.

        Raises:
            InputError: A label does not fit the plan; then none was added.
        """
        words = [verdict] if isinstance(verdict, str) else list(verdict or ())
        label = {"folder": self.folder, "id": id, "verdict": words, "labels": labels, "system": system}
        return _native.label_add({**label, "by": by, "replace": replace})

    def status(self) -> LabelStatus:
        """What the labels say so far."""
        raw = _native.label_status(self.folder)
        named = {name: raw[name] for name in ("enough", "quantities", "labels", "likely", "sentence")}
        return LabelStatus(**named, raw=raw)

    def __repr__(self) -> str:
        return f"{self.folder}: {self.status()}"
