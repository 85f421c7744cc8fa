"""Brokers for tests: empty at each start, with nothing on disk. And the time that they take."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from .anchors import REPOSITORY
from .brokers import Broker, Samsa
from .process import run_well

KFAKE = "kfake"
SOURCES = REPOSITORY / "benchmarks" / "go" / "kfake"
BUILD_S = 300
RUN_S = 60
CLUSTERS = 50
FIXTURE = """
import sys, time
began, worked = time.perf_counter(), time.process_time()
from samsa_broker.testing.broker import SamsaBroker
from samsa_broker.testing.hosts import open_host
host = open_host(sys.argv[1])
broker = SamsaBroker(host)
from samsa_broker.cli.client import Client
client = Client(broker.bootstrap_servers)
print(1000 * (time.perf_counter() - began))
print(1000 * (time.process_time() - worked))
client.close()
broker.close()
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    SamsaBroker(host).close()
    print(1000 * (time.perf_counter() - began))
host.close()
"""


class EphemeralSamsa(Samsa):
    def place(self) -> Sequence[str | Path]:
        return ["--ephemeral"]


class KFake(Broker):
    side = KFAKE
    complaint = re.compile("panic")

    def __init__(self, folder: Path, program: Path) -> None:
        super().__init__(folder, ())
        self._program = program

    @property
    def output(self) -> Path:
        return self.folder / "out"

    def spawn(self) -> None:
        with self.output.open("wb") as output:
            self.process = psutil.Popen(
                [self._program, "-port", str(self.port)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


def build_kfake(folder: Path) -> Path:
    """Raises ToolFailed."""
    program = folder / "kfake"
    run_well(["go", "build", "-C", SOURCES, "-o", program, "."], BUILD_S)
    return program


def fixture_ms(mode: str) -> tuple[float, float, list[float]]:
    """Of the pytest fixture, in a new process: from the import to the first answer; this process's
    CPU time of that; and then for each fresh cluster and its end. Raises ToolFailed."""
    command = [sys.executable, "-c", FIXTURE, mode, str(CLUSTERS)]
    first, cpu, *clusters = map(float, run_well(command, RUN_S).split())
    return first, cpu, clusters


def kfake_clusters_ms(program: Path) -> list[float]:
    """Raises ToolFailed."""
    return [float(ms) for ms in run_well([program, "-clusters", str(CLUSTERS)], RUN_S).split()]
