"""Transactions through librdkafka: a program of its own, which prints its figures as JSON.

    transactional_client.py HOST:PORT TOPIC TIMED MESSAGES COMMITS

The two topics have ten partitions. Five phases, each with values of 1 KB: produce to TOPIC with a
commit every 1,000 messages, one transaction in ten aborted; read that back with read_committed;
produce to TIMED with a commit every 100 ms, none aborted; read that back; then COMMITS commits of
one message to one partition, and of one message to each of ten.
"""

import json
import os
import statistics
import sys
import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

SIZE = 1024
EACH = 1_000
"""Messages of a transaction."""
ABORTED_IN = 10
TIMED_S = 0.1
"""Between two commits."""
PARTITIONS = 10
PATIENCE_S = 60


def producer(bootstrap: str, name: str, **config: Any) -> Producer:
    made = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": name,
            "linger.ms": 5,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 200_000,
            "socket.nagle.disable": True,
            "log_level": 3,
            **config,
        }
    )
    made.init_transactions(PATIENCE_S)
    return made


def produce(bootstrap: str, topic: str, messages: int) -> dict[str, float]:
    """MB/s of all that was written. Every tenth transaction is aborted."""
    writer, value = producer(bootstrap, f"{topic}-load"), os.urandom(SIZE)
    began = time.perf_counter()
    for number in range(messages // EACH):
        writer.begin_transaction()
        for at in range(EACH):
            while True:
                try:
                    writer.produce(topic, value, partition=at % PARTITIONS)
                    break
                except BufferError:
                    writer.poll(0.05)
        if number % ABORTED_IN == ABORTED_IN - 1:
            writer.flush(PATIENCE_S)
            writer.abort_transaction(PATIENCE_S)
        else:
            writer.commit_transaction(PATIENCE_S)
    seconds = time.perf_counter() - began
    return {"mb_per_s": messages * SIZE / 1e6 / seconds}


def produce_timed(bootstrap: str, topic: str, messages: int) -> dict[str, float]:
    """MB/s, with a commit every 100 ms."""
    writer, value = producer(bootstrap, f"{topic}-load"), os.urandom(SIZE)
    began = time.perf_counter()
    writer.begin_transaction()
    last = began
    for number in range(messages):
        while True:
            try:
                writer.produce(topic, value, partition=number % PARTITIONS)
                break
            except BufferError:
                writer.poll(0.05)
        if time.perf_counter() - last >= TIMED_S:
            writer.commit_transaction(PATIENCE_S)
            writer.begin_transaction()
            last = time.perf_counter()
    writer.commit_transaction(PATIENCE_S)
    return {"mb_per_s": messages * SIZE / 1e6 / (time.perf_counter() - began)}


def committed_of(messages: int) -> int:
    """How many of them `produce` commits."""
    numbers = range(messages // EACH)
    return sum(EACH for number in numbers if number % ABORTED_IN != ABORTED_IN - 1)


def consume(bootstrap: str, topic: str, wanted: int) -> dict[str, float]:
    """MB/s of the committed values; the clock starts with the first of them."""
    reader = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"{topic}-reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "queued.min.messages": 1_000_000,
            "log_level": 3,
        }
    )
    reader.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    got, ended, began, last = 0, set(), 0.0, time.perf_counter()
    while len(ended) < PARTITIONS and time.perf_counter() - last < PATIENCE_S:
        for message in reader.consume(10_000, 0.5):
            error = message.error()
            if error is None:
                got += 1
                began = began or time.perf_counter()
                last = time.perf_counter()
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
    reader.close()
    if got != wanted:
        sys.exit(f"{got} of {wanted} committed messages were read")
    return {"mb_per_s": got * SIZE / 1e6 / (last - began)}


def commits(bootstrap: str, topic: str, count: int, partitions: int) -> dict[str, float]:
    """The time of commit_transaction, in ms, after the messages were acknowledged."""
    writer = producer(bootstrap, f"{topic}-{partitions}", **{"linger.ms": 0})
    value, took = os.urandom(SIZE), []
    for _ in range(count):
        writer.begin_transaction()
        for number in range(partitions):
            writer.produce(topic, value, partition=number)
        writer.flush(PATIENCE_S)
        began = time.perf_counter()
        writer.commit_transaction(PATIENCE_S)
        took.append((time.perf_counter() - began) * 1_000)
    return {"p50_ms": statistics.median(took)}


def main() -> None:
    bootstrap, topic, timed, messages, count = sys.argv[1:]
    found = {
        "produce": produce(bootstrap, topic, int(messages)),
        "consume": consume(bootstrap, topic, committed_of(int(messages))),
        "produce.timed": produce_timed(bootstrap, timed, int(messages)),
        "consume.timed": consume(bootstrap, timed, int(messages)),
        "commit.1": commits(bootstrap, topic, int(count), 1),
        "commit.10": commits(bootstrap, topic, int(count), PARTITIONS),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
