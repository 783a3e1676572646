"""Whether `verify` sees that a prediction permits more than its gold, on pairs of which that is known:
`python research/verify/permits_more.py --size 500 --seed 1 --program target/debug/sqlgauge`.

It makes pairs from random schemas. In each, by its construction, the gold permits one result alone on some database, and the
prediction permits it too and another one besides; on no database does the prediction permit none of the gold's results. So the verdict
must be `different`, and its kind `permits-more` or, if the search did not see the gold's result among those of the prediction,
`permits-another`; `permits-none` would be false.

Each witness is then loaded by Python's own SQLite in many layouts of the same rows: in several orders of insertion, with unordered rows
read forwards and backwards, with indexes of several kinds, with and without ANALYZE. On all of them the gold must return its one result.
Among what the prediction returns there must be both results that the verdict shows.

It prints what failed, then the counts by family and outcome, and ends with 1 if anything failed. Only Python's standard library is used.
"""

import argparse
import itertools
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

NAMES = ["boat", "city", "order", "player", "song", "team", "user note", "visit"]
COLUMNS = ["age", "code", "colour", "group", "length", "name", "price", "rank", "state", "title", "year made"]
TYPES = ["INT", "INTEGER", "REAL", "TEXT", "VARCHAR(20)"]
ORDERS = 6


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Schema:
    """A table with a key and columns of any type, perhaps with a parent that its rows refer to."""

    def __init__(self, dice):
        names = dice.sample(NAMES, 2)
        self.table, self.parent = (quoted(name) for name in names)
        columns = dice.sample(COLUMNS, dice.randint(4, 6))
        self.columns = [quoted(name) for name in columns]
        self.types = [dice.choice(TYPES) for _ in columns]
        # The parent's own column.
        self.label = quoted(dice.choice([name for name in COLUMNS if name not in columns]))
        self.needs = [" NOT NULL" if dice.random() < 0.3 else "" for _ in columns]

    def ddl(self):
        own = ", ".join(f"{name} {kind}{need}" for name, kind, need in zip(self.columns, self.types, self.needs))
        return (
            f"CREATE TABLE {self.parent} (id INTEGER PRIMARY KEY, {self.label} TEXT); "
            f"CREATE TABLE {self.table} (id INTEGER PRIMARY KEY, parent INT REFERENCES {self.parent}(id), {own})"
        )

    def condition(self, dice, alias=""):
        """A condition on one column, or none."""
        if dice.random() < 0.5:
            return ""
        at = dice.randrange(len(self.columns))
        column = alias + self.columns[at]
        number = dice.choice(["1", "5", "2000"])
        text = dice.choice(["'a'", "'Blue'", "'x%'"])
        kinds = [f"{column} IS NOT NULL"]
        if self.types[at] in ("TEXT", "VARCHAR(20)"):
            kinds += [f"{column} <> {text}", f"{column} LIKE '%e%'"]
        else:
            kinds += [f"{column} > {number}", f"{column} BETWEEN 0 AND {number}"]
        return dice.choice(kinds)


def where(*conditions):
    conditions = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def tie_under_limit(dice, s):
    """The first rows in an order that ties; the gold goes on with the key."""
    out, key = dice.sample(s.columns, 2)
    order, rows = dice.choice(["", " DESC"]), dice.choice(["1", "2", "3", "1 OFFSET 1"])
    query = f"SELECT {out} FROM {s.table}{where(s.condition(dice))} ORDER BY {key}{order}"
    return f"{query}, id{dice.choice(['', ' DESC'])} LIMIT {rows}", f"{query} LIMIT {rows}"


def bare_column(dice, s):
    """A column that the group does not determine, beside its extreme."""
    key, out = dice.sample(s.columns, 2)
    rest = f" FROM {s.table}{where(s.condition(dice), f'{out} IS NOT NULL')} GROUP BY {key}"
    extreme = dice.choice(["min", "max"])
    return f"SELECT {key}, {extreme}({out}){rest}", f"SELECT {key}, {out}{rest}"


def second_row(dice, s):
    """A subquery of several rows as a value, beside its extreme; neither has an affinity."""
    out, key, of = dice.sample(s.columns, 3)
    extreme = dice.choice(["min", "max"])
    inner = f"FROM {s.table}{where(s.condition(dice), f'{of} IS NOT NULL')}"
    compared = dice.choice(["=", "<", ">="])
    query = f"SELECT {out} FROM {s.table} WHERE {key} {compared} "
    return f"{query}(SELECT {extreme}({of}) {inner})", f"{query}(SELECT +{of} {inner})"


def tie_of_groups(dice, s):
    """The group of the most rows; the gold takes the least key among equals."""
    key = dice.choice(s.columns)
    query = f"SELECT {key} FROM {s.table}{where(s.condition(dice))} GROUP BY {key} ORDER BY count(*) DESC"
    return f"{query}, {key} LIMIT 1", f"{query} LIMIT 1"


def tie_of_joined_groups(dice, s):
    """The parent of the most rows."""
    query = (
        f"SELECT p.{s.label} FROM {s.parent} AS p JOIN {s.table} AS t ON t.parent = p.id{where(s.condition(dice, 't.'))} "
        f"GROUP BY p.id ORDER BY count(*) DESC"
    )
    return f"{query}, p.id LIMIT 1", f"{query} LIMIT 1"


def tie_in_membership(dice, s):
    """A LIMIT among ties within IN."""
    out, key, of = dice.sample(s.columns, 3)
    inner = f"SELECT {of} FROM {s.table}{where(f'{of} IS NOT NULL', s.condition(dice))} ORDER BY {key}"
    query = f"SELECT {out} FROM {s.table} WHERE {of} IN "
    return f"{query}({inner}, {of} LIMIT 1)", f"{query}({inner} LIMIT 1)"


def tie_in_derived(dice, s):
    """An aggregate over the first rows in an order that ties."""
    of, key = dice.sample(s.columns, 2)
    call = dice.choice(["sum", "max", "min"])
    inner = f"SELECT {of} FROM {s.table}{where(s.condition(dice))} ORDER BY {key}"
    query = f"SELECT {call}({of}) FROM "
    return f"{query}({inner}, id LIMIT 2)", f"{query}({inner} LIMIT 2)"


def tie_of_extreme(dice, s):
    """A bare column beside max: the row of the extreme, of which there may be two."""
    out, of = dice.sample(s.columns, 2)
    call = dice.choice(["min", "max"])
    rows = f"FROM {s.table}{where(s.condition(dice), f'{of} IS NOT NULL')}"
    order = " DESC" if call == "max" else ""
    gold = f"SELECT {out}, {of} {rows} ORDER BY {of}{order}, id LIMIT 1"
    return gold, f"SELECT {out}, {call}({of}) {rows} HAVING count(*) > 0"


def tie_in_window(dice, s):
    """Numbers of rows in an order that ties."""
    key = dice.choice(s.columns)
    rest = f" AS n FROM {s.table}{where(s.condition(dice))}"
    return f"SELECT id, row_number() OVER (ORDER BY {key}, id){rest}", f"SELECT id, row_number() OVER (ORDER BY {key}){rest}"


def no_order(dice, s):
    """A LIMIT without an order."""
    out = dice.choice(s.columns)
    query = f"SELECT {out} FROM {s.table}{where(s.condition(dice))}"
    return f"{query} ORDER BY id LIMIT 1", f"{query} LIMIT 1"


def tie_of_joined_rows(dice, s):
    """The parent of the first row in an order that ties."""
    key = dice.choice(s.columns)
    order = dice.choice(["", " DESC"])
    query = (
        f"SELECT p.{s.label}, t.{key} FROM {s.table} AS t JOIN {s.parent} AS p ON t.parent = p.id"
        f"{where(s.condition(dice, 't.'))} ORDER BY t.{key}{order}"
    )
    return f"{query}, t.id LIMIT 1", f"{query} LIMIT 1"


def correlated_choice(dice, s):
    """One of the rows of each parent, beside their extreme."""
    of = dice.choice(s.columns)
    extreme = dice.choice(["min", "max"])
    inner = f"FROM {s.table} AS t WHERE t.parent = p.id AND t.{of} IS NOT NULL"
    return (
        f"SELECT p.id, (SELECT {extreme}(t.{of}) {inner}) FROM {s.parent} AS p",
        f"SELECT p.id, (SELECT t.{of} {inner}) FROM {s.parent} AS p",
    )


FAMILIES = [
    tie_under_limit,
    bare_column,
    second_row,
    tie_of_groups,
    tie_of_joined_groups,
    tie_in_membership,
    tie_in_derived,
    tie_of_extreme,
    tie_in_window,
    no_order,
    tie_of_joined_rows,
    correlated_choice,
]


def pairs(size, seed):
    """So many pairs, no two alike, the families in turn."""
    dice, seen = random.Random(seed), set()
    families = itertools.cycle(FAMILIES)
    while len(seen) < size:
        family, schema = next(families), Schema(dice)
        left, right = family(dice, schema)
        if (left, right) not in seen:
            seen.add((left, right))
            yield family, {"id": f"{len(seen)}", "ddl": schema.ddl(), "left": left, "right": right}


def value(cell):
    """A cell as the verdict writes it: real numbers that are whole are numbers too."""
    return float(cell) if isinstance(cell, int) else cell


def result(rows, is_ordered):
    rows = [tuple(map(value, row)) for row in rows]
    return tuple(rows if is_ordered else sorted(rows, key=repr))


def indexes(database, kind):
    """CREATE INDEX statements: none, one for each column, or one for each column that goes on with the others backwards."""
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    number = 0
    for table in tables:
        columns = [quoted(row[1]) for row in database.execute(f"PRAGMA table_info({quoted(table)})")]
        for column in columns if kind else []:
            number += 1
            others = "".join(f", {other} DESC" for other in columns if other != column)
            yield f"CREATE INDEX layout_{number} ON {quoted(table)} ({column}{others if kind == 'descending' else ''})"


def orders(rows, dice):
    """Orders of the same rows: as they are, backwards, and some others."""
    yield rows
    yield rows[::-1]
    for _ in range(ORDERS - 2):
        yield dice.sample(rows, len(rows))


def layouts(script, dice):
    """Databases with the rows of a script, which hold the same and may answer otherwise where SQL leaves a choice."""
    source = sqlite3.connect(":memory:")
    source.executescript(script)
    if source.execute("PRAGMA foreign_key_check").fetchall():
        raise ValueError("a foreign key does not hold")
    tables = source.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    rows = {name: source.execute(f"SELECT * FROM {quoted(name)}").fetchall() for name, _ in tables}
    for kind, analyses in itertools.product([None, "single", "descending"], [False, True]):
        for ordered in zip(*(orders(rows[name], dice) for name, _ in tables)):
            database = sqlite3.connect(":memory:")
            for (name, create), own in zip(tables, ordered):
                database.execute(create)
                for row in own:
                    database.execute(f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(row))})", row)
            for statement in list(indexes(database, kind)):
                database.execute(statement)
            if analyses:
                database.execute("ANALYZE")
            for backwards in (0, 1):
                database.execute(f"PRAGMA reverse_unordered_selects = {backwards}")
                yield database
            database.close()


def failure(pair, verdict, seed):
    """What is wrong with a verdict on a pair of the class, `None` if nothing is."""
    if verdict is None or verdict["verdict"] != "different":
        return "no verdict" if verdict is None else f"{verdict['verdict']} {verdict.get('reason', '')}".strip()
    if verdict["kind"] == "permits-none":
        return "false: permits-none"
    shown = {"left": verdict["left_result"]["rows"], "right": verdict["right_result"]["rows"]}
    other = verdict.get("other_right_result")
    is_ordered = "ORDER BY" in pair["left"].rpartition(")")[2]
    shown = {name: result(rows, is_ordered) for name, rows in shown.items()}
    golds, predictions = set(), set()
    try:
        for database in layouts(verdict["witness"], random.Random(seed)):
            golds.add(result(database.execute(pair["left"]), is_ordered))
            predictions.add(result(database.execute(pair["right"]), is_ordered))
    except (sqlite3.Error, ValueError) as error:
        return f"false: {error}"
    if golds != {shown["left"]}:
        return f"false: the gold returns {len(golds)} results"
    if shown["right"] == shown["left"]:
        return "false: the result that is shown is the gold's"
    if shown["right"] not in predictions:
        return "the other result was not seen"
    if other and result(other["rows"], is_ordered) not in predictions:
        return "the second result was not seen"
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    arguments.add_argument("--size", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--program", default="sqlgauge")
    arguments.add_argument("--keep", type=Path, help="folder for the pairs and the run")
    given = arguments.parse_args()
    made = list(pairs(given.size, given.seed))
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for _, pair in made))
        command = [given.program, "verify", "--pairs", folder / "pairs.jsonl", "--out", folder / "run", "--restart", "--quiet"]
        subprocess.run(command, check=True)
        items = map(json.loads, (folder / "run" / "items.jsonl").read_text().splitlines())
        verdicts = {item["id"]: item["details"].get("verdict") for item in items}
    counts, failed = Counter(), 0
    for family, pair in made:
        verdict = verdicts.get(pair["id"])
        wrong = failure(pair, verdict, given.seed)
        counts[family.__name__, wrong or verdict["kind"]] += 1
        if wrong:
            failed += 1
            print(f"{pair['id']} {wrong}\n  {pair['ddl']}\n  {pair['left']}\n  {pair['right']}", file=sys.stderr)
    for (family, outcome), count in sorted(counts.items()):
        print(f"{family:<22} {outcome:<45} {count:>4}")
    print(f"{given.size} pairs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
