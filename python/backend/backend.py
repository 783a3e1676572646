"""The build of the wheel (PEP 517): Cargo builds the program and the module at once; the wheel holds both.

Three environment variables change it:

- ``SQLGAUGE_BUILD_PROFILE``: the profile of Cargo, ``release`` without it; ``dev`` builds much faster.
- ``SQLGAUGE_BUILD_FEATURES``: features of the program, separated by commas, such as ``full``; none without it.
- ``SQLGAUGE_BUILD_FROM``: a folder with the program and the module as Cargo has built them, such as ``target/debug`` of the
  checkout; they are packed and nothing is built.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import maturin

PROJECT = Path(__file__).resolve().parent.parent
SCRIPTS = PROJECT / "sqlgauge.data" / "scripts"
PROGRAM = "sqlgauge.exe" if os.name == "nt" else "sqlgauge"
# How Cargo calls the module, and how Python does.
MODULES = {
    "linux": ("lib_native.so", "_native.abi3.so"),
    "darwin": ("lib_native.dylib", "_native.abi3.so"),
    "win32": ("_native.dll", "_native.pyd"),
}

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable


def prepare_metadata_for_build_wheel(directory: str, settings: Any = None) -> str:
    """Writes the metadata and returns the name of its folder; builds nothing."""
    # It is named in pyproject.toml, and maturin wants it to be there.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(directory, settings)


def build_wheel(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """Builds the wheel into the directory and returns its name."""
    given = os.environ.get("SQLGAUGE_BUILD_FROM")
    return _pack(PROJECT.parent / given if given else _build(), Path(directory))


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """As `build_wheel`, for ``pip install --editable``."""
    if os.environ.get("SQLGAUGE_BUILD_FROM"):
        sys.exit("SQLGAUGE_BUILD_FROM packs a wheel: leave it out, or install without --editable")
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    shutil.copy2(_newest(_build(), PROGRAM), SCRIPTS / PROGRAM)
    # Maturin links the module anew from the libraries that were built just now, as it is of the same profile.
    arguments = os.environ.get("MATURIN_PEP517_ARGS", "")
    if "--profile" not in arguments:
        os.environ["MATURIN_PEP517_ARGS"] = f"{arguments} --profile {_profile()}".strip()
    return maturin.build_editable(directory, settings, metadata)


def build_sdist(directory: str, settings: Any = None) -> str:
    """Refuses: an archive of this folder alone would lack the program."""
    sys.exit("sqlgauge has no source archive; build a wheel in a checkout: pip wheel ./python")


def _profile() -> str:
    return os.environ.get("SQLGAUGE_BUILD_PROFILE", "release")


def _build() -> Path:
    """Builds program and module at once, so that the libraries are compiled once; returns the folder of both."""
    command = ["cargo", "build", "--locked", "--package", "sqlgauge-cli", "--package", "sqlgauge-python"]
    command += ["--profile", _profile(), "--message-format", "json-render-diagnostics"]
    features = os.environ.get("SQLGAUGE_BUILD_FEATURES")
    if features:
        command += ["--features", ",".join(f"sqlgauge-cli/{name}" for name in features.split(","))]
    built = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, check=False)
    if built.returncode:
        sys.exit("cargo could not build the program and the module; its message stands above")
    messages = (json.loads(line) for line in built.stdout.splitlines())
    programs = [Path(m["executable"]) for m in messages if m.get("executable")]
    return next(path.parent for path in programs if path.name == PROGRAM)


def _pack(built: Path, directory: Path) -> str:
    library, wanted = MODULES.get(sys.platform, MODULES["linux"])
    program, module = _newest(built, PROGRAM), _newest(built, library)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        metadata = prepare_metadata_for_build_wheel(folder)
        package = tree / "sqlgauge"
        shutil.copytree(PROJECT / "sqlgauge", package, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
        shutil.copy2(module, package / wanted)
        scripts = tree / f"{metadata.removesuffix('.dist-info')}.data" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copy2(program, scripts / PROGRAM)
        before = set(directory.glob("*.whl"))
        subprocess.run([sys.executable, "-m", "wheel", "pack", folder, "--dest-dir", directory], check=True)
        (wheel,) = set(directory.glob("*.whl")) - before
    return wheel.name


def _newest(folder: Path, name: str) -> Path:
    # Of a crate that others depend on, Cargo leaves what it builds in `deps`.
    paths = [path for path in (folder / name, folder / "deps" / name) if path.is_file()]
    if not paths:
        sys.exit(f"there is no {name} in {folder}, nor in its deps: build the workspace first")
    return max(paths, key=lambda path: path.stat().st_mtime)
