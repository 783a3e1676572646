"""Draws answers that EX calls right and `verify` refutes, to read who is at fault, and counts EX-SpotIt.

python research/refuted/refuted.py RUN [--labels FILE --prefix TEXT] [--count 50] [--seed 26]

RUN is a run of `sqlgauge score --metrics ex,verify`, or of `sqlgauge verify` with labels of others: a TSV with `question_id` and a
column of 0 and 1 per system, named after it with the prefix. Prints for each system EX, EX-SpotIt, and EX-SpotIt without
counterexamples that need a NULL in a key or a value off its type; then a sample, one answer a question at most.
"""

import argparse
import collections
import csv
import json
import random
from pathlib import Path

STRANGE = {"null-in-key", "value-off-type"}


def read_labels(path, prefix):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {
        (name.removeprefix(prefix), int(row["question_id"])): value == "1"
        for row in rows
        for name, value in row.items()
        if name.startswith(prefix)
    }


def verdict_of(item):
    return item["details"].get("verdict") or {}


def print_table(items, is_right):
    counts = collections.defaultdict(collections.Counter)
    for item in items:
        own = counts[item["system"]]
        own["all"] += 1
        if not is_right(item):
            continue
        own["right"] += 1
        verdict = verdict_of(item)
        if verdict.get("verdict") == "different":
            own["refuted"] += 1
            own["plainly"] += not STRANGE & set(verdict.get("needs") or [])
    print("| system | EX | EX-SpotIt | without NULL in a key or a value off its type |\n|---|---|---|---|")
    for system, own in sorted(counts.items(), key=lambda entry: -entry[1]["right"]):
        shares = [own["right"], own["right"] - own["refuted"], own["right"] - own["plainly"]]
        print(f"| {system} | " + " | ".join(f"{100 * share / own['all']:.1f}" for share in shares) + " |")


def print_sample(items, is_right, count, seed):
    refuted = [item for item in items if is_right(item) and verdict_of(item).get("verdict") == "different"]
    random.Random(seed).shuffle(refuted)
    first = {}
    for item in refuted:
        first.setdefault(item["id"], item)
    once = list(first.values())
    print(f"\n{len(refuted)} answers to {len(once)} questions are refuted")
    for number, item in enumerate(once[:count], 1):
        details, verdict = item["details"], verdict_of(item)
        print(f"\n{number}. {item['system']} {item['id']} {item['db_id']} {verdict.get('needs') or ''}")
        print("  ", details.get("question"), details.get("evidence") or "")
        print("   gold:", details["gold"])
        print("   answer:", details["prediction"])
        print("  ", verdict.get("difference"), verdict.get("not_kept") or "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=26)
    arguments = parser.parse_args()
    with open(arguments.run / "items.jsonl", encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    if arguments.labels:
        labels = read_labels(arguments.labels, arguments.prefix)
        is_right = lambda item: labels.get((item["system"], item["index"]), False)  # noqa: E731
    else:
        is_right = lambda item: item["metrics"].get("ex@1") == 1  # noqa: E731
    print_table(items, is_right)
    print_sample(items, is_right, arguments.count, arguments.seed)


if __name__ == "__main__":
    main()
