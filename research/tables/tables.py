"""How many declared foreign keys `sqlgauge tables` finds in the data alone.

python research/tables/tables.py DATABASES WORK [--sqlgauge PROGRAM]

DATABASES is a folder of SQLite databases, each in a folder of its name (several folders: separate them by commas). WORK gets each table
as a CSV file without types and keys, and what `sqlgauge tables` makes of them. A declared foreign key is known if both its tables are
used and all its rows have a partner; it is found if the new database declares one between the same tables and columns. Prints how many
are known, found, declared, and declared and known; and the same of primary keys. Only Python's standard library is used.
"""

import argparse
import csv
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "evolve"))
from evoschema import quoted  # noqa: E402


def opened(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
    return connection


def tables(connection):
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]


def primary(connection, table):
    columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    return tuple(sorted(column[1].lower() for column in columns if column[5]))


def foreign(connection, table):
    """The foreign keys of a table: own columns, other table, its columns, in the order of the own columns."""
    keys = {}
    for number, _, other, own, theirs, *_ in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})"):
        keys.setdefault((number, other), []).append((own, theirs))
    for (_, other), pairs in keys.items():
        parent = primary(connection, other)
        pairs = [(own, theirs or (parent[0] if len(parent) == 1 else "")) for own, theirs in pairs]
        yield other, sorted((own.lower(), theirs.lower()) for own, theirs in pairs)


def kept(connection, table, other, pairs):
    """Whether every row has a partner."""
    partner = " AND ".join(f"p.{quoted(theirs)} = c.{quoted(own)}" for own, theirs in pairs)
    filled = " AND ".join(f"c.{quoted(own)} IS NOT NULL" for own, _ in pairs)
    query = f"SELECT COUNT(*) FROM {quoted(table)} c WHERE {filled} AND NOT EXISTS (SELECT 1 FROM {quoted(other)} p WHERE {partner})"
    try:
        return connection.execute(query).fetchone()[0] == 0
    except sqlite3.OperationalError:
        return False


def export(connection, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables(connection):
        rows = connection.execute(f"SELECT * FROM {quoted(table)}")
        with open(folder / (table.replace("/", "_") + ".csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(column[0] for column in rows.description)
            writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("databases")
    parser.add_argument("work", type=Path)
    parser.add_argument("--sqlgauge", default="sqlgauge")
    arguments = parser.parse_args()
    sources = {path.stem: path for folder in arguments.databases.split(",") for path in sorted(Path(folder).glob("*/*.sqlite"))}
    for name, path in sources.items():
        export(opened(path), arguments.work / "csv" / name)
    made = arguments.work / "made"
    command = [arguments.sqlgauge, "tables", arguments.work / "csv", "--out", made]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    print(done.stdout.splitlines()[0] if done.stdout else done.stderr)
    files = [json.loads(line) for line in (made / "tables.jsonl").read_text(encoding="utf-8").splitlines()]
    used = {file["file"].lower(): file for file in files if file["about"] == "file" and file["outcome"] == "used"}
    known, declared, keys, right, given = set(), set(), 0, 0, 0
    for name, path in sources.items():
        source = opened(path)
        names = {table.lower(): used.get(f"{name}/{table.replace('/', '_')}.csv".lower()) for table in tables(source)}
        new = {file["table"].lower(): table for table, file in names.items() if file}
        for table in tables(source):
            if not names[table.lower()]:
                continue
            for other, pairs in foreign(source, table):
                if names.get(other.lower()) and kept(source, table, other, pairs):
                    known.add((name, table.lower(), other.lower(), tuple(pairs)))
        for at in {file["db_id"] for file in names.values() if file}:
            result = opened(made / at / f"{at}.sqlite")
            for table in tables(result):
                if table.lower() not in new:
                    continue
                for other, pairs in foreign(result, table):
                    declared.add((name, new[table.lower()], new.get(other.lower(), other.lower()), tuple(pairs)))
                own = primary(source, next(one for one in tables(source) if one.lower() == new[table.lower()]))
                if own:
                    keys += 1
                    given += bool(primary(result, table))
                    right += primary(result, table) == own
    both = known & declared
    print(f"{len(used)} of {sum(file['about'] == 'file' for file in files)} files are used")
    print(f"foreign keys: {len(known)} known, {len(both)} found ({100 * len(both) / len(known):.1f} %), {len(declared)} declared, {100 * len(both) / len(declared):.1f} % of these known")
    print(f"primary keys: {keys} declared in tables that are used, {given} of these tables get a key, {right} the declared one")


if __name__ == "__main__":
    main()
