"""Consumer groups: how long until they are stable, what a commit takes, what idle members cost.

An empty group may wait for more members before its first generation. Kafka waits for 3 s by default
and Samsa does not, so both are measured both ways, and always with the same setting.
"""

import statistics
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import partial
from typing import Any

import uvloop

from harness.bench import Bench
from harness.brokers import KAFKA, SAMSA, Broker, BrokerFailed
from harness.groups.classic import ClassicMember
from harness.groups.consumer import ConsumerMember
from harness.groups.group import gathering
from harness.groups.idle import cpu_percent
from harness.groups.life import Life, live
from harness.groups.member import Member
from harness.limits import raise_open_files
from harness.process import ToolFailed
from harness.progress import say
from harness.rows import CONSUMER_SIZES, CROWDS, GROUP_SIZES
from harness.topics import topic

TOPIC, PARTITIONS = "groups", 101
"""Everyone in a group of 100, and one more, has something to hold."""
DELAY_MS, NO_DELAY_MS = 3_000, 0
WARM_UP = 10
COMMIT_BEAT_S = 3.0

Turn = Callable[[Bench, Broker, str], Coroutine[Any, Any, None]]
"""What to do with one broker; a name that nobody has used yet goes with it."""


def measure(bench: Bench) -> None:
    raise_open_files()
    with _pair(bench, DELAY_MS) as brokers:
        for size, name in GROUP_SIZES.items():
            _turns(bench, brokers, f"a group of {name}", partial(_classic, size))
        for size, name in CONSUMER_SIZES.items():
            _turns(bench, brokers, f"the consumer protocol, {name}", partial(_consumer, size))
        _turns(bench, brokers, "commits", _commits)
        for crowd, name in CROWDS.items():
            _turns(bench, brokers, f"idle members, {name}", partial(_idle, *crowd))
    with _pair(bench, NO_DELAY_MS) as brokers:
        for size, name in GROUP_SIZES.items():
            _turns(bench, brokers, f"a group of {name}, no delay", partial(_at_once, size))


@contextmanager
def _pair(bench: Bench, delay_ms: int) -> Iterator[Sequence[Broker]]:
    options = {
        SAMSA: [f"--group-initial-rebalance-delay-ms={delay_ms}"],
        KAFKA: [f"group.initial.rebalance.delay.ms={delay_ms}"],
    }
    with bench.brokers(options) as brokers, ExitStack() as topics:
        for broker in brokers:
            say(f"groups: starting and warming up {broker.side}, initial delay {delay_ms} ms")
            broker.start()
            try:
                topics.enter_context(topic(broker, TOPIC, PARTITIONS))
                uvloop.run(_warm_up(bench, broker))
            except ToolFailed as failure:
                # Nothing that follows would mean anything.
                raise BrokerFailed(f"warming up {broker.side}: {failure}") from failure
        yield brokers


def _turns(bench: Bench, brokers: Sequence[Broker], what: str, turn: Turn) -> None:
    for number, broker in enumerate(bench.turns(brokers, what)):
        with bench.forgiving(broker, what):
            uvloop.run(turn(bench, broker, f"{what} {number}"))


def _group(kind: type[Member], broker: Broker, name: str) -> Any:
    return gathering(kind, broker.port, name, TOPIC, PARTITIONS)


async def _warm_up(bench: Bench, broker: Broker) -> None:
    for kind in (ClassicMember, ConsumerMember):
        async with _group(kind, broker, f"warm-up {kind.__name__}") as group:
            await live(group, WARM_UP, bench.plan.rebalances, bench.plan.patience_s)
    await _commit(bench, broker, "warm-up of commits")


async def _classic(size: int, bench: Bench, broker: Broker, name: str) -> None:
    async with _group(ClassicMember, broker, name) as group:
        life = await live(group, size, bench.plan.rebalances, bench.plan.patience_s)
    bench.samples.add(f"group.delayed.{size}", broker.side, life.gathered)
    _record(bench, broker, f"group.{{}}.{size}", life)


async def _at_once(size: int, bench: Bench, broker: Broker, name: str) -> None:
    for number in range(bench.plan.rebalances):
        async with _group(ClassicMember, broker, f"{name}-{number}") as group:
            life = await live(group, size, 0, bench.plan.patience_s)
        bench.samples.add(f"group.at_once.{size}", broker.side, life.gathered)
        say(f"  stable after {life.gathered:.0f} ms")


async def _consumer(size: int, bench: Bench, broker: Broker, name: str) -> None:
    async with _group(ConsumerMember, broker, name) as group:
        life = await live(group, size, bench.plan.rebalances, bench.plan.patience_s)
    bench.samples.add(f"consumer.gathered.{size}", broker.side, life.gathered)
    _record(bench, broker, f"consumer.{{}}.{size}", life)


def _record(bench: Bench, broker: Broker, row: str, life: Life) -> None:
    for what, figures in (("join", life.joins), ("leave", life.leaves)):
        for figure in figures:
            bench.samples.add(row.format(what), broker.side, figure)
    joins, leaves = statistics.median(life.joins), statistics.median(life.leaves)
    say(f"  stable after {life.gathered:.0f} ms, one joins {joins:.0f}, leaves {leaves:.0f}")


async def _commits(bench: Bench, broker: Broker, name: str) -> None:
    took = await _commit(bench, broker, name)
    p50, p99 = statistics.median(took), statistics.quantiles(took, n=100)[-1]
    bench.samples.add("commit.p50", broker.side, p50)
    bench.samples.add("commit.p99", broker.side, p99)
    say(f"  p50 {p50:.2f} ms, p99 {p99:.2f} ms")


async def _commit(bench: Bench, broker: Broker, name: str) -> list[float]:
    """Milliseconds of each commit; one after the other, by the only member of a group."""
    async with _group(ClassicMember, broker, name) as group:
        await group.invite(1, COMMIT_BEAT_S)
        await group.join(bench.plan.patience_s)
        member = group.members[0]
        return [1000 * await member.commit(offset) for offset in range(bench.plan.commits)]


async def _idle(groups: int, size: int, bench: Bench, broker: Broker, name: str) -> None:
    async with AsyncExitStack() as open_groups:
        made = [
            await open_groups.enter_async_context(_group(ClassicMember, broker, f"{name}-{number}"))
            for number in range(groups)
        ]
        seconds, patience = bench.plan.idle_seconds, bench.plan.patience_s
        percent = await cpu_percent(broker.pid, made, size, seconds, patience)
    bench.samples.add(f"idle.{groups}.{size}", broker.side, percent)
    say(f"  {percent:.1f} % of a core")
