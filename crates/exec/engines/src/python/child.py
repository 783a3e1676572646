"""Runs queries for sqlgauge. Standard input is a socket: a question a line comes in as JSON (a query with its seconds, a table to
describe, or null for what stands for the data); messages go out on it, each behind its length. `Driver` stands behind this text: it
opens the database and runs a query by a cursor. What a driver prints, raises or returns that it may not is a message too; no driver reads or writes the socket.
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

MIB = 1 << 20
DAY = 86_400_000_000
LONGEST_MESSAGE = 2000


class Refused(Exception):
    """What is wrong, as a word, and in words."""


class Broken(Exception):
    """What the driver does wrong: it is not used further."""


def lock_process(memory):
    """What the process holds already, and so many bytes more: a library's own limit does not count all that it allocates."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        held = int(statm.read().split()[0]) * resource.getpagesize()
    most = held + 2 * memory + 512 * MIB
    for limit, value in (("AS", most), ("FSIZE", 0), ("CORE", 0)):
        resource.setrlimit(getattr(resource, "RLIMIT_" + limit), (value, value))


def plain(value):
    """Numbers, texts and NULL as they are; for all else a list of what it is, and its text."""
    if value is None or isinstance(value, str):
        return value if value is None else str.__str__(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return int(value) if -(1 << 63) <= value < 1 << 63 else ["decimal", str(value)]
    if isinstance(value, decimal.Decimal):
        return ["decimal", format(value, "f")]
    if isinstance(value, float):
        return ["float", float.__repr__(value)]
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
    if isinstance(value, (dict, list, tuple, set)):
        return ["nested", json.dumps(nested(value), sort_keys=True)]
    if type(value).__module__ == "numpy":
        return plain(value.tolist())
    return text_of(value)


def text_of(value):
    """The text of a value of a class that is not one of Python's own; what would only be its place in memory is refused."""
    if isinstance(value, uuid.UUID) or (type(value).__str__, type(value).__repr__) != (object.__str__, object.__repr__):
        return str(value)
    raise Broken(f"a value of the class {type(value).__name__}, which has no text")


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


def encoded(message):
    """A message as bytes. Texts that are not UTF-8 are sent as their bytes."""

    def bytes_of(cell):
        if not isinstance(cell, str):
            return cell
        try:
            return ["text", cell.encode("utf-8", "surrogateescape").hex()]
        except UnicodeEncodeError:
            return ["text", cell.encode("utf-8", "surrogatepass").hex()]

    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        if isinstance(message, list):
            return json.dumps([bytes_of(cell) for cell in message], separators=(",", ":")).encode("utf-8", "replace")
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def message_of(error):
    """What an error says; it may fail at that too."""
    try:
        text = str(error)[:LONGEST_MESSAGE].strip()
    except Exception:
        text = ""
    return text or type(error).__name__


def row_message(row, width, convert):
    """The cells of a row, which must be as many as there are columns."""
    cells = list(row)
    if len(cells) != width:
        raise Broken(f"a row of {len(cells)} values for {width} columns")
    return [convert[at](cell) for at, cell in enumerate(cells)]


def send_rows(cursor, send, convert=None):
    """The names of the columns, and the rows as they come."""
    columns = [str(column[0]) for column in cursor.description]
    send({"columns": columns})
    convert = convert or [plain] * len(columns)
    while rows := cursor.fetchmany(256):
        for row in rows:
            send(row_message(row, len(columns), convert))
    send({"end": True})


def answer(driver, question, send):
    """Runs one question. False when the driver is of no further use; without a message when the connection is gone."""
    try:
        if question is None or "table" in question:
            for row in driver.describe(question["table"]) if question else [[driver.content()]]:
                send(row)
            send({"end": True})
        else:
            driver.run(question["sql"], question["seconds"], send)
        return not driver.is_dead
    except Refused as error:
        send({"error": error.args[0], "message": error.args[1]})
    except MemoryError:
        send({"error": "OutOfMemoryException", "message": "the process may not take more memory"})
    except Broken as error:
        send({"error": "driver", "message": f"the driver returned {error}"})
        return False
    except BaseException as error:
        code = driver.code(error)
        if not driver.is_alive(error):
            return False
        if code is None:
            send({"error": "driver", "message": f"the driver raised {type(error).__name__}: {message_of(error)}"})
            return False
        send({"error": code, "message": message_of(error)})
    return not driver.is_dead


def main():
    # Whoever started this process ends it: a signal from the keyboard would end a query instead.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(sys.argv[1])
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    questions, answers = channel.makefile("r", encoding="utf-8"), channel.makefile("wb")

    def send(message):
        line = encoded(message)
        answers.write(len(line).to_bytes(4, "little"))
        answers.write(line)

    driver = None
    try:
        driver = Driver(settings)
        hello = {"version": driver.version, "lacks": driver.lacks()}
        lock_process(settings["memory"])
    except BaseException as error:
        kind = "package" if isinstance(error, ImportError) else "open"
        hello = {"error": kind, "message": message_of(error)}
    send(hello)
    answers.flush()
    for question in questions if driver else ():
        is_of_use = answer(driver, json.loads(question), send)
        answers.flush()
        if not is_of_use:
            break
    # A driver may keep threads that never end.
    os._exit(0)


