"""A well-behaved client beside an attack: it writes 1 KB and reads it back, again and again.

It is a process of its own, so that what the attack costs its player does not count. For each round
it notes the time that passed and the CPU time that the broker used meanwhile. Told to stop, by the
end of its input, it prints what it saw as JSON and ends.

    python bystander.py PORT BROKERS_PID
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from server.peer import Peer
from server.talk import create, read, records_in, values, write

TOPIC = "bystander"
SIZE = 1024
PAUSE_S = 0.005
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Round(NamedTuple):
    began: float
    took_s: float
    cpu_s: float
    """Of the broker, from the first byte of the request to the last of the answer."""


class Spread(NamedTuple):
    p99: float
    worst: float

    @classmethod
    def of(cls, figures: list[float]) -> "Spread":
        ordered = sorted(figures)
        return cls(ordered[int(0.99 * (len(ordered) - 1))], ordered[-1])

    def __str__(self) -> str:
        return f"p99 {self.p99:.3f} s, worst {self.worst:.3f} s"


class Seen(NamedTuple):
    rounds: list[Round]
    error: str | None

    def since(self, began: float) -> "Seen":
        return Seen([one for one in self.rounds if one.began + one.took_s >= began], self.error)

    @property
    def cpu_s(self) -> "Spread":
        return Spread.of([one.cpu_s for one in self.rounds])

    @property
    def took_s(self) -> "Spread":
        return Spread.of([one.took_s for one in self.rounds])


class Bystander:
    """The process, seen from the test."""

    def __init__(self, port: int, broker: int) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, __file__, str(port), str(broker)]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.rounds(1)

    def rounds(self, count: int) -> None:
        """Wait for as many more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", "the bystander has ended"

    def stop(self) -> Seen:
        said, _ = self._process.communicate(timeout=60)
        found = json.loads(said)
        return Seen([Round(*one) for one in found["rounds"]], found["error"])


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


class _Loop:
    def __init__(self, port: int, broker: int) -> None:
        self.seen: list[Round] = []
        self.error: str | None = None
        self.stopping = False
        self._broker = broker
        self._peer = Peer(("127.0.0.1", port))
        self._turn = threading.Condition()
        create(self._peer, TOPIC)

    def run(self) -> None:
        value = b"x" * SIZE
        try:
            while not self.stopping:
                self._once(b"%d " % len(self.seen) + value)
                time.sleep(PAUSE_S)
        except BaseException as error:
            self.error = repr(error)
        with self._turn:
            self._turn.notify_all()

    def _once(self, value: bytes) -> None:
        began, cpu = time.monotonic(), cpu_s(self._broker)
        offset = write(self._peer, TOPIC, value)
        assert values(records_in(read(self._peer, TOPIC, offset).records)) == [value]
        took, used = time.monotonic() - began, cpu_s(self._broker) - cpu
        with self._turn:
            self.seen.append(Round(began, took, used))
            self._turn.notify_all()

    def wait(self, count: int) -> None:
        with self._turn:
            wanted = len(self.seen) + count
            self._turn.wait_for(lambda: len(self.seen) >= wanted or self.error is not None)


def main(port: int, broker: int) -> None:
    loop = _Loop(port, broker)
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    for line in sys.stdin:
        loop.wait(int(line))
        print("done", flush=True)
    loop.stopping = True
    thread.join()
    print(json.dumps({"rounds": loop.seen, "error": loop.error}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
