"""The command line ``sqlgauge``, which is in this package's module.

Queries run in processes of it, so that one which cannot be stopped from within can be ended from without.
"""

from __future__ import annotations

import os
import signal
import sys

from ._native import Error
from ._native import main as run

__all__ = ["launcher", "main"]


def launcher() -> list[str]:
    """The command that starts the command line in another process.

    Raises:
        Error: This Python does not say where it lies, as where it is a part of another program.
    """
    if not sys.executable:
        raise Error(
            "sys.executable is empty, so no process can be started in which queries run; set it to a Python of this version"
        )
    # Neither variables of the environment nor packages of others are read.
    return [sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "_launch.py")]


def main() -> int:
    """Runs the command line with the arguments of this process, and returns its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # The command line says itself how to go on; Python would add a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(sys.argv, launcher())
