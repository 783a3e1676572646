"""The program's own figures: `sqlgauge label plan` and `trial` on every Spider system, with systems of other families as peers.

python research/labels/trial.py --data ../shared/data --sqlgauge target/debug/sqlgauge --work /tmp/label-trial [--systems 56] [--runs 36]
    [--peers all|families|4] [--proxy peers|shuffled|coin|reversed|none] > rows.tsv

Needs no package. A row as in rows.tsv: labels of the median system and of the worst tenth, their ratio to random sampling's, how often the last
interval holds the truth, the worst system, the mean error in points, runs. `--proxy` disturbs the features of each plan before the trial.
"""

import argparse
import json
import random
import re
import subprocess
from pathlib import Path
from statistics import mean, median

FAMILIES = ("codellama", "rsl_sql", "deepseek", "llama2", "llama3", "llama-3", "starcoder", "codes", "qwen3", "qwen", "sqlcoder", "symbol", "dinrepo", "metasql", "granite", "arctic", "resdsql", "dail", "chatgpt")


def family(name):
    lowered = name.lower().replace("_coder", "-coder")
    return next((word for word in FAMILIES if word in lowered), lowered)


def disturb(plan, mode, draw):
    """As `disturbed` of labels.py: what the proxy says, given to other questions, tossed, or turned round."""
    answers = [item["answers"][0] for item in plan["items"]]
    if mode == "shuffled":
        features = [answer["features"] for answer in answers]
        draw.shuffle(features)
        for answer, row in zip(answers, features):
            answer["features"] = row
    for answer in answers:
        row = answer["features"]
        if mode == "coin":
            answer["features"] = [1.0, draw.choice([-4.0, 4.0])]
        elif mode == "reversed":
            answer["features"] = [1.0] + [-value for value in row[1:]]
        elif mode == "none":
            answer["features"] = [1.0, 0.0]


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sqlgauge", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=36)
    parser.add_argument("--peers", default="all")
    parser.add_argument("--proxy", default="peers")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder, work = arguments.data / "spider", arguments.work
    work.mkdir(parents=True, exist_ok=True)
    count = len((folder / "dev_gold.sql").read_text().splitlines())
    every = []
    for path in sorted((folder / "oracle/dev").glob("*.jsonl")):
        queries = (folder / f"predictions/dev/{path.stem}.sql").read_text(errors="replace").split("\n")[:count]
        if len(path.read_text().splitlines()) == len(queries) == count:
            every.append(path.stem)
            # As the official scripts read them: one line, `value` is 1.
            rows = [{"id": str(at), "sql": re.sub(r"\bvalue\b", "1", sql)} for at, sql in enumerate(queries)]
            (work / f"{path.stem}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
            labels = [json.loads(line) for line in path.read_text().splitlines()]
            (work / f"{path.stem}.tsv").write_text("id\tcorrect\n" + "".join(f"{row['i']}\t{row['ex_keep_distinct']}\n" for row in labels))
    questions = [{"id": str(at), **{key: row[key] for key in ("db_id", "question")}} for at, row in enumerate(json.loads((folder / "dev.json").read_text()))]
    (work / "questions.json").write_text(json.dumps(questions))
    step = max(1, len(every) / arguments.systems)
    rows, draw = [], random.Random(arguments.seed)
    for name in [every[int(at * step)] for at in range(round(len(every) / step))]:
        plain = work / "plans" / arguments.peers / name
        plan = plain if arguments.proxy == "peers" else work / "plans" / arguments.proxy / name
        if not (plain / "plan.json").exists():
            others = [peer for peer in every if family(peer) != family(name)]
            if arguments.peers == "families":
                others = list({family(peer): peer for peer in others}.values())
            elif arguments.peers != "all":
                others = random.Random(name).sample(others, int(arguments.peers))
            peers = [f"--peer={peer}={work}/{peer}.jsonl" for peer in others]
            command = [arguments.sqlgauge, "label", "plan", "--questions", work / "questions.json", "--db", folder / "database", f"--pred={name}={work}/{name}.jsonl", *peers, "--timeout", "1", "--out", plain, "--quiet"]
            subprocess.run(command, check=True)
        if arguments.proxy != "peers":
            content = json.loads((plain / "plan.json").read_text())
            disturb(content, arguments.proxy, draw)
            plan.mkdir(parents=True, exist_ok=True)
            (plan / "plan.json").write_text(json.dumps(content))
        command = [arguments.sqlgauge, "label", "trial", "--in", plan, "--oracle", work / f"{name}.tsv", "--runs", str(arguments.runs), "--seed", str(arguments.seed), "--json"]
        trial = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[0]
        errors = [estimate - trial["truth"] for estimate in trial["estimates"]]
        holds = [abs(error) <= radius + 1e-9 for error, radius in zip(errors, trial["radii"])]
        rows.append((median(trial["labels"]), median(trial["labels"]) / median(trial["random"]), mean(holds), mean(errors), median(trial["random"])))
        print("#", name, *rows[-1], flush=True)
    labels, ratios, holds, errors, baseline = zip(*rows)
    print("question\tbenchmark\tproxy\tmethod\tbound\tlabels\tworst tenth\tof random\tworst tenth\tholds\tworst system\tbias\truns")
    print(f"accuracy\tspider\tnone\trandom, Wilson\tone look\t{median(baseline):.0f}\t{quantile(baseline, 0.9):.0f}")
    figures = [f"{median(labels):.0f}", f"{quantile(labels, 0.9):.0f}", f"{median(ratios):.2f}", f"{quantile(ratios, 0.9):.2f}", f"{100 * mean(holds):.1f}", f"{100 * min(holds):.0f}", f"{100 * mean(errors):+.2f}", str(len(rows) * arguments.runs)]
    print("\t".join(["accuracy", "spider", f"{arguments.peers} {arguments.proxy}", "sqlgauge label", "planned", *figures]))


if __name__ == "__main__":
    main()
