"""Logs of `sqlgauge monitor` before and after changes, from predictions on Spider dev; `monitor.tsv` and the series of each change.

    python research/watch/logs.py DATA OUT [--sqlgauge FILE] [--watch COMMAND]

Of DAIL 334 questions drawn at random are the known run; answers to the other 700 are watched. `before` is DAIL; then stand three other
models, renamed columns in world_1 or in all databases, DAIL on hard questions alone, and DAIL without world_1, which is one database
more if `before` comes after.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess

MODELS = {"before": "etm_DAIL", "c3": "etm_C3", "codex": "dinrepo_CodeX_CodeX_few-shot", "qwen": "llmnl2sql_Qwen1.5-7B-Chat"}
KNOWN = 334
# The logs before and after each change.
CHANGES = {
    "none": ("before", "before"),
    "C3 for DAIL": ("before", "c3"),
    "CodeX for DAIL": ("before", "codex"),
    "Qwen1.5-7B for DAIL": ("before", "qwen"),
    "columns renamed in world_1": ("before", "one-schema"),
    "columns renamed in all": ("before", "all-schemas"),
    "hard questions alone": ("before", "hard"),
    "world_1 more": ("without-world", "before"),
}
COLUMNS = ["change", "size", "false alarms a year", "median delay", "worst tenth", "never in a year"]


def prepare(spider, out):
    """Files of questions, ids and predictions."""
    questions = [item | {"id": str(at)} for at, item in enumerate(json.loads((spider / "dev.json").read_text()))]
    order = list(range(len(questions)))
    random.Random(1).shuffle(order)
    known, later = sorted(order[:KNOWN]), sorted(order[KNOWN:])
    hardness = [json.loads(line)["hardness"] for line in (spider / "oracle/dev/etm_DAIL.jsonl").read_text().splitlines()]
    parts = {
        "later": later,
        "hard": [at for at in later if hardness[at] in ("hard", "extra")],
        "less": [at for at in later if questions[at]["db_id"] != "world_1"],
    }
    for name, part in parts.items():
        (out / f"{name}.ids").write_text("".join(f"{at}\n" for at in part))
    (out / "all.json").write_text(json.dumps(questions))
    (out / "known.json").write_text(json.dumps([questions[at] for at in known]))
    for name, system in MODELS.items():
        lines = (spider / f"predictions/dev/{system}.sql").read_text().splitlines()
        texts = {str(at): line.split("\t")[0].strip() for at, line in enumerate(lines)}
        (out / f"{name}.json").write_text(json.dumps(texts))
        if name == "before":
            (out / "known-answers.json").write_text(json.dumps({str(at): texts[str(at)] for at in known}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sqlgauge", default="sqlgauge")
    parser.add_argument("--watch", default="cargo xtask research watch")
    arguments = parser.parse_args()
    spider, out = arguments.data / "spider", arguments.out
    out.mkdir(parents=True)
    prepare(spider, out)

    def call(*words, codes=(0,)):
        code = subprocess.run([arguments.sqlgauge, *map(str, words)], stdout=subprocess.DEVNULL, check=False).returncode
        assert code in codes, (words, code)

    database, gold = spider / "database", spider / "dev.json"
    call("score", "--gold", out / "known.json", "--db", database, "--pred", f"mine={out}/known-answers.json", "--out", out / "known")
    call("evolve", "--gold", gold, "--db", database, "--kinds", "rename-columns", "--intensity", 0.1, "--out", out / "evolved")
    renamed = out / "evolved/rename-columns/database"
    shutil.copytree(database, out / "one")
    shutil.copytree(renamed / "world_1", out / "one/world_1", dirs_exist_ok=True)
    logs = [(name, name, database, "later") for name in MODELS]
    logs += [("one-schema", "before", out / "one", "later"), ("all-schemas", "before", renamed, "later")]
    logs += [("hard", "before", database, "hard"), ("without-world", "before", database, "less")]
    for log, answers, folder, ids in logs:
        source = ["--known", out / "known", "--known-db", database, "--questions", out / "all.json", "--db", folder]
        target = ["--ids", out / f"{ids}.ids", "--pred", f"mine={out}/{answers}.json", "--log", out / f"{log}.jsonl"]
        call("monitor", *source, *target, "--as-of", "one", "--timeout", 5, "--quiet")
    rows = ["\t".join(COLUMNS)]
    for change, (before, after) in CHANGES.items():
        files = ["--before", out / f"{before}.jsonl", "--after", out / f"{after}.jsonl", "--series-out", out / f"{change}.series"]
        words = [*arguments.watch.split(), *map(str, files)]
        printed = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
        rows += [f"{change}\t{row}" for row in printed.splitlines()[1:]]
    (out / "monitor.tsv").write_text("".join(f"{row}\n" for row in rows))


if __name__ == "__main__":
    main()
