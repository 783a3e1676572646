"""Texts of dialects whose engines are not at hand, read by an independent parser (`sqlglot` from PyPI).

    cargo run -p sqlgauge-dialects --example workload -- DATABASES bigquery,snowflake,… GOLD.sql > texts.jsonl
    python research/dialects/dialects_parsed.py texts.jsonl

What the parser takes only as a command of which it knows nothing counts as not parsed. Ends with 1 if there is such a text.
"""

import collections
import json
import sys

import sqlglot

NAMES = {"mssql": "tsql"}


def main():
    counts = collections.defaultdict(collections.Counter)
    failures = []
    with open(sys.argv[1]) as lines:
        for line in map(json.loads, lines):
            for dialect, text in line.get("dialects", {}).items():
                if "sql" not in text:
                    counts[dialect]["refused: " + text["refused"]] += 1
                    continue
                try:
                    trees = sqlglot.parse(text["sql"], read=NAMES.get(dialect, dialect))
                    is_parsed = len(trees) == 1 and not isinstance(trees[0], sqlglot.exp.Command)
                    message = "a command"
                except sqlglot.errors.SqlglotError as error:
                    is_parsed, message = False, str(error)
                counts[dialect]["parsed" if is_parsed else "not parsed"] += 1
                if not is_parsed:
                    failures.append((dialect, message, text["sql"]))
    print("sqlglot", sqlglot.__version__)
    for dialect, own in sorted(counts.items()):
        print(dialect, dict(own.most_common()))
    for failure in failures[:20]:
        print(*failure, sep="\n  ")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
