# SPDX-License-Identifier: Apache-2.0
"""The entry points of the programs."""
import os
import sys

from ._engine import prefix


def _run(name: str) -> None:
    # Verification runs ONNX Runtime in the Python environment that Quantloupe is installed in.
    os.environ.setdefault("QUANTLOUPE_PYTHON", sys.executable)
    program = str(prefix() / "bin" / name)
    os.execv(program, [program, *sys.argv[1:]])


def window() -> None:
    """Runs the window and does not return."""
    _run("quantloupe")


def command_line() -> None:
    """Runs the command line and does not return."""
    _run("quantloupe-cli")
