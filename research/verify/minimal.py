"""How far the counterexamples of a run are from minimal: `python research/verify/minimal.py RUN --db DATABASES`.

For each counterexample of the kind `permits-none` in the run's log it tries, with Python's own SQLite, to delete each single row, and to put
each plainer value (NULL, 0, 1, 'a') in the place of each single value. What still satisfies the tables' constraints and foreign keys, and
still gives other rows (compared as bags), could have been smaller or plainer.

With the folder of the run's databases, what a counterexample keeps of their rows must stay as it is: rows in a table, no NULL, nothing
twice, one value for another, values that are in a key of another table, a range, one of a few values. NULL in a primary key,
and a text other than a date in a column of dates, are not plainer.

It looks only at counterexamples on which the rows differ as bags, and at pairs without LIMIT, GROUP BY and comparisons with a subquery that may have
several rows, in which such a difference is hardly a choice of SQLite's. It prints each that could be smaller, the counts, and ends with 1 if there are any. Only Python's
standard library is used.
"""

import argparse
import functools
import itertools
import json
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path

PLAIN = (None, 0, 1, "a")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
DATES = re.compile(r"date|time", re.IGNORECASE)
OTHERS = re.compile(r"int|char|clob|text|blob|real|floa|doub", re.IGNORECASE)
CHOICE = re.compile(r"\b(limit|group)\b|[=<>]\s*\(\s*select\s+(?!(max|min|avg|sum|total|count)\b)", re.IGNORECASE)


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


def dates(database, table):
    """The columns that are declared to hold dates or times."""
    columns = database.execute(f"PRAGMA table_xinfo({quoted(table)})")
    return {row[1] for row in columns if DATES.search(row[2] or "") and not OTHERS.search(row[2] or "")}


def values(tables, table, *columns):
    """The rows of those columns, of a table of a counterexample that has it."""
    names, rows = tables.get(table, ([], []))
    places = [names.index(column) for column in columns if column in names]
    return [tuple(row[place] for place in places) for row in rows] if len(places) == len(columns) else []


def repeats(rows):
    """Whether rows without NULL repeat."""
    whole = [row for row in rows if None not in row]
    return len(whole) > len(set(whole))


def determines(rows):
    """Whether the first of two values that is not NULL goes with one second value."""
    known = {}
    return all(known.setdefault(one, other) == other for one, other in rows if one is not None)


def is_between(value, low, high):
    """Whether a value is NULL or between two others of its kind."""
    is_same = isinstance(value, str) == isinstance(low, str) and not isinstance(value, bytes)
    return value is None or (is_same and low <= value <= high)


def linked(database, table):
    """For each column of a foreign key of one column the table and the column that it refers to."""
    found = Counter(row[0] for row in database.execute(f"PRAGMA foreign_key_list({quoted(table)})"))
    links = database.execute(f"PRAGMA foreign_key_list({quoted(table)})")
    return {row[3]: (row[2], row[4]) for row in links if found[row[0]] == 1}


def in_keys(database, table):
    """The columns of the primary key, of UNIQUE sets and of foreign keys."""
    columns = keys(database, table)
    for _, name, unique, *_ in database.execute(f"PRAGMA index_list({quoted(table)})").fetchall():
        if unique:
            columns |= {row[2] for row in database.execute(f"PRAGMA index_info({quoted(name)})")}
    return columns | {row[3] for row in database.execute(f"PRAGMA foreign_key_list({quoted(table)})")}


@functools.cache
def rules(path):
    """What the rows of a database keep: functions from the tables of a counterexample to whether it keeps that too."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.text_factory = lambda text: text.decode(errors="replace")
    tables = {table: found for table, found in contents(database).items() if found[1]}
    unique = {
        (table, column): len(rows) > 1 and len({row[at] for row in rows} - {None}) == len(rows)
        for table, (columns, rows) in tables.items()
        for at, column in enumerate(columns)
    }
    found = []
    for table, (columns, rows) in tables.items():
        found.append(lambda of, t=table: bool(values(of, t, *of[t][0])) if t in of else True)
        key, links = in_keys(database, table), linked(database, table)
        for column in columns:
            for other, names in ((other, names) for other, (names, _) in tables.items() if other != table):
                for target in names:
                    is_key = unique[other, target] or keys(database, other) == {target}
                    if is_key and target.lower() == column.lower() and column not in links:
                        held = {row for row in values(tables, other, target)}
                        if all(row in held and None not in row for row in values(tables, table, column)):
                            key.add(column)
                            links.setdefault(column, (other, target))
                            found.append(
                                lambda of, a=(table, column), b=(other, target): (
                                    b[0] not in of or set(values(of, *a)) - {(None,)} <= set(values(of, *b))
                                )
                            )
        for at, column in enumerate(columns):
            found.extend(column_rules(table, column, [row[at] for row in rows], unique[table, column], column in key))
        for one, other in itertools.permutations(columns, 2):
            pairs = values(tables, table, one, other)
            present = [pair for pair in pairs if pair[0] is not None]
            if len(present) - len({pair[0] for pair in present}) >= 10 and determines(pairs):
                found.append(lambda of, a=(table, one, other): determines(values(of, *a)))
        for pair in itertools.combinations(links, 2):
            if not repeats(values(tables, table, *pair)):
                found.append(lambda of, a=(table, *pair): not repeats(values(of, *a)))
    database.close()
    return found


def column_rules(table, column, held, is_unique, is_key):
    """What the values of one column keep."""
    present = [value for value in held if value is not None]
    found = []
    if len(present) == len(held):
        found.append(lambda of: (None,) not in values(of, table, column))
    if is_unique:
        found.append(lambda of: not repeats(values(of, table, column)))
    if is_key or not present:
        return found
    if len(set(present)) <= min(len(held) // 5, 16):
        found.append(lambda of: {row[0] for row in values(of, table, column)} - {None} <= set(present))
    elif all(isinstance(value, (int, float)) for value in present) or (
        all(isinstance(value, str) for value in present) and DATE.match(min(present)) and DATE.match(max(present))
    ):
        low, high = min(present), max(present)
        found.append(lambda of: all(is_between(row[0], low, high) for row in values(of, table, column)))
    return found


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
        key, of_dates = keys(database, table), dates(database, table)
        for at, row in enumerate(rows):
            for place, value in enumerate(row):
                for plain in PLAIN:
                    is_other = (plain is None and columns[place] in key) or (plain == "a" and columns[place] in of_dates)
                    if value is None or is_other or not is_plainer(plain, value):
                        continue
                    changed = (*row[:place], plain, *row[place + 1 :])
                    changed = rows[:at] + [changed] + rows[at + 1 :]
                    yield f"{plain!r} for {table}.{columns[place]} = {value!r}", tables | {table: (columns, changed)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    arguments.add_argument("run", type=Path)
    arguments.add_argument("--db", type=Path, help="folder of the databases of the run")
    given = arguments.parse_args()
    log = given.run / "items.jsonl"
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
        path = given.db and given.db / item["db_id"] / f"{item['db_id']}.sqlite"
        held = [rule for rule in rules(path) if rule(tables)] if path and path.exists() else []

        def does(candidate, held=held, creates=creates, queries=queries):
            return differs(creates, candidate, queries) and all(rule(candidate) for rule in held)

        fewer = [what for what, candidate in smaller(tables) if does(candidate)]
        other = [what for what, candidate in plainer(database, tables) if does(candidate)]
        counts[stage, "looked at"] += 1
        counts[stage, "a row less would do"] += bool(fewer)
        counts[stage, "a plainer value would do"] += bool(other)
        counts[f"said to be minimal: {verdict.get('minimal')}"] += 1
        if fewer or other:
            print(f"{item['system']} {item['id']} ({stage}): {'; '.join((fewer + other)[:3])}", file=sys.stderr)
    for what, count in sorted(counts.items(), key=str):
        print(f"{what if isinstance(what, str) else ', '.join(what):<50} {count:>5}")
    return 1 if any(count for what, count in counts.items() if what[1:] and "would do" in what[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
