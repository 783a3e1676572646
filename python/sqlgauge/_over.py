"""What queries are over, as a caller gives it: an object, or the path of a file."""

from __future__ import annotations

import os
from typing import Any

from ._native import Database, InputError, Schema

__all__ = ["over", "with_rows"]


def over(db: Any) -> Database | Schema:
    """The database or schema itself, or the file of that name.

    Raises:
        InputError: It is neither, or DDL in the place of a path.
        DatabaseError: The file cannot be opened.
    """
    if isinstance(db, (Database, Schema)):
        return db
    if isinstance(db, (str, os.PathLike)):
        return Database(db)
    raise InputError(f"db is of type {type(db).__name__}; give a Database, a Schema, or the path of a database file")


def with_rows(db: Any) -> Database:
    """The same, where queries are to run.

    Raises:
        InputError: It is a schema, or nothing that queries can be over.
        DatabaseError: The file cannot be opened.
    """
    opened = over(db)
    if isinstance(opened, Schema):
        raise InputError("db is a Schema, which has no rows to run queries on; give a Database, or the path of a database file")
    return opened
