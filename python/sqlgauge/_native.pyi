import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, final

__all__ = [
    "__version__",
    "Error",
    "InputError",
    "DatabaseError",
    "QueryError",
    "RunError",
    "InternalError",
    "Database",
    "Schema",
    "in_python",
    "label_add",
    "label_next",
    "label_plan",
    "label_status",
    "column_names",
    "main",
    "locate_database",
    "match_queries",
    "verify_queries",
    "audit_golds",
    "vote",
    "score_lists",
    "score_pair",
    "score_run",
    "score_versions",
    "ItemReader",
    "merge_parts",
    "compare_systems",
    "write_report",
    "show_item",
    "evolve_benchmark",
    "make_corpus",
    "build_databases",
    "translate_query",
    "run_manifest",
    "run_summary",
    "estimate_systems",
    "RewardResult",
    "Reward",
    "Encoder",
    "ShiftReference",
]

__version__: str

class Error(Exception):
    """What sqlgauge could not do, in the sentence of the command line: the thing at fault and the remedy."""

class InputError(Error):
    """A frame or file, a metric, a column, a limit or a path that is not what it should be."""

class DatabaseError(Error):
    """A database that is not there, not readable, or changed."""

class QueryError(Error):
    """A query that SQLite refuses, where a query is needed."""

class RunError(Error):
    """A run directory that is another run's, is being written by somebody else, or cannot be read or written."""

class InternalError(Error):
    """A defect of sqlgauge itself; please report it with what led to it."""

@final
class Database:
    """A SQLite file, opened for reading, with the limits of the queries that run on it.

    The file is taken to be constant while it is open. Queries run under the locks of the engine: they read, and can do
    nothing else, however long they are or whatever they say. Whatever a query does, the call returns within its time
    limit and a tenth of a second, and nothing of it goes on.

    Args:
        path: The file.
        timeout: Seconds that one query may take; 30 without it.
        max_rows: Rows that one result may have.
        max_bytes: Bytes that one result may have.
        max_heap: Bytes of memory that SQLite may use for one query.
        now: Date, or date and time of UTC, that queries take for now; the moment of opening without it.

    Raises:
        DatabaseError: The file is not there, no database, damaged, or not at rest.
        InputError: A limit or a time that is none.

    Pickling sends the path and the options; the file is opened again where it arrives.
    """

    def __new__(
        cls,
        path: str | os.PathLike[str],
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        max_bytes: int | None = None,
        max_heap: int | None = None,
        now: str | None = None,
    ) -> Database: ...
    @property
    def path(self) -> os.PathLike[str]:
        """The file, as it was named."""
    @property
    def tables(self) -> list[str]:
        """Names of tables and views in the order of their creation."""
    def __getnewargs_ex__(self) -> tuple[tuple[os.PathLike[str]], dict[str, Any]]: ...

@final
class Schema:
    """The tables of a database, without their rows. ``Schema(text)`` and :meth:`from_ddl` read DDL; pickling sends the text."""

    def __new__(cls, ddl: str) -> Schema: ...
    @staticmethod
    def from_ddl(ddl: str) -> Schema:
        """Reads ``CREATE TABLE …`` statements, and those of views and indexes.

        Raises:
            InputError: The text is not DDL of SQLite.
        """
    @property
    def ddl(self) -> str:
        """The text that it was read from."""
    @property
    def tables(self) -> list[str]:
        """Names of tables and views in their order."""

def match_queries(left: str, right: str, over: Database | Schema, profile_name: str) -> dict[str, Any]: ...
def verify_queries(left: str, right: str, over: Database | Schema, arguments: dict[str, Any]) -> dict[str, Any]: ...
def score_pair(
    prediction: str | None, golds: list[str], db: Database, metric_names: list[str], verify: dict[str, Any]
) -> dict[str, Any]: ...
def score_run(job: dict[str, Any], progress: Callable[[int, int], object] | None) -> list[str]: ...
def audit_golds(job: dict[str, Any], progress: Callable[[int, int], object] | None) -> dict[str, Any]: ...
def score_lists(
    job: dict[str, Any], ks: list[int], unanswerable: str | None, progress: Callable[[int, int], object] | None
) -> list[str]: ...
def score_versions(
    job: dict[str, Any],
    versions: list[tuple[str, Any]],
    lists: tuple[list[int], str | None] | None,
    progress: Callable[[int, int], object] | None,
) -> list[str]: ...
def vote(election: dict[str, Any], progress: Callable[[int, int], object] | None) -> list[str]: ...
def in_python(sentence: str) -> str: ...
def main(arguments: list[str], launcher: list[str]) -> int: ...
def column_names(role: str) -> list[str]: ...
def locate_database(db: str | os.PathLike[str], db_id: str) -> os.PathLike[str]: ...
@final
class ItemReader(Iterator[dict[str, Any]]):
    def __new__(cls, path: str | os.PathLike[str]) -> ItemReader: ...
    def __iter__(self) -> ItemReader: ...
    def __next__(self) -> dict[str, Any]: ...

def compare_systems(
    folders: list[str | os.PathLike[str]], systems: list[str], metric: str | None
) -> dict[str, Any]: ...
def write_report(
    folder: str | os.PathLike[str], format: str, out: str | os.PathLike[str] | None
) -> str | os.PathLike[str]: ...
def merge_parts(parts: list[str | os.PathLike[str]], out: str | os.PathLike[str]) -> None: ...
def show_item(
    folder: str | os.PathLike[str], id: str, system: str | None, limits: dict[str, Any]
) -> dict[str, Any]: ...
def evolve_benchmark(job: dict[str, Any], progress: Callable[[int, int], object] | None) -> dict[str, Any]: ...
def make_corpus(job: dict[str, Any], progress: Callable[[int, int], object] | None) -> dict[str, Any]: ...
def build_databases(job: dict[str, Any]) -> list[dict[str, Any]]: ...
def translate_query(sql: str | None, db: Database, to: list[str], ddl: bool) -> dict[str, Any]: ...
def run_manifest(path: str | os.PathLike[str]) -> dict[str, Any]: ...
def run_summary(path: str | os.PathLike[str]) -> dict[str, Any]: ...
def estimate_systems(job: dict[str, Any]) -> dict[str, Any]: ...
def label_plan(job: dict[str, Any], progress: Callable[[int, int], object] | None) -> list[str]: ...
def label_next(folder: str, count: int) -> tuple[list[dict[str, Any]], list[str]]: ...
def label_add(label: dict[str, Any]) -> dict[str, Any]: ...
def label_status(folder: str) -> dict[str, Any]: ...

@final
class RewardResult:
    """What an answer is worth.

    Attributes:
        value: In [0, 1]; None where nobody knows, because the gold does not run.
        code: ``right``, ``wrong``, ``wrong_on_witness``, ``does_not_run``, ``timeout``, ``too_large``, ``no_sql``, ``denied``,
            ``reads_no_table`` or ``gold_failed``.
        reason: The same in words.
        witness: For ``wrong_on_witness`` the database that tells the answer from the gold, as an SQL script.
    """

    def __new__(cls, value: float | None, code: str, reason: str, witness: str | None = None) -> RewardResult: ...
    @property
    def value(self) -> float | None: ...
    @property
    def code(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def witness(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[float | None, str, str, str | None]: ...

@final
class Reward:
    """A reward for training: a batch of answers in, one result for each out.

    Args:
        db: Folder of the databases (``<db_id>/<db_id>.sqlite``), or one database for all questions, or the address of a server
            (``postgresql://USER@HOST:PORT/{db_id}``), whose password is in ``SQLGAUGE_DB_PASSWORD``.
        kind: ``exact`` (1 or 0 by the rows, as ``ex@1`` compares), ``dense`` (partial credit) or ``structure`` (1 or 0 by ``etm@1``; runs nothing).
        witnesses: Whether a right answer must also agree with its gold on counterexample databases of the question.
        time_limit: Seconds of processor time that one query may take, and ten times as many by the clock.
        columns: ``any``: an answer may return the gold's columns in another order. ``ordered``: it may not, as in ``ex@1``.
        likeness: What of the benchmark's rows witnesses keep to: ``schema`` (nothing), ``nulls`` (a column without NULL there
            has none), ``repeats`` (also a column whose values never repeat there does not repeat any).
        values: Which values witnesses hold: ``declared`` (what their columns declare), ``any`` (whatever SQLite stores there) or ``rows`` (what
            columns declare, but for columns of which the benchmark's rows hold something else). Only with ``any`` does a witness with a value off its
            type, or NULL in a primary key, count against an answer.
        witness_folder: Where witnesses are kept; processes may share it. In memory without it.
        extract: Whether predictions are completions out of which the SQL is taken, or SQL.
        refuse_no_table: Whether an answer that reads no table is refused where the gold reads one.
        threads: Threads that score at once; one per core for 0.
        slow_queries: Queries that run at once in processes of their own, one per core for 0; on a server connections to each
            database, 8 for 0.
        growth: Wrong answers of one batch out of which witnesses are made, at most.
        seed: Where the random numbers of the search for witnesses begin.

    Raises:
        InputError: An option that cannot be, or no databases at ``db``.
        DatabaseError: No process for queries can be started.

    ``reward(predictions, golds, db_ids=None)`` gives a :class:`RewardResult` for each answer, in order:

    - ``predictions``: Completions, or SQL; None is no answer.
    - ``golds``: One gold or several for each; an answer counts by the best of them.
    - ``db_ids``: The database of each; not needed with one database.

    It raises InputError for lists of different lengths, what is no text, or an unknown database; DatabaseError for a database
    that cannot be read, or changed; RunError for witnesses that cannot be read or written.

    Pickling sends the options; a child process makes its own.
    """

    def __new__(
        cls,
        db: str | os.PathLike[str],
        kind: str = "exact",
        witnesses: bool = False,
        time_limit: float = 2.0,
        *,
        columns: Literal["any", "ordered"] = "any",
        likeness: Literal["schema", "nulls", "repeats"] = "repeats",
        values: Literal["rows", "declared", "any"] = "rows",
        witness_folder: str | os.PathLike[str] | None = None,
        extract: bool = True,
        refuse_no_table: bool = True,
        threads: int = 0,
        slow_queries: int = 0,
        growth: int = 8,
        seed: int = 0,
    ) -> Reward: ...
    def __call__(
        self,
        predictions: Iterable[str | None],
        golds: Iterable[str | Iterable[str]],
        db_ids: Iterable[str] | None = None,
    ) -> list[RewardResult]:
        """Scores answers, in their order.

        Args:
            predictions: Completions, or SQL; None is no answer.
            golds: One gold or several for each; an answer counts by the best of them.
            db_ids: The database of each; not needed with one database.

        Raises:
            InputError: Lists of different lengths, what is no text, or an unknown database.
            DatabaseError: A database that cannot be read, or changed.
            RunError: Witnesses that cannot be read or written.
        """
    def prepare(
        self, golds: Iterable[str | Iterable[str]], db_ids: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Makes the first witnesses of questions ahead of time.

        Returns:
            The number of ``questions`` and of ``witnesses``, the golds that ``failed``, and those that can have ``none``, with
            the reason.
        """
    def __getnewargs_ex__(self) -> tuple[tuple[os.PathLike[str]], dict[str, Any]]: ...

@final
class Encoder:
    """Questions and schemas to vectors, as ``sqlgauge encode`` makes them.

    Args:
        name: ``features``, or what else this build has: ``bert:DIR``, ``llm:DIR``, ``http:URL``.
        form: ``question-schema``, or ``question-schema-prediction`` where predictions come with the questions.

    Raises:
        InputError: There is no such encoder or form, or it is not built in.

    Pickling sends the name and the form.
    """

    def __new__(cls, name: str = "features", form: str = "question-schema") -> Encoder: ...
    @property
    def fingerprint(self) -> str:
        """Vectors can be compared only where this is equal."""
    @property
    def dimensions(self) -> int:
        """Components of a vector."""
    @property
    def dimension_names(self) -> list[str] | None:
        """What each component means, where it means something."""
    def encode_items(self, items: list[dict[str, Any]]) -> bytes:
        """Vectors of items (``question``, ``evidence``, ``prediction``, ``over``: a database or schema), in their order.

        Returns:
            Numbers of single precision, little-endian, row after row.
        """
    def __getnewargs__(self) -> tuple[str, str]: ...

@final
class ShiftReference:
    """What is kept of the vectors from which shift is measured, as ``sqlgauge shift`` does.

    Args:
        vectors: The source: numbers of single precision, little-endian, row after row (``array.astype("<f4").tobytes()``).
        dimensions: Components of each vector.
        slices: Directions of the sliced Wasserstein distance: ``64`` random ones, or ``8,16`` principal and random ones.
            Principal ones come from the source alone, so that all parts of a target are seen along the same.
        seed: Seed of the directions.

    Raises:
        InputError: Vectors that are none, fewer than two, all equal, or not finite.
    """

    def __new__(cls, vectors: bytes, dimensions: int, slices: str = "8,16", seed: int = 0) -> ShiftReference: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> ShiftReference:
        """What :meth:`to_bytes` made."""
    def to_bytes(self) -> bytes:
        """The reference for another process; pickling sends the same."""
    @property
    def dimensions(self) -> int:
        """Components of each vector."""
    def part(self, vectors: bytes) -> bytes:
        """What is kept of some vectors of a target: for :meth:`describe`."""
    def describe(self, parts: list[bytes]) -> dict[str, Any]:
        """Puts parts together and compares them with the source.

        The same parts in the same order give the same bits, wherever they were made. In another order, or cut elsewhere,
        the moments differ by no more than the rounding of double precision.

        Returns:
            The numbers of ``sqlgauge shift --json`` by name, ``source_count`` and ``target_count``.
        """
