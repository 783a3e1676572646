"""Scores of one prediction, and of whole frames: ``sqlgauge score``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from . import _native, _show
from ._help import documented
from ._frames import rows_of
from ._lists import has_lists, write_lists
from ._native import Database, InputError
from ._options import DEFAULT_METRICS, VerifyOptions, limits, listed, mapping
from ._over import with_rows
from ._progress import shown
from ._runs import Run
from ._subset import subset
from ._versions import by_id, is_versions, read_versions, versions_of

__all__ = ["Frame", "Score", "Scores", "given_systems", "rows_of", "score", "score_many"]

Frame: TypeAlias = Any
"""A pandas or polars DataFrame, a pyarrow Table, a ``datasets.Dataset``, a list of mappings, or a mapping of columns."""


@documented
@dataclass(frozen=True)
class Score:
    """What one metric says of one prediction."""

    score: float | None
    """In [0, 1]; of a cost metric in its unit; ``None`` where the metric does not apply, as where the gold fails."""
    status: str
    """How the prediction went: ``ok``, or what kept it from running (``syntax_error``, ``timeout``, …);
    ``gold_failed`` where the gold does not run."""
    reason: str | None
    """Why the score is what it is, where there is something to say."""
    detail: dict[str, Any] = field(repr=False)
    """All that the metric says about its score."""


class Scores(_show.Shown, Mapping[str, Score]):
    """Scores by metric. A metric is found with and without its version: ``scores["ex"]``, ``scores["ex@1"]``."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.status: str = said["status"]
        """How the prediction went; see :attr:`Score.status`."""
        self.details: dict[str, Any] = said["details"]
        """What explains the scores, as in ``items.jsonl``."""
        told: dict[str, Any] = self.details.get("metrics", {})
        self._scores = {name: self._score(value, told.get(name, {})) for name, value in said["metrics"].items()}

    def _score(self, value: float | None, detail: dict[str, Any]) -> Score:
        status = detail.get("status", self.status)
        failure = self.details.get("gold_error" if status == "gold_failed" else "error")
        reason = detail.get("reason", failure)
        told = _native.in_python(reason) if isinstance(reason, str) else reason
        return Score(score=value, status=status, reason=told, detail=detail)

    def __getitem__(self, name: str) -> Score:
        if name in self._scores:
            return self._scores[name]
        found = [own for own in self._scores if own.split("@")[0] == name]
        if not found:
            raise KeyError(f"{name!r} was not scored; there is {', '.join(self._scores)}")
        return self._scores[found[-1]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def _tables(self) -> list[_show.Table]:
        rows = [(name, score.score, score.reason or "") for name, score in self.items()]
        return [_show.Table(f"status: {self.status}", ["metric", "score", "reason"], rows)]


def score(
    prediction: str | None,
    *,
    gold: str | Sequence[str],
    db: Database | str | os.PathLike[str],
    metrics: str | Sequence[str] = DEFAULT_METRICS,
    verify: VerifyOptions | None = None,
) -> Scores:
    """Scores one prediction.

    Args:
        prediction: The predicted SQL as the system gave it; ``None`` where it gave none.
        gold: The gold query, or several accepted ones, of which the best counts.
        db: The database. A path is opened for this call alone: make a :class:`Database` for more than one.
        metrics: Ids of metrics, with or without version, in a list or separated by commas.
        verify: How the metric ``verify`` verifies, where it is among them.

    Raises:
        InputError: There is no such metric, or the gold is not a query.
        DatabaseError: The database cannot be used.
    """
    arguments = (verify or VerifyOptions())._arguments()
    return Scores(_native.score_pair(prediction, _golds(gold), with_rows(db), listed(metrics), arguments))


def _golds(gold: Any) -> list[str]:
    golds = [gold] if isinstance(gold, str) or not isinstance(gold, Iterable) else list(gold)
    if not golds:
        raise InputError("gold is empty; give one query, or a list of accepted ones")
    for one in golds:
        if not isinstance(one, str):
            what = "None" if one is None else f"a value of type {type(one).__name__}"
            raise InputError(f"gold is {what} where a query should be; give one query, or a list of accepted ones")
    return golds


def score_many(
    frame: Frame | str | os.PathLike[str] | None = None,
    *,
    db: str | os.PathLike[str],
    gold: Mapping[str, Any] | None = None,
    metrics: str | Sequence[str] | None = None,
    predictions: Mapping[str, Any] | str | None = None,
    columns: Mapping[str, str] | None = None,
    answers_to: str | os.PathLike[str] | None = None,
    tables: str | os.PathLike[str] | None = None,
    questions: str | os.PathLike[str] | None = None,
    k: Sequence[int] = (),
    unanswerable: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    restart: bool = False,
    shard: str | None = None,
    db_id: str | Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    limit: int | None = None,
    seed: int = 0,
    skip_missing_db: bool = False,
    extract_sql: bool = False,
    timeout: float | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    max_heap: int | None = None,
    now: str | None = None,
    jobs: int = 0,
    verify: VerifyOptions | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Any:
    """Scores the predictions of one or more systems into a run directory.

    Returns a :class:`Run`; with ``gold``, :class:`Versions`. With lists of answers, :meth:`Run.samples` has the rates.

    The items are those that ``sqlgauge score`` writes, byte for byte, from files that say the same at the same ``now``.
    The same call with the same ``out`` finishes a run that was broken off, without scoring an item twice.

    Args:
        frame: The benchmark: one row per question, with the columns ``gold`` (or ``query``, ``sql``, …; a text, or a
            list of accepted ones), ``db_id``, and as there are ``id``, ``question``, ``evidence``, ``difficulty``.
            A path is read as ``--gold`` is. It may be left out where ``gold`` has files or frames.
        gold: Several versions of the golds, each by its name: a column of the frame, a path, or a frame of its own. In a column, an
            empty cell is a question that the version does not have. The systems are scored under each version and compared.
        db: Folder with ``DB_ID/DB_ID.sqlite``, or one database file.
        metrics: Ids of metrics, with or without version, in a list or separated by commas. Without them ``ex-bird`` and
            ``ex`` where questions have evidence (BIRD), else ``ex``, ``ex-spider``, ``ex-bird`` and ``esm``.
        predictions: By name of the system: the column of the frame that has its predictions, a list or Series of texts
            (``None`` for no answer) in the order of the frame, a mapping from id to text, a frame of its own, or a
            path (``pathlib.Path``) that is read as ``--pred`` is. A text alone is a column and names the system.
            Without it, the frame's column ``prediction`` (or ``predicted_sql``, ``pred``, …).
            A list of answers in the place of a text, with ``None`` for an abstention, is scored as several answers.
        k: The k of ``pass@k`` and ``pass^k``, where predictions are lists; 1, 2, 4 and 8 without it.
        unanswerable: File with questions that have no answer, which a system should abstain from.
        columns: Columns by role (``gold``, ``db_id``, ``question``, ``id``, …), where the frame has other names: what
            ``--column ROLE=COLUMN`` is on the command line (``pred.id``: of predictions alone).
        answers_to: The benchmark that the predictions answer, where ``frame`` is the path of one that was evolved from it.
        tables: Schema file (``tables.json``); exact set match takes foreign keys from it.
        questions: File with the questions, where the golds are a file that has none.
        out: Run directory to write. Without it the run is kept in a temporary folder as long as the returned object is.
        restart: Discard the run that is in the folder.
        shard: Part of the run, as in ``3/16``: every 16th example from the third on. Scored with the same arguments and the
            same ``now``, all parts make the run that :func:`merge` writes.
        db_id: Take only the questions about this database, or these.
        ids: Take only the questions with these ids.
        where: Take only the questions with these labels, as in ``{"hardness": "extra"}`` or ``{"difficulty": "simple"}``;
            several values of a label are alternatives.
        limit: Take at most this many questions, drawn at random.
        seed: Seed of that draw.
        skip_missing_db: Leave out questions whose databases are missing, and say so.
        extract_sql: Take the SQL out of the chatter of an LLM (code fences, explanations).
        timeout: Seconds that one query may take; 30 without it.
        max_rows: Rows that one result may have.
        max_bytes: Bytes that one result may have.
        max_heap: Bytes of memory that SQLite may use for one query.
        now: Date, or date and time of UTC, that queries take for now; when the run began without it.
        jobs: Worker threads; 0 means one per core.
        verify: How the metric ``verify`` verifies, where it is among the metrics.
        progress: Whether to show a bar of tqdm; without it, where tqdm is installed and standard error is a terminal.
            A function is called with the items done and all items.

    Raises:
        InputError: The frame, a column, a metric or an option is not what it should be, or a database is missing.
        DatabaseError: A database cannot be used.
        RunError: The folder holds another run, or cannot be written.
        KeyboardInterrupt: What was scored before is in the folder.
    """
    # Here and not above: it takes a third of the time to import this package.
    import tempfile

    if gold is None and is_versions(frame):
        gold, frame = frame, None
    versions: list[tuple[str, Any]] = []
    if gold is not None:
        rows, versions = versions_of(gold, frame, columns)
        predictions = by_id(predictions, rows, columns)
    elif frame is None:
        raise InputError("frame is missing; give the benchmark, or gold with the versions of its golds")
    else:
        rows = rows_of(frame)
    lists = tempfile.TemporaryDirectory(prefix="sqlgauge-")
    predictions, are_lists = _listed_answers(rows, predictions, Path(lists.name))
    are_lists = are_lists or bool(k) or unanswerable is not None
    # The folder is gone with the run that has it.
    folder = tempfile.TemporaryDirectory(prefix="sqlgauge-") if out is None else None
    path = Path(folder.name, "run") if folder is not None else Path(out or "")
    job = {
        "frame": rows,
        "predictions": _systems(rows, predictions, columns),
        "db": db,
        "metrics": None if metrics is None else listed(metrics),
        "columns": mapping("columns", columns, "{'gold': 'query'}"),
        "answers_to": answers_to,
        "tables": tables,
        "questions": questions,
        "out": os.fspath(path) if folder is not None else out,
        "restart": restart,
        "shard": shard,
        "subset": subset(db_id, ids, where, limit, seed),
        "skip_missing_db": skip_missing_db,
        "extract": extract_sql,
        "limits": limits(timeout, max_rows, max_bytes, max_heap, now),
        "jobs": jobs,
        "verify": (verify or VerifyOptions())._arguments(),
    }
    # The core empties the job once it has read it: rows that were made here do not stay while they are scored.
    del rows
    of_lists = (list(k), None if unanswerable is None else os.fspath(unanswerable))
    with shown(progress) as show:
        if gold is not None:
            notes = _native.score_versions(job, versions, of_lists if are_lists else None, show)
            return read_versions(path, [name for name, _ in versions], notes, folder)
        if are_lists:
            notes = _native.score_lists(job, *of_lists, show)
        else:
            notes = _native.score_run(job, show)
    return Run(path, notes=tuple(notes), _folder=folder)


def _listed_answers(rows: Any, predictions: Any, folder: Path) -> tuple[Any, bool]:
    """The predictions with lists of answers as files, and whether there are any."""
    if isinstance(predictions, str):
        predictions = {predictions: predictions}
    if not isinstance(predictions, Mapping):
        return predictions, False
    written: dict[Any, Any] = {}
    any_lists = False
    for at, (name, given) in enumerate(predictions.items()):
        is_list = has_lists(given, rows)
        any_lists = any_lists or is_list
        written[name] = write_lists(folder / f"{at}.jsonl", given, rows) if is_list else given
    return written, any_lists


def _systems(rows: Any, predictions: Any, columns: Any) -> list[tuple[str, Any]]:
    """The systems with their predictions: a column of the frame, a path, texts, or rows."""
    if predictions is None:
        named = dict(mapping("columns", columns, "{'gold': 'query'}"))
        predictions = {"prediction": named.get("prediction") or _prediction_column(rows)}
    elif isinstance(predictions, str):
        predictions = {predictions: predictions}
    given = given_systems("predictions", predictions, rows)
    if not given:
        raise InputError("predictions names no system; give at least one, as in predictions={'mine': 'predicted_sql'}")
    return given


def given_systems(argument: str, predictions: Any, rows: Any) -> list[tuple[str, Any]]:
    """The systems with their predictions, tables of other libraries as rows.

    Raises:
        InputError: It is not a mapping, or a text in it names a file and not a column.
    """
    named = mapping(argument, predictions, "{'mine': predictions}, with the name of the system")
    return [(name, _given(f"{argument}[{name!r}]", given, rows)) for name, given in named]


def _given(place: str, given: Any, rows: Any) -> Any:
    if isinstance(given, str) and _is_file(given, rows):
        raise InputError(f"{place}: {given!r} is a file, and a text names a column; give pathlib.Path({given!r})")
    if isinstance(given, (str, os.PathLike, Mapping)):
        return given
    return rows_of(given)


_ENDINGS = (".csv", ".json", ".jsonl", ".parquet", ".sql", ".tsv", ".txt")
"""How files of predictions end."""


def _is_file(name: str, rows: Any) -> bool:
    """Whether a text that should name a column is meant as a file; a column of the frame never is."""
    if name in _columns(rows):
        return False
    # `a.b` leads into the column `a`, so that an ending says nothing where the columns are not known.
    is_unknown = bool(_columns(rows)) and name.split(".")[0] not in _columns(rows)
    return (is_unknown and name.lower().endswith(_ENDINGS)) or os.path.isfile(name)


def _columns(rows: Any) -> list[str]:
    """The columns of the frame's first row; none of a file, which is not read here."""
    first = None if isinstance(rows, (str, os.PathLike)) else next(iter(rows), None)
    return [str(name) for name in first] if isinstance(first, Mapping) else []


def _prediction_column(rows: Any) -> str:
    """The column of the frame that is called as predictions are; ``sql`` is the gold's name too, and none of them."""
    if isinstance(rows, (str, os.PathLike)):
        if not os.path.exists(rows):
            raise InputError(f"there is no file {os.fspath(rows)!r}; check the path")
        raise InputError(
            f"frame is the file {os.fspath(rows)!r}: name the column in it that has predictions, or give their file, as in "
            "predictions={'mine': 'predicted_sql'} or predictions={'mine': pathlib.Path('mine.sql')}"
        )
    known = [name for name in _native.column_names("prediction") if name != "sql"]
    present = _columns(rows)
    for name in known:
        found = next((own for own in present if own.lower() == name.lower()), None)
        if found is not None:
            return found
    raise InputError(
        f"the frame has no column with predictions; it is looked for in {', '.join(known)}, and there is "
        f"{', '.join(present) or 'none'}; name the column that has it with predictions={{'NAME': 'COLUMN'}}"
    )
