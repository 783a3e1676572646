class Driver:
    """One DuckDB file: read-only, nothing outside it, its configuration locked. Each query has a cursor."""

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

    def __init__(self, settings):
        import duckdb

        self.duckdb, self.path, self.version = duckdb, settings["path"], duckdb.__version__
        self.is_dead = False
        options = self.OPTIONS | {"memory_limit": f"{settings['memory'] // MIB}MB"}
        self.connection = duckdb.connect(self.path, read_only=True, config=options)
        self.connection.execute("SET TimeZone = 'UTC'")
        for name in ("python_enable_replacements", "python_enable_replacement_scans"):
            try:
                self.connection.execute(f"SET {name} = false")
            except duckdb.CatalogException:
                continue
        self.connection.execute("SET lock_configuration = true")

    def lacks(self):
        return []

    def content(self):
        """What stands for the rows: the hash of the file, and of what was not written into it yet."""
        digest = hashlib.sha256()
        for name in (self.path, self.path + ".wal"):
            if os.path.exists(name):
                with open(name, "rb") as file:
                    while piece := file.read(MIB):
                        digest.update(piece)
        return digest.hexdigest()

    def statement(self, sql):
        """The one query that the text is."""
        statements = self.duckdb.extract_statements(sql)
        if len(statements) != 1:
            if not statements:
                raise Refused("empty", "the text holds no SQL statement")
            raise Refused("multiple", "the text holds more than one statement")
        if statements[0].type != self.duckdb.StatementType.SELECT:
            raise Refused("denied", "only queries are run")
        if statements[0].named_parameters:
            raise Refused("parameters", "the text has parameters, for which a benchmark has no values")
        return statements[0]

    def run(self, sql, _seconds, send):
        def json_text(value):
            return None if value is None else ["json", value]

        cursor = self.connection.cursor()
        try:
            cursor.execute(self.statement(sql))
            send_rows(cursor, send, [json_text if str(column[1]) == "JSON" else plain for column in cursor.description])
        finally:
            cursor.close()

    def code(self, error):
        """The class of an error of DuckDB's or of the conversion of its values."""
        if isinstance(error, self.duckdb.Error):
            return type(error).__name__
        return "ConversionException" if isinstance(error, (OverflowError, ValueError)) else None

    def is_alive(self, _error):
        return True


main()
