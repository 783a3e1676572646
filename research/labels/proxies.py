"""How likely each answer is right, before any label: from agreement with other systems, or from the answer alone."""

import re

import numpy as np

from answers import FAILS

FAMILIES = ("codellama", "rsl_sql", "deepseek", "llama2", "llama3", "llama-3", "starcoder", "codes", "qwen3", "qwen", "sqlcoder", "symbol", "dinrepo", "metasql", "granite", "arctic", "resdsql", "dail", "chatgpt")
EDGE = 0.02
AGREES = 4  # features whose weights are carried over


def logit(p):
    p = np.clip(p, EDGE, 1 - EDGE)
    return np.log(p / (1 - p))


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def family(name):
    lowered = name.lower().replace("_coder", "-coder")
    return next((word for word in FAMILIES if word in lowered), lowered)


def words(sql):
    """What a query names, without its aliases."""
    low = re.sub(r"\bt\d+\.|\bas t\d+\b|\bt\d+\b", "", re.sub(r"[`\"\[\]]", "", sql.lower()))
    return frozenset(re.findall(r"[a-z_]\w*|\d+|'[^']*'|[<>=]+", low))


def families(benchmark):
    return [family(benchmark.systems[at]) if at < len(benchmark.systems) else f"peer {at}" for at in range(len(benchmark.classes))]


def consensus(benchmark):
    """How often each system has the result of the systems of other families: a guess of its accuracy with no label."""
    groups, classes = families(benchmark), benchmark.classes
    return np.array([np.mean([((own == other) & (own != FAILS)).mean() for other, theirs in zip(classes, groups) if theirs != group]) for own, group in zip(classes, groups)])


def agreement(benchmark, accuracy, texts, at, peers):
    """1, logit of the share of peers with this result, is it the largest class, is it empty; then the share with each family's
    weight shared and systems weighted by `accuracy`, that of the five best peers, shared words: mean and three nearest."""
    own, others = benchmark.classes[at], benchmark.classes[peers]
    same = (others == own) & (own != FAILS)
    largest = np.zeros(len(own))
    for item in range(len(own)):
        ran = others[:, item][others[:, item] != FAILS]
        most = np.bincount(ran).max() if len(ran) else 0
        largest[item] = own[item] != FAILS and same[:, item].sum() + 1 >= most
    shared = np.array([[len(one & other) / max(1, len(one | other)) for one, other in zip(texts[at], texts[p])] for p in peers])
    nearest = np.sort(shared, axis=0)[-3:].mean(0)
    plain = logit((same.sum(0) + 0.5) / (len(peers) + 1))
    groups = families(benchmark)
    weights = np.array([np.exp(4 * accuracy[p]) / sum(groups[p] == groups[other] for other in peers) for p in peers])
    weighted = logit((weights @ same / weights.sum() + 0.02) / 1.04)
    best = same[np.argsort(-accuracy[peers])[:5]].mean(0)
    return np.stack([np.ones(len(own)), plain, largest, benchmark.empty[at], weighted - plain, best, 3 * shared.mean(0), 3 * nearest], axis=1)


def alone(benchmark, at):
    rows = []
    for sql, empty in zip(benchmark.queries[at], benchmark.empty[at]):
        low = sql.lower()
        words = len(re.findall(r"\w+", low))
        rows.append([1, empty, np.log1p(words), low.count(" join "), low.count("select") - 1, "group by" in low, "order by" in low, low.count("'") / 2, low.count(" or "), " in " in low])
    return np.array(rows, dtype=float)


def fit(x, y, ridge=1.0):
    beta = np.zeros(x.shape[1])
    for _ in range(25):
        p = sigmoid(x @ beta)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(beta))
        beta += np.linalg.solve(hessian, x.T @ (y - p) - ridge * beta)
    return beta


def peers_of(benchmark, at, count=None):
    """All systems of other families (`benchmark` may hold peers whose outcome is unknown), or a draw of `count`."""
    total = len(benchmark.classes)
    own = family(benchmark.systems[at])
    others = [p for p in range(total) if p != at and (p >= len(benchmark.systems) or family(benchmark.systems[p]) != own)]
    return others if count is None else list(np.random.default_rng(at).permutation(others)[:count])


def agreements(benchmark, count=None):
    texts = [[words(sql) for sql in row] for row in benchmark.queries]
    accuracy = consensus(benchmark)
    return [agreement(benchmark, accuracy, texts, at, peers_of(benchmark, at, count)) for at in range(len(benchmark.systems))]


def transferred(features, elsewhere):
    """1, logit of a regression of the results' agreement that is fitted on the other benchmarks, the others around their mean.

    `elsewhere`: (features, outcomes, answers that run) of each. The others get a weight from labels alone: they mean
    more or less where databases are real.
    """
    x = np.concatenate([row[ran, :AGREES] for rows, _, runs in elsewhere for row, ran in zip(rows, runs)])
    y = np.concatenate([right[ran] for _, rights, runs in elsewhere for right, ran in zip(rights, runs)])
    beta = fit(x, y)
    rows = [[np.ones(len(row)), row[:, :AGREES] @ beta, *(row[:, AGREES:] - row[:, AGREES:].mean(0)).T] for row in features]
    return np.array(rows).transpose(0, 2, 1)


def by_other_systems(benchmark):
    """Logits from the answer alone: fitted on systems of other families, on other databases."""
    features = [alone(benchmark, at) for at in range(len(benchmark.systems))]
    names = sorted(set(benchmark.databases))
    folds = np.array([names.index(db) % 5 for db in benchmark.databases])
    families = [family(name) for name in benchmark.systems]
    logits = np.zeros(benchmark.right.shape)
    for one in set(families):
        others = [at for at, name in enumerate(families) if name != one]
        for fold in range(5):
            keep = [(folds != fold) & (benchmark.classes[at] != FAILS) for at in others]
            beta = fit(np.concatenate([features[at][k] for at, k in zip(others, keep)]), np.concatenate([benchmark.right[at][k] for at, k in zip(others, keep)]))
            for at, name in enumerate(families):
                if name == one:
                    logits[at, folds == fold] = features[at][folds == fold] @ beta
    return logits
