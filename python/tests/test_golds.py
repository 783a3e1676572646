"""Several versions of the golds, lists of answers, a vote: what they say and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Sample

import sqlgauge as sg

ONE, TWO, ALL = "SELECT 1", "SELECT 2", "SELECT COUNT(*) FROM bike"


def frame(*golds: tuple[str, str | None]) -> list[dict[str, Any]]:
    """Questions by their golds under two versions."""
    return [{"db_id": "bike_rental", "question": "How many?", "gold": old, "mended": new} for old, new in golds]


def scored(found: sg.Versions, version: str, system: str) -> dict[str, Any]:
    """What a version says of a system."""
    own: dict[str, Any] = next(one for one in found.raw["versions"] if one["version"] == version)
    return {"items": own["items"], **own["systems"][system]}


def test_columns_are_versions_and_an_empty_cell_leaves_a_question_out(sample: Sample) -> None:
    rows = frame((ONE, None), (ONE, TWO), (TWO, TWO))
    versions = {"old": "gold", "new": "mended"}
    # Texts go by their place in the frame, also where a version lacks a question before them.
    systems: dict[str, Any] = {"a": [ONE, TWO, TWO], "b": [ONE, ONE, None]}
    found = sg.score_many(rows, gold=versions, db=sample.db, predictions=systems, metrics="ex", progress=False)
    assert list(found.runs) == ["old", "new"] and found.raw["shared"] == 2
    old, new = scored(found, "old", "a"), scored(found, "new", "a")
    assert (old["items"], old["score"]["mean"]) == (3, pytest.approx(2 / 3))
    assert (new["items"], new["score"]["mean"], new["rank"]) == (2, 1.0, 1)
    change = found.raw["changes"][0]
    expected = {"system": "a", "versions": ["old", "new"], "shared": 2, "gained": ["1"], "lost": []}
    assert {key: change[key] for key in expected} == expected
    assert change["difference"] == pytest.approx(0.5)
    assert [item["id"] for item in found.runs["new"].items() if item["system"] == "b"] == ["1", "2"]
    assert "100.0" in repr(found) and "#1" in found._repr_html_()


def test_files_and_frames_are_versions_too(sample: Sample, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    golds = [{"id": str(at), "db_id": "bike_rental", "gold": gold} for at, gold in enumerate([ONE, ONE])]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(golds))
    mended = pandas.DataFrame([{**golds[0], "gold": TWO}])
    answers = {"a": {"0": TWO, "1": ONE}}
    given: dict[str, Any] = {"old": path, "new": mended}
    found = sg.score_many(gold=given, db=sample.db, predictions=answers, metrics="ex", progress=False)
    assert [scored(found, name, "a")["score"]["mean"] for name in given] == [0.5, 1.0]
    # A mapping of paths in the place of the frame says the same as gold.
    again = sg.score_many({"old": path, "new": path}, db=sample.db, predictions=answers, metrics="ex", progress=False)
    assert [scored(again, name, "a")["score"]["mean"] for name in given] == [0.5, 0.5]


def test_lists_of_answers_have_rates_under_every_version(sample: Sample) -> None:
    rows = frame((ONE, TWO), (ALL, None))
    lists: dict[str, Any] = {"a": [[ONE, TWO, TWO, TWO], None], "b": [[TWO, TWO], [ALL]]}
    versions = {"old": "gold", "new": "mended"}
    found = sg.score_many(rows, gold=versions, db=sample.db, predictions=lists, k=[1, 2], metrics="ex", progress=False)
    assert scored(found, "old", "b")["score"]["mean"] == 0.5
    rates = [
        {rate["name"]: rate["mean"] for rate in one["rates"]}
        for version in found.raw["versions"]
        for one in version["samples"]
    ]
    old_a, old_b, new_a, new_b = rates
    assert (old_a["pass@1"], old_a["pass@2"], old_a["best-of-n"]) == (1 / 8, 1 / 4, 0.5)
    assert (new_a["pass@1"], new_a["pass^2"], new_a["first"]) == (3 / 4, 0.5, 0.0)
    assert (old_b["best-of-n"], new_b["pass^2"]) == (0.5, 1.0)
    samples = found.runs["old"].samples()
    assert samples is not None and samples["systems"][0]["abstention"]["abstained"] == 1


def test_lists_of_answers_come_as_a_column_of_any_kind(sample: Sample) -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    table = pandas.DataFrame(frame((ONE, None), (TWO, None)))
    # As Parquet is read: arrays, and NaN for an abstention.
    table["answers"] = pandas.Series([float("nan"), numpy.array([ONE, TWO], dtype=object)], dtype=object)
    run = sg.score_many(table, db=sample.db, predictions={"a": "answers"}, k=[1], metrics="ex", progress=False)
    samples = run.samples()
    assert {rate["name"]: rate["mean"] for rate in samples["systems"][0]["rates"]} == {
        "first": 0.0,
        "pass@1": 0.25,
        "pass^1": 0.25,
        "best-of-n": 0.5,
    }


def test_what_is_no_version_is_refused(sample: Sample) -> None:
    rows = frame((ONE, ONE), (TWO, TWO))
    refused: list[tuple[dict[str, Any], str]] = [
        ({"gold": {"old": "gold", "new": "no_such"}}, "neither a column of frame nor a file"),
        ({"gold": {"old": "gold"}}, "give .* two|versions"),
        ({"gold": {"old/": "gold", "new": "mended"}}, "cannot be the name of a version"),
        ({"gold": "gold"}, "give a mapping"),
        ({"gold": {"old": "gold", "new": "mended"}, "predictions": {"a": [ONE]}}, "1 entries for 2 rows"),
    ]
    for arguments, said in refused:
        with pytest.raises(sg.InputError, match=said):
            sg.score_many(rows, **{"db": sample.db, "predictions": {"a": [ONE, TWO]}, "progress": False, **arguments})
    with pytest.raises(sg.InputError, match="frame is missing"):
        sg.score_many(db=sample.db, predictions={"a": [ONE]}, progress=False)


@pytest.mark.parametrize("by", ["result", "proof", "both"])
def test_a_vote_takes_the_heaviest_group_and_says_what_it_gains(sample: Sample, by: str) -> None:
    rows = frame((ONE, None), (TWO, None), (ALL, None))
    answers: list[Any] = [[TWO, ONE, "SELECT (1)"], [{"sql": ONE, "weight": 1}, {"sql": TWO, "weight": 3}], None]
    found = sg.vote(answers, gold=rows, db=sample.db, by=by, metrics="ex", progress=False)
    assert list(found.predictions().values())[1:] == [TWO, None]
    assert found.choices[0]["prediction"] in (ONE, "SELECT (1)")
    assert [round(choice["confidence"], 3) for choice in found.choices] == [0.667, 0.75, 0.0]
    assert found.gain is not None and found.gain["difference"] == pytest.approx(2 / 3)
    assert found.curve[-1]["answered"] == 2 and "over the first answer" in repr(found)


def test_a_vote_reads_a_file_as_a_server_left_it(sample: Sample, tmp_path: Path) -> None:
    questions = [{"id": "a", "db_id": "bike_rental", "question": "How many bikes?"}]
    rows = [{"id": "a", "reply": f"Here it is:\n```sql\n{sql}\n```"} for sql in (ONE, ALL, ALL)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = sg.vote(
        path, questions=questions, db=sample.db, columns={"prediction": "reply"}, extract_sql=True, progress=False
    )
    assert found.predictions() == {"a": ALL}


def test_a_vote_needs_no_golds_and_one_of_its_ways(sample: Sample) -> None:
    questions = [{"id": "a", "db_id": "bike_rental", "question": "How many bikes?"}]
    found = sg.vote({"a": [ONE, ALL, ALL]}, questions=questions, db=sample.db, progress=False)
    assert (found.predictions(), found.gain, found.curve) == ({"a": ALL}, None, [])
    with pytest.raises(sg.InputError, match="result, proof, both"):
        sg.vote({"a": [ONE]}, questions=questions, db=sample.db, by="luck", progress=False)
    with pytest.raises(sg.InputError, match="give gold, or questions"):
        sg.vote({"a": [ONE]}, db=sample.db, progress=False)
