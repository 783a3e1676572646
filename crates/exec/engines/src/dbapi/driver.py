import importlib
import re
import threading

CLASSES = (
    "ProgrammingError",
    "OperationalError",
    "DataError",
    "NotSupportedError",
    "IntegrityError",
    "InternalError",
    "InterfaceError",
    "DatabaseError",
    "Error",
)

# A type that a driver names, as `VARCHAR` or `decimal(20, 4)`.
TYPE = re.compile(r"[A-Za-z][\w ]*(\(\d+(, ?\d+)?\))?( [a-z ]+)?")
KINDS = {"STRING": "TEXT", "NUMBER": "NUMERIC", "DATETIME": "TIMESTAMP"}
VALUES = (
    (bool, "BOOLEAN"),
    (int, "INTEGER"),
    (float, "REAL"),
    (decimal.Decimal, "NUMERIC"),
    (datetime.datetime, "TIMESTAMP"),
    (datetime.date, "DATE"),
    (datetime.time, "TIME"),
    (str, "TEXT"),
    ((bytes, bytearray, memoryview), "BLOB"),
)


def type_of_values(values):
    """The type that all values have; None where there are none, or several."""
    types = {next((name for of, name in VALUES if isinstance(value, of)), None) for value in values if value is not None}
    if types == {"INTEGER", "REAL"}:
        return "REAL"
    return types.pop() if len(types) == 1 else None


def quietly(action, *arguments):
    """Whether an action of the driver succeeds."""
    try:
        action(*arguments)
        return True
    except MemoryError:
        raise
    except Exception:
        return False


def arguments_of(file):
    """What a person keeps for connect(): an object of keyword arguments, or one text."""
    if file is None:
        return [], {}
    reader = importlib.import_module("tomllib") if file.endswith(".toml") else json
    with open(file, "rb") as stream:
        content = reader.load(stream)
    return ([], content) if isinstance(content, dict) else ([content], {})


class Driver:
    """A connection of any DB-API 2.0 driver (PEP 249). Each query has a cursor and, where the driver knows one, a transaction that only reads
    and that is rolled back."""

    PROBES = ("SELECT 1", "SELECT 1 FROM DUAL")
    VERSIONS = (
        "SELECT version()",
        "SELECT @@VERSION",
        "SELECT CURRENT_VERSION()",
        "SELECT sqlite_version()",
        "SELECT banner FROM v$version",
    )

    def __init__(self, settings):
        module = self.module = importlib.import_module(settings["module"])
        if not callable(getattr(module, "connect", None)):
            raise Refused(f"{settings['module']} has no connect(), as a DB-API 2.0 driver has")
        positional, keywords = arguments_of(settings["file"])
        self.dialect, self.begin, self.timer = settings["dialect"], None, None
        self.connection = module.connect(*positional, **keywords | settings["options"])
        self.is_dead = False
        if hasattr(self.connection, "text_factory"):
            self.connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        self.commit_nothing()
        self.probe = next((sql for sql in self.PROBES if self.tries(sql)), self.PROBES[0])
        if settings["begin"] and self.tries(self.probe, settings["begin"]):
            self.begin = settings["begin"]
        self.rolls_back = self.tries(self.probe, self.begin, self.roll_back)
        self.version = self.versions(module, settings["module"])

    def lacks(self):
        """What it cannot do."""
        return [name for name, has in (("read_only", self.begin), ("rollback", self.rolls_back)) if not has]

    def commit_nothing(self):
        """Drivers differ in how a connection stops committing each statement; a few cannot."""
        autocommit = getattr(self.connection, "autocommit", None)
        if callable(autocommit):
            quietly(autocommit, False)
        elif autocommit is True:
            quietly(setattr, self.connection, "autocommit", False)

    def roll_back(self, cursor):
        """A cursor of DuckDB is a connection of its own."""
        (cursor if hasattr(cursor, "rollback") else self.connection).rollback()

    def rows(self, sql, begin=None, then=None, most=2):
        """A few rows of a query of ours."""
        cursor = self.connection.cursor()
        try:
            if begin:
                cursor.execute(begin)
            cursor.execute(sql)
            rows = list(cursor.fetchmany(most))
            if then:
                then(cursor)
            return rows
        finally:
            quietly(self.roll_back, cursor)
            quietly(cursor.close)

    def tries(self, *query):
        return quietly(self.rows, *query)

    def versions(self, module, name):
        """Driver and server."""
        texts = [name, str(getattr(module, "__version__", ""))]
        for sql in self.VERSIONS:
            rows = []
            if quietly(lambda: rows.extend(self.rows(sql))) and rows:
                texts.append(f"on {str(rows[0][0]).splitlines()[0][:80]}")
                break
        return " ".join(text for text in texts if text)

    def describe(self, table):
        """The columns of a table, each with its type: by the driver's name of it, else by values, else by the kind that the driver says. None
        where none of them tells."""
        columns, rows = [], []
        self.rows(f"SELECT * FROM {table} WHERE 1 = 0", self.begin, lambda cursor: columns.extend(cursor.description))
        names = [str(code) if code is not None and TYPE.fullmatch(str(code)) else None for _, code, *_ in columns]
        samples = (f"SELECT * FROM {table} LIMIT 20", f"SELECT TOP 20 * FROM {table}", f"SELECT * FROM {table} FETCH FIRST 20 ROWS ONLY")
        if None in names:
            any(quietly(lambda sql: rows.extend(self.rows(sql, self.begin, most=20)), sample) for sample in samples)
        values = list(zip(*rows)) if rows and all(len(row) == len(columns) for row in rows) else [()] * len(columns)
        each = zip(columns, names, values)
        return [[str(column[0]), name or type_of_values(cells) or self.kind(column[1])] for column, name, cells in each]

    def kind(self, code):
        """The type of a type object of PEP 249 that equals what a driver says of a column."""
        return next((name for kind, name in KINDS.items() if code is not None and getattr(self.module, kind, None) == code), None)

    def run(self, sql, seconds, send):
        cursor = self.connection.cursor()
        timer = threading.Timer(seconds, self.cancel, [cursor])
        timer.daemon = True
        timer.start()
        try:
            if self.begin:
                cursor.execute(self.begin)
            cursor.execute(sql)
            if cursor.description is None:
                raise Refused("denied", "only queries are run, and this returns no rows")
            send_rows(cursor, send)
        finally:
            timer.cancel()
            if self.rolls_back and not quietly(self.roll_back, cursor):
                self.is_dead = True
            quietly(cursor.close)

    def cancel(self, cursor):
        """Asks the server to end the query, where the driver can; whoever started this process ends it soon after."""
        for target, name in ((cursor, "cancel"), (self.connection, "cancel"), (self.connection, "interrupt")):
            action = getattr(target, name, None)
            if callable(action) and quietly(action):
                return

    def code(self, error):
        """What the error is: a SQLSTATE, a number of MySQL, a class of DuckDB or of PEP 249; None for what a driver may not raise."""
        classes = [base.__name__ for base in type(error).__mro__]
        pep = next((name for name in CLASSES if name in classes), None)
        if pep is None:
            return None
        first = error.args[0] if error.args else None
        state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
        if isinstance(first, dict):
            state = state or first.get("C")
        if self.dialect == "mysql":
            number = getattr(error, "errno", None) or first
            return f"mysql:{number}" if isinstance(number, int) else f"pep:{pep}"
        if self.dialect == "duckdb":
            return f"duckdb:{classes[0]}"
        if state is None and isinstance(first, str) and len(first) == 5 and first.isalnum():
            state = first
        return f"state:{state}" if isinstance(state, str) else f"pep:{pep}"

    def is_alive(self, error):
        """Whether the connection still runs queries. What a broken one raises says nothing of the query."""
        is_of_connection = self.code(error) is None or isinstance(error, OSError) or any(
            base.__name__ in ("OperationalError", "InterfaceError", "InternalError") for base in type(error).__mro__
        )
        return not is_of_connection or self.tries(self.probe)


main()
