"""What a producer notices of a janitor at work: single messages, beside a load to be merged, or one
with keys to be compacted."""

import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

READY = "is listening on"
QUIET = ("--upkeep-interval", "3600")
BUSY = ("--upkeep-interval", "0.05", "--settle-time", "0.01")
COMPACTED = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
KEYS = 1_000


def p99_ms(folder: Path, messages: int, janitor: bool, compacted: bool) -> float:
    samsa = Path(sys.executable).parent / "samsa"
    options = [*(BUSY if janitor else QUIET), "--port", "0", "--data", str(folder)]
    process = subprocess.Popen(
        [str(samsa), "up", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        line = next(line for line in process.stdout if READY in line)
        bootstrap = line.split()[-1]
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        config = COMPACTED if compacted else {}
        admin.create_topics([NewTopic("load", 1, config=config)])["load"].result(30)
        return _p99_ms(bootstrap, messages)
    finally:
        process.terminate()
        process.wait(30)


def _p99_ms(bootstrap: str, messages: int) -> float:
    stop = threading.Event()
    load = threading.Thread(target=_load, args=(bootstrap, stop))
    load.start()
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "log_level": 0})
    times = []
    try:
        for number in range(messages + 50):
            started = time.perf_counter()
            producer.produce("single", b"x" * 1_000)
            producer.flush(30)
            if number >= 50:
                times.append(time.perf_counter() - started)
    finally:
        stop.set()
        load.join()
    return 1000 * sorted(times)[int(0.99 * len(times))]


def _load(bootstrap: str, stop: threading.Event) -> None:
    """Some thousands of messages a second: there is always something to merge, or to compact."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1, "log_level": 0})
    keys = itertools.cycle(range(KEYS))
    while not stop.wait(0.005):
        for _ in range(20):
            producer.produce("load", b"y" * 1_000, b"%d" % next(keys))
        producer.poll(0)
    producer.flush(30)
