"""Builds the site: a book of this checkout and one of each release, with a list to choose from.

    python3 packaging/site.py --out target/site
    python3 packaging/site.py --book --out target/book    # the book of this checkout alone

``main/`` is this checkout, ``v1.2.3/`` the release of that tag; ``index.html`` leads to the latest release, or to ``main/`` where there is none, and
``versions.js`` is the list. All are plain files, for any server or none. Needs git and mdbook.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
INDEX = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>sqlgauge</title>
<meta http-equiv="refresh" content="0; url={0}/index.html">
<p><a href="{0}/index.html">sqlgauge {0}</a></p>
</html>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "site", help="folder of the site; what lies there goes")
    parser.add_argument("--book", action="store_true", help="only the book of this checkout, without a list")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    if arguments.book:
        book(ROOT, out)
        return
    book(ROOT, out / "main")
    releases = tags()
    for tag in releases:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / tag
            git("worktree", "add", "--detach", str(source), tag)
            try:
                book(source, out / tag)
            finally:
                git("worktree", "remove", "--force", str(source))
    versions = [*releases, "main"]
    (out / "index.html").write_text(INDEX.format(versions[0]))
    (out / "versions.js").write_text(f"window.sqlgaugeVersions = {json.dumps(versions)};\n")
    print(f"{out / 'index.html'}: {', '.join(versions)}")


def tags() -> list[str]:
    """The tags of releases, the latest first."""
    found = git("tag", "--list").decode().split()
    return sorted(filter(TAG.fullmatch, found), key=lambda tag: [int(part) for part in tag[1:].split(".")], reverse=True)


def book(source: Path, out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stage(source, Path(folder))
        subprocess.run(["mdbook", "build", folder, "--dest-dir", out], check=True)


def stage(source: Path, folder: Path) -> None:
    """Copies what the book is made of, with the pages of ``research``, which lie outside of ``docs``, below the results."""
    shutil.copytree(source / "docs", folder / "docs")
    shutil.copytree(source / "packaging", folder / "packaging")
    shutil.copy(source / "book.toml", folder)
    pages = sorted((source / "research").glob("*/README.md"))
    lines = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        target = folder / "docs" / "research" / page.parent.name / "README.md"
        target.parent.mkdir(parents=True)
        target.write_text(text.replace("](../../docs/", "](../../"), encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        lines.append(f"  - [{title}](research/{page.parent.name}/README.md)\n")
    for page in (folder / "docs").rglob("*.md"):
        if (folder / "docs" / "research") not in page.parents:
            text = page.read_text(encoding="utf-8")
            page.write_text(re.sub(r"\]\(((?:\.\./)*)\.\./research/", r"](\1research/", text), encoding="utf-8")
    summary = folder / "docs" / "SUMMARY.md"
    text = summary.read_text(encoding="utf-8")
    summary.write_text(re.sub(r"(.*\]\(results\.md\)\n)", lambda line: line[0] + "".join(lines), text), encoding="utf-8")


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


if __name__ == "__main__":
    main()
