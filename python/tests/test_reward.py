"""``Reward``: values, codes, pickling, child processes, bad input, Ctrl-C."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ENDLESS, Sample

import sqlgauge as sg

Batch = tuple[list[str], list[str], list[str]]


def first_gold(question: dict[str, Any]) -> str:
    """The gold, or the first of several."""
    gold = question.get("query") or question.get("sql") or question["gold"]
    return gold if isinstance(gold, str) else str(gold[0])


def golds(sample: Sample) -> Batch:
    """The golds as their own answers."""
    texts = [first_gold(question) for question in sample.questions]
    return texts, texts, [question["db_id"] for question in sample.questions]


def test_codes(sample: Sample) -> None:
    texts, own, names = golds(sample)
    reward = sg.Reward(sample.db, time_limit=1.0)
    assert all(result.value == 1.0 and result.code == "right" for result in reward(texts, own, names))
    answers: list[str | None] = ["", None, "SELECT 1", "DROP TABLE x", "SELECT nope", ENDLESS + " JOIN (SELECT 1)"]
    results = reward(answers, [own[0]] * len(answers), [names[0]] * len(answers))
    codes = [result.code for result in results]
    assert codes[:5] == ["no_sql", "no_sql", "reads_no_table", "no_sql", "does_not_run"]
    assert codes[5] in ("timeout", "reads_no_table")
    failed = reward([own[0]], ["SELECT nope"], [names[0]])[0]
    assert failed.value is None and failed.code == "gold_failed"


def test_no_answer_stops_a_batch(sample: Sample) -> None:
    texts, own, names = golds(sample)
    answers: list[Any] = ["SELECT '\ud800'", float("nan"), 3, b"SELECT 1", ["SELECT 1"], {"sql": texts[0]}, None, texts[0]]
    answers.append(f"A face \ud83d, then\n```sql\n{texts[0]}\n```")
    results = sg.Reward(sample.db)(answers, [own[0]] * len(answers), [names[0]] * len(answers))
    assert [result.code for result in results[1:]] == ["no_sql"] * 6 + ["right"] * 2
    assert results[0].value == 0.0
    assert "float" in results[1].reason and "dict" in results[5].reason


def test_columns_come_in_any_order_unless_that_is_asked_for(sample: Sample) -> None:
    question = next(one for one in sample.questions if one["db_id"] == "town_library")
    gold, answer = "SELECT back_on, due_on FROM loan", "SELECT due_on, back_on FROM loan"
    batch = ([answer], [gold], [question["db_id"]])
    assert [sg.Reward(sample.db, columns=columns)(*batch)[0].code for columns in ("any", "ordered")] == ["right", "wrong"]
    for likeness in ("schema", "nulls", "repeats"):
        assert sg.Reward(sample.db, witnesses=True, likeness=likeness)(*batch)[0].code == "right"
    with pytest.raises(sg.InputError, match="choose from any, ordered"):
        sg.Reward(sample.db, columns="none")


def test_statements_that_are_no_queries_earn_nothing(sample: Sample) -> None:
    texts, own, names = golds(sample)
    forms = ["EXPLAIN QUERY PLAN {}", "EXPLAIN {}", "INSERT INTO x {}", "CREATE TABLE x AS {}", "DELETE FROM x; {}"]
    for extract in (True, False):
        reward = sg.Reward(sample.db, extract=extract)
        for form in forms:
            for answer in (form.format(texts[0]), f"```sql\n{form.format(texts[0])}\n```"):
                result = reward([answer], own[:1], names[:1])[0]
                assert result.value == 0.0, (answer, result)
                assert not extract or "```" in answer or result.code == "no_sql", (answer, result)


def test_witnesses_are_kept(sample: Sample, tmp_path: Path) -> None:
    _, own, names = golds(sample)
    reward = sg.Reward(sample.db, witnesses=True, witness_folder=tmp_path / "w")
    growth = reward.prepare(own, names)
    assert growth["questions"] == len(set(zip(own, names)))
    assert growth["witnesses"] == len(list((tmp_path / "w").rglob("*.sql"))) > 0
    assert all(result.code == "right" for result in reward(own, own, names))


def ask(reward: sg.Reward, batch: Batch, queue: Any) -> None:
    """In a child process."""
    queue.put([result.value for result in reward(*batch)])


def ask_in_child(start: str, db: str, batch: Batch) -> None:
    """The same values here, in a child process, and here again."""
    reward = sg.Reward(db)
    here = [result.value for result in reward(*batch)]
    context = multiprocessing.get_context(start)
    queue = context.Queue()
    child = context.Process(target=ask, args=(reward, batch, queue))
    child.start()
    assert queue.get(timeout=60) == here
    child.join(60)
    assert child.exitcode == 0
    assert [result.value for result in reward(*batch)] == here


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_child_processes(sample: Sample, start: str) -> None:
    # From a process of its own: a fork while the rest of an interrupted call is at work is what nobody may ask for.
    command = [sys.executable, __file__, start, str(sample.db)]
    texts = json.dumps(golds(sample))
    done = subprocess.run(command, input=texts, text=True, capture_output=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr


def test_pickle(sample: Sample) -> None:
    batch = golds(sample)
    reward = sg.Reward(sample.db, kind="dense", witnesses=True, growth=3)
    results = reward(*batch)
    assert pickle.loads(pickle.dumps(results)) == results
    again = pickle.loads(pickle.dumps(reward))
    assert repr(again) == repr(reward) and again(*batch) == results


def test_bad_input(sample: Sample) -> None:
    texts, own, names = golds(sample)
    reward = sg.Reward(sample.db)
    bad: list[tuple[Any, Any, Any, str]] = [
        (texts[:1], own[:2], names[:1], "1 predictions and 2 golds"),
        (texts[:1], own[:1], names[:2], "2 db_ids for 1 questions"),
        (texts[:1], [None], names[:1], "golds[0] is of type NoneType"),
        (texts[:1], [[3]], names[:1], "golds[0][0] is of type int"),
        ("SELECT 1", own[:1], names[:1], "predictions is no list"),
        (texts[:1], [[]], names[:1], "has no gold"),
        (texts[:1], own[:1], ["no_such_db"], "no_such_db"),
    ]
    for predictions, gold, db_ids, said in bad:
        with pytest.raises(sg.InputError, match=said.replace("[", r"\[").replace("]", r"\]")):
            reward(predictions, gold, db_ids)
    for options in ({"kind": "exakt"}, {"time_limit": 0.0}, {"time_limit": -1.0}, {"witness_folder": "x"}):
        with pytest.raises(sg.InputError):
            sg.Reward(sample.db, **options)  # type: ignore[arg-type]
    assert reward([], [], []) == []


def test_interrupt(sample: Sample) -> None:
    _, own, names = golds(sample)
    reward = sg.Reward(sample.db, time_limit=30.0, refuse_no_table=False)
    sent = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        reward([ENDLESS] * 3, [own[0]] * 3, [names[0]] * 3)
    # The limit is 30 s; the room is for a machine that is busy.
    assert time.monotonic() - sent[0] < 10.0
    assert reward([own[0]], [own[0]], [names[0]])[0].code == "right"


if __name__ == "__main__":
    ask_in_child(sys.argv[1], sys.argv[2], json.load(sys.stdin))
