"""Makes the archive of one target that a release offers: the program, its manual pages and completions, the schemas of its files, the licences.

    python3 packaging/archive.py --target x86_64-unknown-linux-gnu --static --out dist

The archive is ``sqlgauge-{target}-v{version}.tar.gz`` with its SHA-256 beside it. Two runs of one commit and one toolchain
make the same bytes of everything but the program, and of that too where the compiler does. Needs cargo, and nothing else
but Python.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHELLS = {"bash": "sqlgauge.bash", "elvish": "sqlgauge.elv", "fish": "sqlgauge.fish", "powershell": "_sqlgauge.ps1", "zsh": "_sqlgauge"}
NOTICES = ("licen", "copying", "notice", "copyright", "unlicense")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", required=True, help="target triple of the program")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder of the archive")
    parser.add_argument("--features", default="full", help="features of the program")
    parser.add_argument("--static", action="store_true", help="link the C library into the program (Linux)")
    given = parser.parse_args()
    program = build(given.target, given.features, given.static)
    name = f"sqlgauge-{given.target}-v{version()}"
    with tempfile.TemporaryDirectory() as folder:
        files = contents(program, Path(folder), given.target, given.features)
    given.out.mkdir(parents=True, exist_ok=True)
    packed = pack(name, files)
    archive = given.out / f"{name}.tar.gz"
    archive.write_bytes(packed)
    digest = hashlib.sha256(packed).hexdigest()
    (given.out / f"{name}.tar.gz.sha256").write_text(f"{digest}  {archive.name}\n")
    print(f"{archive}: {len(packed) / 1e6:.1f} MB, {len(files)} files, SHA-256 {digest}")


def build(target: str, features: str, static: bool) -> Path:
    environment = dict(os.environ)
    if static:
        environment["RUSTFLAGS"] = f"{environment.get('RUSTFLAGS', '')} -C target-feature=+crt-static".strip()
    command = ["cargo", "build", "--release", "--locked", "--package", "sqlgauge", "--features", features, "--target", target]
    built = subprocess.run([*command, "--message-format", "json-render-diagnostics"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
    if built.returncode:
        sys.exit("error: cargo could not build the program; its message stands above")
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(Path(each["executable"]) for each in messages if each.get("executable"))


def metadata(*options: str) -> dict:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", *options]
    return json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)


def version() -> str:
    return next(each["version"] for each in metadata("--no-deps")["packages"] if each["name"] == "sqlgauge")


def contents(program: Path, folder: Path, target: str, features: str) -> dict[str, bytes]:
    """What lies in the archive, by its path there."""
    files = {program.name: program.read_bytes()}
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"):
        files[name] = (ROOT / name).read_bytes()
    run = lambda *words: subprocess.run([program, *words], stdout=subprocess.PIPE, check=True).stdout  # noqa: E731
    run("man", "--out", folder / "man")
    files |= {f"man/{page.name}": page.read_bytes() for page in (folder / "man").iterdir()}
    files |= {f"completions/{name}": run("completions", shell) for shell, name in SHELLS.items()}
    subprocess.run(["cargo", "xtask", "schemas", folder / "schemas"], cwd=ROOT, check=True)
    files |= {f"schemas/{schema.name}": schema.read_bytes() for schema in (folder / "schemas").iterdir()}
    files["THIRD-PARTY-LICENSES.txt"] = licences(target, features).encode()
    return files


def licences(target: str, features: str) -> str:
    """Every crate in the program, with its licence and the notices that its authors ask to be kept."""
    known = {each["id"]: each for each in metadata("--filter-platform", target, "--features", f"sqlgauge/{features}")["packages"]}
    tree = subprocess.run(
        ["cargo", "tree", "--locked", "-p", "sqlgauge", "--features", features, "--target", target, "-e", "normal", "--prefix", "none", "-f", "{p}"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )
    linked = {tuple(line.split()[:2]) for line in tree.stdout.splitlines() if line}
    text = ["The program holds these libraries, under their own licences.\n"]
    for package in sorted(known.values(), key=lambda each: (each["name"], each["version"])):
        if package["source"] is None or (package["name"], f"v{package['version']}") not in linked:
            continue
        text.append(f"\n{'=' * 80}\n{package['name']} {package['version']}: {package['license'] or 'see the file below'}\n")
        text.append(f"{package['repository'] or ''}\n")
        folder = Path(package["manifest_path"]).parent
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name.lower().startswith(NOTICES):
                text.append(f"\n--- {path.name}\n{path.read_text(errors='replace').rstrip()}\n")
    return "".join(text)


def pack(name: str, files: dict[str, bytes]) -> bytes:
    """A gzipped tar archive of them in one folder, in order of name and without times or owners."""
    held = io.BytesIO()
    with gzip.GzipFile(fileobj=held, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(data), 0o755 if path in ("sqlgauge", "sqlgauge.exe") else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return held.getvalue()


if __name__ == "__main__":
    main()
