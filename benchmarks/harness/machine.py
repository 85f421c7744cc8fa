"""The machine and the versions that a table was made with."""

import os
import platform
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import confluent_kafka
import psutil

import samsa

from .anchors import Anchors

IDLE_LOAD_PER_CORE = 0.25
VERSION_S = 30


def busy() -> str | None:
    """A warning if others use the machine."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load <= IDLE_LOAD_PER_CORE * cores:
        return None
    return f"the machine is not idle (load {load:.1f} on {cores} cores): do not trust the figures"


def describe(anchors: Anchors) -> Iterator[str]:
    yield f"- date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    yield f"- CPU: {os.cpu_count()} × {_cpu_model()}"
    yield f"- memory: {psutil.virtual_memory().total / 2**30:.1f} GiB"
    yield f"- kernel: {platform.system()} {platform.release()}"
    yield f"- Samsa {samsa.__version__} on Python {platform.python_version()}"
    yield f"- Apache Kafka {anchors.kafka_version} on {_java_version()}"
    client = f"confluent-kafka {confluent_kafka.version()}"
    yield f"- clients: {client} (librdkafka {confluent_kafka.libversion()[0]}), Kafka's Java tools"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _java_version() -> str:
    command = ["java", "-version"]
    said = subprocess.run(
        command, capture_output=True, text=True, timeout=VERSION_S, check=False
    ).stderr
    return said.partition("\n")[0].replace('"', "") or "Java"
