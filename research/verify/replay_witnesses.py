"""Replays the witnesses that `cargo bench -p sqlgauge-verify --bench search -- pairs --out FILE` wrote.

On Python's own SQLite the script must make a database that is sound, whose foreign keys hold, and on which the results
differ as bags. Says how many do, and names the others. A query that calls what this SQLite is too old for cannot be replayed on it,
and is counted apart.

usage: python3 replay_witnesses.py FILE
"""

import collections
import json
import sqlite3
import sys


TOO_OLD = "no such function here"


def near(value):
    """A value up to the equality of `ex@1`, near enough."""
    if isinstance(value, (int, float)):
        return f"{float(value):.8e}"
    return value


def rows(connection, sql):
    return [tuple(map(near, row)) for row in connection.execute(sql)]


def fault(line):
    """Why the witness is none; None if it is one."""
    connection = sqlite3.connect(":memory:")
    connection.text_factory = bytes
    connection.executescript(line["witness"])
    if connection.execute("PRAGMA integrity_check").fetchone()[0] != b"ok":
        return "integrity"
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        return "foreign key"
    try:
        left, right = (connection.execute(line[side]) for side in ("left", "right"))
        widths = [len(cursor.description) for cursor in (left, right)]
        left, right = rows(connection, line["left"]), rows(connection, line["right"])
    except sqlite3.Error as error:
        return TOO_OLD if "no such function" in str(error) else f"error: {error}"
    ordered = "order differs" in line["difference"]
    same = collections.Counter(left) == collections.Counter(right) and widths[0] == widths[1]
    if same and not (ordered and left != right):
        return "clock" if line["depends_on_clock"] else "same results"
    return None


def main():
    print("SQLite", sqlite3.sqlite_version)
    count, faults = 0, collections.Counter()
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["verdict"] != "different":
                continue
            count += 1
            why = fault(line)
            if why is not None:
                faults[why] += 1
                print(line["id"], why)
    print(f"{count} witnesses, {count - sum(faults.values())} replayed; {dict(faults)}")
    sys.exit(set(faults) - {TOO_OLD} != set())


main()
