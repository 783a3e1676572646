"""Rows of translated queries in other engines, compared with SQLite's.

    cargo run -p sqlgauge-dialects --example workload -- DATABASES duckdb,postgres GOLD.sql > texts.jsonl
    python research/dialects/dialects.py DATABASES texts.jsonl --duckdb --postgres 'host=/tmp/pg port=5999 user=postgres'

Every database is loaded into the engine by the CREATE TABLE that stands beside the texts; every text is run there and the
query in SQLite. Rows are compared by value: numbers to nine digits, as multisets, and in their order where they are
sorted. Where they differ, the query is run again in SQLite, with the rows of all tables the other way round, and with more
to sort by wherever rows are cut off: if SQLite then has other rows too, the query leaves open which they are, and counts as
`open` (`open_order` for the order of equal rows). The other way round they come from tables that are filled so, and from
views over them.
Ends with 1 if rows differ in what the query does not leave open. Needs `duckdb`, `psycopg2` and `pymysql` from PyPI for the engines that are asked for.
"""

import argparse
import collections
import decimal
import json
import os
import sqlite3
import sys
import tempfile
import time

import outermost

NULL = "\\N"
SECONDS = 30


class Duck:
    name = "duckdb"

    def __init__(self, _):
        import duckdb

        self.duckdb = duckdb
        self.version = duckdb.__version__

    def begin(self, _):
        self.connection = self.duckdb.connect()
        self.connection.execute("SET threads = 1")

    def load(self, create, name, path, blobs):
        self.connection.execute(create)
        self.connection.execute(
            f"COPY {quoted(name)} FROM '{path}' (FORMAT csv, HEADER false, NULL '{NULL}', QUOTE '\"', ESCAPE '\"', "
            "DELIMITER ',', AUTO_DETECT false)"
        )

    @staticmethod
    def blob(value):
        return "".join(f"\\x{byte:02X}" for byte in value)

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()

    def end(self):
        self.connection.close()


class Postgres:
    name = "postgres"

    def __init__(self, dsn):
        import psycopg2

        self.connection = psycopg2.connect(dsn)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("SHOW server_version")
        self.version = self.cursor.fetchone()[0]
        self.cursor.execute(f"SET statement_timeout = {SECONDS * 1000}")

    def begin(self, db_id):
        self.schema = quoted("sqlgauge_" + db_id)
        self.cursor.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")
        self.cursor.execute(f"CREATE SCHEMA {self.schema}")
        self.cursor.execute(f"SET search_path = {self.schema}")

    def load(self, create, name, path, blobs):
        self.cursor.execute(create)
        with open(path) as rows:
            self.cursor.copy_expert(f"COPY {quoted(name)} FROM STDIN (FORMAT csv, NULL '{NULL}')", rows)

    @staticmethod
    def blob(value):
        return "\\x" + value.hex()

    def rows(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall()

    def end(self):
        self.cursor.execute(f"DROP SCHEMA {self.schema} CASCADE")


class MySql:
    name = "mysql"

    def __init__(self, socket):
        import pymysql

        self.connection = pymysql.connect(
            unix_socket=socket, user="root", charset="utf8mb4", autocommit=True, local_infile=True
        )
        self.cursor = self.connection.cursor()
        self.cursor.execute("SELECT version()")
        self.version = self.cursor.fetchone()[0]
        self.is_mariadb = "MariaDB" in self.version
        self.cursor.execute("SET sql_mode = 'NO_ENGINE_SUBSTITUTION,STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY'")
        # The collation of bytes without padding has another name in MariaDB.
        self.collation = "utf8mb4_nopad_bin" if self.is_mariadb else "utf8mb4_0900_bin"
        self.cursor.execute(f"SET NAMES utf8mb4 COLLATE {self.collation}")
        seconds, unit = ("max_statement_time", 1) if self.is_mariadb else ("max_execution_time", 1000)
        self.cursor.execute(f"SET {seconds} = {SECONDS * unit}")

    def begin(self, db_id):
        self.database = "`sqlgauge_" + db_id.replace("`", "") + "`"
        self.cursor.execute(f"DROP DATABASE IF EXISTS {self.database}")
        self.cursor.execute(f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4")
        self.cursor.execute(f"USE {self.database}")

    def load(self, create, name, path, blobs):
        self.cursor.execute(create.replace("utf8mb4_0900_bin", self.collation))
        holders, sets, escaped = [], [], NULL.replace("\\", "\\\\")
        for at, column in enumerate(columns_of(self.cursor, name)):
            holders.append(f"@v{at}")
            value = f"@v{at}" if at not in blobs else f"UNHEX(@v{at})"
            sets.append(f"`{column}` = IF(@v{at} = '{escaped}', NULL, {value})")
        self.cursor.execute(
            f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE `{name}` CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' "
            f"OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n' ({', '.join(holders)}) SET {', '.join(sets)}"
        )

    @staticmethod
    def blob(value):
        return value.hex()

    def rows(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall()

    def end(self):
        self.cursor.execute(f"DROP DATABASE {self.database}")


def columns_of(cursor, table):
    cursor.execute(f"SHOW COLUMNS FROM `{table}`")
    return [row[0] for row in cursor.fetchall()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def sqlite(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    return connection


def turned(path):
    """The same database in memory, with the rows of its tables the other way round."""
    source, copy = sqlite(path), sqlite3.connect(":memory:")
    copy.text_factory = source.text_factory
    source.backup(copy)
    tables = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    for (table,) in tables:
        try:
            name = quoted(table)
            copy.execute(f"CREATE TEMP TABLE turned AS SELECT * FROM {name} ORDER BY rowid DESC")
            copy.execute(f"DELETE FROM {name}")
            copy.execute(f"INSERT INTO {name} SELECT * FROM turned ORDER BY rowid")
        except sqlite3.Error:
            copy.rollback()
        copy.execute("DROP TABLE IF EXISTS turned")
    copy.execute("PRAGMA reverse_unordered_selects = ON")
    return copy


def backwards(path):
    """The same database, with each table behind a view that gives its rows from the last one to the first."""
    connection = sqlite(path)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    for (table,) in tables.fetchall():
        name = quoted(table)
        try:
            connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} ORDER BY rowid DESC LIMIT -1")
        except sqlite3.Error:
            pass  # a table without rowids stays as it is
    return connection


def run(connection, sql):
    end = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: int(time.monotonic() > end), 100_000)
    return connection.execute(sql).fetchall()


def number(value):
    return 0.0 if value == 0 else float(f"{value:.9g}")


def key(value):
    if value is None:
        return (0, "")
    if isinstance(value, (bool, int, float, decimal.Decimal)):
        return (1, number(float(value)))
    if isinstance(value, str):
        return (2, value)
    return (3, bytes(value).hex())


def keys(rows):
    return [tuple(key(value) for value in row) for row in rows]


def judged(expected, found, path, line):
    """The verdict on two lists of rows."""
    is_sorted = outermost.is_sorted(line["sql"])
    same_rows = sorted(expected) == sorted(found)
    if expected == found or (not is_sorted and same_rows):
        return "equal"
    others = []
    turns = [(line["sql"], turned(path)), (line["sql"], backwards(path))]
    for sql, connection in turns + [(sql, sqlite(path)) for sql in line["turned"]]:
        try:
            others.append(keys(run(connection, sql)))
        except sqlite3.Error:
            pass
    if same_rows:
        return "open_order" if any(other != expected for other in others) else "other_order"
    return "open" if any(sorted(other) != sorted(expected) for other in others) else "different"


def load(engine, dialect_tables, connection):
    """Loads every table that the dialect can hold."""
    for table in dialect_tables:
        if "refused" in table:
            continue
        rows = connection.execute(f"SELECT * FROM {quoted(table['name'])}")
        blobs = set()
        with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="", delete=False, errors="replace") as out:
            os.chmod(out.name, 0o644)
            for row in rows:
                cells = []
                for at, value in enumerate(row):
                    if isinstance(value, bytes):
                        blobs.add(at)
                        value = engine.blob(value)
                    cells.append(NULL if value is None else '"' + str(value).replace('"', '""') + '"')
                out.write(",".join(cells) + "\n")
        try:
            engine.load(table["create"], table["name"], out.name, blobs)
        finally:
            os.unlink(out.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases")
    parser.add_argument("texts")
    parser.add_argument("--duckdb", action="store_true")
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--mysql", metavar="SOCKET")
    parser.add_argument("--differences", metavar="FILE", help="what differs, a line of JSON each")
    options = parser.parse_args()
    engines = [
        engine(value)
        for engine, value in [(Duck, options.duckdb), (Postgres, options.postgres), (MySql, options.mysql)]
        if value
    ]
    counts = {engine.name: collections.Counter() for engine in engines}
    refusals = {engine.name: collections.Counter() for engine in engines}
    out = open(options.differences, "w") if options.differences else None

    databases = collections.OrderedDict()
    with open(options.texts) as lines:
        for line in map(json.loads, lines):
            databases.setdefault(line["db_id"], []).append(line)
    for db_id, lines in databases.items():
        path = os.path.join(options.databases, db_id, f"{db_id}.sqlite")
        connection = sqlite(path)
        tables = lines[0]["tables"]
        loaded = []
        for engine in engines:
            engine.begin(db_id)
            try:
                load(engine, tables[engine.name], connection)
                loaded.append(engine)
            except Exception as error:
                counts[engine.name]["not_loaded"] += 1
                print(f"{engine.name} cannot hold {db_id}: {str(error).splitlines()[0]}")
        for line in lines[1:]:
            if "error" in line:
                continue
            try:
                expected = keys(run(connection, line["sql"]))
            except sqlite3.Error:
                for engine in loaded:
                    counts[engine.name]["not_in_sqlite"] += 1
                continue
            for engine in loaded:
                text = line["dialects"].get(engine.name, {})
                if "sql" not in text:
                    counts[engine.name]["refused"] += 1
                    refusals[engine.name][text.get("refused")] += 1
                    continue
                try:
                    verdict = judged(expected, keys(engine.rows(text["sql"])), path, line)
                    message = None
                except Exception as error:
                    verdict, message = "error", str(error)
                counts[engine.name][verdict] += 1
                if out and verdict in ("different", "other_order", "error"):
                    found = {"engine": engine.name, "verdict": verdict, "db_id": db_id, "error": message}
                    out.write(json.dumps({**found, "sql": line["sql"], "text": text["sql"]}) + "\n")
        for engine in loaded:
            engine.end()
    for engine in engines:
        print(engine.name, engine.version, dict(counts[engine.name].most_common()))
        print("  refused:", dict(refusals[engine.name].most_common()))
    return int(any(own[verdict] for own in counts.values() for verdict in ("different", "other_order", "error")))


if __name__ == "__main__":
    sys.exit(main())
