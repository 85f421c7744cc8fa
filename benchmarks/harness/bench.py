"""What every section works with."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from .anchors import Anchors
from .brokers import DEFAULTS, Broker, Kafka, Options, Samsa, both
from .plan import Plan
from .process import ToolFailed
from .progress import say
from .samples import Samples

SYNC_S = 60
REST_S = 0.5


@dataclass(frozen=True, slots=True)
class Bench:
    anchors: Anchors
    scratch: Path
    plan: Plan
    before: str = ""
    """The revision that the section on far stores measures Samsa beside."""
    samples: Samples = field(default_factory=Samples)

    @contextmanager
    def brokers(self, options: Options = DEFAULTS) -> Iterator[tuple[Samsa, Kafka]]:
        """A fresh pair, not started."""
        with both(self.scratch, self.anchors, options) as pair:
            yield pair
        for broker in pair:
            if broker.complaints:
                self.samples.problem(f"complaints in the log of {broker.side}: {broker.complaints}")

    def turns(self, brokers: Sequence[Broker], what: str) -> Iterator[Broker]:
        """Samsa, Kafka, Kafka, Samsa, Samsa …: what disturbs the machine meets both, and neither
        always has the turn after the other's."""
        for number in range(1, self.plan.runs + 1):
            for broker in brokers if number % 2 else reversed(brokers):
                self._settle()
                say(f"{what}: {broker.side}, run {number} of {self.plan.runs}")
                yield broker

    def _settle(self) -> None:
        """One broker's dirty pages are written before the other's turn, not during it."""
        with suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(["sync", "-f", self.scratch], timeout=SYNC_S, check=False)
        time.sleep(REST_S)

    @contextmanager
    def forgiving(self, broker: Broker, what: str) -> Iterator[None]:
        """A tool that fails leaves its row without this figure, and the rest goes on."""
        try:
            yield
        except ToolFailed as failure:
            problem = f"{what} on {broker.side}: {failure}"
            say(problem)
            self.samples.problem(problem)
