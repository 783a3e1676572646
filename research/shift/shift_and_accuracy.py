#!/usr/bin/env python3
"""Correlation over databases between how far each lies from a source and the accuracy of systems on it (FusionSQL, Figure 10b).

    sqlgauge shift --source S.parquet --target T.parquet --standardise --top 1000 --json > shift.json
    python shift_and_accuracy.py shift.json labels.tsv       # a column db_id, and one of 0 and 1 for each system
    python shift_and_accuracy.py shift.json run/items.jsonl  # a run of `score`; its first metric

The distance is the mean Mahalanobis distance of a database's vectors (`own_mahalanobis`).
"""

import csv
import json
import sys


def correlation(xs, ys):
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    both = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
    squares = sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys)
    return both / squares**0.5 if squares else float("nan")


def labels(path):
    """For each system the labels of each database."""
    found = {}
    with open(path, encoding="utf-8") as file:
        if path.endswith(".jsonl"):
            for item in map(json.loads, file):
                value = next(iter(item["metrics"].values()))
                found.setdefault(item["system"], {}).setdefault(item["db_id"], []).append(value or 0)
        else:
            for row in csv.DictReader(file, delimiter="\t"):
                for system, value in row.items():
                    if value in ("0", "1") and system not in ("question_id", "id"):
                        found.setdefault(system, {}).setdefault(row["db_id"], []).append(int(value))
    return found


def main(shift, path):
    with open(shift, encoding="utf-8") as file:
        distances = {database["name"]: database["own_mahalanobis"] for database in json.load(file)["by_database"]}
    all_of_them = []
    for system, by_database in sorted(labels(path).items()):
        databases = sorted(set(distances) & set(by_database))
        accuracies = [sum(by_database[name]) / len(by_database[name]) for name in databases]
        all_of_them.append(correlation([distances[name] for name in databases], accuracies))
        print(f"{system}\t{len(databases)} databases\t{all_of_them[-1]:.2f}")
    all_of_them.sort()
    middle = all_of_them[len(all_of_them) // 2]
    print(f"{len(all_of_them)} systems: {all_of_them[0]:.2f} to {all_of_them[-1]:.2f}, median {middle:.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
