"""Runs the examples of documents with the sqlgauge that is installed, and looks for the output that stands below them.

    python3 packaging/examples.py README.md docs/tutorials/reward.md …

Blocks of shell run in the folder of the demo's benchmark, those of Python one folder above the demo. Blocks that build sqlgauge are left
out, and so are lines of Python that need a library that is not there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"# exit code (\d)")


def main() -> None:
    documents = [Path(name).read_text() for name in sys.argv[1:]]
    if not documents:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        for name, document in zip(sys.argv[1:], documents):
            printed = check(document, Path(folder) / Path(name).stem)
            print(f"{name}: {printed} lines of output as printed")


def check(document: str, folder: Path) -> int:
    folder.mkdir()
    inside = folder / "sqlgauge-demo" / "benchmark"
    printed = run("sqlgauge demo", folder)
    blocks = BLOCK.findall(document)
    for language, block in blocks:
        if language == "sh" and not re.search(r"^(cargo|pip|cd) ", block, re.MULTILINE):
            for command in block.replace("\\\n", "").splitlines():
                printed += run(command, inside)
    script = "".join(block for language, block in blocks if language == "python" and "integrations" not in block)
    if script:
        (folder / "script.py").write_text(script)
        printed += run(f"{sys.executable} script.py", folder)
    known = {words(line) for line in printed.splitlines()}
    wanted = [line for language, block in blocks if language == "text" for line in block.splitlines()]
    for line in wanted:
        if words(line) not in known:
            sys.exit(f"not printed: {line}")
    return len(wanted)


def run(command: str, folder: Path) -> str:
    done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "COLUMNS": "120"}, capture_output=True, text=True, check=False)
    announced = EXIT_CODE.search(command)
    if done.returncode != (int(announced[1]) if announced else 0):
        sys.exit(f"{command}\nended with {done.returncode}\n{done.stderr}")
    return done.stdout


def words(line: str) -> str:
    """The words of a line of a table, however wide its columns are."""
    return " ".join(re.sub("[─═│]", " ", line).split())


if __name__ == "__main__":
    main()
