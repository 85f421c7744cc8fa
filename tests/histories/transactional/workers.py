"""Client processes: started, killed, stopped and continued, and started beside themselves."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from histories.background import Background
from histories.transactional.settings import TIMEOUT_MS

TESTS = Path(__file__).parents[2]
PAUSE_S = (2.0, 14.0)
STOPPED_S = (0.1, 2.0)
BEYOND_S = (TIMEOUT_MS / 1000 + 0.5, TIMEOUT_MS / 1000 + 3.0)
"""Longer than the transaction timeout; some are longer than the session of a copier, too."""
ACTS = {"kill": 4, "stop": 3, "stop beyond the timeout": 2, "start beside": 2}
ENDED_BY_ITSELF_S = 0.2
"""How often that is looked for."""


@dataclass(frozen=True)
class Job:
    """What a client process is told, as JSON on its command line."""

    module: str
    name: str
    seed: int
    round: str
    bootstrap: str
    folder: Path
    java: tuple[str, ...] = ()
    """The command of the producer, if it is the Java client's."""
    incarnation: int = 0

    @property
    def by(self) -> str:
        return f"{self.name}.{self.incarnation}"

    @property
    def transactional_id(self) -> str:
        return f"{self.round}-{self.name}"

    @property
    def text(self) -> str:
        return json.dumps({**asdict(self), "folder": str(self.folder)})

    @classmethod
    def read(cls, text: str) -> "Job":
        given: dict[str, Any] = json.loads(text)
        return cls(**{**given, "folder": Path(given["folder"]), "java": tuple(given["java"])})


class Worker(Background):
    """One client, whose plan follows from the seed. Whenever it has ended it is started again, as
    its next incarnation."""

    def __init__(self, job: Job, faults: threading.Event) -> None:
        """Nothing happens to it before the event `faults`."""
        super().__init__(job.name)
        self.counts: Counter[str] = Counter()
        self._job = job
        self._faults = faults
        self._random = random.Random(f"{job.seed} {job.name}")
        self._all: list[subprocess.Popen[bytes]] = []
        self._process = self._start_process()
        self.start()

    def finish(self) -> None:
        """All of its incarnations are killed, whatever they are doing."""
        try:
            super().finish()
        finally:
            for process in self._all:
                self._signal(process, signal.SIGKILL)
                process.wait()

    def _start_process(self) -> subprocess.Popen[bytes]:
        self._job = replace(self._job, incarnation=self._job.incarnation + 1)
        with (self._job.folder / f"{self._job.by}.stderr").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", self._job.module, self._job.text],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(TESTS)},
                start_new_session=True,  # so that its children are killed with it
            )
        self._all.append(process)
        return process

    def work(self) -> None:
        while not self._faults.is_set() and not self._wait(0):
            pass
        while not self._wait(self._random.uniform(*PAUSE_S)):
            (act,) = self._random.choices([*ACTS], [*ACTS.values()])
            self.counts[f"client: {act}"] += 1
            if act == "kill":
                self._signal(self._process, signal.SIGKILL)
            elif act == "start beside":
                self._start_beside()
            else:
                self._suspend(BEYOND_S if act.endswith("timeout") else STOPPED_S)

    def _wait(self, seconds: float) -> bool:
        """Whether all is over. Meanwhile the client is started again if it has ended."""
        for _ in range(1 + round(seconds / ENDED_BY_ITSELF_S)):
            status = self._process.poll()
            if status is not None:
                assert status == -signal.SIGKILL, f"it failed by itself: {self._said()}"
                self._process = self._start_process()
            if self.over.wait(ENDED_BY_ITSELF_S):
                return True
        return False

    def _suspend(self, how_long: tuple[float, float]) -> None:
        self._signal(self._process, signal.SIGSTOP)
        self.over.wait(self._random.uniform(*how_long))
        self._signal(self._process, signal.SIGCONT)

    def _start_beside(self) -> None:
        """A second one of the same transactional id; then the first, which is fenced, goes on."""
        before = self._process
        self._signal(before, signal.SIGSTOP)
        self._process = self._start_process()
        self.over.wait(self._random.uniform(*STOPPED_S))
        self._signal(before, signal.SIGCONT)

    def _said(self) -> str:
        return (self._job.folder / f"{self._job.by}.stderr").read_text()[-2000:]

    @staticmethod
    def _signal(process: subprocess.Popen[bytes], which: signal.Signals) -> None:
        """To all processes of its group: the Java client is a child."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, which)
