"""Run directories: what ``sqlgauge score`` and :func:`score_many` write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, _show
from ._native import Error

if TYPE_CHECKING:
    import tempfile

    import pandas

__all__ = ["Run", "load", "merge"]


class Run:
    """A run directory, for reading. Made by :func:`load` and :func:`score_many`; pickling sends the path."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        notes: tuple[str, ...] = (),
        _folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self._path = Path(path)
        self._notes = notes
        # A run that nobody asked to be kept lives as long as this object.
        self._folder = _folder

    @property
    def path(self) -> Path:
        """The folder."""
        return self._path

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading the inputs repaired and noticed, in sentences; empty for a run that was loaded."""
        return self._notes

    def samples(self) -> dict[str, Any] | None:
        """The rates of lists of answers (``pass@k`` and others) and how the systems abstain: ``samples.json``; ``None`` of another run."""
        path = self._path / "samples.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def manifest(self) -> dict[str, Any]:
        """What was run, on what, by which version: ``run.json``.

        Raises:
            RunError: There is no run, or it cannot be read.
        """
        said: dict[str, Any] = _native.run_manifest(self._path)
        return said

    def items(self) -> Iterator[dict[str, Any]]:
        """The items one by one, in the order of ``items.jsonl``, read no further ahead than a few hundred.

        An item has ``system``, ``id``, ``index`` (position of its example, from 0), ``db_id``, ``status`` (``ok``,
        ``missing``, ``timeout``, …), ``metrics`` (from id with version to a score in [0, 1], a cost, or ``None`` where
        the metric does not apply) and ``details``.

        Raises:
            RunError: There is no run, or a line of it is damaged.
        """
        # A generator holds on to this object, and with it to a folder that goes with it.
        yield from _native.ItemReader(self._path)

    def summary(self) -> dict[str, Any]:
        """Scores per system with 95 % intervals, their breakdown, and paired comparisons: ``summary.json``.

        For a run that is not finished, of what is there so far.

        Raises:
            RunError: There is no run, or it cannot be read.
        """
        said: dict[str, Any] = _native.run_summary(self._path)
        return said

    def to_pandas(self) -> pandas.DataFrame:
        """One row per item: ``system``, ``id``, ``index``, ``db_id``, ``status``, one column per metric with its score
        (NaN where it does not apply), and ``question``, ``evidence``, ``gold``, ``prediction``, ``difficulty``, ``hardness``,
        ``error``.

        Raises:
            Error: pandas is not installed.
            RunError: There is no run, or it cannot be read.
        """
        try:
            import pandas
        except ImportError as error:
            raise Error("to_pandas needs pandas; install it with pip install 'sqlgauge[pandas]'") from error
        metrics = self.manifest()["metrics"]
        own = ["system", "id", "index", "db_id", "status"]
        shown = ["question", "evidence", "gold", "prediction", "difficulty", "hardness", "error"]
        rows = [
            [item[name] for name in own]
            + [item["metrics"].get(name) for name in metrics]
            + [item["details"].get(name) for name in shown]
            for item in self.items()
        ]
        frame = pandas.DataFrame(rows, columns=own + metrics + shown)
        typed: pandas.DataFrame = frame.astype(dict.fromkeys(metrics, "float64"))
        return typed

    def report(self, format: str = "html", *, out: str | os.PathLike[str] | None = None) -> Path:
        """Writes the report: ``html``, ``markdown``, ``json``, ``jsonl``, ``csv``, ``junit`` or ``table``.

        Returns:
            The file: ``out``, or ``report`` with the ending of the format in the folder of the run.

        Raises:
            InputError: There is no such format.
            RunError: There is no run, or it cannot be read or written.
        """
        return Path(_native.write_report(self._path, format, out))

    def __repr__(self) -> str:
        return f"sqlgauge.load({str(self._path)!r})"

    def __str__(self) -> str:
        return _show.text([f"Run {self._path}"], [self._table()])

    def _repr_html_(self) -> str:
        return _show.html([f"Run {self._path}"], [self._table()])

    def _table(self) -> _show.Table:
        metrics = self.manifest()["metrics"]
        rows = [
            [one["system"], *(_show.score(name, one["scores"].get(name)) for name in metrics)]
            for one in self.summary()["systems"]
        ]
        ratios = [name for name in metrics if _show.is_ratio(name)]
        but = f" ({', '.join(ratios)}: ratios)" if ratios else ""
        caption = f"percent{but} with 95 % intervals; n: items that it is the mean of"
        return _show.Table(caption, ["system", *metrics], rows, whole=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (str(self._path),)


def load(path: str | os.PathLike[str]) -> Run:
    """The run in a folder, finished or not.

    Raises:
        RunError: There is no run in the folder.
    """
    run = Run(path)
    run.manifest()
    return run


def merge(parts: Iterable[Run | str | os.PathLike[str]], *, out: str | os.PathLike[str]) -> Run:
    """Puts the parts of a run together, which ``shard`` of :func:`score_many` or ``--shard`` of the command line wrote.

    ``items.jsonl`` and ``summary.json`` are the bytes that the run without parts has. Nothing is counted twice: a part
    that is missing, not finished, there twice or of another run is refused by name.

    Args:
        parts: All parts of one run, in any order.
        out: Run directory to write.

    Raises:
        RunError: They are not all the finished parts of one run, or the run cannot be written.
    """
    _native.merge_parts([part.path if isinstance(part, Run) else part for part in parts], out)
    return Run(out)
