"""Runs the command line that is in the module ``_native`` beside this file.

A script and no part of the package: it does not import the package around it, so that a process in which queries run is
there in a few milliseconds.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec


def main() -> int:
    folder = __file__.rpartition("/")[0] or __file__.rpartition("\\")[0]
    spec = PathFinder.find_spec("_native", [folder])
    if spec is None or spec.loader is None:
        sys.exit(f"error: the module _native is not in {folder}; install the package again")
    native = module_from_spec(spec)
    spec.loader.exec_module(native)
    code: int = native.main(sys.argv, [sys.executable, "-I", "-S", __file__])
    return code


if __name__ == "__main__":
    sys.exit(main())
