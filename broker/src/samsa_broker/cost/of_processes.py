"""Samsa as processes: `samsa up` on EC2, on DynamoDB and S3.

Each partition is led by one process, which all its clients use (decision 30). Appends that come to
a partition during a commit share the next one (group commit): for any number of producers, a
process makes no more commits than it has time for. With a window (`--window-ms`) all appends that
come to a process within it share one object, and each partition that got something has one commit.
No process copies to another, so that only the clients' own traffic crosses zones.
"""

from collections.abc import Sequence
from math import ceil, exp
from typing import NamedTuple

from samsa.ports.bounds import INLINE_BYTES

from . import stores
from .acts import (
    LOOK_UP,
    OBJECT,
    RETURN,
    SWEEP_OF_A_PARTITION,
    SWEPT_WINDOW,
    Act,
    ProcessActs,
)
from .bill import Bill, Line
from .load import (
    COMMIT_S,
    FETCH_S,
    GB,
    HEARTBEAT_S,
    HOURS,
    MB,
    SECONDS,
    TOPIC_FOR_S,
    AppendShare,
    Load,
    by_chance,
    shared,
)
from .prices import Prices
from .sizes import Crowd, producers_in_head, returning
from .stores import CommittedLoad, in_objects

NAME = "Samsa, processes"
ZONES = 3
WATCHED_FOR_S = 30
ANNOUNCED_EVERY_S = 3
SWEPT_EVERY_S = 3_600
MOST_IN_AN_OBJECT = 8 * MB
TURNS = 20
"""Iterations until the time of a commit and the appends that come during it are consistent."""


def processes(load: Load, prices: Prices) -> Bill:
    count = how_many(load, prices)
    made, puts = commits(load, count, prices)
    own = ProcessActs.APPEND.times(made.commits).plus(made.settled).plus(made.merged)
    own = own.plus(_returns(load)).plus(OBJECT.times(made.commits * made.units.small_put))
    act = own.plus(OBJECT.times(puts)).plus(_swept(load, puts))
    act = act.plus(_consume(load, count, made, prices)).plus(_stay(load, count))
    # Each process makes rounds, and merges what came since the last round of any process.
    act = act.plus(stores.rounds(load, made, prices).times(count))
    lines = [
        *machines(count, prices),
        *_load_balancer(load, prices),
        between_zones(load.written_gb + load.read_gb, prices),
        *stores.lines(load, act, made, prices),
        *stores.to_internet(load, prices),
    ]
    return Bill(NAME, lines, stores.too_hot(load, act, made))


def how_many(load: Load, prices: Prices) -> int:
    """Enough processes to send all that comes to S3 and to each group."""
    out = load.bytes_per_second * (1 + load.readers) / MB
    needed = ceil(out / prices.number("assumed", "network_mb_s"))
    return max(needed, int(prices.number("assumed", "processes")))


class CommitPace(NamedTuple):
    """Of all processes, in a second."""

    commits: float
    appends: Sequence[AppendShare]
    puts: float


def commits(load: Load, count: int, prices: Prices) -> tuple[CommittedLoad, float]:
    """Commits of all processes in a second; and how many puts they need."""
    made = _written(load, count, CommitPace(0.0, (), 0.0))
    if not load.messages_per_second:
        return made, 0.0
    if load.window_ms:
        pace = _windows(load, count)
        return _written(load, count, pace), pace.puts
    pace = CommitPace(0.0, (), 0.0)
    for _ in range(TURNS):
        pace = _at_once(load, count, in_objects(pace.appends), prices)
    return _written(load, count, pace), pace.puts


def _written(load: Load, count: int, pace: CommitPace) -> CommittedLoad:
    at_each = count if load.load_balancer else 1
    watchers = at_each if load.reading else 0
    crowd = Crowd(producers_in_head(_producers(load), _gap_s(load)), watchers, at_each)
    return stores.written(load, pace.commits, pace.appends, crowd)


class ProcessShare(NamedTuple):
    """How many processes share the load, and what each of them has."""

    processes: float
    partitions: float
    producers: float


def _share(load: Load, count: int) -> ProcessShare:
    if load.load_balancer:
        return ProcessShare(count, load.partitions, load.producers / count)
    leading = min(count, load.partitions)
    return ProcessShare(leading, load.partitions / leading, load.producers / leading)


def _at_once(load: Load, count: int, objects: float, prices: Prices) -> CommitPace:
    """A partition's next commit holds what came during the last one. While a process puts an
    object, appends that are too large for heads wait for the next, which all partitions share."""
    share, put_s = _share(load, count), stores.took_s(OBJECT, prices)
    writers = share.processes * share.partitions
    each_s = stores.took_s(ProcessActs.APPEND, prices) + 1.5 * put_s * objects
    made = writers * shared(load.batches(load.linger_ms / 1000) / writers, each_s)
    appends = stores.alone(load, load.messages_per_second / made)
    large = made * in_objects(appends) / share.processes
    return CommitPace(made, appends, share.processes * shared(large, put_s))


def _windows(load: Load, count: int) -> CommitPace:
    """A window begins with the first append to any partition after the last window. If all of it is
    small, it is kept in the heads; else all of it is in one object."""
    share = _share(load, count)
    batches = load.batches(load.linger_ms / 1000) / share.processes
    full_s = MOST_IN_AN_OBJECT / load.bytes_per_second * share.processes
    window_s = min(load.window_ms / 1000, full_s)
    windows = shared(batches, window_s)
    found, commits_each, put = [], 0.0, 0.0
    for part, number in by_chance(batches / windows):
        messages = number * load.batch(load.linger_ms / 1000)
        touched = load.partitions_of(messages, share.producers, share.partitions)
        size = load.append_size(messages)
        found.append(AppendShare(part * touched, size / touched, size <= INLINE_BYTES))
        commits_each += part * touched
        put += part if size > INLINE_BYTES else 0.0
    appends = [one._replace(share=one.share / commits_each) for one in found]
    all_of_them = share.processes * windows
    return CommitPace(all_of_them * commits_each, appends, all_of_them * put)


def _swept(load: Load, puts: float) -> Act:
    """Sweeping objects that partitions share, which reads all of them."""
    heads = SWEEP_OF_A_PARTITION.times(load.partitions / SWEPT_EVERY_S)
    return SWEPT_WINDOW.times(puts).plus(heads) if puts else Act()


def _producers(load: Load) -> int:
    return load.producers if load.idempotent else 0


def _gap_s(load: Load) -> float:
    """Between two appends of one producer to one partition."""
    batches = load.batches(load.linger_ms / 1000)
    return load.producers * load.partitions / batches if batches else 0.0


def _returns(load: Load) -> Act:
    batches = load.batches(load.linger_ms / 1000)
    return RETURN.times(batches * returning(_producers(load), _gap_s(load)))


def _consume(load: Load, count: int, made: CommittedLoad, prices: Prices) -> Act:
    """A fetch reads the heads at once. If there is nothing, it waits until it is woken or its time
    is over, and reads them again."""
    if not load.reading:
        return Act()
    each = made.commits * load.groups / load.reading
    look_s = stores.took_s(ProcessActs.LOOK, prices)
    found = each * look_s / (1 + each * look_s)
    wait_s = (1 - exp(-each * FETCH_S)) / each if each else FETCH_S
    fetches = 1 / (look_s + (1 - found) * (wait_s + look_s))
    looks = ProcessActs.LOOK.times(load.partitions_each * (2 - found))
    act = looks.plus(LOOK_UP.times(found)).times(fetches * load.reading)
    if load.load_balancer:
        # The writer of an object has it; each other process gets it once for all of its readers.
        others = min(load.groups, count) * (count - 1) / count
        act = act.plus(Act(gets=made.commits * made.objects * others))
    watching = count if load.load_balancer else 1
    return act.plus(ProcessActs.WATCH.times(load.partitions * watching / WATCHED_FOR_S))


def _stay(load: Load, count: int) -> Act:
    beats = ProcessActs.BEAT.times(load.consumers / HEARTBEAT_S)
    commits = ProcessActs.COMMIT.times(load.consumers / COMMIT_S)
    in_use = load.messages_per_second or load.reading
    topics = Act(reads=count / TOPIC_FOR_S if in_use else 0.0)
    announced = ProcessActs.ANNOUNCE.times(count / ANNOUNCED_EVERY_S)
    return beats.plus(commits).plus(topics).plus(announced)


def machines(count: int, prices: Prices) -> list[Line]:
    each = prices.cost("ec2", "per_instance_hour", 1)
    cost = prices.cost("ec2", "per_instance_hour", count * HOURS)
    return [Line("EC2", f"{count:,} at ${each:g} an hour", cost)]


def between_zones(gb: float, prices: Prices) -> Line:
    """Traffic of clients that ignore zones: two in three are in another zone than their peer."""
    crossing = gb * (ZONES - 1) / ZONES
    cost = prices.cost("transfer", "per_gb_between_zones", crossing)
    return Line("traffic between zones", f"{crossing:,.1f} GB", cost)


def _load_balancer(load: Load, prices: Prices) -> list[Line]:
    if not load.load_balancer:
        return []
    gb_an_hour = load.bytes_per_second * (1 + load.readers) * SECONDS / HOURS / GB
    hours = prices.cost("load_balancer", "per_hour", HOURS)
    units = prices.cost("load_balancer", "per_capacity_unit_hour", gb_an_hour * HOURS)
    return [Line("load balancer", f"{gb_an_hour:,.1f} GB an hour", hours + units)]
