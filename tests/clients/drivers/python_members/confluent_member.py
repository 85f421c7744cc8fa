"""A member of a group: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...]. Prints where each record was."""

import signal
import sys

from confluent_kafka import Consumer, KafkaException

bootstrap, group, topic, *settings = sys.argv[1:]
running = True


def stop(*_: object) -> None:
    global running
    running = False


signal.signal(signal.SIGTERM, stop)
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        **dict(setting.split("=", 1) for setting in settings),
    }
)
consumer.subscribe([topic])
while running:
    message = consumer.poll(0.1)
    if message is None:
        continue
    if message.error():
        raise KafkaException(message.error())
    print(message.partition(), message.offset(), flush=True)
consumer.close()
