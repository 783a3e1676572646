"""A query in other SQL dialects: ``sqlgauge translate``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native, _show
from ._help import documented
from ._native import Database
from ._options import listed
from ._over import with_rows

__all__ = ["Translation", "Translations", "translate"]


@documented
@dataclass(frozen=True)
class Translation:
    """A query in one dialect."""

    dialect: str
    sql: str | None
    """The query in it, with SQLite's meaning; ``None`` where it was refused, or no query was given."""
    refused: str | None
    """The name of what the dialect cannot say with SQLite's meaning."""
    reason: str | None
    """Why it cannot, with the thing at fault."""
    ddl: tuple[str | None, ...]
    """CREATE TABLE for each table, where ``ddl=True``; ``None`` for a table that the dialect cannot say."""


class Translations(Mapping[str, Translation]):
    """A query in several dialects, by name of the dialect."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw: dict[str, Any] = raw
        """What ``sqlgauge translate --json`` prints."""
        self._all = {name: _translation(name, said) for name, said in raw.items()}

    def __getitem__(self, dialect: str) -> Translation:
        if dialect not in self._all:
            raise KeyError(f"{dialect!r} was not asked for; there is {', '.join(self._all)}")
        return self._all[dialect]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return "\n\n".join(f"-- {name}\n{_text(one)}" for name, one in self._all.items())

    def _repr_html_(self) -> str:
        rows = [(name, _text(one)) for name, one in self._all.items()]
        return _show.html([], [_show.Table("the query in other dialects", ["dialect", "SQL"], rows, whole=True)])


def _text(one: Translation) -> str:
    query = f"-- refused: {one.refused} ({one.reason})" if one.refused else one.sql
    return "\n".join(text for text in [*one.ddl, query] if text)


def _translation(dialect: str, said: dict[str, Any]) -> Translation:
    statements = (own if isinstance(own, str) else None for own in said.get("ddl", ()))
    return Translation(dialect, said.get("sql"), said.get("refused"), said.get("reason"), tuple(statements))


def translate(
    sql: str | None,
    db: Database | str | os.PathLike[str],
    *,
    to: str | Sequence[str] = "all",
    ddl: bool = False,
) -> Translations:
    """Translates a query of SQLite to other SQL dialects; refuses rather than change its meaning.

    Args:
        sql: The query, as SQLite reads it; ``None`` with ``ddl=True`` for the tables alone.
        db: The database that it is over; its values decide the types of columns. A path is opened for this call alone.
        to: Names of dialects, in a list or separated by commas, or ``all``.
        ddl: Write CREATE TABLE for the tables of the database too.

    Raises:
        QueryError: SQLite refuses the query.
        DatabaseError: The database cannot be used.
        InputError: There is no such dialect, or nothing to translate.
    """
    if sql is None and not ddl:
        raise _native.InputError("sql is None; give a query, or ddl=True for the tables of the database")
    return Translations(_native.translate_query(sql, with_rows(db), listed(to), ddl))
