"""Whether two queries mean the same: ``sqlgauge match``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _native, _show
from ._help import documented
from ._native import Database, Schema
from ._over import over

__all__ = ["Application", "BrokenForeignKey", "Match", "NormalForm", "match"]


@documented
@dataclass(frozen=True)
class Application:
    """One step of a query towards its normal form."""

    rule: str
    """Id of the rule, as ``sqlgauge rules explain`` takes it."""
    name: str
    """What the rule is called."""
    scope: str
    """The part of the query that it was applied to."""
    before: str
    """That part before the step, as SQL."""
    after: str
    """That part after it."""


@documented
@dataclass(frozen=True)
class NormalForm:
    """A query after all rules."""

    sql: str
    rules: tuple[Application, ...]
    """The steps that led to it, in their order."""


@documented
@dataclass(frozen=True)
class BrokenForeignKey:
    """A foreign key that the rows of the database break; no proof relies on it."""

    key: str
    reason: str


@documented
@dataclass(frozen=True, repr=False)
class Match(_show.Shown):
    """What tree matching says of two queries. It is true where they are equal."""

    equal: bool
    """Whether the rules prove that both return the same on every database of the schema. ``False`` says that they do
    not prove it, not that the queries differ; :func:`verify` looks for a database on which they do."""
    verdict: str
    """The same in words."""
    difference: str | None
    """The first place where the normal forms differ."""
    profile: str
    """``etm@1``, or ``etm-paper@1``."""
    assumes: tuple[tuple[str, str], ...]
    """Kind and text of each constraint of the schema that the proof uses."""
    foreign_keys_checked: bool
    """Whether there were rows to check the foreign keys by; where not, they are trusted."""
    broken_foreign_keys: tuple[BrokenForeignKey, ...]
    left: NormalForm | None
    """``None`` where the query is beyond what the rules know."""
    right: NormalForm | None
    raw: dict[str, Any] = field(repr=False)
    """What ``sqlgauge match --json`` prints."""

    def __bool__(self) -> bool:
        return self.equal

    def _sentences(self) -> list[str]:
        if self.equal:
            return [f"Equal by {self.profile}: the rules prove that both queries return the same."]
        where = f" The first difference: {self.difference}" if self.difference else ""
        return [f"Not proved equal by {self.profile}: {self.verdict}.{where}"]

    def _tables(self) -> list[_show.Table]:
        forms = [("left", self.left), ("right", self.right)]
        steps = [(side, step.rule, step.name, step.scope) for side, form in forms if form for step in form.rules]
        return [_show.Table("rules that were applied", ["query", "rule", "name", "in"], steps)] if steps else []


def match(
    left: str,
    right: str,
    db: Database | Schema | str | os.PathLike[str],
    *,
    profile: Literal["sound", "paper"] = "sound",
) -> Match:
    """Tells whether two queries mean the same, without running them.

    Args:
        left: The first query.
        right: The second.
        db: What both are over. A path is opened for this call alone: make a :class:`Database` for more than one.
        profile: ``sound`` has only rules that hold on every database, ``paper`` the rules as published.

    Raises:
        QueryError: One of the queries is none of SQLite's.
        DatabaseError: The file cannot be opened.
    """
    said = _native.match_queries(left, right, over(db), profile)
    return Match(
        equal=said["equal"],
        verdict=said["verdict"],
        difference=said["difference"],
        profile=said["profile"],
        assumes=tuple((own["kind"], own["constraint"]) for own in said["assumes"]),
        foreign_keys_checked=said["foreign_keys_checked"],
        broken_foreign_keys=tuple(BrokenForeignKey(**own) for own in said["broken_foreign_keys"]),
        left=_form(said["left"]),
        right=_form(said["right"]),
        raw=said,
    )


def _form(form: dict[str, Any] | None) -> NormalForm | None:
    if form is None:
        return None
    return NormalForm(sql=form["sql"], rules=tuple(Application(**step) for step in form["rules"]))
