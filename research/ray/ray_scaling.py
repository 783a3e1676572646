"""How much faster two workers of Ray are than one.

    pip install ./python[ray] && python research/ray/ray_scaling.py DATA [--rows 4000] [--times 3]

DATA is the data folder with `spider/`. One actor, then two, verify the same pairs of Spider dev (each gold beside a system's
answer) in batches; before the clock starts every actor has done a batch, so that start-up does not count. Prints the seconds of
each and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import ray

from sqlgauge.integrations.ray import ScoreAnswers, VerifyPairs

BATCH = 64


@ray.remote(num_cpus=1)
class Worker:
    """One of the callable classes, in an actor."""

    def __init__(self, made: Any, *args: Any, **options: Any) -> None:
        self._work = made(*args, **options)

    def run(self, batch: dict[str, list[str]]) -> int:
        return len(self._work(batch)["gold"])


def pairs(data: Path, rows: int) -> list[dict[str, list[str]]]:
    """Batches of pairs, over and over the same ones until there are enough."""
    items = json.loads((data / "spider/dev.json").read_text())
    answers = (data / "spider/predictions/dev/etm_DAIL.sql").read_text().splitlines()
    all_rows = [(item["query"], answer, item["db_id"]) for item, answer in zip(items, answers)]
    all_rows = (all_rows * (rows // len(all_rows) + 1))[:rows]
    cut = [all_rows[first : first + BATCH] for first in range(0, rows, BATCH)]
    return [dict(zip(("gold", "prediction", "db_id"), map(list, zip(*one)))) for one in cut]


def seconds(workers: list[Any], batches: list[dict[str, list[str]]]) -> float:
    """The time that the workers take for all batches, each taking the next one when it is done."""
    start, waiting, done = time.monotonic(), list(batches), 0
    busy = {worker.run.remote(waiting.pop()): worker for worker in workers}
    while busy:
        (ready, *_), _ = ray.wait(list(busy), num_returns=1)
        worker = busy.pop(ready)
        done += ray.get(ready)
        if waiting:
            busy[worker.run.remote(waiting.pop())] = worker
    assert done == sum(len(batch["gold"]) for batch in batches)
    return time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    batches = pairs(asked.data, asked.rows)
    db = str(asked.data / "spider/database")
    kinds = {"verify": (VerifyPairs, {}), "score": (ScoreAnswers, {"threads": 1})}
    for name, (made, options) in kinds.items():
        workers = [Worker.remote(made, db, **options) for _ in range(2)]
        ray.get([worker.run.remote(batch) for worker in workers for batch in batches[:17]])
        one = [seconds(workers[:1], batches) for _ in range(asked.times)]
        two = [seconds(workers, batches) for _ in range(asked.times)]
        ratio = statistics.median(one) / statistics.median(two)
        shown = [", ".join(f"{value:.2f}" for value in values) for values in (one, two)]
        print(f"{name}: one worker {shown[0]} s, two {shown[1]} s: {ratio:.2f} times as fast", flush=True)
        for worker in workers:
            ray.kill(worker)


if __name__ == "__main__":
    main()
