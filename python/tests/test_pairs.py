"""One pair: `score`, `match`, `verify`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Sample, program

import sqlgauge as sg

DDL = "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b TEXT);"


def test_scores_are_found_with_and_without_version(bikes: sg.Database) -> None:
    scores = sg.score("SELECT COUNT(*) FROM station", gold="SELECT count(*) FROM station", db=bikes)
    assert scores["ex"] is scores["ex@1"]
    assert scores["ex"].score == 1.0
    assert scores["ex"].status == scores.status == "ok"
    assert scores["ex"].reason is None
    assert set(scores) == {"ex-spider@1", "ex-bird@1", "ex@1", "esm@1"}
    with pytest.raises(KeyError, match="etm"):
        scores["etm"]


def test_what_is_wrong_says_why(bikes: sg.Database) -> None:
    gold = "SELECT COUNT(*) FROM station"
    wrong = sg.score("SELECT 0", gold=gold, db=bikes, metrics="ex")["ex"]
    assert wrong.score == 0.0
    assert wrong.reason
    broken = sg.score("SELEC 1", gold=gold, db=bikes, metrics=["ex"])["ex"]
    assert (broken.score, broken.status) == (0.0, "syntax_error")
    assert broken.reason
    absent = sg.score(None, gold=gold, db=bikes, metrics=["ex"])["ex"]
    assert (absent.score, absent.status) == (0.0, "missing")


def test_a_gold_that_fails_is_no_zero(bikes: sg.Database) -> None:
    scores = sg.score("SELECT 1", gold="SELECT x FROM nowhere", db=bikes, metrics="ex")
    assert scores["ex"].score is None
    assert scores["ex"].status == "gold_failed"
    assert "nowhere" in (scores["ex"].reason or "")


def test_of_several_golds_the_best_counts(bikes: sg.Database) -> None:
    golds = ["SELECT 1", "SELECT COUNT(*) FROM station"]
    assert sg.score("SELECT COUNT(*) FROM station", gold=golds, db=bikes, metrics="ex")["ex"].score == 1.0


def test_a_query_that_does_not_end_is_a_timeout(sample: Sample) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    db = sg.Database(sample.bikes, timeout=0.5)
    assert sg.score(endless, gold="SELECT 1", db=db, metrics="ex")["ex"].status == "timeout"


def test_a_match_is_what_the_program_says(sample: Sample, bikes: sg.Database) -> None:
    left, right = "SELECT name FROM rider WHERE plan = 'yearly'", "SELECT r.name FROM rider r WHERE 'yearly' = r.plan"
    match = sg.match(left, right, bikes)
    assert match
    assert match.equal
    assert match.left is not None
    assert match.right is not None
    assert match.left.sql == match.right.sql
    command = [program(), "match", left, right, "--db", sample.bikes, "--json"]
    assert match.raw == json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    other = sg.match(left, "SELECT name FROM rider", bikes)
    assert not other
    assert other.difference


def test_a_schema_will_do() -> None:
    schema = sg.Schema.from_ddl(DDL)
    assert schema.tables == ["t"]
    assert sg.match("SELECT a FROM t", "SELECT t.a FROM t", schema)
    trusted = sg.match("SELECT count(a) FROM t", "SELECT count(*) FROM t", schema)
    assert trusted
    assert not trusted.foreign_keys_checked


def test_a_difference_comes_with_a_witness() -> None:
    schema = sg.Schema.from_ddl(DDL)
    found = sg.verify("SELECT a FROM t WHERE a > 1", "SELECT a FROM t WHERE a >= 1", schema)
    assert found.verdict == "different"
    assert not found
    assert found.witness is not None
    assert "INSERT INTO" in found.witness
    assert found.left_result != found.right_result


def test_what_rules_prove_is_equivalent(bikes: sg.Database) -> None:
    proved = sg.verify("SELECT name FROM rider", "SELECT rider.name FROM rider", bikes)
    assert (proved.verdict, proved.stage) == ("equivalent", "rules")


def test_a_path_is_a_database(sample: Sample) -> None:
    assert sg.match("SELECT 1", "SELECT 1", sample.bikes)
    assert sg.score("SELECT 1", gold="SELECT 1", db=Path(sample.bikes), metrics="ex")["ex"].score == 1.0
