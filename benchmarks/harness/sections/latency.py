"""One message at a time: acknowledged, and seen by a consumer that waits for it."""

from harness.bench import Bench
from harness.brokers import Broker
from harness.java_tools import end_to_end
from harness.progress import say
from harness.rdkafka import turn
from harness.topics import topic

from .pair import warm_pair

FEW = ("--max-msgs", "1000", "--seconds", "1")


def measure(bench: Bench) -> None:
    with warm_pair(bench, "latency") as brokers:
        for broker in bench.turns(brokers, "latency, librdkafka"):
            with bench.forgiving(broker, "latency, librdkafka"):
                _librdkafka(bench, broker)
        for number, broker in enumerate(bench.turns(brokers, "latency, Java")):
            with (
                bench.forgiving(broker, "EndToEndLatency"),
                topic(broker, f"latency-{number}") as name,
            ):
                _java(bench, broker, name)


def _librdkafka(bench: Bench, broker: Broker) -> None:
    figures = turn(bench, broker, 1, *FEW, "--lat-n", str(bench.plan.latencies), "--e2e")
    for row, phase in (("ack", "latency"), ("e2e", "e2e")):
        for rank in ("p50", "p99"):
            bench.samples.add(f"{row}.{rank}", broker.side, figures[phase].get(f"{rank}_ms"))
    say(f"  acknowledged {figures['latency']}, end to end {figures['e2e']}")


def _java(bench: Bench, broker: Broker, name: str) -> None:
    mean, p99 = end_to_end(bench, broker, name)
    say(f"  mean {mean} ms, p99 {p99} ms")
    bench.samples.add("java.e2e.mean", broker.side, mean)
    bench.samples.add("java.e2e.p99", broker.side, p99)
