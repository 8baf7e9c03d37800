"""Puts the simulator's libraries and its command, which cargo has built, into the wheel.

    cargo build --release -p simcuda
    pip wheel --no-deps simulator/python

SIMCUDA_BUILD names the folder with cargo's results, target/release by default.
"""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

LIBRARIES = ["libsimcuda.so", "libsimcudart.so", "libsimnvrtc.so"]
COMMAND = "simcuda"


def built() -> Path:
    """Returns the folder with what cargo has built."""
    folder = os.environ.get("SIMCUDA_BUILD")
    return Path(folder) if folder else Path(__file__).resolve().parents[2] / "target" / "release"


class BuildWithLibraries(build_py):
    """Copies the libraries beside the command, where the command looks for them."""

    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "simcuda" / "native"
        target.mkdir(parents=True, exist_ok=True)
        for name in LIBRARIES + [COMMAND]:
            # cargo leaves a library that only another package depends on in `deps`.
            places = [built() / "deps" / name, built() / name] if name in LIBRARIES else [built() / name]
            source = next((place for place in places if place.is_file()), None)
            if source is None:
                raise SystemExit(f"{built() / name} does not exist; run `cargo build --release -p simcuda`")
            shutil.copy2(source, target / name)


class PlatformWheel(bdist_wheel):
    """Names the wheel after the system: it works with any Python, but on one kind of machine only."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel})
