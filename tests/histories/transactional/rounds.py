"""One round: new topics, clients with transactions, signals to brokers and clients, a last look."""

import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confluent_kafka.admin import AdminClient, NewTopic
from histories.cluster import Pair
from histories.nemesis import Nemesis
from histories.transactional.judging import Verdict, judge
from histories.transactional.notebook import read_lines, save, together
from histories.transactional.observing import LastLook, Observer
from histories.transactional.settings import TIMEOUT_MS, Topics
from histories.transactional.workers import Job, Worker
from support import needs

HELD_BACK_S = TIMEOUT_MS / 1000 + 2.0
"""No reader waits longer behind a producer that is dead."""
SLOW_MACHINE_S = 6.0
PATIENCE_S = 60.0
JAVA_PRODUCER = Path(__file__).with_name("JavaProducer.java")


class Disturber(Protocol):
    counts: Counter[str]

    def stop(self) -> None: ...
    def finish(self) -> None: ...


Nemeses = Callable[[Path], Iterable[Disturber]]
"""Starts them; each notes in the file what it does."""


@dataclass(frozen=True)
class Clients:
    writers: int = 4
    copiers: int = 2
    java: bool = False


@dataclass(frozen=True)
class Played:
    path: Path
    verdict: Verdict
    signals: Counter[str]
    held_back_s: float
    """How long transactions held readers back after all clients were killed."""


def play(
    both: Pair,
    path: Path,
    moments: random.Random,
    seconds: float,
    *,
    sleeps: bool = False,
    java: bool = False,
) -> Played:
    """`sleeps`: some stops of brokers are longer than any other process waits for anything."""

    def nemeses(log: Path) -> Iterator[Disturber]:
        for number, samsa in enumerate(both):
            yield Nemesis(number, samsa, moments.randrange(10**9), log, sleeps=sleeps)

    bootstraps = [samsa.broker.bootstrap for samsa in both]
    return play_on(bootstraps, nemeses, path, moments, seconds, Clients(java=java))


def play_on(
    bootstraps: list[str],
    nemeses: Nemeses,
    path: Path,
    moments: random.Random,
    seconds: float,
    clients: Clients,
) -> Played:
    topics = Topics(path.stem)
    make_topics(bootstraps[0], topics)
    folder = path.with_suffix(".clients")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    bootstrap, partitions = ",".join(bootstraps), topics.partitions()
    with ExitStack() as stack:
        tail = Observer("tail", bootstrap, folder, partitions, again=False)
        stack.callback(tail.finish)
        again = Observer("again", bootstrap, folder, partitions, again=True)
        stack.callback(again.finish)
        jobs = make_jobs(topics, moments.randrange(10**9), bootstrap, folder, clients)
        signals = disturb(nemeses, jobs, path, seconds)
        # Observers wait behind what the dead clients left, as every reader may.
        last = LastLook(bootstrap, folder, partitions)
        held_back_s = last.wait_for_stable_ends(HELD_BACK_S + SLOW_MACHINE_S)
    last.read_all(bootstraps, PATIENCE_S)
    last.look_at_group(topics.group, topics.partitions(topics.input), PATIENCE_S)
    lines = together(folder)
    save(path, lines)
    return Played(path, judge(lines), signals, held_back_s)


def make_topics(bootstrap: str, topics: Topics) -> None:
    new = [NewTopic(name, size) for name, size in topics.sizes.items()]
    admin = AdminClient({"bootstrap.servers": bootstrap})  # it must outlive its answers
    for made in admin.create_topics(new).values():
        made.result(PATIENCE_S)


def make_jobs(
    topics: Topics, seed: int, bootstrap: str, folder: Path, clients: Clients
) -> list[Job]:
    def job(module: str, name: str, command: tuple[str, ...] = ()) -> Job:
        where = f"histories.transactional.{module}"
        return Job(where, name, seed, topics.round, bootstrap, folder, command)

    writers = [job("writer", f"writer{n}") for n in range(clients.writers)]
    copiers = [job("copier", f"copier{n}") for n in range(clients.copiers)]
    return [*writers, *copiers, *([job("writer", "java", java_command())] if clients.java else ())]


def java_command() -> tuple[str, ...]:
    jars = needs.java_driver() / "dependency" / "*"
    return ("java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", str(jars), str(JAVA_PRODUCER))


def disturb(nemeses: Nemeses, jobs: list[Job], path: Path, seconds: float) -> Counter[str]:
    """When it returns, all clients are dead and all brokers run."""
    log = path.with_suffix(".signals")
    log.unlink(missing_ok=True)
    faults = threading.Event()
    counts: Counter[str] = Counter()
    # All are told to stop before the first of them is waited for.
    with ExitStack() as finishing, ExitStack() as stopping:

        def enter(one: Disturber) -> None:
            finishing.callback(lambda: counts.update(one.counts))
            finishing.callback(one.finish)
            stopping.callback(one.stop)

        for job in jobs:
            enter(Worker(job, faults))
        wait_for_commits(jobs)
        faults.set()
        for nemesis in nemeses(log):
            enter(nemesis)
        time.sleep(seconds)
    return counts


def wait_for_commits(jobs: list[Job]) -> None:
    """Until each client has committed something: then it is known that all of them can."""
    deadline = time.monotonic() + PATIENCE_S
    while not all(has_committed(job) for job in jobs):
        assert time.monotonic() < deadline, "some client commits nothing, without any fault"
        time.sleep(0.1)


def has_committed(job: Job) -> bool:
    return any(
        line["kind"] == "committed"
        for path in job.folder.glob(f"{job.name}.*.jsonl")
        for line in read_lines(path)
    )
