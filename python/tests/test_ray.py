"""The classes for Ray: by their batches, and in Ray's own loop with workers that die."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Sample
from test_integrations import COUNT, answers, expected, items
from test_score_many import rows_with_predictions

import sqlgauge as sg
from sqlgauge.integrations import ray as adapter

__all__ = ["items"]

Rows = list[dict[str, Any]]


def batch_of(rows: Rows) -> dict[str, Any]:
    """As Ray hands it over."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def with_answers(rows: Rows) -> Rows:
    """Every other one right."""
    return [{**row, "prediction": text, "position": place} for place, (row, text) in enumerate(zip(rows, answers(rows)))]


def test_answers_by_their_batches(sample: Sample, items: Rows) -> None:
    batch = batch_of(with_answers(items))
    scored = adapter.ScoreAnswers(sample.db)(batch)
    assert list(scored["value"]) == expected(len(items)) and "value" not in batch
    with pytest.raises(sg.InputError, match="no column gold"):
        adapter.ScoreAnswers(sample.db)({"prediction": ["x"]})


def test_pairs_by_their_batches(sample: Sample, items: Rows) -> None:
    rows = [{**row, "prediction": row["gold"]} for row in items[:3]] + [{**items[0], "prediction": "SELECT"}]
    found = adapter.VerifyPairs(sample.db)(batch_of(rows))
    assert list(found["verdict"]) == ["equivalent"] * 3 + ["refused"] and found["reason"][3]
    other = {**items[0], "prediction": f"SELECT * FROM ({items[0]['gold'].rstrip(';')}) LIMIT 0"}
    told = adapter.VerifyPairs(sample.db)(batch_of([other]))
    assert told["verdict"][0] == "different" and "CREATE TABLE" in told["witness"][0]
    with pytest.raises(sg.InputError, match="no column prediction"):
        adapter.VerifyPairs(sample.db)({"gold": ["x"]})


def test_shift_does_not_depend_on_who_made_the_parts(sample: Sample) -> None:
    np = pytest.importorskip("numpy")
    rows = [{"question": one["question"], "db_id": one["db_id"]} for one in sample.questions]
    encoded = adapter.EncodeQuestions(sample.db)(batch_of(rows))
    vectors = encoded["vector"]
    encoder = sg.Encoder()
    assert vectors.shape == (len(rows), encoder.dimensions) and vectors.dtype == np.float32
    # A vector depends on its own row alone.
    alone = adapter.EncodeQuestions(sample.db)(batch_of(rows[5:6]))["vector"]
    assert (alone[0] == vectors[5]).all()
    half = len(rows) // 2
    reference = sg.ShiftReference(vectors[:half].tobytes(), encoder.dimensions)
    cut = adapter.ShiftParts(reference)
    parts = []
    for first in range(half, len(rows), 4):
        made = cut({"vector": list(vectors[first : first + 4]), "position": list(range(first, min(first + 4, len(rows))))})
        parts.append({"first": made["first"][0], "part": made["part"][0]})
    found = adapter.describe_shift(reference, parts)
    random.Random(7).shuffle(parts)
    assert adapter.describe_shift(reference, parts) == found
    assert found["target_count"] == len(rows) - half and found["swd"] > 0
    whole = reference.describe([reference.part(vectors[half:].tobytes())])
    assert found == pytest.approx(whole, rel=1e-12)
    with pytest.raises(sg.InputError, match="no parts"):
        reference.describe([])
    with pytest.raises(sg.InputError, match="single precision"):
        reference.part(b"123")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A Ray of two cores."""
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    from ray import cloudpickle

    # Its workers cannot import a module of tests.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_in_rays_own_loop(cluster: Any, sample: Sample, items: Rows) -> None:
    dataset = cluster.data.from_items(with_answers(items)).map_batches(
        adapter.ScoreAnswers, fn_constructor_args=(str(sample.db),), concurrency=1, batch_size=4
    )
    verified = dataset.map_batches(adapter.VerifyPairs, fn_constructor_args=(str(sample.db),), concurrency=1)
    by_id = {row["id"]: row for row in verified.take_all()}
    assert [by_id[item["id"]]["value"] for item in items] == expected(len(items))
    assert all(by_id[item["id"]]["verdict"] for item in items) and len(by_id) == COUNT


def test_vectors_and_shift_in_rays_own_loop(cluster: Any, sample: Sample) -> None:
    rows = [{"question": one["question"], "db_id": one["db_id"], "position": place} for place, one in enumerate(sample.questions)]
    dataset = cluster.data.from_items(rows, override_num_blocks=4).map_batches(
        adapter.EncodeQuestions, fn_constructor_args=(str(sample.db),), concurrency=2, batch_size=8
    )
    here = adapter.EncodeQuestions(sample.db)(batch_of(rows))["vector"]
    by_position = {row["position"]: row["vector"] for row in dataset.take_all()}
    assert all((by_position[place] == here[place]).all() for place in range(len(rows)))
    reference = sg.ShiftReference(here.tobytes(), here.shape[1])
    made = dataset.map_batches(adapter.ShiftParts, fn_constructor_args=(reference,), concurrency=2, batch_size=8)
    found = adapter.describe_shift(reference, made)
    assert found["target_count"] == len(rows)
    assert found["swd"] == 0.0 and found["euclidean"] == pytest.approx(0.0, abs=1e-9)


class Doomed(adapter.ScoreParts):
    """Says which process it lives in, so that somebody can kill it."""

    def __init__(self, *arguments: Any, pids: str, **options: Any) -> None:
        Path(pids, str(os.getpid())).touch()
        super().__init__(*arguments, **options)


def kill_at_random(pids: Path, times: int, ended: threading.Event) -> list[int]:
    """Kills a worker now and then; returns whom."""
    chance, killed = random.Random(20261122), []
    while len(killed) < times and not ended.wait(chance.uniform(0.2, 0.8)):
        known = {int(path.name) for path in pids.iterdir()} - set(killed)
        alive = sorted(pid for pid in known if Path(f"/proc/{pid}").exists())
        if alive:
            victim = chance.choice(alive)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
    return killed


def run_with_deaths(ray: Any, frame: Any, folder: Path, parts: int, times: int, **options: Any) -> tuple[sg.Run, list[int]]:
    """A run by parts, of whose workers some are killed."""
    pids = folder / "pids"
    pids.mkdir()
    killed: list[int] = []
    ended = threading.Event()
    killer = threading.Thread(target=lambda: killed.extend(kill_at_random(pids, times, ended)))
    killer.start()
    try:
        rows = (
            ray.data.from_items([{"part": number} for number in range(1, parts + 1)], override_num_blocks=parts)
            .map_batches(
                Doomed,
                fn_constructor_args=(frame, str(folder / "parts"), parts),
                fn_constructor_kwargs={"pids": str(pids), "jobs": 1, **options},
                batch_size=1,
                concurrency=2,
                num_cpus=1,
            )
            .take_all()
        )
    finally:
        ended.set()
        killer.join()
    return sg.merge([row["run"] for row in rows], out=folder / "merged"), killed


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at /proc")
def test_a_worker_that_dies_loses_nothing_and_counts_nothing_twice(cluster: Any, sample: Sample, tmp_path: Path) -> None:
    rows = [{**row, "id": str(place)} for place, row in enumerate(rows_with_predictions(sample) * 8)]
    options = {
        "db": str(sample.db),
        "metrics": "ex-spider,ex,esm,etm",
        "predictions": {name: name for name in sample.systems},
        "now": NOW,
    }
    here = sg.score_many(rows, out=tmp_path / "here", **options)
    merged, killed = run_with_deaths(cluster, rows, tmp_path, parts=8, times=3, **options)
    for name in ("items.jsonl", "summary.json"):
        assert (merged.path / name).read_bytes() == (here.path / name).read_bytes(), name
    assert killed


def test_a_run_in_parts_is_the_run(cluster: Any, sample: Sample, tmp_path: Path) -> None:
    rows = rows_with_predictions(sample)
    options = {"db": str(sample.db), "metrics": "ex,esm", "predictions": {"careful": "careful"}, "now": NOW}
    here = sg.score_many(rows, out=tmp_path / "here", **options)
    run = adapter.score_in_parts(rows, out=tmp_path / "all", folder=tmp_path / "parts", parts=3, **options)
    assert (run.path / "items.jsonl").read_bytes() == (here.path / "items.jsonl").read_bytes()
    begun = time.monotonic()
    again = adapter.score_in_parts(rows, out=tmp_path / "again", folder=tmp_path / "parts", parts=3, **options)
    assert again.summary() == run.summary() and time.monotonic() - begun < 60
    with pytest.raises(sg.InputError, match="now="):
        adapter.ScoreParts(rows, tmp_path, 3, db=sample.db)
