"""Databases from loose tables: ``sqlgauge tables``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from . import _native, _show
from ._help import documented

__all__ = ["BuiltDatabase", "BuiltDatabases", "tables"]


@documented
@dataclass(frozen=True)
class BuiltDatabase:
    """A database that was built of tables."""

    db_id: str
    path: Path
    tables: dict[str, int]
    """Its tables with their numbers of rows."""
    foreign_keys: int
    """How many it declares."""


@documented
@dataclass(frozen=True, repr=False)
class BuiltDatabases(_show.Shown):
    """The databases that :func:`tables` built, and what became of each file."""

    out: Path
    """The folder: ``db`` of the other functions."""
    databases: tuple[BuiltDatabase, ...]
    refused: dict[str, str]
    """The files that are not used, each with the reason."""
    raw: list[dict[str, Any]] = field(repr=False)
    """Every decision, as in ``tables.jsonl``."""

    def _tables(self) -> list[_show.Table]:
        built = [(one.db_id, ", ".join(one.tables), one.foreign_keys) for one in self.databases]
        databases = _show.Table(f"databases in {self.out}", ["database", "tables", "foreign keys"], built)
        others = [
            _show.Table("files that are not used", ["file", "reason"], list(self.refused.items()), whole=True),
            _show.Table("rows that are left out", ["file", "rows", "because", "lines"], self._rows_left_out(), whole=True),
            _show.Table("columns to look at", ["file", "column", "type", "because"], self._columns(), whole=True),
        ]
        return [databases, *(table for table in others if table.rows)]

    def _rows_left_out(self) -> list[tuple[str, int, str, str]]:
        """The rows of files that no database has, with the first lines of each kind."""
        found = []
        for file in self._used():
            kinds = [("repeated", file["duplicate_rows"])]
            kinds += [(f"too {what} values", file["ragged"][key]) for what, key in (("few", "short"), ("many", "long"))]
            for why, lines in kinds:
                if lines["count"]:
                    more = ", …" if lines["count"] > len(lines["first"]) else ""
                    found.append((file["file"], lines["count"], why, ", ".join(map(str, lines["first"])) + more))
        return found

    def _columns(self) -> list[tuple[str, str, str, str]]:
        """The columns that stay text although they look like something else, and those whose unit is taken off."""
        found = []
        for file in self._used():
            for column in file["columns"]:
                if "doubt" in column:
                    examples = ", ".join(column.get("examples", []))
                    found.append((file["file"], column["name"], column["type"], f"{column['doubt']}: {examples}"))
                elif column.get("unit"):
                    found.append((file["file"], column["name"], column["type"], f"{column['unit']} is taken off its values"))
        return found

    def _used(self) -> Iterator[dict[str, Any]]:
        return (record for record in self.raw if record["about"] == "file" and record["outcome"] == "used")


def tables(
    folder: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    foreign_key_score: float | None = None,
    keep_wide: bool = False,
    keep_duplicates: bool = False,
    fill_short_lines: bool = False,
    strict: bool = False,
    decimal_mark: Literal["point", "comma"] | None = None,
    date_order: Literal["day-first", "month-first"] | None = None,
    booleans: bool = False,
    min_latin: float | None = None,
    jobs: int = 0,
) -> BuiltDatabases:
    """Builds SQLite databases with types and keys from a folder of CSV and Parquet files.

    Args:
        folder: Folder with the files; related tables of one folder may share a database.
        out: New or empty folder to write: ``DB_ID/DB_ID.sqlite``, and ``tables.jsonl`` with the reason for every decision.
        foreign_key_score: Lowest score at which a column becomes a foreign key to another table, from 0 to 1.
        keep_wide: Keep wide tables whole, instead of splitting them along functional dependencies.
        keep_duplicates: Keep rows that repeat an earlier one.
        fill_short_lines: Keep lines with fewer values than the header has names, with NULL for the rest.
        strict: Raise at the first line or file that would be left out because it cannot be read.
        decimal_mark: Decimal mark of columns whose values leave it open, such as ``1,234``; without it they stay text.
        date_order: What comes first in columns of dates that leave it open, such as ``05/01/2024``; without it they stay text.
        booleans: Store words for yes and no as 1 and 0.
        min_latin: Refuse a table in which a smaller share of the letters is Latin, from 0 to 1; 0 accepts every script.
        jobs: Worker threads; 0 means one per core.

    Raises:
        InputError: An option is out of range, no table can be used, or ``out`` is not empty.
    """
    job = {
        "folder": folder,
        "out": out,
        "foreign_key_score": foreign_key_score,
        "keep_wide": keep_wide,
        "keep_duplicates": keep_duplicates,
        "fill_short_lines": fill_short_lines,
        "strict": strict,
        "decimal_mark": decimal_mark,
        "date_order": date_order,
        "booleans": booleans,
        "min_latin": min_latin,
        "jobs": jobs,
    }
    said = _native.build_databases(job)
    return BuiltDatabases(
        out=Path(out),
        databases=tuple(_built(Path(out), own) for own in said if own["about"] == "database"),
        refused={own["file"]: own["detail"] for own in said if own["about"] == "file" and own["outcome"] == "refused"},
        raw=said,
    )


def _built(out: Path, own: dict[str, Any]) -> BuiltDatabase:
    db_id = own["db_id"]
    return BuiltDatabase(db_id, out / db_id / f"{db_id}.sqlite", dict(own["tables"]), own["foreign_keys"])
