"""A member of a group: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...]. Prints where each record was."""

import asyncio
import signal
import sys

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

bootstrap, group, topic, *settings = sys.argv[1:]
ASSIGNORS = {"sticky": StickyPartitionAssignor}


def value_of(name: str, text: str) -> object:
    if name == "partition_assignment_strategy":
        return (ASSIGNORS[text],)
    return int(text) if text.isdigit() else text


async def main() -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    named = (setting.split("=", 1) for setting in settings)
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        **{name: value_of(name, text) for name, text in named},
    )
    await consumer.start()
    while not stopped.is_set():
        for messages in (await consumer.getmany(timeout_ms=100)).values():
            for message in messages:
                print(message.partition, message.offset, flush=True)
    await consumer.stop()


asyncio.run(main())
