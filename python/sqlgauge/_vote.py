"""One of several answers to each question: ``sqlgauge vote``."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _native, _show
from ._frames import rows_of
from ._help import documented
from ._lists import write_lists, write_rows
from ._native import InputError
from ._options import VerifyOptions, limits, listed, mapping
from ._progress import shown

__all__ = ["Vote", "vote"]


@documented
@dataclass(frozen=True, repr=False)
class Vote(_show.Shown):
    """The choice for each question."""

    choices: list[dict[str, Any]]
    """By question: ``id``, ``prediction`` (``None`` for an abstention), ``confidence``, ``tie``, ``groups``, ``failed``, ``reason``."""
    gain: dict[str, Any] | None
    """The choice less the first answer, paired by item: ``difference``, ``low``, ``high``, ``p_value``; ``None`` without golds."""
    curve: list[dict[str, Any]]
    """Coverage and accuracy, if items below a confidence are not answered; empty without golds."""
    notes: tuple[str, ...] = ()
    """What reading noticed."""
    _folder: Any = field(default=None, repr=False, compare=False)

    def predictions(self) -> dict[str, str | None]:
        """The chosen SQL by id of the question."""
        return {choice["id"]: choice["prediction"] for choice in self.choices}

    def _sentences(self) -> list[str]:
        said = _show.counted(len(self.choices), "question")
        if self.gain is None:
            return [said]
        points = [100 * self.gain[name] for name in ("difference", "low", "high")]
        return [said + ", {:+.1f} points [{:+.1f}, {:+.1f}] over the first answer".format(*points)]


def vote(
    answers: Any,
    *,
    db: str | os.PathLike[str],
    gold: Any = None,
    questions: Any = None,
    columns: Mapping[str, str] | None = None,
    extract_sql: bool = False,
    by: str = "result",
    name: str = "vote",
    metrics: str | Sequence[str] = "ex",
    out: str | os.PathLike[str] | None = None,
    restart: bool = False,
    timeout: float | None = None,
    now: str | None = None,
    verify: VerifyOptions | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Vote:
    """Chooses one of several answers to each question.

    Args:
        answers: A list per question, in the order of the questions: of texts, or of mappings with ``sql`` and ``weight`` or ``logprob``;
            a mapping from id to such a list; rows with ``id``, ``predictions`` and ``weights`` or ``logprobs``; or the path of a file.
            ``None`` or an empty list is an abstention. A file may also have rows with the same id, or columns ``sql_1``, ``sql_2``.
        db: Folder with ``DB_ID/DB_ID.sqlite``, or one database file.
        gold: The golds, a path or a frame; the choice and the first answers are scored.
        questions: The questions, where there are no golds.
        columns: Columns by role, where the files have other names.
        extract_sql: Take the SQL out of the chatter of an LLM (code fences, explanations).
        by: When two answers mean the same: ``"result"``, ``"proof"``, or ``"both"``, which parts answers that agree by luck.
        name: The name of the system.
        metrics: Metrics of the gain; the first one decides.
        out: Folder to write; without it a temporary one.
        restart: Discard the run that is in the folder.
        timeout: Seconds that one query may take.
        now: Date, or date and time of UTC, that queries take for now.
        verify: How ``verify`` verifies.
        progress: As in :func:`score_many`.

    Raises:
        InputError: An argument is not what it should be.
        DatabaseError: A database cannot be used.
        RunError: The folder holds another run, or cannot be written.
    """
    if (gold is None) == (questions is None):
        raise InputError("give gold, or questions where there are no golds")
    folder = tempfile.TemporaryDirectory(prefix="sqlgauge-")
    work = Path(folder.name)
    where = Path(out) if out is not None else work / "vote"
    given = rows_of(gold if gold is not None else questions)
    source = given if isinstance(given, (str, os.PathLike)) else write_rows(work / "questions.jsonl", given)
    is_file = isinstance(answers, (str, os.PathLike))
    lists = answers if is_file else write_lists(work / "answers.jsonl", answers, given)
    election = {
        "questions": source,
        "has_golds": gold is not None,
        "db": db,
        "name": name,
        "answers": lists,
        "columns": mapping("columns", columns, "{'gold': 'query'}"),
        "extract": extract_sql,
        "by": by,
        "metrics": listed(metrics),
        "out": where,
        "restart": restart,
        "limits": limits(timeout, None, None, None, now),
        "verify": (verify or VerifyOptions())._arguments(),
    }
    with shown(progress) as show:
        notes = _native.vote(election, show)
    text = (where / f"{name}.jsonl").read_text(encoding="utf-8")
    raw = json.loads((where / "vote.json").read_text(encoding="utf-8"))
    choices = [json.loads(line) for line in text.splitlines()]
    return Vote(choices, raw["gain"], raw["curve"], tuple(notes), folder)
