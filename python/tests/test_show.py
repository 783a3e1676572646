"""How results print."""

from __future__ import annotations

from pathlib import Path

from conftest import Sample

import sqlgauge as sg

DDL = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE unused (a INT);"


def test_a_counterexample_prints_as_a_sentence_and_tables() -> None:
    found = sg.verify("SELECT count(*) FROM city", "SELECT count(name) FROM city", sg.Schema.from_ddl(DDL))
    text = repr(found)
    assert text.startswith("Different: ")
    assert "table city\n  id  name\n" in text and "NULL" in text
    assert "result of the left query" in text and "result of the right query" in text
    assert "unused" not in text and "INSERT" not in text
    page = found._repr_html_()
    assert "<caption>table city</caption>" in page and "<td>NULL</td>" in page


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
