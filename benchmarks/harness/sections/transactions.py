"""Transactions: produce, commit, and read_committed, through librdkafka, Java and Streams."""

import json
import sys
from pathlib import Path

import harness
from harness.bench import Bench
from harness.brokers import Broker
from harness.java_tools import produce_each, produce_in_transactions
from harness.process import ToolFailed, run
from harness.progress import say
from harness.streams import PARTITIONS as STREAMS_PARTITIONS
from harness.streams import count_words
from harness.topics import topic

from .pair import warm_pair

CLIENT = Path(harness.__file__).parent / "transactional_client.py"
PARTITIONS = 10
JAVA_BYTES = 1024
JAVA_EACH = 1_000
ROWS = {
    "produce": ("txn.produce", "mb_per_s"),
    "consume": ("txn.consume", "mb_per_s"),
    "produce.timed": ("txn.produce.timed", "mb_per_s"),
    "consume.timed": ("txn.consume.timed", "mb_per_s"),
    "commit.1": ("txn.commit.1", "p50_ms"),
    "commit.10": ("txn.commit.10", "p50_ms"),
}


def measure(bench: Bench) -> None:
    with warm_pair(bench, "transactions") as brokers:
        for number, broker in enumerate(bench.turns(brokers, "transactions, librdkafka")):
            with (
                bench.forgiving(broker, "transactions, librdkafka"),
                topic(broker, f"txn-{number}", PARTITIONS) as name,
                topic(broker, f"txn-timed-{number}", PARTITIONS) as timed,
            ):
                _librdkafka(bench, broker, name, timed)
        for number, broker in enumerate(bench.turns(brokers, "transactions, Java")):
            with (
                bench.forgiving(broker, "transactions, Java"),
                topic(broker, f"txn-java-{number}") as name,
            ):
                speed = produce_in_transactions(bench, broker, name, JAVA_BYTES)
                bench.samples.add("txn.java", broker.side, speed)
                say(f"  ProducerPerformance: {speed:.1f} MB/s")
        for number, broker in enumerate(bench.turns(brokers, "transactions, Java by count")):
            with (
                bench.forgiving(broker, "transactions, Java by count"),
                topic(broker, f"txn-java-each-{number}") as name,
            ):
                speed = produce_each(bench, broker, name, JAVA_BYTES, JAVA_EACH)
                bench.samples.add("txn.java.each", broker.side, speed)
                say(f"  TransactionalProducer: {speed:.1f} MB/s")
        for number, broker in enumerate(bench.turns(brokers, "transactions, Streams")):
            with (
                bench.forgiving(broker, "transactions, Streams"),
                topic(broker, f"txn-lines-{number}", STREAMS_PARTITIONS) as lines,
                topic(broker, f"txn-counts-{number}", STREAMS_PARTITIONS) as counts,
            ):
                seconds = count_words(broker, lines, counts, bench.plan.streams_lines)
                bench.samples.add("txn.streams", broker.side, seconds)
                say(f"  word count: {seconds:.2f} s")


def _librdkafka(bench: Bench, broker: Broker, name: str, timed: str) -> None:
    plan = bench.plan
    counts = [timed, str(plan.transactional_messages), str(plan.transactions)]
    code, said = run([sys.executable, CLIENT, broker.address, name, *counts], plan.patience_s)
    if code:
        raise ToolFailed(f"transactional_client.py ended with {code}: {said.strip()[-500:]}")
    found = json.loads(said.strip().splitlines()[-1])
    for phase, (row, figure) in ROWS.items():
        bench.samples.add(row, broker.side, found[phase][figure])
    say(f"  {found}")
