"""Reads real systems: the official outcome of each answer, and the class of equal results that it belongs to.

Spider's answers run on its databases, BIRD's about superheroes too. BIRD's other databases are not public, so its answers run on three
that are made from the schema, the column profiles and the constants of the answers; there a class is only a signal, not a shared verdict.
A result is its rows without order of rows and columns, with the order of rows if the query sorts. Results are kept in CACHE.
"""

import hashlib
import json
import random
import re
import sqlite3
from collections import defaultdict
from pathlib import Path

import numpy as np

STEPS = 300  # of 20,000 instructions each: about a second
ROWS = 3_000
COMPARED = r"[`\"]?([\w][\w \-()%/.]*?)[`\"]?\s*(?:=|>=?|<=?|LIKE)\s*(?:(-?\d+(?:\.\d+)?)|'([^']*)')"
FAILS = -1


class Benchmark:
    """`right`: systems × items, 0 or 1. `classes`: (systems + peers) × items, FAILS where the answer does not run."""

    def __init__(self, name, systems, right, classes, empty, queries, databases):
        self.name, self.systems, self.right, self.classes, self.empty = name, systems, right, classes, empty
        self.queries, self.databases = queries, databases


def run(connection, sql):
    budget = [0]

    def spent():
        budget[0] += 1
        return budget[0] > STEPS

    connection.set_progress_handler(spent, 20_000)
    try:
        return connection.execute(sql).fetchmany(ROWS)
    except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError, OverflowError, MemoryError):
        return None


def digest(rows, sql):
    """A text that is equal for equal results."""
    if rows is None:
        return None
    cells = [[f"{v:.6g}" if isinstance(v, (int, float)) else str(v) for v in row] for row in rows]
    columns = sorted(zip(*cells), key=sorted) if cells else []
    rows = list(zip(*columns))
    if "order by" not in sql.lower():
        rows.sort()
    return ("e" if not rows else "r") + hashlib.md5(repr(rows).encode()).hexdigest()[:12]


def text(sql):
    """One line; an answer of several statements stays one, and fails as it does in the official scripts."""
    return re.sub(r"\s+", " ", sql).strip().rstrip("; ")


def copied(path):
    memory = sqlite3.connect(":memory:")
    memory.text_factory = lambda value: value.decode("utf-8", "replace")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
        file.backup(memory)
    return memory


def constants(queries):
    """Values that answers compare a column with, by the name of the column."""
    pools = defaultdict(set)
    for sql in queries:
        for name, number, word in re.findall(COMPARED, sql, re.I):
            pools[name.split(".")[-1].split(" ")[-1].lower()].add(number or word.strip("%"))
            pools[name.split(".")[-1].lower()].add(number or word.strip("%"))
    return pools


def made(path, profile, pools, seed):
    """The schema with up to 150 rows a table: values of the profile and of `pools`, children point at parents."""
    draw = random.Random(seed)
    memory = copied(path)
    memory.execute("PRAGMA foreign_keys = off")
    values = {}
    for table in profile["tables"]:
        count = min(table["row_count"], 150)
        for column in table["columns"]:
            pool = list(column["sample_values"] or ["1"])
            pool += sorted(pools.get(column["name"].lower(), ()))[:60]
            if column["unique_fraction"] > 0.95 or [column["name"]] == table["primary_key"]:
                cells = list(dict.fromkeys(pool))[:count]
                cells += [str(100_000 + at) for at in range(count - len(cells))]
            else:
                cells = [None if draw.random() < column["null_fraction"] else draw.choice(pool) for _ in range(count)]
            values[table["name"].lower(), column["name"].lower()] = cells
    for table in profile["tables"]:
        columns = [column for column in table["columns"] if column["name"]]
        data = []
        for column in columns:
            cells = values[table["name"].lower(), column["name"].lower()]
            for key in column["foreign_keys"] or []:
                parents = values.get((key["reference_table"].lower(), str(key["reference_column"]).lower()))
                if parents and key["relationship"] != "one-to-one":
                    cells = [draw.choice(parents) for _ in cells]
            data.append(cells)
        names = ",".join('"' + column["name"].replace('"', '""') + '"' for column in columns)
        sql = f'INSERT OR IGNORE INTO "{table["name"]}" ({names}) VALUES ({",".join("?" * len(columns))})'
        try:
            memory.executemany(sql, list(zip(*data)))
        except sqlite3.Error:
            continue  # a profile that names a column otherwise: the table stays empty
    memory.commit()
    return memory


def results(cache, databases, asked, memories):
    """Digest per (database, text); `memories(db)` gives the databases that a text runs on."""
    store = json.loads(cache.read_text()) if cache.exists() else {}
    missing = sorted({(db, sql) for row in asked for db, sql in zip(databases, row) if f"{db}\t{sql}" not in store})
    for db in sorted({db for db, _ in missing}):
        opened = memories(db)
        for _, sql in (pair for pair in missing if pair[0] == db):
            store[f"{db}\t{sql}"] = [digest(run(memory, sql), sql) if re.match(r"\(?\s*(select|with)", sql, re.I) else None for memory in opened]
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(store))
    return store


def classes(store, databases, asked):
    ids = np.full((len(asked), len(databases)), FAILS)
    empty = np.zeros((len(asked), len(databases)), dtype=bool)
    for item, db in enumerate(databases):
        numbers = {}
        for at, row in enumerate(asked):
            keys = store[f"{db}\t{row[item]}"]
            if any(key is not None for key in keys):
                ids[at, item] = numbers.setdefault(tuple(keys), len(numbers))
                empty[at, item] = all(key is None or key[0] == "e" for key in keys)
    return ids, empty


def spider(data, cache):
    folder = data / "spider"
    databases = [json.loads(line)["db_id"] for line in (folder / "oracle/dev/etm_C3.jsonl").read_text().splitlines()]
    systems, right, asked = [], [], []
    for path in sorted((folder / "oracle/dev").glob("*.jsonl")):
        outcomes = [json.loads(line)["ex_keep_distinct"] for line in path.read_text().splitlines()]
        queries = (folder / f"predictions/dev/{path.stem}.sql").read_text(errors="replace").split("\n")[: len(databases)]
        if len(queries) == len(outcomes) == len(databases):
            systems.append(path.stem)
            right.append(outcomes)
            asked.append([re.sub(r"\bvalue\b", "1", text(sql)) for sql in queries])
    zoo = {}
    for line in (data / "zoo/qwen2.5-coder-1.5b/spider_dev.jsonl").read_text().splitlines():
        answer = json.loads(line)
        zoo[answer["id"]] = text(answer["sql"] or "")
    asked.append([zoo.get(at, "") for at in range(len(databases))])  # a peer only: it has no official outcome
    store = results(cache / "spider.json", databases, asked, lambda db: [copied(folder / f"database/{db}/{db}.sqlite")])
    ids, empty = classes(store, databases, asked)
    return Benchmark("spider", systems, np.array(right), ids, empty, asked, databases)


def made_databases(data, asked):
    profiles = {profile["name"]: profile for profile in json.loads((data / "bird/column_profile.json").read_text())}
    pools = constants({sql for row in asked for sql in row})
    return lambda db: [made(data / f"bird/schema_only/{db}/{db}.sqlite", profiles[db], pools, seed) for seed in (1, 2, 3)]


def bird(data, cache):
    folder = data / "bird"
    lines = [line.split("\t") for line in (folder / "llm_nl2sql/correct.tsv").read_text().splitlines()]
    systems, databases = lines[0][3:], [line[1] for line in lines[1:]]
    right = np.array([[int(cell) for cell in line[3:]] for line in lines[1:]]).T
    asked = [(folder / f"llm_nl2sql/predictions/{name}.sql").read_text(errors="replace").split("\n")[: len(databases)] for name in systems]
    for path in sorted((folder / "predictions/dev").glob("*.json")):  # peers only: their outcomes are not public
        answers = json.loads(path.read_text())
        asked.append([str(answers.get(str(at), "")).split("\t----- bird -----")[0] for at in range(len(databases))])
    asked = [[text(sql) for sql in row] for row in asked]
    store = results(cache / "bird.json", databases, asked, made_databases(data, asked))
    ids, empty = classes(store, databases, asked)
    return Benchmark("bird", systems, right, ids, empty, asked, databases)


def superhero(data, cache):
    """BIRD's one public database: 28 systems on 129 questions, run on its real rows."""
    folder = data / "bird"
    outcomes = json.loads((folder / "ex_set_superhero.json").read_text())
    systems = sorted(name for name in outcomes if (folder / f"predictions/dev/{name}.json").exists())
    items = sorted(outcomes[systems[0]], key=int)
    databases = ["superhero"] * len(items)
    right = np.array([[int(outcomes[name][item]) for item in items] for name in systems])
    answers = [json.loads((folder / f"predictions/dev/{name}.json").read_text()) for name in systems]
    asked = [[text(str(row.get(item, "")).split("\t----- bird -----")[0]) for item in items] for row in answers]
    path = folder / "database/superhero/superhero.sqlite"
    ids, empty = classes(results(cache / "superhero.json", databases, asked, lambda _: [copied(path)]), databases, asked)
    return Benchmark("superhero", systems, right, ids, empty, asked, databases)


def platinum(data, cache):
    runs = {}
    for path in sorted((data / "bird_platinum").glob("*_evaluation*.json")):
        answers = {str(a["question_id"]): a for a in json.loads(path.read_text())["detailed_results"]}
        if len(answers) < 600:
            runs[path.stem.split("_evaluation")[0]] = answers
    items = sorted({(item, a["db_id"]) for answers in runs.values() for item, a in answers.items()}, key=lambda pair: int(pair[0]))
    databases = [db for _, db in items]
    right = np.array([[int(bool(answers.get(item, {}).get("bird_grading"))) for item, _ in items] for answers in runs.values()])
    asked = [[text(str(answers.get(item, {}).get("prediction") or "")) for item, _ in items] for answers in runs.values()]
    store = results(cache / "platinum.json", databases, asked, made_databases(data, asked))
    ids, empty = classes(store, databases, asked)
    return Benchmark("platinum", list(runs), right, ids, empty, asked, databases)


if __name__ == "__main__":
    import sys

    for read in (spider, superhero, bird, platinum):
        benchmark = read(Path(sys.argv[1]), Path(sys.argv[2]))
        count = len(benchmark.systems)
        fails = benchmark.classes[:count] == FAILS
        print(benchmark.name, benchmark.right.shape, "fails", fails.mean(), "right though it fails", benchmark.right[fails].mean())
        split = total = 0
        for item in range(benchmark.right.shape[1]):
            for number in set(benchmark.classes[:count, item]) - {FAILS}:
                members = benchmark.right[benchmark.classes[:count, item] == number, item]
                total += len(members)
                split += min(members.sum(), len(members) - members.sum())
        print("answers whose class has another verdict", split / total, "empty", benchmark.empty.mean())
