"""Variants and near misses of a corpus of `synth`, held against Python's sqlite3.

    sqlgauge synth --db DIR --count 3000 --variants 1 --near-misses 1 --out CORPUS
    python research/synth/related.py CORPUS --databases 40 --seed 1

A near miss must return other rows than its pair on the database that stands beside it, and that database must have the
columns and keys of the shipped one. A variant must return its pair's rows on every database that the schema allows: they
are drawn at random here, by nothing that `sqlgauge` has a part in, with the constants of the two queries, values of the
shipped database and NULL, keys kept, and foreign keys but for those that the rows of the shipped database break; the
database of the pair's near miss is one more. Each query is run
twice, the second time with unordered rows the other way round: where a query alone has two results, it leaves open which.
Ends with 1 if something contradicts its label.
"""

import argparse
import collections
import glob
import json
import os
import random
import re
import sqlite3
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "dialects"))
import outermost  # noqa: E402

ROWS = 5
STEPS = 2_000_000
SAMPLES = 4


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def lines(corpus, name):
    for path in sorted(glob.glob(os.path.join(corpus, "data", f"{name}-*.jsonl"))):
        with open(path) as file:
            yield from map(json.loads, file)


class Column:
    def __init__(self, row, samples):
        _, self.name, self.declared, self.not_null, _, self.key = row
        self.declared = (self.declared or "").upper()
        self.samples = samples

    @property
    def affinity(self):
        """SQLite's rules for the affinity of a declared type, in their order."""
        for words, own in [("INT", "integer"), ("CHAR CLOB TEXT", "text"), ("BLOB", "blob"), ("REAL FLOA DOUB", "real")]:
            if any(word in self.declared for word in words.split()):
                return own
        return "numeric" if self.declared else "blob"

    def fits(self, value):
        """Whether a value is of the declared type."""
        if self.affinity in ("integer", "real"):
            return isinstance(value, (int, float)) and not (self.affinity == "integer" and isinstance(value, float))
        if self.affinity == "text":
            return isinstance(value, str)
        kinds = {type(sample) for sample in self.samples}
        return type(value) in kinds if kinds else True

    def draw(self, chance, constants):
        if not self.not_null and not self.key and chance.random() < 0.15:
            return None
        pool = [value for value in constants + self.samples if self.fits(value)]
        if pool and chance.random() < 0.8:
            return chance.choice(pool)
        if self.affinity == "text" or any(isinstance(sample, str) for sample in self.samples):
            return chance.choice(["a", "b", "", "A"])
        return chance.choice([0, 1, 2, 3, -1])


class Table:
    def __init__(self, connection, name, create):
        self.name, self.create = name, create
        self.columns = []
        for row in connection.execute(f"PRAGMA table_info({quoted(name)})"):
            column = quoted(row[1])
            samples = connection.execute(
                f"SELECT DISTINCT {column} FROM {quoted(name)} WHERE {column} IS NOT NULL LIMIT {SAMPLES}"
            )
            self.columns.append(Column(row, [value for (value,) in samples]))
        self.broken = broken_keys(connection, name)
        links = collections.defaultdict(list)
        for row in connection.execute(f"PRAGMA foreign_key_list({quoted(name)})"):
            if row[0] not in self.broken:
                links[row[0]].append((row[2], row[3], row[4]))
        self.links = list(links.values())
        self.indexes = [
            row[0]
            for row in connection.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", (name,)
            )
        ]

    def keeps(self, other):
        """Whether what holds of the rows of the other table holds of this one's: its columns, keys and NOT NULL."""
        return len(self.columns) == len(other.columns) and all(
            (own.name.lower(), own.affinity, own.key) == (there.name.lower(), there.affinity, there.key)
            and own.not_null >= there.not_null
            for own, there in zip(self.columns, other.columns)
        )

    def place(self, name):
        return next((at for at, c in enumerate(self.columns) if c.name.lower() == name.lower()), None)

    def parents(self):
        return [link[0][0].lower() for link in self.links]


def broken_keys(connection, table):
    """The numbers of the foreign keys of a table that its rows break."""
    try:
        return {row[3] for row in connection.execute(f"PRAGMA foreign_key_check({quoted(table)})")}
    except sqlite3.Error:
        return set()  # a foreign key to what is no key: SQLite cannot enforce it either


class Source:
    """A shipped database: its tables, and random databases of its schema."""

    def __init__(self, path):
        self.connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.connection.text_factory = lambda text: text.decode("utf-8", "replace")
        found = self.connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        self.tables = {name.lower(): Table(self.connection, name, create) for name, create in found}

    def reads(self, *queries):
        """The tables that queries read, and those that their foreign keys reach, parents first."""
        read = set()

        def allow(action, table, *_):
            if action == sqlite3.SQLITE_READ and table:
                read.add(table.lower())
            return sqlite3.SQLITE_OK

        self.connection.set_authorizer(allow)
        try:
            for query in queries:
                self.connection.execute(f"EXPLAIN {query}").fetchall()
        finally:
            self.connection.set_authorizer(None)
        ordered, open_now = [], set()

        def visit(name):
            if name in ordered or name in open_now or name not in self.tables:
                return
            open_now.add(name)
            for parent in self.tables[name].parents():
                visit(parent)
            ordered.append(name)

        for name in sorted(read):
            visit(name)
        return [self.tables[name] for name in ordered]

    def database(self, tables, chance, constants):
        """A random database in memory, or none where its foreign keys cannot be checked."""
        connection = sqlite3.connect(":memory:")
        rows = {}
        for table in tables:
            connection.execute(table.create)
            for index in table.indexes:
                connection.execute(index)
        for table in tables:
            rows[table.name.lower()] = own = []
            for _ in range(chance.randrange(ROWS + 1)):
                row = [column.draw(chance, constants) for column in table.columns]
                if all(self.link(table, link, row, rows, chance) for link in table.links):
                    own.append(row)
            holders = ", ".join("?" * len(table.columns))
            connection.executemany(f"INSERT OR IGNORE INTO {quoted(table.name)} VALUES ({holders})", own)
        return connection if self.keeps_keys(connection) else None

    def keeps_keys(self, connection):
        """Removes rows without a parent until none is left; whether that can be done."""
        for _ in range(20):
            try:
                found = connection.execute("PRAGMA foreign_key_check").fetchall()
            except sqlite3.Error:
                return True  # as in `broken_keys`
            found = [row for row in found if row[3] not in self.tables[row[0].lower()].broken]
            if not found:
                return True
            for table, rowid, *_ in found:
                if rowid is None:
                    return False
                connection.execute(f"DELETE FROM {quoted(table)} WHERE rowid = ?", (rowid,))
        return False

    def link(self, table, link, row, rows, chance):
        """Makes a row point to a row of the parent; whether it can."""
        parent = self.tables.get(link[0][0].lower())
        if parent is None:
            return True
        keys = [column.name for column in sorted(parent.columns, key=lambda c: c.key) if column.key]
        places = [table.place(child) for _, child, _ in link]
        targets = [parent.place(to or (keys[at] if at < len(keys) else "")) for at, (_, _, to) in enumerate(link)]
        if None in places or None in targets:
            return True
        there = rows.get(parent.name.lower(), [])
        is_free = all(not table.columns[at].not_null and not table.columns[at].key for at in places)
        if not there or (is_free and chance.random() < 0.1):
            for at in places:
                row[at] = None
            return is_free
        chosen = chance.choice(there)
        for at, target in zip(places, targets):
            row[at] = chosen[target]
        return True


CONSTANT = re.compile(r"'((?:[^']|'')*)'|\b\d+(?:\.\d+)?\b")


def constants_of(*queries):
    """The constants of queries, and numbers beside them."""
    found = []
    for query in queries:
        for match in CONSTANT.finditer(query):
            if match.group(1) is not None:
                found.append(match.group(1).replace("''", "'"))
                continue
            number = float(match.group()) if "." in match.group() else int(match.group())
            if abs(number) < 1 << 40:
                found += [number, number - 1, number + 1]
    return found


def results(connection, query):
    """The rows of a query in both directions, as text that tells 1 from '1'; what failed instead."""
    found = []
    for turned in ("OFF", "ON"):
        connection.execute(f"PRAGMA reverse_unordered_selects = {turned}")
        steps = [STEPS // 1000]

        def count():
            steps[0] -= 1
            return steps[0] < 0

        connection.set_progress_handler(count, 1000)
        try:
            found.append([tuple(key(value) for value in row) for row in connection.execute(query)])
        except sqlite3.Error as error:
            return None, str(error)
        finally:
            connection.set_progress_handler(None, 0)
    return found, None


def key(value):
    if isinstance(value, int):
        return (1, value)
    if isinstance(value, float):
        # Sums of real numbers depend on the order of their rows in the last digits.
        return (1, float(f"{value:.12g}"))
    return (0,) if value is None else (2, value) if isinstance(value, str) else (3, value.hex())


def judged(connection, pair, other):
    """Whether two queries agree, by the rows of each in both directions; whether the first has rows; what failed."""
    left, right = results(connection, pair), results(connection, other)
    if left[1] or right[1]:
        return ("both_fail" if left[1] and right[1] else "fails"), False, left[1] or right[1]
    has_rows = bool(left[0][0])
    bags = [{tuple(sorted(rows)) for rows in side[0]} for side in (left, right)]
    if not bags[0] & bags[1]:
        return ("open" if len(bags[0]) + len(bags[1]) > 2 else "different"), has_rows, None
    if not (has_rows and outermost.is_sorted(pair) and outermost.is_sorted(other)):
        return "equal", has_rows, None
    # Rows of equal keys may come in any order: they are told apart by all results.
    width = len(left[0][0][0])
    orders = [results(connection, outermost.with_all_keys(query, width))[0] for query in (pair, other)]
    return ("equal" if orders[0] == orders[1] else "other_order"), has_rows, None


class Check:
    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.out = open(options.differences, "w") if options.differences else None

    def found(self, what, item, pair, script=None, **more):
        self.counts[what] += 1
        if self.out and what.split(" ")[-1] not in ("equal", "different_as_said", "different_where_it_ties"):
            shown = {"what": what, "id": item["id"], "db_id": item["db_id"], "sql": pair, "other": item["sql"]}
            self.out.write(json.dumps({**shown, "rules": item["rules"], "script": script, **more}) + "\n")
            self.out.flush()

    def near_miss(self, item, pair, source):
        connection = sqlite3.connect(":memory:")
        connection.executescript(item["witness"])
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            own, shipped = Table(connection, name, None), source.tables.get(name.lower())
            if shipped is None or not own.keeps(shipped):
                self.found("near miss: other_schema", item, pair, item["witness"])
                return
        if connection.execute("PRAGMA foreign_key_check").fetchall():
            self.found("near miss: broken_keys", item, pair, item["witness"])
            return
        verdict, _, error = judged(connection, pair, item["sql"])
        told = {"different": "different_as_said", "other_order": "different_as_said", "fails": "fails"}
        found = told.get(verdict, "same")
        if verdict == "equal" and outermost.is_sorted(pair):
            # The pair asks for one order there, and its near miss for none: SQLite took another.
            one, other = (results(connection, query)[0] for query in (pair, item["sql"]))
            found = "different_where_it_ties" if one[0] == one[1] and one[0] not in other else "same"
        self.found(f"near miss: {found}", item, pair, item["witness"], error=error)

    def variant(self, item, pair, source, witness):
        constants = constants_of(pair, item["sql"])
        chance = random.Random(f"{self.options.seed} {item['id']}")
        try:
            tables = source.reads(pair, item["sql"])
        except sqlite3.Error as error:
            self.found("variant: not_prepared", item, pair, error=str(error))
            return
        asked, said_something, worst = 0, 0, "equal"
        databases = (source.database(tables, chance, constants) for _ in range(self.options.databases))
        if witness:
            own = sqlite3.connect(":memory:")
            own.executescript(witness)
            databases = iter([own, *databases])
        ranks = ["equal", "open", "fails", "other_order", "different"]
        script, error = None, None
        for connection in databases:
            if connection is None:
                continue
            verdict, has_rows, failure = judged(connection, pair, item["sql"])
            if verdict == "both_fail":
                continue
            asked += 1
            said_something += has_rows
            if ranks.index(verdict) > ranks.index(worst):
                worst, error = verdict, failure
                script = "\n".join(connection.iterdump())
        self.counts["databases of variants"] += asked
        self.counts["databases of variants with rows"] += said_something
        self.found(f"variant: {worst}" if asked else "variant: no_database", item, pair, script, error=error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--databases", type=int, default=40, help="random databases of each variant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="CPU time after which no further item is begun")
    parser.add_argument("--differences", metavar="FILE", help="what is not as it should be, a line of JSON each")
    options = parser.parse_args()
    pairs = {pair["id"]: pair["sql"] for pair in lines(options.corpus, "train")}
    related = list(lines(options.corpus, "related"))
    witnesses = {item["of"]: item["witness"] for item in related if item["relation"] == "near_miss"}
    check, sources = Check(options), {}
    random.Random(options.seed).shuffle(related)
    for item in related:
        if options.seconds and time.process_time() > options.seconds:
            check.counts["not begun"] += 1
            continue
        db_id = item["db_id"]
        if db_id not in sources:
            sources[db_id] = Source(os.path.join(options.corpus, "databases", db_id, f"{db_id}.sqlite"))
        if item["relation"] == "near_miss":
            check.near_miss(item, pairs[item["of"]], sources[db_id])
        else:
            check.variant(item, pairs[item["of"]], sources[db_id], witnesses.get(item["of"]))
    for what, count in sorted(check.counts.items()):
        print(f"{count:>9}  {what}")
    print(f"{time.process_time():>9.1f}  seconds of CPU")
    wrong = ("different", "other_order", "same", "other_schema", "broken_keys", "fails")
    return int(any(what.split(": ")[-1] in wrong for what in check.counts))


if __name__ == "__main__":
    sys.exit(main())
