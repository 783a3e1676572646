"""How results print."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Sample

import sqlgauge as sg
from sqlgauge import _native

DDL = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE unused (a INT);"


def test_a_counterexample_prints_as_a_sentence_and_tables() -> None:
    found = sg.verify("SELECT count(*) FROM city", "SELECT count(name) FROM city", sg.Schema.from_ddl(DDL))
    text = repr(found)
    assert text.startswith("Different: ")
    assert "table city\n  name\n" in text and "NULL" in text
    assert "result of the left query" in text and "result of the right query" in text
    assert "unused" not in text and "INSERT" not in text
    page = found._repr_html_()
    assert "<caption>table city</caption>" in page and "<td>NULL</td>" in page


def test_a_counterexample_says_what_makes_the_difference_and_how_like_the_database_it_is(bikes: sg.Database) -> None:
    left, right = "SELECT name FROM rider", "SELECT DISTINCT name FROM rider"
    found = sg.verify(left, right, bikes)
    assert found.explanation is not None
    assert "DISTINCT" in found.explanation
    assert [table["columns"] for table in found.tables] == [["name"]]
    assert found.words is not None
    assert found.words.startswith("Only the prediction uses DISTINCT. On a database with 2 rows in `rider`")
    assert found.words in repr(found)
    assert found.raw["words"]["causes"] == ["distinct"]
    assert found.realistic is False
    assert "the given rows have no value twice" in " ".join(found.not_kept)
    assert found.explanation in repr(found)
    assert "Unlike the given rows: " in repr(found)
    assert "birth_year" not in repr(found)
    over_schema = sg.verify("SELECT id FROM city", "SELECT id FROM city WHERE name = 'a'", sg.Schema.from_ddl(DDL))
    assert (over_schema.realistic, over_schema.kept, over_schema.not_kept) == (None, (), ())


def test_a_counterexample_that_keeps_what_the_rows_keep_says_so(bikes: sg.Database) -> None:
    found = sg.verify("SELECT count(*) FROM rider", "SELECT count(*) FROM rider WHERE birth_year > 1990", bikes)
    assert found.realistic
    assert not found.not_kept
    assert "Like the given rows" in repr(found)


def test_what_columns_do_not_declare_is_a_note() -> None:
    schema = sg.Schema.from_ddl("CREATE TABLE t (code TEXT PRIMARY KEY, a INT)")
    pair = "SELECT count(*) FROM t", "SELECT count(code) FROM t"
    found = sg.verify(*pair, schema, options=sg.VerifyOptions(values="any"))
    assert (found.verdict, found.values, found.minimal) == ("different", "any", "fewest")
    found = sg.verify(*pair, schema)
    assert (found.verdict, found.values) == ("equivalent", "declared")
    assert found.undeclared == ("t.code: NULL in a primary key",)
    assert "With values of other types the queries differ" in repr(found)


def test_a_tie_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "The results differ on the given database: the gold permits several results (a tie); both are among them."
    told = {"record": {"verdict": "equivalent", "stage": "rules", "tie": True}, "sentences": [sentence]}
    monkeypatch.setattr(_native, "verify_queries", lambda *_: told)
    found = sg.verify("SELECT name FROM city LIMIT 1", "SELECT name FROM city LIMIT 1", sg.Schema.from_ddl(DDL))
    assert found.tie
    assert repr(found).endswith(sentence)


def test_what_stays_unknown_names_an_argument_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SQLGAUGE_SOLVER", raising=False)
    monkeypatch.setattr("sqlgauge._options._search_path", lambda: "")
    left = "SELECT count(*) FROM city WHERE id > 3"
    right = "SELECT count(*) FROM (SELECT id, count(*) FROM city WHERE id > 3 GROUP BY id)"
    found = sg.verify(left, right, sg.Schema.from_ddl(DDL))
    assert found.reason == "no-solver"
    assert "solver=PATH" in repr(found)
    assert "--solver PATH" in found.raw["message"]


def test_proofs_and_matches_print_as_sentences() -> None:
    schema = sg.Schema.from_ddl(DDL)
    left, right = "SELECT name FROM city WHERE id > 3", "SELECT name FROM city WHERE 3 < id"
    assert repr(sg.verify(left, right, schema)).startswith("Equivalent: ")
    match = sg.match(left, right, schema)
    assert repr(match).startswith("Equal by etm@1") and match._repr_html_().startswith("<p>Equal")
    assert repr(sg.match(left, "SELECT id FROM city", schema)).startswith("Not proved equal")


def test_values_are_escaped_and_cut() -> None:
    ddl = "CREATE TABLE t (a TEXT)"
    long = "x" * 200
    found = sg.verify(
        "SELECT a FROM t", f"SELECT a FROM t WHERE a <> '<script>{long}'", sg.Schema.from_ddl(ddl)
    )
    assert not found
    assert "<script>" not in found._repr_html_() and long not in repr(found)


def test_a_run_prints_its_scores(sample: Sample, tmp_path: Path) -> None:
    questions = sample.questions
    predictions = {"same": ["SELECT 1"] * len(questions)}
    run = sg.score_many(questions, predictions=predictions, db=sample.db, out=tmp_path / "run", metrics=["ex"])
    assert "<td>same</td>" in run._repr_html_() and "ex@1" in run._repr_html_()
