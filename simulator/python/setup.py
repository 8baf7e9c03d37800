"""Puts the simulator's libraries and its command, which cargo has built, into the wheel.

    cargo build --release -p simcuda
    pip wheel --no-deps simulator/python

SIMCUDA_BUILD names the folder with cargo's results, target/release by default. `strip` and `objdump` must be there, as they are wherever
programs can be linked.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

LIBRARIES = ["libsimcuda.so", "libsimcudart.so", "libsimnvrtc.so"]
COMMAND = "simcuda"

ROOT = Path(__file__).resolve().parents[2]


def built() -> Path:
    """Returns the folder with what cargo has built."""
    folder = os.environ.get("SIMCUDA_BUILD")
    return Path(folder) if folder else ROOT / "target" / "release"


def version() -> str:
    """Returns the version of the workspace."""
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def platform(files: list[Path]) -> str:
    """Returns the platform's tag, which says the oldest glibc that has every function that the files call."""
    symbols = subprocess.run(["objdump", "-T", *files], check=True, capture_output=True, text=True).stdout
    minor = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols))
    return f"manylinux_2_{minor}_{sysconfig.get_platform().rpartition('-')[2]}"


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
            # Most of a release build describes source lines for debuggers.
            subprocess.run(["strip", target / name], check=True)


class WithLibraries(Distribution):
    """Depends on the platform, although no module is compiled."""

    def has_ext_modules(self) -> bool:
        return True


class PlatformWheel(bdist_wheel):
    """Names the wheel after the system: it works with any Python, but on one kind of machine only, and not with an older glibc."""

    def get_tag(self) -> tuple[str, str, str]:
        native = Path(self.get_finalized_command("build_py").build_lib) / "simcuda" / "native"
        return "py3", "none", platform(sorted(native.iterdir()))


setup(version=version(), distclass=WithLibraries, cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel})
