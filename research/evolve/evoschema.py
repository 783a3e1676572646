"""What EvoSchema's published files hold: `python research/evolve/evoschema.py DATA`, where DATA is the folder with
`evoschema/` and `bird/`.

For each file: its items, how many columns or tables an item changes (the paper's Table 2: least / mean / median / greatest), and how
many of the published golds SQLite can prepare

- over the tables that the file shows for the item, as its DDL names them (what a model is shown), and
- where the change is one of names, over the whole database with the names that the item's mapping gives (`bird/schema_only`).

The files have no predictions of any model: the keys of their items are printed. Only Python's standard library is used.
"""

import argparse
import json
import re
import sqlite3
import statistics
from collections import Counter
from pathlib import Path

FILES = {
    "original": "raw_bird_dev",
    "remove-columns": "remove_columns_bird_dev",
    "remove-columns-in-gold": "remove_columns_in_gold_SQL_bird_dev",
    "rename-columns": "rename_columns_bird_dev",
    "split-columns": "bird_split_or_merge_columns",
    "merge-columns": "bird_split_or_merge_columns",
    "remove-tables": "remove_tables_bird_dev",
    "rename-tables": "rename_tables_bird_dev",
    "merge-tables": "merge_tables_bird_dev_revised_finally",
}
FOREIGN = re.compile(r"foreign key\((.*?)\) references .*\) (\w+)$", re.IGNORECASE)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def parts(text):
    """The parts of a list between commas; commas in parentheses are no ends."""
    depth, start = 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def columns(ddl):
    """The names of the columns of a published DDL, which quotes nothing: a name, its type, perhaps `primary key`."""
    body = ddl[ddl.index("(") + 1 : ddl.rindex(")")]
    for part in filter(None, parts(body)):
        part = re.sub(r"\s+primary key$", "", part, flags=re.IGNORECASE)
        foreign = FOREIGN.match(part)
        yield foreign.group(1) if foreign else part.rsplit(" ", 1)[0]


def shown(item):
    """A database of the tables that the file shows for the item."""
    database = sqlite3.connect(":memory:")
    for name, table in (item.get("new_relevant_table", item["relevant_table"]) or {}).items():
        names = dict.fromkeys(name.lower() for name in columns(table["ddl"]))
        if names:
            database.execute(f"CREATE TABLE {quoted(name)} ({', '.join(map(quoted, names))})")
    return database


def renamed(item, data):
    """The item's database without rows, with the names of the item's mapping; None where the mapping is not one of names."""
    tables = item.get("old_new_table_mappings", {})
    of_columns = {
        name: table["old_new_column_mappings"]
        for name, table in (item.get("new_relevant_table") or {}).items()
        if "old_new_column_mappings" in table
    }
    if not tables and not of_columns:
        return None
    database = sqlite3.connect(":memory:")
    path = data / "bird" / "schema_only" / item["db_id"] / f"{item['db_id']}.sqlite"
    sqlite3.connect(f"file:{path}?mode=ro", uri=True).backup(database)
    for table, mapping in of_columns.items():
        for old, new in mapping.items():
            database.execute(f"ALTER TABLE {quoted(table)} RENAME COLUMN {quoted(old)} TO {quoted(new)}")
    for old, new in tables.items():
        database.execute(f"ALTER TABLE {quoted(old)} RENAME TO {quoted(new)}")
    return database


def prepared(database, item):
    """None where SQLite can prepare the published gold, else why not."""
    try:
        database.execute("EXPLAIN " + item.get("new_gold_sql", item["query"]))
    except sqlite3.Error as error:
        return re.sub(r":.*", "", str(error)).strip()
    return None


def changed(item):
    """How many columns or tables the item changes, by table; one list with one number where tables are changed."""
    tables = (item.get("new_relevant_table") or {}).values()
    if "old_new_table_mappings" in item:
        return [len(item["old_new_table_mappings"])]
    if "old_new_table_mapping" in item:
        return [len(item["old_new_table_mapping"])]
    if "removed_tables" in item:
        return [len(item["removed_tables"])]
    if "column_changes" in item:
        # Most of the merges have an empty text here.
        changes = item["column_changes"] or {}
        return [len(names) for names in changes.values()]
    key = "old_new_column_mappings" if any("old_new_column_mappings" in t for t in tables) else "removed_columns"
    return [len(table[key]) for table in tables if table.get(key)]


def spread(values):
    if not values:
        return "-"
    mean, median = statistics.mean(values), statistics.median(values)
    return f"{min(values)} / {mean:.1f} / {median:g} / {max(values)}"


def share(outcomes):
    runs = sum(why is None for why in outcomes)
    worst = Counter(why for why in outcomes if why).most_common(2)
    return f"{runs} of {len(outcomes)}" + "".join(f", {count} {why}" for why, count in worst)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--db", help="only the items about this database")
    arguments = parser.parse_args()
    print("| file | items | per table | per item | golds that prepare over what is shown | over the renamed database |")
    print("|---|---|---|---|---|---|")
    keys = set()
    for name, file in FILES.items():
        items = json.loads((arguments.data / "evoschema" / f"{file}.json").read_text())
        items = [item for item in items if arguments.db in (None, item["db_id"])]
        items = [item for item in items if item.get("split_or_merge", name).split("-")[0] == name.split("-")[0]]
        over_shown, over_whole, per_table, per_item = [], [], [], []
        for item in items:
            keys |= item.keys()
            of = changed(item)
            per_table += of
            per_item += [sum(of)] if of else []
            over_shown.append(prepared(shown(item), item))
            try:
                database = renamed(item, arguments.data)
                over_whole += [prepared(database, item)] if database else []
            except sqlite3.Error as error:
                over_whole.append("mapping " + re.sub(r":.*", "", str(error)).strip())
        whole = share(over_whole) if over_whole else "-"
        print(f"| {name} | {len(items)} | {spread(per_table)} | {spread(per_item)} | {share(over_shown)} | {whole} |")
    print(f"\nfields of an item: {', '.join(sorted(keys))}; none is a prediction")


if __name__ == "__main__":
    main()
