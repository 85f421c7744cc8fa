"""The two brokers, each on its defaults: started, waited for, ended."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .addresses import HOST, free_port
from .anchors import Anchors
from .process import Command, end, run, undisturbed
from .progress import say

SAMSA, KAFKA = "Samsa", "Apache Kafka"
START_S = 120
EXCERPT_LINES = 30

Options = Mapping[str, Sequence[str]]
"""By side: what a broker is told beyond its defaults."""
DEFAULTS: Options = {SAMSA: (), KAFKA: ()}
PORT, CONTROLLER = "{port}", "{controller}"
"""In an option: the broker's port, and the next one."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """Where clients come in, and what they are told beyond the address."""

    address: str
    librdkafka: Mapping[str, str] = field(default_factory=dict)
    java: Path | None = None
    """A file of settings."""


class BrokerFailed(Exception):
    pass


class Broker:
    """What both have in common. A broker may be started and stopped again and again."""

    side: str
    spare_ports = 0
    ready_line: str
    complaint: re.Pattern[str]

    def __init__(self, folder: Path, options: Sequence[str]) -> None:
        self.folder = folder
        self.port = free_port(self.spare_ports)
        self.options = [
            each.replace(PORT, str(self.port)).replace(CONTROLLER, str(self.port + 1))
            for each in options
        ]
        self.entrance = Entrance(self.address)
        self.process: psutil.Process | None = None
        self.complaints = 0
        """Of its log, over all of its lives."""
        self.first_complaint: list[str] = []
        """And what follows it there: a traceback ends with what matters."""
        folder.mkdir(parents=True)

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return int(self.process.pid)

    @property
    def output(self) -> Path:
        raise NotImplementedError

    @property
    def log(self) -> Path:
        return self.output

    def spawn(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        with undisturbed():
            self.spawn()
        deadline = time.monotonic() + START_S
        while not self._is_ready():
            if time.monotonic() > deadline or not self._is_alive():
                said = self.log.read_text(errors="replace")[-1000:]
                raise BrokerFailed(f"{self.side} did not start: {said}")
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is None:
            return
        code = end(self.process)
        self.process = None
        if code:
            say(f"{self.side} ended with {code}")
        self._read_complaints()

    def _read_complaints(self) -> None:
        lines = self.log.read_text(errors="replace").splitlines()
        found = [number for number, line in enumerate(lines) if self.complaint.search(line)]
        self.complaints += len(found)
        if found and not self.first_complaint:
            self.first_complaint = lines[found[0] : found[0] + EXCERPT_LINES]

    def _is_ready(self) -> bool:
        return self.output.exists() and self.ready_line in self.output.read_text(errors="replace")

    def _is_alive(self) -> bool:
        if self.process is None or not self.process.is_running():
            return False
        return bool(self.process.status() != psutil.STATUS_ZOMBIE)


class Samsa(Broker):
    side = SAMSA
    complaint = re.compile(r"^\S+ (WARNING|ERROR|CRITICAL) ")

    def __init__(
        self, folder: Path, options: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> None:
        """`variables` are of its environment, beside ours."""
        super().__init__(folder, options)
        self.ready_line = f"is listening on {self.address}"
        self._variables = variables or {}

    @property
    def output(self) -> Path:
        return self.folder / "stdout"

    @property
    def log(self) -> Path:
        return self.folder / "stderr"

    def spawn(self) -> None:
        samsa = Path(sys.executable).with_name("samsa")
        where = [] if "--listen" in self.options else ["--port", str(self.port)]
        with self.output.open("wb") as output, self.log.open("wb") as log:
            self.process = psutil.Popen(
                [samsa, "up", *where, *self.place(), *self.options],
                env={**os.environ, **self._variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                start_new_session=True,
            )

    def place(self) -> Sequence[str | Path]:
        """The options that say where its data is."""
        return ["--data", self.folder / "data"]

    def store_calls(self) -> dict[str, float]:
        """What the last line of its log counts, after a stop."""
        for line in reversed(self.log.read_text(errors="replace").splitlines()):
            if " stopped " in line:
                return {name: float(n) for name, n in re.findall(r"(\w+)=([\d.]+)", line)}
        return {}


class Kafka(Broker):
    side = KAFKA
    spare_ports = 1
    ready_line = "Kafka Server started"
    # It also warns, of things that are as they should be on a first start.
    complaint = re.compile(r"\] (ERROR|FATAL) ")

    def __init__(self, folder: Path, options: Sequence[str], anchors: Anchors) -> None:
        super().__init__(folder, options)
        self._anchors = anchors

    @property
    def output(self) -> Path:
        return self.folder / "broker.out"

    def spawn(self) -> None:
        pid_file = self.folder / "pid"
        pid_file.unlink(missing_ok=True)
        place = (str(self.folder), str(self.port))
        command: Command = [self._anchors.run_kafka, *place, *self.options]
        _, said = run(command, START_S, {"WAIT": "0", "KAFKA_LIBS": str(self._anchors.libs)})
        if not pid_file.exists():
            raise BrokerFailed(f"{self.side} did not start: {said[-1000:]}")
        self.process = psutil.Process(int(pid_file.read_text()))


@contextmanager
def both(scratch: Path, anchors: Anchors, options: Options) -> Iterator[tuple[Samsa, Kafka]]:
    """A fresh pair, not started; stopped and swept away at the end, whatever happens."""
    folder = scratch / "pair"
    brokers = (
        Samsa(folder / "samsa", options[SAMSA]),
        Kafka(folder / "kafka", options[KAFKA], anchors),
    )
    try:
        yield brokers
    finally:
        with undisturbed():
            for broker in brokers:
                broker.stop()
                for line in broker.first_complaint:
                    say(f"{broker.side} logged: {line[:300]}")
            shutil.rmtree(folder, ignore_errors=True)
