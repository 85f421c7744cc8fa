"""A broker for a test: a fresh `samsa up`, or one that already runs.

SAMSA_TEST_BOOTSTRAP=host:port names a broker that already runs. Pointing it at Apache Kafka asks
whether the tests themselves are right.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

RUNNING = "SAMSA_TEST_BOOTSTRAP"
ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
SAMSA = Path(sys.executable).with_name("samsa")
START_SECONDS = 30
STOP_SECONDS = 30


@dataclass(frozen=True)
class Broker:
    bootstrap: str
    ours: bool = True

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.bootstrap.rpartition(":")
        return host, int(port)


@contextmanager
def a_broker(folder: Path, *options: str) -> Iterator[Broker]:
    """The broker of SAMSA_TEST_BOOTSTRAP, else a `samsa up` that lives as long as the block."""
    running = os.environ.get(RUNNING)
    if running:
        yield Broker(running, ours=False)
        return
    with samsa_up(folder, *options) as broker:
        yield broker


@contextmanager
def samsa_up(folder: Path, *options: str) -> Iterator[Broker]:
    out = folder / "stdout"
    process = start(folder, out, options)
    try:
        yield Broker(listening(process, out))
    finally:
        status = stop(process)
    assert status == 0, f"samsa up ended with {status} on SIGTERM:\n{said(folder)}"


def start(folder: Path, out: Path, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
    command: list[object] = [SAMSA, "up"]
    if "--ephemeral" not in options:
        command += ["--data", folder / "data"]
    if "--listen" not in options:
        command += ["--host", "127.0.0.1", "--port", "0"]
    command += ["--no-http"]  # they would all want the same port; who needs it says --http
    with out.open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        return subprocess.Popen(
            [*map(str, command), *options],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )


def listening(process: subprocess.Popen[bytes], out: Path) -> str:
    """The address it prints. Port 0 lets the system choose, so nobody knows it before."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        found = ADDRESS.search(out.read_text())
        if found:
            return found[0]
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise RuntimeError(f"samsa up did not say where it listens:\n{said(out.parent)}")


def stop(process: subprocess.Popen[bytes]) -> int:
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def said(folder: Path) -> str:
    return "\n".join((folder / name).read_text()[-2000:] for name in ("stdout", "stderr"))
