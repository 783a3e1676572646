"""The adapters: each in its library's own loop where that is installed, else by the signature that it publishes."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from typing import Any

import pytest
from conftest import Sample
from test_reward import first_gold

import sqlgauge as sg
from sqlgauge.integrations import _common


COUNT = 10


@pytest.fixture
def items(sample: Sample) -> list[dict[str, Any]]:
    """Ten questions with golds; the answers to the even ones are right."""
    of = [question for question in sample.questions][:COUNT]
    return [
        {
            "question": one["question"],
            "gold": first_gold(one),
            "db_id": one["db_id"],
            "id": str(place),
        }
        for place, one in enumerate(of)
    ]


def answer(place: int, item: dict[str, Any]) -> str:
    """The gold in a fence, or nothing of use."""
    return f"```sql\n{item['gold']}\n```" if place % 2 == 0 else "I do not know."


def expected(count: int) -> list[float]:
    """What these answers are worth."""
    return [1.0 if place % 2 == 0 else 0.0 for place in range(count)]


def answers(items: list[dict[str, Any]]) -> list[str]:
    """One for each."""
    return [answer(place, item) for place, item in enumerate(items)]


def test_texts_of_completions() -> None:
    said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "SELECT 1"}]
    for completion in ("SELECT 1", said, said[1], [{"type": "text", "text": "SELECT 1"}]):
        assert _common.text_of(completion) == "SELECT 1"
    assert _common.text_of(None) == "" and _common.text_of([]) == ""
    with pytest.raises(sg.InputError, match="no text"):
        _common.text_of(3)
    with pytest.raises(sg.InputError, match="no gold among"):
        _common.golds_of({"question": "x"})


def test_verl(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By the calls of verl's managers ``naive`` and ``batch``."""
    from sqlgauge.integrations import verl

    many = verl.compute_score_batch(
        data_sources=["spider"] * len(items),
        solution_strs=answers(items),
        ground_truths=[item["gold"] for item in items],
        extra_infos=[{"db_id": item["db_id"]} for item in items],
        db=str(sample.db),
    )
    assert [one["score"] for one in many] == expected(len(items))
    one = verl.compute_score(
        data_source="spider", solution_str=answer(0, items[0]), ground_truth=items[0], extra_info=None, db=str(sample.db)
    )
    assert one == many[0]
    failed = verl.compute_score("spider", "SELECT 1", {"gold": "SELECT nope", "db_id": items[0]["db_id"]}, db=str(sample.db), unscored=0.5)
    assert failed["score"] == 0.5 and failed["gold_failed"] == 1.0


def test_verl_loads_the_file(items: list[dict[str, Any]], sample: Sample) -> None:
    """verl loads a custom reward function from its file."""
    from sqlgauge.integrations import verl

    spec = importlib.util.spec_from_file_location("custom_module", verl.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scored = module.compute_score("x", answer(0, items[0]), items[0], db=str(sample.db))
    assert scored["score"] == 1.0


class _Bytes:
    """A tokenizer whose tokens are bytes, shifted by one: 0 is what fills up."""

    def encode(self, text: str) -> list[int]:
        return [1 + byte for byte in text.encode()]

    def decode(self, tokens: Any, skip_special_tokens: bool = False) -> str:
        return bytes(int(token) - 1 for token in tokens if int(token)).decode()


def test_verl_in_its_own_managers(sample: Sample, items: list[dict[str, Any]]) -> None:
    """In verl's managers, the function loaded from its file by verl's configuration."""
    pytest.importorskip("verl")
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo import reward as loading

    from sqlgauge.integrations import verl as ours

    tokenizer, texts = _Bytes(), answers(items)
    responses = [tokenizer.encode(text) for text in texts]
    width = max(map(len, responses))
    filled = torch.tensor([one + [0] * (width - len(one)) for one in responses])
    prompts = torch.ones((len(items), 4), dtype=torch.long)
    batch = DataProto.from_dict(
        tensors={
            "prompts": prompts,
            "responses": filled,
            "attention_mask": torch.cat([prompts, (filled > 0).long()], dim=1),
        },
        non_tensors={
            "data_source": np.array(["sample"] * len(items), dtype=object),
            "reward_model": np.array([{"ground_truth": item["gold"]} for item in items], dtype=object),
            "extra_info": np.array([{"db_id": item["db_id"]} for item in items], dtype=object),
        },
    )

    def loaded(name: str) -> Any:
        function = {"path": ours.__file__, "name": name, "reward_kwargs": {"db": str(sample.db), "witnesses": True}}
        # The section is `reward` from some version on.
        config = {"custom_reward_function": function}
        return loading.get_custom_reward_fn(OmegaConf.create({**config, "reward": config}))

    def last(rewards: Any) -> list[float]:
        return [float(rewards[row, len(tokens) - 1]) for row, tokens in enumerate(responses)]

    managers = pytest.importorskip("verl.workers.reward_manager")
    many = managers.BatchRewardManager(tokenizer, 0, loaded("compute_score_batch"))
    found = many(batch, return_dict=True)
    assert last(found["reward_tensor"]) == expected(len(items))
    assert found["reward_extra_info"]["code"] == ["right", "no_sql"] * (len(items) // 2)
    one = managers.NaiveRewardManager(tokenizer, 0, loaded("compute_score"))
    assert last(one(batch)) == expected(len(items))

    loop = pytest.importorskip("verl.experimental.reward_loop.reward_manager")

    async def all_of_them() -> list[float]:
        manager = loop.NaiveRewardManager(OmegaConf.create({}), tokenizer, loaded("compute_score"))
        scored = [manager.run_single(batch[place : place + 1]) for place in range(len(items))]
        return [one["reward_score"] for one in await asyncio.gather(*scored)]

    assert asyncio.run(all_of_them()) == expected(len(items))


def test_trl(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By the call of TRL's ``GRPOTrainer``: everything by name, all columns of the dataset as lists."""
    from sqlgauge.integrations.trl import sql_reward

    function = sql_reward(sample.db)
    call = {
        "prompts": [[{"role": "user", "content": item["question"]}] for item in items],
        "completions": [[{"role": "assistant", "content": text}] for text in answers(items)],
        "completion_ids": [[1, 2]] * len(items),
        "gold": [item["gold"] for item in items],
        "db_id": [item["db_id"] for item in items],
        "question": [item["question"] for item in items],
        "trainer_state": None,
    }
    assert function(**call) == expected(len(items)) and function.__name__ == "sql"
    call["gold"] = ["SELECT nope"] * len(items)
    assert function(**call) == [None] * len(items)
    del call["gold"]
    with pytest.raises(sg.InputError, match="no column gold"):
        function(**call)


def test_verifiers(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By the call of a ``Rubric``: the arguments that the function names, by name."""
    from sqlgauge.integrations.verifiers import sql_reward

    function = sql_reward(sample.db)

    async def all_of_them() -> list[float]:
        calls = [
            function(
                prompt=[],
                completion=[{"role": "assistant", "content": text}],
                answer=item["gold"],
                state={},
                info={"db_id": item["db_id"]},
            )
            for text, item in zip(answers(items), items)
        ]
        return list(await asyncio.gather(*calls))

    assert asyncio.run(all_of_them()) == expected(len(items))


def test_verifiers_in_the_scoring_of_a_task(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By ``Task.score`` of verifiers 0.4, on traces that end with these replies."""
    vf = pytest.importorskip("verifiers.v1")
    from sqlgauge.integrations.verifiers import trace_reward

    score = trace_reward(sample.db)
    data = type("SqlData", (vf.TaskData,), {"__annotations__": {"gold": str, "db_id": str}})

    class SqlTask(vf.Task[data]):  # type: ignore[misc, name-defined, valid-type]
        @vf.reward  # type: ignore[misc]
        async def sql(self, task: Any, trace: Any) -> float:
            return await score(task, trace)

    async def all_of_them() -> list[float]:
        rewards = []
        for text, item in zip(answers(items), items):
            trace = vf.Trace.model_construct(root_reply=text, rewards={}, metrics={})
            await SqlTask(data(prompt=item["question"], gold=item["gold"], db_id=item["db_id"])).score(trace)
            rewards.append(trace.reward)
        return rewards

    assert asyncio.run(all_of_them()) == expected(len(items))


def test_nemo_gym(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By the shape of a verify request: the model's response of the Responses API beside the row of the dataset."""
    from sqlgauge.integrations.nemo_gym import verify

    def body(text: str, item: dict[str, Any]) -> dict[str, Any]:
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return {"response": {"output": [{"type": "reasoning", "summary": []}, said]}, **item}

    async def all_of_them() -> list[dict[str, Any]]:
        calls = [verify(body(text, item), db=sample.db) for text, item in zip(answers(items), items)]
        return list(await asyncio.gather(*calls))

    assert [one["reward"] for one in asyncio.run(all_of_them())] == expected(len(items))


def test_nemo_gym_in_its_own_server(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By ``POST /verify`` of NeMo Gym's own resources server."""
    pytest.importorskip("nemo_gym")
    from unittest.mock import MagicMock

    from fastapi.testclient import TestClient
    from nemo_gym.base_resources_server import (
        BaseResourcesServerConfig,
        BaseVerifyRequest,
        BaseVerifyResponse,
        SimpleResourcesServer,
    )
    from nemo_gym.server_utils import ServerClient

    from sqlgauge.integrations.nemo_gym import verify

    class SqlConfig(BaseResourcesServerConfig):
        db: str

    class SqlRequest(BaseVerifyRequest):
        gold: str
        db_id: str

    class SqlResponse(BaseVerifyResponse):
        is_scored: bool
        code: str
        reason: str | None

    class SqlServer(SimpleResourcesServer):
        config: SqlConfig

        async def verify(self, body: SqlRequest) -> SqlResponse:  # type: ignore[override]
            return SqlResponse(**body.model_dump(), **await verify(body, db=self.config.db, witnesses=True))

    # FastAPI reads them, and cannot look up the names of what is local.
    SqlServer.verify.__annotations__ = {"body": SqlRequest, "return": SqlResponse}

    def response(text: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        choice = {"parallel_tool_calls": False, "tool_choice": "none", "tools": []}
        return {"id": "r", "created_at": 0.0, "model": "m", "object": "response", "output": [message], **choice}

    config = SqlConfig(host="127.0.0.1", port=1, entrypoint="", name="sql", db=str(sample.db))
    server = SqlServer(config=config, server_client=MagicMock(spec=ServerClient))
    client = TestClient(server.setup_webserver())

    def ask(text: str, gold: str, db_id: str) -> dict[str, Any]:
        request = {"responses_create_params": {"input": []}, "response": response(text), "gold": gold, "db_id": db_id}
        answered = client.post("/verify", json=request)
        assert answered.status_code == 200, answered.text
        return dict(answered.json())

    asked = [ask(text, item["gold"], item["db_id"]) for text, item in zip(answers(items), items)]
    assert [one["reward"] for one in asked] == expected(len(items))
    assert [one["code"] for one in asked[:2]] == ["right", "no_sql"]
    failed = ask("SELECT 1", "SELECT nope", items[0]["db_id"])
    assert (failed["is_scored"], failed["code"]) == (False, "gold_failed")


def test_inspect_ai(sample: Sample, items: list[dict[str, Any]], tmp_path: Any) -> None:
    """In inspect_ai's own evaluation."""
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from sqlgauge.integrations.inspect_ai import sql_task

    broken = {**items[0], "gold": "SELECT nope", "id": "broken"}
    outputs = [ModelOutput.from_content("mockllm", text) for text in [*answers(items), "SELECT 1"]]
    for output in outputs:
        # Without it the mock counts tokens, with a vocabulary that it downloads.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = sql_task([*items, broken], sample.db)
    log = evaluate(task, model=model, max_samples=1, log_dir=str(tmp_path), display="none")[0]
    assert log.status == "success" and log.samples is not None
    values = [next(iter((one.scores or {}).values())).value for one in log.samples]
    assert values[: len(items)] == expected(len(items))
    last = values[len(items)]
    assert isinstance(last, float) and math.isnan(last)


def test_lm_eval(sample: Sample, items: list[dict[str, Any]]) -> None:
    """By the call of a task's ``process_results``."""
    from sqlgauge.integrations.lm_eval import mean_of_scored, processor

    process_results = processor(sample.db)
    values = [process_results(item, [text])["sql"] for text, item in zip(answers(items), items)]
    assert values == expected(len(items))
    assert mean_of_scored([*values, math.nan]) == sum(values) / len(values)
    assert math.isnan(mean_of_scored([math.nan]))


def test_lm_eval_in_its_own_evaluator(sample: Sample, items: list[dict[str, Any]]) -> None:
    pytest.importorskip("lm_eval")
    datasets = pytest.importorskip("datasets")
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.evaluator import evaluate

    from sqlgauge.integrations.lm_eval import mean_of_scored, processor

    said = dict(zip((item["question"] for item in items), answers(items)))

    class Said(LM):  # type: ignore[misc, name-defined]
        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [said[request.args[0]] for request in requests]

    broken = {**items[0], "gold": "SELECT nope"}
    rows = datasets.Dataset.from_list([*items, broken])
    task = ConfigurableTask(
        config={
            "task": "sql",
            "custom_dataset": lambda **_: {"test": rows},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{question}}",
            "doc_to_target": "{{gold}}",
            "process_results": processor(sample.db),
            "metric_list": [{"metric": "sql", "aggregation": mean_of_scored, "higher_is_better": True}],
        }
    )
    found = evaluate(lm=Said(), task_dict={"sql": task}, bootstrap_iters=0)
    assert found is not None
    assert found["results"]["sql"]["sql,none"] == pytest.approx(sum(expected(len(items))) / len(items))


def test_mlflow(sample: Sample, items: list[dict[str, Any]]) -> None:
    """MLflow's own scorer."""
    pytest.importorskip("mlflow.genai.scorers")
    from sqlgauge.integrations.mlflow import sql_scorer

    scorer = sql_scorer(sample.db)
    values = [
        scorer(inputs={"question": item["question"]}, outputs=text, expectations=item).value
        for text, item in zip(answers(items), items)
    ]
    assert values == expected(len(items))


def test_dspy(sample: Sample, items: list[dict[str, Any]]) -> None:
    """In DSPy's own evaluator."""
    dspy = pytest.importorskip("dspy")
    from sqlgauge.integrations.dspy import sql_metric

    said = dict(zip((item["question"] for item in items), answers(items)))

    class Program(dspy.Module):  # type: ignore[misc, name-defined]
        def forward(self, question: str) -> Any:
            return dspy.Prediction(sql=said[question])

    examples = [dspy.Example(**item).with_inputs("question") for item in items]
    metric = sql_metric(sample.db, witnesses=True)
    result = dspy.Evaluate(devset=examples, metric=metric, num_threads=1)(Program())
    assert result.score == pytest.approx(100 * sum(expected(len(items))) / len(items))
    told = metric(examples[0], dspy.Prediction(sql="nothing"), None, None, None)
    assert told.score == 0.0 and "no_sql" in told.feedback
