"""Evolved benchmarks run again by Python's sqlite3, which shares no code with sqlgauge.

    python research/evolve/evolve.py ORIGINAL EVOLVED [EVOLVED…]

ORIGINAL is the folder of databases that `sqlgauge evolve` was given, EVOLVED what it wrote (or one folder of that). Of every
item that is written the source query is run on the original database, the new query on the evolved one, and the source
query again through the views of `old_over_new.sql`. Rows are compared as multisets, and as lists where the source query ends
in ORDER BY; there, rows with equal sort keys may stand in any order. Numbers that differ in their last digits only (sums
in another order) are equal, and counted. Of an item without an answer the source query must not prepare on its DDL.

Besides: every item of the original is either written or has a reason of the closed list; the DDL of an item runs, and has the tables
and columns of its database; the database is sound, breaks no foreign key that the original keeps, and agrees with
`tables.json`. Ends with 1 if anything of that is not so. Needs Python 3.9 and nothing else.
"""

import argparse
import collections
import json
import os
import re
import sqlite3
import statistics
import sys
import time

SECONDS = 30
REASONS = {
    "gold-fails", "gold-unresolved", "nothing-to-change", "needs-removed", "undetermined", "not-through-views",
    "still-runs", "over-limits", "migration-fails", "not-expressible", "too-complex", "rows-differ", "views-differ",
}  # fmt: skip
# Reasons that say that the rewriting is at fault, not the item.
FAULTS = {"rows-differ", "views-differ", "not-expressible", "too-complex", "migration-fails"}


def opened(path, script=None):
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    if script is not None:
        with open(script, encoding="utf-8") as file:
            connection.executescript(file.read())
    return connection


def run(connection, sql):
    end = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: int(time.monotonic() > end), 100_000)
    return connection.execute(sql).fetchall()


def tokens(sql):
    """Words, strings, names in quotes and other characters of a text, without comments."""
    pattern = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|\w+|\s+|."
    found = re.findall(pattern, sql, flags=re.S)
    return [token for token in found if not token.startswith(("--", "/*"))]


def top_level(sql):
    """The tokens with their depth in parentheses."""
    depth = 0
    for token in tokens(sql.rstrip().rstrip(";")):
        depth -= token == ")"
        yield depth, token
        depth += token == "("


def sort_keys(sql):
    """The terms of the last ORDER BY outside of parentheses, without directions; None where there is none."""
    pieces = list(top_level(sql))
    words = [token.upper() if depth == 0 else "" for depth, token in pieces]
    starts = [at for at, word in enumerate(words) if word == "ORDER"]
    if not starts:
        return None
    terms, term = [], []
    for (_, token), word in zip(pieces[starts[-1] + 1 :], words[starts[-1] + 1 :]):
        if word in ("LIMIT", "OFFSET"):
            break
        if word == ",":
            terms.append(term)
            term = []
        elif word not in ("BY", "ASC", "DESC", "NULLS", "FIRST", "LAST"):
            term.append(token)
    return ["".join(term).strip() for term in terms + [term]]


def with_sort_keys(sql, keys):
    """The query with its sort keys before what it selects; None where they cannot stand there."""
    pieces = list(top_level(sql))
    words = [token.upper() for depth, token in pieces if depth == 0]
    if {"UNION", "INTERSECT", "EXCEPT", "WITH", "VALUES"} & set(words) or any(key.isdigit() for key in keys):
        return None
    for at, (depth, token) in enumerate(pieces):
        if depth == 0 and token.upper() == "SELECT":
            rest = [token for _, token in pieces[at + 1 :]]
            first = next((place for place, token in enumerate(rest) if token.strip()), 0)
            if rest[first].upper() == "DISTINCT":
                return None
            return "".join(["SELECT ", ", ".join(keys), ", ", *rest])
    return None


def rounded(rows):
    def value(cell):
        return float(f"{cell:.9g}") if isinstance(cell, float) else cell

    return [tuple(value(cell) for cell in row) for row in rows]


def bag(rows):
    return collections.Counter(rows)


def ties(rows, keyed, width):
    """The rows as a list of multisets, one for each run of equal sort keys."""
    runs, last = [], None
    for row, with_keys in zip(rows, keyed):
        key = with_keys[:width]
        if not runs or key != last:
            runs.append(collections.Counter())
        runs[-1][row] += 1
        last = key
    return runs


def verdict(connection, sql, expected, found):
    """`equal`, `last digits`, `order of ties`, `order not decided` or `different`."""
    said = "equal"
    if bag(expected) != bag(found):
        expected, found, said = rounded(expected), rounded(found), "last digits"
        if bag(expected) != bag(found):
            return "different"
    keys = sort_keys(sql)
    if keys is None or expected == found:
        return said
    keyed = with_sort_keys(sql, keys)
    try:
        rows = None if keyed is None else run(connection, keyed)
    except sqlite3.Error:
        rows = None
    if rows is None or [row[len(keys) :] for row in rounded(rows)] != rounded(expected):
        return "order not decided"
    at = 0
    for tied in ties(expected, rows, len(keys)):
        size = sum(tied.values())
        if bag(found[at : at + size]) != tied:
            return "different"
        at += size
    return "order of ties"


def columns(connection):
    """Tables with the names of their columns."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    quoted = [(name, '"' + name.replace('"', '""') + '"') for (name,) in names.fetchall()]
    return {name: [row[1] for row in connection.execute(f"PRAGMA table_info({text})")] for name, text in quoted}


def broken_keys(connection):
    """The first rows that break a foreign key, or why SQLite cannot check them; empty where all is well."""
    try:
        return connection.execute("PRAGMA foreign_key_check").fetchmany(2)
    except sqlite3.OperationalError as error:
        return [str(error)]


class Checker:
    def __init__(self, original):
        self.original = original
        self.connections, self.golds, self.broken = {}, {}, {}
        self.faults = []

    def fault(self, place, what):
        self.faults.append(f"{place}: {what}")

    def database(self, db_id):
        if db_id not in self.connections:
            path = os.path.join(self.original, db_id, f"{db_id}.sqlite")
            self.connections[db_id] = opened(path)
            self.broken[db_id] = broken_keys(self.connections[db_id])
        return self.connections[db_id]

    def gold(self, db_id, sql):
        if (db_id, sql) not in self.golds:
            self.golds[db_id, sql] = run(self.database(db_id), sql)
        return self.golds[db_id, sql]

    def folder(self, folder):
        with open(os.path.join(folder, "changes.jsonl"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        with open(os.path.join(folder, "dev.json"), encoding="utf-8") as file:
            items = json.load(file)
        with open(os.path.join(folder, "tables.json"), encoding="utf-8") as file:
            tables = {entry["db_id"]: entry for entry in json.load(file)}
        counts = self.records(folder, records, items)
        evolved = {}
        for item in items:
            place = f"{folder}, item {item['source_index']} ({item['db_id']})"
            self.ddl(place, item)
            if not item["answerable"]:
                counts["no longer prepares"] += self.is_gone(place, item)
                continue
            if item["db_id"] not in evolved:
                evolved[item["db_id"]] = self.evolved(folder, item, tables.get(item["db_id"]))
            for name, sql in (("new", item["query"]), ("views", item["source_query"])):
                said = self.returns(place, item, evolved[item["db_id"]][name], sql, name)
                counts[f"{name}: {said}"] += 1
        for connection in (connection for both in evolved.values() for connection in both.values()):
            connection.close()
        changed = [item for item in items if item["answerable"] and item["query"] != item["source_query"]]
        ratios = [len(item["query"]) / len(item["source_query"]) for item in changed]
        counts["changed"] = len(changed)
        return counts, statistics.median(ratios) if ratios else None

    def records(self, folder, records, items):
        """What became of every item, by the records."""
        header, counts = records[0], collections.Counter()
        of_items = [record for record in records if record["record"] == "item"]
        seen = sorted(record["source_index"] for record in of_items)
        if seen != list(range(header["items"])):
            self.fault(folder, f"records of {len(seen)} items for {header['items']}")
        written = {record["source_index"] for record in of_items if record["written"]}
        if written != {item["source_index"] for item in items} or len(written) != len(items):
            self.fault(folder, "dev.json and the records do not name the same items")
        for record in of_items:
            if record["written"] == (record["reason"] is not None) or record["reason"] not in REASONS | {None}:
                self.fault(folder, f"item {record['source_index']} has the reason {record['reason']}")
            counts["written" if record["written"] else "not " + record["reason"]] += 1
            if record["reason"] in FAULTS:
                self.fault(folder, f"item {record['source_index']}: {record['reason']}: {record['detail']}")
            counts["proved"] += record["equivalent"] is True
            counts["not proved"] += record["equivalent"] is False
        return counts

    def ddl(self, place, item):
        for field in ("ddl", "ddl_relevant", "ddl_needed"):
            try:
                sqlite3.connect(":memory:").executescript(item[field])
            except sqlite3.Error as error:
                self.fault(place, f"{field} does not run: {error}")

    def is_gone(self, place, item):
        schema = sqlite3.connect(":memory:")
        schema.executescript(item["ddl"])
        try:
            schema.execute("EXPLAIN " + item["source_query"])
        except sqlite3.Error:
            return True
        self.fault(place, f"still prepares: {item['source_query']}")
        return False

    def evolved(self, folder, item, entry):
        """The evolved database by itself and with the views, once it is looked at."""
        db_id = item["db_id"]
        place = os.path.join(folder, "database", db_id)
        path = os.path.join(place, f"{db_id}.sqlite")
        connection = opened(path)
        views = opened(path, os.path.join(place, "old_over_new.sql"))
        said = connection.execute("PRAGMA integrity_check").fetchall()
        if said != [("ok",)]:
            self.fault(path, f"integrity_check: {said[:2]}")
        self.database(item["source_db_id"])
        broken = broken_keys(connection)
        if broken and not self.broken[item["source_db_id"]]:
            self.fault(path, f"foreign_key_check: {broken}, and the original breaks none")
        own, schema = columns(connection), sqlite3.connect(":memory:")
        schema.executescript(item["ddl"])
        if columns(schema) != own:
            self.fault(path, "the DDL of its items has other tables or columns")
        said = {}
        for at, name in entry["column_names_original"] if entry else []:
            if at >= 0:
                said.setdefault(entry["table_names_original"][at], []).append(name)
        if said != own:
            self.fault(path, "tables.json has other tables or columns")
        return {"new": connection, "views": views}

    def returns(self, place, item, connection, sql, name):
        gold = item["source_query"]
        try:
            expected = self.gold(item["source_db_id"], gold)
        except sqlite3.Error as error:
            self.fault(place, f"the gold does not run on the original: {error}")
            return "no gold"
        try:
            found = run(connection, sql)
        except sqlite3.Error as error:
            self.fault(place, f"{name}: {error}: {sql}")
            return "fails"
        said = verdict(self.database(item["source_db_id"]), gold, expected, found)
        if said == "different":
            self.fault(place, f"{name}: other rows: {sql}")
        return said


def folders(evolved):
    for path in evolved:
        if os.path.exists(os.path.join(path, "changes.jsonl")):
            yield path
            continue
        for name in sorted(os.listdir(path)):
            if os.path.exists(os.path.join(path, name, "changes.jsonl")):
                yield os.path.join(path, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original")
    parser.add_argument("evolved", nargs="+")
    parser.add_argument("--faults", type=int, default=20, help="how many faults are printed (20)")
    arguments = parser.parse_args()
    checker = Checker(arguments.original)
    for folder in folders(arguments.evolved):
        counts, ratio = checker.folder(folder)
        said = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
        print(f"{folder}: {said}, median length {'-' if ratio is None else format(ratio, '.3f')}", flush=True)
    for fault in checker.faults[: arguments.faults]:
        print(fault)
    print(f"{len(checker.faults)} faults; SQLite {sqlite3.sqlite_version}")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
