"""The other side of the benchmark `shift`: numpy and POT on the same arrays.

    shift_peer.py make DIR ROWS DIMENSIONS CORPUS_ROWS CORPUS_DIMENSIONS   writes the arrays
    shift_peer.py time DIR DIMENSIONS RUNS                                 prints one line of JSON

Needs numpy and POT.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np


def make(folder, rows, dimensions, corpus_rows, corpus_dimensions):
    random = np.random.default_rng(0)
    scale = np.exp(0.5 * random.standard_normal(dimensions, dtype=np.float32))
    source = random.standard_normal((rows, dimensions), dtype=np.float32) * scale
    source.tofile(folder / "source.f32")
    # A target that is moved, stretched and has a heavier tail.
    target = random.standard_normal((rows, dimensions), dtype=np.float32) * scale * 1.1
    target *= np.exp(0.2 * random.standard_normal((rows, 1), dtype=np.float32))
    target += 0.1 * random.standard_normal(dimensions, dtype=np.float32)
    target.tofile(folder / "target.f32")
    groups = random.integers(0, 200, corpus_rows)
    corpus = random.standard_normal((corpus_rows, corpus_dimensions), dtype=np.float32)
    corpus += 0.7 * random.standard_normal((200, corpus_dimensions), dtype=np.float32)[groups]
    corpus.tofile(folder / "corpus.f32")
    groups.astype(np.uint32).tofile(folder / "groups.u32")
    (corpus[:, :8].mean(axis=1) + 0.3 * random.standard_normal(corpus_rows) > 0).astype(np.uint32).tofile(
        folder / "correct.u32"
    )
    known = random.standard_normal((20_000, corpus_dimensions), dtype=np.float32)
    known.tofile(folder / "known.f32")


def timed(run, runs):
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - started)
    return result, times


def moments_and_distances(source, target):
    mean, variance = source.mean(axis=0), source.var(axis=0)
    other, other_variance = target.mean(axis=0), target.var(axis=0)
    distance = np.linalg.norm((target - mean) / np.sqrt(variance), axis=1)
    return {
        "mean_shift": float(((other - mean) ** 2).sum()),
        "spread_shift": float(((np.sqrt(other_variance) - np.sqrt(variance)) ** 2).sum()),
        "mahalanobis_mean": float(distance.mean()),
        "mahalanobis_std": float(distance.std()),
    }


def measure(folder, dimensions, runs):
    import ot

    def read():
        return [
            np.fromfile(folder / name, dtype=np.float32).reshape(-1, dimensions)
            for name in ("source.f32", "target.f32")
        ]

    (source, target), reading = timed(read, runs)
    directions = np.ascontiguousarray(
        np.fromfile(folder / "directions.f32", dtype=np.float32).reshape(-1, dimensions).T
    )
    product, products = timed(lambda: (source @ directions, target @ directions), runs)
    swd, pot = timed(
        lambda: ot.sliced_wasserstein_distance(source, target, projections=directions), runs
    )
    others, numpy = timed(lambda: moments_and_distances(source, target), runs)
    # The value in double precision: POT's own weights lose digits in single precision.
    exact = ot.wasserstein_1d(product[0].astype(np.float64), product[1].astype(np.float64), p=2)
    print(
        json.dumps(
            {
                "read_s": reading,
                "product_s": products,
                "pot_s": pot,
                "numpy_s": numpy,
                "swd": float(swd),
                "swd_f64": float(np.sqrt(exact.mean())),
                **others,
            }
        )
    )


if __name__ == "__main__":
    command, folder, *numbers = sys.argv[1:]
    {"make": make, "time": measure}[command](Path(folder), *map(int, numbers))
