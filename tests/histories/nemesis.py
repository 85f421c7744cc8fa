"""What happens to one process: it is killed and started again, or stopped and continued."""

import random
import signal
import time
from collections import Counter
from pathlib import Path

from histories.background import Background
from server.process import Samsa

PAUSE_S = (0.3, 3.0)
DOWN_S = (0.0, 1.0)
STOPPED_S = (0.1, 4.0)
SLEPT_S = (16.0, 19.0)
"""Longer than any other process waits for anything: what it does then, it does late."""
SLEEPS = 0.1
"""Of all stops, where there is time for them."""
START_S = 40.0
"""Longer than any stop, and a start that waits before it gives up."""
LOCKED = ("database is locked", "another process is writing", "does not let others in")


class Nemesis(Background):
    """Its plan follows from the seed. `counts` are of kills and stops. Even processes
    are killed first, odd ones stopped: a short run has both."""

    def __init__(self, number: int, samsa: Samsa, seed: int, log: Path, *, sleeps: bool) -> None:
        super().__init__(f"the nemesis of process {number}", START_S + 60)
        self.counts: Counter[str] = Counter()
        self._number = number
        self._samsa = samsa
        self._random = random.Random(seed)
        self._log = log
        self._sleeps = sleeps
        self.start()

    def work(self) -> None:
        """The process runs again when this returns."""
        acts = [self._kill, self._suspend]
        act = acts[self._number % 2]
        while not self.over.wait(self._random.uniform(*PAUSE_S)):
            act()
            act = self._random.choice(acts)

    def _kill(self) -> None:
        self._note("killed")
        self._samsa.kill()
        self.over.wait(self._random.uniform(*DOWN_S))
        self._start()
        self._note("started")

    def _start(self) -> None:
        """Beside a process that was stopped while it wrote to the SQLite file, a start gives up
        after ten seconds at most and says why. It is tried again, as a supervisor does."""
        deadline = time.monotonic() + START_S
        while True:
            try:
                self._samsa.again()
                return
            except RuntimeError:
                said = self._samsa.said()
                if not any(why in said for why in LOCKED) or time.monotonic() > deadline:
                    raise
                self._note("start refused")
                time.sleep(0.3)

    def _suspend(self) -> None:
        slept = self._sleeps and self._random.random() < SLEEPS
        self._note("stopped")
        self._samsa.process.send_signal(signal.SIGSTOP)
        try:
            self.over.wait(self._random.uniform(*(SLEPT_S if slept else STOPPED_S)))
        finally:
            self._samsa.process.send_signal(signal.SIGCONT)
        self._note("continued")

    def _note(self, what: str) -> None:
        self.counts[what] += 1
        with self._log.open("a") as log:
            log.write(f"{time.monotonic_ns()} process {self._number} {what}\n")
