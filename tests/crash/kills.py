"""Where a process is killed: at one of its calls to the stores, as a proxy in between sees them."""

import json
import os
import signal
import threading
from enum import Enum
from typing import NamedTuple

from faults.messages import Message, headers_of
from faults.weather import Card, Fault, Weather


class Moment(Enum):
    """When the process dies. It never hears of the answer."""

    BEFORE = Fault.SILENCE
    """The call never arrives."""
    AFTER = Fault.SILENCE_AFTER
    """The call was done."""
    LATE = Fault.LATE
    """The call arrives a while after the process is dead."""


class Kill(NamedTuple):
    moment: Moment
    number: int
    """Of the call, from now on: 1 is the next."""
    call: str = ""
    """Count only calls with this name; empty: all."""
    late_s: float = 0.0


class Kills(Weather):
    """Both stores of the process share one."""

    def __init__(self) -> None:
        super().__init__("", {})
        self.met: list[tuple[str, Moment]] = []
        """The calls that processes died at."""
        self.seen: dict[str, int] = {}
        """All calls, by name."""
        self.pid: int | None = None
        self._kill: Kill | None = None
        self._left = 0
        self._lock = threading.Lock()

    def arm(self, kill: Kill, pid: int) -> None:
        with self._lock:
            self._kill, self._left, self.pid = kill, kill.number, pid

    def draw_for(self, request: Message) -> Card:
        name = name_of(request)
        with self._lock:
            self.seen[name] = self.seen.get(name, 0) + 1
            kill = self._kill
            if kill is None or kill.call not in ("", name):
                return Card(Fault.NONE)
            self._left -= 1
            if self._left > 0:
                return Card(Fault.NONE)
            self._kill = None
            self.met.append((name, kill.moment))
            return Card(kill.moment.value, kill.late_s)

    def strike(self) -> None:
        assert self.pid, "whose death?"
        os.kill(self.pid, signal.SIGKILL)


UPDATES = {
    "bases.#id": "commit",
    "evictions = evictions +": "evict",
    "sweeps = sweeps +": "count sweep",
    "watchers": "watch",
    "REMOVE tail": "take out",
    "log_start": "advance start",
}
PUTS = {"E#": "index", "B#": "store producer"}


def name_of(request: Message) -> str:
    """What the log calls it; else what the store does."""
    target = headers_of(request.head).get("x-amz-target")
    if target is None:
        return f"{request.method} object"
    operation = target.rpartition(".")[2]
    asked = json.loads(request.body)
    if operation == "UpdateItem":
        found = [name for part, name in UPDATES.items() if part in asked["UpdateExpression"]]
    elif operation == "PutItem":
        found = [name for sk, name in PUTS.items() if asked["Item"]["sk"]["S"].startswith(sk)]
    else:
        found = []
    return found[0] if found else operation
