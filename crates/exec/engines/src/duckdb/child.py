"""Runs queries on one DuckDB file for sqlgauge. Standard input is a socket: a query a line comes in as JSON, and null for a hash of the
file; messages go out on it, each behind its length.

The locks are set before the first question: the memory of this process, no file written, the database read-only, nothing outside it.
"""

import datetime
import decimal
import hashlib
import json
import os
import resource
import signal
import socket
import sys
import uuid

import duckdb

MIB = 1 << 20
DAY = 86_400_000_000
OPTIONS = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "threads": 1,
    "temp_directory": "",
    "max_temp_directory_size": "0MB",
}


def lock_process(memory):
    """What the process holds already, and so many bytes more: DuckDB's own limit does not count all that it allocates."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        held = int(statm.read().split()[0]) * resource.getpagesize()
    most = held + 2 * memory + 512 * MIB
    for limit, value in (("AS", most), ("FSIZE", 0), ("CORE", 0)):
        resource.setrlimit(getattr(resource, "RLIMIT_" + limit), (value, value))


def opened(path, memory):
    options = OPTIONS | {"memory_limit": f"{memory // MIB}MB"}
    connection = duckdb.connect(path, read_only=True, config=options)
    connection.execute("SET TimeZone = 'UTC'")
    for name in ("python_enable_replacements", "python_enable_replacement_scans"):
        try:
            connection.execute(f"SET {name} = false")
        except duckdb.CatalogException:
            continue
    connection.execute("SET lock_configuration = true")
    return connection


def content(path):
    """What stands for the rows: the hash of the file, and of what was not written into it yet."""
    digest = hashlib.sha256()
    for name in (path, path + ".wal"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                while piece := file.read(MIB):
                    digest.update(piece)
    return digest.hexdigest()


def plain(value):
    """Numbers, texts and NULL as they are; for all else a list of what it is, and its text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else ["decimal", str(value)]
    if isinstance(value, decimal.Decimal):
        return ["decimal", format(value, "f")]
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ["bytes", bytes(value).hex()]
    if isinstance(value, datetime.timedelta):
        return ["seconds", str((value.days * DAY + value.seconds * 1_000_000 + value.microseconds))]
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return ["moment", value.isoformat(" ")]
    if isinstance(value, (datetime.date, datetime.time)):
        return ["moment", value.isoformat()]
    if isinstance(value, uuid.UUID):
        return str(value)
    return ["nested", json.dumps(nested(value), sort_keys=True)]


def nested(value):
    """A list, struct or map, with its members as `plain` has them; whole decimals are integers."""
    if isinstance(value, dict):
        return {str(key): nested(member) for key, member in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [nested(member) for member in value]
    value = plain(value)
    if isinstance(value, list):
        kind, text = value
        if kind == "decimal":
            number = decimal.Decimal(text)
            return int(number) if number == number.to_integral_value() else format(number.normalize(), "f")
        return float(text) if kind == "float" and text.lstrip("-") not in ("inf", "nan") else text
    return value


def statement(sql):
    found = duckdb.extract_statements(sql)
    if len(found) != 1:
        if not found:
            raise Refused("empty", "the text holds no SQL statement")
        raise Refused("multiple", "the text holds more than one statement")
    if found[0].type != duckdb.StatementType.SELECT:
        raise Refused("denied", "only queries are run")
    if found[0].named_parameters:
        raise Refused("parameters", "the text has parameters, for which a benchmark has no values")
    return found[0]


class Refused(Exception):
    pass


def answer(connection, sql, send):
    cursor = connection.cursor()
    try:
        cursor.execute(statement(sql))
        send({"columns": [column[0] for column in cursor.description]})
        is_json = [str(column[1]) == "JSON" for column in cursor.description]
        while rows := cursor.fetchmany(256):
            for row in rows:
                cells = [["json", v] if j and v is not None else plain(v) for v, j in zip(row, is_json)]
                send(cells)
        send({"end": True})
    finally:
        cursor.close()


def main():
    # Whoever started this process ends it: a signal from the keyboard would end a query instead.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    path, memory = sys.argv[1], int(sys.argv[2])
    channel = socket.socket(fileno=0)
    questions, answers = channel.makefile("r", encoding="utf-8"), channel.makefile("wb")

    def send(message):
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape")
        answers.write(len(line).to_bytes(4, "little"))
        answers.write(line)

    try:
        hello = {"version": duckdb.__version__}
        connection = opened(path, memory)
        lock_process(memory)
    except Exception as error:
        hello = {"error": "open", "message": str(error).splitlines()[0]}
    send(hello)
    answers.flush()
    for question in questions:
        try:
            sql = json.loads(question)
            if sql is None:
                send([content(path)])
                send({"end": True})
            else:
                answer(connection, sql, send)
        except Refused as error:
            send({"error": error.args[0], "message": error.args[1]})
        except MemoryError:
            send({"error": "OutOfMemoryException", "message": "the process may not take more memory"})
        except duckdb.Error as error:
            send({"error": type(error).__name__, "message": str(error)[:2000]})
        except (OverflowError, ValueError) as error:
            send({"error": "ConversionException", "message": str(error)[:2000]})
        answers.flush()


main()
