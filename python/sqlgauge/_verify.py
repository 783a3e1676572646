"""A database that tells two queries apart, or a proof that there is none: ``sqlgauge verify``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _native, _show
from ._help import documented
from ._native import Database, Schema
from ._options import VerifyOptions
from ._over import over

__all__ = ["Verification", "verify"]


@documented
@dataclass(frozen=True, repr=False)
class Verification(_show.Shown):
    """What is known of two queries. It is true where they are known to be equivalent."""

    verdict: Literal["equivalent", "equivalent_up_to", "different", "unknown"]
    """``equivalent``: on every database of the schema. ``equivalent_up_to``: on every one of at most ``bound`` rows per
    table. ``different``: ``witness`` tells them apart. ``unknown``: not decided, for the ``reason``."""
    stage: str
    """What decided: ``rules``, ``data``, ``search``, ``reuse`` or ``smt``."""
    reason: str | None
    """Why it is not decided, as a code: ``no-solver``, ``unsupported:…``, …"""
    message: str | None
    """The same as a sentence."""
    bound: int | None
    """Rows per table up to which the proof goes."""
    rules: tuple[str, ...]
    """Ids of the rules of a proof by rules."""
    assumes: tuple[Any, ...]
    """What the proof rests on besides the schema."""
    witness: str | None
    """A database on which the results differ, as an SQL script."""
    left_result: dict[str, Any] | None
    """What the left query returns on the witness: ``columns``, ``rows``."""
    right_result: dict[str, Any] | None
    """What the right one does."""
    kind: Literal["permits-none", "permits-more", "permits-another"] | None
    """What the right query permits on the witness: none of the left one's results; or, where the left one permits one only, that one
    and others; or a different one, and whether the left one's too is not known."""
    other_right_result: dict[str, Any] | None
    """Where it permits more, another result that SQLite returned for the right query on the same rows."""
    permits_less: bool
    """Whether ``equivalent_up_to`` is proved one way only: the right query permits no result that the left one does not."""
    values: Literal["declared", "any"] | None
    """Which values the verdict is about: those that columns declare (and, in a primary key, no NULL), or any that SQLite stores."""
    free_columns: tuple[str, ...]
    """The columns that may hold any value nevertheless, as the given rows do: ``table.column``."""
    undeclared: tuple[str, ...]
    """Where the verdict is another than ``different``, the values that columns do not declare and by which the queries differ all the
    same: ``t.a: 1.5 in a column INT``. ``raw["undeclared_witness"]`` is a database with them."""
    minimal: str | None
    """How small the witness is: ``locally`` minimal, if the difference is lost without any of its rows, and with a plainer value in any
    place; ``fewest``, if besides no database with fewer rows tells the queries apart; or ``unfinished:`` and what ended the trials."""
    difference: str | None
    """In words, how the two results differ."""
    explanation: str | None
    """In words, which clause makes the difference."""
    words: str | None
    """What makes the right query another than the left, in one sentence (“the prediction” is the right query, “the gold” the left);
    ``None`` where that is not clear. ``raw["words"]`` has the causes too."""
    tables: tuple[dict[str, Any], ...]
    """The tables of the witness with the columns that the queries read: ``name``, ``columns``, ``rows``."""
    realistic: bool | None
    """Whether the witness keeps what the rows of the given database keep; ``None`` where no rows were given, or too many to look
    at all of them (``raw["kept_unknown"]`` says so)."""
    kept: tuple[str, ...]
    """What of that it keeps, in words."""
    not_kept: tuple[str, ...]
    """What of that it does not keep."""
    tie: bool
    """Whether the queries are equivalent and their results differ on the given database all the same: the gold permits
    several results, and both are among them."""
    raw: dict[str, Any] = field(repr=False)
    """What ``sqlgauge verify --json`` prints."""
    _about: tuple[str, ...] = field(repr=False, default=())

    def __bool__(self) -> bool:
        return self.verdict in ("equivalent", "equivalent_up_to")

    def _sentences(self) -> list[str]:
        return [self._verdict(), *self._about]

    def _verdict(self) -> str:
        if self.verdict == "equivalent":
            by = f"by the rules {', '.join(self.rules)}" if self.rules else f"by {self.stage}"
            return f"Equivalent: the queries return the same on every database of the schema ({by})."
        if self.verdict == "equivalent_up_to":
            if self.permits_less:
                return f"Right up to {self.bound} rows per table: it permits no result that the left query does not (which permits more)."
            return f"Equivalent up to {self.bound} rows per table: no such database tells the queries apart."
        if self.verdict == "different":
            return f"Different: {self.difference or 'the database below tells the queries apart'}."
        return f"Unknown: {self.message or self.reason or 'neither a proof nor a counterexample was found'}."

    def _tables(self) -> list[_show.Table]:
        tables = [_show.named(table) for table in self.tables]
        results = [("result of the left query", self.left_result), ("result of the right query", self.right_result)]
        return [*tables, *(_show.result(caption, rows) for caption, rows in results if rows)]


def verify(
    left: str,
    right: str,
    db: Database | Schema | str | os.PathLike[str],
    *,
    options: VerifyOptions | None = None,
) -> Verification:
    """Looks for a database on which two queries return different results, or for a proof that there is none.

    Args:
        left: The gold query; its ORDER BY decides whether the order of rows counts.
        right: The other one.
        db: What both are over; the rows of a database are looked at too. A path is opened for this call alone.
        options: Semantics, bound, time and solver of the proof.

    Raises:
        QueryError: One of the queries is none of SQLite's.
        DatabaseError: The file cannot be opened.
        InputError: An option that is none, or a solver that was named and is not there.
    """
    told = _native.verify_queries(left, right, over(db), (options or VerifyOptions())._arguments())
    said = told["record"]
    return Verification(
        verdict=said["verdict"],
        stage=said["stage"],
        reason=said.get("reason"),
        message=_native.in_python(said["message"]) if "message" in said else None,
        bound=said.get("bound"),
        rules=tuple(said.get("rules", ())),
        assumes=tuple(said.get("assumes", ())),
        witness=said.get("witness"),
        left_result=said.get("left_result"),
        right_result=said.get("right_result"),
        kind=said.get("kind"),
        other_right_result=said.get("other_right_result"),
        permits_less=said.get("permits_less", False),
        values=said.get("values"),
        free_columns=tuple(said.get("free_columns", ())),
        undeclared=tuple(said.get("undeclared", ())),
        minimal=said.get("minimal"),
        difference=said.get("difference"),
        explanation=said.get("explanation"),
        words=said.get("words", {}).get("sentence"),
        tables=tuple(said.get("tables", ())),
        realistic=said.get("realistic"),
        kept=tuple(said.get("kept", ())),
        not_kept=tuple(said.get("not_kept", ())),
        tie=said.get("tie", False),
        raw=said,
        _about=tuple(told["sentences"]),
    )
