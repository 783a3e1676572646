"""Twenty-one systems with published grades: ours beside theirs where rows are at hand, and their ranks by each kind of grade.

python research/golds/platinum.py DATA OUT     writes the answers on superhero to OUT, and the command that scores them
python research/golds/platinum.py DATA OUT RUN prints the table

DATA holds `bird_platinum`. A published grade is by sets, as BIRD's own, or strict. Each is compared with ours on the items that the
run has and that were graded against the same gold: `ex-bird` with the grade by sets, `ex` with the strict one.
"""

import json
import sys
from pathlib import Path

OURS = {"bird_grading": "ex-bird@1", "strict_grading": "ex@1"}


def systems(data):
    """By name the graded items; `same` says whether the gold is that of the first system."""
    found, golds = {}, {}
    for path in sorted((data / "bird_platinum").glob("*.json")):
        items = json.loads(path.read_text(encoding="utf-8"))["detailed_results"]
        golds = golds or {str(item["question_id"]): item["ground_truth"].split() for item in items}
        for item in items:
            item["same"] = golds.get(str(item["question_id"])) == item["ground_truth"].split()
        found[path.stem.replace("_evaluation", "")] = items
    return found


def write(data, out):
    out.mkdir(parents=True, exist_ok=True)
    names, golds = [], {}
    for name, items in systems(data).items():
        own = [item for item in items if item["db_id"] == "superhero" and item["same"]]
        if not own:
            continue
        golds.update({str(item["question_id"]): item["ground_truth"] for item in own})
        rows = [{"id": str(item["question_id"]), "prediction": item["prediction"]} for item in own]
        path = out / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        names.append(f"--pred {name}={path}")
    rows = [{"id": id, "db_id": "superhero", "gold": gold} for id, gold in golds.items()]
    (out / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"sqlgauge score --gold {out / 'gold.jsonl'} --db {data / 'bird/database'} --metrics ex,ex-bird \\")
    print(" \\\n".join(["  " + one for one in names] + [f"  --out {out / 'run'}"]))


def ranks(shares):
    return {name: 1 + sum(other > own for other in shares.values()) for name, own in shares.items()}


def table(data, run):
    graded = systems(data)
    ours = {}
    with open(run / "items.jsonl", encoding="utf-8") as lines:
        for item in map(json.loads, lines):
            ours[item["system"], item["id"]] = item["metrics"]
    share = {kind: {} for kind in OURS}
    for kind in OURS:
        for name, items in graded.items():
            share[kind][name] = sum(item[kind] for item in items) / len(items)
    rank = {kind: ranks(share[kind]) for kind in OURS}
    print("| system | graded | by sets, all | strict, all | superhero: by sets, `ex-bird` agrees | strict, `ex` agrees |")
    print("|---|---:|---:|---:|---:|---:|")
    totals = {kind: [0, 0] for kind in OURS}
    for name in sorted(graded, key=lambda name: -share["bird_grading"][name]):
        cells = [name, str(len(graded[name]))]
        cells += [f"{100 * share[kind][name]:.1f} #{rank[kind][name]}" for kind in OURS]
        for kind, metric in OURS.items():
            same = [item for item in graded[name] if item["same"]]
            own = [(item[kind], ours.get((name, str(item["question_id"])), {}).get(metric)) for item in same]
            own = [(theirs, value == 1.0) for theirs, value in own if value is not None]
            right, agree = sum(theirs for theirs, _ in own), sum(theirs == value for theirs, value in own)
            totals[kind][0] += agree
            totals[kind][1] += len(own)
            cells.append(f"{right} of {len(own)}, ours {sum(value for _, value in own)}, {agree} agree")
        print("| " + " | ".join(cells) + " |")
    pairs = [(a, b) for a in graded for b in graded if a < b]
    signs = [[(s[a] > s[b]) - (s[a] < s[b]) for a, b in pairs] for s in share.values()]
    products = [x * y for x, y in zip(*signs)]
    print(f"\n{len(pairs)} pairs of systems: {products.count(1)} stand in the same order by both grades, {products.count(-1)} in the other.")
    for kind, metric in OURS.items():
        print(f"{metric} agrees with {kind} in {totals[kind][0]} of {totals[kind][1]}.")


def main():
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    if len(sys.argv) == 3:
        write(data, out)
    else:
        table(data, Path(sys.argv[3]))


if __name__ == "__main__":
    main()
