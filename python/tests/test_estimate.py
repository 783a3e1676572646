"""``estimate`` and ``monitor`` say what the program says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Sample, program
from test_score_many import rows_with_predictions

import sqlgauge as sg


def known_and_target(sample: Sample, tmp_path: Path) -> tuple[sg.Run, list[dict[str, Any]], list[Any]]:
    """A run, questions without golds, and the arguments of the program for both."""
    rows = rows_with_predictions(sample)
    known = {name: name for name in ("careful", "baseline")}
    run = sg.score_many(rows, db=sample.db, metrics="ex", predictions=known, out=tmp_path / "known", now=NOW)
    # Golds are not read: the target has none.
    target = [{"id": row["id"], "question": row["question"], "db_id": row["db_id"]} for row in rows]
    file = tmp_path / "target.json"
    file.write_text(json.dumps(target))
    asked = ["--known", run.path, "--questions", file, "--db", sample.db, f"--pred=chatty={sample.file_of('chatty')}"]
    # One answer never ends by itself.
    return run, target, [*asked, "--timeout", "2", "--now", NOW, "--json"]


def test_an_estimate_is_that_of_the_program(sample: Sample, tmp_path: Path) -> None:
    run, target, asked = known_and_target(sample, tmp_path)
    done = subprocess.run([program(), "estimate", *asked, "--out", tmp_path / "out"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    found = sg.estimate(
        known=[run], questions=target, predictions={"chatty": sample.systems["chatty"]}, db=sample.db, timeout=2, now=NOW
    )
    assert list(found) == ["chatty"] and said["system"] == "chatty"
    own = found["chatty"]
    assert own.raw == said
    assert 0 <= own.low <= own.accuracy <= own.high <= 1 and own.level == 0.9 and own.method
    assert own.metric == "ex@1" and "by ex@1" in repr(own)
    # One run may stand alone, and the old name works.
    with pytest.warns(DeprecationWarning, match="is called questions now"):
        again = sg.estimate(
            known=run, target=target, predictions={"chatty": sample.systems["chatty"]}, db=sample.db, known_db=sample.db, timeout=2, now=NOW
        )
    assert again["chatty"].accuracy == own.accuracy
    with pytest.raises(sg.InputError, match="unknown method"):
        sg.estimate(known=[run], questions=target, predictions={"x": sample.systems["chatty"]}, db=sample.db, method="nope")


def test_labels_and_the_folder_are_those_of_the_program(sample: Sample, tmp_path: Path) -> None:
    run, target, asked = known_and_target(sample, tmp_path)
    labels, out = tmp_path / "labels.tsv", tmp_path / "report"
    labels.write_text("id\tcorrect\n" + "".join(f"{row['id']}\t{number % 2}\n" for number, row in enumerate(target)))
    command = [program(), "estimate", *asked, "--method", "ppi", "--labels", labels, "--out", tmp_path / "out"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    job: dict[str, Any] = {"known": run, "questions": target, "db": sample.db, "timeout": 2, "now": NOW, "method": "ppi"}
    job["predictions"] = {"chatty": sample.systems["chatty"]}
    assert sg.estimate(labels={"chatty": labels}, out=out, **job)["chatty"].raw == said
    assert {file.name for file in out.iterdir()} == {file.name for file in (tmp_path / "out").iterdir()}
    assert (out / "predictions.jsonl").read_bytes() == (tmp_path / "out" / "predictions.jsonl").read_bytes()
    assert json.loads((out / "run.json").read_text())["command"] == ["sqlgauge.estimate"]
    assert sg.monitor(labels={"chatty": labels}, out=tmp_path / "watch", batch_size=20, **job).estimates["chatty"].method == said["method"]
    assert (tmp_path / "watch" / "drift.json").is_file()
    for wrong, sentence in ((labels, "give a mapping"), ({"chaty": labels}, "'chaty'|\"chaty\"")):
        with pytest.raises(sg.InputError, match=sentence):
            sg.estimate(labels=wrong, **job)  # type: ignore[arg-type]
    with pytest.raises(sg.InputError, match="out"):
        sg.estimate(labels={"chatty": labels}, out=tmp_path / "known", **job)


def test_a_watch_is_that_of_the_program(sample: Sample, tmp_path: Path) -> None:
    run, target, asked = known_and_target(sample, tmp_path)
    job: dict[str, Any] = {"known": run, "questions": target, "db": sample.db, "timeout": 2, "now": NOW}
    job["predictions"] = {"chatty": sample.systems["chatty"]}
    done = subprocess.run([program(), "monitor", *asked, "--batch-size", "10"], capture_output=True, text=True, check=False)
    watch = sg.monitor(batch_size=10, **job)
    assert watch.estimates["chatty"].raw == json.loads(done.stdout), done.stderr
    assert watch.rings == (done.returncode == 1) and "1–10" in repr(watch)
    log = tmp_path / "log.jsonl"
    points = [len(sg.monitor(log=log, as_of=name, **job).estimates["chatty"].raw["points"]) for name in ("may", "june")]
    assert points == [1, 2] and len(log.read_text().splitlines()) >= 2
    wrong: list[dict[str, Any]] = [{}, {"batch_size": 9, "as_of": "may"}, {"log": log, "per_year": 0}]
    for options, sentence in zip(wrong, ["either log or batch_size", "as_of", "per_year"]):
        with pytest.raises(sg.InputError, match=sentence):
            sg.monitor(**options, **job)
