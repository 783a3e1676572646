"""``Labeler`` asks and answers what the program does, in the same folder."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import NOW, Sample, program
from test_score_many import rows_with_predictions

import sqlgauge as sg


def test_a_plan_is_that_of_the_program(sample: Sample, tmp_path: Path) -> None:
    rows = rows_with_predictions(sample)
    file = tmp_path / "questions.json"
    file.write_text(json.dumps([{"id": row["id"], "question": row["question"], "db_id": row["db_id"]} for row in rows]))
    files = {name: sample.file_of(name) for name in ("careful", "baseline")}
    run = sg.score_many(rows, db=sample.db, metrics="ex", predictions={"careful": "careful"}, out=tmp_path / "known", now=NOW)
    right = {item["id"]: item["metrics"]["ex@1"] == 1.0 for item in run.items()}
    asked = ["--questions", file, "--db", sample.db, f"--pred=careful={files['careful']}", f"--peer=baseline={files['baseline']}"]
    command = [program(), "label", "plan", *asked, "--width", "0.1", "--now", NOW, "--quiet", "--out", tmp_path / "program"]
    subprocess.run(command, check=True)
    systems = {name: Path(path) for name, path in files.items()}
    labeler = sg.Labeler.plan(
        file,
        predictions={"careful": systems["careful"]},
        peers={"baseline": systems["baseline"]},
        db=sample.db,
        width=0.1,
        now=NOW,
        out=tmp_path / "labels",
    )
    plans = [json.loads((tmp_path / name / "plan.json").read_text()) for name in ("program", "labels")]
    assert plans[0]["items"] == plans[1]["items"]
    first = labeler.next()[0]
    assert first.results[0]["systems"] == ["careful"] and first.results[0]["sql"] in repr(first)
    with pytest.raises(sg.InputError, match="no verdict yet"):
        for _ in labeler:
            pass
    for question in labeler:
        assert labeler.add(question.id, "right" if right[question.id] else "wrong", by="ann")["labels"] == 1
    status = labeler.status()
    (number,) = status.quantities
    assert status.enough and "Enough to stop" in repr(status) and labeler.next() == []
    assert number["low"] <= sum(right.values()) / len(right) <= number["high"]
    # The program goes on in the same folder.
    said = subprocess.run([program(), "label", "status", "--in", labeler.folder, "--json"], capture_output=True, check=True)
    assert {**json.loads(said.stdout), "sentence": status.sentence} == status.raw
    with pytest.raises(sg.InputError, match="replace"):
        labeler.add(first.id, "wrong" if right[first.id] else "right", by="ann")
    with pytest.raises(sg.InputError, match="label plan"):
        sg.Labeler(tmp_path / "nowhere")
