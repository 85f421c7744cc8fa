"""The producer and the consumer of the serverless demo: Kafka clients of the shim, in threads."""

import random
import threading
import time

from samsa.records.record import Record
from samsa_broker.demo.hops import records, sized
from samsa_broker.demo.story import Plot, tell

from .client import Client, ClientError
from .consume import fetched
from .demo_hops import HopPrinter
from .produce import send
from .topics import LATEST, offsets_at

PARTITION = 0


class DemoClients:
    """A client that is ended by the end of the demo says nothing; any other failure is kept in
    `problem`."""

    def __init__(self, bootstrap: str, topic: str, hops: HopPrinter) -> None:
        self._bootstrap, self._topic, self._hops = bootstrap, topic, hops
        self._stopping = threading.Event()
        self.produced = self.delivered = 0
        self.problem: str | None = None

    def stop(self) -> None:
        """Their connections end with the shim."""
        self._stopping.set()

    def start_offset(self) -> int:
        """The end of the topic, which is made if it is not there."""
        try:
            client = Client(self._bootstrap)
            client.topic(self._topic, create=True)
            found = offsets_at(client, self._topic, [PARTITION], LATEST)[PARTITION]
            client.close()
        except ClientError as error:
            self._failed(str(error))
            return 0
        return found

    def produce(self, rate: float, count: int | None) -> None:
        """Until so many are written, or the demo ends."""
        try:
            client = Client(self._bootstrap)
            self._produce(client, rate, count)
        except ClientError as error:
            self._failed(f"the producer: {error}")

    def _produce(self, client: Client, rate: float, count: int | None) -> None:
        story = tell(Plot(bad=0.0, gone=0.0, start_ms=_now_ms()), random.Random(1))  # noqa: S311
        began = time.monotonic()
        while count is None or self.produced < count:
            told = next(story)
            if self._stopping.wait(max(0.0, began + self.produced / rate - time.monotonic())):
                return
            record = Record(0, _now_ms(), told.key, told.value, ())
            self._hops.hop("producer → shim", sized("1 record", len(told.value or b"")))
            since = time.monotonic()
            send(client, self._topic, {PARTITION: [record]})
            self.produced += 1
            took_ms = (time.monotonic() - since) * 1000
            self._hops.hop("shim → producer", f"acknowledged, {took_ms:,.0f} ms after")

    def consume(self, offset: int, count: int | None) -> None:
        """Until so many have come, or the demo ends."""
        try:
            client = Client(self._bootstrap)
            while not self._stopping.is_set() and (count is None or self.delivered < count):
                [(_, found, offset)] = fetched(client, self._topic, {PARTITION: offset})
                if found:
                    self.delivered += len(found)
                    what = f"got {records(len(found))}, the last of offset {found[-1].offset:,}"
                    self._hops.hop("shim → consumer", what)
        except ClientError as error:
            self._failed(f"the consumer: {error}")

    def _failed(self, why: str) -> None:
        if not self._stopping.is_set():
            self.problem = why
            self._stopping.set()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
