"""audit: findings as objects, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sample

import sqlgauge as sg


def test_findings_have_a_rule_a_reason_and_rows(sample: Sample) -> None:
    frame = [{"id": "a", "db_id": "bike_rental", "gold": "SELECT COUNT(*) FROM bike WHERE 'x' = NULL"}]
    found = sg.audit(frame, db=sample.db, progress=False)
    assert [(one.id, one.rule) for one in found] == [("a", "constant-condition")]
    assert 0.5 < found[0].confidence < 1
    assert "never true" in found[0].why and "never true" in found[0]._repr_html_()
    assert "1 of 1 gold has" in repr(found) and "constant-condition" in found._repr_html_()


def test_a_file_is_audited_as_on_the_command_line(sample: Sample) -> None:
    found = sg.audit(sample.folder / "questions.json", db=sample.db, rules="all,-near-literal", progress=False)
    # A question with several golds is an item for each.
    assert {item["id"] for item in found.items} == {question["id"] for question in sample.questions}
    assert {count["rule"] for count in found.counts} >= {"does-not-run", "count-per-group"}
    assert all(one.rule != "does-not-run" for one in found)


def test_systems_that_agree_against_the_gold_are_a_finding(sample: Sample) -> None:
    frame = [{"id": "a", "db_id": "bike_rental", "gold": "SELECT 1 - COUNT(*) FROM bike"}]
    answers = {"one": ["SELECT COUNT(*) FROM bike"], "two": ["SELECT COUNT(*) FROM bike"]}
    found = sg.audit(frame, db=sample.db, predictions=answers, rules=["systems-disagree"], progress=False)
    assert found[0].evidence is not None and "one, two" in found[0].why


def test_what_is_no_rule_and_what_has_no_reason_is_refused(sample: Sample, tmp_path: Path) -> None:
    questions = sample.folder / "questions.json"
    with pytest.raises(sg.InputError, match="unknown audit rule"):
        sg.audit(questions, db=sample.db, rules="tie", progress=False)
    allow = tmp_path / "allow.jsonl"
    allow.write_text(json.dumps({"id": "a", "rule": "near-literal"}))
    with pytest.raises(sg.InputError, match="without a reason"):
        sg.audit(questions, db=sample.db, allow=allow, progress=False)
