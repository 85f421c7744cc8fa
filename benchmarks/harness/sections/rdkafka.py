"""librdkafka, 1 KB messages in 1 MB batches: speed, the broker's CPU time, its memory."""

from typing import Any

from harness.bench import Bench
from harness.brokers import Broker
from harness.progress import say
from harness.rdkafka import load, turn
from harness.rows import PARTITIONS
from harness.usage import peak_resident_mb, resident_mb

from .pair import warm_pair

MESSAGE_BYTES = 1024


def measure(bench: Bench) -> None:
    with warm_pair(bench, "rdkafka") as brokers:
        for count, name in PARTITIONS.items():
            what = f"librdkafka, {name}"
            for broker in bench.turns(brokers, what):
                with bench.forgiving(broker, what):
                    _record(bench, broker, count, turn(bench, broker, count, *load(bench)))
        for broker in brokers:
            bench.samples.add("rss", broker.side, resident_mb(broker.pid))
            bench.samples.add("rss.peak", broker.side, peak_resident_mb(broker.pid))


def _record(bench: Bench, broker: Broker, count: int, figures: dict[str, Any]) -> None:
    produced, consumed, cpu = figures["produce"], figures["consume"], figures["cpu"]
    say(f"  produce {produced['MB_s']} MB/s, consume {consumed['MB_s']} MB/s")
    add, side = bench.samples.add, broker.side
    add(f"produce.{count}", side, produced["MB_s"])
    add(f"consume.{count}", side, consumed["MB_s"])
    add(f"cpu.in.{count}", side, cpu["produce"] / _gigabytes(produced["msgs"]))
    add(f"cpu.out.{count}", side, cpu["consume"] / _gigabytes(consumed["got"]))


def _gigabytes(messages: int) -> float:
    return messages * MESSAGE_BYTES / 1e9
