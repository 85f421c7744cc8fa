"""TLS, logins and ACLs: produce and consume with all of them, a login, and what ACLs cost."""

import ssl
import statistics
from typing import Any

from harness.acl_cost import percent_of_a_produce
from harness.bench import Bench
from harness.brokers import SAMSA, Broker
from harness.java_tools import consume_in_group, produce
from harness.logins import Login, log_in
from harness.process import ToolFailed
from harness.progress import say
from harness.rdkafka import load, turn
from harness.rows import PARTITIONS
from harness.secured import PREFIX, Security
from harness.topics import topic

from .pair import warm_pair

MESSAGE_BYTES = 1024
WARM_UP_LOGINS = 200
"""So many that a JVM has compiled what it needs for one."""


def measure(bench: Bench) -> None:
    security = Security(bench.scratch / "security")
    with warm_pair(bench, "security", security.options, security.let_in) as brokers:
        for count, name in PARTITIONS.items():
            what = f"security, librdkafka, {name}"
            for broker in bench.turns(brokers, what):
                with bench.forgiving(broker, what):
                    _librdkafka(bench, broker, count, turn(bench, broker, count, *load(bench)))
        for number, broker in enumerate(bench.turns(brokers, "security, Java")):
            with (
                bench.forgiving(broker, "security, Java"),
                topic(broker, f"{PREFIX}java-{number}") as name,
            ):
                _java(bench, broker, name)
        context = ssl.create_default_context(cafile=str(security.ca))
        for broker in brokers:
            with bench.forgiving(broker, "warming up logins"):
                _logins(broker, context, WARM_UP_LOGINS)
        for broker in bench.turns(brokers, "logins"):
            with bench.forgiving(broker, "logins"):
                _add_logins(bench, broker, _logins(broker, context, bench.plan.logins))
    _acls(bench)


def _librdkafka(bench: Bench, broker: Broker, count: int, figures: dict[str, Any]) -> None:
    produced, consumed, cpu = figures["produce"], figures["consume"], figures["cpu"]
    say(f"  produce {produced['MB_s']} MB/s, consume {consumed['MB_s']} MB/s")
    add, side = bench.samples.add, broker.side
    add(f"secure.produce.{count}", side, produced["MB_s"])
    add(f"secure.consume.{count}", side, consumed["MB_s"])
    if count == 1:
        add("secure.cpu.in", side, cpu["produce"] / produced["msgs"] / MESSAGE_BYTES * 1e9)
        add("secure.cpu.out", side, cpu["consume"] / consumed["got"] / MESSAGE_BYTES * 1e9)


def _java(bench: Bench, broker: Broker, name: str) -> None:
    for row, step in (("produce", produce), ("consume", consume_in_group)):
        speed = step(bench, broker, name, MESSAGE_BYTES)
        bench.samples.add(f"secure.java.{row}", broker.side, speed)
        say(f"  {row}: {speed:.1f} MB/s")


def _logins(broker: Broker, context: ssl.SSLContext, count: int) -> list[Login]:
    return [log_in(broker.entrance.address, context) for _ in range(count)]


def _add_logins(bench: Bench, broker: Broker, logins: list[Login]) -> None:
    for row, times in (
        ("login", [login.alone_ms for login in logins]),
        ("all", [login.in_all_ms for login in logins]),
    ):
        p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
        bench.samples.add(f"secure.{row}.p50", broker.side, p50)
        bench.samples.add(f"secure.{row}.p99", broker.side, p99)
        say(f"  {row}: p50 {p50:.2f} ms, p99 {p99:.2f} ms")


def _acls(bench: Bench) -> None:
    say("ACLs: what they add to a produce")
    try:
        found = percent_of_a_produce(bench.scratch, bench.plan.acl_slices)
    except ToolFailed as failure:
        bench.samples.problem(f"ACLs: {failure}")
        return
    for percent in found:
        bench.samples.add("secure.acls", SAMSA, percent)
