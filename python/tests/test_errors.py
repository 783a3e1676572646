"""Whatever is wrong is a `sqlgauge.Error` with the sentence of the command line, and never a panic or the end."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Sample, program

import sqlgauge as sg
from sqlgauge import _native

NAN = float("nan")
GOOD = {"db_id": "bike_rental", "gold": "SELECT 1", "prediction": "SELECT 1"}


@pytest.mark.parametrize(
    ("frame", "options", "says"),
    [
        ([], {}, "predictions"),
        ([{**GOOD, "gold": None}], {}, "no gold query"),
        ([{**GOOD, "gold": NAN}], {}, "no gold query"),
        ([GOOD, {"db_id": "bike_rental", "prediction": "x"}], {}, "no gold query"),
        ([{"gold": "SELECT 1", "prediction": "SELECT 1"}], {}, "no db_id is given"),
        ([{**GOOD, "db_id": NAN}], {}, "no db_id is given"),
        ([{"db_id": "bike_rental", "gold": "SELECT 1"}], {}, "no column with predictions"),
        ([{"db_id": "bike_rental", "sql": "SELECT 1"}], {}, "no column with predictions"),
        ([{**GOOD, "gold": 7}], {}, "gold"),
        ([{**GOOD, "gold": object()}], {}, "the column \"gold\" holds a value of type object"),
        ([{**GOOD, "gold": b"SELECT 1"}], {}, "bytes"),
        ([{**GOOD, "gold": "\ud800"}], {}, "lone surrogate"),
        ([{**GOOD, "id": 1 << 80}], {}, "more than 64 bits"),
        ([{**GOOD, "id": float("inf")}], {}, "infinite"),
        ([{**GOOD, "id": 1}, {**GOOD, "id": 1}], {}, "occurs twice"),
        ([{**GOOD, 3: "x"}], {}, "name of a column"),
        (["SELECT 1"], {"predictions": {"a": ["SELECT 1"]}}, "mapping from columns"),
        ([{**GOOD, "db_id": "nowhere"}], {}, "nowhere"),
        ([{**GOOD, "db_id": "../../etc/passwd"}], {}, "passwd"),
        ([GOOD], {"predictions": "typo"}, "typo"),
        ([GOOD], {"predictions": {}}, "names no system"),
        ([GOOD], {"predictions": {"a": []}}, "no prediction for any example"),
        ([GOOD], {"predictions": {"a": ["SELECT 1", "SELECT 2"]}}, "1 example"),
        ([GOOD], {"predictions": {"a": [7]}}, "where a text should be"),
        ([GOOD], {"predictions": {"a": Path("nothing.sql")}}, "nothing.sql"),
        ([GOOD], {"columns": {"golds": "x"}}, "unknown column role"),
        ([GOOD], {"columns": {"gold": "typo"}}, "typo"),
        ([GOOD], {"metrics": "nonsense"}, "unknown metric `nonsense`"),
        ([GOOD], {"metrics": []}, "names no metric"),
        ([GOOD], {"timeout": -1.0}, "not a positive number of seconds"),
        ([GOOD], {"timeout": NAN}, "not a positive number of seconds"),
        ([GOOD], {"now": "yesterday"}, "yesterday"),
        ([GOOD], {"db": Path("no folder here")}, "no folder here"),
        ([GOOD], {"tables": Path("no tables here")}, "no tables here"),
        (7, {}, "no table"),
        ({"gold": ["a"], "prediction": ["b", "c"]}, {}, "differ in length"),
        ("no file here.json", {"predictions": {"a": ["SELECT 1"]}}, "no file here.json"),
        ([GOOD], {"verify": sg.VerifyOptions(semantics="sets"), "metrics": "verify"}, "sets"),  # type: ignore[arg-type]
        ([GOOD], {"verify": sg.VerifyOptions(solver="no-z3-here"), "metrics": "verify"}, "no-z3-here"),
    ],
)
def test_bad_input_is_an_exception_with_a_sentence(
    frame: Any, options: dict[str, Any], says: str, sample: Sample, tmp_path: Path
) -> None:
    arguments = {"db": sample.db, "metrics": "ex", "out": tmp_path / "run", **options}
    with pytest.raises(sg.Error) as caught:
        sg.score_many(frame, **arguments)
    assert says in str(caught.value)
    assert not isinstance(caught.value, sg.InternalError)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda db: sg.match("SELEC", "SELECT 1", db), sg.QueryError, "SELEC"),
        (lambda db: sg.match("SELECT x FROM nowhere", "SELECT 1", db), sg.QueryError, "nowhere"),
        (lambda db: sg.verify("SELECT 1", "SELECT x FROM nowhere", db), sg.QueryError, "nowhere"),
        (lambda db: sg.match("SELECT 1", "SELECT 1", db, profile="both"), sg.InputError, "profile"),
        (lambda db: sg.Schema.from_ddl("CREATE TABEL t"), sg.InputError, "not DDL"),
        (lambda db: sg.Database("nothing.sqlite"), sg.DatabaseError, "does not exist"),
        (lambda db: sg.Database("."), sg.DatabaseError, "is a folder"),
        (lambda db: sg.Database(__file__), sg.DatabaseError, "not a SQLite database"),
        (lambda db: sg.Database(db.path, timeout=0), sg.InputError, "not a positive number"),
        (lambda db: sg.Database(db.path, now="noon"), sg.InputError, "noon"),
        (lambda db: sg.score("SELECT 1", gold=[], db=db), sg.InputError, "gold is empty"),
        (lambda db: sg.score("SELECT 1", gold="SELECT 1", db=db, metrics="exx"), sg.InputError, "exx"),
        (lambda db: sg.load("no run here"), sg.RunError, "no run here"),
        (lambda db: list(sg.Run("no run here").items()), sg.RunError, "no run here"),
    ],
)
def test_bad_calls_are_exceptions_of_their_class(call: Any, error: Any, says: str, bikes: sg.Database) -> None:
    with pytest.raises(error) as caught:
        call(bikes)
    assert says in str(caught.value)
    assert isinstance(caught.value, sg.Error)


@pytest.mark.parametrize("sql", ["", ";", "\0", "SELECT '\0'", "(" * 50_000, "SELECT 1; DROP TABLE t", "é" * 1000, "--"])
def test_no_text_is_too_odd_to_be_scored(sql: str, bikes: sg.Database) -> None:
    scores = sg.score(sql, gold="SELECT 1", db=bikes, metrics="ex,esm,etm,soft-f1")
    assert scores["ex"].score == 0.0
    assert scores.status != "ok"


def test_the_sentence_is_the_one_of_the_command_line(sample: Sample, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"db_id": "bike_rental", "text": "SELECT 1", "prediction": "SELECT 1"}\n')
    arguments = ["--gold", gold, "--db", sample.db, f"--pred=a={gold}", "--out", tmp_path / "run"]
    said = subprocess.run([program(), "score", *arguments], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    with pytest.raises(sg.InputError) as caught:
        sg.score_many(gold, db=sample.db, predictions={"a": gold}, out=tmp_path / "run")
    in_words_of_python = said.stderr.strip().replace("--column gold=NAME", 'columns={"gold": "NAME"}')
    assert in_words_of_python == f"error: {caught.value}"
    assert in_words_of_python != said.stderr.strip()


DDL = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT)"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        # A list where a mapping should be.
        (
            lambda s: sg.score_many([GOOD], db=s.db, predictions=["SELECT 1"]),  # type: ignore[arg-type]
            "predictions is of type list; give a mapping, as in predictions={'mine': predictions}, with the name of the system",
        ),
        (
            lambda s: sg.estimate(known=[], questions=[GOOD], db=s.db, predictions=["SELECT 1"]),  # type: ignore[arg-type]
            "predictions is of type list; give a mapping",
        ),
        (
            lambda s: sg.estimate(known=[], questions=[GOOD], db=s.db, predictions={}, peers=["SELECT 1"]),  # type: ignore[arg-type]
            "peers is of type list; give a mapping",
        ),
        (
            lambda s: sg.score_many([GOOD], db=s.db, columns=["gold"]),  # type: ignore[arg-type]
            "columns is of type list; give a mapping, as in columns={'gold': 'query'}",
        ),
        # What belongs to another argument, or to none.
        (
            lambda s: sg.compare(s.folder, ["careful", "baseline"]),  # type: ignore[arg-type]
            "other is of type list; give a run or its folder, and the systems by systems=('a', 'b')",
        ),
        (
            lambda s: sg.evolve([GOOD], db=s.db, out=s.folder / "none"),  # type: ignore[arg-type]
            "gold is of type list; give the path of a file",
        ),
        (lambda s: sg.estimate(known=[], db=s.db, predictions={}), "questions is missing; give the questions of the target"),
        (
            lambda s: sg.tables(s.folder, out=s.folder / "none", decimal_mark="semicolon"),  # type: ignore[arg-type]
            'decimal_mark is "semicolon"; give "point" or "comma"',
        ),
        # No gold.
        (
            lambda s: sg.score("SELECT 1", gold=None, db=s.bikes),  # type: ignore[arg-type]
            "gold is None where a query should be; give one query, or a list of accepted ones",
        ),
        (lambda s: sg.score("SELECT 1", gold=[None], db=s.bikes), "gold is None where a query should be"),  # type: ignore[list-item]
        (lambda s: sg.score("SELECT 1", gold=7, db=s.bikes), "gold is a value of type int"),  # type: ignore[arg-type]
        # A file that is not there, or is given as a text.
        (lambda s: sg.score_many("no questions.json", db=s.db), "there is no file 'no questions.json'; check the path"),
        (
            lambda s: sg.score_many(s.folder / "questions.json", db=s.db),
            "name the column in it that has predictions, or give their file",
        ),
        (
            lambda s: sg.score_many([GOOD], db=s.db, predictions={"mine": str(s.file_of("careful"))}),
            "is a file, and a text names a column; give pathlib.Path(",
        ),
        (
            lambda s: sg.score_many([GOOD], db=s.db, predictions={"mine": "answers.sql"}),
            "predictions['mine']: 'answers.sql' is a file, and a text names a column; give pathlib.Path('answers.sql')",
        ),
        # DDL where a path should be, and a path where DDL should be.
        (lambda s: sg.match("SELECT 1", "SELECT 2", DDL), "db is DDL where a path should be: match and verify take"),
        (lambda s: sg.verify("SELECT 1", "SELECT 2", f"\n {DDL.lower()}"), "sqlgauge.Schema.from_ddl(text)"),
        (lambda s: sg.score("SELECT 1", gold="SELECT 1", db=DDL), "queries run only on a database file"),
        (lambda s: sg.score_many([GOOD], db=DDL), "db is DDL where a path should be"),
        (lambda s: sg.Database(f"-- cities\n{DDL}"), "db is DDL where a path should be"),
        (lambda s: sg.Reward(DDL), "db is DDL where a path should be"),
        (lambda s: sg.Schema.from_ddl(str(s.folder / "questions.json")), "it is the path of a file: give the text in it"),
        (
            lambda s: sg.score("SELECT 1", gold="SELECT 1", db=sg.Schema.from_ddl(DDL)),  # type: ignore[arg-type]
            "db is a Schema, which has no rows to run queries on; give a Database",
        ),
        (lambda s: sg.match("SELECT 1", "SELECT 2", None), "db is of type NoneType; give a Database, a Schema, or the path"),  # type: ignore[arg-type]
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(call: Any, says: str, sample: Sample) -> None:
    with pytest.raises(sg.InputError) as caught:
        call(sample)
    assert says in str(caught.value)


def test_a_column_that_is_called_as_a_file_stays_a_column(sample: Sample) -> None:
    row = {**GOOD, "answers.sql": "SELECT 1"}
    run = sg.score_many([row], db=sample.db, predictions={"mine": "answers.sql"}, metrics="ex")
    assert [item["metrics"]["ex@1"] for item in run.items()] == [1.0]


@pytest.mark.parametrize(
    ("sentence", "in_python"),
    [
        ("--metrics names no metric", "metrics names no metric"),
        ("lift --max-rows, or lower --jobs.", "lift max_rows, or lower jobs."),
        ("name it with --column gold=NAME", 'name it with columns={"gold": "NAME"}'),
        ("give it with --pred NAME=FILE; then go on", 'give it with predictions={"NAME": FILE}; then go on'),
        ("name two with --systems A,B; the run has c", 'name two with systems=["A", "B"]; the run has c'),
        ("name the program with --solver PATH", "name the program with solver=PATH"),
        ("choose another folder, or --restart to discard it", "choose another folder, or restart=True to discard it"),
        ("choose one with --system: a, b", "choose one with system: a, b"),
        ("`--timeout` is short", "`timeout` is short"),
        ("use --method fusion", "use method fusion"),
        # What is no argument, no option, or to be typed in a terminal stays.
        ("run `sqlgauge score --out DIR`", "run `sqlgauge score --out DIR`"),
        ("give --alarm-drop", "give --alarm-drop"),
        ("SELECT 1 -- out of it", "SELECT 1 -- out of it"),
        ("a--out", "a--out"),
        ("--", "--"),
        ("", ""),
    ],
)
def test_a_sentence_names_arguments_and_not_flags(sentence: str, in_python: str) -> None:
    assert _native.in_python(sentence) == in_python
