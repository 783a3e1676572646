"""How predictable questions are to a language model: bits per token and per byte, by tier.

python research/questions/bits_per_token.py --server http://127.0.0.1:8091 --tables TABLES.json --out OUT.jsonl \\
    NAME=QUESTIONS [NAME=QUESTIONS …] [--per-tier 30] [--seed 7] [--beside NAME]

QUESTIONS is a corpus of `sqlgauge synth`, or a benchmark's questions with their tiers (`cargo run -p sqlgauge-synth --example wording
-- --jsonl --people dev.json tables.json`): lines of JSON with `db_id`, `question` and `tier`. `--per-tier` questions are drawn of each; files
of one name are one set. `--beside` says how many more bits a token of the other sets has than one of this set, over the tiers that
both have, with an interval of 95 % from a bootstrap over the questions of both.

The server is llama.cpp's. The model is shown the schema, as CREATE TABLE statements, and then the question is forced, token by token, by
a grammar that permits nothing else; the log-probabilities are the model's own, over all tokens, before the grammar. Each answer is
appended to OUT as it comes, and what OUT has is not asked again. Only Python's standard library is used.
"""

import argparse
import json
import math
import random
import statistics
import urllib.request
from collections import defaultdict
from pathlib import Path


def ddl(entry):
    """CREATE TABLE statements of an entry of `tables.json`."""
    columns = defaultdict(list)
    for (table, name), kind in zip(entry["column_names_original"], entry["column_types"]):
        if table >= 0:
            columns[table].append(f"{name} {kind}")
    named = enumerate(entry["table_names_original"])
    return "\n".join(f"CREATE TABLE {name} ({', '.join(columns[at])})" for at, name in named)


def read(path):
    with open(path, encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    asked = [item for item in items if item["question"]]
    return [{key: item[key].strip() for key in ("db_id", "question", "tier")} for item in asked]


def drawn(items, each, seed):
    by_tier = defaultdict(list)
    for item in items:
        by_tier[item["tier"]].append(item)
    picked = []
    for tier in sorted(by_tier):
        random.Random(f"{seed} {tier}").shuffle(by_tier[tier])
        picked += by_tier[tier][:each]
    return sorted(picked, key=lambda item: item["db_id"])


def post(server, path, body):
    request = urllib.request.Request(f"{server}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=900) as response:
        return json.load(response)


def forced(server, prompt, question):
    """The log-probability of each token of the question."""
    tokens = post(server, "tokenize", {"content": " " + question})["tokens"]
    body = {
        "prompt": prompt,
        "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens),
        "n_predict": len(tokens),
        "n_probs": 1,
        "temperature": 0,
        "cache_prompt": True,
    }
    said = post(server, "completion", body)["completion_probabilities"]
    if [token["id"] for token in said] != tokens:
        raise SystemExit(f"the server did not keep to the grammar for {question!r}; it must know tokens in grammars")
    return [token["logprob"] for token in said]


def per_token(asked):
    return -sum(sum(line["logprobs"]) for line in asked) / math.log(2) / sum(len(line["logprobs"]) for line in asked)


def print_beside(by_tier, base, seed):
    """How many more bits a token of each set has than one of `base`."""
    names = {name for name, _ in by_tier} - {base}
    print(f"\n| set | tier | questions | more bits per token than {base} |")
    print("|---|---|---|---|")
    for name in sorted(names):
        tiers = [tier for own, tier in by_tier if own == name and (base, tier) in by_tier]
        pairs = {tier: (by_tier[name, tier], by_tier[base, tier]) for tier in tiers}
        pairs["together"] = tuple(sum(lists, []) for lists in zip(*pairs.values()))
        for tier, (own, others) in pairs.items():
            dice = random.Random(f"{seed} {name} {tier}")
            again = [[dice.choices(part, k=len(part)) for part in (own, others)] for _ in range(2000)]
            ratios = sorted(per_token(ours) / per_token(theirs) for ours, theirs in again)
            low, point, high = (100 * (x - 1) for x in (ratios[50], per_token(own) / per_token(others), ratios[1949]))
            print(f"| {name} | {tier} | {len(own)} | {point:+.0f} % [{low:+.0f}, {high:+.0f}] |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", metavar="NAME=QUESTIONS")
    parser.add_argument("--server", required=True)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--per-tier", type=int, default=30)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--beside", metavar="NAME")
    arguments = parser.parse_args()
    schemas = {entry["db_id"]: ddl(entry) for entry in json.loads(arguments.tables.read_text(encoding="utf-8"))}
    known = {}
    if arguments.out.exists():
        known = {(line["set"], line["db_id"], line["question"]): line for line in map(json.loads, arguments.out.open())}
    rows, by_tier = defaultdict(list), defaultdict(list)
    for name, path in (text.split("=", 1) for text in arguments.sets):
        for item in drawn(read(path), arguments.per_tier, arguments.seed):
            key = name, item["db_id"], item["question"]
            if key not in known:
                prompt = f"{schemas[item['db_id']]}\n\n-- Question:"
                logprobs = forced(arguments.server, prompt, item["question"])
                known[key] = {"set": name, **item, "logprobs": logprobs}
                with arguments.out.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(known[key]) + "\n")
            rows[name, item["tier"]].append(known[key])
            rows[name, "together"].append(known[key])
            by_tier[name, item["tier"]].append(known[key])
    print("| set | tier | questions | tokens | bits per token | bits per byte |")
    print("|---|---|---|---|---|---|")
    for (name, tier), asked in rows.items():
        bits = [-sum(line["logprobs"]) / math.log(2) for line in asked]
        tokens = [len(line["logprobs"]) for line in asked]
        size = [len(line["question"].encode()) for line in asked]
        per_byte = sum(bits) / sum(size)
        print(f"| {name} | {tier} | {len(asked)} | {statistics.mean(tokens):.1f} | {per_token(asked):.2f} | {per_byte:.2f} |")
    if arguments.beside:
        print_beside(by_tier, arguments.beside, arguments.seed)


if __name__ == "__main__":
    main()
