"""How many labels until a number is sure: real systems, their official outcomes hidden until a method asks for them.

python research/labels/labels.py --data ../shared/data --cache /tmp/labels [--systems N] [--runs M] [--size small]
    [--only bound,accuracy,pairs,leaderboard,person] [--seed 1] > rows.tsv

Needs numpy. CACHE keeps the results of all queries. Prints one row per benchmark, proxy, method and bound: labels of the median system and of the worst tenth of systems (each system by
its median run), their ratio to random sampling (Wilson's interval, corrected for a finite population, in one look), how often the last
interval holds the truth, how often all intervals on the way do, and the mean error in points. `--size small` is a check of minutes.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import answers
from answers import FAILS
from proxies import agreements, by_other_systems, family, fit, sigmoid, transferred
from sampling import Plan, fixed, flat, planned, robbins, simulate, stratified, wilson

HALVES = {"superhero": 0.08}  # 129 questions: 3 points need nearly all of them
ROWS_AT_ONCE = 150


def proxies(benchmarks):
    """By benchmark and proxy: systems × items × features; the second feature is the logit of being right."""
    table = {}
    for name, count in (("peers", None), ("4 peers", 4)):
        features = {b.name: agreements(b, count) for b in benchmarks}
        runs = {b.name: b.classes[: len(b.systems)] != FAILS for b in benchmarks}
        for b in benchmarks:
            others = [o for o in benchmarks if o.name != b.name and "spider" in (o.name, b.name)]
            table[b.name, name] = transferred(features[b.name], [(features[o.name], o.right, runs[o.name]) for o in others])
    for b in benchmarks:
        logits = by_other_systems(b)
        table[b.name, "alone"] = np.stack([np.ones_like(logits), logits], axis=-1)
    return table


def disturbed(x, mode, rng):
    x = x.copy()
    if mode == "random":
        for row in x:
            row[:] = row[rng.permutation(len(row))]
    elif mode == "confident":  # sure of a coin
        x[..., 1] = rng.choice([-4.0, 4.0], x.shape[:-1])
        x[..., 2:] = 0
    elif mode == "reversed":
        x[..., 1:] *= -1
    return x


def runs_of(benchmark, rows):
    """An answer that does not run is wrong with no label, where it ran on the real engine."""
    ran = benchmark.classes[rows] != FAILS
    return np.ones_like(ran) if benchmark.name == "platinum" else ran


def half(benchmark):
    return HALVES.get(benchmark.name, 0.03)


def parts(rows):
    return np.array_split(rows, max(1, -(-len(rows) // ROWS_AT_ONCE)))


def gathered(rows, work):
    """`work` on parts of the rows: {bound: [labels, estimate, width, missed]} joined."""
    done = [work(part) for part in parts(rows)]
    return {bound: [np.concatenate([one[bound][at] for one in done]) for at in range(4)] for bound in done[0]}


def by_system(labels, rows, quantile):
    return np.quantile([np.median(labels[rows == row]) for row in np.unique(rows)], quantile)


def report(cells, ends, rows, truth, random):
    for bound, (labels, estimate, width, missed) in ends.items():
        error = estimate - truth
        holds = np.abs(error) <= np.maximum(width, 0) + 1e-9
        ratio = np.median([np.median(labels[rows == row]) / random[row] for row in np.unique(rows)])
        worst = np.quantile([np.median(labels[rows == row]) / random[row] for row in np.unique(rows)], 0.9)
        low = min(holds[rows == row].mean() for row in np.unique(rows))
        figures = [f"{by_system(labels, rows, 0.5):.0f}", f"{by_system(labels, rows, 0.9):.0f}", f"{ratio:.2f}", f"{worst:.2f}"]
        figures += [f"{100 * holds.mean():.1f}", f"{100 * (1 - missed.mean()):.1f}", f"{100 * low:.0f}", f"{100 * error.mean():+.2f}", str(len(rows))]
        print("\t".join([*cells, bound, *figures]), flush=True)


def baseline(benchmark, systems, count, rng):
    rows = np.repeat(systems, count)
    labels, estimate, width = wilson(benchmark.right[rows].astype(float), half(benchmark), rng)
    random = {row: np.median(labels[rows == row]) for row in systems}
    ends = {"one look": [labels, estimate, width, np.abs(estimate - benchmark.right[rows].mean(1)) > width]}
    return random, ends, rows


def bound(benchmark, table, systems):
    """What no method on these proxies can beat in one look: chances by the spread that is left when all outcomes are known to the fit."""
    z = 1.96
    for name in ("peers", "4 peers", "alone"):
        ratios = []
        for at in systems:
            ran, y = runs_of(benchmark, np.array([at]))[0], benchmark.right[at]
            x = table[benchmark.name, name][at][ran]
            p = sigmoid(x @ fit(x, y[ran]))
            room, variance = (half(benchmark) * len(y) / z) ** 2, len(y) * y.mean() * (1 - y.mean())
            ratios.append((np.sqrt(p * (1 - p)).sum() ** 2 / (room + (p * (1 - p)).sum())) / (len(y) * variance / (room + variance)))
        print(f"# bound\t{benchmark.name}\t{name}\tof random: median {np.median(ratios):.2f}, worst tenth {np.quantile(ratios, 0.9):.2f}", flush=True)


def accuracy(benchmark, table, systems, count, rng, modes):
    random, ends, rows = baseline(benchmark, systems, count, rng)
    truth = benchmark.right[rows].mean(1)
    report(["accuracy", benchmark.name, "none", "random, Wilson"], ends, rows, truth, random)
    asymptotic = {"planned": planned(), "flat": flat(), "robbins": robbins(), "one look": fixed()}
    for mode in modes:
        name = mode if (benchmark.name, mode) in table else "peers"
        choices = [("active", Plan(), asymptotic if mode == "peers" else {"planned": planned()})]
        if mode in ("peers", "reversed"):
            choices += [("active", Plan(), {"bet": None})]
        if mode == "peers":
            choices += [("random", Plan(uniform=True), asymptotic), ("random", Plan(uniform=True), {"bet": None})]
        for label, plan, bounds in choices:
            def work(part):
                ran = np.ones((len(part), benchmark.right.shape[1]), bool) if plan.uniform else runs_of(benchmark, part)
                x = disturbed(table[benchmark.name, name][part], mode, rng)
                return simulate((benchmark.right[part] * ran).astype(float)[None], x[None], ran[None], ~ran, half(benchmark), plan, rng, ran.shape[1], bounds, truth=benchmark.right[part].sum(1))[0]

            report(["accuracy", benchmark.name, mode, label], gathered(rows, work), rows, truth, random)
        for neyman in (False, True) if mode in ("peers", "reversed") else ():
            x, ran = disturbed(table[benchmark.name, name][rows], mode, rng), runs_of(benchmark, rows)
            labels, estimate, width = stratified((benchmark.right[rows] * ran).astype(float), sigmoid(x[..., 1]), ~ran, half(benchmark), rng, neyman)
            ends = {"one look": [labels, estimate, width, np.abs(estimate - truth) > width]}
            report(["accuracy", benchmark.name, mode, "stratified PPI++" + (", Neyman" if neyman else "")], ends, rows, truth, random)


def pairs(benchmark, table, systems, count, rng, number=40):
    """Pairs of different families, 2 points apart or more; only questions with two results need a label."""
    right, items = benchmark.right, benchmark.right.shape[1]
    every = [(a, b) for a in systems for b in systems if a != b and family(benchmark.systems[a]) != family(benchmark.systems[b]) and 0.02 <= right[a].mean() - right[b].mean() <= 0.12]
    every = [every[at] for at in rng.permutation(len(every))[:number]]
    texts = [[" ".join(sql.lower().split()) for sql in row] for row in benchmark.queries]
    if not every:
        return print(f"# no pair of two families\t{benchmark.name}")
    rows = np.repeat(np.arange(len(every)), count)
    a, b = (np.array(every)[rows, side] for side in (0, 1))
    truth = right[a].mean(1) - right[b].mean(1)
    same = np.array([benchmark.classes[one] == benchmark.classes[two] if benchmark.name in ("spider", "superhero") else np.array(texts[one]) == np.array(texts[two]) for one, two in every])
    for goal, sign, bounds in (("A better than B", True, {"robbins": robbins()}), ("difference", False, {"planned": planned()})):
        random = None
        for label, plan in (("random", Plan(uniform=True)), ("active", Plan())):
            def work(part):
                one, two, row = a[part], b[part], rows[part]
                ran = np.stack([runs_of(benchmark, one), runs_of(benchmark, two)])
                y = np.stack([right[one], right[two]]) * ran
                free = np.zeros_like(ran[0]) if plan.uniform else (~ran[0] & ~ran[1]) | same[row]
                x = np.stack([table[benchmark.name, "peers"][side] for side in (one, two)])
                return simulate(y.astype(float), x, ran if not plan.uniform else np.ones_like(ran), free, half(benchmark), plan, rng, items, bounds, sign, truth=(right[one].sum(1) - right[two].sum(1)))[0]

            ends = gathered(np.arange(len(rows)), work)
            labels, estimate = next(iter(ends.values()))[:2]
            random = random or {row: np.median(labels[rows == row]) for row in np.unique(rows)}
            report([goal, benchmark.name, "peers", label], ends, rows, truth, random)
            if sign:
                print(f"# {goal}\t{benchmark.name}\t{label}\twrong winner, percent\t{100 * (estimate <= 0).mean():.2f}", flush=True)


def leaderboard(benchmark, table, systems, count, rng):
    """One question labels the answers of all systems; labels until each accuracy is within the width."""
    ran = runs_of(benchmark, systems)
    y = (benchmark.right[systems] * ran).astype(float)
    for label, plan in (("random", Plan(uniform=True, shared=True)), ("active", Plan(shared=True))):
        questions, verdicts, hold = [], [], []
        for _ in range(count):
            ends, state = simulate(y[None], table[benchmark.name, "peers"][systems][None], ran[None], np.zeros_like(ran), half(benchmark), plan, rng, y.shape[1], {"planned": planned()})
            labels, estimate, width, _ = ends["planned"]
            picks = [chosen[0] for chosen in state.picks[: labels.max()]]
            questions.append(labels.max())
            verdicts.append(sum(len(set(benchmark.classes[systems, item]) - {FAILS}) for item in picks))
            hold.append((np.abs(estimate - y.mean(1)) <= width + 1e-9).mean())
        print(f"# leaderboard of {len(systems)}\t{benchmark.name}\t{label}\tquestions {np.median(questions):.0f}\tresults judged {np.median(verdicts):.0f}\tintervals that hold, percent {100 * np.mean(hold):.1f}", flush=True)


def person(benchmark, table, systems, count, rng):
    """A person who errs in a share of the labels; the truth is the official one."""
    random, _, rows = baseline(benchmark, systems, count, rng)
    for share in (0.0, 0.02, 0.05):
        def work(part):
            ran = runs_of(benchmark, part)
            y = (benchmark.right[part] ^ (rng.random(ran.shape) < share)) * ran
            return simulate(y.astype(float)[None], table[benchmark.name, "peers"][part][None], ran[None], ~ran, half(benchmark), Plan(), rng, ran.shape[1], {"planned": planned()}, truth=benchmark.right[part].sum(1))[0]

        report([f"person errs in {100 * share:.0f} %", benchmark.name, "peers", "active"], gathered(rows, work), rows, benchmark.right[rows].mean(1), random)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--size", choices=["small", "full"], default="full")
    parser.add_argument("--only", default="bound,accuracy,pairs,leaderboard,person")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    benchmarks = [read(arguments.data, arguments.cache) for read in (answers.spider, answers.superhero, answers.platinum, answers.bird)]
    table = proxies(benchmarks)
    print("question\tbenchmark\tproxy\tmethod\tbound\tlabels\tworst tenth\tof random\tworst tenth\tholds\tholds always\tworst system\tbias\truns")
    for b in benchmarks:
        rng = np.random.default_rng([arguments.seed, len(b.systems)])
        systems = np.unique(np.linspace(0, len(b.systems) - 1, min(arguments.systems, len(b.systems))).astype(int))
        if arguments.size == "small":
            systems = systems[:: max(1, len(systems) // 6)]
        # As many runs for each benchmark: BIRD has fewer systems.
        count = max(1, round(arguments.runs * max(1, 56 / len(b.systems)))) if arguments.size == "full" else arguments.runs
        modes = ["peers", "4 peers", "alone", "random", "confident", "reversed"] if arguments.size == "full" else ["peers", "random", "reversed"]
        if "bound" in arguments.only:
            bound(b, table, systems)
        if "accuracy" in arguments.only:
            accuracy(b, table, systems, count, rng, modes)
        if "pairs" in arguments.only:
            pairs(b, table, systems, max(1, arguments.runs // 3), rng)
        if "leaderboard" in arguments.only:
            leaderboard(b, table, systems, max(1, arguments.runs // 3), rng)
        if "person" in arguments.only:
            person(b, table, systems, max(1, count // 2), rng)


if __name__ == "__main__":
    sys.exit(main())
