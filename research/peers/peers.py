"""Scores a prediction file with another tool's own functions, as a user of that tool would.

    python research/peers/peers.py cases OUT
    python research/peers/peers.py TOOL --gold dev.json --db database --pred FILE [--tables tables.json] [--items FILE]

Run it in a virtual environment that has the tool: `pip install nl2sql360` (which holds copies of the scripts of the test suites and of
BIRD, and so serves for `spider-script` and `bird-script` too), `pip install text2sql-eval-toolkit`, `pip install unitxt func_timeout
sqlglot sqlparse`, `pip install inspect-ai`. One line of JSON says the tool's version, the sum of each score, seconds and memory.

`cases` writes small benchmarks: `pairs` has pairs of queries on which definitions of "right" differ, one each, and each other folder
has one answer or gold that a tool may stumble over, with plain items behind it. The database of each is its own, since some tools
write into it.
"""

import argparse
import asyncio
import contextlib
import importlib.metadata
import json
import os
import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

PEOPLE = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, zip TEXT, value REAL);
INSERT INTO person VALUES (1, 'Ada', 31, '01234', 0.5), (2, 'Bob', 31, '99999', 1.5), (3, 'Ada', 45, '00001', 0.1),
                          (4, 'Cyd', 52, '12345', 0.2);
CREATE TABLE pet (owner INTEGER REFERENCES person (id), name TEXT);
INSERT INTO pet VALUES (1, 'Rex'), (2, 'Tom'), (4, 'Cyd');
"""
# What is asked, the gold, the prediction.
PAIRS = [
    ("equal texts", "SELECT name FROM person", "SELECT name FROM person"),
    ("another spelling", "SELECT name FROM person WHERE age > 40", "SELECT T1.name FROM person AS T1 WHERE 40 < T1.age"),
    ("wrong rows", "SELECT name FROM person WHERE age > 40", "SELECT name FROM person WHERE age < 40"),
    ("repetition lost", "SELECT name FROM person", "SELECT DISTINCT name FROM person"),
    ("count of distinct", "SELECT count(name) FROM person", "SELECT count(DISTINCT name) FROM person"),
    ("order reversed", "SELECT name, age FROM person ORDER BY age", "SELECT name, age FROM person ORDER BY age DESC"),
    ("columns swapped", "SELECT name, age FROM person", "SELECT age, name FROM person"),
    ("a column more", "SELECT name FROM person", "SELECT name, age FROM person"),
    ("4 and 4.0", "SELECT count(*) FROM person", "SELECT count(*) * 1.0 FROM person"),
    ("text and number", "SELECT zip FROM person", "SELECT CAST(zip AS INTEGER) FROM person"),
    ("NULL and the text None", "SELECT NULL", "SELECT 'None'"),
    ("last bit of a sum", "SELECT 0.3", "SELECT sum(value) FROM person WHERE id > 2"),
    ("both empty, other columns", "SELECT name FROM person WHERE age > 200", "SELECT id, age FROM person WHERE age > 300"),
    ("a column called value", "SELECT value FROM person", "SELECT value FROM person"),
    (
        "two columns of one name",
        "SELECT person.name, pet.name FROM person JOIN pet ON owner = id",
        "SELECT pet.name, pet.name FROM person JOIN pet ON owner = id",
    ),
    ("right by luck", "SELECT name FROM person WHERE age > 40", "SELECT name FROM person WHERE age >= 40"),
]
ENDLESS = "SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)"
PLAIN = ("SELECT name FROM person", "SELECT name FROM person")
STUMBLING = {
    "endless": ("SELECT count(*) FROM person", ENDLESS),
    "drop": ("SELECT count(*) FROM person", "DROP TABLE person"),
    "delete": ("SELECT count(*) FROM person", "DELETE FROM person"),
    "blank": ("SELECT count(*) FROM person", ""),
    "gold-fails": ("SELECT nothing FROM person", "SELECT name FROM person"),
    "both-fail": ("SELECT nothing FROM person", "SELECT nothing FROM person"),
    "many-columns": (
        "SELECT " + ", ".join(["1 = 1"] * 12) + " UNION ALL SELECT " + ", ".join(["1 = 0"] * 12),
        "SELECT " + ", ".join(["1 = 0"] * 6 + ["1 = 1"] * 6) + " UNION ALL SELECT " + ", ".join(["1 = 1"] * 6 + ["1 = 0"] * 6),
    ),
}


def write_cases(out):
    benchmarks = {"pairs": PAIRS} | {name: [(name, *pair), ("next", *PLAIN), ("last", *PLAIN)] for name, pair in STUMBLING.items()}
    for name, pairs in benchmarks.items():
        folder = out / name / "database" / "people"
        folder.mkdir(parents=True)
        with contextlib.closing(sqlite3.connect(folder / "people.sqlite")) as database:
            database.executescript(PEOPLE)
        items = [{"db_id": "people", "question": asked, "query": gold} for asked, gold, _ in pairs]
        (out / name / "dev.json").write_text(json.dumps(items, indent=1))
        (out / name / "pred.sql").write_text("".join(f"{prediction}\n" for _, _, prediction in pairs))


def spider_script(items, options):
    """The official script as NL2SQL360 calls it: default mode, without exact match unless there are tables."""
    from nl2sql360.evaluator import SpiderEXEMEvaluator

    found = SpiderEXEMEvaluator(eval_ex=True, eval_em=bool(options.tables)).evaluate(
        [gold for _, gold, _ in items],
        [prediction for _, _, prediction in items],
        [db for db, _, _ in items],
        str(options.db),
        tables_json_path=options.tables and str(options.tables),
    )
    return [{"ex": ex} | ({"esm": em} if options.tables else {}) for ex, em in zip(found["exec_acc"], found["exact_acc"])]


def bird_script(items, options):
    from nl2sql360.evaluator import BirdEXEvaluator

    found = BirdEXEvaluator().evaluate(
        [gold for _, gold, _ in items],
        [prediction for _, _, prediction in items],
        [db for db, _, _ in items],
        str(options.db),
        num_processes=options.jobs,
        timeout=options.timeout,
    )
    return [{"ex": ex} for ex in found["exec_acc"]]


def nl2sql360(items, options):
    """The tool's own route: import, evaluate, read its table."""
    from nl2sql360.arguments import CoreArguments, DatasetArguments, EvaluationArguments
    from nl2sql360.core import Core

    with tempfile.TemporaryDirectory() as folder:
        core = Core(CoreArguments(core_dir=folder))
        core.import_dataset(
            DatasetArguments("dev", str(options.gold.parent), options.gold.name, str(options.db.resolve()), sql_key="query")
        )
        core.evaluate(EvaluationArguments("it", "dev", ["ex"], str(options.pred), num_processes=options.jobs, timeout=options.timeout))
        with core.engine.connect() as connection:
            rows = connection.exec_driver_sql('SELECT exec_acc FROM "DATASET_dev_EVALUATION_it" ORDER BY id').fetchall()
    return [{"ex": ex} for (ex,) in rows]


def ibm(items, options):
    """The stages of text2sql-eval-toolkit: run the queries, then evaluate the file of results."""
    from text2sql_eval_toolkit import evaluate_predictions
    from text2sql_eval_toolkit.execution.execution_tools import sqlite_run_execution_async

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "it-predictions.json"
        records = [
            {"id": i, "db_id": db, "utterance": "?", "sql": gold, "predictions": {"it": {"predicted_sql": prediction}}}
            for i, (db, gold, prediction) in enumerate(items)
        ]
        path.write_text(json.dumps(records))
        asyncio.run(sqlite_run_execution_async(options.db.resolve(), path))
        data, _ = evaluate_predictions(str(path))
    wanted = ["execution_accuracy", "subset_non_empty_execution_accuracy", "bird_execution_accuracy", "sql_syntactic_equivalence", "df_error", "eval_error"]
    return [{name: record["predictions"]["it"]["evaluation"].get(name) for name in wanted} for record in data]


def unitxt(items, options):
    """The metric of unitxt's Text-to-SQL task."""
    # It would download BIRD's databases; this says that they are there.
    cache = tempfile.TemporaryDirectory()
    databases = Path(cache.name) / "databases"
    databases.mkdir()
    (databases / "download_done").touch()
    (databases / "given").symlink_to(options.db.resolve())
    os.environ["UNITXT_CACHE_LOCATION"] = cache.name
    from unitxt.metrics import SQLExecutionAccuracy

    metric = SQLExecutionAccuracy(sql_timeout=options.timeout)
    wanted = ["execution_accuracy", "non_empty_execution_accuracy", "subset_non_empty_execution_accuracy", "execution_accuracy_bird", "gold_error"]
    scores = []
    for db, gold, prediction in items:
        data = {"db": {"db_id": f"bird/{db}", "db_type": "local", "dbms": "sqlite", "data": None}}
        found = metric.compute([gold], prediction, data)
        scores.append({name: found[name] for name in wanted})
    return scores


def inspect(items, options):
    """inspect's own comparison of texts, `exact`: it has no scorer that runs SQL."""
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import exact
    from inspect_ai.solver import solver

    @solver
    def stored():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("stored", state.metadata["prediction"])
            return state

        return solve

    samples = [Sample(input="?", target=gold, id=i, metadata={"prediction": prediction}) for i, (_, gold, prediction) in enumerate(items)]
    task = inspect_ai.Task(dataset=samples, solver=stored(), scorer=exact())
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_ai.eval(task, model="mockllm/model", log_dir=folder, display="none")
        by_id = {sample.id: sample.scores["exact"].value == "C" for sample in log.samples}
    return [{"exact": int(by_id[i])} for i in range(len(items))]


TOOLS = {
    "spider-script": ("nl2sql360", spider_script),
    "bird-script": ("nl2sql360", bird_script),
    "nl2sql360": ("nl2sql360", nl2sql360),
    "text2sql-eval-toolkit": ("text2sql-eval-toolkit", ibm),
    "unitxt": ("unitxt", unitxt),
    "inspect-ai": ("inspect-ai", inspect),
}


def score(options):
    package, function = TOOLS[options.tool]
    golds = json.loads(options.gold.read_text())
    predictions = options.pred.read_text().split("\n")[: len(golds)]
    items = [(gold["db_id"], gold["query"], prediction) for gold, prediction in zip(golds, predictions, strict=True)]
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        scores = function(items, options)
    wall = time.perf_counter() - start
    if options.items:
        options.items.write_text("".join(json.dumps(one) + "\n" for one in scores))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    summary = {
        "tool": options.tool,
        "version": f"{package} {importlib.metadata.version(package)}",
        "n": len(scores),
        "sums": {name: sum(one[name] or 0 for one in scores) for name in scores[0]},
        "wall_s": round(wall, 1),
        "cpu_s": round(sum(one.ru_utime + one.ru_stime for one in used), 1),
        "peak_mib": max(one.ru_maxrss for one in used) // 1024,
    }
    print(json.dumps(summary))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="tool", required=True)
    commands.add_parser("cases").add_argument("out", type=Path)
    for name in TOOLS:
        tool = commands.add_parser(name)
        for option in ("--gold", "--db", "--pred"):
            tool.add_argument(option, type=Path, required=True)
        for option in ("--tables", "--items"):
            tool.add_argument(option, type=Path)
        tool.add_argument("--jobs", type=int, default=1)
        tool.add_argument("--timeout", type=float, default=30.0)
    options = parser.parse_args()
    if options.tool == "cases":
        write_cases(options.out)
    else:
        score(options)


if __name__ == "__main__":
    main()
