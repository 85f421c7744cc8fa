"""Kafka's Java tools on their defaults, three record sizes."""

from harness.bench import Bench
from harness.brokers import Broker
from harness.java_tools import consume_assigned, consume_in_group, produce
from harness.progress import say
from harness.rows import SIZES
from harness.topics import topic

from .pair import warm_pair

STEPS = {
    "java.produce": produce,
    "java.assign": consume_assigned,
    "java.consume": consume_in_group,
}


def measure(bench: Bench) -> None:
    with warm_pair(bench, "java") as brokers:
        for size, name in SIZES.items():
            for number, broker in enumerate(bench.turns(brokers, f"Java, {name}")):
                with (
                    bench.forgiving(broker, f"Java, {name}"),
                    topic(broker, f"java-{size}-{number}") as written,
                ):
                    _turn(bench, broker, written, size)


def _turn(bench: Bench, broker: Broker, written: str, size: int) -> None:
    for row, step in STEPS.items():
        speed = step(bench, broker, written, size)
        bench.samples.add(f"{row}.{size}", broker.side, speed)
        say(f"  {step.__name__}: {speed:.1f} MB/s")
