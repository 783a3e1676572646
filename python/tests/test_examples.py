"""The examples run, where their libraries are; the notebook is run by nbmake."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Sample

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_the_reward_of_grpo_rises(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("torch", "transformers", "datasets", "trl"):
        pytest.importorskip(library)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import grpo

    rewards = grpo.train(sample.db, tmp_path, steps=40)
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.2, rewards
