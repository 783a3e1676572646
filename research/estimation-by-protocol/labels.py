"""The labels of the systems of Spider dev by the official script, a column each: `python labels.py DATA > spider.tsv`."""

import json
import pathlib
import sys

data = pathlib.Path(sys.argv[1]) / "spider"
systems = [path.stem for path in sorted((data / "predictions/dev").glob("*.sql")) if "FIRSTSTMT" not in path.stem]
columns = {}
for system in systems:
    lines = (data / f"oracle/dev/{system}.jsonl").read_text().splitlines()
    columns[system] = {json.loads(line)["i"]: json.loads(line)["ex"] for line in lines}
print("\t".join(["id", *systems]))
for item in range(1034):
    print("\t".join([str(item), *(str(int(columns[system][item])) for system in systems)]))
