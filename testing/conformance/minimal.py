"""How far the counterexamples of a run are from minimal: `python testing/conformance/minimal.py RUN`.

For each counterexample of the kind `permits-none` in the run's log it tries, with Python's own SQLite, to delete each single row, and to put
each plainer value (NULL, 0, 1, 'a') in the place of each single value. What still satisfies the tables' constraints and foreign keys, and
still gives other rows (compared as bags), could have been smaller or plainer.

It looks only at counterexamples on which the rows differ as bags, and at pairs without LIMIT and GROUP BY, in which such a difference is
hardly a choice of SQLite's. It prints each that could be smaller, the counts, and ends with 1 if there are any. Only Python's
standard library is used.
"""

import argparse
import json
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path

PLAIN = (None, 0, 1, "a")
CHOICE = re.compile(r"\b(limit|group)\b", re.IGNORECASE)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def statements(database):
    """What creates the tables and the rest, in order."""
    texts = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type <> 'table', rowid")
    return [sql for (sql,) in texts]


def contents(database):
    """The names of each table's stored columns, and its rows."""
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for table in tables:
        columns = [row[1] for row in database.execute(f"PRAGMA table_xinfo({quoted(table)})") if row[6] == 0]
        listed = ", ".join(map(quoted, columns))
        found[table] = columns, database.execute(f"SELECT {listed} FROM {quoted(table)}").fetchall()
    return found


def differs(creates, tables, queries):
    """Whether the queries return other rows on a database, which must satisfy its constraints."""
    database = sqlite3.connect(":memory:")
    try:
        for create in creates:
            database.execute(create)
        for table, (columns, rows) in tables.items():
            listed, places = ", ".join(map(quoted, columns)), ", ".join("?" * len(columns))
            database.executemany(f"INSERT INTO {quoted(table)} ({listed}) VALUES ({places})", rows)
        if database.execute("PRAGMA foreign_key_check").fetchall():
            return False
        left, right = (Counter(database.execute(query).fetchall()) for query in queries)
        return left != right
    except sqlite3.Error:
        return False
    finally:
        database.close()


def keys(database, table):
    """The columns of the primary key, in which NULL is no plainer value."""
    return {row[1] for row in database.execute(f"PRAGMA table_xinfo({quoted(table)})") if row[5] > 0}


def smaller(tables):
    """The tables without one row, each with what is missing."""
    for table, (columns, rows) in tables.items():
        for at, row in enumerate(rows):
            yield f"without {table} {row}", tables | {table: (columns, rows[:at] + rows[at + 1 :])}


def is_plainer(plain, value):
    """Whether the one stands before the other among the plain values, of the same type or NULL."""
    if value in PLAIN and not isinstance(value, float):
        return PLAIN.index(plain) < PLAIN.index(value) and (plain is None or type(plain) is type(value))
    if isinstance(value, float) and value in (0.0, 1.0):
        return plain is None or (plain == 0 and value == 1.0)
    return plain is None or isinstance(plain, str) == isinstance(value, str)


def plainer(database, tables):
    """The tables with a plainer value in one place, each with what it is."""
    for table, (columns, rows) in tables.items():
        key = keys(database, table)
        for at, row in enumerate(rows):
            for place, value in enumerate(row):
                for plain in PLAIN:
                    if value is None or not is_plainer(plain, value) or (plain is None and columns[place] in key):
                        continue
                    changed = (*row[:place], plain, *row[place + 1 :])
                    changed = rows[:at] + [changed] + rows[at + 1 :]
                    yield f"{plain!r} for {table}.{columns[place]} = {value!r}", tables | {table: (columns, changed)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    arguments.add_argument("run", type=Path)
    log = arguments.parse_args().run / "items.jsonl"
    counts = Counter()
    for item in map(json.loads, log.read_text().splitlines()):
        details = item["details"]
        verdict = details.get("verdict") or {}
        queries = details.get("gold"), details.get("prediction")
        if verdict.get("kind") != "permits-none" or any(CHOICE.search(query) for query in queries):
            continue
        database = sqlite3.connect(":memory:")
        database.executescript(verdict["witness"])
        creates, tables = statements(database), contents(database)
        if not differs(creates, tables, queries):
            counts["rows differ in order alone, or a query fails"] += 1
            continue
        stage = verdict["stage"]
        rows = [what for what, candidate in smaller(tables) if differs(creates, candidate, queries)]
        values = [what for what, candidate in plainer(database, tables) if differs(creates, candidate, queries)]
        counts[stage, "looked at"] += 1
        counts[stage, "a row less would do"] += bool(rows)
        counts[stage, "a plainer value would do"] += bool(values)
        if rows or values:
            print(f"{item['system']} {item['id']} ({stage}): {'; '.join((rows + values)[:3])}", file=sys.stderr)
    for what, count in sorted(counts.items(), key=str):
        print(f"{what if isinstance(what, str) else ', '.join(what):<50} {count:>5}")
    return 1 if any(count for what, count in counts.items() if what[1:] and "would do" in what[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
