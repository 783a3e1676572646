"""`score_many` writes what the program writes, whatever the predictions come in."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import METRICS, NOW, Sample, binary_items

import sqlgauge as sg

LIMIT = 1.0


@pytest.fixture(scope="module")
def expected(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The items of the program over the sample."""
    files = [f"--pred={name}={sample.file_of(name)}" for name in sample.systems]
    gold = sample.folder / "questions.json"
    options = ["--metrics", METRICS, "--timeout", str(LIMIT)]
    return binary_items(tmp_path_factory.mktemp("binary") / "run", "--gold", gold, "--db", sample.db, *files, *options)


def score(sample: Sample, frame: Any, predictions: Any, out: Path, **options: Any) -> sg.Run:
    return sg.score_many(
        frame, db=sample.db, predictions=predictions, metrics=METRICS, out=out, now=NOW, timeout=LIMIT, **options
    )


def rows_with_predictions(sample: Sample) -> list[dict[str, Any]]:
    """One row per question, with a column per system; every gold as a list, as tables with types want it."""
    rows = []
    for at, question in enumerate(sample.questions):
        gold = question["gold"]
        golds = gold if isinstance(gold, list) else [gold]
        rows.append({**question, "gold": golds, **{name: texts[at] for name, texts in sample.systems.items()}})
    return rows


def test_files_give_the_items_of_the_program(sample: Sample, expected: bytes, tmp_path: Path) -> None:
    files = {name: sample.file_of(name) for name in sample.systems}
    run = score(sample, sample.folder / "questions.json", files, tmp_path / "run")
    assert (run.path / "items.jsonl").read_bytes() == expected
    assert (run.path / "report.html").stat().st_size > 0


@pytest.mark.parametrize("kind", ["list", "columns", "pandas", "polars", "pyarrow", "rows", "ids", "series"])
def test_every_kind_of_table_gives_the_items_of_the_program(
    kind: str, sample: Sample, expected: bytes, tmp_path: Path
) -> None:
    rows = rows_with_predictions(sample)
    names = list(sample.systems)
    by_column = {name: name for name in names}
    frame: Any = rows
    predictions: Any = by_column
    if kind == "columns":
        frame = {name: [row[name] for row in rows] for name in rows[0]}
    elif kind == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(rows)
    elif kind == "polars":
        frame = pytest.importorskip("polars").DataFrame(rows)
    elif kind == "pyarrow":
        frame = pytest.importorskip("pyarrow").Table.from_pylist(rows)
    elif kind == "rows":
        predictions = {name: [{"id": row["id"], "sql": row[name]} for row in rows] for name in names}
    elif kind == "ids":
        predictions = {name: {row["id"]: row[name] for row in reversed(rows)} for name in names}
    elif kind == "series":
        pandas = pytest.importorskip("pandas")
        predictions = {name: pandas.Series(sample.systems[name]) for name in names}
    run = score(sample, frame, predictions, tmp_path / "run")
    assert (run.path / "items.jsonl").read_bytes() == expected


@pytest.mark.parametrize("system", ["etm_DAIL", "etm_C3", "etm_RESDSQL"])
def test_real_systems_give_the_items_of_the_program(system: str, real_data: Path, tmp_path: Path) -> None:
    spider = real_data / "spider"
    file = spider / "predictions" / "dev" / f"{system}.sql"
    if not file.is_file():
        pytest.skip(f"no predictions at {file}")
    expected = binary_items(
        tmp_path / "binary",
        *("--gold", spider / "dev.json", "--db", spider / "database", "--tables", spider / "tables.json"),
        f"--pred={system}={file}",
    )
    # The official scripts read of a line what stands before its first tab.
    texts = [line.strip().split("\t")[0] for line in file.read_text().splitlines()]
    run = sg.score_many(
        json.loads((spider / "dev.json").read_text()),
        db=spider / "database",
        tables=spider / "tables.json",
        predictions={system: texts},
        out=tmp_path / "python",
        now=NOW,
    )
    assert (run.path / "items.jsonl").read_bytes() == expected
    assert sum(1 for _ in run.items()) == 1034


def test_a_run_that_was_broken_off_is_finished_by_the_same_call(
    sample: Sample, expected: bytes, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    rows = rows_with_predictions(sample)
    names = {name: name for name in sample.systems}

    def stop(done: int, total: int) -> None:
        if done > 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score(sample, rows, names, out, progress=stop, jobs=1)
    wait_for_threads()
    begun = (out / "items.jsonl").read_bytes()
    assert 0 < len(begun) < len(expected)
    assert expected.startswith(begun)
    seen: list[tuple[int, int]] = []
    score(sample, rows, names, out, progress=lambda done, total: seen.append((done, total)))
    assert (out / "items.jsonl").read_bytes() == expected
    assert seen[-1][0] == seen[-1][1] == 3 * len(rows)
    with pytest.raises(sg.RunError, match="frame"):
        score(sample, rows[:-1], names, out)


def wait_for_threads() -> None:
    """What a call that was broken off leaves behind ends soon, and gives the run free."""
    for _ in range(200):
        tasks = Path("/proc/self/task")
        names = [(task / "comm").read_text().strip() for task in tasks.iterdir()] if tasks.is_dir() else []
        if "sqlgauge" not in names:
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"a thread is still at work: {names}")


def test_a_run_without_folder_lives_as_long_as_its_object(sample: Sample) -> None:
    run = sg.score_many(
        rows_with_predictions(sample), db=sample.db, predictions="careful", metrics="ex", timeout=LIMIT
    )
    path = run.path
    assert run.summary()["systems"][0]["system"] == "careful"
    assert path.is_dir()
    del run
    assert not path.exists()


def test_parts_make_the_run(sample: Sample, expected: bytes, tmp_path: Path) -> None:
    rows = rows_with_predictions(sample)
    names = {name: name for name in sample.systems}
    parts = [score(sample, rows, names, tmp_path / str(part), shard=f"{part}/3") for part in (2, 3, 1)]
    run = sg.merge(parts, out=tmp_path / "run")
    assert (run.path / "items.jsonl").read_bytes() == expected
    whole = score(sample, rows, names, tmp_path / "whole")
    assert (run.path / "summary.json").read_bytes() == (whole.path / "summary.json").read_bytes()
    with pytest.raises(sg.RunError, match="1 of 3 shards are missing"):
        sg.merge(parts[:2], out=tmp_path / "half")
    with pytest.raises(sg.InputError, match="invalid shard"):
        score(sample, rows, names, tmp_path / "none", shard="4/3")
    with pytest.raises(sg.InputError, match="make fewer shards"):
        score(sample, rows, names, tmp_path / "none", shard="999/1000")


def test_the_columns_of_a_frame_can_be_named(sample: Sample, tmp_path: Path) -> None:
    renamed = [
        {"target": row["gold"], "base": row["db_id"], "said": row["careful"], "image": object()}
        for row in rows_with_predictions(sample)
    ]
    columns = {"gold": "target", "db_id": "base", "prediction": "said"}
    run = sg.score_many(renamed, db=sample.db, columns=columns, metrics="ex", out=tmp_path / "run")
    scores = [item["metrics"]["ex@1"] for item in run.items()]
    assert len(scores) == len(renamed)
    assert sum(score or 0 for score in scores) > len(scores) / 2


def test_a_run_is_loaded_as_frame_and_summary(sample: Sample, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = rows_with_predictions(sample)
    out = tmp_path / "run"
    score(sample, rows, {name: name for name in sample.systems}, out)
    run = sg.load(os.fspath(out))
    frame = run.to_pandas()
    assert list(frame.columns[:5]) == ["system", "id", "index", "db_id", "status"]
    assert len(frame) == 3 * len(rows)
    means = frame.groupby("system")["ex@1"].mean()
    for system in run.summary()["systems"]:
        assert means[system["system"]] == pytest.approx(system["scores"]["ex@1"]["mean"])
    assert run.manifest()["systems"] == list(sample.systems)
    assert isinstance(frame, pandas.DataFrame)


def test_two_runs_are_compared_and_reported(sample: Sample, tmp_path: Path) -> None:
    rows, careful = sample.questions, sample.systems["careful"]
    full = sg.score_many(rows, db=sample.db, predictions={"careful": careful}, metrics="ex", out=tmp_path / "full")
    silent = {"careful": ["SELECT 0"] * len(rows)}
    empty = sg.score_many(rows, db=sample.db, predictions=silent, metrics="ex", out=tmp_path / "empty")
    found = sg.compare(full, empty)
    assert found.regression is not None and found.regression > 50
    assert len(found.only_first) > len(rows) / 2 and found.raw["left_out"]["changed"] == 0
    assert "ex@1" in repr(found) and "<table>" in found._repr_html_()
    assert sg.compare(full, tmp_path / "full").regression is None
    with pytest.raises(sg.InputError, match="no system"):
        sg.compare(full, empty, systems=["careful", "other"])
    written = full.report("markdown", out=tmp_path / "scores.md")
    assert "careful" in written.read_text()
    assert full.report().name == "report.html"
    assert {"difficulty", "evidence"} <= set(full.to_pandas().columns)
