"""Judges mutants of golds on their own databases and on random data, and holds the verdicts of a run against that.

    cargo bench -p sqlgauge-verify --bench search -- mutants --count 500 --seed 1 --out mutants.jsonl
    sqlgauge verify --pairs mutants.jsonl --out runs/mutants
    python3 research/verify/judge_mutants.py mutants.jsonl runs/mutants [--databases 300]

A mutant is truly different if on some database no result that one query may return is one that the other may: each query is
run on several physical orders of the same rows, and what it returned on any of them counts as permitted. Rows are bags; where
the gold has an ORDER BY, lists. The databases are the real one and random ones: values of the real columns and of the two
texts, NULL, and few rows, with keys and foreign keys kept. Every counterexample of the run is replayed.
"""

import argparse
import json
import random
import re
import sqlite3
from collections import Counter

ORDERS = 3
STEPS = 200_000_000


def rows_of(connection, sql, ordered):
    budget = [200]

    def tick():
        budget[0] -= 1
        return budget[0] < 0

    connection.set_progress_handler(tick, STEPS // 200)
    try:
        rows = connection.execute(sql).fetchall()
    except sqlite3.Error:
        return None
    finally:
        connection.set_progress_handler(None, 0)
    rounded = [tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows]
    return tuple(rounded) if ordered else frozenset(Counter(rounded).items())


class Tables:
    """The tables of a real database, and some values of each column."""

    def __init__(self, path):
        real = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        real.text_factory = lambda data: data.decode("utf-8", "replace")
        self.real = real
        self.ddl, self.columns, self.keys = [], {}, {}
        for name, sql in real.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
            self.ddl.append(sql)
            info = real.execute(f'PRAGMA table_info("{name}")').fetchall()
            values = {}
            for _, column, _, notnull, _, key in info:
                found = real.execute(f'SELECT DISTINCT "{column}" FROM "{name}" LIMIT 40').fetchall()
                values[column] = ([row[0] for row in found if row[0] is not None] or ["a", 1], bool(notnull or key))
            self.columns[name] = values
            keys = real.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
            self.keys[name] = {key[3]: (key[2], key[4]) for key in keys}
        self.order = self.parents_first()

    def parents_first(self):
        order, names = [], list(self.columns)
        lower = {name.lower(): name for name in names}

        def visit(name, open_):
            if name in order or name in open_:
                return
            for target, _ in self.keys[name].values():
                if target.lower() in lower:
                    visit(lower[target.lower()], open_ | {name})
            order.append(name)

        for name in names:
            visit(name, frozenset())
        return order

    def random_rows(self, rng, constants):
        """Rows by table; small databases are the likeliest."""
        filled, most = {}, rng.choice([2, 3, 4, 6, 10, 20])
        few = rng.random() < 0.5
        for name in self.order:
            rows = []
            for at in range(rng.randint(0 if rng.random() < 0.1 else 1, most)):
                row = []
                for column, (values, notnull) in self.columns[name].items():
                    target = self.keys[name].get(column)
                    parents = [r for r in filled.get(target[0], [])] if target else []
                    if parents and target[1] in self.columns.get(target[0], {}):
                        place = list(self.columns[target[0]]).index(target[1])
                        row.append(rng.choice(parents)[place])
                    elif not notnull and rng.random() < 0.1:
                        row.append(None)
                    else:
                        pool = (values[:3] if few else values) + (constants if rng.random() < 0.5 else [])
                        row.append(rng.choice(pool))
                rows.append(row)
            filled[name] = rows
        return filled

    def make(self, rows, rng):
        connection = sqlite3.connect(":memory:")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for sql in self.ddl:
            connection.execute(sql)
        for name, own in rows.items():
            own = own[:]
            rng.shuffle(own)
            for row in own:
                places = ", ".join("?" * len(row))
                try:
                    connection.execute(f'INSERT OR IGNORE INTO "{name}" VALUES ({places})', row)
                except sqlite3.IntegrityError:
                    pass  # A value that the column does not take, such as a text in an INTEGER PRIMARY KEY.
        delete_dangling(connection)
        return connection


def delete_dangling(connection):
    """Deletes the rows whose foreign key refers to none, as SQLite itself sees it."""
    for _ in range(20):
        try:
            dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
        except sqlite3.OperationalError:
            return  # A key that refers to columns without a unique index is none that SQLite could check.
        if not dangling:
            return
        for name, rowid, *_ in dangling:
            connection.execute(f'DELETE FROM "{name}" WHERE rowid = ?', (rowid,))


def constants_of(*texts):
    found = []
    for text in texts:
        for literal in re.findall(r"'((?:[^']|'')*)'|\"([^\"]*)\"", text):
            word = (literal[0] or literal[1]).replace("''", "'")
            found += [word, word.strip("%")]
        for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text):
            value = float(number) if "." in number else int(number)
            found += [value - 1, value, value + 1]
    return found


def truly_different(pair, tables, rng, databases):
    ordered = re.search(r"order\s+by", pair["left"], re.I) is not None
    left, right = (rows_of(tables.real, pair[side], ordered) for side in ("left", "right"))
    suspects = left is not None and right is not None and left != right
    if suspects and not re.search(r"limit|group\s+by|order\s+by", pair["left"] + pair["right"], re.I):
        return "real"
    constants = constants_of(pair["left"], pair["right"])
    for _ in range(databases):
        rows = tables.random_rows(rng, constants)
        first = tables.make(rows, rng)
        # INSERT OR IGNORE may keep other rows in another order: the other orders are of those that are there.
        kept = {name: [list(row) for row in first.execute(f'SELECT * FROM "{name}"')] for name in rows}
        outcomes = [set(), set()]
        for at in range(ORDERS):
            connection = first if at == 0 else tables.make(kept, rng)
            for side, found in zip(("left", "right"), outcomes):
                found.add(rows_of(connection, pair[side], ordered))
            if at == 0 and outcomes[0] == outcomes[1]:
                break
        if None not in outcomes[0] | outcomes[1] and outcomes[0].isdisjoint(outcomes[1]):
            return "random"
    return None


def replays(pair, verdict, rng):
    connection = sqlite3.connect(":memory:")
    connection.executescript(verdict["witness"])
    ordered = re.search(r"order\s+by", pair["left"], re.I) is not None
    left, right = (rows_of(connection, pair[side], ordered) for side in ("left", "right"))
    return left != right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mutants")
    parser.add_argument("run")
    parser.add_argument("--databases", type=int, default=300)
    options = parser.parse_args()
    rng = random.Random(20261)
    with open(f"{options.run}/items.jsonl", encoding="utf-8") as lines:
        verdicts = {item["id"]: item["details"].get("verdict") for item in map(json.loads, lines)}
    tables, counts = {}, Counter()
    with open(options.mutants, encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    for pair in pairs:
        verdict = verdicts[str(pair["id"])]
        if verdict is None:
            counts["no verdict"] += 1
            continue
        if pair["db"] not in tables:
            tables[pair["db"]] = Tables(pair["db"])
        name = verdict["verdict"]
        if name == "different":
            counts["witness replays" if replays(pair, verdict, rng) else "WITNESS DOES NOT REPLAY"] += 1
            counts["different"] += 1
            continue
        judged = truly_different(pair, tables[pair["db"]], rng, options.databases)
        counts[f"{name}, {'truly different (' + judged + ')' if judged else 'not told apart'}"] += 1
        if judged:
            print(json.dumps({"judged": judged, "verdict": name, "reason": verdict.get("reason"), **pair}))
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
