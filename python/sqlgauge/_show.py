"""How results print: a sentence and small tables, in a terminal and in a notebook."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

MOST_ROWS = 10
"""Rows of a table that are shown."""
WIDEST = 40
"""Characters of a value that are shown."""


@dataclass(frozen=True)
class Table:
    """Rows under a caption."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def text(self) -> str:
        """The table with aligned columns."""
        shown = [[_value(value) for value in row] for row in self.rows[:MOST_ROWS]]
        lines = [list(self.columns), *shown]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        rule = ["-" * width for width in widths]
        lines.insert(1, rule)
        body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([self.caption, *("  " + line for line in [*body, *self._more()])])

    def html(self) -> str:
        """The same for a notebook."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        rows = ["".join(f"<td>{escape(_value(value))}</td>" for value in row) for row in self.rows[:MOST_ROWS]]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = "".join(f"<p>{escape(line)}</p>" for line in self._more())
        return f"<table><caption>{escape(self.caption)}</caption><tr>{head}</tr>{body}</table>{more}"

    def _more(self) -> list[str]:
        if not self.rows:
            return ["no rows"]
        left = len(self.rows) - MOST_ROWS
        return [f"… {left} more rows"] if left > 0 else []


def text(sentences: Sequence[str], tables: Sequence[Table] = ()) -> str:
    """Sentences, then tables."""
    return "\n".join([*sentences, *(table.text() for table in tables)])


def html(sentences: Sequence[str], tables: Sequence[Table] = ()) -> str:
    """The same for a notebook."""
    return "".join([*(f"<p>{escape(sentence)}</p>" for sentence in sentences), *(table.html() for table in tables)])


def result(caption: str, rows: dict[str, Any]) -> Table:
    """What a query returns."""
    return Table(caption, [str(column) for column in rows["columns"]], rows["rows"])


def database(script: str) -> list[Table]:
    """The tables with rows of a counterexample's script; none where this Python's SQLite is too old for it."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").fetchall()
        tables = []
        for (name,) in names:
            quoted = '"' + name.replace('"', '""') + '"'
            cursor = connection.execute(f"SELECT * FROM {quoted}")
            columns = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            if rows:
                tables.append(Table(f"table {name}", columns, rows))
        return tables
    except sqlite3.Error:
        return []
    finally:
        connection.close()


def _value(value: Any) -> str:
    if value is None:
        return "NULL"
    shown = str(value).replace("\n", "⏎")
    return shown if len(shown) <= WIDEST else shown[: WIDEST - 1] + "…"
