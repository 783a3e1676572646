"""How results print: a sentence and small tables, in a terminal and in a notebook."""

from __future__ import annotations

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
    whole: bool = False
    """Whether all rows are shown, and the whole of each value."""

    def text(self) -> str:
        """The table with aligned columns."""
        shown = self._shown()
        lines = [list(self.columns), *shown]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        rule = ["-" * width for width in widths]
        lines.insert(1, rule)
        body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([self.caption, *("  " + line for line in [*body, *self._more()])])

    def html(self) -> str:
        """The same for a notebook."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        rows = ["".join(f"<td>{escape(value)}</td>" for value in row) for row in self._shown()]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = "".join(f"<p>{escape(line)}</p>" for line in self._more())
        return f"<table><caption>{escape(self.caption)}</caption><tr>{head}</tr>{body}</table>{more}"

    def _shown(self) -> list[list[str]]:
        rows = self.rows if self.whole else self.rows[:MOST_ROWS]
        return [[_value(value, None if self.whole else WIDEST) for value in row] for row in rows]

    def _more(self) -> list[str]:
        if not self.rows:
            return ["no rows"]
        left = 0 if self.whole else len(self.rows) - MOST_ROWS
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


def named(table: dict[str, Any]) -> Table:
    """A table of a counterexample, with the columns that the queries read."""
    return result(f"table {table['name']}", table)


def _value(value: Any, widest: int | None) -> str:
    if value is None:
        return "NULL"
    shown = str(value).replace("\n", "⏎")
    return shown if widest is None or len(shown) <= widest else shown[: widest - 1] + "…"
