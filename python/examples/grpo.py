"""GRPO with TRL and a reward that guessing does not earn, small enough for a processor: ``python grpo.py``.

A GPT-2 of two layers, with random weights and a vocabulary of its own, is first shown the grammar of the answers in noisy pairs: two
of three questions have the query of a table drawn by chance. So it is right about four times in ten. Then ``GRPOTrainer``
asks the reward, and nothing else, which of its guesses were right.

It needs ``pip install sqlgauge trl torch``, and no data: the databases are those of ``sqlgauge demo``.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import sqlgauge as sg
from sqlgauge._program import program
from sqlgauge.integrations.trl import sql_reward

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"


def questions_of(databases: Path) -> list[dict[str, str]]:
    """How many rows each table has, with the query that tells."""
    found = []
    for file in sorted(databases.glob("*/*.sqlite")):
        for table in sg.Database(file).tables:
            found.append({"prompt": f"rows of {file.stem} {table} ?", "gold": f"SELECT count(*) FROM {table}", "db_id": file.stem})
    return found


def tokenizer_of(questions: list[dict[str, str]]) -> PreTrainedTokenizerFast:
    """A token for each word; a table is not written with the word that a question has for it."""
    asked = sorted({word for one in questions for word in one["prompt"].split()})
    said = sorted({word for one in questions for word in one["gold"].split()} - set(asked))
    words = [PAD, END, UNKNOWN, *asked, *said]
    tokens = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token=UNKNOWN))
    tokens.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokens, pad_token=PAD, eos_token=END, unk_token=UNKNOWN)


def model_of(tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    """A model with random weights."""
    ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), n_positions=32, n_embd=64, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **ends)
    )


def show_the_grammar(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, questions: list[dict[str, str]], steps: int) -> None:
    """Teaches what a query looks like from noisy pairs: two of three questions have the query of a table drawn by chance."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        asked = torch.randint(len(questions), (32,))
        drawn = torch.randint(len(questions), (32,))
        pairs = zip(asked.tolist(), torch.where(torch.rand(32) < 1 / 3, asked, drawn).tolist())
        rows = [tokenizer(f"{questions[asked]['prompt']} {questions[said]['gold']} {END}")["input_ids"] for asked, said in pairs]
        ids = torch.tensor(rows)
        labels = ids.clone()
        labels[:, : len(tokenizer(questions[0]["prompt"])["input_ids"])] = -100
        loss = model(input_ids=ids, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def train(databases: Path, out: Path, *, steps: int = 60, seed: int = 0) -> list[float]:
    """Trains, and returns the mean reward of each batch of answers, on which two steps are made."""
    torch.manual_seed(seed)
    questions = questions_of(databases)
    tokenizer = tokenizer_of(questions)
    model = model_of(tokenizer)
    show_the_grammar(model, tokenizer, questions, steps=600)
    settings: dict[str, Any] = {
        "use_cpu": True,
        "bf16": False,
        "report_to": [],
        "save_strategy": "no",
        "disable_tqdm": True,
        "logging_steps": 1,
    }
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[sql_reward(databases, witnesses=True)],
        train_dataset=Dataset.from_list(questions * 64),
        args=GRPOConfig(
            output_dir=str(out),
            max_steps=steps,
            seed=seed,
            per_device_train_batch_size=128,
            num_generations=8,
            max_completion_length=6,
            learning_rate=1e-3,
            lr_scheduler_type="constant",
            num_iterations=2,
            beta=0.0,
            **settings,
        ),
    )
    trainer.train()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


def main() -> None:
    """Trains on the sample and prints how the reward rises."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="steps of training")
    steps = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample"
        subprocess.run([program(), "demo", "--out", sample], check=True, capture_output=True)
        rewards = train(sample / "benchmark" / "database", Path(folder) / "out", steps=steps)
    for first in range(0, len(rewards), 5):
        some = rewards[first : first + 5]
        print(f"batches {first + 1:>3} to {first + len(some):>3}: mean reward {sum(some) / len(some):.3f}")


if __name__ == "__main__":
    main()
