"""A member of a group: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...]. Prints where each record was."""

import signal
import sys
import time

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaConnectionError, KafkaError

bootstrap, group, topic, *settings = sys.argv[1:]
ASSIGNORS = {
    "cooperative-sticky": CooperativeStickyAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
}
running = True


def stop(*_: object) -> None:
    global running
    running = False


def value_of(name: str, text: str) -> object:
    if name == "partition_assignment_strategy":
        return [ASSIGNORS[text]]
    return int(text) if text.isdigit() else text


def known(topic: str) -> bool:
    try:
        return bool(consumer.partitions_for_topic(topic))
    except KafkaError:
        return False  # its broker may have been killed just now


signal.signal(signal.SIGTERM, stop)
named = (setting.split("=", 1) for setting in settings)
consumer = KafkaConsumer(
    topic,
    bootstrap_servers=bootstrap,
    group_id=group,
    auto_offset_reset="earliest",
    **{name: value_of(name, text) for name, text in named},
)
# A member that joins before it knows the topic joins again when it does. If the time of poll is up
# between the answers to that second JoinGroup and SyncGroup, kafka-python 3.0.12 forgets the
# assignment: the leader's `_perform_assignment` has ended the reason to rejoin, and nobody waits
# for the rest.
while running and not known(topic):
    time.sleep(0.1)
while running:
    try:
        found = consumer.poll(timeout_ms=100)
    except KafkaConnectionError:
        # While it looks for a coordinator, kafka-python 3.0.12 passes on that the broker is away.
        time.sleep(0.1)
        continue
    for messages in found.values():
        for message in messages:
            print(message.partition, message.offset, flush=True)
consumer.close()
