"""How far estimates of one system are off, by how many of its answers are labelled.

python research/estimation-real-model/error_by_labels.py DATA WORK --target NAME=QUESTIONS,ANSWERS,DB [--target …]
    [--llm-url URL --llm-model NAME --llm-concurrency 1 --count 5000 | --known QUESTIONS,ANSWERS,DB] [--sizes 100,250,500,1000]
    [--draws 3] [--seed 7]

DATA is the folder with `spider/`. The labelled answers are those of `--known`, or the script asks a server for them: `--count` questions
of Spider's training set, over all its databases. `sqlgauge predict` keeps each answer as it comes. So the same command goes on where it
stopped, also with a larger `--count`. `--known` and `--target` name a JSON file of questions with golds, the answers to them as `predict`
writes them, and the folder of the databases. WORK keeps all that is written.

For each size, `--draws` sets are drawn from the labelled answers. The script prints a row for each size and method: the mean absolute
error over the targets, its standard deviation over the draws, how many intervals hold, and their mean half-width. `--sqlgauge` is the
path of the program.
"""

import argparse
import json
import random
import statistics
import subprocess
from pathlib import Path

METHODS = ["source", "atc-mc", "auto", "fusion"]


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", check=False)
    # 1 says that some questions have no answer, or that an alarm was raised.
    if done.returncode not in (0, 1):
        raise SystemExit(f"sqlgauge {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def drawn(data, count, seed):
    items = json.loads((data / "spider/variants/spider_syn_train.json").read_text(encoding="utf-8"))
    items = [
        {"id": str(at), "db_id": item["db_id"], "question": item["SpiderQuestion"], "query": item["query"]}
        for at, item in enumerate(items)
        if (data / "spider/train_database" / item["db_id"]).is_dir()
    ]
    random.Random(seed).shuffle(items)
    return items[:count]


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def answered(path):
    """The answers with SQL, by id as a text: `predict` writes a text, other programs a number."""
    answers = [{**answer, "id": str(answer["id"])} for answer in lines(path)]
    return {answer["id"]: answer for answer in answers if answer["sql"] is not None}


def labelled(arguments):
    """The questions that have an answer, in the order in which they were drawn, the answers by id, and the databases."""
    if arguments.known:
        questions, file, db = arguments.known.split(",")
        items = json.loads(Path(questions).read_text(encoding="utf-8"))
        questions = [{**item, "id": str(item.get("question_id", at))} for at, item in enumerate(items)]
        answers = answered(file)
        return [item for item in questions if item["id"] in answers], answers, Path(db)
    questions = drawn(arguments.data, arguments.count, arguments.seed)
    write(arguments.work / "asked.json", sorted(questions, key=lambda item: item["db_id"]))
    out = arguments.work / "answers.jsonl"
    db = arguments.data / "spider/train_database"
    run(
        *(arguments.sqlgauge, "predict", "--questions", arguments.work / "asked.json", "--db", db, "--out", out),
        *("--llm-url", arguments.llm_url, "--llm-model", arguments.llm_model, "--llm-concurrency", arguments.llm_concurrency),
        *("--llm-cache", arguments.work / "cache"),
    )
    answers = answered(out)
    return [item for item in questions if item["id"] in answers], answers, db


def scored(arguments, name, questions, answers, db):
    folder = arguments.work / name
    write(folder / "questions.json", questions)
    own = [answers[item["id"]] for item in questions]
    (folder / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in own), encoding="utf-8")
    inputs = ["--gold", folder / "questions.json", "--db", db, "--pred", f"system={folder / 'answers.jsonl'}"]
    run(arguments.sqlgauge, "score", *inputs, "--metrics", "ex", "--out", folder / "run")
    return folder / "run"


def accuracy(folder):
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary["systems"][0]["scores"]["ex@1"]["mean"]


def errors(arguments, known, targets, method):
    """Of each target how far the estimate is off, whether its interval holds, and half of its width, in points."""
    for _, truth, questions, answers, db in targets:
        inputs = ["--questions", questions, "--pred", f"system={answers}", "--db", db]
        said = run(arguments.sqlgauge, "estimate", "--known", known, *inputs, "--method", method, "--json")
        said = json.loads(said)
        low, high = said["interval"]["low"], said["interval"]["high"]
        yield 100 * abs(said["accuracy"] - truth), low <= truth <= high, 50 * (high - low)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--known")
    parser.add_argument("--llm-url")
    parser.add_argument("--llm-model")
    parser.add_argument("--llm-concurrency", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--sizes", default="100,250,500,1000")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sqlgauge", default="sqlgauge")
    arguments = parser.parse_args()
    if not arguments.known and not (arguments.llm_url and arguments.llm_model):
        parser.error("name a server (--llm-url, --llm-model), or answers that are there (--known)")
    targets = []
    for target in arguments.target:
        name, paths = target.split("=", 1)
        questions, answers, db = paths.split(",")
        folder = arguments.work / "targets" / name
        inputs = ["--gold", questions, "--db", db, "--pred", f"system={answers}"]
        run(arguments.sqlgauge, "score", *inputs, "--metrics", "ex", "--out", folder)
        targets.append((name, accuracy(folder), questions, answers, db))
    print("truth: " + ", ".join(f"{name} {100 * truth:.1f}" for name, truth, *_ in targets))
    questions, answers, db = labelled(arguments)
    print(f"{len(questions)} labelled answers over {len({item['db_id'] for item in questions})} databases\n")
    print("| labelled | method | MAE | sd over draws | intervals that hold | half-width |\n|---|---|---|---|---|---|", flush=True)
    for size in map(int, arguments.sizes.split(",")):
        if size > len(questions):
            print(f"only {len(questions)} answers have a label, not {size}: ask for more with --count")
            break
        found, refused = {method: [] for method in METHODS}, {}
        for draw in range(arguments.draws if size < len(questions) else 1):
            own = random.Random(f"{arguments.seed} {draw}").sample(questions, size)
            known = scored(arguments, f"known-{size}-{draw}", own, answers, db)
            for method in METHODS:
                try:
                    found[method].append(list(errors(arguments, known, targets, method)))
                except SystemExit as refusal:
                    refused[method] = str(refusal).strip().splitlines()[-1]
        for method, draws in found.items():
            if method in refused:
                print(f"| {size} | {method} | {refused[method]} | | | |", flush=True)
                continue
            mean = [statistics.fmean(error for error, _, _ in draw) for draw in draws]
            every = [entry for draw in draws for entry in draw]
            spread = f"{statistics.stdev(mean):.1f}" if len(mean) > 1 else "–"
            held = sum(holds for _, holds, _ in every)
            half = statistics.fmean(half for _, _, half in every)
            print(f"| {size} | {method} | {statistics.fmean(mean):.1f} | {spread} | {held} of {len(every)} | {half:.1f} |", flush=True)


if __name__ == "__main__":
    main()
