"""Three kinds of producers on a topic each, and a reader of each topic."""

import time
from collections.abc import Sequence
from random import Random

from crash.producers import Idempotent, OneByOne, Plain, Producer
from crash.promises import (
    each_is_there_once_and_in_order,
    every_acknowledgement_holds,
    nothing_was_made_up,
    the_prefix_never_changed,
)
from crash.reader import Reader
from server.peer import Peer
from server.talk import create, everything

PROGRESS_S = 30


class Load:
    def __init__(self, moments: Random, addresses: Sequence[tuple[str, int]]) -> None:
        kinds = {"plain": Plain, "idempotent": Idempotent, "one-by-one": OneByOne}
        with Peer(addresses[0]) as peer:
            for topic in kinds:
                create(peer, topic)
        bootstrap = ",".join(f"{host}:{port}" for host, port in addresses)
        self.producers: list[Producer] = [
            kind(bootstrap, topic, moments.randrange(10**9)) for topic, kind in kinds.items()
        ]
        self.readers = [Reader(topic, *addresses) for topic in kinds]

    def acknowledged(self) -> int:
        return sum(len(producer.acknowledged) for producer in self.producers)

    def wait_for_progress(self) -> None:
        """Until something more is acknowledged, so that every crash is one under load."""
        before, deadline = self.acknowledged(), time.monotonic() + PROGRESS_S
        while self.acknowledged() == before:
            assert time.monotonic() < deadline, "nothing is acknowledged any more"
            time.sleep(0.005)

    def finish(self) -> None:
        for producer in self.producers:
            producer.finish()

    def keeps_its_promises(self, address: tuple[str, int]) -> None:
        """At once, without waiting: nobody's death hides what others were told is stored."""
        with Peer(address) as peer:
            logs = [everything(peer, producer.topic) for producer in self.producers]
        for producer, reader, log in zip(self.producers, self.readers, logs, strict=True):
            every_acknowledgement_holds(producer, log)
            nothing_was_made_up(producer, log)
            the_prefix_never_changed(reader.finish(), log)
            if not isinstance(producer, Plain):
                each_is_there_once_and_in_order(producer, log)
