"""The bundled sample benchmark, and real data where it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import sqlgauge as sg

NOW = "2024-05-06 07:08:09"
ENDLESS = "SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)"
METRICS = "ex-spider,ex-bird,ex,esm,soft-f1,etm"


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_interrupts() -> None:
    """What a shell starts in the background ignores Ctrl-C, and Python then never raises KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def program() -> str:
    """The command line as it was installed."""
    return str(Path(sysconfig.get_path("scripts")) / "sqlgauge")


class Sample:
    """The sample of ``sqlgauge demo``, as files and as Python values."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "database"
        self.bikes = self.db / "bike_rental" / "bike_rental.sqlite"
        self.questions: list[dict[str, Any]] = json.loads((folder / "questions.json").read_text())
        self.systems = {name: self._texts(name) for name in ("careful", "baseline", "chatty")}

    def _texts(self, name: str) -> list[str | None]:
        lines = self.file_of(name).read_text().splitlines()
        by_id = {own["id"]: own.get("sql") for own in map(json.loads, lines)}
        return [by_id.get(question["id"]) for question in self.questions]

    def file_of(self, name: str) -> Path:
        """The predictions of that system."""
        return self.folder / "predictions" / f"{name}.jsonl"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The sample benchmark."""
    out = tmp_path_factory.mktemp("sample")
    subprocess.run([program(), "demo", "--out", out], check=True, capture_output=True)
    return Sample(out / "benchmark")


@pytest.fixture
def bikes(sample: Sample) -> sg.Database:
    """One database of the sample."""
    return sg.Database(sample.bikes, timeout=60, now=NOW)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data, which is no part of the project."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("SQLGAUGE_DATA", beside))
    if not (folder / "spider" / "dev.json").is_file():
        assert os.environ.get("CI") is None, f"the real data must be there in CI: {folder}"
        pytest.skip(f"no real data at {folder}")
    return folder


def binary_items(out: Path, *arguments: str | Path) -> bytes:
    """What the program writes into ``items.jsonl``."""
    command = [program(), "score", "--out", out, "--now", NOW, "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (out / "items.jsonl").read_bytes()
