"""Writes EvoSchema's published files as benchmarks that `sqlgauge predict` and `sqlgauge score` read.

python research/robustness/evoschema_benchmark.py DATA OUT [--count 25] [--seed 7]

DATA is the folder with `evoschema/` and `bird/`. Of each file `--count` items are drawn, which ask the same questions in every file
that has them. OUT gets a folder for each file, with `questions.json` (the drawn items: question, BIRD's evidence, the published gold,
and the published DDL of the tables that the paper shows, as it is), `shots.json` (the items that were not drawn, for `predict
--shots-gold`) and `tables.json` (the tables and columns that each drawn item shows; every item has a schema of its own). Prints how
many items there are, and how many golds name something that is not shown.
"""

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "evolve"))
from evoschema import FILES, columns, prepared, shown  # noqa: E402


def schema(db_id, tables):
    """The item's tables as an entry of `tables.json`. No types and keys: Table and Column Match F1 need none."""
    names = [[-1, "*"]]
    for at, table in enumerate(tables.values()):
        # Some DDLs name a column twice.
        once = {name.lower(): name for name in columns(table["ddl"])}
        names += [[at, name] for name in once.values()]
    return {
        "db_id": db_id,
        "table_names": list(tables),
        "table_names_original": list(tables),
        "column_names": names,
        "column_names_original": names,
        "column_types": ["text"] * len(names),
        "primary_keys": [],
        "foreign_keys": [],
    }


def example(kind, item, evidence):
    tables = item.get("new_relevant_table", item["relevant_table"]) or {}
    at = item["train_idx"]
    return {
        "question_id": f"{kind}-{at}",
        "db_id": f"{item['db_id']}__{kind}_{at}",
        "source_db_id": item["db_id"],
        "question": item["question"],
        "evidence": evidence[at],
        "query": item.get("new_gold_sql", item["query"]),
        "ddl": "\n".join(table["ddl"] for table in tables.values()),
    }, schema(f"{item['db_id']}__{kind}_{at}", tables)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    dev = json.loads((arguments.data / "bird/dev.json").read_text(encoding="utf-8"))
    evidence = [item.get("evidence", "") for item in dev]
    order = list(range(len(dev)))
    random.Random(arguments.seed).shuffle(order)
    place = {at: rank for rank, at in enumerate(order)}
    for kind, file in FILES.items():
        items = json.loads((arguments.data / "evoschema" / f"{file}.json").read_text(encoding="utf-8"))
        items = [{"train_idx": at, **item} for at, item in enumerate(items)]
        items = [item for item in items if item.get("split_or_merge", kind).split("-")[0] == kind.split("-")[0]]
        items.sort(key=lambda item: place[item["train_idx"]])
        # Some questions are there twice, and some show no table.
        once = list({item["train_idx"]: item for item in items if item.get("new_relevant_table", item["relevant_table"])}.values())
        drawn, rest = once[: arguments.count], once[arguments.count :]
        drawn.sort(key=lambda item: item["train_idx"])
        folder = arguments.out / kind
        folder.mkdir(parents=True, exist_ok=True)
        made = [example(kind, item, evidence) for item in drawn]
        (folder / "questions.json").write_text(json.dumps([question for question, _ in made], indent=1), encoding="utf-8")
        (folder / "tables.json").write_text(json.dumps([entry for _, entry in made], indent=1), encoding="utf-8")
        shots = [example(kind, item, evidence)[0] for item in rest]
        (folder / "shots.json").write_text(json.dumps(shots, indent=1), encoding="utf-8")
        broken = sum(prepared(shown(item), item) is not None for item in drawn)
        print(f"{kind}: {len(drawn)} of {len(once)} items, {broken} golds name what is not shown")


if __name__ == "__main__":
    main()
