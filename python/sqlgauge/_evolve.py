"""A benchmark under other schemas: ``sqlgauge evolve``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from . import _native, _show
from ._help import documented
from ._options import limits, listed, mapping
from ._progress import shown
from ._subset import subset

__all__ = ["EvolvedBenchmark", "EvolvedBenchmarks", "evolve"]


@documented
@dataclass(frozen=True)
class EvolvedBenchmark:
    """A benchmark with another schema: what :func:`score_many` takes, with ``answers_to`` for predictions of the original."""

    name: str
    """The kind of change, or ``step-N`` of a history."""
    folder: Path
    gold: Path
    """Its questions and golds: ``frame`` of :func:`score_many`."""
    db: Path
    """The folder of its databases."""
    written: int
    """Items that were written; each was run before."""
    golds_changed: int
    """Of them, those whose gold had to be changed."""
    not_written: dict[str, int]
    """Items that were not written, by reason."""
    raw: dict[str, Any] = field(repr=False)
    """The last line of its ``changes.jsonl``."""


class EvolvedBenchmarks(_show.Shown, Mapping[str, EvolvedBenchmark]):
    """The benchmarks that :func:`evolve` wrote, by name."""

    def __init__(self, out: Path, said: dict[str, Any]) -> None:
        self.out = out
        """The folder with all of them."""
        self.notes: tuple[str, ...] = tuple(said["notes"])
        """What reading the inputs noticed, in sentences."""
        self._all = {name: _benchmark(out, name, numbers) for name, numbers in said["evolved"]}

    def __getitem__(self, name: str) -> EvolvedBenchmark:
        if name not in self._all:
            raise KeyError(f"{name!r} was not made; there is {', '.join(self._all)}")
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def _sentences(self) -> list[str]:
        return [*self.notes]

    def _tables(self) -> list[_show.Table]:
        rows = [
            (one.name, one.written, one.golds_changed, ", ".join(f"{n} {why}" for why, n in one.not_written.items()))
            for one in self.values()
        ]
        columns = ["benchmark", "written", "golds changed", "not written"]
        return [_show.Table(f"benchmarks in {self.out}", columns, rows, whole=True)]


def _benchmark(out: Path, name: str, numbers: dict[str, Any]) -> EvolvedBenchmark:
    folder = out / name
    return EvolvedBenchmark(
        name=name,
        folder=folder,
        gold=folder / "dev.json",
        db=folder / "database",
        written=numbers["written"],
        golds_changed=numbers["golds_changed"],
        not_written=numbers["not_written"],
        raw=numbers,
    )


def evolve(
    gold: str | os.PathLike[str],
    *,
    db: str | os.PathLike[str],
    out: str | os.PathLike[str],
    kinds: str | Sequence[str] = "all",
    per_item: bool = False,
    steps: int | None = None,
    script: str | os.PathLike[str] | None = None,
    intensity: float = 0.5,
    naturalness: Literal["regular", "low", "least"] = "regular",
    questions: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    tables: str | os.PathLike[str] | None = None,
    db_id: str | Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    limit: int | None = None,
    seed: int = 0,
    timeout: float | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    max_heap: int | None = None,
    jobs: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
) -> EvolvedBenchmarks:
    """Changes the schemas of a benchmark, and its databases and golds with them; runs every item before it is written.

    After Ctrl-C the call ends at once, but the work goes on in its thread until the process ends or it is done.

    Args:
        gold: File with the golds and their questions.
        db: Folder with ``DB_ID/DB_ID.sqlite``, or one database file.
        out: Folder to write: a benchmark per kind.
        kinds: Kinds of change, in a list or separated by commas, or ``all``; each makes a benchmark of its own.
        per_item: A schema for each item instead of one for each database.
        steps: A history: this many kinds one after the other, drawn from ``kinds``.
        script: File with changes to replay: written by hand, or the ``changes.jsonl`` of an earlier call.
        intensity: Largest share of the eligible tables or columns to change (0 < x <= 1).
        naturalness: How readable new names are.
        questions: File with the questions, where the golds are a file that has none.
        columns: Columns by role, where the file has other names.
        tables: Schema file (``tables.json``): foreign keys that the databases do not declare, and names in words.
        db_id: Take only the questions about this database, or these.
        ids: Take only the questions with these ids.
        where: Take only the questions with these labels, as in ``{"hardness": "extra"}``; several values of a label are
            alternatives.
        limit: Take at most this many questions, drawn at random.
        seed: Seed of all proposals and of that draw: the same seed gives the same benchmark.
        timeout: Seconds that one query may take; 30 without it.
        max_rows: Rows that one result may have.
        max_bytes: Bytes that one result may have.
        max_heap: Bytes of memory that SQLite may use for one query.
        jobs: Worker threads; 0 means one per core.
        progress: As for :func:`score_many`; it counts databases.

    Raises:
        InputError: A file, a kind or an option is not what it should be, or a database is missing.
        RunError: The folder holds something else, or cannot be written.
    """
    if not isinstance(gold, (str, os.PathLike)):
        kind = type(gold).__name__
        raise _native.InputError(f"gold is of type {kind}; give the path of a file, as DataFrame.to_json(path, orient='records') writes it")
    if script is not None and steps is not None:
        raise _native.InputError("script and steps exclude each other; leave one of them out")
    if per_item and (script is not None or steps is not None):
        raise _native.InputError("per_item is for kinds; leave script and steps out")
    job = {
        "gold": gold,
        "questions": questions,
        "columns": mapping("columns", columns, "{'gold': 'query'}"),
        "db": db,
        "tables": tables,
        "out": out,
        "kinds": listed(kinds),
        "per_item": per_item,
        "steps": steps,
        "script": script,
        "seed": seed,
        "intensity": float(intensity),
        "naturalness": naturalness,
        "subset": subset(db_id, ids, where, limit, seed),
        "limits": limits(timeout, max_rows, max_bytes, max_heap, None),
        "jobs": jobs,
    }
    with shown(progress) as show:
        said = _native.evolve_benchmark(job, show)
    return EvolvedBenchmarks(Path(out), said)
