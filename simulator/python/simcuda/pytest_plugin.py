"""`pytest --simcuda` runs the tests on the simulated GPU, and fails each test whose kernels had a defect.

The loader looks for the CUDA driver when a program first asks for it, and where to look is fixed when the process starts. So pytest starts
itself again under `simcuda run`. From then on, this plugin compares what the driver has found after each part of a test with what it had
found before.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, Generator

import pytest

from simcuda import command

# Set in the process that runs on the simulator.
STARTED = "SIMCUDA_PYTEST"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("simcuda", "simulated GPU")
    group.addoption("--simcuda", action="store_true", help="run the tests on the simulated GPU, and fail those whose kernels have defects")
    group.addoption("--simcuda-suppressions", metavar="FILE", help="defects that are not to be reported, in TOML")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Starts pytest again on the simulator."""
    if not config.getoption("simcuda") or STARTED in os.environ:
        return
    arguments = [str(command()), "run"]
    suppressions = config.getoption("simcuda_suppressions")
    if suppressions:
        arguments += ["--suppressions", suppressions]
    arguments += ["--", sys.executable, "-m", "pytest", *config.invocation_params.args]
    # pytest already captures the output. The new process needs the real one.
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(config.invocation_params.dir)
    os.execve(arguments[0], arguments, {**os.environ, STARTED: "1"})


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("simcuda") and STARTED in os.environ:
        config.pluginmanager.register(Findings(Driver()), "simcuda-findings")


class Driver:
    """The simulated driver of this process."""

    def __init__(self) -> None:
        library = ctypes.CDLL("libcuda.so.1")
        if not hasattr(library, "simcuda_report"):
            raise pytest.UsageError("--simcuda: this process has loaded another CUDA driver")
        self._report = library.simcuda_report
        self._report.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        self._report.restype = ctypes.c_uint

    def report(self) -> dict[str, Any]:
        """Returns what the process has done so far."""
        length = ctypes.c_size_t()
        status = self._report(None, 0, ctypes.byref(length))
        buffer = ctypes.create_string_buffer(length.value)
        status = status or self._report(buffer, len(buffer), ctypes.byref(length))
        if status != 0:
            raise RuntimeError(f"the simulator did not answer: error {status}")
        return json.loads(buffer.raw[: length.value])


class Findings:
    """Adds what the driver finds during a test to the report of that test."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._seen: dict[str, int] = {}

    def _new(self) -> list[dict[str, Any]]:
        """Returns the defects that were seen since the last call, and are not suppressed."""
        defects = self._driver.report()["defects"]
        new = [defect for defect in defects if defect["times"] > self._seen.get(defect["id"], 0)]
        self._seen = {defect["id"]: defect["times"] for defect in defects}
        return [defect for defect in new if defect["suppressed"] is None]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        new = self._new()
        errors = [defect for defect in new if defect["severity"] == "error"]
        texts = {level: "\n\n".join(text(defect) for defect in new if defect["severity"] == level) for level in ("error", "warning")}
        if texts["warning"]:
            report.sections.append(("Warnings of the simulated GPU", texts["warning"]))
        if not errors:
            return report
        if report.failed:
            # The test says itself what failed, and this is probably why.
            report.sections.append(("Defects in kernels", texts["error"]))
        else:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: kernels had defects\n\n{texts['error']}"
        return report


def text(defect: dict[str, Any]) -> str:
    """Returns a defect as reports show it."""
    return f"{defect['message']}\n  id {defect['id']}"
