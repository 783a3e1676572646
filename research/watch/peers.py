"""How often NannyML and Evidently ring with their defaults on the batches of `watch --series-out`, and how soon after a change.

    python research/watch/peers.py FILE...    # one row for each file, size of a batch and tool

The reference of each tool is all batches before the change. A batch rings if one of the two values of an answer does, as they are
watched: how sure the item model is, a number, and whether the answer runs, a category. Needs nannyml, evidently and pandas below 3.
"""

import argparse
import collections
import json
import os
import pathlib
import warnings

VALUES = ["confidence", "runs"]
# Neither of them sends what it is used for.
os.environ |= {"NML_DISABLE_USAGE_LOGGING": "1", "DO_NOT_TRACK": "1"}


def frame(batches):
    import pandas

    return pandas.DataFrame([value for batch in batches for value in batch], columns=VALUES)


def nannyml_drift(reference, later, size):
    """Its univariate drift: Jensen-Shannon distance above 0.1."""
    import nannyml

    calculator = nannyml.UnivariateDriftCalculator(VALUES, treat_as_categorical=["runs"], chunk_size=size)
    calculator.fit(frame(reference))
    return alerts(calculator.calculate(frame(later)), "jensen_shannon_alert")


def nannyml_mean(reference, later, size):
    """Its average of a column: outside three standard deviations of the reference's batches."""
    import nannyml

    calculator = nannyml.SummaryStatsAvgCalculator(VALUES, chunk_size=size)
    calculator.fit(frame(reference))
    return alerts(calculator.calculate(frame(later)), "alert")


def alerts(result, name):
    table = result.filter(period="analysis").to_df(multilevel=False)
    return table[[f"{value}_{name}" for value in VALUES]].any(axis=1).tolist()


def evidently(reference, later, _size):
    """Its drift of a column: the test that it chooses by kind, values and the size of the reference."""
    from evidently.legacy.calculations.stattests import get_stattest

    before = frame(reference)

    def drifts(value, now):
        kind = "cat" if value == "runs" else "num"
        test = get_stattest(before[value], now[value], kind, None)
        return test(before[value], now[value], kind, test.default_threshold).drifted

    return [any(drifts(value, frame([batch])) for value in VALUES) for batch in later]


TOOLS = {"NannyML, drift": nannyml_drift, "NannyML, mean": nannyml_mean, "Evidently": evidently}


# Files have series without a change in common: the tools see each once.
RINGS = {}


def rings(series):
    """For each tool, which batches of the year ring."""
    size, before, batches = series["size"], series["before"], series["batches"]
    key = hash(json.dumps(batches))
    if key not in RINGS:
        RINGS[key] = {"monitor": [at in series["rings"] for at in range(before, len(batches))]}
        RINGS[key] |= {name: tool(batches[:before], batches[before:], size) for name, tool in TOOLS.items()}
    return RINGS[key]


def rows(path):
    alarms, delays = collections.defaultdict(list), collections.defaultdict(list)
    for line in path.open():
        series = json.loads(line)
        for name, each in rings(series).items():
            if series["changed"]:
                delays[series["size"], name].append([*each, True].index(True) + 1)
            else:
                alarms[series["size"], name].append(sum(each))
    for (size, name), counts in alarms.items():
        late = sorted(delays[size, name])
        never = sum(delay > len(each) for delay in late)
        yield path.stem, size, name, f"{sum(counts) / len(counts):.2f}", late[len(late) // 2], late[len(late) * 9 // 10], never


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    warnings.simplefilter("ignore")
    print("change", "size", "tool", "false alarms a year", "median delay", "worst tenth", "never in a year", sep="\t")
    for path in parser.parse_args().files:
        for row in rows(path):
            print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
