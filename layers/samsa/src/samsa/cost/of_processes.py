"""Samsa as processes: `samsa up` on EC2 behind a load balancer, on DynamoDB and S3.

What comes to a partition while a slot of it is being written shares the next one: however many
producers there are, a process makes no more slots than it has time for. No process copies to
another, so that nothing but the clients' own traffic crosses zones.
"""

from math import ceil

from . import stores
from .acts import MERGED, Act, Processes
from .bill import Bill, Line
from .load import COMMIT_S, GB, HEARTBEAT_S, HOURS, MB, SECONDS, Load, shared
from .prices import Prices

NAME = "Samsa, processes"
ZONES = 3
WATCHED_FOR_S = 30
ANNOUNCED_EVERY_S = 3
TOPIC_FOR_S = 1
"""A process looks a topic up anew after that."""


def processes(load: Load, prices: Prices) -> Bill:
    count = how_many(load, prices)
    made = slots(load, count, prices)
    bound = binds(load, count, made)
    act = Processes.SLOT.plus(MERGED).times(made).plus(Processes.BIND.times(bound))
    act = act.plus(_consume(load, count, made, prices)).plus(_stay(load, count))
    # Each process makes its rounds, and each merges what came since the last of any of them.
    act = act.plus(stores.rounds(load, made, prices).times(count))
    lines = [
        *machines(count, prices),
        _load_balancer(load, prices),
        between_zones(load.written_gb + load.read_gb, prices),
        *stores.lines(load, act, made, prices),
        *stores.to_internet(load, prices),
    ]
    writes = Processes.SLOT.writes + MERGED.writes + (bound / made if made else 0)
    return Bill(NAME, lines, stores.too_hot(load, made, writes))


def how_many(load: Load, prices: Prices) -> int:
    """Enough to send on what comes, to S3 and to each group."""
    out = load.bytes_per_second * (1 + load.readers) / MB
    needed = ceil(out / prices.number("assumed", "network_mb_s"))
    return max(needed, int(prices.number("assumed", "processes")))


def slots(load: Load, count: int, prices: Prices) -> float:
    """A second, of all processes."""
    writers = load.partitions * count
    each_s = stores.took_s(Processes.SLOT.plus(Processes.BIND), prices)
    return writers * shared(load.batches(load.linger_ms / 1000) / writers, each_s)


def binds(load: Load, count: int, made: float) -> float:
    """A second: a producer binds once in a slot, however many batches it has there."""
    if not load.idempotent:
        return 0.0
    return min(load.batches(load.linger_ms / 1000), made * max(1.0, load.producers / count))


def _consume(load: Load, count: int, made: float, prices: Prices) -> Act:
    if not load.reading:
        return Act()
    each = made * load.groups / load.reading
    more = load.partitions_each - 1
    waves = shared(each, stores.took_s(Processes.READ.plus(Act(gets=1)), prices))
    read = Processes.READ.plus(Processes.PARTITION_READ.times(more))
    queries = max(0.0, min(load.partitions_each, each / waves) - 1) if waves else 0.0
    read = read._replace(reads=read.reads + queries)
    # Whoever wrote an object has it; each other process gets it once for all of its readers.
    gets = made * min(load.groups, count) * (count - 1) / count
    watched = Processes.WATCH.times(load.partitions * count / WATCHED_FOR_S)
    return read.times(waves * load.reading).plus(Act(gets=gets)).plus(watched)


def _stay(load: Load, count: int) -> Act:
    beats = Processes.BEAT.times(load.consumers / HEARTBEAT_S)
    commits = Processes.COMMIT.times(load.consumers / COMMIT_S)
    topics = Act(reads=count / TOPIC_FOR_S if load.messages_per_second else 0.0)
    announced = Processes.ANNOUNCE.times(count / ANNOUNCED_EVERY_S)
    return beats.plus(commits).plus(topics).plus(announced)


def machines(count: int, prices: Prices) -> list[Line]:
    each = prices.cost("ec2", "per_instance_hour", 1)
    cost = prices.cost("ec2", "per_instance_hour", count * HOURS)
    return [Line("EC2", f"{count:,} at ${each:g} an hour", cost)]


def between_zones(gb: float, prices: Prices) -> Line:
    """Of clients that know nothing of zones: two in three are in another than their peer."""
    crossing = gb * (ZONES - 1) / ZONES
    cost = prices.cost("transfer", "per_gb_between_zones", crossing)
    return Line("traffic between zones", f"{crossing:,.1f} GB", cost)


def _load_balancer(load: Load, prices: Prices) -> Line:
    gb_an_hour = load.bytes_per_second * (1 + load.readers) * SECONDS / HOURS / GB
    hours = prices.cost("load_balancer", "per_hour", HOURS)
    units = prices.cost("load_balancer", "per_capacity_unit_hour", gb_an_hour * HOURS)
    return Line("load balancer", f"{gb_an_hour:,.1f} GB an hour", hours + units)
