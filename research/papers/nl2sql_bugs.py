"""Writes the items of NL2SQL-Bugs that match a question of BIRD dev as a benchmark that `sqlgauge score` reads.

python research/papers/nl2sql_bugs.py DATA OUT

DATA is the folder with `human/NL2SQL-Bugs.json` and `bird/dev.json`. OUT gets `gold.json` (BIRD's gold of each item's
question), `answers.jsonl` (the query that people judged) and `labels.tsv` (what they said). An item matches by database and
question, blanks and letter case ignored. Prints how many match, how many of them differ from the gold, and their labels.
"""

import json
import sys
from pathlib import Path


def key(db_id, question):
    return db_id, " ".join(question.lower().split())


def squeezed(sql):
    return " ".join(sql.lower().replace(";", " ").split())


def main():
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    bugs = json.loads((data / "human/NL2SQL-Bugs.json").read_text(encoding="utf-8"))
    dev = json.loads((data / "bird/dev.json").read_text(encoding="utf-8"))
    asked = {key(item["db_id"], item["question"]): item for item in dev}
    matched = [(bug, asked[at]) for bug in bugs if (at := key(bug["db_id"], bug["question"])) in asked]
    differ = [(bug, gold) for bug, gold in matched if squeezed(bug["sql"]) != squeezed(gold["SQL"])]
    with (
        open(out / "gold.json", "w", encoding="utf-8") as golds,
        open(out / "answers.jsonl", "w", encoding="utf-8") as answers,
        open(out / "labels.tsv", "w", encoding="utf-8") as labels,
    ):
        json.dump(
            [
                {
                    "question_id": bug["id"],
                    "db_id": bug["db_id"],
                    "question": bug["question"],
                    "evidence": gold.get("evidence", ""),
                    "SQL": gold["SQL"],
                }
                for bug, gold in differ
            ],
            golds,
        )
        labels.write("id\tcorrect\n")
        for bug, _ in differ:
            answers.write(json.dumps({"id": str(bug["id"]), "sql": bug["sql"]}) + "\n")
            labels.write(f"{bug['id']}\t{int(bug['label'])}\n")
    right = sum(bug["label"] for bug, _ in differ)
    print(f"{len(matched)} of {len(bugs)} match, {len(differ)} differ from the gold: {right} right, {len(differ) - right} wrong")


main()
