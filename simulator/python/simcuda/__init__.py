"""A CUDA driver in software, for programs and tests on machines without a GPU."""

import os
import sys
from pathlib import Path

__all__ = ["command", "main"]


def command() -> Path:
    """Returns the path of the command `simcuda`."""
    return Path(__file__).with_name("native") / "simcuda"


def main() -> None:
    """Becomes the command `simcuda`."""
    path = command()
    # Some tools that unpack wheels forget which files can be executed.
    if not os.access(path, os.X_OK):
        path.chmod(path.stat().st_mode | 0o111)
    os.execv(path, [str(path), *sys.argv[1:]])
