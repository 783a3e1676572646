"""How results print: a sentence and small tables, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

RATIOS = frozenset({"ves", "r-ves", "vm-steps"})
"""Metrics whose values are no shares of 1."""
MOST_ROWS = 10
"""Rows of a table that are shown."""
WIDEST = 40
"""Characters of a value that are shown in a terminal."""
WIDEST_OF_LAST = 120
"""The same in the last column, where sentences stand."""
WIDEST_OF_PAGE = 400
"""The same in a notebook, which breaks lines."""


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
        last = len(self.columns) - 1
        shown = self._shown(lambda at: WIDEST_OF_LAST if at == last else WIDEST)
        lines = [list(self.columns), *shown]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        rule = ["-" * width for width in widths]
        lines.insert(1, rule)
        body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([self.caption, *("  " + line for line in [*body, *self._more()])])

    def html(self) -> str:
        """The same for a notebook."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        rows = ["".join(f"<td>{escape(value)}</td>" for value in row) for row in self._shown(lambda _: WIDEST_OF_PAGE)]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = "".join(f"<p>{escape(line)}</p>" for line in self._more())
        return f"<table><caption>{escape(self.caption)}</caption><tr>{head}</tr>{body}</table>{more}"

    def _shown(self, widest: Callable[[int], int]) -> list[list[str]]:
        rows = self.rows if self.whole else self.rows[:MOST_ROWS]
        return [[_value(value, None if self.whole else widest(at)) for at, value in enumerate(row)] for row in rows]

    def _more(self) -> list[str]:
        if not self.rows:
            return ["no rows"]
        left = 0 if self.whole else len(self.rows) - MOST_ROWS
        return [f"… {left} more rows"] if left > 0 else []


def text(sentences: Sequence[str], tables: Sequence[Table]) -> str:
    """Sentences, then tables."""
    return "\n".join([*sentences, *(table.text() for table in tables)])


def html(sentences: Sequence[str], tables: Sequence[Table]) -> str:
    """The same for a notebook."""
    return "".join([*(f"<p>{escape(sentence)}</p>" for sentence in sentences), *(table.html() for table in tables)])


class Shown:
    """A result that prints its sentences, then its tables."""

    def __repr__(self) -> str:
        return text(self._sentences(), self._tables())

    def _repr_html_(self) -> str:
        return html(self._sentences(), self._tables())

    def _sentences(self) -> list[str]:
        return []

    def _tables(self) -> list[Table]:
        return []


def counted(count: int, noun: str) -> str:
    """``1 pair``, ``2 pairs``: the number and the noun in the form that goes with it; for nouns that take an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def p_value(p: float) -> str:
    """A p-value as the tables of a terminal have it: never 0, and not rounded up to the bar of 0.05."""
    if p < 0.001:
        return "< 0.001"
    if 0.0495 <= p < 0.05:
        return f"{p:.4f}" if p < 0.04995 else "< 0.05"
    return f"{p:.3f}"


def is_ratio(metric: str) -> bool:
    """Whether a metric is not a share of 1."""
    return metric.split("@")[0] in RATIOS


def score(metric: str, of: dict[str, Any] | None) -> str:
    """A mean with its interval and number of items, as the command line prints it."""
    if of is None or of["mean"] is None:
        return "-"
    numbers = [of["mean"], of["low"], of["high"]]
    mean, low, high = ("" if n is None else f"{n:.2f}" if is_ratio(metric) else f"{100 * n:.1f}" for n in numbers)
    return f"{mean} [{low}, {high}] n={of['count']}" if low and high else f"{mean} n={of['count']}"


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
